"""``/metrics``: the bot's numbers for Prometheus, beside the pages.

Counts and seconds only: no secret, no text of people. Who reaches the pages can read it. Knows no
metric and loads no metrics library: the numbers are given as bytes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

PATH = "/metrics"

Exposed = Callable[[str], Awaitable[tuple[bytes, str]]]
"""From an ``Accept`` header to the numbers and their content type."""


def metrics_route(exposed: Exposed) -> Route:
    async def metrics(request: Request) -> Response:
        body, kind = await exposed(request.headers.get("accept", ""))
        return Response(body, headers={"content-type": kind})

    return Route(PATH, metrics)
