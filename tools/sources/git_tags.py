"""Deploys read from git tags, for a team that keeps no list of deploys.

Owns which tags mean a deploy and of which service. Of one repository, the first family of tags
that it has counts: ``deploy-N`` and ``release_N``, then ``release-YYYY-MM-DD``, then ``vX.Y.Z``; or
the patterns of oncall.toml. In a shared repository, ``payments-api-v1.2.0`` and
``payments-api/deploy-7`` are of that service alone, a bare tag is of every service in it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from tools.catalog import folded
from tools.git import Git, GitError, Tag
from tools.history import DEFAULT_ENVIRONMENT
from tools.records import Deploy, DeployStatus, Service
from tools.sources.base import Fetched, SourceError
from tools.sources.keys import FORMAT

_PREFIX = r"(?:(?P<service>[\w.-]+?)[-/@_])?"
_FAMILIES = (
    re.compile(_PREFIX + r"(?:deploy(?:ment)?|release|build|prod)[-_/#](?P<number>\d{1,9})"),
    re.compile(
        _PREFIX + r"(?:deploy|release|prod)[-_/](?P<date>\d{4}-\d{2}-\d{2})(?:[.-]\d{1,3})?"
    ),
    re.compile(_PREFIX + r"v?\d{1,6}\.\d{1,6}(?:\.\d{1,6}){0,2}"),
)
_PLACES = {
    "{number}": r"(?P<number>\d{1,9})",
    "{service}": r"(?P<service>[\w.-]+?)",
    "{environment}": r"(?P<environment>[\w.-]+?)",
}
_MEND = (
    "tag each deploy (git tag -a deploy-7), or list deploys in deploys.jsonl beside oncall.toml; "
    f"both are in {FORMAT}"
)


def tag_pattern(text: str) -> re.Pattern[str]:
    """A pattern of oncall.toml: ``*`` is anything, ``{number}``, ``{service}``, ``{environment}``.

    Raises ``ValueError`` when it holds a placeholder twice or an unknown one.
    """
    pattern = ""
    for part in re.split(r"(\{\w*\}|\*+)", text):
        if part.startswith("{"):
            if part not in _PLACES or _PLACES[part] in pattern:
                raise ValueError(f"{part} is unknown or stands twice in {text!r}")
            pattern += _PLACES[part]
        else:
            pattern += ".*" if part.startswith("*") else re.escape(part)
    return re.compile(pattern)


class GitTags:
    """The tags of every service's repository, as deploys."""

    def __init__(
        self, services: Sequence[Service], patterns: Sequence[re.Pattern[str]] = ()
    ) -> None:
        self._repos: defaultdict[Path, list[Service]] = defaultdict(list)
        for service in services:
            if service.repo:
                self._repos[Path(service.repo)].append(service)
        self._families = (tuple(patterns),) if patterns else tuple((one,) for one in _FAMILIES)
        self._last: Fetched[Deploy] | None = None

    @property
    def name(self) -> str:
        return "git tags"

    async def deploys(self) -> Fetched[Deploy]:
        """Raises ``SourceError`` when there is no repository, or none can be read."""
        records: list[Deploy] = []
        notes: list[str] = []
        failed = 0
        for repo, services in self._repos.items():
            try:
                tags = await Git(repo).tags()
            except GitError as error:
                failed += 1
                notes.append(str(error))
                continue
            found = self._of_repo(tags, services)
            records += found
            if not found:
                notes.append(f"no tag in {repo} looks like a deploy (deploy-7, v1.2.0)")
            elif not all(tag.annotated for tag in tags):
                notes.append(
                    f"some tags of {repo.name} are lightweight: their time is the commit's"
                )
        if not self._repos:
            raise SourceError(
                "there is no deploys.jsonl and no service has a `repo`",
                "create deploys.jsonl beside oncall.toml, one deploy a line as in "
                f"{FORMAT}, or give a service its repo",
            )
        if failed == len(self._repos):
            raise SourceError("; ".join(notes))
        fetched = Fetched(tuple(records), tuple(notes), mend=_MEND)
        if self._last != fetched:
            self._last = fetched
        return self._last

    def _of_repo(self, tags: Sequence[Tag], services: Sequence[Service]) -> list[Deploy]:
        versions = {tag.sha: tag.name for tag in tags if _FAMILIES[-1].fullmatch(tag.name)}
        for family in self._families:
            found = [
                deploy
                for tag in tags
                for pattern in family
                if (match := pattern.fullmatch(tag.name))
                for deploy in _deploys(tag, match.groupdict(), services, versions)
            ]
            if found:
                return found
        return []


def _deploys(
    tag: Tag,
    groups: dict[str, str | None],
    services: Sequence[Service],
    versions: dict[str, str],
) -> list[Deploy]:
    number = groups.get("number")
    return [
        Deploy(
            number=int(number) if number else None,
            id=tag.name,
            service=service.name,
            environment=groups.get("environment") or DEFAULT_ENVIRONMENT,
            sha=tag.sha,
            ref=versions.get(tag.sha, tag.name) if number else tag.name,
            status=DeployStatus.SUCCESS,
            actor=tag.by,
            finished_at=tag.at,
            source="git tags",
        )
        for service in _meant(groups.get("service"), services)
    ]


def _meant(prefix: str | None, services: Sequence[Service]) -> Sequence[Service]:
    """The services of the repository that a tag's prefix names; a bare tag means all of them."""
    if prefix is None:
        return services
    named = [service for service in services if folded(prefix) in _called(service)]
    return named or (services if len(services) == 1 else ())


def _called(service: Service) -> set[str]:
    names = {service.name, *service.aliases}
    if service.path:
        names.add(service.path.rstrip("/").rsplit("/", 1)[-1])
    return {folded(name) for name in names}
