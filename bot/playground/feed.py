"""Tells whoever watches that something changed, so that the page is live.

Owns the list of watchers and a version number; carries no content. A watcher that is slow misses
versions, never the latest one.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator


class Feed:
    """A version that grows with every change, and a way to wait for the next one."""

    def __init__(self) -> None:
        self._version = 0
        self._closed = False
        self._changed = asyncio.Event()

    @property
    def version(self) -> int:
        return self._version

    def touch(self) -> None:
        self._version += 1
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    def close(self) -> None:
        """End every `watch`, so that open streams do not hold up the shutdown."""
        self._closed = True
        self.touch()

    async def watch(self) -> AsyncIterator[int]:
        """Versions, beginning with the current one, until the feed is closed."""
        seen = -1
        while not self._closed:
            changed = self._changed
            if seen != self._version:
                seen = self._version
                yield seen
            else:
                await changed.wait()
