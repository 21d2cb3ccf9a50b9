"""Runs as rows of the store, and rows as runs.

Owns the query that a run is read with and what its columns mean. Knows no transaction.
"""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter, ValidationError
from sqlalchemy import Row, Select, and_, select

from bot.loop.outcome import Outcome
from bot.runs.closing import interrupted
from bot.runs.records import Reply, ReplyState, RunRecord, RunState
from bot.runs.schema import REPLIES, RUNS

OF_ANOTHER_VERSION = "It was stored by another version of the bot and cannot be shown."
OUTCOME: TypeAdapter[Outcome] = TypeAdapter(Outcome)

_REPLY = tuple(column.label(f"reply_{column.name}") for column in REPLIES.c if column.name != "run")


def runs() -> Select[Any]:
    """Runs with their replies."""
    return select(RUNS, *_REPLY).select_from(
        RUNS.outerjoin(REPLIES, and_(REPLIES.c.run == RUNS.c.id))
    )


def record(row: Row[Any]) -> RunRecord:
    """One row of ``runs()``."""
    reply = None
    if row.reply_state is not None:
        reply = Reply(
            state=ReplyState(row.reply_state),
            marker=row.reply_marker,
            intent_at=row.reply_intent_at,
            reference=row.reply_reference,
        )
    return RunRecord(
        id=row.id,
        origin_key=row.origin_key,
        surface=row.surface,
        address=row.address,
        workspace=row.workspace,
        question=row.question,
        thread=tuple(row.thread),
        asked_at=row.asked_at,
        accepted_at=row.accepted_at,
        state=RunState(row.state),
        epoch=row.epoch,
        owner=row.owner,
        claimed_at=row.claimed_at,
        deadline_at=row.deadline_at,
        abort_requested_by=row.abort_requested_by,
        model=row.model,
        outcome=_outcome(row.outcome, row.model) if row.outcome else None,
        ended_at=row.ended_at,
        input_tokens=row.input_tokens,
        output_tokens=row.output_tokens,
        reply=reply,
    )


def _outcome(text: str, model: str | None) -> Outcome:
    """One that another version stored, and this one cannot read, must not hide all other runs."""
    try:
        return OUTCOME.validate_json(text)
    except ValidationError:
        return interrupted((), model or "none", OF_ANOTHER_VERSION, "Ask again.")
