"""How the rules model names things: deploys, incidents, times and spans, and an answer in the making.

Pure. Plans nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.loop.outcome import Claim
from bot.loop.question import Part, PartKind
from bot.loop.wire import Seen
from tools.records import (
    Confidence,
    Deploy,
    DeploysFound,
    DeployStatus,
    DiffShown,
    Highlight,
    Incident,
)

ENDED = frozenset({DeployStatus.SUCCESS, DeployStatus.UNKNOWN})
"""A deploy that went through, as far as its record says."""
NOT_THE_MACHINES = "what is running at this moment: I read deploy records, not the machines"
LONGEST_CODE = 120
"""Characters of a changed setting that are shown in a sentence."""
_BUMP = re.compile(r"version|^\.$|^__build__$|tox|envlist|testenv", re.IGNORECASE)
MINUTES_APART = timedelta(minutes=1)
"""A deploy that took longer is told with both its times."""


@dataclass
class Said:
    """An answer in the making: its sentences by part, in the order of the parts."""

    headlines: list[str] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    unknowns: list[str] = field(default_factory=list)
    confidences: list[Confidence] = field(default_factory=list)
    diffs: set[str] = field(default_factory=set)

    def claim(self, text: str, *evidence: Seen) -> None:
        claim = Claim(text=text[:600], evidence=tuple(dict.fromkeys(seen.id for seen in evidence)))
        if claim not in self.claims:
            self.claims.append(claim)


def name_of(deploy: Deploy) -> str:
    """``payments-api deploy 4471``, or by its ref where it has no number."""
    if deploy.number is not None:
        return f"{deploy.service} deploy {deploy.number}"
    return f"{deploy.service} {deploy.label}"


def versioned(deploy: Deploy) -> str:
    """``httpx deploy 4417 (0.28.0)``: by both its names."""
    if deploy.number is not None and deploy.ref and deploy.ref != deploy.label:
        return f"{name_of(deploy)} ({deploy.ref})"
    return name_of(deploy)


def full_name(deploy: Deploy) -> str:
    lead = f"Deploy {deploy.number}" if deploy.number is not None else f"Deploy {deploy.label}"
    inside = [deploy.service]
    if deploy.environment != "production":
        inside.append(deploy.environment)
    if deploy.ref and deploy.number is not None:
        inside.append(deploy.ref)
    return f"{lead} ({', '.join(inside)})"


def shipped(deploy: Deploy) -> str:
    by = f", by {deploy.actor}" if deploy.actor else ""
    at = f" at {when(deploy.at, None)}" if deploy.at else ""
    match deploy.status:
        case DeployStatus.SUCCESS | DeployStatus.UNKNOWN:
            began, ended = deploy.started_at, deploy.finished_at
            if began and ended and ended - began > MINUTES_APART:
                return f"started {when(began, None)}, finished {when(ended, began)}{by}"
            return f"went out{at}{by}"
        case DeployStatus.IN_PROGRESS:
            return f"is going out, begun{at}{by}"
        case DeployStatus.FAILURE:
            return f"was tried{at}{by} and failed"
        case DeployStatus.CANCELLED:
            return f"was begun{at}{by} and cancelled"


def say_record(part: Part, seen: Seen, deploy: Deploy, said: Said) -> None:
    """What a deploy's own record says: who and when, or which commit it is."""
    text = f"{full_name(deploy)} {shipped(deploy)}"
    if part.kind is PartKind.COMMIT and deploy.sha is None:
        said.unknowns.append(f"{part.words}: its record names no commit")
    elif part.kind is PartKind.COMMIT and deploy.sha is not None:
        text = f"{full_name(deploy)} is commit {deploy.sha[:12]}"
    said.headlines.append(text)
    said.claim(text, seen)


def is_bump(highlight: Highlight) -> bool:
    """Whether a setting changes with every release, or is read by tests only."""
    return bool(_BUMP.search(highlight.key))


def telling(diff: DiffShown) -> list[str]:
    """Up to three changed settings and signatures as code, without those of every release."""
    shown = (h.text for h in diff.highlights if len(h.text) <= LONGEST_CODE and not is_bump(h))
    return [f"`{text}`" for text in shown][:3]


def incident_name(incident: Incident) -> str:
    service = f"the {incident.services[0]} incident" if incident.services else "the incident"
    return f"{service} ({incident.id})"


def when(at: datetime | None, beside: datetime | None) -> str:
    """``01:44 UTC``; with the date unless ``beside`` is on the same day."""
    if at is None:
        return "at an unknown time"
    if beside is not None and beside.date() == at.date():
        return f"{at:%H:%M} UTC"
    return f"{at:%Y-%m-%d %H:%M} UTC"


def span(length: timedelta) -> str:
    """``22 min``, ``3 h 5 min``, ``2 d 4 h``, rounded down."""
    minutes = int(length.total_seconds()) // 60
    if minutes < 60:
        return f"{minutes} min"
    if minutes < 48 * 60:
        hours, rest = divmod(minutes, 60)
        return f"{hours} h {rest} min" if rest else f"{hours} h"
    days, hours = divmod(minutes // 60, 24)
    return f"{days} d {hours} h" if hours and days < 14 else f"{days} d"


def stretch(value: DeploysFound) -> str:
    """The window that was searched, as it is said: never "in that time"."""
    match value.since, value.until:
        case None, None:
            return "on record"
        case since, None:
            return f"since {when(since, None)}"
        case None, until:
            return f"until {when(until, None)}"
        case since, until:
            return f"from {when(since, None)} to {when(until, since)}"


def rest_of(value: DeploysFound, listed: int) -> str | None:
    """What a list leaves out."""
    rest = value.total - min(listed, len(value.deploys))
    if rest <= 0:
        return None
    return f"{rest} more {'deploy is' if rest == 1 else 'deploys are'} in the trace"


def absent_or_many(asked: str, seen: Seen, value: DeploysFound, said: Said) -> None:
    """The name that was asked for is nobody's, or several deploys go by it."""
    if not value.deploys:
        text = f"Deploy {asked} does not exist: no source has it"
        if value.not_searched:
            text = f"There is no deploy {asked} in what could be read"
            said.confidences.append(Confidence.LOW)
        said.headlines.append(text)
        nearest = f". Nearest are {', '.join(value.nearest[:3])}" if value.nearest else ""
        said.claim(f"There is no deploy {asked} in any source{nearest}", seen)
        return
    said.headlines.append(f"Deploy {asked} is ambiguous: {len(value.deploys)} deploys match")
    for deploy in value.deploys[:4]:
        said.claim(f"{full_name(deploy)}, {shipped(deploy)}", seen)
