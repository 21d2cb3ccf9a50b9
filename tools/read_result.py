"""read_result: pages through the whole text of an earlier observation of the same run (M13)."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from tools.base import Arguments, CallContext, Status, Tool, ToolError, ToolResult
from tools.records import PageRead
from tools.wording import listed

PAGE_CHARACTERS = 3_500


class ReadResultArguments(Arguments):
    observation: str = Field(
        min_length=1,
        max_length=20,
        description='Such as "o2".',
    )
    page: int = Field(default=1, ge=1, le=10_000)


class ReadResult(Tool[ReadResultArguments]):
    """Reads nothing but what this run has already seen."""

    name: ClassVar[str] = "read_result"
    description: ClassVar[str] = "Read on in an earlier observation that was shown shortened."
    case_insensitive: ClassVar[frozenset[str]] = frozenset({"observation"})
    arguments: type[ReadResultArguments] = ReadResultArguments

    async def run(self, arguments: ReadResultArguments, context: CallContext) -> ToolResult:
        wanted = arguments.observation.lower()
        known = {name.lower(): name for name in context.earlier}
        if wanted not in known:
            have = listed(tuple(context.earlier)) or "none yet"
            raise ToolError(
                f"There is no observation {arguments.observation!r}; there are: {have}."
            )
        pages = paged(context.earlier[known[wanted]])
        if arguments.page > len(pages):
            raise ToolError(
                f"Observation {known[wanted]} has {len(pages)} pages; ask for page 1 to "
                f"{len(pages)}."
            )
        text = pages[arguments.page - 1]
        value = PageRead(
            observation=known[wanted], page=arguments.page, pages=len(pages), text=text
        )
        return ToolResult(
            status=Status.OK,
            summary=f"page {value.page} of {value.pages} of {value.observation}",
            text=text,
            value=value,
        )


def paged(text: str, size: int = PAGE_CHARACTERS) -> tuple[str, ...]:
    """Cut at line ends into pages of at most ``size`` characters; joined they are the text."""
    pages = []
    while len(text) > size:
        cut = text.rfind("\n", 0, size) + 1 or size
        pages.append(text[:cut])
        text = text[cut:]
    return (*pages, text)
