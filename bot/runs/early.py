"""Stops that are handled before what they stop: kept until the question comes (M25).

Slack promises no order: a stop emoji may be delivered before its question's message, also to another
replica, or after a reconnect. Owns the statements on one table; few are kept, and for an hour. Knows
no transaction: keeping one and taking in a question are one each, the store's.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import ScalarSelect, delete, insert, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.runs.records import EarlyStop, Heeds
from bot.runs.schema import EARLY_STOPS

EARLY_FOR: Final = timedelta(hours=1)
"""Slack delivers what was not acknowledged for some minutes; much later nobody waits for it."""
MOST_KEPT: Final = 1_000
"""Stop emojis stand on other messages as well; the oldest go first."""


async def keep(connection: AsyncConnection, stop: EarlyStop, now: datetime) -> None:
    """Keep it in this transaction, once for a person and a key, and forget what is too old."""
    kept = EARLY_STOPS.c
    await connection.execute(
        delete(EARLY_STOPS).where(
            or_(kept.at < now - EARLY_FOR, (kept.key == stop.key) & (kept.by == stop.by))
        )
    )
    await connection.execute(
        insert(EARLY_STOPS).values(
            key=stop.key, by=stop.by, name=stop.name, of_all=stop.of_all, at=stop.at
        )
    )
    newest = select(kept.at).order_by(kept.at.desc())
    last = (await connection.execute(newest.offset(MOST_KEPT - 1).limit(1))).scalar()
    if last is not None:
        await connection.execute(delete(EARLY_STOPS).where(kept.at < last))


def stopped_before(heeds: Heeds) -> ScalarSelect[str]:
    """The name of the first one whose stop came before the question did, as a query."""
    return (
        select(EARLY_STOPS.c.name)
        .where(EARLY_STOPS.c.key.in_(heeds.keys), EARLY_STOPS.c.at >= heeds.since)
        .where(or_(EARLY_STOPS.c.of_all, EARLY_STOPS.c.by == heeds.asker))
        .order_by(EARLY_STOPS.c.at)
        .limit(1)
        .scalar_subquery()
    )
