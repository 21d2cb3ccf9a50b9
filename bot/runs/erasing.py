"""Erasing a run: its rows, and their bytes in SQLite's write-ahead log.

Owns the statements, and the count of erasures whose bytes may still be in the log: ``user_version``,
which outlives a crash. Knows no transaction: which of these belong together is the store's.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import delete, false
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.runs.schema import BLOBS, EVENTS, FEEDBACK, INTAKE, REPLIES, RUNS


@dataclass(frozen=True)
class Erased:
    """How much of a run there was.

    ``log_emptied``: no byte of it is left in the write-ahead log either. Where another process was
    reading just then, some are, until the next start or look for unfinished runs that finds no reader.
    """

    events: int
    blobs: int
    replies: int
    feedback: int
    log_emptied: bool


async def delete_run(connection: AsyncConnection, run: str) -> Erased | None:
    """Delete all of its rows; ``None`` if there is no such run. The log is not emptied yet."""
    events, blobs, replies, feedback = [
        (await connection.execute(delete(table).where(table.c.run == run))).rowcount
        for table in (EVENTS, BLOBS, REPLIES, FEEDBACK)
    ]
    erased = await connection.execute(delete(RUNS).where(RUNS.c.id == run))
    if erased.rowcount == 0:
        return None
    left = await left_in_log(connection)
    await connection.exec_driver_sql(f"PRAGMA user_version={left + 1}")
    return Erased(events, blobs, replies, feedback, log_emptied=False)


async def left_in_log(connection: AsyncConnection) -> int:
    """How many runs were erased since the write-ahead log was last known to hold none of them."""
    return int((await connection.exec_driver_sql("PRAGMA user_version")).scalar_one())


async def truncate_log(connection: AsyncConnection, patient: str) -> bool:
    """Empty the log without waiting for anybody; whether no reader kept it.

    ``patient`` is the pragma that makes the connection wait for others again.
    """
    await connection.exec_driver_sql("PRAGMA busy_timeout=0")
    try:
        emptying = "PRAGMA wal_checkpoint(TRUNCATE)"
        return not (await connection.exec_driver_sql(emptying)).one()[0]
    finally:
        await connection.exec_driver_sql(patient)


async def note_emptied(connection: AsyncConnection, left: int) -> None:
    """The log holds none of the ``left`` erasures, unless another was made meanwhile."""
    await connection.execute(delete(INTAKE).where(false()))  # takes the lock
    if await left_in_log(connection) == left:
        await connection.exec_driver_sql("PRAGMA user_version=0")
