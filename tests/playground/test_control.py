"""The control API: only for this machine, and strict about who may do what."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import aiohttp
import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.playground import Playground, Running
from bot.playground.pace import PaceFile
from playground.harness import Control


async def test_other_hosts_names_and_origins_are_refused(
    running: Running, session: aiohttp.ClientSession
) -> None:
    for headers in (
        {"host": "evil.example"},
        {"origin": "https://evil.example"},
        {"host": "127.0.0.1.evil.example:80"},
    ):
        async with session.get(running.control_url + "state", headers=headers) as response:
            assert response.status == 403
    port = running.url.rsplit(":", 1)[1]
    own = {"host": f"localhost:{port}", "origin": f"http://localhost:{port}"}
    async with session.get(running.control_url + "state", headers=own) as response:
        assert response.status == 200


@pytest.mark.parametrize(
    ("act", "body", "reason"),
    [
        (
            "post",
            {"user": "oskar", "channel": "inc-checkout", "text": "x"},
            "oskar is not in inc-checkout",
        ),
        ("post", {"user": "nobody", "channel": "inc-checkout", "text": "x"}, "no user 'nobody'"),
        ("post", {"user": "maya", "channel": "inc-none", "text": "x"}, "no channel 'inc-none'"),
        ("post", {"user": "maya", "channel": "inc-checkout"}, "needs a text"),
        ("replay", {"id": "Ev404"}, "no delivery and no event"),
    ],
)
async def test_what_is_not_possible_is_refused_with_the_reason(
    control: Control, act: str, body: dict[str, Any], reason: str
) -> None:
    assert reason in (await control.refused(act, **body))["message"]


async def test_an_unknown_key_is_refused(control: Control) -> None:
    answer = await control.refused("post", user="maya", channel="inc-checkout", txt="x")
    assert answer["error"] == "invalid_body"


async def test_typed_text_is_what_slack_s_client_sends(control: Control) -> None:
    answer = await control(
        "post",
        user="maya",
        channel="inc-checkout",
        typed="@oncall a<b & see #oncall-debug, https://x.test/?a=1&b=2 @nobody me@oncall @here",
    )
    assert answer["message"]["text"] == (
        "<@U0ONCALL> a&lt;b &amp; see <#C0DEBUG|oncall-debug>, "
        "<https://x.test/?a=1&amp;b=2> @nobody me@oncall <!here>"
    )


async def test_people_change_only_what_is_theirs(control: Control) -> None:
    ts = await control.ask("x")
    where = {"channel": "inc-checkout", "ts": ts}
    assert (
        "did not write"
        in (await control.refused("edit", user="jonas", typed="y", **where))["message"]
    )
    assert "did not write" in (await control.refused("delete", user="jonas", **where))["message"]
    await control("user", user="jonas", role="admin")
    await control("delete", user="jonas", **where)


async def test_state_holds_everything(control: Control, slack: AsyncWebClient) -> None:
    ts = await control.ask()
    await slack.chat_postMessage(
        channel="C0INCCHECK",
        thread_ts=ts,
        text="answer",
        metadata={"event_type": "oncall", "event_payload": {"run": "r1"}},
    )
    state = await control.state()
    channel = next(c for c in state["channels"] if c["name"] == "inc-checkout")
    answer = channel["messages"][-1]
    assert (answer["text"], answer["thread_ts"]) == ("answer", ts)
    assert answer["metadata"]["event_payload"] == {"run": "r1"}
    assert state["deliveries"][0]["state"] == "pending"
    assert state["calls"][0]["method"] == "chat.postMessage"
    assert state["apps"][0]["bot_token"] == "xoxb-playground-oncall"
    assert state["rates"] == {}


async def test_a_pace_is_set_only_where_a_bot_reads_it(
    control: Control, pg: Playground, tmp_path: Path
) -> None:
    assert (
        "start the playground with --pace"
        in (await control.refused("pace", pace="slow"))["message"]
    )
    pg.pace = PaceFile(tmp_path / "pace")
    await control("pace", pace="slow")
    assert float((tmp_path / "pace").read_text()) > 0
    await control("pace", pace="usual")
    assert not (tmp_path / "pace").exists()
