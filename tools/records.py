"""What a tool hands to the loop, whatever system it read: the closed union ``Observed`` and its parts.

Owns what was found about the things that sources record (``tools.source_records``, all of them to be
had here too). Knows no source, no tool and no text for people.
"""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from tools.source_records import (
    ChangeKind,
    Commit,
    Deploy,
    DeployStatus,
    FileChange,
    FileKind,
    FileStatus,
    Incident,
    IncidentStatus,
    PullRequest,
    Record,
    Service,
    UtcTime,
)

__all__ = [
    "ChangeKind",
    "Commit",
    "Confidence",
    "Deploy",
    "DeployStatus",
    "DeploysFound",
    "DiffShown",
    "Direction",
    "FileChange",
    "FileKind",
    "FileStatus",
    "Highlight",
    "Incident",
    "IncidentStatus",
    "IncidentsFound",
    "LaterDeploy",
    "Mending",
    "NextAction",
    "Observed",
    "PageRead",
    "PullRequest",
    "Reason",
    "Record",
    "Service",
    "Suspect",
    "SuspectsRanked",
    "Switch",
    "TextRead",
    "ToldLine",
    "UtcTime",
]


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
    says that no such deploy exists in any source, several that it is ambiguous. ``owner`` is whom
    the catalog names for the one service that was asked for.
    """

    echoes: ClassVar[frozenset[str]] = frozenset({"asked_deploy", "asked"})

    kind: Literal["deploys"] = "deploys"
    asked: str
    asked_deploy: str | None = None
    since: UtcTime | None = None
    until: UtcTime | None = None
    deploys: tuple[Deploy, ...]
    total: int
    owner: str | None = None
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
