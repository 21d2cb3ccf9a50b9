"""The journal of one run in the store: append-only, fenced, told to those who watch (M16, M17).

Owns the transaction of an append: the owner's epoch, the numbering, the events, the blobs and, for
the terminal event, the outcome of the run are one commit. Knows no loop and no surface.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from pydantic import ValidationError
from sqlalchemy import Connection, Row, bindparam, insert, select, update

from bot.loop.journal import EVENT, Event, FencedError, ModelReturned, RunEnded, RunStarted
from bot.runs.errors import StoreError
from bot.runs.records import RunState
from bot.runs.schema import BLOBS, EVENTS, RUNS
from bot.runs.store import OUTCOME, Store


def _unwatched(event: Event) -> None:
    """The watcher of a journal that nobody watches."""


def _unheard(by: str) -> None:
    """The listener of a journal whose run is over."""


# Made once: building a statement and its cache key costs more than running it.
_HOLD = (
    update(RUNS)
    .where(RUNS.c.id == bindparam("of_run"), RUNS.c.epoch == bindparam("of_epoch"))
    .where(RUNS.c.state != RunState.ENDED.value)
    .values(
        length=RUNS.c.length + bindparam("more"),
        input_tokens=RUNS.c.input_tokens + bindparam("read"),
        output_tokens=RUNS.c.output_tokens + bindparam("written"),
    )
    .returning(RUNS.c.length, RUNS.c.abort_requested_by)
)
_ADD_EVENTS = insert(EVENTS)
_ADD_BLOBS = insert(BLOBS)


class StoreJournal:
    """Implements ``bot.loop.journal.Journal``.

    ``durable`` is called with each event right after its commit, ``asked`` when an append finds
    that someone (in whatever process) asked to stop the run. Both must return at once.
    """

    def __init__(
        self,
        store: Store,
        run: str,
        epoch: int,
        now: Callable[[], datetime],
        *,
        durable: Callable[[Event], None] = _unwatched,
        asked: Callable[[str], None] = _unheard,
    ) -> None:
        self._store = store
        self._run = run
        self._epoch = epoch
        self._now = now
        self._durable = durable
        self._asked = asked
        self._stored: set[str] | None = None

    async def append(self, events: Sequence[Event], blobs: Mapping[str, str]) -> None:
        """One transaction. Raises ``FencedError`` for a stale epoch or a run that has ended."""
        async with self._store.transaction() as connection:
            row, added = await connection.run_sync(self._append, events, blobs)
        self._stored = (self._stored or set()) | added
        for event in events:
            self._durable(event)
        if row.abort_requested_by is not None:
            self._asked(row.abort_requested_by)

    def _append(
        self, connection: Connection, events: Sequence[Event], blobs: Mapping[str, str]
    ) -> tuple[Row[Any], set[str]]:
        """The run's row, and the blobs that are new."""
        held = connection.execute(_HOLD, self._held(events))
        row = held.one_or_none()
        if row is None:
            raise FencedError(f"run {self._run} has ended or has another owner")
        if changes := self._changes(events):
            connection.execute(update(RUNS).where(RUNS.c.id == self._run).values(changes))
        if events:
            first = row.length - len(events) + 1
            connection.execute(
                _ADD_EVENTS,
                [
                    {
                        "run": self._run,
                        "sequence": number,
                        "epoch": self._epoch,
                        "body": EVENT.dump_json(event).decode(),
                    }
                    for number, event in enumerate(events, start=first)
                ],
            )
        if self._stored is None:
            known = connection.execute(select(BLOBS.c.hash).where(BLOBS.c.run == self._run))
            self._stored = set(known.scalars())
        missing = blobs.keys() - self._stored
        if missing:
            connection.execute(
                _ADD_BLOBS,
                [
                    {"run": self._run, "hash": digest, "body": _packed(blobs[digest])}
                    for digest in sorted(missing)
                ],
            )
        return row, missing

    def _held(self, events: Sequence[Event]) -> dict[str, object]:
        usages = [event.turn.usage for event in events if isinstance(event, ModelReturned)]
        return {
            "of_run": self._run,
            "of_epoch": self._epoch,
            "more": len(events),
            "read": sum(usage.input_tokens or 0 for usage in usages),
            "written": sum(usage.output_tokens or 0 for usage in usages),
        }

    async def read(self) -> tuple[Event, ...]:
        async with self._store.transaction() as connection:
            rows = await connection.execute(
                select(EVENTS.c.body).where(EVENTS.c.run == self._run).order_by(EVENTS.c.sequence)
            )
            bodies = rows.scalars().all()
        try:
            return tuple(EVENT.validate_json(body) for body in bodies)
        except ValidationError as error:
            raise StoreError(
                f"Run {self._run} was recorded by another version of the bot and cannot be read."
            ) from error

    async def blob(self, digest: str) -> str:
        async with self._store.transaction() as connection:
            found = await connection.execute(
                select(BLOBS.c.body).where(BLOBS.c.run == self._run, BLOBS.c.hash == digest)
            )
            body = found.scalar_one_or_none()
        if body is None:
            raise KeyError(digest)
        return _unpacked(body)

    async def blobs(self) -> Mapping[str, str]:
        """All blobs of the run at once, for a reader of the whole trace."""
        async with self._store.transaction() as connection:
            rows = await connection.execute(
                select(BLOBS.c.hash, BLOBS.c.body).where(BLOBS.c.run == self._run)
            )
            return {row.hash: _unpacked(row.body) for row in rows}

    def _changes(self, events: Sequence[Event]) -> dict[str, object]:
        """What the first and the last event of a run mean for its own row."""
        changes: dict[str, object] = {}
        for event in events:
            match event:
                case RunStarted(model=model):
                    changes["model"] = model
                case RunEnded(outcome=outcome):
                    changes["state"] = RunState.ENDED.value
                    changes["outcome"] = OUTCOME.dump_json(outcome).decode()
                    changes["ended_at"] = self._now()
                case _:
                    pass
        return changes


def _packed(text: str) -> bytes:
    return zlib.compress(text.encode("utf-8", "surrogatepass"))


def _unpacked(body: bytes) -> str:
    return zlib.decompress(body).decode("utf-8", "surrogatepass")
