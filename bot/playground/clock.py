"""The playground's clock: what time it is in its world, and how to wait there.

Owns world time (seconds since the epoch, UTC) and everybody who sleeps on it. `VirtualClock` stands
still until `advance` is called; `RealClock` ticks from a chosen moment and can be moved forward.
Knows nothing of Slack. Every rate, retry and timeout of the playground reads this clock.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import time
from abc import ABC, abstractmethod
from datetime import UTC, datetime

YIELDS_PER_STEP = 20
"""How often `VirtualClock.advance` lets other tasks run at each moment that somebody waits for."""


class Clock(ABC):
    """World time in seconds since the epoch; `sleep` and `advance` are measured in it."""

    @abstractmethod
    def now(self) -> float: ...

    @abstractmethod
    async def sleep(self, seconds: float) -> None: ...

    @abstractmethod
    async def advance(self, seconds: float) -> None: ...

    async def wait(self, awaited: asyncio.Future[None], seconds: float) -> bool:
        """Wait for a future, at most so many seconds of world time; whether it was done in time."""
        sleeper = asyncio.ensure_future(self.sleep(seconds))
        try:
            await asyncio.wait({awaited, sleeper}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            sleeper.cancel()
        return awaited.done()


class VirtualClock(Clock):
    """A clock for tests: time passes only in `advance`, which wakes sleepers in their order."""

    def __init__(self, start: float) -> None:
        self._now = start
        self._order = itertools.count()
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []

    def now(self) -> float:
        return self._now

    async def sleep(self, seconds: float) -> None:
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        woken = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._now + seconds, next(self._order), woken))
        await woken

    async def advance(self, seconds: float) -> None:
        until = self._now + seconds
        await _let_others_run()
        while self._sleepers and self._sleepers[0][0] <= until:
            due, _, woken = heapq.heappop(self._sleepers)
            if woken.done():
                continue
            self._now = max(self._now, due)
            woken.set_result(None)
            await _let_others_run()
        self._now = until
        await _let_others_run()


class RealClock(Clock):
    """Ticks with the machine's monotonic clock, from a chosen moment of world time.

    One timer for all sleepers, set for the first of them: a jump costs those that it wakes only.
    """

    def __init__(self, start: float) -> None:
        self._start = start
        self._began = time.monotonic()
        self._order = itertools.count()
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._timer: asyncio.TimerHandle | None = None

    def now(self) -> float:
        return self._start + time.monotonic() - self._began

    async def sleep(self, seconds: float) -> None:
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        woken = asyncio.get_running_loop().create_future()
        sleeper = (self.now() + seconds, next(self._order), woken)
        heapq.heappush(self._sleepers, sleeper)
        if self._sleepers[0] is sleeper:
            self._set_timer()
        await woken

    async def advance(self, seconds: float) -> None:
        self._start += seconds
        self._wake()
        await asyncio.sleep(0)

    def _wake(self) -> None:
        """Wake those whose time has come, and forget those who were cancelled."""
        now = self.now()
        while self._sleepers and (self._sleepers[0][0] <= now or self._sleepers[0][2].done()):
            woken = heapq.heappop(self._sleepers)[2]
            if not woken.done():
                woken.set_result(None)
        self._set_timer()

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._sleepers:
            left = max(0.0, self._sleepers[0][0] - self.now())
            self._timer = asyncio.get_running_loop().call_later(left, self._wake)


async def _let_others_run() -> None:
    for _ in range(YIELDS_PER_STEP):
        await asyncio.sleep(0)


def parse_time(text: str) -> float:
    """Seconds since the epoch of an ISO 8601 time; without a zone it is read as UTC."""
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
