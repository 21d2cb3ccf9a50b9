"""The tool get_diff: what one deploy changed against the previous successful one.

Owns the choice of the base and of the direction (M20: both are said), and what is refused. The
words are in ``tools.diff_text``, the reading of git in ``tools.git`` and ``tools.diffs``.
"""

from __future__ import annotations

import asyncio
import posixpath
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, Final, Protocol

from pydantic import Field

from tools.base import Arguments, CallContext, Status, Tool, ToolError, ToolResult
from tools.diff_text import Shown, ambiguous_text, deploy_line, missing_text, render, summarise
from tools.diffs import ChangedFile, changed, line_counts, patches, within
from tools.git import Git, GitError, one_line
from tools.highlights import find_highlights
from tools.names import names_changed
from tools.pull_requests import pull_requests
from tools.records import (
    ChangeKind,
    Commit,
    Deploy,
    DeploysFound,
    DiffShown,
    Direction,
    FileKind,
    PullRequest,
    Service,
)
from tools.secret_files import withheld
from tools.sources.base import SourceError

_FILES_A_PAGE: Final = 200
_BASES_TRIED: Final = 30
_COMMITS_SHOWN: Final = 250
_AUTHORS_SHOWN: Final = 50
_PATCH_A_FILE: Final = 24_000
_PATCHES: Final = 300_000


class History(Protocol):
    """What get_diff asks of ``tools.history.DeployHistory``."""

    async def resolve(self, asked: str, service: str | None = None) -> tuple[Deploy, ...]: ...
    async def base_of(self, deploy: Deploy) -> Deploy | None: ...
    async def nearest(self, asked: str) -> tuple[str, ...]: ...

    async def losses(self) -> tuple[str, ...]: ...
    async def services(self) -> tuple[str, ...]: ...


class Services(Protocol):
    """What get_diff asks of ``tools.catalog.Catalog``."""

    def service(self, name_or_alias: str) -> Service | None: ...


class GetDiffArguments(Arguments):
    deploy: Annotated[str, Field(min_length=1, max_length=200)] = Field(
        description="Number, SHA, tag or URL, as search_deploy shows it. Never guess."
    )
    service: Annotated[str, Field(min_length=1, max_length=200)] | None = Field(
        default=None,
        description="Where several services have that number or tag.",
    )
    path: Annotated[str, Field(min_length=1, max_length=1_000)] | None = Field(
        default=None,
        description="Only this file or folder, with its whole patch.",
    )
    page: int = Field(default=1, ge=1, le=1_000, description="Of the file list, from 1.")


@dataclass(frozen=True)
class _Base:
    """The deploy to compare with, why it was taken, and which ones could not be."""

    deploy: Deploy | None
    sha: str | None
    why: str


@dataclass(frozen=True)
class _Target:
    """The deploy that was asked for, resolved to a commit of a repository."""

    deploy: Deploy
    sha: str
    git: Git
    folder: str


class GetDiff(Tool[GetDiffArguments]):
    name: ClassVar[str] = "get_diff"
    description: ClassVar[str] = (
        "What a deploy changed since the previous successful one of its service and environment:"
        " settings, versions and signatures (before → after), commits, files by risk, patches."
    )
    case_insensitive: ClassVar[frozenset[str]] = frozenset({"service"})
    arguments = GetDiffArguments

    def __init__(self, history: History, catalog: Services) -> None:
        self._history = history
        self._catalog = catalog

    async def run(self, arguments: GetDiffArguments, context: CallContext) -> ToolResult:
        del context
        path = None if arguments.path is None else _relative(arguments.path)
        try:
            found = await self._resolve(arguments)
            if len(found) != 1:
                return await self._unresolved(arguments, found)
            target = await self._target(found[0])
            base = await self._base(target)
            return await self._compare(target, base, path, arguments.page)
        except (GitError, SourceError) as error:
            raise ToolError(str(error)) from error

    async def _resolve(self, arguments: GetDiffArguments) -> tuple[Deploy, ...]:
        if arguments.service is not None and self._catalog.service(arguments.service) is None:
            known = await self._history.services()
            if arguments.service.lower() not in {name.lower() for name in known}:
                some = ", ".join(sorted(known)[:30]) or "none"
                raise ToolError(
                    f"There is no service {_quoted(arguments.service)}. Known services: {some}."
                )
        return await self._history.resolve(arguments.deploy, arguments.service)

    async def _unresolved(
        self, arguments: GetDiffArguments, found: tuple[Deploy, ...]
    ) -> ToolResult:
        nearest = () if found else await self._history.nearest(arguments.deploy)
        value = DeploysFound(
            asked=arguments.deploy,
            asked_deploy=arguments.deploy,
            deploys=found[:50],
            total=len(found),
            nearest=nearest,
            not_searched=() if found else await self._history.losses(),
        )
        shown = one_line(arguments.deploy.encode("utf-8", "replace"), 80)
        text = ambiguous_text(shown, found) if found else missing_text(shown, arguments, nearest)
        status = Status.OK if found else Status.EMPTY
        return ToolResult(status=status, summary=text.split("\n")[0][:200], text=text, value=value)

    async def _target(self, deploy: Deploy) -> _Target:
        if deploy.kind is not ChangeKind.DEPLOY:
            raise ToolError(
                f"{deploy.label} is a {deploy.kind.value} change of {deploy.service}, not a deploy:"
                " it has no diff. search_deploy shows what is recorded of it."
            )
        service = self._catalog.service(deploy.service)
        if service is None or service.repo is None:
            raise ToolError(
                f"No repository is known for {deploy.service}: set repo= under"
                f" [services.{deploy.service}] in oncall.toml."
            )
        git = Git(Path(service.repo))
        name = deploy.sha or deploy.ref
        if name is None:
            raise ToolError(f"Deploy {deploy.label} records neither a commit nor a tag to compare.")
        sha = await git.commit(name)
        if sha is None:
            raise ToolError(
                f"Deploy {deploy.label} is at {one_line(name.encode(), 60)}, which {git.repo} does"
                " not have: run `git fetch --all --tags` there."
            )
        return _Target(deploy, sha, git, service.path.strip("/"))

    async def _base(self, target: _Target) -> _Base:
        """Take the previous successful deploy; if its commit is gone, the last one still there."""
        deploy = target.deploy
        lane = f"{deploy.service} to {deploy.environment}"
        gone: list[str] = []
        earlier = await self._history.base_of(deploy)
        while earlier is not None and len(gone) < _BASES_TRIED:
            name = earlier.sha or earlier.ref
            sha = None if name is None else await target.git.commit(name)
            if sha is not None and not gone:
                return _Base(earlier, sha, f"the previous successful deploy of {lane}")
            if sha is not None:
                lost = ", ".join(gone)
                return _Base(
                    earlier,
                    sha,
                    f"the last earlier deploy of {lane} whose commit the repository still has; it"
                    f" no longer has that of {lost} (force-push or shallow clone)",
                )
            gone.append(f"{earlier.label} ({name[:12] if name else 'no commit recorded'})")
            earlier = await self._history.base_of(earlier)
        if gone:
            why = f"the repository no longer has the commit of {', '.join(gone)}"
            return _Base(None, None, f"{why}, the earlier deploys of {lane}")
        return _Base(None, None, f"no earlier successful deploy of {lane} is known")

    async def _compare(
        self, target: _Target, base: _Base, path: str | None, page: int
    ) -> ToolResult:
        if base.sha is None:
            return await self._first(target, base, path)
        git = target.git
        direction = await _direction(git, base.sha, target.sha)
        backwards = direction is Direction.ROLLBACK
        old, new = (target.sha, base.sha) if backwards else (base.sha, target.sha)
        everything = await changed(git, base.sha, target.sha)
        scope, files = _in_scope(everything, target, path)
        came, left, requests, shallow = await asyncio.gather(
            git.commits(base.sha, target.sha, scope, _COMMITS_SHOWN),
            git.commits(target.sha, base.sha, scope, _COMMITS_SHOWN),
            pull_requests(git, old, new, scope),
            git.is_shallow(),
        )
        pages = max(1, -(-len(files) // _FILES_A_PAGE))
        if page > pages:
            raise ToolError(
                f"There is no page {page}: the file list has {pages}. Pass page={pages}."
            )
        changes = tuple(file.change for file in files)
        part = changes[(page - 1) * _FILES_A_PAGE : page * _FILES_A_PAGE]
        readable = [one.path for one in part if path or one.kind is not FileKind.GENERATED]
        single = path is not None and len(changes) == 1
        limit = _PATCHES if single else _PATCH_A_FILE
        marked, diffs = await asyncio.gather(
            find_highlights(git, files),
            patches(git, base.sha, target.sha, readable, per_file=limit, in_all=_PATCHES),
        )
        diffs = await withheld(git, (base.sha, target.sha), files, diffs)
        names = await asyncio.to_thread(names_changed, diffs)
        why = base.why
        if shallow and direction is Direction.DIVERGED:
            why += "; the repository is a shallow clone, so how the two relate is not certain"
        added, removed = line_counts(changes)
        value = DiffShown(
            deploy=target.deploy,
            base=base.deploy,
            base_sha=base.sha,
            base_why=why,
            direction=direction,
            commits=came[0],
            commits_total=came[1],
            taken_away=left[0],
            pull_requests=requests,
            authors=_authors(left[0] if backwards else came[0], requests),
            files=part,
            files_total=len(changes),
            added=added,
            removed=removed,
            highlights=marked.shown,
            highlights_total=marked.total,
            names_added=names[0],
            names_removed=names[1],
            path=None if path is None else scope,
            page=page,
            pages=pages,
        )
        shown = Shown(
            value=value,
            head_sha=target.sha,
            taken_total=left[1],
            folder=target.folder,
            outside=len(everything) - len(files),
            unread=marked.unread,
            patches=diffs,
        )
        status = Status.EMPTY if path is not None and not files else Status.OK
        text = await asyncio.to_thread(render, shown)
        return ToolResult(status=status, summary=summarise(value), text=text, value=value)

    async def _first(self, target: _Target, base: _Base, path: str | None) -> ToolResult:
        """Without a base nothing is called changed: the tree is counted, not listed."""
        scope = path or target.folder
        listed = await target.git.run(
            "ls-tree", "-r", "-z", "--name-only", target.sha, "--", *([scope] if scope else [])
        )
        value = DiffShown(
            deploy=target.deploy,
            base=None,
            base_sha=None,
            base_why=base.why,
            direction=Direction.FIRST,
            commits=(),
            commits_total=0,
            files=(),
            files_total=0,
            added=0,
            removed=0,
            path=None if path is None else scope,
        )
        text = (
            f"{deploy_line(target.deploy, target.sha)}\n"
            f"There is nothing to compare it with: {base.why}.\n"
            f"What it changed is unknown. Its commit holds {listed.count(0):,} files"
            f"{f' in {scope}' if scope else ''}."
        )
        return ToolResult(status=Status.OK, summary=summarise(value), text=text, value=value)


async def _direction(git: Git, base: str, head: str) -> Direction:
    if base == head:
        return Direction.SAME
    forward, backward = await asyncio.gather(
        git.is_ancestor(base, head), git.is_ancestor(head, base)
    )
    if forward:
        return Direction.FORWARD
    return Direction.ROLLBACK if backward else Direction.DIVERGED


def _relative(path: str) -> str | None:
    """Refuse what leaves the repository; return the path without ``./``, ``None`` for its root."""
    plain = posixpath.normpath(path)
    drive = path[1:3] in (":/", ":\\")
    climbs = ".." in path.replace("\\", "/").split("/")
    if path.startswith(("/", "~", "\\")) or drive or climbs or "\0" in path:
        raise ToolError(
            f"The path {_quoted(path)} leaves the repository: pass a path relative to it, as the"
            " file list of get_diff shows it."
        )
    return None if plain == "." else plain


def _in_scope(
    everything: tuple[ChangedFile, ...], target: _Target, path: str | None
) -> tuple[str, tuple[ChangedFile, ...]]:
    """Choose the files; a path may be given from the repository's root or from the folder."""
    folder = target.folder
    scope = path or folder
    inside = not folder or scope == folder or scope.startswith(folder + "/")
    files = tuple(file for file in everything if within(file.change, scope))
    if path and not inside:
        joined = posixpath.join(folder, path)
        in_folder = tuple(file for file in everything if within(file.change, joined))
        if not in_folder and files:
            raise ToolError(
                f"{_quoted(path)} is outside of {target.deploy.service}, which is {folder}/ of its"
                " repository: pass a path inside of it."
            )
        return joined, in_folder
    return scope, files


def _authors(commits: tuple[Commit, ...], requests: tuple[PullRequest, ...]) -> tuple[str, ...]:
    names = [commit.author for commit in commits]
    names += [request.author for request in requests if request.author]
    return tuple(dict.fromkeys(names))[:_AUTHORS_SHOWN]


def _quoted(text: str) -> str:
    return repr(one_line(text.encode("utf-8", "replace"), 80))
