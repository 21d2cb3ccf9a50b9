"""The playground as one ASGI application: Web API, Socket Mode, control API and page.

Owns the routes and the guard that keeps everything but the Web API on this machine.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import JSONResponse
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from bot.playground.control import Control
from bot.playground.page import Page
from bot.playground.playground import Playground
from bot.playground.socket_server import SocketServer
from bot.playground.webapi.server import WebApi

LOCAL_NAMES = ("127.0.0.1", "localhost", "[::1]")
LOCAL_CLIENTS = ("127.0.0.1", "::1")


class LocalOnly:
    """Refuses who is not on this machine, other names for it (DNS rebinding), and other origins."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not _is_local(scope):
            refusal = JSONResponse({"ok": False, "error": "only_for_this_machine"}, 403)
            await refusal(scope, receive, send)
            return
        await self._app(scope, receive, send)


def _is_local(scope: Scope) -> bool:
    headers = {key.decode(): value.decode("latin-1") for key, value in scope["headers"]}
    host = headers.get("host", "")
    if scope["client"] is None or scope["client"][0] not in LOCAL_CLIENTS:
        return False
    if host.rsplit(":", 1)[0] not in LOCAL_NAMES:
        return False
    origin = headers.get("origin")
    return origin is None or urlsplit(origin).netloc == host


def create_app(playground: Playground) -> Starlette:
    """The ASGI application of a playground."""
    return Starlette(
        routes=[
            Route("/api/{method}", WebApi(playground).answer, methods=["GET", "POST"]),
            WebSocketRoute("/link/", SocketServer(playground).serve),
            *Control(playground).routes(),
            *Page(playground).routes(),
        ],
        middleware=[Middleware(LocalOnly)],
    )
