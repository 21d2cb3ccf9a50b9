"""The web pages, as one Starlette app: a run's trace, what this is, and whether it works.

Owns routes and headers. Every page is private to those who have its link: nothing is cached, sent on
as a referrer, indexed or framed, and nothing but our own style sheet is loaded; an ended run's trace
loads the script of its copy buttons too.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bot.loop.stopping import Clock
from bot.models.settings import ModelSettings
from bot.runs.errors import StoreError
from bot.runs.feedback import feedback_on
from bot.runs.journal import StoreJournal
from bot.runs.links import Links
from bot.runs.store import Store
from bot.web.page import Templates
from bot.web.trace import NO_MODEL, trace_view

_HERE = Path(__file__).parent

Trouble = Callable[[], Awaitable[str]]

HEADERS: Mapping[str, str] = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex, nofollow",
}


_WITH_SCRIPT = f"{HEADERS['Content-Security-Policy']}; script-src 'self'"


class PrivateHeaders:
    """Sets ``HEADERS`` on every response, but for those that it has already."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_private(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, send_private)


class Pages:
    """The handlers. Reads the store; starts nothing."""

    def __init__(
        self, store: Store, links: Links, clock: Clock, trouble: Trouble, model: ModelSettings
    ) -> None:
        self._store = store
        self._links = links
        self._clock = clock
        self._trouble = trouble
        self._model = model
        self._page = Templates().page

    def routes(self) -> list[Route]:
        return [
            Route("/", self.home),
            Route("/t/{token}", self.trace),
            Route("/favicon.ico", self.icon),
            Route("/health", self.health),
            Route("/ready", self.ready),
        ]

    async def home(self, request: Request) -> Response:
        del request
        return self._page("home.html", 200)

    async def trace(self, request: Request) -> Response:
        wanted = self._links.run_of(request.path_params["token"])
        run = await self._store.run(wanted) if wanted is not None else None
        if run is None:
            return self._page("missing.html", 404)
        journal = StoreJournal(self._store, run.id, run.epoch, self._clock.now)
        view = trace_view(
            run,
            await journal.read(),
            await journal.blobs(),
            self._links.trace(run.id),
            self._clock.now(),
            await feedback_on(self._store, run.id),
            self._model,
        )
        page = self._page("trace.html", 200, trace=view)
        if view.postmortem:
            page.headers["Content-Security-Policy"] = _WITH_SCRIPT
        return page

    async def health(self, request: Request) -> Response:
        """The process lives."""
        del request
        return JSONResponse({"status": "ok"})

    async def ready(self, request: Request) -> Response:
        """The process can do its work: the store answers, and Slack's questions reach it."""
        del request
        try:
            await self._store.recent(1)
        except StoreError as error:
            return JSONResponse({"status": "not ready", "reason": str(error)}, 503)
        if reason := await self._trouble():
            return JSONResponse({"status": "not ready", "reason": reason}, 503)
        return JSONResponse({"status": "ready"})

    async def icon(self, request: Request) -> Response:
        """For what is no page of ours: browsers ask for it here."""
        del request
        return FileResponse(_HERE / "static" / "favicon.svg")

    async def wrong_method(self, request: Request, error: Exception) -> Response:
        """The address is there, but takes no such request: ``Allow`` says which it takes."""
        told = error.headers if isinstance(error, HTTPException) else None
        allowed = ", ".join(sorted((told or {}).get("Allow", "GET, HEAD").split(", ")))
        page = self._page("method.html", 405, method=request.method, allowed=allowed)
        page.headers["Allow"] = allowed
        return page

    async def lost(self, request: Request, error: Exception) -> Response:
        """An address that leads nowhere."""
        del request, error
        return self._page("missing.html", 404)

    async def broken(self, request: Request, error: Exception) -> Response:
        """The store does not answer."""
        del request
        return self._page("broken.html", 503, reason=str(error))

    async def fault(self, request: Request, error: Exception) -> Response:
        """A fault of ours. What it says is for the log, which gets it from the server; ``HEADERS`` are
        set here, for nothing stands around what answers a fault.
        """
        del request, error
        page = self._page("fault.html", 500)
        page.headers.update(HEADERS)
        return page


async def no_trouble() -> str:
    """Of a process that has nothing but its pages."""
    return ""


def create_app(
    store: Store,
    links: Links,
    clock: Clock,
    *,
    more: Sequence[Route] = (),
    trouble: Trouble = no_trouble,
    model: ModelSettings = NO_MODEL,
) -> Starlette:
    """The ASGI application over an opened store.

    ``more`` are routes of others, ``trouble`` says why the process cannot do its work just now,
    ``model`` has the prices.
    """
    pages = Pages(store, links, clock, trouble, model)
    return Starlette(
        routes=[*pages.routes(), *more, Mount("/static", StaticFiles(directory=_HERE / "static"))],
        middleware=[Middleware(PrivateHeaders)],
        exception_handlers={
            404: pages.lost,
            405: pages.wrong_method,
            500: pages.fault,
            StoreError: pages.broken,
        },
    )
