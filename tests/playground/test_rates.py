"""Rates: counted on the world's clock, answered with 429 and Retry-After, never switched off."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import aiohttp
import pytest

from bot.playground import Running
from bot.playground.rates import MESSAGES, TIER_2, TIER_3, TIER_4
from bot.playground.webapi.registry import METHODS
from playground.harness import Control

INC, DEBUG = "C0INCCHECK", "C0DEBUG"
Call = Callable[..., Awaitable[aiohttp.ClientResponse]]


@pytest.fixture
def call(running: Running, session: aiohttp.ClientSession) -> Call:
    async def post(method: str, **args: str) -> aiohttp.ClientResponse:
        headers = {"authorization": "Bearer xoxb-playground-oncall"}
        async with session.post(running.api_url + method, data=args, headers=headers) as response:
            await response.read()
            return response

    return post


async def test_a_channel_takes_one_message_a_second_after_a_short_burst(
    call: Call, control: Control
) -> None:
    for _ in range(MESSAGES.burst):
        assert (await call("chat.postMessage", channel=INC, text="x")).status == 200
    limited = await call("chat.postMessage", channel=INC, text="x")
    assert limited.status == 429
    assert limited.headers["retry-after"] == "1"
    assert await limited.json() == {"ok": False, "error": "ratelimited"}
    by_name = await call("chat.postMessage", channel="#inc-checkout", text="x")
    assert by_name.status == 429, "a name is the same channel"
    assert (await call("chat.postMessage", channel=DEBUG, text="x")).status == 200
    await control("advance", seconds=1)
    assert (await call("chat.postMessage", channel=INC, text="x")).status == 200
    assert (await call("chat.postMessage", channel=INC, text="x")).status == 429


@pytest.mark.parametrize(
    ("method", "args", "calls"),
    [
        ("reactions.get", {"channel": INC, "timestamp": "1.0"}, 50),
        ("conversations.replies", {"channel": INC, "ts": "1.0"}, 50),
        ("conversations.history", {"channel": INC, "limit": "1"}, 50),
        ("conversations.info", {"channel": INC}, 50),
        ("chat.update", {"channel": INC, "ts": "1.0", "text": "x"}, 50),
        ("users.info", {"user": "U0MAYA"}, 100),
    ],
)
async def test_a_method_s_calls_a_minute_are_counted(
    call: Call, control: Control, method: str, args: dict[str, str], calls: int
) -> None:
    for _ in range(calls):
        assert (await call(method, **args)).status == 200
    limited = await call(method, **args)
    assert limited.status == 429
    assert limited.headers["retry-after"] == "60"
    await control("advance", seconds=59)
    again = await call(method, **args)
    assert (again.status, again.headers["retry-after"]) == (429, "1")
    await control("advance", seconds=1)
    assert (await call(method, **args)).status == 200


def test_the_rates_of_the_methods_are_slack_s() -> None:
    rates = {name: METHODS[name].rate for name in METHODS}
    for name in ("reactions.add", "reactions.remove", "reactions.get", "chat.update"):
        assert rates[name] == TIER_3
    for name in ("conversations.info", "conversations.history", "conversations.replies"):
        assert rates[name] == TIER_3
    assert rates["users.info"] == TIER_4
    assert rates["chat.postMessage"] == MESSAGES
    assert rates["conversations.list"] == TIER_2


async def test_a_distributed_app_reads_threads_once_a_minute_and_fifteen_at_a_time(
    call: Call, control: Control
) -> None:
    root = await control.ask("root")
    for number in range(20):
        await control("post", user="maya", channel=INC, text=f"{number}", thread_ts=root)
    await control("app", distributed=True)
    first = await call("conversations.replies", channel=INC, ts=root, limit="100")
    assert len((await first.json())["messages"]) == 15
    assert (await call("conversations.replies", channel=INC, ts=root)).status == 429
    await control("advance", seconds=60)
    assert (await call("conversations.replies", channel=INC, ts=root)).status == 200
