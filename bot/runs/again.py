"""When a reply that did not go out is tried again: at once, then ever more seldom."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

FIRST_PAUSE = 15.0
LONGEST_PAUSE = 600.0


@dataclass(frozen=True)
class _Wait:
    until: float
    pause: float


class Again:
    """By run, for this process; another one, or the next, starts afresh."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._waits: dict[str, _Wait] = {}

    def failed(self, run: str) -> float:
        """It did not go out; the seconds until it is due."""
        last = self._waits.get(run)
        pause = min(max(last.pause * 2, FIRST_PAUSE), LONGEST_PAUSE) if last else 0.0
        self._waits[run] = _Wait(self._monotonic() + pause, pause)
        return pause

    def settled(self, run: str) -> None:
        self._waits.pop(run, None)

    def is_due(self, run: str) -> bool:
        wait = self._waits.get(run)
        return wait is None or self._monotonic() >= wait.until
