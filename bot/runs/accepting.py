"""The run that a question becomes: redacted first, then bounded, then text that any database takes.

Pure. Knows neither store nor surface.
"""

from __future__ import annotations

from datetime import datetime

from bot.loop.question import MAX_QUESTION
from bot.loop.toolbox import Redactor
from bot.runs.ids import new_run_id
from bot.runs.records import Ask, RunRecord, RunState

MAX_THREAD = 50
"""Messages of the thread that are kept, the newest."""


def new_run(ask: Ask, redactor: Redactor, workspace: str, owner: str, now: datetime) -> RunRecord:
    """The run as stored (M19). One character too many of the question says that it was cut."""
    return RunRecord(
        id=new_run_id(now),
        origin_key=ask.origin_key,
        surface=ask.surface,
        address=ask.address,
        workspace=workspace,
        question=redactor.text(_storable(ask.text))[: MAX_QUESTION + 1],
        thread=tuple(
            redactor.text(_storable(text))[:MAX_QUESTION] for text in ask.thread[-MAX_THREAD:]
        ),
        asked_at=ask.asked_at,
        accepted_at=now,
        state=RunState.ACCEPTED,
        epoch=0,
        owner=owner,
    )


def _storable(text: str) -> str:
    """Text that every database takes: no NUL, no half of a surrogate pair."""
    return text.encode("utf-8", "replace").decode().replace("\x00", "\ufffd")
