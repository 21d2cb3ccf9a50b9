"""Faults on the Web API: each is what a client of Slack has seen, at a chosen call."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
import pytest

from bot.playground import FaultBook, FaultRule, Playground, Running, VirtualClock
from playground.harness import Control, Eventually

INC = "C0INCCHECK"
Post = Callable[..., Awaitable[tuple[int, str, dict[str, str]]]]
HEADERS = {"authorization": "Bearer xoxb-playground-oncall"}


@pytest.fixture
def post(running: Running, session: aiohttp.ClientSession) -> Post:
    async def call(text: str = "x", **more: Any) -> tuple[int, str, dict[str, str]]:
        url = running.api_url + "chat.postMessage"
        body = {"channel": INC, "text": text}
        async with session.post(url, json=body, headers=HEADERS, **more) as response:
            headers = {key.lower(): value for key, value in response.headers.items()}
            return response.status, await response.text(), headers

    return call


def texts(pg: Playground) -> list[str]:
    return [m.text for m in pg.world.top_level(INC)]


def rule(**fault: Any) -> dict[str, Any]:
    return {"method": "chat.postMessage", "fault": fault}


async def test_429_with_and_without_retry_after(control: Control, post: Post) -> None:
    await control("faults", **rule(kind="rate_limited", retry_after=7))
    await control("faults", **rule(kind="rate_limited", retry_after=None))
    status, _, headers = await post()
    assert (status, headers["retry-after"]) == (429, "7")
    status, _, headers = await post()
    assert status == 429
    assert "retry-after" not in headers
    assert (await post())[0] == 200


async def test_ratelimited_with_http_200(control: Control, post: Post, pg: Playground) -> None:
    await control("faults", **rule(kind="soft_rate_limited", retry_after=2))
    status, body, headers = await post("lost")
    assert (status, body, headers["retry-after"]) == (
        200,
        '{"ok":false,"error":"ratelimited"}',
        "2",
    )
    assert "lost" not in texts(pg)


async def test_server_errors_before_and_after_processing(
    control: Control, post: Post, pg: Playground
) -> None:
    await control("faults", **rule(kind="server_error", status=502))
    await control("faults", **rule(kind="server_error_after", status=504))
    assert (await post("before"))[0] == 502
    assert (await post("after"))[0] == 504
    assert "before" not in texts(pg)
    assert "after" in texts(pg)


async def test_any_error_of_slack(control: Control, post: Post) -> None:
    await control("faults", **rule(kind="api_error", error="fatal_error"))
    assert (await post())[1] == '{"ok":false,"error":"fatal_error"}'


async def test_a_reset_before_processing_stores_nothing(
    control: Control, post: Post, pg: Playground
) -> None:
    await control("faults", **rule(kind="reset_before"))
    with pytest.raises(aiohttp.ClientConnectionError):
        await post("lost")
    assert "lost" not in texts(pg)


async def test_a_reset_after_processing_stores_the_message(
    control: Control, post: Post, pg: Playground
) -> None:
    await control("faults", **rule(kind="reset_after"))
    with pytest.raises(aiohttp.ClientConnectionError):
        await post("stored")
    assert texts(pg).count("stored") == 1


@pytest.mark.parametrize(("kind", "stored"), [("hang_before", 0), ("hang_after", 1)])
async def test_a_call_that_hangs_is_given_up_by_the_client(
    control: Control, post: Post, pg: Playground, kind: str, stored: int
) -> None:
    await control("faults", **rule(kind=kind))
    with pytest.raises(TimeoutError):
        await post("hung", timeout=aiohttp.ClientTimeout(total=0.2))
    assert texts(pg).count("hung") == stored


async def test_a_slow_call_takes_its_time_of_the_world_s_clock(
    control: Control, post: Post, pg: Playground, eventually: Eventually
) -> None:
    await control("faults", **rule(kind="slow", seconds=30))
    slow = asyncio.ensure_future(post("slow"))
    clock = pg.clock
    assert isinstance(clock, VirtualClock)
    await eventually(lambda: clock._sleepers)
    await control("advance", seconds=29)
    assert not slow.done()
    await control("advance", seconds=1)
    assert (await slow)[0] == 200


async def test_a_rule_skips_calls_and_happens_so_many_times(control: Control, post: Post) -> None:
    await control(
        "faults",
        method="chat.*",
        channel=INC,
        skip=1,
        times=2,
        fault={"kind": "api_error", "error": "internal_error"},
    )
    answers = [(await post())[1] for _ in range(3)]
    assert ["internal_error" in answer for answer in answers] == [False, True, True]
    await control("advance", seconds=5)
    assert '"ok":true' in (await post())[1]


async def test_rules_are_listed_and_cleared(
    control: Control, post: Post, session: aiohttp.ClientSession, running: Running
) -> None:
    await control("faults", times=None, fault={"kind": "server_error"})
    async with session.get(running.control_url + "faults") as response:
        assert (await response.json())["faults"][0]["fault"]["kind"] == "server_error"
    assert (await post())[0] == 503
    await control("faults/clear")
    assert (await post())[0] == 200


async def test_an_unknown_fault_is_refused(control: Control) -> None:
    assert (await control.refused("faults", fault={"kind": "earthquake"}))["error"] == (
        "invalid_body"
    )


def test_chances_come_from_the_seed() -> None:
    def drawn(seed: int) -> list[bool]:
        book = FaultBook(seed)
        book.add(FaultRule(probability=0.5, times=None, fault={"kind": "reset_before"}))
        return [book.draw("auth.test", None) is not None for _ in range(64)]

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)
    assert 10 < sum(drawn(1)) < 54


async def test_the_call_log_names_faults_and_errors(
    control: Control, post: Post, session: aiohttp.ClientSession, running: Running
) -> None:
    await control("faults", **rule(kind="reset_after"))
    with pytest.raises(aiohttp.ClientConnectionError):
        await post("stored")
    state = await control.state()
    assert [(c["method"], c["status"], c["fault"]) for c in state["calls"]] == [
        ("chat.postMessage", 200, None),
        ("chat.postMessage", 0, "reset_after"),
    ]
