"""Which repository and commit a reading tool is asked about, within the workspace's scope.

Owns choosing the repository by service, the ref (a commit, a tag, or a deploy by its name), and the
refusal of paths that leave it. Knows no tool.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeAlias

from pydantic import Field

from tools.base import ToolError
from tools.catalog import Catalog, closest
from tools.git import Git, GitError
from tools.history import DeployHistory
from tools.records import Service
from tools.wording import clean, listed

ServiceName: TypeAlias = Annotated[
    str, Field(min_length=1, max_length=200, description="Name or alias.")
]
Ref: TypeAlias = Annotated[
    str, Field(min_length=1, max_length=200, description="Deploy number, SHA or tag.")
]
"""What names a repository and a commit, in the arguments of every tool that reads one."""


@dataclass(frozen=True)
class Place:
    """A repository at one commit; ``folder`` is the service's own part of it, or ''."""

    service: Service
    git: Git
    sha: str
    folder: str


class Repositories:
    """The repositories of a workspace's services, and nothing beside them."""

    def __init__(self, history: DeployHistory, catalog: Catalog) -> None:
        self._history = history
        self._catalog = catalog

    async def at(self, service: str, ref: str) -> Place:
        """The service's repository at a ref or deploy. Raises ``ToolError``, ``GitError``."""
        found = self._catalog.service(service)
        if found is None:
            known = [one.name for one in self._catalog.services]
            near = closest(service, self._catalog.words())
            hint = f" Closest: {listed(near)}." if near else ""
            names = listed(tuple(known), 20) or "none"
            raise ToolError(
                f"There is no service {clean(service, 60)!r}.{hint} Known services: {names}."
            )
        if found.repo is None:
            raise ToolError(
                f"No repository is known for {found.name}: set repo= under [services.{found.name}]"
                " in oncall.toml."
            )
        git = Git(Path(found.repo))
        sha = await self._commit(git, found, ref)
        if sha is None:
            raise ToolError(
                f"{clean(ref, 60)!r} is no commit, tag or deploy of {found.name}: search_deploy"
                " lists its deploys."
            )
        return Place(found, git, sha, found.path.strip("/"))

    async def _commit(self, git: Git, service: Service, ref: str) -> str | None:
        for deploy in await self._history.resolve(ref, service.name):
            name = deploy.sha or deploy.ref
            if name and (sha := await git.commit(name)):
                return sha
        try:
            return await git.commit(ref)
        except GitError as error:
            raise ToolError(str(error)) from error


def inside(path: str) -> str:
    """The path without ``./``; raises ``ToolError`` for one that leaves the repository."""
    climbs = ".." in path.replace("\\", "/").split("/")
    drive = path[1:3] in (":/", ":\\")
    if path.startswith(("/", "~", "\\")) or drive or climbs or "\0" in path:
        raise ToolError(
            f"The path {clean(path, 80)!r} leaves the repository: pass a path relative to it, as"
            " get_diff's file list shows it."
        )
    return posixpath.normpath(path)
