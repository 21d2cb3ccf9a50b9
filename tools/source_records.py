"""What a source records: services, deploys, incidents, commits and the files that they change.

Owns the frozen record types of the things themselves. Knows no source, no tool and nothing that a
tool found out about them. Times are aware datetimes in UTC; a naive time is refused where it enters,
and so is one that is out of range. Fields marked as an echo repeat the caller's own arguments, and
fields marked as a quotation hold other people's words: the goal check (M20) treats both with
suspicion.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, ClassVar

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict
from pydantic_core import PydanticCustomError

from tools.years import utc


def _utc(value: datetime) -> datetime:
    try:
        return utc(value)
    except ValueError as error:
        raise PydanticCustomError("time_range", "{why}", {"why": str(error)}) from None


UtcTime = Annotated[AwareDatetime, AfterValidator(_utc)]


class Record(BaseModel):
    """A frozen value. ``echoes`` and ``quotes`` name fields that are no evidence by themselves."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    echoes: ClassVar[frozenset[str]] = frozenset()
    quotes: ClassVar[frozenset[str]] = frozenset()


class Service(Record):
    """One catalog entry. ``repo`` is absolute; ``path`` is the folder in a monorepo or ''."""

    name: str
    repo: str | None = None
    path: str = ""
    aliases: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()
    owner: str | None = None
    rollback: str | None = None


class DeployStatus(StrEnum):
    SUCCESS = "success"
    FAILURE = "failure"
    IN_PROGRESS = "in_progress"
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"


class ChangeKind(StrEnum):
    """A deploy, or a change that is not one (``changes.jsonl``)."""

    DEPLOY = "deploy"
    FLAG = "flag"
    CONFIG = "config"
    OTHER = "other"


class Deploy(Record):
    """One deploy (or other change) as its source recorded it.

    ``number`` is the human number ("4471"), ``id`` the source's own, ``sha`` the full commit id.
    ``finished_at`` is the time of the final status, never of a later edit of the record.
    """

    quotes: ClassVar[frozenset[str]] = frozenset({"title"})

    number: int | None = None
    id: str
    service: str
    environment: str = "production"
    sha: str | None = None
    ref: str | None = None
    status: DeployStatus = DeployStatus.SUCCESS
    actor: str | None = None
    started_at: UtcTime | None = None
    finished_at: UtcTime | None = None
    url: str | None = None
    kind: ChangeKind = ChangeKind.DEPLOY
    title: str | None = None
    source: str = "local"

    @property
    def at(self) -> datetime | None:
        """When it took effect: its finish, else its start."""
        return self.finished_at or self.started_at

    @property
    def label(self) -> str:
        """What people call it: its number, else its ref, else the short SHA, else its id."""
        if self.number is not None:
            return str(self.number)
        return self.ref or (self.sha[:12] if self.sha else self.id)


class IncidentStatus(StrEnum):
    OPEN = "open"
    RESOLVED = "resolved"
    UNKNOWN = "unknown"


class Incident(Record):
    """One incident. ``started_at`` is when the impact began, if anybody wrote it down."""

    quotes: ClassVar[frozenset[str]] = frozenset({"title", "summary"})

    id: str
    title: str
    summary: str = ""
    services: tuple[str, ...] = ()
    severity: str | None = None
    status: IncidentStatus = IncidentStatus.UNKNOWN
    environment: str | None = None
    started_at: UtcTime | None = None
    detected_at: UtcTime | None = None
    resolved_at: UtcTime | None = None
    created_at: UtcTime | None = None
    url: str | None = None
    source: str = "local"

    @property
    def onset(self) -> datetime | None:
        """Impact start, else the first alert, else when the record was made."""
        return self.started_at or self.detected_at or self.created_at


class FileKind(StrEnum):
    """What a changed file is, riskiest first; the order files are shown in."""

    CONFIG = "configuration"
    MIGRATION = "migration"
    DEPENDENCY = "dependency"
    INFRASTRUCTURE = "infrastructure"
    FLAG = "flag"
    CODE = "code"
    TEST = "test"
    DOCS = "documentation"
    GENERATED = "generated"


class FileStatus(StrEnum):
    ADDED = "added"
    MODIFIED = "modified"
    DELETED = "deleted"
    RENAMED = "renamed"
    MODE = "mode only"
    SUBMODULE = "submodule"


class FileChange(Record):
    """One changed file. ``added`` and ``removed`` are lines, ``None`` for a binary file."""

    path: str
    previous_path: str | None = None
    status: FileStatus
    kind: FileKind
    added: int | None = None
    removed: int | None = None


class Commit(Record):
    quotes: ClassVar[frozenset[str]] = frozenset({"subject"})

    sha: str
    author: str
    committed_at: UtcTime
    subject: str


class PullRequest(Record):
    quotes: ClassVar[frozenset[str]] = frozenset({"title"})

    number: int
    title: str
    author: str | None = None
