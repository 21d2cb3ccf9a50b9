"""What the rules model says of the records themselves: which incidents there are, how one stands, and
which version runs, as far as deploy records tell.

Pure. Says what was written down: no length is computed from two times, and nothing is said to run that
only was deployed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pydantic import JsonValue

from bot.loop.part_kinds import PartKind
from bot.loop.question import Part, Question
from bot.loop.wire import Request, Seen
from bot.models.rules_calls import Wanted, incident_words
from bot.models.rules_follow_plan import LATEST, live_call, names_incident, seen_for
from bot.models.rules_words import (
    ENDED,
    NOT_THE_MACHINES,
    Said,
    full_name,
    name_of,
    shipped,
    versioned,
    when,
)
from tools.records import (
    Deploy,
    DeploysFound,
    DeployStatus,
    Incident,
    IncidentsFound,
    IncidentStatus,
)

LISTED = 6
"""Incidents and services that are named one by one."""
ALL = 50
"""The most that a tool lists."""
LONGEST_TITLE = 150
_STANDS = re.compile(
    r"\b(?:start\w*|beg[aiu]n|end(?:ed)?|stop\w*|happen\w*|occur\w*|fired?|open\w*|clos\w*|resolv\w*|fixed"
    r"|detected|noticed|declared|mitigated|long|last(?:ed)?|going|over|ongoing|active|still|already|now"
    r"|all|status|severity|current|first)\b",
    re.IGNORECASE,
)
_ONLY_OPEN = re.compile(
    r"\b(?:open|current\w*|ongoing|active|unresolved|live|any|is there|are there)\b", re.IGNORECASE
)
_BEGAN = re.compile(
    r"\bwhen\b.*\b(?:start|begin|happen|occur|fire|open|detect|notice)", re.IGNORECASE
)
_HOW_BAD = re.compile(r"\bhow (?:bad|severe)|\b(?:impact|affected|severity|blast)", re.IGNORECASE)
_COMMIT = re.compile(r"\b(?:commit|sha|revision|hash)\b", re.IGNORECASE)


def records_call(part: Part, question: Question) -> Wanted | None:
    """The one search that such a part needs; ``None`` for other kinds of parts."""
    match part.kind:
        case PartKind.INCIDENT:
            asked: dict[str, JsonValue] = {"query": _described(part, question)}
            return Wanted("search_incident", asked, "Looking up the incident.")
        case PartKind.INCIDENTS:
            listed: dict[str, JsonValue] = {"limit": ALL}
            if part.service:
                listed["query"] = part.service
            if part.since:
                listed["since"] = when(part.since, None)
            if part.until:
                listed["until"] = when(part.until, None)
            return Wanted("search_incident", listed, "Listing the incidents.")
        case PartKind.RUNNING:
            return live_call(part.service, part)
        case _:
            return None


def say_records(part: Part, request: Request, said: Said) -> None:
    """Add what was found; nothing where the search failed."""
    call = records_call(part, request.question)
    if call is None:
        return
    if part.kind is PartKind.RUNNING:
        if live := seen_for(call, request):
            _running(part, *live, request, said)
        return
    for seen in request.seen:
        value = seen.value
        if seen.asked == call.raw and isinstance(value, IncidentsFound):
            if part.kind is PartKind.INCIDENTS:
                _incidents(part, seen, value, said)
            elif value.tied or not value.incidents:
                say_which(seen, value, said)
            else:
                _incident(part, seen, value.incidents[0], said)
            return


# --- incidents -----------------------------------------------------------------------------------


def say_which(seen: Seen, value: IncidentsFound, said: Said) -> None:
    """The words fit several incidents, or none."""
    if value.tied:
        said.headlines.append(f"Which incident do you mean: {', '.join(value.tied[:4])}?")
        for incident in value.incidents[:4]:
            began = f", began {when(incident.onset, None)}" if incident.onset else ""
            said.claim(f"{incident.id}: “{incident.title}”{began}", seen)
    elif not value.incidents:
        said.headlines.append("No incident matches these words")
        said.claim("No incident matches the words of the question", seen)


def _described(part: Part, question: Question) -> str:
    """The incident that is meant, without the words that ask how it stands."""
    if part.incident:
        return part.incident
    if not names_incident(question):
        return LATEST
    words = _STANDS.sub(" ", incident_words(part, question))
    return " ".join(words.split()) or LATEST


def _incident(part: Part, seen: Seen, incident: Incident, said: Said) -> None:
    began = _began(incident)
    state = _state(incident)
    if began is None:
        said.unknowns.append(f"when the incident {incident.id} began: its record has no time")
    if state is None:
        said.unknowns.append(f"whether the incident {incident.id} is over: no status is recorded")
    told = [began, state] if _BEGAN.search(part.text) else [state, began]
    if lines := [f"it {line}" for line in told if line is not None]:
        lead = f"{incident.id} {lines[0].removeprefix('it ')}"
        said.headlines.append("; ".join([lead, *lines[1:]]))
        said.claim(f"{_named(incident)}: {'; '.join(lines)}", seen)
    if _HOW_BAD.search(part.text):
        _impact(incident, seen, said)
    if _BEGAN.search(part.text) and incident.started_at and incident.detected_at:
        said.claim(f"{incident.id} was detected {when(incident.detected_at, None)}", seen)


def _impact(incident: Incident, seen: Seen, said: Said) -> None:
    """How bad it is, as far as its record says: its severity and its services."""
    known = ", ".join(filter(None, (incident.severity, *incident.services)))
    if known:
        said.headlines.insert(0, f"{incident.id}: {known}")
        said.claim(f"{incident.id} is recorded with: {known}", seen)
    said.unknowns.append("how many are hit: incident records name a severity and services alone")


def _began(incident: Incident) -> str | None:
    """When, and how that is known."""
    if incident.started_at:
        return f"began {when(incident.started_at, None)}"
    if incident.detected_at:
        return f"was detected {when(incident.detected_at, None)}"
    if incident.created_at:
        return f"was recorded {when(incident.created_at, None)}"
    return None


def _state(incident: Incident) -> str | None:
    match incident.status:
        case IncidentStatus.OPEN:
            return "is open"
        case IncidentStatus.RESOLVED if incident.resolved_at:
            return f"was resolved {when(incident.resolved_at, None)}"
        case IncidentStatus.RESOLVED:
            return "is resolved, at a time that its record leaves out"
        case IncidentStatus.UNKNOWN:
            return None


def _named(incident: Incident) -> str:
    """Its id, title, severity and services."""
    title = incident.title
    plain = len(title) <= LONGEST_TITLE and not re.search(r"[“”\"\n]", title)
    inside = ", ".join(filter(None, (incident.severity, *incident.services[:3])))
    return (
        f"{incident.id}{f' “{title}”' if title and plain else ''}{f' ({inside})' if inside else ''}"
    )


def _incidents(part: Part, seen: Seen, value: IncidentsFound, said: Said) -> None:
    """Those that are open, or all of a window; the open ones first."""
    if not value.incidents:
        of = f" of {part.service}" if part.service else ""
        text = f"No incident{of} is on record{_since_until(part)}"
        said.headlines.append(text)
        said.claim(text, seen)
        return
    shown: Sequence[Incident] = value.incidents
    still = [one for one in shown if one.status is IncidentStatus.OPEN]
    unsure = [one for one in shown if one.status is IncidentStatus.UNKNOWN]
    rest = value.total - len(shown)
    if _ONLY_OPEN.search(part.text) and not _since_until(part):
        all_over = not unsure and rest == 0
        said.headlines.append(_which_are_open(still, value.incidents[0], all_over=all_over))
        shown = still or shown[:1]
    else:
        shown = [*still, *(one for one in shown if one not in still)]
        named = (f"{one.id} ({one.status.value})" for one in shown[:LISTED])
        said.headlines.append(", ".join(named))
    for one in shown[:LISTED]:
        lines = [f"it {line}" for line in (_state(one), _began(one)) if line is not None]
        said.claim(f"{_named(one)}: {'; '.join(lines) or 'it is on record'}", seen)
    if unsure:
        ids = ", ".join(one.id for one in unsure[:LISTED])
        said.unknowns.append(f"whether the incidents {ids} are over: no status is recorded")
    if rest > 0:
        said.unknowns.append(f"{rest} more incidents were not looked at")
    elif (left := len(shown) - LISTED) > 0:
        said.unknowns.append(f"{left} more incidents are in the trace")


def _which_are_open(still: Sequence[Incident], newest: Incident, *, all_over: bool) -> str:
    if len(still) == 1:
        return f"Open: {_named(still[0])}"
    if still:
        return f"Open: {', '.join(one.id for one in still[:LISTED])}"
    if all_over:
        return "Every incident on record is resolved"
    return f"The newest incident on record is {newest.id}"


def _since_until(part: Part) -> str:
    """The window that was searched, as it was given to the tool."""
    match part.since, part.until:
        case None, None:
            return ""
        case since, None:
            return f" from {when(since, None)} on"
        case None, until:
            return f" until {when(until, None)}"
        case since, until:
            return f" from {when(since, None)} to {when(until, None)}"


# --- what runs -----------------------------------------------------------------------------------


def _running(part: Part, seen: Seen, value: DeploysFound, request: Request, said: Said) -> None:
    where = part.environment or "production"
    of = f" of {part.service}" if part.service else ""
    if not value.deploys:
        said.headlines.append(f"No deploy{of} to {where} is on record")
        said.claim(f"No deploy{of} to {where} is on record", seen)
        return
    found: list[Deploy] = []
    services = tuple(dict.fromkeys(one.service for one in value.deploys))
    for service in services[:LISTED]:
        own = [one for one in value.deploys if one.service == service]
        last = next((at for at, one in enumerate(own) if one.status in ENDED), None)
        if last is None:
            said.unknowns.append(
                f"which version of {service} is running: none of its last deploys succeeded"
            )
            continue
        found.append(own[last])
        _ended(own[last], part, seen, said)
        for newer in own[: min(last, 2)]:
            said.claim(f"{full_name(newer)} {shipped(newer)}", seen)
    if found:
        names = ", ".join(versioned(one) for one in found)
        lead = "The last successful deploy" if len(found) == 1 else "The last successful deploys"
        said.headlines.append(f"{lead} to {where}: {names}")
        said.unknowns.append(NOT_THE_MACHINES)
    _left_out(part, services, where, request, said)


def _ended(deploy: Deploy, part: Part, seen: Seen, said: Said) -> None:
    asks_commit = deploy.sha is not None and _COMMIT.search(part.text)
    commit = f"; it is commit {deploy.sha[:12]}" if deploy.sha and asks_commit else ""
    said.claim(f"{full_name(deploy)} {shipped(deploy)}{commit}", seen)
    if deploy.status is DeployStatus.UNKNOWN:
        said.unknowns.append(f"whether {name_of(deploy)} succeeded: its outcome is not recorded")


def _left_out(
    part: Part, services: Sequence[str], where: str, request: Request, said: Said
) -> None:
    """Services of which nothing is said."""
    known = () if part.service else sorted({*request.question.catalog.values()} - {*services})
    left = [*services[LISTED:], *known]
    if left:
        said.unknowns.append(f"which version is running of {', '.join(left[:LISTED])} in {where}")
