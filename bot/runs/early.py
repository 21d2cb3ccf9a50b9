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
    """Keep it in this transaction, for a person and a key the latest, and forget what is too old."""
    kept = EARLY_STOPS.c
    await forget(connection, now)
    same = (kept.key == stop.key) & (kept.by == stop.by)
    await connection.execute(delete(EARLY_STOPS).where(same, kept.at <= stop.at))
    later = await connection.execute(select(kept.key).where(same))
    if later.first() is not None:
        return
    await connection.execute(
        insert(EARLY_STOPS).values(
            key=stop.key, by=stop.by, name=stop.name, of_all=stop.of_all, at=stop.at
        )
    )
    newest = select(kept.at).order_by(kept.at.desc())
    last = (await connection.execute(newest.offset(MOST_KEPT - 1).limit(1))).scalar()
    if last is not None:
        await connection.execute(delete(EARLY_STOPS).where(kept.at < last))


async def forget(connection: AsyncConnection, now: datetime) -> None:
    """Forget what is too old; called wherever something is noted, so that it goes by the clock."""
    await connection.execute(delete(EARLY_STOPS).where(EARLY_STOPS.c.at < now - EARLY_FOR))


def stopped_before(heeds: Heeds, now: datetime) -> ScalarSelect[str]:
    """The name of the first one whose stop came before the question did, as a query."""
    kept = EARLY_STOPS.c
    return (
        select(kept.name)
        .where(kept.key.in_(heeds.keys), kept.at >= heeds.since, kept.at >= now - EARLY_FOR)
        .where(or_(kept.of_all, kept.by == heeds.asker))
        .order_by(kept.at)
        .limit(1)
        .scalar_subquery()
    )
