"""The embedded workspace: a folder with oncall.toml, read into a catalog and its sources.

Owns ``[sources.*]`` and ``[services.*]`` of the file; its other sections belong to the bot and are
not looked at. What makes the file useless raises ``WorkspaceError``; what only makes it poorer (a
missing repository) becomes a note.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from tools.backstage import with_backstage
from tools.base import Tool
from tools.catalog import Catalog, closest
from tools.get_commit import GetCommit
from tools.get_diff import GetDiff
from tools.history import DeployHistory
from tools.incidents import IncidentIndex
from tools.read_file import ReadFile
from tools.read_result import ReadResult
from tools.records import ChangeKind, Deploy, Incident, Service
from tools.repositories import Repositories
from tools.search_code import SearchCode
from tools.search_deploy import SearchDeploy
from tools.search_incident import SearchIncident
from tools.sources.base import DeploySource, Fetched, IncidentSource
from tools.sources.git_tags import GitTags, tag_pattern
from tools.sources.local import LocalDeploys, LocalIncidents

CONFIG_NAME = "oncall.toml"
NO_INCIDENTS = "no incidents are known: there is no incidents.jsonl beside oncall.toml"

_Text = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]


class WorkspaceError(Exception):
    """The folder cannot be used as it is. The message says what to change, and where."""


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class LocalFile(_Section):
    kind: Literal["local"]
    file: _Text


class TagSettings(_Section):
    kind: Literal["git-tags"]
    tags: list[_Text] = []


class SourceSettings(_Section):
    deploys: Annotated[LocalFile | TagSettings, Field(discriminator="kind")] | None = None
    incidents: LocalFile | None = None
    changes: LocalFile | None = None


class ServiceSettings(_Section):
    repo: _Text | None = None
    path: str = ""
    aliases: list[_Text] = []
    depends_on: list[_Text] = []
    owner: str | None = None
    rollback: str | None = None


class _File(_Section):
    sources: SourceSettings = SourceSettings()
    services: dict[str, ServiceSettings] = {}


@dataclass(frozen=True)
class Workspace:
    """What the tools read. ``notes`` says what is missing, one sentence each."""

    root: Path
    catalog: Catalog
    deploy_sources: tuple[DeploySource, ...]
    incident_sources: tuple[IncidentSource, ...]
    notes: tuple[str, ...] = ()

    def scoped(self, services: Collection[str]) -> Workspace:
        """The same workspace as if no other service existed (M26)."""
        kept = [service for service in self.catalog.services if service.name in services]
        catalog = Catalog(kept)
        return replace(
            self,
            catalog=catalog,
            deploy_sources=tuple(_ScopedDeploys(one, catalog) for one in self.deploy_sources),
            incident_sources=tuple(_ScopedIncidents(one, catalog) for one in self.incident_sources),
        )


def open_workspace(root: Path) -> Workspace:
    """Read ``root/oncall.toml``. Raises ``WorkspaceError``."""
    root = root.resolve()
    config = root / CONFIG_NAME
    settings = _settings(config)
    services, notes = _services(settings.services, root)
    completed, more_notes = with_backstage(services, root)
    notes += more_notes
    catalog = Catalog(completed)
    notes += catalog.clashes()
    deploys: list[DeploySource] = [_deploy_source(settings.sources.deploys, catalog, root, config)]
    changes = _file(settings.sources.changes, root, "changes.jsonl")
    if changes:
        deploys.append(LocalDeploys(changes, ChangeKind.OTHER))
    incidents = _file(settings.sources.incidents, root, "incidents.jsonl")
    if incidents is None:
        notes.append(NO_INCIDENTS)
    return Workspace(
        root=root,
        catalog=catalog,
        deploy_sources=tuple(deploys),
        incident_sources=(LocalIncidents(incidents),) if incidents else (),
        notes=tuple(notes),
    )


def read_tools(workspace: Workspace) -> tuple[Tool[Any], ...]:
    """The read tools over a workspace, in the order that the model sees them."""
    history = DeployHistory(workspace.deploy_sources, workspace.catalog)
    incidents = IncidentIndex(workspace.incident_sources, workspace.catalog)
    repositories = Repositories(history, workspace.catalog)
    return (
        SearchIncident(incidents),
        SearchDeploy(history, workspace.catalog, incidents),
        GetDiff(history, workspace.catalog),
        GetCommit(repositories),
        ReadFile(repositories),
        SearchCode(repositories),
        ReadResult(),
    )


# --- reading the file --------------------------------------------------------------------------


def _settings(config: Path) -> _File:
    try:
        text = config.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise WorkspaceError(
            f"{config} does not exist: name a folder that holds an {CONFIG_NAME}"
        ) from None
    except UnicodeDecodeError:
        raise WorkspaceError(f"{config} is not UTF-8 text: save it as UTF-8") from None
    except OSError as error:
        raise WorkspaceError(f"{config} cannot be read: {error.strerror}") from None
    try:
        read = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise WorkspaceError(f"{config} is not valid TOML: {error}") from None
    ours = {key: read[key] for key in _File.model_fields if key in read}
    try:
        return _File.model_validate(ours)
    except ValidationError as error:
        raise WorkspaceError(f"{config}: {_complaint(error)}") from None


def _complaint(error: ValidationError) -> str:
    errors = error.errors(include_url=False)
    first = next((one for one in errors if one["type"] == "extra_forbidden"), errors[0])
    place = [str(part) for part in first["loc"]]
    if place[:2] == ["sources", "deploys"] and len(place) > 2:
        del place[2]  # pydantic names the union's branch there
    where, key = ".".join(place[:-1]), place[-1]
    if first["type"] == "extra_forbidden":
        known = _known_keys(tuple(str(part) for part in first["loc"][:-1]))
        near = closest(key, known, limit=1)
        hint = f", did you mean `{near[0]}`?" if near else "."
        return f"unknown key `{key}` in [{where}]{hint} Known keys: {', '.join(known)}"
    if first["type"] in {"union_tag_invalid", "union_tag_not_found"}:
        return f'[{".".join(place)}] needs kind = "local" or kind = "git-tags"'
    message = first["msg"][:1].lower() + first["msg"][1:]
    return f"`{key}` in [{where}]: {message}" if where else f"[{key}]: {message}"


def _known_keys(section: tuple[str, ...]) -> tuple[str, ...]:
    match section:
        case ("sources",):
            model: type[_Section] = SourceSettings
        case ("sources", "deploys", "git-tags"):
            model = TagSettings
        case ("sources", *_):
            model = LocalFile
        case _:
            model = ServiceSettings
    return tuple(model.model_fields)


def _services(
    settings: Mapping[str, ServiceSettings], root: Path
) -> tuple[list[Service], list[str]]:
    services = [
        Service(
            name=name,
            repo=str(_placed(root, one.repo)) if one.repo else None,
            path=one.path.strip("/"),
            aliases=tuple(one.aliases),
            depends_on=tuple(one.depends_on),
            owner=one.owner,
            rollback=one.rollback,
        )
        for name, one in settings.items()
    ]
    return services, [note for note in map(missing_repository, services) if note]


def missing_repository(service: Service) -> str | None:
    """A sentence about a repository that is not where it should be."""
    if service.repo is None:
        return None
    try:
        if Path(service.repo).is_dir():
            return None
    except OSError as error:
        return f"the repository of {service.name} cannot be read ({error.strerror}): {service.repo}"
    return f"the repository of {service.name} is missing: looked for it in {service.repo}"


def _deploy_source(
    settings: LocalFile | TagSettings | None, catalog: Catalog, root: Path, config: Path
) -> DeploySource:
    if isinstance(settings, TagSettings):
        return GitTags(catalog.services, _patterns(settings.tags, config))
    if file := _file(settings, root, "deploys.jsonl"):
        return LocalDeploys(file)
    return GitTags(catalog.services)


def _patterns(texts: Collection[str], config: Path) -> tuple[re.Pattern[str], ...]:
    try:
        return tuple(tag_pattern(text) for text in texts)
    except ValueError as error:
        raise WorkspaceError(f"{config}: `tags` in [sources.deploys]: {error}") from None


def _file(settings: LocalFile | None, root: Path, usual: str) -> Path | None:
    """The configured file (checked when it is read), else the usual one if it is there."""
    if settings is not None:
        return _placed(root, settings.file)
    return root / usual if (root / usual).is_file() else None


def _placed(root: Path, written: str) -> Path:
    """Where a path of oncall.toml leads. Raises ``WorkspaceError``."""
    try:
        return (root / Path(written).expanduser()).resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise WorkspaceError(
            f"{root / CONFIG_NAME}: the path {written[:80]!r} leads nowhere ({error}): correct it"
        ) from None


# --- scopes ------------------------------------------------------------------------------------


class _ScopedDeploys:
    """A source without the deploys of services outside a catalog."""

    def __init__(self, source: DeploySource, catalog: Catalog) -> None:
        self._source = source
        self._catalog = catalog
        self._last: tuple[Fetched[Deploy], Fetched[Deploy]] | None = None

    @property
    def name(self) -> str:
        return self._source.name

    async def deploys(self) -> Fetched[Deploy]:
        whole = await self._source.deploys()
        if self._last is None or self._last[0] is not whole:
            kept = tuple(one for one in whole.records if self._catalog.service(one.service))
            self._last = whole, Fetched(kept, whole.notes)
        return self._last[1]


class _ScopedIncidents:
    """A source without the incidents of services outside a catalog."""

    def __init__(self, source: IncidentSource, catalog: Catalog) -> None:
        self._source = source
        self._catalog = catalog

    @property
    def name(self) -> str:
        return self._source.name

    async def incidents(self) -> Fetched[Incident]:
        whole = await self._source.incidents()
        kept = tuple(one for one in whole.records if any(map(self._catalog.service, one.services)))
        return Fetched(kept, whole.notes)
