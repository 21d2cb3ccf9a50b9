"""How fast the bot of a demo is to answer: at once, or slowly enough to be stopped by hand.

Owns the file that the bot reads before each turn. Without a file there is no bot to slow down, and the
page offers nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

SLOW_SECONDS = 2.5
"""Of one turn: an answer takes three."""


class Pace(StrEnum):
    USUAL = "usual"
    SLOW = "slow"


@dataclass(frozen=True)
class PaceFile:
    """Holds the seconds that a turn waits; it is not there while none does."""

    path: Path

    def read(self) -> Pace:
        return Pace.SLOW if self.path.exists() else Pace.USUAL

    def write(self, pace: Pace) -> None:
        match pace:
            case Pace.SLOW:
                self.path.write_text(f"{SLOW_SECONDS}\n", encoding="ascii")
            case Pace.USUAL:
                self.path.unlink(missing_ok=True)
