"""The deadline and the abort, and the one place where work is raced against them (M8).

Owns the clock protocol. Knows nothing of models, tools or steps. Cancelling is awaited, so that
what was cut has freed what it held before the run goes on.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, Generic, TypeVar

from bot.loop.limits import StopReason

GRACE_SECONDS = 0.2
"""How long cancelled work may take to free what it holds before the run goes on without it."""

T = TypeVar("T")


def _utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True)
class Clock:
    """Seconds that only go forward, and the time of day. Both can be replaced in tests."""

    monotonic: Callable[[], float] = time.monotonic
    now: Callable[[], datetime] = _utc_now


@dataclass(frozen=True)
class Done(Generic[T]):
    value: T
    seconds: float


@dataclass(frozen=True)
class TimedOut:
    seconds: float


@dataclass(frozen=True)
class Cut:
    """The run was stopped while the work was in flight, or before it began."""

    reason: StopReason
    by: str = ""


class WorkCancelledError(Exception):
    """The work was cancelled, and not by the run: something that it waited for was."""


class Stop:
    """One run's deadline (by ``clock.monotonic``) and its abort switch.

    ``abort`` may be called from any task of the loop, any number of times: the first one counts.
    """

    def __init__(self, clock: Clock, deadline: float) -> None:
        self.clock = clock
        self.deadline = deadline
        self._cut: Cut | None = None
        self._aborted = False
        self._waking: set[asyncio.Future[None]] = set()

    def abort(self, by: str = "", reason: StopReason = StopReason.ABORTED) -> None:
        """Stop the run. ``by`` is whom the reply names."""
        if self._cut is None:
            self._cut = Cut(reason, by)
            self._aborted = True
            for waiting in self._waking:
                _wake(waiting)

    @property
    def cut(self) -> Cut | None:
        """Why no further call may start, or ``None`` while one may."""
        if self._cut is None and self.clock.monotonic() >= self.deadline:
            self._cut = Cut(StopReason.DEADLINE)
        return self._cut

    async def race(self, work: Coroutine[Any, Any, T], seconds: float) -> Done[T] | TimedOut | Cut:
        """The work's value, or why there is none.

        Raises what the work raises, and ``WorkCancelledError`` where it was cancelled from inside.
        """
        if self.cut is not None:
            work.close()
            return self.cut
        began = self.clock.monotonic()
        left = self.deadline - began
        loop = asyncio.get_running_loop()
        waiting: asyncio.Future[None] = loop.create_future()
        task = loop.create_task(self._unless_aborted(work, waiting))
        task.add_done_callback(partial(_over, waiting))
        try:
            await self._first(waiting, min(seconds, left))
            spent = self.clock.monotonic() - began
            if task.done() and not task.cancelled():
                return Done(task.result(), spent)
            if not self._aborted:
                if task.cancelled():
                    raise WorkCancelledError
                if seconds <= left:
                    return TimedOut(spent)
            self._cut = self._cut or Cut(StopReason.DEADLINE)
            return self._cut
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait({task}, timeout=GRACE_SECONDS)
            if task.done():
                work.close()

    async def _first(self, waiting: asyncio.Future[None], seconds: float) -> None:
        """Until the work is done, the time is over or the run is aborted."""
        late = waiting.get_loop().call_later(seconds, _wake, waiting)
        self._waking.add(waiting)
        try:
            await waiting
        finally:
            self._waking.discard(waiting)
            late.cancel()

    async def _unless_aborted(
        self, work: Coroutine[Any, Any, T], waiting: asyncio.Future[None]
    ) -> T:
        """An abort may come after a task is made and before its first step: then it has none.

        At its end it wakes the run itself, which is one turn of the event loop earlier than its
        task could.
        """
        try:
            if self._aborted:
                raise asyncio.CancelledError
            return await work
        finally:
            _wake(waiting)


def _wake(waiting: asyncio.Future[None]) -> None:
    if not waiting.done():
        waiting.set_result(None)


def _over(waiting: asyncio.Future[None], task: asyncio.Future[Any]) -> None:
    """Wake the run, and retrieve what late work raised, or asyncio would warn of it."""
    _wake(waiting)
    if not task.cancelled():
        task.exception()
