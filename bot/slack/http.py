"""Slack's requests over HTTP, at an address of the web server that also shows the traces.

Owns the bound on a request and that nothing is taken before the bot is ready or after it closes.
Signatures, their age and Slack's check of the address are Bolt's.
"""

from __future__ import annotations

from slack_bolt.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from bot.bodies import body_within
from bot.slack.manifest import EVENTS_PATH

PATH = EVENTS_PATH
MAX_BODY = 1_000_000


class Requests:
    """``take`` is a route's endpoint. Slack sends again what is answered with an error."""

    def __init__(self) -> None:
        self._bolt: AsyncApp | None = None

    def open(self, bolt: AsyncApp) -> None:
        self._bolt = bolt

    def close(self) -> None:
        self._bolt = None

    @property
    def is_open(self) -> bool:
        return self._bolt is not None

    async def take(self, request: Request) -> Response:
        if self._bolt is None:
            return PlainTextResponse("not ready", 503)
        body = await body_within(request.stream(), MAX_BODY)
        if body is None:
            return PlainTextResponse("too large", 413)
        answer = await self._bolt.async_dispatch(
            AsyncBoltRequest(
                body=body.decode("utf-8", "replace"),
                query=str(request.query_params),
                headers=dict(request.headers),
            )
        )
        return Response(
            answer.body,
            answer.status,
            media_type=answer.first_headers().get("content-type"),
        )
