"""Carries a run's events to those who watch it, in order, without ever holding up the run."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from bot.loop.journal import Event


class Feed:
    """``begin`` runs first, then ``show`` for each event; ``note`` misses none. None may raise.

    ``show`` is for people and may be slow; what it has not come to at the end is dropped. ``note`` is
    for counts and logs, and hears of that too.
    """

    def __init__(
        self,
        begin: Callable[[], Awaitable[object]],
        show: Callable[[Event], Awaitable[object]],
        note: Callable[[Event], Awaitable[object]],
    ) -> None:
        self._begin = begin
        self._show = show
        self._note = note
        self._events: asyncio.Queue[Event | None] = asyncio.Queue()
        self._task = asyncio.create_task(self._pump())

    def put(self, event: Event) -> None:
        self._events.put_nowait(event)

    async def catch_up(self, seconds: float) -> None:
        """No more events: give the watchers this long to take in what is left."""
        if not self._task.done():
            self._events.put_nowait(None)
            await asyncio.wait({self._task}, timeout=seconds)

    async def close(self, seconds: float) -> None:
        """As ``catch_up``, then end."""
        await self.catch_up(seconds)
        self._task.cancel()
        await asyncio.wait({self._task})
        while not self._events.empty():
            if (event := self._events.get_nowait()) is not None:
                await self._note(event)

    async def _pump(self) -> None:
        await self._begin()
        while (event := await self._events.get()) is not None:
            await self._note(event)
            await self._show(event)
