"""A scratchpad of results made from literals: for asking the goal check about them."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from bot.loop.scratchpad import Observation, Origin, Scratchpad, Step
from bot.loop.wire import Finish, Turn
from support.scripted import asked
from tools.base import ToolResult

Searched = tuple[ToolResult, Mapping[str, JsonValue]]
"""A result with the arguments of the call."""


def pad(*results: ToolResult | Searched, question: str = "hello") -> Scratchpad:
    """One step with these results as ``o1``, ``o2``, … of ``tool1``, ``tool2``, …"""
    observations = tuple(
        Observation(
            id=f"o{n}",
            call_id=f"c{n}",
            tool=f"tool{n}",
            arguments=arguments,
            origin=Origin.RAN,
            result=result,
            shown=result.text,
        )
        for n, (result, arguments) in enumerate(
            (given if isinstance(given, tuple) else (given, {}) for given in results), 1
        )
    )
    step = Step(1, Turn(finish=Finish.TOOL_USE, model="m"), observations)
    return Scratchpad.begin(asked(question), "m").with_step(step)
