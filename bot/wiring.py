"""Puts the bot together for one workspace: settings, store, owner, links, tools, model, service.

Used by every command. Owns the state folder and the lifetime of what is opened; knows no surface.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from bot.config import STATE_FOLDER, Settings
from bot.costs import spent_on_day
from bot.loop.journal import Event, ModelReturned
from bot.loop.stopping import Clock
from bot.loop.toolbox import Toolbox
from bot.loop.wire import Model
from bot.models.fallback import Breaker
from bot.models.make import make_model
from bot.models.prices import Spending
from bot.models.settings import ModelSettings
from bot.redact import Redactor
from bot.runs.dispatch import QueueLimits
from bot.runs.errors import NoWorkbenchError, StoreError
from bot.runs.links import Links, signing_key
from bot.runs.migrate import prepare, sqlite_file
from bot.runs.owner import Owner
from bot.runs.service import RunService, Workbench
from bot.runs.store import Store
from bot.runs.surface import Surface
from bot.slack.bindings import EVERYTHING, Everything, Only, Scope, Unsure, scope_for
from bot.slack.settings import SlackSettings
from tools.read_result import ReadResult
from tools.workspace import Workspace, WorkspaceError, open_workspace, read_tools

if TYPE_CHECKING:
    from tools.http import HttpClient

KEY_NAME = "signing.key"


@dataclass(frozen=True)
class Bot:
    """An opened bot. ``notes`` says what its workspace lacks."""

    store: Store
    service: RunService
    notes: tuple[str, ...]


def state_folder(root: Path) -> Path:
    """The workspace's ``.oncall``, made if need be and kept out of git. Raises ``StoreError``."""
    folder = root / STATE_FOLDER
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        ignore = folder / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n", encoding="ascii")
    except FileExistsError:
        raise StoreError(
            f"{folder} is a file: move it away, the bot keeps its runs there."
        ) from None
    except OSError as error:
        raise StoreError(
            f"{folder} cannot be made ({error.strerror}): "
            "give this user write access to the workspace."
        ) from error
    return folder


def database(root: Path, settings: Settings) -> Path:
    """The store's file. Raises ``StoreError`` for a URL that is not supported."""
    return sqlite_file(settings.store.url, root)


def links(root: Path, settings: Settings, *, port: int | None = None) -> Links:
    """Trace links under the configured key, else under the state folder's.

    ``port`` is the one that was taken, where the settings leave it open.
    """
    configured = settings.web.signing_key
    key = configured.get_secret_value() if configured else signing_key(key_file(root))
    url = settings.web.public_url or f"http://{settings.web.host}:{port or settings.web.port}"
    return Links(key, url.rstrip("/"))


def key_file(root: Path) -> Path:
    return state_folder(root) / KEY_NAME


@asynccontextmanager
async def open_store(root: Path, settings: Settings) -> AsyncIterator[Store]:
    """The workspace's store, brought up to date. Raises ``StoreError``."""
    state_folder(root)
    file = database(root, settings)
    prepare(file)
    store = Store.open(file)
    try:
        yield store
    finally:
        await store.close()


@asynccontextmanager
async def open_bot(
    root: Path,
    settings: Settings,
    surfaces: Sequence[Surface],
    observe: Callable[[str, Event], None],
    paced: Callable[[Model], Model] = lambda model: model,
) -> AsyncIterator[Bot]:
    """A bot that works. Close its service before leaving to give the runs time to end.

    ``paced`` is put around each run's model.

    Raises ``StoreError`` and ``WorkspaceError``, whose messages are for people.
    """
    notes = _checked(open_workspace(root), settings.slack).notes
    file = database(root, settings)
    clock = Clock()
    breaker = Breaker(clock.monotonic)
    async with open_store(root, settings) as store, http_client(settings.model) as client:
        already = await spent_on_day(store, clock.now(), settings.model)
        spending = Spending(settings.model.prices, clock.now, already)

        def seen(run: str, event: Event) -> None:
            if isinstance(event, ModelReturned):
                spending.add(event.turn)
            observe(run, event)

        with Owner(file.with_name(f"{file.name}.owners")) as owner:
            service = RunService(
                store=store,
                owner=owner,
                surfaces=surfaces,
                model=lambda: paced(
                    make_model(settings.model, client, breaker, clock, spent_today=spending.today)
                ),
                workbench=lambda run: workbench(root, scope_for(run, settings.slack.bindings)),
                redactor=Redactor,
                workspace=str(root),
                limits=settings.limits,
                queue=QueueLimits(
                    running=settings.runs.running,
                    waiting=settings.runs.waiting,
                    waiting_seconds=settings.runs.waiting_seconds,
                ),
                clock=clock,
                observe=seen,
            )
            try:
                yield Bot(store, service, notes)
            finally:
                await service.close(0.0)


@asynccontextmanager
async def http_client(settings: ModelSettings) -> AsyncIterator[HttpClient | None]:
    """The connections to models, where one is configured."""
    if not settings.endpoints:
        yield None
        return
    from tools.http import HttpClient  # noqa: PLC0415 - the rules model loads no HTTP

    async with HttpClient() as client:
        yield client


def workbench(root: Path, scope: Scope = EVERYTHING) -> Workbench:
    """A fresh snapshot for one run, so that an edited workspace counts from the next question on.

    What is outside the scope does not exist in it (M26). Raises ``NoWorkbenchError``.
    """
    try:
        workspace = open_workspace(root)
    except WorkspaceError as error:
        raise NoWorkbenchError(str(error).replace(f"{root}/", "")) from error
    allowed: tuple[str, ...] | None = None
    match scope:
        case Everything():
            pass
        case Only(services=services, tools=allowed):
            workspace = workspace if services is None else workspace.scoped(services)
        case Unsure():
            raise NoWorkbenchError("The channel's name is unknown, so what it is bound to is too.")
        case _:
            assert_never(scope)
    tools = [
        tool
        for tool in read_tools(workspace)
        if allowed is None or tool.name in (*allowed, ReadResult.name)
    ]
    return Workbench(Toolbox(tools, Redactor()), workspace.catalog.words())


def _checked(workspace: Workspace, slack: SlackSettings) -> Workspace:
    """The workspace, if it has all that the bindings name. Raises ``WorkspaceError``."""
    for what, known, named in (
        (
            "service",
            [service.name for service in workspace.catalog.services],
            [name for binding in slack.bindings for name in binding.services or ()],
        ),
        (
            "tool",
            [tool.name for tool in read_tools(workspace)],
            [name for binding in slack.bindings for name in binding.tools or ()],
        ),
    ):
        for name in named:
            if name not in known:
                raise WorkspaceError(
                    f"[[slack.bindings]] names the {what} `{name}`, which does not exist. "
                    f"Known: {', '.join(known)}."
                )
    return workspace
