"""The service catalog: names, aliases, repositories and who depends on whom.

Owns looking a service up by whatever people call it, and distances along dependency edges. Knows
neither where the catalog was read from nor any deploy.
"""

from __future__ import annotations

import difflib
import re
from collections import deque
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from tools.records import Service

FURTHEST_HOPS = 4
"""Dependencies further away than this say nothing about a cause any more."""


def folded(name: str) -> str:
    """How names are compared: ignoring case, runs of blanks, and ``_`` against ``-``."""
    return re.sub(r"[\s_]+", "-", name.strip()).casefold()


class Catalog:
    """All known services. Immutable once built; an alias never hides another service's name."""

    def __init__(self, services: Iterable[Service] = ()) -> None:
        self._services = tuple(services)
        self._by_name = {service.name: service for service in self._services}
        self._by_word: dict[str, Service] = {}
        for service in self._services:
            self._by_word.setdefault(folded(service.name), service)
        for service in self._services:
            for alias in service.aliases:
                self._by_word.setdefault(folded(alias), service)
        self._needs = {service.name: self._names(service.depends_on) for service in self._services}
        self._needed_by: dict[str, tuple[str, ...]] = {}
        for name, needs in self._needs.items():
            for need in needs:
                self._needed_by[need] = (*self._needed_by.get(need, ()), name)

    @property
    def services(self) -> tuple[Service, ...]:
        return self._services

    def service(self, name_or_alias: str) -> Service | None:
        """The service that people call this, or ``None``."""
        return self._by_word.get(folded(name_or_alias))

    def canonical(self, name_or_alias: str) -> str:
        """The catalog's name for it, or the text itself where the catalog does not know it."""
        found = self.service(name_or_alias)
        return found.name if found else name_or_alias.strip()

    def dependencies(self, name: str, hops: int = FURTHEST_HOPS) -> Mapping[str, int]:
        """What it needs, directly or through others, with the distance in hops (1 is direct)."""
        return self._reach(name, self._needs, hops)

    def dependents(self, name: str, hops: int = FURTHEST_HOPS) -> Mapping[str, int]:
        """What needs it, with the distance in hops."""
        return self._reach(name, self._needed_by, hops)

    def path(self, start: str, end: str) -> tuple[str, ...]:
        """The shortest chain of dependencies from ``start`` to ``end``, both included, or ()."""
        came_from: dict[str, str] = {start: start}
        waiting = deque([start])
        while waiting:
            name = waiting.popleft()
            if name == end:
                chain = [end]
                while chain[-1] != start:
                    chain.append(came_from[chain[-1]])
                return tuple(reversed(chain))
            for need in self._needs.get(name, ()):
                if need not in came_from:
                    came_from[need] = name
                    waiting.append(need)
        return ()

    def words(self) -> Mapping[str, str]:
        """Every name and alias in lower case, with the canonical name that it stands for."""
        words: dict[str, str] = {}
        for service in self._services:
            words.setdefault(service.name.lower(), service.name)
        for service in self._services:
            for alias in service.aliases:
                words.setdefault(alias.lower(), service.name)
        return MappingProxyType(words)

    def mentioned(self, text: str) -> tuple[str, ...]:
        """The services that a text names, in the order of their first mention.

        A longer name wins over a shorter one inside it ("media uploads" over "uploads").
        """
        text = text.lower()
        taken: list[tuple[int, int]] = []
        found: list[tuple[int, str]] = []
        for word, name in sorted(self.words().items(), key=lambda pair: -len(pair[0])):
            pattern = r"(?<![\w-])" + r"[\s_-]+".join(map(re.escape, re.split(r"[\s_-]+", word)))
            for match in re.finditer(pattern + r"(?![\w-])", text):
                start, end = match.span()
                if all(end <= a or start >= b for a, b in taken):
                    taken.append((start, end))
                    found.append((start, name))
        return tuple(dict.fromkeys(name for _, name in sorted(found)))

    def clashes(self) -> tuple[str, ...]:
        """One sentence for each alias that means two services: the first one keeps it."""
        notes = []
        for service in self._services:
            for alias in service.aliases:
                owner = self._by_word[folded(alias)]
                if owner.name != service.name:
                    notes.append(
                        f"alias {alias!r} of {service.name} already means {owner.name}: ignored"
                    )
        return tuple(notes)

    def _names(self, words: Iterable[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.canonical(word) for word in words))

    def _reach(
        self, name: str, edges: Mapping[str, tuple[str, ...]], hops: int
    ) -> Mapping[str, int]:
        start = self.canonical(name)
        distances: dict[str, int] = {start: 0}
        waiting = deque([start])
        while waiting:
            here = waiting.popleft()
            if distances[here] == hops:
                continue
            for there in edges.get(here, ()):
                if there not in distances:
                    distances[there] = distances[here] + 1
                    waiting.append(there)
        del distances[start]
        return MappingProxyType(distances)


def closest(word: str, known: Iterable[str], limit: int = 3) -> tuple[str, ...]:
    """The known names that look most like ``word``, best first; for "did you mean"."""
    by_folded = {folded(name): name for name in known}
    wanted = folded(word)
    near = difflib.get_close_matches(wanted, by_folded, n=limit, cutoff=0.5)
    inside = [name for name in by_folded if len(wanted) >= 3 and wanted in name]
    return tuple(by_folded[name] for name in dict.fromkeys([*near, *inside]))[:limit]
