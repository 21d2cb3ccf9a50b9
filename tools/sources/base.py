"""The two protocols that a source implements, and what a fetch yields.

Knows no system. A source never raises for one bad record: it leaves it out and says so in ``notes``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from tools.records import Deploy, Incident

RecordT = TypeVar("RecordT", Deploy, Incident)


class SourceError(Exception):
    """A source that cannot be read at all. The message says what to do."""


@dataclass(frozen=True)
class Fetched(Generic[RecordT]):
    """Records in any order, and one plain sentence for each loss ("line 17 is not JSON: skipped")."""

    records: tuple[RecordT, ...]
    notes: tuple[str, ...] = ()


class DeploySource(Protocol):
    """Deploys and other changes. ``name`` is what people call the source."""

    @property
    def name(self) -> str: ...

    async def deploys(self) -> Fetched[Deploy]:
        """All that it knows. Raises ``SourceError``."""
        ...


class IncidentSource(Protocol):
    @property
    def name(self) -> str: ...

    async def incidents(self) -> Fetched[Incident]:
        """All that it knows. Raises ``SourceError``."""
        ...
