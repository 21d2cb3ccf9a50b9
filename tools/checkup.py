"""What a workspace lacks for good answers, each thing with its fix: the doctor's eyes on the data.

Owns the checks and their words. It parses nothing itself: it reads a workspace as the tools do, and
takes what the sources say of their losses. Changes nothing.
"""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path

from tools.catalog import Catalog, closest
from tools.git import Git, GitError
from tools.history import DeployHistory, Timeline
from tools.records import ChangeKind, Deploy, Service
from tools.sources.base import DeploySource, IncidentSource, Remark, SourceError
from tools.sources.keys import FORMAT
from tools.wording import clean, clock, listed, plural
from tools.workspace import NO_INCIDENTS, Workspace, missing_repository

SKEW = timedelta(minutes=2)
"""So far ahead of now a record may lie: clocks differ."""
NAMED = 5


class Check(StrEnum):
    """What was looked at; what hurts answers most comes first."""

    SERVICES = "services"
    SOURCES = "sources"
    REPOSITORIES = "repositories"
    RECORDS = "records"
    DEPLOYS = "deploys"
    TIMES = "times"
    DEPENDENCIES = "dependencies"
    SETTINGS = "settings"


@dataclass(frozen=True)
class Finding:
    """One thing that was checked. ``fix`` is empty where all is well."""

    check: Check
    what: str
    fix: str = ""

    @property
    def is_well(self) -> bool:
        return not self.fix


async def examine(workspace: Workspace, now: datetime) -> tuple[Finding, ...]:
    """Everything that is worth saying, in the order of ``Check``. Never raises for what it finds."""
    found = [finding async for finding in _findings(workspace, now)]
    order = list(Check)
    return tuple(sorted(found, key=lambda finding: order.index(finding.check)))


async def _findings(workspace: Workspace, now: datetime) -> AsyncIterator[Finding]:
    services = workspace.catalog.services
    yield _count(services)
    for finding in (*_settings(workspace), *_dependencies(workspace.catalog)):
        yield finding
    history = DeployHistory(workspace.deploy_sources, workspace.catalog)
    deploys: Timeline | None = None
    with contextlib.suppress(SourceError):  # each source says it of itself
        deploys = await history.timeline()
    for name, reading in (
        *((source.name, _of_deploys(source)) for source in workspace.deploy_sources),
        *((source.name, _of_incidents(source)) for source in workspace.incident_sources),
    ):
        async for finding in _source(name, reading, now):
            yield finding
    for service in services:
        async for finding in _repository(service, deploys):
            yield finding
    if deploys is not None:
        for finding in _deploys(deploys, workspace.catalog):
            yield finding


def _count(services: Sequence[Service]) -> Finding:
    if services:
        names = listed(tuple(service.name for service in services), NAMED)
        return Finding(Check.SERVICES, f"{plural(len(services), 'service')}: {names}")
    return Finding(
        Check.SERVICES,
        "no service is known",
        'add [services.NAME] with repo = "…" to oncall.toml, once for each',
    )


def _settings(workspace: Workspace) -> Iterator[Finding]:
    """What the workspace said when it was opened, but for repositories, which are looked at below."""
    looked_at = {missing_repository(service) for service in workspace.catalog.services}
    for note in workspace.notes:
        if note == NO_INCIDENTS:
            file = workspace.root / "incidents.jsonl"
            yield Finding(
                Check.SETTINGS, note, f"create {file}, one incident a line as in {FORMAT}"
            )
        elif note not in looked_at:
            yield Finding(Check.SETTINGS, note, "correct it in the workspace's folder")


def _dependencies(catalog: Catalog) -> Iterator[Finding]:
    for service in catalog.services:
        for need in service.depends_on:
            if catalog.service(need) is None:
                near = closest(need, catalog.words(), limit=1)
                guess = f"did you mean {near[0]!r}? Else " if near else ""
                yield Finding(
                    Check.DEPENDENCIES,
                    f"{service.name} depends on {clean(need, 60)!r}, which is no service",
                    f"{guess}add [services.{clean(need, 60)}], or take it out of depends_on",
                )


@dataclass(frozen=True)
class _Read:
    """When each record of a source began, and what the source lost."""

    times: tuple[datetime | None, ...]
    notes: tuple[str, ...]
    remarks: tuple[Remark, ...]
    mend: str


async def _of_deploys(source: DeploySource) -> _Read:
    fetched = await source.deploys()
    times = tuple(one.started_at or one.finished_at for one in fetched.records)
    return _Read(times, fetched.notes, fetched.remarks, fetched.mend)


async def _of_incidents(source: IncidentSource) -> _Read:
    fetched = await source.incidents()
    times = tuple(one.onset for one in fetched.records)
    return _Read(times, fetched.notes, fetched.remarks, fetched.mend)


async def _source(name: str, reading: Awaitable[_Read], now: datetime) -> AsyncIterator[Finding]:
    """Whether it can be read, what it lost, how it is written, and what it dates in the future."""
    try:
        read = await reading
    except SourceError as error:
        fix = error.fix or "mend that, or correct [sources] in oncall.toml"
        yield Finding(Check.SOURCES, error.what, fix)
        return
    yield Finding(Check.SOURCES, f"{name}: {plural(len(read.times), 'record')}")
    for note in read.notes:
        mend = read.mend or f"correct it in {name}, or take it out there"
        yield Finding(Check.RECORDS, note, mend)
    for remark in read.remarks:
        yield Finding(Check.RECORDS, remark.what, remark.fix)
    late = [at for at in read.times if at is not None and at > now + SKEW]
    if late:
        yield Finding(
            Check.TIMES,
            f"{plural(len(late), 'record')} of {name} dated in the future, the last one at "
            f"{clock(max(late), now)}",
            "write times in UTC with a Z, and set the clocks (NTP) of this machine and of what "
            "writes them",
        )


async def _repository(service: Service, deploys: Timeline | None) -> AsyncIterator[Finding]:
    if service.repo is None:
        yield Finding(Check.REPOSITORIES, f"{service.name}: none is set, so there are no diffs")
        return
    if (missing := missing_repository(service)) is not None:
        fix = f"clone it there, or correct repo in [services.{service.name}]"
        yield Finding(Check.REPOSITORIES, missing, fix)
        return
    git = Git(Path(service.repo))
    try:
        if await git.is_shallow():
            yield Finding(
                Check.REPOSITORIES,
                f"{service.name}: its history is cut off (a shallow clone)",
                f"git -C {service.repo} fetch --unshallow",
            )
        await git.run("ls-tree", "-r", "--name-only", "HEAD", "--", *_folder(service))
        newest = _newest(service, deploys)
        if newest is None or newest.sha is None or await git.commit(newest.sha):
            yield Finding(Check.REPOSITORIES, f"{service.name}: can be read")
            return
    except GitError as error:
        yield _in_two(f"{service.name}: {error}")
        return
    yield Finding(
        Check.REPOSITORIES,
        f"{service.name}: lacks the commit {newest.sha[:12]} of its deploy {newest.label}",
        f"git -C {service.repo} fetch --all --tags",
    )


def _folder(service: Service) -> tuple[str, ...]:
    return (service.path,) if service.path else ()


def _newest(service: Service, deploys: Timeline | None) -> Deploy | None:
    if deploys is None:
        return None
    own = (d for d in reversed(deploys.deploys) if d.service == service.name and d.sha)
    return next((deploy for deploy in own if deploy.kind is ChangeKind.DEPLOY), None)


def _deploys(deploys: Timeline, catalog: Catalog) -> Iterator[Finding]:
    deployed = {service for service, _ in deploys.lanes}
    for service in catalog.services:
        if service.name not in deployed and service.repo is not None:
            yield Finding(
                Check.DEPLOYS,
                f"{service.name} has no deploy",
                f"list its deploys under the name {service.name!r}, or add the name that they "
                "use to its aliases",
            )
    strangers: defaultdict[str, int] = defaultdict(int)
    for deploy in deploys.deploys:
        if catalog.service(deploy.service) is None:
            strangers[deploy.service] += 1
    for name, count in sorted(strangers.items()):
        yield Finding(
            Check.DEPLOYS,
            f"{plural(count, 'deploy')} of {clean(name, 60)!r}, which is no service",
            f"add [services.{clean(name, 60)}] to oncall.toml, or the name to a service's aliases",
        )


def _in_two(said: str) -> Finding:
    """What git cannot do ends with what to do about it, after the last colon or full stop."""
    cut = max(said.rfind(": "), said.rfind(". "))
    return Finding(Check.REPOSITORIES, said[:cut], said[cut + 2 :])
