"""The store: runs, what was seen before, and the one reply of each run, as SQL statements.

Every write starts with a writing statement, so that SQLite takes its lock at once and PostgreSQL
its row, and a check and what depends on it are one transaction. Knows no loop and no surface; the
journal of a run is ``journal.py``'s.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from sqlalchemy import (
    URL,
    Select,
    case,
    event,
    insert,
    or_,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from bot.loop.journal import FencedError
from bot.runs.early import keep, stopped_before
from bot.runs.erasing import Erased, delete_run, left_in_log, note_emptied, truncate_log
from bot.runs.errors import StoreError, in_words
from bot.runs.migrate import BUSY_SECONDS
from bot.runs.records import EarlyStop, Heeds, ReplyState, RunRecord, RunState
from bot.runs.rows import record, runs
from bot.runs.schema import INTAKE, REPLIES, RUNS
from bot.runs.seen import is_known, note
from bot.runs.writer import Writer

LOG_TRIES: Final = 5
LOG_SECONDS: Final = 0.1
"""Between two tries of an erasure to empty the write-ahead log: most readers are quick."""


class Store:
    """Raises ``StoreError`` when the database does not do what it should. Close it."""

    def __init__(self, engine: AsyncEngine, writer: Writer, where: str) -> None:
        self.writer = writer
        self._engine = engine
        self._turn = asyncio.Lock()
        self._where = where

    @classmethod
    def open(cls, database: Path) -> Store:
        """Over a SQLite file that ``migrate.prepare`` has seen."""
        engine = create_async_engine(URL.create("sqlite+aiosqlite", database=str(database)))
        event.listen(engine.sync_engine, "connect", _set_up)
        return cls(engine, Writer(database), str(database))

    async def close(self) -> None:
        self.writer.close()
        await self._engine.dispose()

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncConnection]:
        """One transaction. Lets ``IntegrityError`` out for those who expect it.

        This process's own take turns: SQLite lets one write at a time, and makes those that find
        it locked sleep longer and longer.
        """
        try:
            async with self._turn, self._engine.begin() as connection:
                yield connection
        except IntegrityError:
            raise
        except SQLAlchemyError as error:
            raise StoreError(in_words(error, self._where)) from error

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[AsyncConnection]:
        """For queries alone, which wait for no writer."""
        try:
            async with self._engine.connect() as connection:
                yield connection
        except SQLAlchemyError as error:
            raise StoreError(in_words(error, self._where)) from error

    # --- intake --------------------------------------------------------------------------------

    async def accept(
        self, run: RunRecord, seen_keys: Sequence[str], heeds: Heeds | None = None
    ) -> bool:
        """Store the run, unless it or one of its deliveries is known. One transaction (M23).

        A stop that came before it is its own from the first (M25).
        """
        try:
            async with self.transaction() as connection:
                await connection.execute(
                    insert(RUNS).values(
                        id=run.id,
                        origin_key=run.origin_key,
                        surface=run.surface,
                        address=dict(run.address),
                        workspace=run.workspace,
                        question=run.question,
                        thread=list(run.thread),
                        asked_at=run.asked_at,
                        accepted_at=run.accepted_at,
                        state=run.state.value,
                        owner=run.owner,
                        epoch=0,
                        length=0,
                        abort_requested_by=stopped_before(heeds, run.accepted_at)
                        if heeds
                        else None,
                        input_tokens=0,
                        output_tokens=0,
                    )
                )
                await note(connection, (run.origin_key, *seen_keys), run.accepted_at, run.id)
        except IntegrityError:
            return False
        return True

    async def first_seen(self, keys: Sequence[str], at: datetime) -> bool:
        """Note deliveries that lead to no run. ``False`` if one of them is known already."""
        try:
            async with self.transaction() as connection:
                await note(connection, keys, at, None)
        except IntegrityError:
            return False
        return True

    async def is_seen(self, keys: Sequence[str]) -> bool:
        """Whether one of these deliveries was noted, with or without a run."""
        async with self.reading() as connection:
            return await is_known(connection, keys)

    # --- reading -------------------------------------------------------------------------------

    async def run(self, run: str) -> RunRecord | None:
        return await self._one(runs().where(RUNS.c.id == run))

    async def find(self, *keys: str) -> RunRecord | None:
        """The run of one of these keys: its origin key, or a delivery of the last day."""
        known = select(INTAKE.c.run).where(INTAKE.c.key.in_(keys))
        return await self._one(
            runs().where(or_(RUNS.c.origin_key.in_(keys), RUNS.c.id.in_(known))).limit(1)
        )

    async def recent(self, limit: int) -> tuple[RunRecord, ...]:
        """The newest runs, newest first."""
        return await self._all(runs().order_by(RUNS.c.id.desc()).limit(limit))

    async def unfinished(self, surfaces: Sequence[str]) -> tuple[RunRecord, ...]:
        """Runs of these surfaces without an outcome or without a reply, oldest first."""
        settled = (ReplyState.POSTED.value, ReplyState.GONE.value)
        return await self._all(
            runs()
            .where(RUNS.c.surface.in_(surfaces))
            .where(
                or_(
                    RUNS.c.state != RunState.ENDED.value,
                    REPLIES.c.state.is_(None),
                    REPLIES.c.state.not_in(settled),
                )
            )
            .order_by(RUNS.c.id)
        )

    # --- a run's life --------------------------------------------------------------------------

    async def claim(
        self, run: RunRecord, owner: str, now: datetime, deadline: datetime
    ) -> RunRecord | None:
        """Take a run as it was read, under a new epoch; ``None`` if another was faster.

        The first claim sets the deadline; a takeover keeps it. An ended run stays ended: only its
        reply is still to be posted.
        """
        ended = RUNS.c.state == RunState.ENDED.value
        async with self.transaction() as connection:
            taken = await connection.execute(
                update(RUNS)
                .where(RUNS.c.id == run.id, RUNS.c.epoch == run.epoch)
                .values(
                    owner=owner,
                    epoch=run.epoch + 1,
                    claimed_at=now,
                    deadline_at=run.deadline_at or deadline,
                    state=case((ended, RunState.ENDED.value), else_=RunState.RUNNING.value),
                )
            )
            if taken.rowcount == 0:
                return None
        return await self.run(run.id)

    async def request_abort(self, run: str, by: str) -> RunRecord | None:
        """Note who wants it stopped: the first one counts, and nobody after its end."""
        async with self.transaction() as connection:
            await connection.execute(
                update(RUNS)
                .where(RUNS.c.id == run, RUNS.c.state != RunState.ENDED.value)
                .where(RUNS.c.abort_requested_by.is_(None))
                .values(abort_requested_by=by)
            )
        return await self.run(run)

    async def stop_early(self, stop: EarlyStop, now: datetime) -> None:
        """Keep a stop whose run is not there. Look for it once more afterwards (M25).

        A question that was committed before did not see the stop; each one after it does.
        """
        async with self.transaction() as connection:
            await keep(connection, stop, now)

    async def aborts(self) -> Mapping[str, str]:
        """Who asked to stop which run, of all runs that have not ended, by their ids."""
        going_on = (RunState.ACCEPTED.value, RunState.RUNNING.value)  # so that the index serves
        query = select(RUNS.c.id, RUNS.c.abort_requested_by).where(
            RUNS.c.state.in_(going_on), RUNS.c.abort_requested_by.is_not(None)
        )
        async with self.reading() as connection:
            rows = (await connection.execute(query)).all()
        return {row.id: row.abort_requested_by for row in rows}

    async def still_owns(self, run: RunRecord) -> None:
        """Raises ``FencedError`` if another owner has the run."""
        async with self.transaction() as connection:
            await _fence(connection, run)

    async def remember(
        self, run: RunRecord, news: Mapping[str, str], keys: Sequence[str], at: datetime
    ) -> None:
        """Add to the run's address, for the one who takes it over; ``find`` leads from ``keys`` to it.

        One transaction. Raises ``FencedError``.
        """
        async with self.transaction() as connection:
            await _fence(connection, run)
            query = select(RUNS.c.address).where(RUNS.c.id == run.id)
            address = (await connection.execute(query)).scalar_one()
            await connection.execute(
                update(RUNS).where(RUNS.c.id == run.id).values(address={**address, **news})
            )
            await note(connection, keys, at, run.id)

    async def intend_reply(self, run: RunRecord, marker: str, at: datetime) -> RunRecord:
        """Note, before the post, that it is about to go out. Raises ``FencedError``.

        The reply ``may_be_out`` if that was noted before: no clock is asked, as one can be set back.
        """
        async with self.transaction() as connection:
            await _fence(connection, run)
            known = await connection.execute(select(REPLIES.c.run).where(REPLIES.c.run == run.id))
            is_first = known.first() is None
            if is_first:
                await connection.execute(
                    insert(REPLIES).values(
                        run=run.id, state=ReplyState.INTENDED.value, marker=marker, intent_at=at
                    )
                )
        stored = await self.run(run.id)
        if stored is None:
            raise FencedError(f"run {run.id} was erased")
        if stored.reply is None or not is_first:
            return stored
        return replace(stored, reply=replace(stored.reply, may_be_out=False))

    async def settle_reply(self, run: str, state: ReplyState, reference: str | None) -> None:
        """Note how the post went."""
        async with self.transaction() as connection:
            await connection.execute(
                update(REPLIES)
                .where(REPLIES.c.run == run)
                .values(state=state.value, reference=reference)
            )

    async def erase(self, run: str) -> Erased | None:
        """Delete a run with all that it has, also its bytes in the file. ``None`` if there is none."""
        async with self.transaction() as connection:
            erased = await delete_run(connection, run)
        if erased is None:
            return None
        is_empty = await self.empty_log()
        for _ in range(LOG_TRIES):
            if is_empty:
                break
            await asyncio.sleep(LOG_SECONDS)
            is_empty = await self.empty_log()
        return replace(erased, log_emptied=is_empty)

    async def empty_log(self) -> bool:
        """Take what was erased out of the write-ahead log too; whether none of it is there any more.

        A reader keeps it: call it again later.
        """
        async with self.reading() as connection:
            left = await left_in_log(connection)
            if not left:
                return True
            if not await truncate_log(connection, _patient()):
                return False
        async with self.transaction() as connection:
            await note_emptied(connection, left)
        return True

    async def forks(self, run: str) -> tuple[str, ...]:
        """The ids of the runs that were forked from it, oldest first."""
        made = select(RUNS.c.id).where(
            RUNS.c.origin_key.startswith(f"fork:{run}:", autoescape=True)
        )
        return await self._ids(made.order_by(RUNS.c.id))

    async def ids_like(self, part: str, limit: int) -> tuple[str, ...]:
        """The ids that begin or end with it, newest first."""
        fits = or_(
            RUNS.c.id.startswith(part, autoescape=True), RUNS.c.id.endswith(part, autoescape=True)
        )
        return await self._ids(
            select(RUNS.c.id).where(fits).order_by(RUNS.c.id.desc()).limit(limit)
        )

    async def _ids(self, query: Select[Any]) -> tuple[str, ...]:
        async with self.reading() as connection:
            return tuple((await connection.execute(query)).scalars())

    async def _one(self, query: Select[Any]) -> RunRecord | None:
        found = await self._all(query)
        return found[0] if found else None

    async def _all(self, query: Select[Any]) -> tuple[RunRecord, ...]:
        async with self.reading() as connection:
            rows = (await connection.execute(query)).all()
        return tuple(record(row) for row in rows)


def _set_up(connection: Any, record: object) -> None:
    """What SQLite wants to be told on every new connection."""
    del record
    cursor = connection.cursor()
    cursor.execute(_patient())
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.execute("PRAGMA secure_delete=ON")
    cursor.close()


def _patient() -> str:
    return f"PRAGMA busy_timeout={int(BUSY_SECONDS * 1000)}"


async def _fence(connection: AsyncConnection, run: RunRecord) -> None:
    """Make sure, and keep it so for this transaction, that the run is still ours."""
    held = await connection.execute(
        update(RUNS).where(RUNS.c.id == run.id, RUNS.c.epoch == run.epoch).values(epoch=run.epoch)
    )
    if held.rowcount == 0:
        raise FencedError(f"run {run.id} has another owner")
