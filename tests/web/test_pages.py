"""The trace page over HTTP: what it shows, to whom, and that it trusts no text."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from bot.loop.limits import Limits
from bot.loop.stopping import Clock
from bot.loop.wire import ModelError, ModelErrorKind
from bot.runs.links import Links
from bot.runs.records import RunRecord
from bot.runs.service import Accepted
from bot.web.app import create_app
from bot.web.server import AddressError, WebServer, listen
from bot.web.trace import trace_view
from runs.bench import Channel, ask, new_run, opened, serving
from support.scripted import (
    Lookup,
    ScriptedModel,
    answer,
    called,
    found,
    turn,
)
from tools.base import ToolError

LINKS = Links("k" * 40, "http://bot.test")
HOSTILE = '<script>alert("pwned")</script><img src=x onerror=alert(1)> & `ok`'


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "oncall.db"


@asynccontextmanager
async def browsing(database: Path, links: Links = LINKS) -> AsyncIterator[httpx.AsyncClient]:
    async with opened(database) as store:
        app = create_app(store, links, Clock())
        transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://bot.test") as client:
            yield client


async def run_of(database: Path, *plays: Any, text: str = "What was found?", **more: Any) -> str:
    async def look(arguments: Any, context: Any) -> Any:
        if arguments.what == "broken":
            raise ToolError(f"no such thing: {HOSTILE}")
        return found(f"{arguments.what} was found {HOSTILE}\n" + "one more line\n" * 600)

    channel = Channel()
    async with serving(
        database,
        channel,
        Lookup(look),
        model=lambda: ScriptedModel(*plays),
        limits=Limits(model_retries=0),
    ) as service:
        taken = await service.accept(ask(text=text, thread=(f"earlier: {HOSTILE}",)))
        assert isinstance(taken, Accepted)
        await service.wait(taken.run.id)
        return taken.run.id


ANSWERED = (
    turn(called("lookup", {"what": "apples"}), text=f"I will look. {HOSTILE}", tokens=1_804),
    turn(answer("apples was found", ("apples was found", ["o1"]))),
)


async def test_the_page_of_an_answer_shows_question_reply_steps_and_facts(database: Path) -> None:
    run = await run_of(database, *ANSWERED)
    async with browsing(database) as client:
        page = await client.get(LINKS.trace(run))
    assert page.status_code == 200
    html = page.text
    for shown in (
        "What was found?",
        "apples was found (confidence: high)",
        '<a class="mark" href="#o1">[1]</a>',
        'id="o1"',
        "think",
        "act",
        "observe",
        '<span class="state answered">answered</span>',
        "1,804 tokens in",
        "finish tool_use",
        "lookup",
        "<dt>what</dt><dd>apples</dd>",
        "the whole observation",
        "scripted",
        run,
        "max_steps",
        "2026-11-29 02:14:00 UTC",
    ):
        assert shown in html, shown
    assert '"state stopped"' not in html, "an answered run does not read as one that was stopped"


async def test_an_answer_that_nothing_backs_fails_in_plain_words_and_the_trace_says_why(
    database: Path,
) -> None:
    invented = turn(answer("Deploy 9999 did it", ("Deploy 9999 finished 01:44 UTC", ["o1"])))
    run = await run_of(
        database, turn(called("lookup", {"what": "apples"})), invented, invented, text="What?"
    )
    async with browsing(database) as client:
        html = (await client.get(LINKS.trace(run))).text
    reply, _, trace = html.partition("<h2>Steps</h2>")
    assert "No answer. What was written could not be backed by what the tools returned." in reply
    assert "Check next: Open the trace, and ask again" in reply
    assert "claim 1" not in reply
    assert "claim 1: " in trace
    assert '<span class="state stopped">stopped</span>' in trace


async def test_no_text_of_others_becomes_markup(database: Path) -> None:
    run = await run_of(database, *ANSWERED, text=f"What was found? {HOSTILE}")
    async with browsing(database) as client:
        html = (await client.get(LINKS.trace(run))).text
    assert re.findall("<script[^>]*>", html) == ['<script src="/static/copy.js" defer>']
    assert "<img" not in html
    assert "&lt;script&gt;" in html


async def test_the_page_of_a_failure_shows_why_what_was_established_and_what_to_check(
    database: Path,
) -> None:
    run = await run_of(
        database,
        turn(called("lookup", {"what": "apples"}), called("lookup", {"what": "broken"})),
        ModelError(ModelErrorKind.AUTH, f"401 {HOSTILE}"),
    )
    async with browsing(database) as client:
        html = (await client.get(LINKS.trace(run))).text
    for shown in (
        "No answer. The language model could not be reached.",
        "What was established",
        "Check next:",
        "no such thing",
        'class="status error"',
        "(auth): 401",
        "model_unavailable",
    ):
        assert shown in html, shown
    assert html.count("<script") == 1


async def test_a_run_at_work_says_so_and_its_page_reloads(database: Path) -> None:
    async with opened(database) as store:
        run: RunRecord = new_run()
        await store.accept(run, ())
    async with browsing(database) as client:
        html = (await client.get(LINKS.trace(run.id))).text
    assert "Waiting for its turn." in html
    assert 'http-equiv="refresh"' in html
    assert "It is written once the run has ended." in html
    assert "Copy the postmortem" not in html
    assert "<script" not in html


@pytest.mark.parametrize(("age", "seconds"), [(0, 1), (5, 2), (29, 2), (30, 5), (3_600, 5)])
def test_the_longer_a_run_is_at_work_the_less_often_its_page_looks(age: int, seconds: int) -> None:
    run = new_run()
    now = run.accepted_at + timedelta(seconds=age)
    assert trace_view(run, (), {}, "", now).reload_seconds == seconds


async def test_only_the_signed_link_opens_a_trace_and_a_new_key_voids_it(database: Path) -> None:
    run = await run_of(database, *ANSWERED)
    link = LINKS.trace(run)
    async with browsing(database) as client:
        for wrong in (f"/t/{run}", f"{link}x", link[:-2], "/t/", "/t/x/y", "/traces", "/t/%00"):
            page = await client.get(wrong)
            assert page.status_code == 404, wrong
            assert "This link leads to no trace" in page.text
            assert run not in page.text
    async with browsing(database, Links("n" * 40, "http://bot.test")) as client:
        assert (await client.get(link)).status_code == 404


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("POST", "/", "GET, HEAD"),
        ("POST", "/t/wrong", "GET, HEAD"),
        ("DELETE", "/health", "GET, HEAD"),
        ("PUT", "/static/style.css", "GET, HEAD"),
    ],
)
async def test_a_request_of_the_wrong_kind_is_told_which_kinds_are_taken(
    database: Path, method: str, path: str, allowed: str
) -> None:
    async with browsing(database) as client:
        page = await client.request(method, path)
    assert page.status_code == 405
    assert set(page.headers["allow"].split(", ")) == set(allowed.split(", "))
    assert f"takes no {method} request" in page.text


async def test_a_browser_finds_the_icon_that_it_asks_for(database: Path) -> None:
    async with browsing(database) as client:
        linked = re.search(r'<link rel="icon" href="([^"]+)"', (await client.get("/")).text)
        assert linked is not None
        for path in (linked[1], "/favicon.ico"):
            icon = await client.get(path)
            assert icon.status_code == 200
            assert icon.headers["content-type"].startswith("image/svg+xml")


async def test_an_erased_runs_link_leads_nowhere(database: Path) -> None:
    run = await run_of(database, *ANSWERED)
    async with opened(database) as store:
        await store.erase(run)
    async with browsing(database) as client:
        assert (await client.get(LINKS.trace(run))).status_code == 404


async def test_every_response_is_private_and_loads_nothing_from_elsewhere(database: Path) -> None:
    run = await run_of(database, *ANSWERED)
    async with browsing(database) as client:
        for path in ("/", LINKS.trace(run), "/t/wrong", "/health", "/static/style.css"):
            headers = (await client.get(path)).headers
            assert headers["cache-control"] == "no-store"
            assert headers["referrer-policy"] == "no-referrer"
            assert headers["x-robots-tag"] == "noindex, nofollow"
            assert headers["x-content-type-options"] == "nosniff"
            policy = headers["content-security-policy"]
            assert "default-src 'none'" in policy
            ours = "script-src 'self'" if path == LINKS.trace(run) else ""
            assert "".join(re.findall("script-src[^;]*", policy)) == ours
            assert "frame-ancestors 'none'" in policy
        html = (await client.get(LINKS.trace(run))).text
    assert set(re.findall(r'(?:src|href)="([^"#][^"]*)"', html)) == {
        "/static/style.css",
        "/static/favicon.svg",
        "/static/copy.js",
    }
    assert "style=" not in html


async def test_health_is_about_the_process_and_ready_about_the_store(database: Path) -> None:
    async with browsing(database) as client:
        assert (await client.get("/health")).json() == {"status": "ok"}
        assert (await client.get("/ready")).json() == {"status": "ready"}
        with closing(sqlite3.connect(database)) as connection:
            connection.execute("DROP TABLE runs")
        unready = await client.get("/ready")
        assert unready.status_code == 503
        assert "no such table" in unready.json()["reason"]
        assert (await client.get("/health")).status_code == 200
        page = await client.get(LINKS.trace("01ABC"))
        assert page.status_code == 503
        assert "Not available now" in page.text


async def test_a_fault_in_making_a_page_is_said_in_private_and_tells_nothing_of_itself(
    database: Path,
) -> None:
    run = await run_of(database, *ANSWERED)
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("UPDATE blobs SET body = x'00'")
        connection.commit()
    async with browsing(database) as client:
        page = await client.get(LINKS.trace(run))
    assert page.status_code == 500
    assert "A fault inside the bot" in page.text
    assert "Error" not in page.text
    assert page.headers["cache-control"] == "no-store"
    assert "default-src 'none'" in page.headers["content-security-policy"]


async def test_no_text_of_others_turns_the_letters_around_it(database: Path) -> None:
    turning = "safe\u202e)live(\u2066"
    run = await run_of(database, *ANSWERED, text=f"What was found? {turning}")
    async with browsing(database) as client:
        html = (await client.get(LINKS.trace(run))).text
    assert "safe\ufffd)live(\ufffd" in html
    assert "\u202e" not in html
    assert "&lt;script&gt;" in html
    assert "&amp;lt;" not in html


async def test_the_pages_are_served_on_a_real_socket_and_end_when_told(database: Path) -> None:
    async with opened(database) as store:
        at = listen("127.0.0.1", 0)
        port = at.getsockname()[1]
        server = WebServer(create_app(store, LINKS, Clock()), at)
        await server.start()
        async with httpx.AsyncClient(trust_env=False) as client:
            page = await client.get(f"http://127.0.0.1:{port}/")
        assert "oncall-bot ask" in page.text
        with pytest.raises(AddressError, match=rf"127\.0\.0\.1:{port} .*set web\.port"):
            listen("127.0.0.1", port)
        await server.stop()
        listen("127.0.0.1", port).close()
