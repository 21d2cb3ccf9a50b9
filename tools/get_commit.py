"""get_commit: one commit of a service's repository: who, when, the message, the files."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final

from pydantic import Field

from tools.base import Arguments, CallContext, Status, Tool, ToolError, ToolResult
from tools.diffs import changed_files, line_counts
from tools.git import GitError, one_line, safe_text, utc_seconds
from tools.records import TextRead
from tools.repositories import Place, Repositories, ServiceName
from tools.sources.base import SourceError
from tools.wording import clean, clock, plural

_FILES: Final = 100
_MESSAGE: Final = 4_000


class GetCommitArguments(Arguments):
    service: ServiceName
    ref: Annotated[str, Field(min_length=1, max_length=200)] = Field(
        description="SHA, tag or deploy number."
    )


class GetCommit(Tool[GetCommitArguments]):
    name: ClassVar[str] = "get_commit"
    description: ClassVar[str] = "One commit: author, time, message, changed files."
    case_insensitive: ClassVar[frozenset[str]] = frozenset({"service"})
    arguments = GetCommitArguments

    def __init__(self, repositories: Repositories) -> None:
        self._repositories = repositories

    async def run(self, arguments: GetCommitArguments, context: CallContext) -> ToolResult:
        del context
        try:
            place = await self._repositories.at(arguments.service, arguments.ref)
            return await _shown(place)
        except (GitError, SourceError) as error:
            raise ToolError(str(error)) from error


async def _shown(place: Place) -> ToolResult:
    git, sha = place.git, place.sha
    form = "--format=tformat:%an%x00%ct%x00%P%x00%s%x00%b"
    raw = await git.run("log", "-n1", "--encoding=UTF-8", form, sha, "--")
    author, at, parents, subject, body = raw.split(b"\0", 4)
    bases = parents.decode("ascii").split()
    files = await changed_files(git, bases[0] if bases else None, sha)
    inside = [
        file for file in files if not place.folder or file.path.startswith(f"{place.folder}/")
    ]
    added, removed = line_counts(inside)
    when = clock(utc_seconds(at))
    title = one_line(subject, 200)
    head = f'Commit {sha[:12]} of {place.service.name}: "{title}" by {one_line(author, 80)}, {when}'
    lines = [head]
    if len(bases) > 1:
        lines.append(f"It merges {plural(len(bases), 'parent')}; shown against the first.")
    message = safe_text(body[:_MESSAGE]).strip()
    lines += [f"  {clean(line, 300)}" for line in message.split("\n")[:60] if line.strip()]
    lines.append(f"{plural(len(inside), 'file')} changed, +{added:,} −{removed:,} lines")
    for file in inside[:_FILES]:
        counts = "binary" if file.added is None else f"+{file.added:,} −{file.removed or 0:,}"
        lines.append(f"{file.status.value} {file.path} [{file.kind.value}] {counts}")
    if len(inside) > _FILES:
        lines.append(f"{len(inside) - _FILES:,} more files not shown")
    text = "\n".join(lines)
    return ToolResult(status=Status.OK, summary=head[:200], text=text, value=TextRead(text=text))
