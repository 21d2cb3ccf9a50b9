"""HTTP in place of Socket Mode: the same bot, on the web server of the traces; forgeries are refused."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from starlette.routing import Route

from bot.loop.stopping import Clock
from bot.playground import Running
from bot.playground.http_delivery import Signing
from bot.playground.log import Outcome, PayloadKind
from bot.playground.model import HttpDelivery
from bot.runs.feedback import Feedback, feedback_on
from bot.runs.links import Links
from bot.slack.buttons import USEFUL
from bot.slack.http import MAX_BODY, PATH, Requests
from bot.slack.settings import SlackSettings
from bot.web.app import create_app
from bot.web.server import WebServer, listen
from support.slack_bench import INC, Bench, bot_in, only_app, settings_for


@asynccontextmanager
async def over_http(running: Running, folder: Path) -> AsyncIterator[tuple[Bench, str]]:
    """A bot that Slack posts to, and the address that it posts to."""
    requests = Requests()
    settings = settings_for(
        running,
        transport="http",
        app_token=None,
        signing_secret=only_app(running.playground).signing_secret,
    )
    async with bot_in(running, folder, settings=settings, requests=requests) as bench:
        at = listen("127.0.0.1", 0)
        url = f"http://127.0.0.1:{at.getsockname()[1]}{PATH}"
        route = Route(PATH, requests.take, methods=["POST"])
        app = create_app(bench.store, Links("k" * 40, "http://b"), Clock(), more=(route,))
        server = WebServer(app, at)
        await server.start()
        bench.pg.people.change_app(None, lambda was: replace(was, delivery=HttpDelivery(url)))
        try:
            yield bench, url
        finally:
            await server.stop()


async def test_a_question_a_button_and_a_stop_arrive_over_http(
    running: Running, tmp_path: Path
) -> None:
    async with over_http(running, tmp_path) as (bench, _):
        assert await bench.slack.is_up()
        reply = await bench.reply(bench.say().ts)
        bench.pg.people.click("maya", INC, reply.ts, USEFUL)
        await bench.settled()
        (run,) = await bench.store.recent(1)
        assert await feedback_on(bench.store, run.id) == Feedback(useful=1)
        assert bench.pg.sockets.all() == []
        for delivery in bench.pg.outbox.deliveries():
            assert [attempt.outcome for attempt in delivery.attempts] == [Outcome.ACKED]


async def test_slack_s_retries_over_http_bring_one_reply(running: Running, tmp_path: Path) -> None:
    async with over_http(running, tmp_path) as (bench, url):
        asked = bench.say()
        await bench.reply(asked.ts)
        (event,) = asked.deliveries
        for number in range(1, 4):
            answer = await bench.pg.http.post(
                url,
                only_app(bench.pg).signing_secret,
                PayloadKind.EVENT,
                event.payload,
                retry={"x-slack-retry-num": str(number), "x-slack-retry-reason": "http_timeout"},
            )
            assert answer.outcome is Outcome.ACKED
        assert len(await bench.store.recent(5)) == 1
        await bench.reply(asked.ts)


@pytest.mark.parametrize("signing", [Signing.MISSING, Signing.WRONG, Signing.STALE])
async def test_a_request_that_slack_did_not_sign_just_now_is_refused_and_asks_nothing(
    running: Running, tmp_path: Path, signing: Signing
) -> None:
    async with over_http(running, tmp_path) as (bench, url):
        asked = bench.say()
        await bench.reply(asked.ts)
        payload = {**asked.deliveries[0].payload, "event_id": "Ev0FORGED"}
        payload["event"] = {**payload["event"], "ts": "1700000000.000100"}
        secret = only_app(bench.pg).signing_secret
        answer = await bench.pg.http.post(url, secret, PayloadKind.EVENT, payload, signing=signing)
        assert answer.status == 401
        assert len(await bench.store.recent(5)) == 1


async def test_slack_s_check_of_the_address_is_answered(running: Running, tmp_path: Path) -> None:
    async with over_http(running, tmp_path) as (bench, url):
        payload = {"type": "url_verification", "challenge": "c-123", "token": "t"}
        secret = only_app(bench.pg).signing_secret
        answer = await bench.pg.http.post(url, secret, PayloadKind.EVENT, payload)
        assert answer.status == 200
        assert answer.body == {"challenge": "c-123"} or answer.body is None


async def test_before_the_start_and_after_the_end_slack_is_told_to_come_again(
    running: Running, tmp_path: Path
) -> None:
    requests = Requests()
    route = Route(PATH, requests.take, methods=["POST"])
    async with over_http(running, tmp_path) as (bench, _):
        app = create_app(bench.store, Links("k" * 40, "http://b"), Clock(), more=(route,))
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://b") as client:
            assert (await client.post(PATH, content=b"{}")).status_code == 503


async def test_a_body_longer_than_slack_s_is_not_read(running: Running, tmp_path: Path) -> None:
    async with over_http(running, tmp_path) as (_, url), httpx.AsyncClient(trust_env=False) as it:
        async with asyncio.timeout(10):
            answer = await it.post(url, content=b"x" * (MAX_BODY + 1))
        assert answer.status_code == 413


def test_http_without_a_signing_secret_is_refused_when_settings_are_read() -> None:
    with pytest.raises(ValueError, match="needs signing_secret"):
        SlackSettings(bot_token="xoxb-1", transport="http")
    SlackSettings(bot_token="xoxb-1", transport="http", signing_secret="s")
