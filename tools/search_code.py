"""search_code: lines of a service's repository that hold a text or match a pattern, at a commit.

The pattern is never run here: git's own matcher does, in a process that is killed at its limit.
"""

from __future__ import annotations

import re
from typing import Annotated, ClassVar, Final

from pydantic import Field

from tools.base import Arguments, CallContext, Status, Tool, ToolError, ToolResult
from tools.git import Git, GitError, safe_text
from tools.records import TextRead
from tools.repositories import Ref, Repositories, ServiceName, inside
from tools.secret_files import WITHHELD, holding_secrets
from tools.sources.base import SourceError
from tools.wording import clean, plural

_SECONDS: Final = 4.0
_OUTPUT: Final = 256 * 1024
_A_FILE: Final = 20
_SHOWN: Final = 60
_LINE: Final = 240
_NESTED: Final = re.compile(r"\)[*+{]|\\[1-9]|\{\d*,?\d{4,}|\(\?")
"""What makes matching slow (repeated groups, references back) or is no extended regex."""


class SearchCodeArguments(Arguments):
    service: ServiceName
    pattern: Annotated[str, Field(min_length=2, max_length=200)] = Field(
        description="Literal text; with regex=true a POSIX extended regex."
    )
    ref: Ref
    path: Annotated[str, Field(min_length=1, max_length=1_000)] | None = Field(
        default=None, description="Only this file or folder."
    )
    regex: bool = Field(default=False)


class SearchCode(Tool[SearchCodeArguments]):
    name: ClassVar[str] = "search_code"
    description: ClassVar[str] = "Lines that hold a text, as of a deploy or commit. Case matters."
    case_insensitive: ClassVar[frozenset[str]] = frozenset({"service"})
    arguments = SearchCodeArguments

    def __init__(self, repositories: Repositories) -> None:
        self._repositories = repositories

    async def run(self, arguments: SearchCodeArguments, context: CallContext) -> ToolResult:
        del context
        if "\n" in arguments.pattern or "\0" in arguments.pattern:
            raise ToolError("The pattern must be of one line.")
        if arguments.regex and _NESTED.search(arguments.pattern):
            raise ToolError(
                "This pattern repeats a group, refers back or is no POSIX extended regex: such a"
                " search can take for ever. Look for a plain text instead (regex=false)."
            )
        try:
            place = await self._repositories.at(arguments.service, arguments.ref)
            scope = inside(arguments.path) if arguments.path else ""
            if place.folder and not scope.startswith(f"{place.folder}/"):
                scope = f"{place.folder}/{scope}".rstrip("/")
            found = await _grep(place.git, place.sha, arguments, scope)
        except (GitError, SourceError) as error:
            raise ToolError(str(error)) from error
        where = f"{place.service.name} at {place.sha[:12]}"
        shown = clean(arguments.pattern, 80)
        if not found:
            said = f"No line of {where} holds {shown!r}{f' in {scope}' if scope else ''}."
            return ToolResult(status=Status.EMPTY, summary=said[:200], text=said)
        head = f"{plural(len(found), 'line')} of {where} with {shown!r}"
        rest = len(found) - _SHOWN
        lines = [head, *found[:_SHOWN]]
        if rest > 0:
            lines.append(f"{rest:,} more or beyond: narrow it with path=.")
        text = "\n".join(lines)
        return ToolResult(
            status=Status.OK, summary=head[:200], text=text, value=TextRead(text=text)
        )


async def _grep(git: Git, sha: str, arguments: SearchCodeArguments, scope: str) -> list[str]:
    how = "-E" if arguments.regex else "-F"
    argv = ["grep", "-n", "-I", "-z", "--no-color", f"--max-count={_A_FILE}", how]
    argv += ["-e", arguments.pattern, sha, "--", *([scope] if scope else [])]
    output = await git.run_cut(*argv, timeout=_SECONDS, limit=_OUTPUT, ok_codes=(0, 1))
    found = []
    for raw in output.out.split(b"\n"):
        name, _, rest = raw.partition(b"\0")
        number, _, text = rest.partition(b"\0")
        if number.isdigit():
            found.append((name.partition(b":")[2], int(number), text[: _LINE * 8]))
    sealed = await holding_secrets(git, (sha,), {path for path, _, _ in found})
    return [
        f"{clean(safe_text(path), 200)}:{number}:"
        f" {WITHHELD if path in sealed else clean(safe_text(text), _LINE)}"
        for path, number, text in found
    ]
