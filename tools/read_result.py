"""read_result: pages through the whole text of an earlier observation of the same run (M13)."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from tools.base import Arguments, CallContext, Status, Tool, ToolError, ToolResult, paged
from tools.records import PageRead
from tools.wording import listed


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
        pages = paged(context.earlier[known[wanted]], context.page_characters)
        if arguments.page > len(pages):
            raise ToolError(
                f"Observation {known[wanted]} has {len(pages)} pages; ask for page 1 to "
                f"{len(pages)}."
            )
        value = PageRead(
            observation=known[wanted],
            page=arguments.page,
            pages=len(pages),
            text=pages[arguments.page - 1],
        )
        where = f"page {value.page} of {value.pages}"
        text = value.text
        if value.page < value.pages:
            more = f'read_result(observation="{value.observation}", page={value.page + 1})'
            text = text.removesuffix("\n") + f"\n… {where}: {more} shows more."
        summary = f"{where} of {value.observation}"
        return ToolResult(status=Status.OK, summary=summary, text=text, value=value)
