"""Incidents from words: which one people mean.

Owns the order: an exact id, then the services that the words name, then words of title and summary,
then recency and open ones; and when words cannot tell two apart. Knows no tool.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from tools.catalog import Catalog
from tools.records import Incident, IncidentStatus
from tools.sources.base import Fetched, IncidentSource, SourceError
from tools.symptoms import plain_words
from tools.wording import plural

SERVICE_POINTS = 3.0
NEIGHBOUR_POINTS = 1.0
TITLE_POINTS = 2.0
SUMMARY_POINTS = 1.0
RECENT_POINTS = 1.0
OPEN_POINTS = 0.7
RECENT_HALVES_EVERY = timedelta(hours=24)
TIE_SHARE = 0.12
"""Incidents whose points differ by less than this share of the best cannot be told apart."""

_CHANNEL = re.compile(r"#?\b(?:inc|incident|sev\d?)[-_]([\w-]*[a-z][\w-]*)", re.IGNORECASE)
_WORDS_ABOUT_ANY = frozenset({"incident", "outag", "alert", "page", "latest", "current", "ongo"})


@dataclass(frozen=True)
class Matches:
    """Incidents, best first. ``tied`` holds the ids among which the words do not decide."""

    incidents: tuple[Incident, ...]
    tied: tuple[str, ...] = ()


class IncidentIndex:
    """All incidents of all sources."""

    def __init__(self, sources: Sequence[IncidentSource], catalog: Catalog) -> None:
        self._sources = tuple(sources)
        self._catalog = catalog
        self._notes: tuple[str, ...] = ()

    async def all(self) -> tuple[Incident, ...]:
        """Newest first, those without a time last. Raises ``SourceError`` if none is readable."""
        fetched: list[Fetched[Incident]] = []
        failures: list[str] = []
        for source in self._sources:
            try:
                fetched.append(await source.incidents())
            except SourceError as error:
                failures.append(str(error))
        if failures and not fetched:
            raise SourceError("; ".join(failures))
        self._notes = (*failures, *(note for one in fetched for note in one.notes))
        records = (incident for one in fetched for incident in one.records)
        return tuple(sorted(records, key=_onset_seconds, reverse=True))

    @property
    def notes(self) -> tuple[str, ...]:
        """What the last reading lost, and what its window could not find, one sentence each."""
        return self._notes

    async def search(
        self,
        query: str,
        now: datetime,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> Matches:
        """The incidents that the words can mean, of those that began by ``now``."""
        everything = await self.all()
        if since is not None or until is not None:
            self._notes += _undated(everything)
        known = [
            _as_of(incident, now)
            for incident in everything
            if _within(incident.onset, now, since, until)
        ]
        exact = [one for one in known if _names_id(query, one.id)]
        if exact:
            return Matches(tuple(exact))
        return self._by_words(query, known, now)

    def _by_words(self, query: str, known: Sequence[Incident], now: datetime) -> Matches:
        query = channel_words(query)
        services = frozenset(self._catalog.mentioned(query))
        wanted = [word for word in plain_words(query) if word not in _WORDS_ABOUT_ANY]
        titles = {one.id: frozenset(plain_words(one.title)) for one in known}
        bodies = {one.id: frozenset(plain_words(one.summary)) for one in known}
        rarity = {
            word: _rarity(sum(word in titles[i] or word in bodies[i] for i in titles), len(known))
            for word in wanted
        }
        scored = []
        for incident in known:
            points = self._service_points(incident, services)
            for word in wanted:
                if word in titles[incident.id]:
                    points += TITLE_POINTS * rarity[word]
                elif word in bodies[incident.id]:
                    points += SUMMARY_POINTS * rarity[word]
            if points > 0 or not (wanted or services):
                scored.append((points + _freshness(incident, now), incident))
        scored.sort(key=lambda pair: -pair[0])
        return Matches(tuple(one for _, one in scored), _tied(scored))

    def _service_points(self, incident: Incident, services: frozenset[str]) -> float:
        own = {self._catalog.canonical(name) for name in incident.services}
        own |= set(self._catalog.mentioned(incident.title))
        if own & services:
            return SERVICE_POINTS
        near = {name for service in services for name in self._catalog.dependents(service, 1)}
        return NEIGHBOUR_POINTS if own & near else 0.0


def _undated(incidents: Sequence[Incident]) -> tuple[str, ...]:
    counts = Counter(incident.source for incident in incidents if incident.onset is None)
    return tuple(
        f"{plural(count, 'incident')} without a time ({source})"
        for source, count in sorted(counts.items())
    )


def channel_words(text: str) -> str:
    """``#inc-20261129-checkout`` as words: channels are named for what they are about."""
    return _CHANNEL.sub(lambda found: re.sub(r"[-_\d]+", " ", found[1]), text)


def _as_of(incident: Incident, now: datetime) -> Incident:
    """The incident as it was known at ``now``: one that was resolved later is still open."""
    if incident.resolved_at is None or incident.resolved_at <= now:
        return incident
    return incident.model_copy(update={"resolved_at": None, "status": IncidentStatus.OPEN})


def _tied(scored: Sequence[tuple[float, Incident]]) -> tuple[str, ...]:
    if not scored:
        return ()
    margin = max(scored[0][0] * TIE_SHARE, 0.05)
    near = [incident.id for points, incident in scored if points > scored[0][0] - margin]
    return tuple(near) if len(near) > 1 else ()


def _names_id(query: str, incident_id: str) -> bool:
    return bool(
        incident_id
        and re.search(rf"(?<![\w-]){re.escape(incident_id)}(?![\w-])", query, re.IGNORECASE)
    )


def _within(
    onset: datetime | None, now: datetime, since: datetime | None, until: datetime | None
) -> bool:
    if onset is None:
        return since is None and until is None
    return onset <= now and (since is None or onset >= since) and (until is None or onset <= until)


def _rarity(known_with: int, known: int) -> float:
    return math.log(1 + (known - known_with + 0.5) / (known_with + 0.5)) + 0.3


def _freshness(incident: Incident, now: datetime) -> float:
    points = OPEN_POINTS if incident.status is IncidentStatus.OPEN else 0.0
    if incident.onset is not None:
        points += RECENT_POINTS * 0.5 ** ((now - incident.onset) / RECENT_HALVES_EVERY)
    return points


def _onset_seconds(incident: Incident) -> float:
    return incident.onset.timestamp() if incident.onset else 0.0
