"""Which changes could have caused an incident at all, and what each of them changed.

Owns the hard filters (environment, began before onset, not taken back before it), the choice of
those whose diffs are read, and the reading, in parallel and within a time limit. Says what was
left out. Knows no weight.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tools.catalog import Catalog
from tools.diffs import changed_lines
from tools.evidence import ChangeText, change_text
from tools.git import Git, GitError
from tools.history import DEFAULT_ENVIRONMENT, DeployHistory, Timeline, as_of, same_environment
from tools.records import ChangeKind, Deploy, DeployStatus, Incident
from tools.wording import clean, clock, plural, span

MOST_READ = 40
"""So many candidates' diffs are read."""
RECENT = timedelta(hours=24)
UNLINKED_READ = 10
LATER_READ = 12
"""So many later deploys are read to see what they take back."""
READ_SECONDS = 6.0
READ_AT_ONCE = 4
DECOY_WINDOW = timedelta(minutes=30)


@dataclass(frozen=True)
class Link:
    """How a service is tied to the incident: ``hops`` 0 is itself; ``path`` shows the way."""

    hops: int
    path: tuple[str, ...]
    upstream: bool = True


@dataclass(frozen=True)
class Later:
    """A later deploy of the same service, up to the question."""

    deploy: Deploy
    text: ChangeText | None
    restores: bool


@dataclass(frozen=True)
class Candidate:
    """A change that began before onset. ``text`` is ``None`` where its diff could not be read."""

    deploy: Deploy
    base: Deploy | None
    link: Link | None
    before_onset: timedelta
    text: ChangeText | None = None
    later: tuple[Later, ...] = ()

    @property
    def same(self) -> bool:
        """Whether it put out the commit that was running already."""
        return (
            self.base is not None
            and self.deploy.sha is not None
            and (self.base.sha == self.deploy.sha)
        )


@dataclass(frozen=True)
class Candidates:
    """Those that are ranked, how many there were, and what was left out."""

    chosen: tuple[Candidate, ...]
    considered: int
    ruled_out: tuple[str, ...]
    not_searched: tuple[str, ...]


def links_of(incident: Incident, words: str, catalog: Catalog) -> dict[str, Link]:
    """The services that the incident touches: its own, those it needs, those that need it."""
    own = [catalog.canonical(name) for name in incident.services]
    if not own:
        own = list(catalog.mentioned(f"{incident.title} {incident.summary} {words}"))
    links: dict[str, Link] = {name: Link(0, (name,)) for name in own}
    for name in own:
        for need, hops in catalog.dependencies(name).items():
            if need not in links or links[need].hops > hops:
                links[need] = Link(hops, catalog.path(name, need))
    for name in own:
        for user, hops in catalog.dependents(name, 1).items():
            links.setdefault(user, Link(hops, catalog.path(user, name), upstream=False))
    return links


async def gather(
    history: DeployHistory,
    catalog: Catalog,
    incident: Incident,
    links: dict[str, Link],
    onset: datetime,
    now: datetime,
    environment: str | None = None,
) -> Candidates:
    """Choose the candidates and read them. Raises ``SourceError``."""
    timeline = await history.timeline()
    left_out = [clean(note, 300) for note in await history.notes()]
    if incident.onset is None:
        left_out.append("the time of onset (it is not written down): everything up to now counts")
    # Of ten thousand deploys: a stop must be heard meanwhile.
    choice = await asyncio.to_thread(
        _choice, timeline, links, onset, now, environment or incident.environment
    )
    chosen = choice.chosen
    if (rest := choice.considered - len(chosen)) > 0:
        left_out.append(f"{plural(rest, 'change')} further back or of unrelated services")
    reader = _Reader(timeline, catalog, onset, now)
    read = await reader.read(chosen)
    left_out += reader.losses
    if not choice.knows_flags:
        left_out.append("feature flags")
    not_searched = tuple(dict.fromkeys(left_out))
    return Candidates(tuple(read), choice.considered, choice.ruled_out, not_searched)


@dataclass(frozen=True)
class _Choice:
    """Those whose diffs are to be read; ``considered`` counts all that began by onset."""

    chosen: tuple[Candidate, ...]
    considered: int
    ruled_out: tuple[str, ...]
    knows_flags: bool


def _choice(
    timeline: Timeline,
    links: dict[str, Link],
    onset: datetime,
    now: datetime,
    environment: str | None,
) -> _Choice:
    known = _of_environment(timeline, environment, now)
    ruled_out = _too_late(known, links, onset, now)
    possible = [
        Candidate(deploy, None, links.get(deploy.service), _before(deploy, onset))
        for deploy in known
        if deploy.status is not DeployStatus.CANCELLED and _began_by(deploy, onset)
    ]
    chosen = []
    for candidate in _chosen(possible):
        base = timeline.base_of(candidate.deploy) if _is_deploy(candidate.deploy) else None
        taken_back = _taken_back(timeline, candidate.deploy, base, onset)
        if taken_back is None:
            chosen.append(replace(candidate, base=base))
        elif candidate.before_onset <= RECENT:
            by = clean(taken_back.label, 60)
            ruled_out.append(f"{named(candidate.deploy)} was taken back by {by} before onset")
    knows_flags = any(one.kind is ChangeKind.FLAG for one in known)
    return _Choice(tuple(chosen), len(possible), tuple(ruled_out), knows_flags)


def named(deploy: Deploy) -> str:
    """``ledger deploy 4473``: a deploy in the middle of a sentence."""
    return f"{clean(deploy.service, 60)} deploy {clean(deploy.label, 60)}"


def _of_environment(timeline: Timeline, told: str | None, now: datetime) -> list[Deploy]:
    """What was known by now of the told environment, else of production, else of the largest."""
    known = [one for deploy in timeline.deploys if (one := as_of(deploy, now))]
    sizes = Counter(one.environment for one in known)
    same = {name for name in sizes if same_environment(name, told or DEFAULT_ENVIRONMENT)}
    if not same and told is None and sizes:
        same = {sizes.most_common(1)[0][0]}
    return [one for one in known if one.environment in same]


def _is_deploy(deploy: Deploy) -> bool:
    return deploy.kind is ChangeKind.DEPLOY


def _began_by(deploy: Deploy, onset: datetime) -> bool:
    began = deploy.started_at or deploy.finished_at
    return began is not None and began <= onset


def _before(deploy: Deploy, onset: datetime) -> timedelta:
    return max(timedelta(0), onset - (deploy.at or onset))


def _too_late(
    known: Sequence[Deploy], links: dict[str, Link], onset: datetime, now: datetime
) -> list[str]:
    """The deploys just after onset, which people will ask about."""
    decoys = [
        deploy
        for deploy in known
        if not _began_by(deploy, onset)
        and deploy.at is not None
        and deploy.at <= now
        and (deploy.at - onset <= DECOY_WINDOW or deploy.service in links)
    ]
    return [
        f"{named(deploy)} finished {clock(deploy.at, onset)}, {span(deploy.at - onset)} after onset"
        for deploy in decoys[:5]
        if deploy.at is not None
    ]


def _taken_back(
    timeline: Timeline, deploy: Deploy, base: Deploy | None, onset: datetime
) -> Deploy | None:
    """The deploy that put the former commit back before onset, if there is one."""
    if base is None or deploy.sha is None or base.sha == deploy.sha:
        return None
    for later in timeline.after(deploy, onset):
        if later.status is DeployStatus.SUCCESS and later.sha == base.sha:
            return later
    return None


def _chosen(possible: Sequence[Candidate]) -> list[Candidate]:
    """At most ``MOST_READ``: what is linked and recent, what is recent, what is linked and old."""

    def nearest(candidate: Candidate) -> tuple[int, timedelta]:
        hops = candidate.link.hops if candidate.link else 9
        return hops, candidate.before_onset

    recent = [one for one in possible if one.before_onset <= RECENT]
    linked = sorted((one for one in recent if one.link), key=nearest)[:MOST_READ]
    others = sorted((one for one in recent if not one.link), key=lambda one: one.before_onset)
    old = sorted(
        (one for one in possible if one.link and one.before_onset > RECENT),
        key=lambda one: one.before_onset * (1 + one.link.hops if one.link else 9),
    )
    room = MOST_READ - len(linked)
    others = others[: min(UNLINKED_READ, room)]
    return [*linked, *others, *old[: room - len(others)]]


class _Reader:
    """Reads the diffs of candidates and of what came after them."""

    def __init__(
        self, timeline: Timeline, catalog: Catalog, onset: datetime, now: datetime
    ) -> None:
        self._timeline = timeline
        self._catalog = catalog
        self._onset = onset
        self._now = now
        self._slots = asyncio.Semaphore(READ_AT_ONCE)
        self._texts: dict[tuple[str, str, str], ChangeText | None] = {}
        self.losses: list[str] = []

    async def read(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        later = {
            (one.deploy.service, one.deploy.environment): self._later(one.deploy)
            for one in candidates
            if one.link is not None and one.deploy.kind is ChangeKind.DEPLOY
        }
        wanted = [(one.deploy, one.base) for one in candidates]
        wanted += [pair for pairs in later.values() for pair in pairs]
        try:
            async with asyncio.timeout(READ_SECONDS):
                await asyncio.gather(*(self._read(*pair) for pair in wanted))
        except TimeoutError:
            unread = sum(_key(*pair) not in self._texts for pair in wanted)
            self.losses.append(f"the diffs of {plural(unread, 'deploy')}: reading took too long")
        return [self._with_texts(one, later) for one in candidates]

    def _with_texts(
        self,
        candidate: Candidate,
        later: dict[tuple[str, str], list[tuple[Deploy, Deploy | None]]],
    ) -> Candidate:
        deploy = candidate.deploy
        pairs = later.get((deploy.service, deploy.environment), [])
        began = deploy.at or datetime.min.replace(tzinfo=UTC)
        base_sha = candidate.base.sha if candidate.base else None
        return replace(
            candidate,
            text=self._texts.get(_key(deploy, candidate.base)),
            later=tuple(
                Later(
                    other,
                    self._texts.get(_key(other, base)),
                    restores=base_sha is not None
                    and other.sha == base_sha
                    and deploy.sha != base_sha,
                )
                for other, base in pairs
                if other.at is not None and other.at > began
            ),
        )

    def _later(self, deploy: Deploy) -> list[tuple[Deploy, Deploy | None]]:
        """The service's first deploys after onset, each with its base."""
        after = [
            other
            for other in self._timeline.after(deploy, self._now)
            if other.at is not None
            and other.at > self._onset
            and other.status is DeployStatus.SUCCESS
        ]
        return [(other, self._timeline.base_of(other)) for other in after[:LATER_READ]]

    async def _read(self, deploy: Deploy, base: Deploy | None) -> None:
        key = _key(deploy, base)
        service = self._catalog.service(deploy.service)
        if key in self._texts or deploy.kind is not ChangeKind.DEPLOY:
            return
        before, after = _commit(base), _commit(deploy)
        if before is None or after is None or before == after:
            return
        if service is None or service.repo is None:
            self.losses.append(f"the diffs of {clean(deploy.service, 60)}: no repository is known")
            return
        async with self._slots:
            try:
                diffs = await changed_lines(Git(Path(service.repo)), before, after, service.path)
            except GitError as error:
                self.losses.append(
                    f"the diffs of {clean(deploy.service, 60)}: {clean(str(error), 300)}"
                )
                return
        self._texts[key] = await asyncio.to_thread(change_text, diffs)


def _commit(deploy: Deploy | None) -> str | None:
    return (deploy.sha or deploy.ref) if deploy else None


def _key(deploy: Deploy, base: Deploy | None) -> tuple[str, str, str]:
    return deploy.service, _commit(base) or "", _commit(deploy) or ""
