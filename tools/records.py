"""What every source returns, whatever system it reads: deploys, diffs, incidents, services.

Owns the frozen record types and the closed union ``Observed`` of what a tool can hand to the loop.
Knows no source, no tool and no text for people. Times are aware datetimes in UTC; a naive time is
refused where it enters. Fields marked as an echo repeat the caller's own arguments, and fields
marked as a quotation hold other people's words: the goal check (M20) treats both with suspicion.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field


def _utc(value: datetime) -> datetime:
    return value.astimezone(UTC)


UtcTime = Annotated[AwareDatetime, AfterValidator(_utc)]


class Record(BaseModel):
    """A frozen value. ``echoes`` and ``quotes`` name fields that are no evidence by themselves."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    echoes: ClassVar[frozenset[str]] = frozenset()
    quotes: ClassVar[frozenset[str]] = frozenset()


class Confidence(StrEnum):
    """How sure a ranking is, from code. High means right at least nine times in ten."""

    NONE = "none"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"

    @property
    def rank(self) -> int:
        """0 for none up to 3 for high, so that the lower of two can be taken."""
        return list(Confidence).index(self)


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


class Reason(Record):
    """Why a suspect stands where it stands: a weight's name, its share of the score, and words."""

    name: str
    score: float
    text: str


class Suspect(Record):
    """A change that could have caused the incident, with its reasons, strongest first."""

    deploy: Deploy
    score: float
    before_onset: timedelta
    reasons: tuple[Reason, ...]


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


class Highlight(Record):
    """A setting, version, default or signature that changed, found by code.

    ``before`` or ``after`` is ``None`` when it was added or removed. ``text`` is the whole as
    ``retry.budget: 5s → 1s``.
    """

    path: str
    key: str
    before: str | None
    after: str | None
    text: str


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


class Direction(StrEnum):
    """How the new commit stands to the base."""

    FORWARD = "forward"
    ROLLBACK = "rollback"
    DIVERGED = "diverged"
    SAME = "same"
    FIRST = "first"


class IncidentsFound(Record):
    """Incidents, best match first. ``tied`` holds the ids that words alone cannot tell apart."""

    echoes: ClassVar[frozenset[str]] = frozenset({"asked"})

    kind: Literal["incidents"] = "incidents"
    asked: str
    incidents: tuple[Incident, ...]
    total: int
    tied: tuple[str, ...] = ()
    not_searched: tuple[str, ...] = ()


class DeploysFound(Record):
    """Deploys that match a number, a service or a window, newest first. ``total`` counts all
    matches, ``deploys`` holds those within the limit. With ``asked_deploy`` set, an empty list
    says that no such deploy exists in any source, several that it is ambiguous.
    """

    echoes: ClassVar[frozenset[str]] = frozenset({"asked_deploy", "asked"})

    kind: Literal["deploys"] = "deploys"
    asked: str
    asked_deploy: str | None = None
    since: UtcTime | None = None
    until: UtcTime | None = None
    deploys: tuple[Deploy, ...]
    total: int
    nearest: tuple[str, ...] = ()
    not_searched: tuple[str, ...] = ()


class Mending(StrEnum):
    """What a later deploy does to the change that is suspected."""

    ROLLED_BACK = "rolled back"
    TAKES_BACK = "takes it back"
    PARTLY = "takes part of it back"
    TOUCHES = "changes the same words"
    NOTHING = "leaves it as it is"


class LaterDeploy(Record):
    """A deploy after onset, held against the first suspect: what its lines do, and whether the
    incident ended with it. ``text`` is the tool's own sentence.
    """

    deploy: Deploy
    after_onset: timedelta
    mending: Mending
    mended: bool
    text: str


class Switch(Record):
    """A setting that a change brought; what the lines do not show of it is empty."""

    name: str
    variable: str = ""
    default: str = ""
    others: tuple[str, ...] = ()


class ToldLine(Record):
    """A changed line that holds the incident's words."""

    path: str
    side: Literal["adds", "removes"]
    text: str


class NextAction(Record):
    """What a person does next about the first suspect. ``command`` is the service's own rollback
    command, filled in; ``unsafe`` what speaks against it; ``safety`` the sentence when nothing does.
    """

    service: str
    owner: str | None
    previous: Deploy | None
    command: str | None
    unsafe: tuple[str, ...]
    safety: str
    text: str


class SuspectsRanked(Record):
    """Changes that could have caused one incident, ranked. ``confidence`` NONE says that no deploy
    explains it, whatever the list holds, and ``why_none`` what speaks for that. From ``later`` (the
    likeliest to have mended it first) to ``next_action`` it is all about the first suspect.
    """

    echoes: ClassVar[frozenset[str]] = frozenset({"asked"})

    kind: Literal["suspects"] = "suspects"
    asked: str
    incident: Incident
    onset: UtcTime
    suspects: tuple[Suspect, ...]
    confidence: Confidence
    considered: int
    why_none: str | None = None
    ruled_out: tuple[str, ...] = ()
    later: tuple[LaterDeploy, ...] = ()
    none_mends: str | None = None
    lines: tuple[ToldLine, ...] = ()
    switches: tuple[Switch, ...] = ()
    next_action: NextAction | None = None
    not_searched: tuple[str, ...] = ()


class DiffShown(Record):
    """What one deploy changed against its base. ``base_why`` says which base was taken and why.

    ``names_added`` and ``names_removed`` are names of code that only its added or only its removed
    lines hold, the commonest first.
    """

    kind: Literal["diff"] = "diff"
    deploy: Deploy
    base: Deploy | None
    base_sha: str | None
    base_why: str
    direction: Direction
    commits: tuple[Commit, ...]
    commits_total: int
    taken_away: tuple[Commit, ...] = ()
    pull_requests: tuple[PullRequest, ...] = ()
    authors: tuple[str, ...] = ()
    files: tuple[FileChange, ...]
    files_total: int
    added: int
    removed: int
    highlights: tuple[Highlight, ...] = ()
    highlights_total: int = 0
    names_added: tuple[str, ...] = ()
    names_removed: tuple[str, ...] = ()
    path: str | None = None
    page: int = 1
    pages: int = 1


class PageRead(Record):
    """One page of an earlier observation's whole text."""

    kind: Literal["page"] = "page"
    observation: str
    page: int
    pages: int
    text: str


class TextRead(Record):
    """Text whose shape nobody knows (a file, an MCP tool's result)."""

    quotes: ClassVar[frozenset[str]] = frozenset({"text"})

    kind: Literal["text"] = "text"
    text: str


Observed = Annotated[
    IncidentsFound | DeploysFound | SuspectsRanked | DiffShown | PageRead | TextRead,
    Field(discriminator="kind"),
]
