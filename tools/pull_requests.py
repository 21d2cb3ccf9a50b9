"""Finds the pull requests of a range of commits by what their merges and subjects say.

Knows ``Merge pull request #N``, ``(#N)``, GitLab's ``See merge request !N`` and Bitbucket's
``(pull request #N)``. Titles are quotations. With a path, a merge counts if a commit that it
brought in touches the path, even though the merge itself is no change there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tools.git import Git, checked_ref, one_line
from tools.records import PullRequest

_MERGE: Final = re.compile(r"^Merge pull request #(\d{1,9})\b")
_SQUASH: Final = re.compile(r"^(.*?)\s*\((?:pull request )?#(\d{1,9})\)(?:\s.*)?$")
_GITLAB: Final = re.compile(r"See merge request \S*!(\d{1,9})")
_COMMITS_READ: Final = 2_000
_BROUGHT_IN: Final = 500


@dataclass(frozen=True)
class _Logged:
    parents: tuple[str, ...]
    author: str
    subject: str
    body: str


async def pull_requests(
    git: Git, base: str, head: str, path: str = "", limit: int = 100
) -> tuple[PullRequest, ...]:
    """Return the pull requests of ``base..head``, newest first, each once."""
    revisions = f"{checked_ref(base)}..{checked_ref(head)}"
    form = "--format=tformat:%H%x00%P%x00%an%x00%<(320,trunc)%s%x00%<(600,trunc)%b"
    reading = ("log", "-z", "--encoding=UTF-8", f"-n{_COMMITS_READ}")
    logged = _parse(await git.run(*reading, form, revisions, "--"))
    touching: frozenset[str] | None = None
    if path:
        listed = await git.run("rev-list", "--full-history", revisions, "--", path)
        touching = frozenset(listed.decode("ascii").split())
    found: dict[int, PullRequest] = {}
    for sha, commit in logged.items():
        request = _request(commit)
        if request is None or request.number in found:
            continue
        if touching is None or not touching.isdisjoint(_brought_in(sha, logged)):
            found[request.number] = request
    return tuple(found.values())[:limit]


def _parse(raw: bytes) -> dict[str, _Logged]:
    values = raw.split(b"\0")
    return {
        values[at].decode("ascii"): _Logged(
            parents=tuple(values[at + 1].decode("ascii").split()),
            author=one_line(values[at + 2], 100),
            subject=one_line(values[at + 3]),
            body=values[at + 4].decode("utf-8", "replace"),
        )
        for at in range(0, len(values) - 4, 5)
    }


def _request(commit: _Logged) -> PullRequest | None:
    if merge := _MERGE.match(commit.subject):
        lines = [line for line in commit.body.split("\n") if line.strip()]
        title = one_line(lines[0].encode()) if lines else commit.subject
        return PullRequest(number=int(merge[1]), title=title, author=None)
    if squash := _SQUASH.match(commit.subject):
        title = squash[1] or commit.subject
        return PullRequest(number=int(squash[2]), title=title, author=commit.author)
    if gitlab := _GITLAB.search(commit.body):
        first = one_line(commit.body.split("\n", 1)[0].encode())
        title = commit.subject if first.startswith("See merge request") else first
        return PullRequest(number=int(gitlab[1]), title=title, author=None)
    return None


def _brought_in(sha: str, logged: Mapping[str, _Logged]) -> set[str]:
    """Return the commit itself and, of a merge, what is not on its first parent's own line."""
    commit = logged[sha]
    line = set()
    at = commit.parents[0] if commit.parents else ""
    while at in logged:
        line.add(at)
        at = logged[at].parents[0] if logged[at].parents else ""
    found = {sha}
    waiting = list(commit.parents[1:])
    while waiting and len(found) < _BROUGHT_IN:
        parent = waiting.pop()
        if parent in logged and parent not in found and parent not in line:
            found.add(parent)
            waiting.extend(logged[parent].parents)
    return found
