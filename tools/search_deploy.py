"""search_deploy: a deploy by any of its names, deploys of a window, or suspects of an incident."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from pydantic import Field

from tools.base import Arguments, CallContext, Status, Tool, ToolError, ToolResult
from tools.catalog import Catalog, closest
from tools.deploy_text import deploys_result, suspects_result
from tools.history import DeployHistory, as_of, same_environment
from tools.incidents import IncidentIndex
from tools.records import Deploy, DeploysFound, IncidentsFound
from tools.search_incident import incidents_result, window, window_words
from tools.sources.base import SourceError
from tools.suspects import rank_suspects
from tools.wording import clean, listed


class SearchDeployArguments(Arguments):
    deploy: str | None = Field(
        default=None,
        max_length=300,
        description='Number ("4471"), SHA, tag, id or URL.',
    )
    incident: str | None = Field(
        default=None,
        max_length=500,
        description='Its id or words ("checkout incident", an error text): ranks what could have '
        "caused it.",
    )
    service: str | None = Field(default=None, max_length=100, description="Name or alias.")
    environment: str | None = Field(
        default=None,
        max_length=60,
        description="Production for suspects unless told.",
    )
    since: str | None = Field(
        default=None,
        max_length=40,
        description='Finished at or after: "2h", "yesterday", ISO time.',
    )
    until: str | None = Field(
        default=None,
        max_length=40,
        description="Finished at or before.",
    )
    limit: int = Field(
        default=5, ge=1, le=50, description="How many at most; 1 is the last deploy."
    )


class SearchDeploy(Tool[SearchDeployArguments]):
    """Never guesses: lists every match of a name, and says so when there is none."""

    name: ClassVar[str] = "search_deploy"
    description: ClassVar[str] = (
        "Find deploys: one by name (`deploy`), the ranked suspects of an `incident`, or those of a "
        "service or a window, newest first. What one changed: get_diff."
    )
    case_insensitive: ClassVar[frozenset[str]] = frozenset(
        {"deploy", "incident", "service", "since", "until"}
    )
    arguments: type[SearchDeployArguments] = SearchDeployArguments

    def __init__(self, history: DeployHistory, catalog: Catalog, incidents: IncidentIndex) -> None:
        self._history = history
        self._catalog = catalog
        self._incidents = incidents

    async def run(self, arguments: SearchDeployArguments, context: CallContext) -> ToolResult:
        if arguments.deploy and arguments.incident:
            raise ToolError("Give either deploy or incident, not both: make two calls.")
        since, until = window(arguments.since, arguments.until, context.now)
        try:
            service = await self._service(arguments.service)
            if arguments.deploy:
                return await self._by_name(arguments.deploy, service, arguments, context.now)
            if arguments.incident:
                words = f"{arguments.incident} {service or ''}".strip()
                return await self._by_incident(words, arguments, context.now)
            return await self._by_window(service, arguments, since, until, context.now)
        except SourceError as error:
            raise ToolError(str(error)) from error

    async def _service(self, asked: str | None) -> str | None:
        if not asked:
            return None
        if found := await self._history.canonical(asked):
            return found
        known = await self._history.services()
        near = closest(asked, [*known, *self._catalog.words()])
        hint = f" Closest: {listed(near)}." if near else ""
        raise ToolError(
            f"There is no service {clean(asked, 60)!r}.{hint} Known services: "
            f"{listed(known, 20) or 'none'}."
        )

    def _owner(self, service: str | None) -> str | None:
        entry = self._catalog.service(service) if service else None
        return clean(entry.owner, 80) if entry and entry.owner else None

    async def _by_name(
        self, asked: str, service: str | None, arguments: SearchDeployArguments, now: datetime
    ) -> ToolResult:
        matches = [
            one
            for deploy in await self._history.resolve(asked, service)
            if (one := as_of(deploy, now)) and _there(one, arguments.environment)
        ]
        value = DeploysFound(
            asked=_asked(arguments),
            asked_deploy=asked,
            deploys=tuple(matches[: arguments.limit]),
            total=len(matches),
            nearest=() if matches else await self._history.nearest(asked),
            not_searched=await self._history.losses(),
        )
        if value.deploys:
            return deploys_result(value, now)
        where = f" of {service}" if service else ""
        nearest = f"; nearest are {', '.join(value.nearest)}" if value.nearest else ""
        text = f"Deploy {clean(asked, 80)}{where} does not exist in any source{nearest}."
        return _nothing(text, value, await self._history.all())

    async def _by_incident(
        self, asked: str, arguments: SearchDeployArguments, now: datetime
    ) -> ToolResult:
        matches = await self._incidents.search(asked, now)
        if not matches.incidents or matches.tied:
            found = IncidentsFound(
                asked=asked,
                incidents=matches.incidents[: arguments.limit],
                total=len(matches.incidents),
                tied=matches.tied,
                not_searched=self._incidents.notes,
            )
            if found.incidents:
                return incidents_result(found, now)
            text = f"No incident matches {clean(asked, 80)!r}, so no change can be ranked for one."
            hint = "Search with service, since and until instead, or see search_incident."
            return ToolResult(
                status=Status.EMPTY, summary=text[:200], text=f"{text}\n{hint}", value=found
            )
        ranked = await rank_suspects(
            self._history,
            self._catalog,
            matches.incidents[0],
            asked,
            now,
            arguments.environment,
        )
        return suspects_result(
            ranked.model_copy(update={"suspects": ranked.suspects[: arguments.limit]})
        )

    async def _by_window(
        self,
        service: str | None,
        arguments: SearchDeployArguments,
        since: datetime | None,
        until: datetime | None,
        now: datetime,
    ) -> ToolResult:
        everything = await self._history.all()
        matches = [
            one
            for deploy in reversed(everything)
            if (one := as_of(deploy, now))
            and (service is None or one.service == service)
            and _there(one, arguments.environment)
            and (since is None or (one.at is not None and one.at >= since))
            and (until is None or (one.at is not None and one.at <= until))
        ]
        value = DeploysFound(
            asked=_asked(arguments),
            since=since,
            until=until,
            deploys=tuple(matches[: arguments.limit]),
            total=len(matches),
            owner=self._owner(service),
            not_searched=await self._history.notes(service),
        )
        if value.deploys:
            return deploys_result(value, now)
        of = f" of {service}" if service else ""
        environment = f" in {clean(arguments.environment, 60)}" if arguments.environment else ""
        when = window_words(arguments.since, arguments.until)
        return _nothing(f"No deploy{of}{environment}{when}.", value, everything)


def _there(deploy: Deploy, environment: str | None) -> bool:
    return environment is None or same_environment(deploy.environment, environment)


def _asked(arguments: SearchDeployArguments) -> str:
    given = arguments.model_dump(exclude_none=True, exclude={"limit"})
    return ", ".join(f"{name}={value}" for name, value in given.items()) or "the latest deploys"


def _nothing(text: str, value: DeploysFound, searched: tuple[Deploy, ...]) -> ToolResult:
    lines = [text, f"{len(searched):,} deploys and changes were searched."]
    lines += [f"Not searched: {clean(note, 300)}" for note in value.not_searched]
    return ToolResult(status=Status.EMPTY, summary=text[:200], text="\n".join(lines), value=value)
