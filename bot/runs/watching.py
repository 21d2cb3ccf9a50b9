"""Hears of stops that another process asked for, within a second, while runs are at work (M25).

Owns the looking: one query for all runs, and none while nothing is at work. What a stop does to a
run is the service's. Without it the owner would hear of a stop only at its run's next event, and a
run inside a slow call would go on until that is over. So nothing ends it while runs are at work:
what fails is logged, and it looks again, less often for as long as it goes on failing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from bot.runs.errors import StoreError
from bot.runs.store import Store

LOOK_SECONDS = 0.5
"""Between two looks: what is left of the second is for the stop itself."""
LONGEST_PAUSE = 4.0
"""Between two looks that fail."""

_log = structlog.get_logger(__name__)


class AbortWatch:
    """``at_work`` says whether any run is; ``heard`` gets a run's id and who wants it stopped."""

    def __init__(
        self,
        store: Store,
        at_work: Callable[[], bool],
        heard: Callable[[str, str], None],
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        self._store = store
        self._at_work = at_work
        self._heard = heard
        self._sleep = sleep
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Work has begun. The looking ends by itself with the last run."""
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._look(), name="abort watch")

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def _look(self) -> None:
        pause = LOOK_SECONDS
        while self._at_work():
            await self._sleep(pause)
            try:
                await self._pass_on()
            except Exception as failure:  # noqa: BLE001 - a job: it goes on, or no stop is heard
                pause = min(pause * 2, LONGEST_PAUSE)
                trace = None if isinstance(failure, StoreError) else failure
                _log.error("aborts_unread", why=str(failure), again_in=pause, exc_info=trace)
            else:
                pause = LOOK_SECONDS

    async def _pass_on(self) -> None:
        for run, by in (await self._store.aborts()).items():
            self._heard(run, by)
