"""Carries a run's events to those who watch it, in order, without ever holding up the run."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from bot.loop.journal import Event


class Feed:
    """``begin`` runs first, then ``show`` for each event; ``note`` misses none. None may raise.

    ``show`` is for people and may be slow; what it has not come to at the end is dropped. ``note`` is
    for counts and logs, and waits for no viewer.
    """

    def __init__(
        self,
        begin: Callable[[], Awaitable[object]],
        show: Callable[[Event], Awaitable[object]],
        note: Callable[[Event], Awaitable[object]],
    ) -> None:
        self._begin = begin
        self._to_show: asyncio.Queue[Event | None] = asyncio.Queue()
        self._to_note: asyncio.Queue[Event | None] = asyncio.Queue()
        self._showing = asyncio.create_task(self._begin_and_show(show))
        self._noting = asyncio.create_task(_each(self._to_note, note))

    def put(self, event: Event) -> None:
        self._to_note.put_nowait(event)
        self._to_show.put_nowait(event)

    async def catch_up(self, seconds: float) -> None:
        """No more events: give the viewers this long to take in what is left."""
        self._to_note.put_nowait(None)
        self._to_show.put_nowait(None)
        await asyncio.wait({self._showing, self._noting}, timeout=seconds)

    async def close(self, seconds: float) -> None:
        """As ``catch_up``, then end."""
        await self.catch_up(seconds)
        self._showing.cancel()
        await asyncio.wait({self._showing, self._noting})

    async def _begin_and_show(self, show: Callable[[Event], Awaitable[object]]) -> None:
        await self._begin()
        await _each(self._to_show, show)


async def _each(
    events: asyncio.Queue[Event | None], take: Callable[[Event], Awaitable[object]]
) -> None:
    while (event := await events.get()) is not None:
        await take(event)
