"""The page at `/`: the shell, its static files, and the live stream that tells it to look again.

Owns the page's HTTP: a strict content security policy, the view of one person as JSON, and
server-sent events that carry a version number. All rendering is in `static/`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, select_autoescape
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from bot.playground.control import answer_refusals
from bot.playground.playground import Playground
from bot.playground.state import view_json

HERE = Path(__file__).parent
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class Page:
    """The handlers; `routes` lists them."""

    def __init__(self, playground: Playground) -> None:
        self._playground = playground
        templates = Environment(
            loader=FileSystemLoader(HERE / "templates"), autoescape=select_autoescape()
        )
        self._shell = templates.get_template("index.html")

    def routes(self) -> list[BaseRoute]:
        return [
            Route("/", self.index, methods=["GET"]),
            Route("/_control/view", answer_refusals(self.view), methods=["GET"]),
            Route("/_control/stream", self.stream, methods=["GET"]),
            Mount("/static", StaticFiles(directory=HERE / "static"), name="static"),
        ]

    async def index(self, _request: Request) -> Response:
        world = self._playground.world
        html = self._shell.render(team=world.team, you=world.you)
        headers = {
            "content-security-policy": POLICY,
            "x-content-type-options": "nosniff",
            "referrer-policy": "no-referrer",
            "cache-control": "no-store",
        }
        return HTMLResponse(html, headers=headers)

    async def view(self, request: Request) -> Response:
        key = request.query_params.get("as") or self._playground.world.you
        return JSONResponse(view_json(self._playground, self._playground.people.user(key)))

    async def stream(self, _request: Request) -> Response:
        async def versions() -> AsyncIterator[str]:
            async for version in self._playground.feed.watch():
                yield f"data: {version}\n\n"

        return StreamingResponse(
            versions(), media_type="text/event-stream", headers={"cache-control": "no-store"}
        )
