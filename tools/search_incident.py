"""search_incident: incidents by id or words, within a window, best match first."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from pydantic import Field

from tools.base import Arguments, CallContext, Status, Tool, ToolError, ToolResult
from tools.incidents import IncidentIndex
from tools.records import Incident, IncidentsFound
from tools.sources.base import SourceError
from tools.wording import clean, clock, listed, moment, plural, span


class SearchIncidentArguments(Arguments):
    query: str = Field(
        default="",
        max_length=500,
        description='Id ("INC-1423") or words (service, symptom); empty for the latest.',
    )
    since: str | None = Field(
        default=None,
        max_length=40,
        description='Began at or after: "2h", "yesterday", ISO time.',
    )
    until: str | None = Field(
        default=None,
        max_length=40,
        description="Began at or before.",
    )
    limit: int = Field(default=5, ge=1, le=50)


class SearchIncident(Tool[SearchIncidentArguments]):
    """Looks incidents up. Says which ones the words cannot tell apart."""

    name: ClassVar[str] = "search_incident"
    description: ClassVar[str] = (
        "Find incidents by id, words or time. Which deploy caused one: search_deploy."
    )
    case_insensitive: ClassVar[frozenset[str]] = frozenset({"query", "since", "until"})
    arguments: type[SearchIncidentArguments] = SearchIncidentArguments

    def __init__(self, incidents: IncidentIndex) -> None:
        self._incidents = incidents

    async def run(self, arguments: SearchIncidentArguments, context: CallContext) -> ToolResult:
        since, until = window(arguments.since, arguments.until, context.now)
        try:
            matches = await self._incidents.search(arguments.query, context.now, since, until)
        except SourceError as error:
            raise ToolError(str(error)) from error
        value = IncidentsFound(
            asked=arguments.query,
            incidents=matches.incidents[: arguments.limit],
            total=len(matches.incidents),
            tied=matches.tied,
            not_searched=self._incidents.notes,
        )
        if not value.incidents:
            return await self._nothing(value, arguments, context.now)
        return incidents_result(value, context.now)

    async def _nothing(
        self, value: IncidentsFound, arguments: SearchIncidentArguments, now: datetime
    ) -> ToolResult:
        began = [one for one in await self._incidents.all() if one.onset and one.onset <= now]
        what = f"matches {clean(arguments.query, 80)!r}" if arguments.query else "is known"
        text = f"No incident {what}{window_words(arguments.since, arguments.until)}."
        lines = [f"{text} {plural(len(began), 'incident')} searched."]
        lines += [f"Latest: {incident_line(one, now)}" for one in began[:3]]
        lines += [f"Not searched: {clean(note, 300)}" for note in value.not_searched]
        return ToolResult(status=Status.EMPTY, summary=text, text="\n".join(lines), value=value)


def incidents_result(value: IncidentsFound, now: datetime) -> ToolResult:
    """Render incidents that were found, and which of them the question leaves open."""
    first = value.incidents[0]
    lines = []
    if value.tied:
        lines.append(
            f"The words fit {len(value.tied)} incidents equally well "
            f"({listed(value.tied)}): ask which one is meant."
        )
    for incident in value.incidents:
        lines.append(incident_line(incident, now))
        if incident.summary:
            lines.append(f"  {clean(incident.summary, 600)}")
    if (rest := value.total - len(value.incidents)) > 0:
        lines.append(f"{rest:,} more not shown: narrow the window or raise limit.")
    lines += [f"Not searched: {clean(note, 300)}" for note in value.not_searched]
    if value.tied:
        summary = f"{len(value.tied)} incidents fit equally well: {listed(value.tied, 4)}"
    else:
        summary = f"{clean(first.id, 40)}: {clean(first.title, 100)}"
    return ToolResult(status=Status.OK, summary=summary[:200], text="\n".join(lines), value=value)


def incident_line(incident: Incident, now: datetime) -> str:
    """One incident as one line: id, severity, status, title, services, onset and length."""
    parts = [clean(incident.id, 40)]
    if incident.severity:
        parts.append(clean(incident.severity, 20))
    parts.append(incident.status.value)
    line = f"{' '.join(parts)}: {clean(incident.title)}"
    if incident.services:
        line += f" ({', '.join(clean(name, 60) for name in incident.services[:6])})"
    if incident.onset is None:
        return f"{line}; start unknown"
    line += f"; began {clock(incident.onset, now)}, {span(now - incident.onset)} ago"
    if incident.resolved_at and incident.resolved_at <= now:
        line += f"; resolved {clock(incident.resolved_at, now)}"
        line += f" after {span(incident.resolved_at - incident.onset)}"
    return line


def window(
    since: str | None, until: str | None, now: datetime
) -> tuple[datetime | None, datetime | None]:
    """Read the bounds of a window against the run's clock. Raises ``ToolError``."""
    start, end = _bound("since", since, now), _bound("until", until, now)
    if start and end and start > end:
        raise ToolError(
            f"since ({clock(start)}) is after until ({clock(end)}): swap them or leave one out."
        )
    return start, end


def window_words(since: str | None, until: str | None) -> str:
    words = f" since {clean(since, 40)}" if since else ""
    return f"{words} until {clean(until, 40)}" if until else words


def _bound(name: str, text: str | None, now: datetime) -> datetime | None:
    if not text:
        return None
    read = moment(text, now)
    if read is None:
        raise ToolError(
            f'{name}={clean(text, 40)!r} is no time: write "2h", "yesterday", "01:30" or '
            f'"{now:%Y-%m-%dT%H:%M:00Z}".'
        )
    return read
