"""Every deploy that the sources know, in time order, and what people call each of them.

Owns resolving a number, SHA, tag, id or URL to deploys, and the base of a deploy. It never guesses:
it returns every match. Knows no tool and no clock; who asks leaves out what lies after the question.
"""

from __future__ import annotations

import asyncio
import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from tools.catalog import Catalog, closest
from tools.git import Git, GitError
from tools.records import ChangeKind, Deploy, DeployStatus
from tools.sources.base import DeploySource, Fetched, SourceError
from tools.wording import plural

DEFAULT_ENVIRONMENT = "production"
NEAREST_SHOWN = 3
REPOSITORIES_ASKED = 20
"""A tag that no record names is looked up in at most so many repositories."""

_NEVER = datetime.min.replace(tzinfo=UTC)
_NUMBER = re.compile(
    r"^(?:(?:deploy(?:ment)?|release|build|run)[\s_-]*)?#?(\d{1,12})$", re.IGNORECASE
)
_SHA = re.compile(r"^[0-9a-f]{7,40}$", re.IGNORECASE)
_SHA_IN_URL = re.compile(r"(?<![0-9a-f])[0-9a-f]{7,40}(?![0-9a-f])", re.IGNORECASE)
_LEADING_NOUN = re.compile(
    r"^(?:the\s+)?(?:deploy(?:ment)?|release|commit|tag|sha)[\s:]+", re.IGNORECASE
)


def _moment(deploy: Deploy) -> tuple[datetime, int]:
    return deploy.at or _NEVER, -1 if deploy.number is None else deploy.number


def same_environment(one: str, other: str) -> bool:
    """Whether two names mean one environment: ``prod`` is ``production``."""
    shorter, longer = sorted((one.strip().lower(), other.strip().lower()), key=len)
    return shorter == longer or (len(shorter) >= 3 and longer.startswith(shorter))


def as_of(deploy: Deploy, now: datetime) -> Deploy | None:
    """A deploy as it was known at ``now``: not at all, or still in progress."""
    began = deploy.started_at or deploy.finished_at
    if began is not None and began > now:
        return None
    if deploy.finished_at is not None and deploy.finished_at > now:
        return deploy.model_copy(
            update={"finished_at": None, "status": DeployStatus.IN_PROGRESS},
        )
    return deploy


@dataclass(frozen=True)
class Timeline:
    """The deploys of one reading, oldest first, with the ways to find one."""

    fetched: tuple[Fetched[Deploy], ...]
    deploys: tuple[Deploy, ...]
    by_number: dict[int, list[Deploy]]
    by_ref: dict[str, list[Deploy]]
    by_id: dict[str, list[Deploy]]
    by_url: dict[str, list[Deploy]]
    by_sha: tuple[tuple[str, Deploy], ...]
    lanes: dict[tuple[str, str], list[Deploy]]
    undated: tuple[Deploy, ...]
    """What no question about time can find."""

    def with_sha(self, prefix: str) -> list[Deploy]:
        prefix = prefix.lower()
        start = bisect_left(self.by_sha, prefix, key=lambda pair: pair[0])
        found = []
        for sha, deploy in self.by_sha[start:]:
            if not sha.startswith(prefix):
                break
            found.append(deploy)
        return sorted(found, key=_moment)

    def base_of(self, deploy: Deploy) -> Deploy | None:
        """The previous successful deploy of the same service and environment, or ``None``."""
        lane = self.lanes.get((deploy.service, deploy.environment), [])
        for at in range(bisect_left(lane, _moment(deploy), key=_moment) - 1, -1, -1):
            if lane[at].status is DeployStatus.SUCCESS:
                return lane[at]
        return None

    def after(self, deploy: Deploy, until: datetime) -> Iterator[Deploy]:
        """The later deploys of the same service and environment up to ``until``, oldest first."""
        lane = self.lanes.get((deploy.service, deploy.environment), [])
        for at in range(bisect_left(lane, _moment(deploy), key=_moment), len(lane)):
            other = lane[at]
            if other.at is not None and other.at > until:
                return
            if other != deploy and other.at is not None:
                yield other


class DeployHistory:
    """What was deployed, over all sources. Reads them again on each question; they cache."""

    def __init__(self, sources: Sequence[DeploySource], catalog: Catalog) -> None:
        self._sources = tuple(sources)
        self._catalog = catalog
        self._kept: Timeline | None = None
        self._losses: tuple[str, ...] = ()

    async def all(self) -> tuple[Deploy, ...]:
        """Every deploy and other change, oldest first. Raises ``SourceError`` if none is readable."""
        return (await self.timeline()).deploys

    async def losses(self) -> tuple[str, ...]:
        """What could not be read, one sentence each: all that a question about a name can miss."""
        await self.timeline()
        return self._losses

    async def notes(self, service: str | None = None) -> tuple[str, ...]:
        """What a question about a time can miss: what could not be read, and what (of the service)
        has no time to be found by.
        """
        index = await self.timeline()
        undated = (one for one in index.undated if service in {None, one.service})
        return (*self._losses, *_counted(undated))

    async def services(self) -> tuple[str, ...]:
        """The names of all services: the catalog's, and those that only deploys name."""
        index = await self.timeline()
        names = [service.name for service in self._catalog.services]
        return tuple(dict.fromkeys([*names, *sorted(service for service, _ in index.lanes)]))

    async def canonical(self, service: str) -> str | None:
        """The service that people call this, or ``None`` if neither catalog nor deploys know it."""
        if found := self._catalog.service(service):
            return found.name
        wanted = service.strip().lower()
        return next((name for name in await self.services() if name.lower() == wanted), None)

    async def resolve(self, asked: str, service: str | None = None) -> tuple[Deploy, ...]:
        """Every deploy that goes by this name: URL, SHA, tag or ref, human number, source id.

        In this order, each once. Empty when no source knows it; several when it is ambiguous.
        """
        index = await self.timeline()
        name = await self.canonical(service) or service if service else None
        text = asked.strip()
        found = self._matches(index, text)
        if not found and (shorter := _LEADING_NOUN.sub("", text)) != text:
            text = shorter
            found = self._matches(index, text)
        if not found and name is None:
            named = self._catalog.mentioned(text)
            rest = self._without_service(text)
            if len(named) == 1 and rest and rest != text:
                return await self.resolve(rest, named[0])
        if not found:
            found = await self._by_git_ref(index, text, name)
        return tuple(deploy for deploy in found if name is None or deploy.service == name)

    async def nearest(self, asked: str) -> tuple[str, ...]:
        """The labels closest to one that does not exist, nearest first."""
        index = await self.timeline()
        if number := _NUMBER.match(_LEADING_NOUN.sub("", asked.strip())):
            wanted = int(number[1])
            near = sorted(index.by_number, key=lambda known: (abs(known - wanted), -known))
            return tuple(str(known) for known in near[:NEAREST_SHOWN])
        return closest(asked, (deploy.ref for deploy in index.deploys if deploy.ref), NEAREST_SHOWN)

    async def base_of(self, deploy: Deploy) -> Deploy | None:
        """The previous successful deploy of the same service and environment, or ``None``."""
        return (await self.timeline()).base_of(deploy)

    # --- finding ---------------------------------------------------------------------------------

    def _matches(self, index: Timeline, text: str) -> list[Deploy]:
        found: list[Deploy] = []
        if "://" in text:
            found += index.by_url.get(_url_key(text), [])
            for sha in _SHA_IN_URL.findall(urlsplit(text).path) if not found else []:
                found += index.with_sha(sha)
        if _SHA.match(text):
            found += index.with_sha(text)
        found += index.by_ref.get(text.lower(), [])
        if number := _NUMBER.match(text):
            found += index.by_number.get(int(number[1]), [])
        found += index.by_id.get(text.lower(), [])
        if not found:
            bare = text.lower().removeprefix("v")
            found += index.by_ref.get(bare, []) + index.by_ref.get(f"v{bare}", [])
        return _unique(found)

    def _without_service(self, text: str) -> str:
        for word in sorted(self._catalog.words(), key=len, reverse=True):
            text = re.sub(rf"(?<![\w-]){re.escape(word)}(?![\w-])", " ", text, flags=re.IGNORECASE)
        return _LEADING_NOUN.sub("", " ".join(text.split()).strip(" ,:'s"))

    async def _by_git_ref(self, index: Timeline, text: str, name: str | None) -> list[Deploy]:
        """A tag or branch that only git knows, if the commit that it names was deployed."""
        if not re.fullmatch(r"[\w./@+-]{2,100}", text) or text.isdigit():
            return []
        found: list[Deploy] = []
        repos = [
            Path(service.repo)
            for service in self._catalog.services
            if service.repo and (name is None or service.name == name)
        ]
        for repo in list(dict.fromkeys(repos))[:REPOSITORIES_ASKED]:
            try:
                sha = await Git(repo).commit(text)
            except GitError:
                continue
            if sha:
                found += index.with_sha(sha)
        return _unique(found)

    # --- reading ---------------------------------------------------------------------------------

    async def timeline(self) -> Timeline:
        """All deploys as one consistent value. Raises ``SourceError`` if no source is readable."""
        fetched: list[Fetched[Deploy]] = []
        failures: list[str] = []
        for source in self._sources:
            try:
                fetched.append(await source.deploys())
            except SourceError as error:
                failures.append(str(error))
        if failures and not fetched:
            raise SourceError("; ".join(failures))
        kept = self._kept
        if kept is None or not _same(kept.fetched, fetched):
            kept = await asyncio.to_thread(_indexed, tuple(fetched), self._catalog)
            self._kept = kept
        losses = (note for one in fetched for note in one.notes)
        self._losses = (*failures, *losses)
        return kept


def _same(one: Sequence[Fetched[Deploy]], other: Sequence[Fetched[Deploy]]) -> bool:
    return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))


def _indexed(fetched: tuple[Fetched[Deploy], ...], catalog: Catalog) -> Timeline:
    deploys = _ordered(fetched, catalog)
    by_number: defaultdict[int, list[Deploy]] = defaultdict(list)
    by_ref: defaultdict[str, list[Deploy]] = defaultdict(list)
    by_id: defaultdict[str, list[Deploy]] = defaultdict(list)
    by_url: defaultdict[str, list[Deploy]] = defaultdict(list)
    lanes: defaultdict[tuple[str, str], list[Deploy]] = defaultdict(list)
    for deploy in deploys:
        by_id[deploy.id.lower()].append(deploy)
        if deploy.number is not None:
            by_number[deploy.number].append(deploy)
        if deploy.ref:
            by_ref[deploy.ref.lower()].append(deploy)
        if deploy.url:
            by_url[_url_key(deploy.url)].append(deploy)
        if deploy.kind is ChangeKind.DEPLOY:
            lanes[deploy.service, deploy.environment].append(deploy)
    by_sha = sorted(((d.sha, d) for d in deploys if d.sha), key=lambda pair: pair[0])
    return Timeline(
        fetched,
        deploys,
        dict(by_number),
        dict(by_ref),
        dict(by_id),
        dict(by_url),
        tuple(by_sha),
        dict(lanes),
        tuple(deploy for deploy in deploys if deploy.at is None),
    )


def _counted(deploys: Iterable[Deploy]) -> tuple[str, ...]:
    counts = Counter(
        (deploy.source, "deploy" if deploy.kind is ChangeKind.DEPLOY else "change")
        for deploy in deploys
    )
    return tuple(
        f"{plural(count, noun)} without a time ({source})"
        for (source, noun), count in sorted(counts.items())
    )


def _ordered(fetched: Iterable[Fetched[Deploy]], catalog: Catalog) -> tuple[Deploy, ...]:
    """Oldest first, under the catalog's names; one deploy told by two sources counts once."""
    seen: dict[tuple[object, ...], Deploy] = {}
    for one in fetched:
        for record in one.records:
            name = catalog.canonical(record.service)
            deploy = (
                record if name == record.service else record.model_copy(update={"service": name})
            )
            key = (
                deploy.kind,
                deploy.service,
                deploy.environment,
                deploy.number if deploy.number is not None else deploy.id,
                deploy.sha,
                deploy.at,
            )
            seen.setdefault(key, deploy)
    return tuple(sorted(seen.values(), key=_moment))


def _unique(deploys: Iterable[Deploy]) -> list[Deploy]:
    return list({id(deploy): deploy for deploy in deploys}.values())


def _url_key(url: str) -> str:
    return url.strip().rstrip("/").lower()
