"""An event loop whose time is virtual: when nothing is ready, it jumps to the next timer.

Timeouts, delays and hangs take no real time, and come out the same on every run. A loop that waits
for something that can never come raises ``StuckError`` at once. ``at_turn`` runs a callback before
the n-th turn of the loop: that is how an abort is put at any await.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class StuckError(AssertionError):
    """Every task waits, and no timer is set."""


class _Selector(selectors.SelectSelector):
    """Watches nothing but the loop's own wake-up; waiting moves the clock."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise StuckError("every task waits, and no timer is set")
        if timeout > 0:
            self.seconds += timeout
        return []


class VirtualLoop(asyncio.SelectorEventLoop):
    """Offers no sockets, subprocesses or threads. Starts at second 0."""

    def __init__(self) -> None:
        self._virtual = _Selector()
        self._turns = 0
        self._planned: dict[int, Callable[[], object]] = {}
        self.unheard: list[dict[str, Any]] = []
        super().__init__(self._virtual)
        self.set_exception_handler(lambda _, context: self.unheard.append(context))

    def time(self) -> float:
        return self._virtual.seconds

    @property
    def turns(self) -> int:
        """Turns of the loop since ``play`` began."""
        return self._turns

    def at_turn(self, number: int, callback: Callable[[], object]) -> None:
        """Call back before the ``number``-th turn (from 1) of the next ``play``."""
        self._planned[number] = callback

    def _run_once(self) -> None:
        self._turns += 1
        if callback := self._planned.pop(self._turns, None):
            callback()
        super()._run_once()  # type: ignore[misc]

    def play(self, work: Coroutine[Any, Any, T]) -> T:
        """Run to the end. Then no task and no planned callback is left over."""
        self._turns = 0
        try:
            return self.run_until_complete(work)
        finally:
            self._planned.clear()

    def tasks_left(self) -> set[asyncio.Task[Any]]:
        return asyncio.all_tasks(self)

    def cancel_rest(self) -> None:
        """Cancel what is left and let it end."""
        left = self.tasks_left()
        for task in left:
            task.cancel()
        if left:
            self.run_until_complete(asyncio.wait(left))
