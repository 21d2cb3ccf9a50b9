"""One call to Slack's Web API and the four ways that it can go, and the time it all happens in.

Owns the reading of Slack's answers: what was refused, what has to wait, and what is *unknown*: a
reset, a timeout or a 5xx says nothing about whether Slack did it. Nothing is retried without being
told; ``persist`` is for calls that may be made twice. Knows no message and no run.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.loop.stopping import Clock

DEFAULT_WAIT = 5.0
"""Seconds to wait when Slack says "too many" but not for how long."""
LONGEST_WAIT = 15.0
"""The longest pause between two tries that Slack did not ask for."""
SERVER_TROUBLE = frozenset(
    {"internal_error", "fatal_error", "service_unavailable", "request_timeout"}
)
"""Refusals of which Slack says that a part may have been done all the same."""


@dataclass(frozen=True)
class Ok:
    """Slack's answer as it came: raw JSON, read where the method is known."""

    data: Mapping[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Refused:
    """Not done, and it will not be: ``error`` is Slack's word, ``needed`` a missing scope."""

    error: str
    needed: str = ""


@dataclass(frozen=True)
class Limited:
    """Not done: too many calls. Try again after so many seconds."""

    seconds: float


@dataclass(frozen=True)
class Unknown:
    """It may have been done or not. ``slow``: it may even be done later."""

    why: str
    slow: bool = False


Called: TypeAlias = Ok | Refused | Limited | Unknown
Make: TypeAlias = Callable[[], Awaitable[AsyncSlackResponse]]
Sleep: TypeAlias = Callable[[float], Awaitable[None]]


@dataclass(frozen=True)
class Web:
    """The client, and the clock and the sleep that everything here goes by."""

    client: AsyncWebClient
    clock: Clock = field(default_factory=Clock)
    sleep: Sleep = asyncio.sleep

    async def once(self, call: Awaitable[AsyncSlackResponse]) -> Called:
        """Make one call."""
        try:
            response = await call
        except SlackApiError as error:
            return _failed(error.response)
        except TimeoutError:
            return Unknown("no answer in time", slow=True)
        except (aiohttp.ClientError, OSError) as error:
            return Unknown(f"{type(error).__name__}: {error}")
        return Ok(_object(response.data), response.headers)

    async def persist(self, make: Make, seconds: float) -> Called:
        """Make a call that may be made twice, until Slack answers or the time is over."""
        until = self.clock.monotonic() + seconds
        for pause in pauses():
            called = await self.once(make())
            match called:
                case Ok() | Refused():
                    return called
                case Limited(seconds=wait):
                    pass
                case Unknown():
                    wait = pause
            if self.clock.monotonic() + wait > until:
                return called
            await self.sleep(wait)
        raise AssertionError("pauses never end")


def pauses() -> Iterator[float]:
    """Seconds between tries: short at first, then every quarter of a minute."""
    for exponent in itertools.count():
        yield min(0.25 * 2 ** min(exponent, 10), LONGEST_WAIT)


def _failed(response: AsyncSlackResponse) -> Called:
    data = _object(response.data)
    error = str(data.get("error", ""))
    if response.status_code == 429 or error in {"ratelimited", "rate_limited"}:
        return Limited(_retry_after(response.headers))
    if response.status_code >= 500 or not error or error in SERVER_TROUBLE:
        return Unknown(error or f"HTTP {response.status_code}")
    return Refused(error, str(data.get("needed", "")))


def _retry_after(headers: Mapping[str, str]) -> float:
    for name, value in headers.items():
        if name.lower() == "retry-after" and value.strip().isdigit():
            return max(float(value), 0.1)
    return DEFAULT_WAIT


def _object(data: object) -> Mapping[str, Any]:
    return data if isinstance(data, dict) else {}
