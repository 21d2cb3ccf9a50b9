"""The two protocols that a source implements, and what a fetch yields.

Knows no system. A source never raises for one bad record: it leaves it out and says so in ``notes``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from tools.records import Deploy, Incident

RecordT = TypeVar("RecordT", Deploy, Incident)


class SourceError(Exception):
    """A source that cannot be read at all. The message ends with what to do, where that is known;
    ``what`` and ``fix`` are its two halves.
    """

    def __init__(self, what: str, fix: str = "") -> None:
        super().__init__(f"{what}: {fix}" if fix else what)
        self.what = what
        self.fix = fix


@dataclass(frozen=True)
class Remark:
    """What a source says of its own format, for who keeps it: ``fix`` is empty where all is well."""

    what: str
    fix: str = ""


@dataclass(frozen=True)
class Fetched(Generic[RecordT]):
    """Records in any order, and one plain sentence for each loss ("line 17 is not JSON: skipped").

    ``remarks`` are for the doctor alone: they are about how it is written, not about what is missing.
    ``mend`` is what to do about the notes, where it is not to correct a file of that name.
    """

    records: tuple[RecordT, ...]
    notes: tuple[str, ...] = ()
    remarks: tuple[Remark, ...] = ()
    mend: str = ""


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
