"""The journal of one run in the store: append-only, fenced, told to those who watch (M16, M17).

Owns the transaction of an append: the owner's epoch, the numbering, the events, the blobs and, for
the terminal event, the outcome of the run are one commit. Knows no loop and no surface.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import cast

from pydantic import ValidationError
from pydantic_core import from_json
from sqlalchemy import bindparam, insert, select, update

from bot.loop.journal import (
    EVENT,
    Event,
    FencedError,
    ModelReturned,
    OtherVersionError,
    RunEnded,
    RunStarted,
)
from bot.runs.errors import StoreError
from bot.runs.records import RunState
from bot.runs.rows import OUTCOME
from bot.runs.schema import BLOBS, EVENTS, RUNS
from bot.runs.store import Store
from bot.runs.writer import Cursor, Prepared

PACKING = 1
"""Of zlib, 1 to 9: the fastest is a third of the time for a tenth more bytes."""
PACKED_FROM = 2_048
"""Bytes: to pack fewer takes longer than to write what it would save."""
_PLAIN = b"="
"""Before bytes that are not packed; zlib's own begin with an x."""


class StoredByOtherVersionError(StoreError, OtherVersionError):
    """The run's journal cannot be read by this version of the bot."""


def _unwatched(event: Event) -> None:
    """The watcher of a journal that nobody watches."""


def _unheard(by: str) -> None:
    """The listener of a journal whose run is over."""


_OURS = update(RUNS).where(RUNS.c.id == bindparam("of_run"), RUNS.c.epoch == bindparam("of_epoch"))
_HOLD = Prepared(
    _OURS.where(RUNS.c.state != RunState.ENDED.value)
    .values(
        length=RUNS.c.length + bindparam("more"),
        input_tokens=RUNS.c.input_tokens + bindparam("read"),
        output_tokens=RUNS.c.output_tokens + bindparam("written"),
    )
    .returning(RUNS.c.length, RUNS.c.abort_requested_by)
)
_BEGUN = Prepared(_OURS.values(model=bindparam("by")))
_ENDED = Prepared(
    _OURS.values(state=RunState.ENDED.value, outcome=bindparam("how"), ended_at=bindparam("ended"))
)
_ADD_EVENTS = Prepared(insert(EVENTS), ("run", "sequence", "epoch", "body"))
_ADD_BLOBS = Prepared(insert(BLOBS), ("run", "hash", "body"))
_READ = Prepared(
    select(EVENTS.c.body).where(EVENTS.c.run == bindparam("of_run")).order_by(EVENTS.c.sequence)
)
_KNOWN = Prepared(select(BLOBS.c.hash).where(BLOBS.c.run == bindparam("of_run")))


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
        self._of_run = {"of_run": run}
        self._ours: dict[str, object] = {"of_run": run, "of_epoch": epoch}
        self._now = now
        self._durable = durable
        self._asked = asked
        self._stored: set[str] | None = None

    async def append(self, events: Sequence[Event], blobs: Mapping[str, str]) -> None:
        """One transaction. Raises ``FencedError`` for a stale epoch or a run that has ended."""
        abort, self._stored = await self._store.writer.transaction(
            lambda cursor: self._append(cursor, events, blobs)
        )
        for event in events:
            self._durable(event)
        if abort is not None:
            self._asked(abort)

    def _append(
        self, cursor: Cursor, events: Sequence[Event], blobs: Mapping[str, str]
    ) -> tuple[str | None, set[str]]:
        """Who asked to stop the run, and the blobs that it has now."""
        held = cursor.rows(_HOLD, self._ours | _added(events))
        if not held:
            raise FencedError(f"run {self._run} has ended or has another owner")
        length, abort = cast("tuple[int, str | None]", held[0])
        first = length - len(events) + 1
        cursor.each(
            _ADD_EVENTS,
            [
                {
                    "run": self._run,
                    "sequence": number,
                    "epoch": self._epoch,
                    "body": event.model_dump_json(),
                }
                for number, event in enumerate(events, start=first)
            ],
        )
        stored = self._stored
        if stored is None:
            stored = {str(digest) for (digest,) in cursor.rows(_KNOWN, self._of_run)}
        missing = blobs.keys() - stored
        cursor.each(
            _ADD_BLOBS,
            [
                {"run": self._run, "hash": digest, "body": _packed(blobs[digest])}
                for digest in sorted(missing)
            ],
        )
        for event in events:
            self._change(cursor, event)
        return abort, stored | missing

    def _change(self, cursor: Cursor, event: Event) -> None:
        """What the first and the last event of a run mean for its own row."""
        match event:
            case RunStarted(model=model):
                cursor.rows(_BEGUN, self._ours | {"by": model})
            case RunEnded(outcome=outcome):
                how = OUTCOME.dump_json(outcome).decode()
                cursor.rows(_ENDED, self._ours | {"how": how, "ended": self._now()})
            case _:
                pass

    async def read(self) -> tuple[Event, ...]:
        """Raises ``StoredByOtherVersionError`` for what this version cannot parse."""
        found = await self._store.writer.transaction(lambda at: at.rows(_READ, self._of_run))
        bodies = [str(body) for (body,) in found]
        try:
            return tuple(map(EVENT.validate_json, bodies))
        except ValidationError as error:
            raise StoredByOtherVersionError(
                f"Run {self._run} was recorded by another version of the bot and cannot be read.",
                _version(bodies[0]),
            ) from error

    async def blob(self, digest: str) -> str:
        async with self._store.reading() as connection:
            found = await connection.execute(
                select(BLOBS.c.body).where(BLOBS.c.run == self._run, BLOBS.c.hash == digest)
            )
            body = found.scalar_one_or_none()
        if body is None:
            raise KeyError(digest)
        return _unpacked(body)

    async def blobs(self) -> Mapping[str, str]:
        """All blobs of the run at once, for a reader of the whole trace."""
        async with self._store.reading() as connection:
            rows = await connection.execute(
                select(BLOBS.c.hash, BLOBS.c.body).where(BLOBS.c.run == self._run)
            )
            return {row.hash: _unpacked(row.body) for row in rows}


def _added(events: Sequence[Event]) -> dict[str, object]:
    """What these events add to the counts of the run's row."""
    usages = [event.turn.usage for event in events if isinstance(event, ModelReturned)]
    return {
        "more": len(events),
        "read": sum(usage.input_tokens or 0 for usage in usages),
        "written": sum(usage.output_tokens or 0 for usage in usages),
    }


def _version(body: str) -> int:
    """The version that the first event of a journal names, whatever else it holds; 0 for none."""
    match from_json(body):
        case {"version": int(version)}:
            return version
        case _:
            return 0


def _packed(text: str) -> bytes:
    plain = text.encode("utf-8", "surrogatepass")
    return _PLAIN + plain if len(plain) < PACKED_FROM else zlib.compress(plain, PACKING)


def _unpacked(body: bytes) -> str:
    plain = body[1:] if body.startswith(_PLAIN) else zlib.decompress(body)
    return plain.decode("utf-8", "surrogatepass")
