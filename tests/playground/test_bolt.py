"""Real Bolt over Socket Mode: the playground is all the Slack that it needs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import pytest
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncAck, AsyncApp, AsyncSay
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_sdk.web.async_client import AsyncWebClient

from bot.playground import Playground, Running
from playground.harness import Control, Eventually, Json

INC = "C0INCCHECK"


@pytest.fixture
async def bolt(running: Running) -> AsyncIterator[AsyncApp]:
    client = AsyncWebClient(token="xoxb-playground-oncall", base_url=running.api_url)
    app = AsyncApp(client=client, process_before_response=True)
    handler = AsyncSocketModeHandler(app, "xapp-playground-oncall", ping_interval=0.2)
    await handler.connect_async()
    yield app
    await handler.close_async()


async def test_bolt_hears_a_mention_and_answers_in_the_thread(
    bolt: AsyncApp, control: Control, pg: Playground, eventually: Eventually
) -> None:
    @bolt.event("app_mention")
    async def mention(event: Json, say: AsyncSay) -> None:
        await say(text="deploy 4471", thread_ts=event.get("thread_ts") or event["ts"])

    ts = await control.ask()
    await eventually(lambda: pg.world.replies(INC, ts))
    (reply,) = pg.world.replies(INC, ts)
    assert (reply.text, reply.user) == ("deploy 4471", "U0ONCALL")
    await eventually(lambda: pg.outbox.deliveries()[0].state == "acked")


async def test_bolt_ignores_its_own_reaction_and_hears_of_others(
    bolt: AsyncApp, control: Control, slack: AsyncWebClient, eventually: Eventually
) -> None:
    heard: list[str] = []

    @bolt.event("reaction_added")
    async def reaction(event: Json) -> None:
        heard.append(event["user"])

    ts = await control.ask("x")
    await slack.reactions_add(channel=INC, timestamp=ts, name="octagonal_sign")
    await control("react", user="jonas", channel=INC, ts=ts, name="octagonal_sign")
    await eventually(lambda: heard == ["U0JONAS"])


@pytest.mark.filterwarnings("ignore")
async def test_an_event_without_a_listener_is_never_acknowledged(
    bolt: AsyncApp, control: Control, pg: Playground, eventually: Eventually
) -> None:
    await control.ask()

    def tried(times: int) -> bool:
        return len(pg.outbox.deliveries()[0].attempts) == times

    for count, seconds in ((1, 3), (2, 63), (3, 303), (4, 3)):
        await eventually(partial(tried, count))
        await control("advance", seconds=seconds)
    await eventually(lambda: pg.outbox.deliveries()[0].state == "gave_up")


@pytest.mark.parametrize("reason", ["refresh_requested", "warning", "close", "drop"])
async def test_bolt_comes_back_and_hears_what_it_missed(
    bolt: AsyncApp, control: Control, pg: Playground, eventually: Eventually, reason: str
) -> None:
    heard: list[str] = []

    @bolt.event("app_mention")
    async def mention(event: Json) -> None:
        heard.append(event["ts"])

    (before,) = pg.sockets.all()
    await control("disconnect", reason=reason)
    ts = await control.ask()
    await eventually(lambda: pg.sockets.all() and pg.sockets.all()[0] is not before)
    await eventually(lambda: ts in heard)


async def test_a_slow_listener_hears_the_event_again(
    bolt: AsyncApp, control: Control, pg: Playground, eventually: Eventually
) -> None:
    heard: list[str] = []
    release = asyncio.Event()

    @bolt.event("app_mention")
    async def mention(body: dict[str, Any], request: AsyncBoltRequest) -> None:
        heard.append(f"{body['event_id']} {request.headers['x-slack-retry-num'][0]}")
        await release.wait()

    await control.ask()
    await eventually(lambda: len(heard) == 1)
    await control("advance", seconds=3)
    await eventually(lambda: len(heard) == 2)
    release.set()
    event_id = pg.outbox.deliveries()[0].payload["event_id"]
    assert heard == [f"{event_id} 0", f"{event_id} 1"]
    await eventually(lambda: pg.outbox.deliveries()[0].state == "acked")


async def test_bolt_hears_clicks_and_shortcuts(
    bolt: AsyncApp, control: Control, slack: AsyncWebClient, eventually: Eventually
) -> None:
    heard: list[str] = []

    @bolt.action("approve")
    async def approve(ack: AsyncAck, action: Json, body: dict[str, Any]) -> None:
        await ack()
        heard.append(f"{action['value']} by {body['user']['id']}")

    @bolt.shortcut("explain")
    async def explain(ack: AsyncAck, shortcut: Json) -> None:
        await ack()
        heard.append(shortcut["message"]["text"])

    button = {
        "type": "button",
        "text": {"type": "plain_text", "text": "Approve"},
        "action_id": "approve",
        "value": "run-1",
    }
    blocks = [{"type": "actions", "elements": [button]}]
    ts = (await slack.chat_postMessage(channel=INC, text="ok?", blocks=blocks))["ts"]
    await control("click", user="maya", channel=INC, ts=ts, action_id="approve")
    await control("shortcut", user="maya", channel=INC, ts=ts, callback_id="explain")
    await eventually(lambda: sorted(heard) == ["ok?", "run-1 by U0MAYA"])
