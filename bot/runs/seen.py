"""What was seen before: the keys of messages and of their deliveries, for a day (M23).

Owns the statements on one table, and that what is too old goes by the clock with every delivery that
is noted. Knows no transaction: noting is a part of what a delivery leads to, the store's.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import delete, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.runs import early
from bot.runs.schema import INTAKE

SEEN_FOR: Final = timedelta(hours=24)
"""How long a delivery is remembered; Slack sends one again within the hour."""


async def note(
    connection: AsyncConnection, keys: Sequence[str], at: datetime, run: str | None
) -> None:
    """Add to the intake and forget what is too old. Raises ``IntegrityError`` if one is known."""
    await connection.execute(delete(INTAKE).where(INTAKE.c.at < at - SEEN_FOR))
    await early.forget(connection, at)
    rows = [{"key": key, "at": at, "run": run} for key in dict.fromkeys(keys)]
    await connection.execute(insert(INTAKE), rows)


async def is_known(connection: AsyncConnection, keys: Sequence[str]) -> bool:
    """Whether one of them was noted before."""
    query = select(INTAKE.c.key).where(INTAKE.c.key.in_(keys)).limit(1)
    return (await connection.execute(query)).first() is not None
