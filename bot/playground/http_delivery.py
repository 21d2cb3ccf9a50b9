"""HTTP mode: payloads POSTed to a request URL, signed as Slack signs them.

Owns the v0 signature, the headers and what an answer means. Signatures carry the machine's real
time, whatever the world's clock says, because the receiver compares them with its own.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlencode

import aiohttp

from bot.playground.clock import Clock
from bot.playground.log import Outcome, PayloadKind
from bot.playground.model import Json

ACK_SECONDS = 3.0
STALE_SECONDS = 10 * 60


class Signing(StrEnum):
    """How a request is signed; all but VALID are what a receiver has to refuse."""

    VALID = "valid"
    WRONG = "wrong"
    STALE = "stale"
    MISSING = "missing"


@dataclass(frozen=True)
class HttpAnswer:
    outcome: Outcome
    status: int | None = None
    body: Json | None = None


def signature(secret: str, timestamp: int, body: str) -> str:
    """Slack's v0 signature of a request body."""
    base = f"v0:{timestamp}:{body}".encode()
    return "v0=" + hmac.new(secret.encode(), base, hashlib.sha256).hexdigest()


def signed_headers(secret: str, body: str, signing: Signing = Signing.VALID) -> dict[str, str]:
    if signing is Signing.MISSING:
        return {}
    timestamp = int(time.time()) - (STALE_SECONDS if signing is Signing.STALE else 0)
    key = secret + "-not" if signing is Signing.WRONG else secret
    return {
        "x-slack-request-timestamp": str(timestamp),
        "x-slack-signature": signature(key, timestamp, body),
    }


class HttpSender:
    """Posts payloads. An answer that takes longer than three seconds of world time is a timeout."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._session: aiohttp.ClientSession | None = None

    async def post(
        self,
        url: str,
        secret: str,
        kind: PayloadKind,
        payload: Json,
        *,
        retry: Mapping[str, str] | None = None,
        signing: Signing = Signing.VALID,
    ) -> HttpAnswer:
        body, content_type = _body(kind, payload)
        headers = {
            "content-type": content_type,
            "user-agent": "Slackbot 1.0 (+https://api.slack.com/robots)",
            **signed_headers(secret, body, signing),
            **(retry or {}),
        }
        request = asyncio.ensure_future(self._request(url, body, headers))
        done = asyncio.ensure_future(_ended(request))
        try:
            if await self._clock.wait(done, ACK_SECONDS):
                return request.result()
            return HttpAnswer(Outcome.TIMEOUT)
        finally:
            request.cancel()
            await asyncio.wait({request, done})

    async def _request(self, url: str, body: str, headers: Mapping[str, str]) -> HttpAnswer:
        if self._session is None:
            self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None))
        try:
            async with self._session.post(
                url, data=body.encode(), headers=headers, allow_redirects=False
            ) as response:
                text = await response.text()
                if 200 <= response.status < 300:
                    return HttpAnswer(Outcome.ACKED, response.status, _json(text))
                final = response.headers.get("x-slack-no-retry") == "1"
                outcome = Outcome.NO_RETRY if final else Outcome.REFUSED
                return HttpAnswer(outcome, response.status, _json(text))
        except aiohttp.ClientError:
            return HttpAnswer(Outcome.UNREACHABLE)

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None


def _body(kind: PayloadKind, payload: Json) -> tuple[str, str]:
    match kind:
        case PayloadKind.EVENT:
            return json.dumps(payload), "application/json"
        case PayloadKind.INTERACTIVE:
            return urlencode({"payload": json.dumps(payload)}), "application/x-www-form-urlencoded"
        case PayloadKind.COMMAND:
            return urlencode(payload), "application/x-www-form-urlencoded"


def _json(text: str) -> Json | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


async def _ended(request: asyncio.Future[HttpAnswer]) -> None:
    await asyncio.wait({request})
