"""The tools of one run: a snapshot made at its start (M14), with the redactor between them and it.

Owns the lookup by name, the schemas that the model is told, the check of raw arguments for shape
(M11), and the one place where a tool's result is redacted (M19). Knows no concrete tool.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Protocol, TypeVar

from pydantic import ValidationError

from bot.loop.outcome import ANSWER, AnswerArguments
from bot.loop.wire import ToolSpec
from tools.base import Arguments, Tool, ToolResult

ArgumentsT = TypeVar("ArgumentsT", bound=Arguments)

READ_AT_ONCE = 30_000
"""Characters that are redacted before anything else happens: of a crafted text they take some 50 ms."""
MOST_CHARACTERS = 1_000_000
"""Characters that a result may have: no tool of this product returns more."""


class Redactor(Protocol):
    """Masks secrets. The same secret gets the same mask within a run, whichever thread asks."""

    def text(self, text: str) -> str: ...

    def result(self, result: ToolResult) -> ToolResult:
        """The result with every string of its text, summary and value redacted."""
        ...


@dataclass(frozen=True)
class BadCall:
    """Arguments that no tool may run with. ``message`` tells the model what to do."""

    message: str


class Toolbox:
    """Tools by name. Raises ``ValueError`` for two of one name, or one named ``answer``."""

    def __init__(self, tools: Sequence[Tool[Any]], redactor: Redactor) -> None:
        self.redactor = redactor
        self._tools = {tool.name: tool for tool in tools}
        if len(self._tools) != len(tools) or ANSWER in self._tools:
            raise ValueError(f"tool names must differ from each other and from {ANSWER!r}")

    def get(self, name: str) -> Tool[Any] | None:
        return self._tools.get(name)

    async def redacted(self, result: ToolResult) -> ToolResult:
        """A result as everybody may see it (M19). A long one is read in a thread, so that a stop is
        heard meanwhile; whoever is cancelled leaves the thread to end by itself, within a second.

        Raises ``ValueError`` for one of more than ``MOST_CHARACTERS``.
        """
        if len(result.text) > MOST_CHARACTERS:
            raise ValueError(f"a result has {len(result.text):,} characters")
        if len(result.text) <= READ_AT_ONCE:
            return self.redactor.result(result)
        return await asyncio.to_thread(self.redactor.result, result)

    @property
    def names(self) -> tuple[str, ...]:
        return (*self._tools, ANSWER)

    @cached_property
    def specs(self) -> tuple[ToolSpec, ...]:
        """What the model is told; the bytes do not change within a run (M14, M15)."""
        return tuple(spec for spec, _ in self._described)

    @cached_property
    def told(self) -> str:
        """The same as canonical JSON, to tell whether two runs were told the same."""
        return f"[{', '.join(told for _, told in self._described)}]"

    @cached_property
    def _described(self) -> tuple[tuple[ToolSpec, str], ...]:
        ends = "Hand in the answer. This ends the run; prose does not."
        answer = _described(ANSWER, ends, AnswerArguments)
        return (*map(_of_tool, self._tools.values()), answer)


def _of_tool(tool: Tool[Any]) -> tuple[ToolSpec, str]:
    arguments: type[Arguments] = tool.arguments
    return _described(tool.name, tool.description, arguments)


@lru_cache(maxsize=256)
def _described(name: str, description: str, arguments: type[Arguments]) -> tuple[ToolSpec, str]:
    """Kept, because making it takes longer than all else before the first model call."""
    spec = ToolSpec(name=name, description=description, parameters=arguments.model_json_schema())
    return spec, json.dumps(spec.model_dump(mode="json"), sort_keys=True)


def parse_arguments(raw: str, wanted: type[ArgumentsT]) -> ArgumentsT | BadCall:
    """Raw JSON text to checked arguments. Never guesses: what does not parse does not run (M10)."""
    try:
        values = json.loads(raw)
    except json.JSONDecodeError as error:
        return BadCall(
            f"The arguments are not valid JSON ({error.msg} at character {error.pos}). "
            "The call was not run. Send it again with complete JSON."
        )
    except ValueError:
        return BadCall("The arguments hold a number that is too long. The call was not run.")
    except RecursionError:
        return BadCall("The arguments are nested too deeply. The call was not run.")
    if not isinstance(values, dict):
        return BadCall("The arguments must be a JSON object. The call was not run.")
    try:
        return wanted.model_validate(values)
    except ValidationError as error:
        lines = [
            f"- {'.'.join(str(piece) for piece in item['loc']) or 'arguments'}: {item['msg']}"
            for item in error.errors(include_url=False, include_input=False)[:6]
        ]
        fields = ", ".join(wanted.model_fields)
        return BadCall(
            "The arguments do not fit. The call was not run.\n"
            + "\n".join(lines)
            + f"\nThe fields are: {fields}."
        )
