"""What people say of a reply: useful or not, the last word of each counts.

Owns the statements on one table. Who may say it is the surface's to decide.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, func, insert, select
from sqlalchemy.exc import IntegrityError

from bot.runs.schema import FEEDBACK
from bot.runs.store import Store


@dataclass(frozen=True)
class Feedback:
    """How many people found a run's reply useful, and how many did not."""

    useful: int = 0
    not_useful: int = 0


async def keep_feedback(store: Store, run: str, by: str, at: datetime, *, useful: bool) -> bool:
    """Note somebody's word in place of their earlier one. ``False`` if there is no such run."""
    try:
        async with store.transaction() as connection:
            await connection.execute(
                delete(FEEDBACK).where(FEEDBACK.c.run == run, FEEDBACK.c.by == by)
            )
            await connection.execute(insert(FEEDBACK).values(run=run, by=by, useful=useful, at=at))
    except IntegrityError:
        return False
    return True


async def feedback_on(store: Store, run: str) -> Feedback:
    query = (
        select(FEEDBACK.c.useful, func.count())
        .where(FEEDBACK.c.run == run)
        .group_by(FEEDBACK.c.useful)
    )
    async with store.reading() as connection:
        counted = {bool(useful): number for useful, number in await connection.execute(query)}
    return Feedback(useful=counted.get(True, 0), not_useful=counted.get(False, 0))
