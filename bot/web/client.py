"""Asking a bot that runs elsewhere, over its ask link: the other side of ``asking.py``.

Owns what is sent, the waiting, and the words for what does not work. Prints nothing.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from pydantic import ValidationError

from bot.runs.records import RunState
from bot.web.asking import LONGEST_WAIT, RunTold
from bot.web.errors import ServerError
from tools.http import HttpClient, HttpError, HttpReply

MAX_REPLY = 4_000_000
_JSON = {"content-type": "application/json"}
_AGAIN_SECONDS = 0.5
_TRIES = 5
REQUEST_SECONDS = LONGEST_WAIT + 15.0
"""One request: as long as the bot holds it open, and some more."""
RESTART_SECONDS = 60.0
"""Beyond the longest that a run can last: a bot that is restarted meanwhile drains and comes up."""


@dataclass(frozen=True)
class BotAt:
    """A bot under its ask link (``https://HOST/ask/TOKEN``)."""

    http: HttpClient
    link: str
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    restart_seconds: float = RESTART_SECONDS
    request_seconds: float = REQUEST_SECONDS

    async def ask(self, body: Mapping[str, Any]) -> RunTold:
        """Hand the question in. Raises ``ServerError``."""
        return await self._told(self.link, json.dumps(body).encode())

    async def ended(self, run: RunTold) -> RunTold:
        """The run once it has ended. Raises ``ServerError``, also once it must have ended long ago."""
        patience = run.longest_seconds + self.restart_seconds
        try:
            async with asyncio.timeout(patience):
                while run.outcome is None:
                    run = await self._told(f"{self.link}/{run.run}", b"{}")
                    if run.state is not RunState.ENDED:
                        await self.sleep(_AGAIN_SECONDS)
        except TimeoutError:
            raise ServerError(
                f"the question did not end within {patience:.0f} s, longer than any may take: "
                f"open its trace to see how far it is ({run.trace}), and look whether the bot at "
                f"{self._host} still runs"
            ) from None
        return run

    async def stop(self, run: RunTold) -> None:
        """Raises ``ServerError``."""
        await self._post(f"{self.link}/{run.run}/stop", b"{}")

    async def _told(self, url: str, body: bytes) -> RunTold:
        reply = await self._post(url, body)
        try:
            return RunTold.model_validate_json(reply.body)
        except ValidationError as error:
            raise ServerError(
                f"{self._host} does not answer like a bot of this version: check the link."
            ) from error

    async def _post(self, url: str, body: bytes) -> HttpReply:
        """Asking again is harmless: a question has a key."""
        for left in reversed(range(_TRIES)):
            try:
                async with asyncio.timeout(self.request_seconds):
                    reply = await self.http.post(url, _JSON, body, max_bytes=MAX_REPLY)
            except TimeoutError:
                raise ServerError(
                    f"{self._host} took the request and did not answer within "
                    f"{self.request_seconds:.0f} s: look at its log, or start it again"
                ) from None
            except HttpError as error:
                if not left:
                    raise ServerError(f"{error}: is the bot there running?") from error
                await self.sleep(_AGAIN_SECONDS)
                continue
            if reply.status < 300:
                return reply
            raise ServerError(self._why(reply))
        raise AssertionError("the last try returns or raises")

    def _why(self, reply: HttpReply) -> str:
        if reply.status == 404:
            return (
                f"{self._host} does not know this ask link: `oncall-bot serve` prints the one "
                "that counts; --rotate-key there makes a new one"
            )
        try:
            said = str(json.loads(reply.body).get("error", ""))
        except (ValueError, AttributeError):
            said = ""
        return said or f"{self._host} answers with HTTP {reply.status}"

    @property
    def _host(self) -> str:
        return urlsplit(self.link).netloc
