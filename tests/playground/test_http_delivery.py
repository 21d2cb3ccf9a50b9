"""HTTP mode: signed requests to a request URL, and Slack's retries of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from urllib.parse import parse_qs

import pytest
from aiohttp import web
from slack_bolt.async_app import AsyncApp
from slack_sdk.signature import SignatureVerifier
from slack_sdk.web.async_client import AsyncWebClient

from bot.playground import Playground, Running
from playground.harness import Control, Eventually, Json

SECRET = "playground-signing-secret"


@dataclass
class Receiver:
    """A request URL that notes what comes and answers what it is told."""

    url: str = ""
    requests: list[tuple[Mapping[str, str], str]] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)
    no_retry: bool = False
    hanging: asyncio.Event | None = None

    async def handle(self, request: web.Request) -> web.Response:
        body = await request.text()
        if body.startswith("{") and "challenge" in (event := json.loads(body)):
            return web.json_response({"challenge": event["challenge"]})
        self.requests.append((dict(request.headers), body))
        if self.hanging is not None:
            await self.hanging.wait()
        status = self.statuses.pop(0) if self.statuses else 200
        headers = {"x-slack-no-retry": "1"} if self.no_retry else {}
        return web.Response(status=status, headers=headers)


@pytest.fixture
async def receiver(control: Control) -> AsyncIterator[Receiver]:
    receiver = Receiver()
    app = web.Application()
    app.router.add_post("/slack/events", receiver.handle)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    receiver.url = f"http://127.0.0.1:{runner.addresses[0][1]}/slack/events"
    await control("delivery", to={"mode": "http", "url": receiver.url})
    yield receiver
    if receiver.hanging is not None:
        receiver.hanging.set()
    await runner.cleanup()


async def test_an_event_is_posted_signed_and_without_retry_headers(
    receiver: Receiver, control: Control, pg: Playground, eventually: Eventually
) -> None:
    await control.ask()
    await eventually(lambda: pg.outbox.deliveries()[0].state == "acked")
    ((headers, body),) = receiver.requests
    assert SignatureVerifier(SECRET).is_valid_request(
        body, {k.lower(): v for k, v in headers.items()}
    )
    lowered = {key.lower() for key in headers}
    assert "x-slack-retry-num" not in lowered
    assert json.loads(body)["event"]["type"] == "app_mention"


async def test_refused_events_come_again_at_0_60_and_300_seconds(
    receiver: Receiver, control: Control, pg: Playground, eventually: Eventually
) -> None:
    receiver.statuses = [500, 500, 500, 500]
    began = pg.clock.now()
    await control.ask()

    def refused(times: int) -> bool:
        attempts = pg.outbox.deliveries()[0].attempts
        return (
            len(receiver.requests) >= times
            and len(attempts) >= times
            and attempts[-1].outcome == "http_error"
        )

    for count, seconds in ((2, 60), (3, 300), (4, 0)):
        await eventually(partial(refused, count))
        await control("advance", seconds=seconds)
    await eventually(lambda: pg.outbox.deliveries()[0].state == "gave_up")
    retries = [
        (headers.get("x-slack-retry-num"), headers.get("x-slack-retry-reason"))
        for headers, _ in receiver.requests
    ]
    assert retries == [(None, None), ("1", "http_error"), ("2", "http_error"), ("3", "http_error")]
    attempts = pg.outbox.deliveries()[0].attempts
    assert [round(a.at - began) for a in attempts] == [0, 0, 60, 360]


async def test_a_receiver_that_takes_longer_than_three_seconds_is_a_timeout(
    receiver: Receiver, control: Control, pg: Playground, eventually: Eventually
) -> None:
    receiver.hanging = asyncio.Event()
    await control.ask()
    await eventually(lambda: len(receiver.requests) == 1)
    await control("advance", seconds=3)
    await eventually(lambda: len(receiver.requests) == 2)
    headers, _ = receiver.requests[1]
    assert (headers["x-slack-retry-num"], headers["x-slack-retry-reason"]) == ("1", "http_timeout")


async def test_a_receiver_can_refuse_retries(
    receiver: Receiver, control: Control, pg: Playground, eventually: Eventually
) -> None:
    receiver.statuses, receiver.no_retry = [500], True
    await control.ask()
    await eventually(lambda: pg.outbox.deliveries()[0].state == "gave_up")
    assert len(receiver.requests) == 1


async def test_a_click_is_posted_as_a_form_and_once(
    receiver: Receiver,
    control: Control,
    slack: AsyncWebClient,
    pg: Playground,
    eventually: Eventually,
) -> None:
    button = {"type": "button", "text": {"type": "plain_text", "text": "Go"}, "action_id": "go"}
    ts = (
        await slack.chat_postMessage(
            channel="C0INCCHECK", text="?", blocks=[{"type": "actions", "elements": [button]}]
        )
    )["ts"]
    receiver.statuses = [500]
    await control("click", user="maya", channel="inc-checkout", ts=ts, action_id="go")
    await eventually(lambda: pg.outbox.deliveries()[-1].state == "gave_up")
    ((headers, body),) = receiver.requests
    assert SignatureVerifier(SECRET).is_valid_request(
        body, {key.lower(): value for key, value in headers.items()}
    )
    payload = json.loads(parse_qs(body)["payload"][0])
    assert payload["actions"][0]["action_id"] == "go"


async def test_a_url_that_does_not_answer_the_challenge_is_not_taken(
    control: Control, running: Running
) -> None:
    refused = await control.refused("delivery", to={"mode": "http", "url": running.url})
    assert "url_verification" in refused["message"]


async def test_bolt_refuses_what_is_unsigned_stale_or_wrongly_signed(
    control: Control, running: Running, eventually: Eventually
) -> None:
    heard: list[str] = []
    app = AsyncApp(
        token="xoxb-playground-oncall", signing_secret=SECRET, process_before_response=True
    )
    app.client.base_url = running.api_url

    @app.event("app_mention")
    async def mention(event: Json) -> None:
        heard.append(event["ts"])

    server = web.AppRunner(app.web_app(path="/slack/events"))
    await server.setup()
    await web.TCPSite(server, "127.0.0.1", 0).start()
    url = f"http://127.0.0.1:{server.addresses[0][1]}/slack/events"
    try:
        await control("delivery", to={"mode": "http", "url": url})
        ts = await control.ask()
        await eventually(lambda: heard == [ts])
        for signing in ("missing", "stale", "wrong"):
            answer = await control("http_deliver", id="D000001", url=url, signing=signing)
            assert answer["status"] == 401
        assert heard == [ts]
        answer = await control("http_deliver", id="D000001", url=url, signing="valid")
        assert answer["status"] == 200
        assert heard == [ts, ts]
    finally:
        await server.cleanup()
