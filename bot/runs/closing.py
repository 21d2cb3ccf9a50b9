"""The failure of a run that the loop itself could not end: put together from its journal alone.

Pure. Nothing that a tool established is lost (M7). Knows neither store nor surface.
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.loop.journal import Event, ModelReturned, ToolReturned
from bot.loop.limits import StopReason
from bot.loop.outcome import ANSWER, Established, Failure
from bot.loop.state import Phase
from tools.base import Status


def interrupted(events: Sequence[Event], model: str, detail: str, next_check: str) -> Failure:
    """A failure that lists what the recorded tool calls found."""
    found = tuple(
        Established(text=event.summary, observation=event.observation)
        for event in events
        if isinstance(event, ToolReturned)
        and event.tool != ANSWER
        and event.status is not Status.ERROR
    )
    phases = [phase for event in events if (phase := getattr(event, "phase", None))]
    return Failure(
        reason=StopReason.INTERRUPTED,
        phase=phases[-1] if phases else Phase.ASSEMBLE,
        detail=detail,
        established=found,
        next_check=next_check,
        steps=sum(isinstance(event, ModelReturned) for event in events),
        model=model,
    )
