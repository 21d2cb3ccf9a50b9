"""The way of one method of Slack's: wide until Slack says "too many", then one call at a time.

Owns who goes next while it is narrow. Everybody who was refused would try again at the same moment,
most of them in vain and before a reply that waits for the same method. Knows no message and no run.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from enum import IntEnum

from bot.slack.calls import Called, Limited, Make, Ok, Refused, Unknown, Web, pauses


class Rank(IntEnum):
    """Lower goes first."""

    REPLY = 0
    NOTICE = 1
    TIDYING = 2


class Lane:
    def __init__(self, web: Web) -> None:
        self._web = web
        self._opens_at = 0.0
        self._is_taken = False
        self._order = itertools.count()
        self._waiting: list[tuple[Rank, int, asyncio.Future[None]]] = []

    async def persist(self, make: Make, seconds: float, rank: Rank) -> Called:
        """Make a call that may be made twice, until Slack answers or the time is over."""
        clock = self._web.clock
        until = clock.monotonic() + seconds
        for pause in pauses():
            called = await self._in_turn(make, until, rank)
            match called:
                case Ok() | Refused():
                    return called
                case Limited(seconds=wait):
                    self._opens_at = max(self._opens_at, clock.monotonic() + wait)
                    rest = 0.0
                case Unknown():
                    wait = rest = pause
            if clock.monotonic() + wait > until:
                return called
            if rest:
                await self._web.sleep(rest)
        raise AssertionError("pauses never end")

    async def _in_turn(self, make: Make, until: float, rank: Rank) -> Called:
        if not self._is_taken and self._closed_for() <= 0:
            return await self._web.once(make())
        async with self._alone(rank):
            while (wait := self._closed_for()) > 0:
                if self._web.clock.monotonic() + wait > until:
                    return Limited(wait)
                await self._web.sleep(wait)
            return await self._web.once(make())

    def _closed_for(self) -> float:
        return self._opens_at - self._web.clock.monotonic()

    @asynccontextmanager
    async def _alone(self, rank: Rank) -> AsyncIterator[None]:
        """Held by one; handed to the one who is next."""
        if self._is_taken:
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            heapq.heappush(self._waiting, (rank, next(self._order), turn))
            try:
                await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled():
                    self._hand_on()
                raise
        self._is_taken = True
        try:
            yield
        finally:
            self._hand_on()

    def _hand_on(self) -> None:
        while self._waiting:
            turn = heapq.heappop(self._waiting)[2]
            if not turn.done():
                turn.set_result(None)
                return
        self._is_taken = False
