"""Runs jobs as tasks of this process: so many at once, so many waiting, none lost.

Knows nothing of what a job does. Tasks are kept until they end; what a job raises is logged.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import structlog

_log = structlog.get_logger(__name__)

Job = Callable[[], Awaitable[None]]


@dataclass(frozen=True)
class QueueLimits:
    """``waiting`` counts the jobs beyond the ``running`` ones; ``waiting_seconds`` their patience."""

    running: int = 8
    waiting: int = 32
    waiting_seconds: float = 120.0


@dataclass(frozen=True)
class Load:
    """Jobs that run now, and jobs that wait for their turn."""

    running: int
    waiting: int


class LocalDispatcher:
    def __init__(self, limits: QueueLimits) -> None:
        self._limits = limits
        self._reserved = 0
        self._running = 0
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._turns: dict[str, asyncio.Future[None]] = {}

    def reserve(self) -> bool:
        """Keep a place for a job that is about to be started, if there is one."""
        if len(self._tasks) + self._reserved >= self._limits.running + self._limits.waiting:
            return False
        self._reserved += 1
        return True

    def release(self) -> None:
        """Give a reserved place back: the job was started, or will not be."""
        self._reserved -= 1

    def start(self, key: str, job: Job) -> None:
        """Run the job when its turn comes. A key that is at work is left alone."""
        if key in self._tasks:
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._turns[key] = turn
        if self._running < self._limits.running:
            self.hurry(key)
        task = asyncio.create_task(self._run(turn, job), name=f"run {key}")
        self._tasks[key] = task
        task.add_done_callback(lambda done: self._ended(key, done))

    @property
    def load(self) -> Load:
        return Load(self._running, len(self._turns))

    def has(self, key: str) -> bool:
        return key in self._tasks

    def hurry(self, key: str) -> None:
        """Let a waiting job run now, whatever the limit: it was stopped and has little to do."""
        turn = self._turns.pop(key, None)
        if turn is not None and not turn.done():
            self._running += 1
            turn.set_result(None)

    def ahead(self, key: str) -> int:
        """How many jobs have to be over before this one runs; 0 for one that runs."""
        for place, waiting in enumerate(self._turns):
            if waiting == key:
                return place + 1
        return 0

    async def wait(self, key: str) -> None:
        """Until the job is over. Raises what it raised."""
        if task := self._tasks.get(key):
            await asyncio.shield(task)

    async def drain(self, seconds: float) -> bool:
        """Wait for all jobs; whether they ended in time."""
        if not self._tasks:
            return True
        _, late = await asyncio.wait(set(self._tasks.values()), timeout=seconds)
        return not late

    async def cancel(self) -> None:
        """Cut what is left. Its runs stay unfinished in the store, for the next start."""
        tasks = set(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _run(self, turn: asyncio.Future[None], job: Job) -> None:
        await turn
        try:
            await job()
        finally:
            self._running -= 1
            if self._running < self._limits.running and self._turns:
                self.hurry(next(iter(self._turns)))

    def _ended(self, key: str, task: asyncio.Task[None]) -> None:
        del self._tasks[key]
        self._turns.pop(key, None)
        if not task.cancelled() and (error := task.exception()):
            _log.error("job_failed", run=key, exc_info=error)
