"""What a tool is: a name, a checked set of arguments, an effect, a time limit and one coroutine.

Self-contained but for ``tools.records``. Knows neither the loop nor any source. A tool returns a
``ToolResult`` or raises ``ToolError``; what else it raises is a bug, which the loop turns into an
observation all the same (M10).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import ClassVar, Generic, TypeVar

from pydantic import BaseModel, ConfigDict

from tools.records import Observed


class Effect(StrEnum):
    """Reads run by themselves; a write is only ever proposed (M12)."""

    READ = "read"
    WRITE = "write"


class Status(StrEnum):
    """OK: found. EMPTY: the search worked and nothing is there. ERROR: the search did not work."""

    OK = "ok"
    EMPTY = "empty"
    ERROR = "error"


class ToolResult(BaseModel):
    """What a call yields.

    ``text`` is the whole rendering, the most useful lines first, one fact a line: the loop shows
    as much as its cap allows and pages the rest (M13). ``summary`` is one line of at most 200
    characters that states what was found, as a person would be told. ``value`` is the same as
    data: the rules model and the goal check read it, never the prose. An EMPTY result says in
    ``text`` what was searched, so that "nothing" is a plain confirmation.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    status: Status
    summary: str
    text: str
    value: Observed | None = None


class ToolError(Exception):
    """A call that cannot be served. The message says what is wrong and what to do instead."""


class Arguments(BaseModel):
    """Base of every tool's arguments: unknown fields are refused, text is stripped."""

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)


ArgumentsT = TypeVar("ArgumentsT", bound=Arguments)


@dataclass(frozen=True)
class CallContext:
    """What a call may know of its run: its clock, for windows, and its earlier results.

    ``earlier`` maps an observation's id ("o2") to its whole redacted text. ``page_characters`` is how
    much of such a text the model is shown at once: the first page of each it has seen (M13).
    """

    now: datetime
    earlier: Mapping[str, str]
    page_characters: int = 3_500


def paged(text: str, size: int) -> tuple[str, ...]:
    """Cut into pages of at most ``size`` characters; joined they are the text.

    A page ends with a line, unless that would leave half of it empty.
    """
    pages = []
    at = 0
    while len(text) - at > size:
        cut = text.rfind("\n", at + size // 2 + 1, at + size) + 1 or at + size
        pages.append(text[at:cut])
        at = cut
    return (*pages, text[at:])


class Tool(ABC, Generic[ArgumentsT]):
    """One tool. The class attributes are data for the model; ``run`` does the work.

    ``case_insensitive`` names string arguments whose case does not matter, so that two spellings
    count as the same call (M9). ``timeout`` is in seconds. ``together`` says that the calls of one
    turn only make sense as a whole: one failure fails them all (M12). Cancelling ``run`` must free
    everything that it holds: subprocesses are killed with their process group.
    """

    name: ClassVar[str]
    description: ClassVar[str]
    effect: ClassVar[Effect] = Effect.READ
    timeout: ClassVar[float] = 10.0
    together: ClassVar[bool] = False
    case_insensitive: ClassVar[frozenset[str]] = frozenset()
    arguments: type[ArgumentsT]

    @abstractmethod
    async def run(self, arguments: ArgumentsT, context: CallContext) -> ToolResult:
        """Do it. Raises ``ToolError`` if the arguments make no sense against the sources (M11)."""
