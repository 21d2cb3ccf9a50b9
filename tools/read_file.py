"""read_file: lines of one file of a service's repository, as they were at a commit or deploy."""

from __future__ import annotations

import re
from typing import Annotated, ClassVar, Final

from pydantic import Field

from tools.base import Arguments, CallContext, Status, Tool, ToolError, ToolResult
from tools.catalog import closest
from tools.git import GitError, one_line, safe_text
from tools.records import TextRead
from tools.repositories import Place, Ref, Repositories, ServiceName, inside
from tools.secret_files import holds_secret
from tools.sources.base import SourceError
from tools.wording import clean, listed

MOST_LINES: Final = 400
_FIRST: Final = 200
_BLOB_LIMIT: Final = 2 * 1024 * 1024
_LINE: Final = 1_000
_RANGE: Final = re.compile(r"^(\d{1,7})(?:-(\d{1,7}))?$")


class ReadFileArguments(Arguments):
    service: ServiceName
    path: Annotated[str, Field(min_length=1, max_length=1_000)] = Field(
        description="As get_diff's file list shows it."
    )
    ref: Ref
    lines: str = Field(
        default=f"1-{_FIRST}",
        max_length=20,
        description=f'Such as "40-90"; at most {MOST_LINES}.',
    )


class ReadFile(Tool[ReadFileArguments]):
    name: ClassVar[str] = "read_file"
    description: ClassVar[str] = "Lines of one file as of a deploy or commit."
    case_insensitive: ClassVar[frozenset[str]] = frozenset({"service"})
    arguments = ReadFileArguments

    def __init__(self, repositories: Repositories) -> None:
        self._repositories = repositories

    async def run(self, arguments: ReadFileArguments, context: CallContext) -> ToolResult:
        del context
        first, last = _range(arguments.lines)
        path = inside(arguments.path)
        try:
            place = await self._repositories.at(arguments.service, arguments.ref)
            name, text = await _blob(place, path)
        except (GitError, SourceError) as error:
            raise ToolError(str(error)) from error
        if holds_secret(name, text):
            raise ToolError(
                f"{clean(name, 200)!r} holds a Kubernetes Secret: its text is not shown. get_diff"
                " names what changed in it."
            )
        every = text.split("\n")
        if every and not every[-1]:
            every.pop()
        shown = every[first - 1 : last]
        where = f"{clean(name, 200)} of {place.service.name} at {place.sha[:12]}"
        if not shown:
            said = f"{where} has {len(every):,} lines: none from line {first:,} on."
            return ToolResult(status=Status.EMPTY, summary=said[:200], text=said)
        end = first + len(shown) - 1
        head = f"{where}, lines {first:,} to {end:,} of {len(every):,}"
        numbered = [f"{at:>6}  {line[:_LINE]}" for at, line in enumerate(shown, start=first)]
        body = "\n".join([head, *numbered])
        return ToolResult(
            status=Status.OK, summary=head[:200], text=body, value=TextRead(text=body)
        )


def _range(asked: str) -> tuple[int, int]:
    found = _RANGE.match(asked.replace(" ", ""))
    if found is None or int(found[1]) < 1:
        raise ToolError(f'lines={clean(asked, 20)!r} is no range: write "40-90".')
    first = int(found[1])
    last = int(found[2]) if found[2] else first
    if last < first or last - first >= MOST_LINES:
        raise ToolError(
            f"lines={clean(asked, 20)!r} is {'empty' if last < first else 'too long'}: at most"
            f" {MOST_LINES} lines at a time, the first number first."
        )
    return first, last


async def _blob(place: Place, path: str) -> tuple[str, str]:
    """The file's name in the repository and its text; the path may begin at the service's folder."""
    tried = [path]
    if place.folder and not path.startswith(f"{place.folder}/"):
        tried = [f"{place.folder}/{path}"]
    for name in tried:
        raw = await place.git.run("ls-tree", "-z", place.sha, "--", name)
        if not raw:
            continue
        meta = raw.split(b"\t", 1)[0].split(b" ")
        if meta[1] != b"blob" or meta[0] == b"120000":
            kind = "a link" if meta[1] == b"blob" else "a folder or a submodule"
            raise ToolError(f"{clean(path, 80)!r} is {kind}: pass the path of a file.")
        blob = meta[2].decode("ascii")
        size = int(await place.git.run("cat-file", "-s", blob))
        if size > _BLOB_LIMIT:
            raise ToolError(
                f"{clean(path, 80)!r} has {size:,} bytes, too much to read: search it with"
                " search_code."
            )
        content = await place.git.run("cat-file", "blob", blob)
        if b"\0" in content[:8000]:
            raise ToolError(f"{clean(path, 80)!r} is binary: there is no text to show.")
        return name, safe_text(content)
    raise ToolError(await _missing(place, path))


async def _missing(place: Place, path: str) -> str:
    listed_names = await place.git.run("ls-tree", "-r", "-z", "--name-only", place.sha)
    names = [one_line(name, 300) for name in listed_names.split(b"\0")[:20_000] if name]
    base = path.rsplit("/", 1)[-1]
    near = [name for name in names if name.rsplit("/", 1)[-1] == base][:3]
    near = near or list(closest(path, names[:3_000]))
    hint = f" Closest: {listed(tuple(near))}." if near else ""
    return f"There is no file {clean(path, 80)!r} at {place.sha[:12]}.{hint}"
