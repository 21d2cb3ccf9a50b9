"""The demo's pace: the rules answer in a tenth of a second, too fast for anybody to stop them by hand.

Owns the file in which the local Slack's page leaves how many seconds each turn waits. Where a language
model answers, its own pace is enough.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from bot.loop.wire import Model, Request, Turn, is_relay

LONGEST_SECONDS = 10.0


@dataclass(frozen=True)
class Paced:
    """Implements ``Model``: another one, each of whose turns waits first."""

    model: Model
    file: Path
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    @property
    def name(self) -> str:
        return self.model.name

    async def complete(self, request: Request) -> Turn:
        """The model's turn. Raises ``ModelError``."""
        await self.sleep(seconds_in(self.file))
        return await self.model.complete(request)


def paced_by(file: Path | None) -> Callable[[Model], Model]:
    """What puts a file's pace around a model; without a file, nothing."""

    def paced(model: Model) -> Model:
        return model if file is None or is_relay(model) else Paced(model, file)

    return paced


def seconds_in(file: Path) -> float:
    """0 to ``LONGEST_SECONDS``; 0 without the file, and where it holds no number."""
    try:
        seconds = float(file.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return 0.0
    return seconds if 0 <= seconds <= LONGEST_SECONDS else 0.0
