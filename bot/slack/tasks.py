"""The work that goes on beside the listeners: owned, logged, and ended in an orderly way."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import structlog

_log = structlog.get_logger(__name__)


class Tasks:
    """Tasks that are kept until they end. What one raises is logged and reaches nobody else."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()
        self._endless: set[asyncio.Task[Any]] = set()

    def start(self, work: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    async def within(self, seconds: float, work: Coroutine[Any, Any, Any], name: str) -> None:
        """Wait for work at most so long; it goes on afterwards. Raises what it raises meanwhile."""
        task = self.start(work, name)
        await asyncio.wait({task}, timeout=seconds)
        if task.done():
            task.result()

    def start_endless(self, work: Coroutine[Any, Any, Any], name: str) -> None:
        """As ``start``, for what goes on until it is cut."""
        task = asyncio.create_task(work, name=name)
        self._endless.add(task)
        task.add_done_callback(self._ended)

    async def close(self, seconds: float) -> None:
        """Let them end for so long, then cut what is left."""
        for task in tuple(self._endless):
            task.cancel()
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=seconds)
        left = self._tasks | self._endless
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        self._endless.discard(task)
        if not task.cancelled() and (error := task.exception()):
            _log.error("slack_task_failed", task=task.get_name(), exc_info=error)
