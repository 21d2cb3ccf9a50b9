"""What runs cost, from their journals and the prices in the settings.

Owns the reading; the arithmetic is ``bot.models.prices``'. A run of the rules model costs nothing.
"""

from __future__ import annotations

from datetime import datetime

from bot.loop.journal import ModelReturned
from bot.models.prices import Cost, paid_for
from bot.models.settings import ModelSettings
from bot.runs.journal import StoredByOtherVersionError, StoreJournal
from bot.runs.records import RunRecord
from bot.runs.store import Store

RECENT = 5_000
"""Runs that are looked at for today's money."""


async def cost_of_run(store: Store, run: RunRecord, settings: ModelSettings) -> Cost | None:
    """``None`` for a run that asked no model that is paid for, or that another version recorded."""
    try:
        events = await StoreJournal(store, run.id, run.epoch, _unused).read()
    except StoredByOtherVersionError:  # one that cannot be read must not hide all others
        return None
    turns = [event.turn for event in events if isinstance(event, ModelReturned)]
    return paid_for(turns, settings.prices)


async def spent_on_day(store: Store, now: datetime, settings: ModelSettings) -> float:
    """Money of the runs that were accepted on the UTC day of ``now``: what a restart would forget.

    Read only where a budget is set.
    """
    if settings.daily_budget is None:
        return 0.0
    day = now.date()
    total = 0.0
    for run in await store.recent(RECENT):
        if run.accepted_at.date() == day:
            cost = await cost_of_run(store, run, settings)
            total += cost.amount if cost else 0.0
    return total


def _unused() -> datetime:
    raise AssertionError("a journal that is only read asks for no time")
