"""Asking without Slack: the form and its JSON, for those who have the link and nobody else."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from bot.loop.limits import Limits
from bot.loop.stopping import Clock
from bot.runs.dispatch import QueueLimits
from bot.runs.links import Links
from bot.runs.owner import Owner
from bot.runs.service import RunService, Workbench
from bot.web.app import create_app
from bot.web.asking import FORM_WAIT, MAX_BODY, AskPages, RunTold, WebSurface
from bot.web.client import BotAt
from bot.web.errors import ServerError
from bot.web.server import WebServer, listen
from runs.bench import LOOK_THEN_ANSWER, new_run, opened
from support.scripted import CATALOG, NOW, Lookup, NoRedaction, ScriptedModel, forever, toolbox
from tools.http import HttpClient

LINKS = Links("k" * 40, "http://bot.test")
FORM = LINKS.ask()


class Served:
    def __init__(self, client: httpx.AsyncClient, service: RunService, port: int) -> None:
        self.client = client
        self.service = service
        self.link = FORM.replace("http://bot.test", f"http://127.0.0.1:{port}")


@asynccontextmanager
async def served(
    folder: Path, *, hang: bool = False, running: int = 8, form_wait: float = FORM_WAIT
) -> AsyncIterator[Served]:
    """A bot with its pages on a real port."""
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(opened(folder / "oncall.db"))
        box = toolbox(Lookup(forever if hang else None))
        service = RunService(
            store=store,
            owner=stack.enter_context(Owner(folder / "owners")),
            surfaces=(WebSurface(),),
            model=lambda: ScriptedModel(*LOOK_THEN_ANSWER),
            workbench=lambda _: Workbench(box, CATALOG),
            redactor=NoRedaction,
            workspace="/shop",
            limits=Limits(),
            queue=QueueLimits(running=running, waiting=0),
            clock=Clock(),
        )
        at = listen("127.0.0.1", 0)
        port = at.getsockname()[1]
        pages = AskPages(service, LINKS, lambda: NOW, form_wait)
        server = WebServer(create_app(store, LINKS, Clock(), more=pages.routes()), at)
        await server.start()
        stack.push_async_callback(server.stop)
        stack.push_async_callback(service.close, 0.0)
        base = f"http://127.0.0.1:{port}"
        client = httpx.AsyncClient(trust_env=False, base_url=base)
        await stack.enter_async_context(client)
        yield Served(client, service, port)


def key_of(html: str) -> str:
    found = re.search(r'name="key" value="([\w-]+)"', html)
    assert found is not None
    return found[1]


async def test_a_question_typed_into_the_form_leads_to_the_page_of_its_answer(
    tmp_path: Path,
) -> None:
    async with served(tmp_path) as it:
        form = await it.client.get(it.link)
        assert "form-action 'self'" in form.headers["content-security-policy"]
        asked = {"question": " What was found? ", "key": key_of(form.text)}
        sent = await it.client.post(it.link, data=asked)
        assert sent.status_code == 303
        (run,) = await it.service.store.recent(5)
        await it.service.wait(run.id)
        page = await it.client.get(str(sent.url.join(sent.headers["location"])))
        assert page.status_code == 200
        assert "apples was found" in page.text
        assert run.question == "What was found?"
        again = await it.client.post(it.link, data=asked)
        assert again.headers["location"] == sent.headers["location"]
        assert len(await it.service.store.recent(5)) == 1, "sent twice is asked once"


async def test_a_quick_answer_is_on_the_page_that_the_form_leads_to_at_once(tmp_path: Path) -> None:
    async with served(tmp_path, form_wait=30) as it:
        sent = await it.client.post(it.link, data={"question": "What was found?", "key": "k" * 12})
        page = await it.client.get(str(sent.url.join(sent.headers["location"])))
    assert "apples was found" in page.text
    assert "http-equiv" not in page.text


async def test_a_slow_question_is_looked_at_again_each_second_while_it_is_young(
    tmp_path: Path,
) -> None:
    async with served(tmp_path, hang=True, form_wait=0.01) as it:
        sent = await it.client.post(it.link, data={"question": "What was found?", "key": "k" * 12})
        page = await it.client.get(str(sent.url.join(sent.headers["location"])))
    assert sent.status_code == 303
    assert '<meta http-equiv="refresh" content="1">' in page.text


async def test_the_ask_link_says_that_it_takes_a_form_and_a_question(tmp_path: Path) -> None:
    async with served(tmp_path) as it:
        wrong = await it.client.put(it.link)
        assert wrong.status_code == 405
        assert set(wrong.headers["allow"].split(", ")) == {"GET", "HEAD", "POST"}


@pytest.mark.parametrize("at", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59-14:00"])
async def test_a_question_asked_in_a_year_that_is_out_of_range_is_refused_in_words(
    tmp_path: Path, at: str
) -> None:
    async with served(tmp_path) as it:
        sent = await it.client.post(it.link, json={"question": "What was found?", "asked_at": at})
        assert sent.status_code == 422
        assert sent.json() == {"error": "asked_at: is outside of the years 1970 to 2999"}
        assert await it.service.store.recent(5) == ()


@pytest.mark.parametrize("question", ["", "   ", "x" * 9_000])
async def test_an_empty_or_endless_question_is_told_on_the_form(
    tmp_path: Path, question: str
) -> None:
    async with served(tmp_path) as it:
        sent = await it.client.post(it.link, data={"question": question, "key": "k" * 12})
        assert sent.status_code == 422
        told = re.search(r'role="alert">([^<]+)<', sent.text)
        assert told is not None
        assert told[1] == (
            "That is too long: a question has at most 4,000 characters."
            if question.strip()
            else "Write what you want to know."
        )
        assert await it.service.store.recent(5) == ()


async def test_without_the_link_there_is_no_form_and_no_run_can_be_asked_seen_or_stopped(
    tmp_path: Path,
) -> None:
    async with served(tmp_path) as it:
        await it.service.store.accept(run := new_run(), ())
        trace = LINKS.trace(run.id).rsplit("/", 1)[1]
        other = Links("n" * 40, "http://bot.test").ask().rsplit("/", 1)[1]
        for token in ("", "ask", trace, other):
            for path in (f"/ask/{token}", f"/ask/{token}/{run.id}", f"/ask/{token}/{run.id}/stop"):
                sent = await it.client.post(path, json={"question": "What was found?"})
                assert sent.status_code == 404, path
            assert (await it.client.get(f"/ask/{token}")).status_code == 404
        assert (await it.client.post(f"{it.link}/{run.id}")).status_code == 404, "not asked here"
        assert (await it.client.post(f"{it.link}/{run.id}/stop")).status_code == 404
        assert len(await it.service.store.recent(5)) == 1


async def test_a_program_that_asks_nothing_but_blanks_is_told_so(tmp_path: Path) -> None:
    async with served(tmp_path) as it:
        sent = await it.client.post(it.link, json={"question": " \n "})
        assert sent.status_code == 422
        assert "Write what you want to know." in sent.json()["error"]
        assert await it.service.store.recent(5) == ()


async def test_a_body_of_any_size_is_refused_and_hurts_nobody(tmp_path: Path) -> None:
    async with served(tmp_path) as it:
        sent = await it.client.post(it.link, json={"question": "x" * MAX_BODY})
        assert sent.status_code == 422
        assert "error" in sent.json()


async def test_a_full_queue_and_a_closing_bot_say_to_ask_again(tmp_path: Path) -> None:
    async with served(tmp_path, hang=True, running=1) as it:
        there = BotAt(HttpClient(), it.link)
        await there.ask({"question": "What was found?"})
        with pytest.raises(ServerError, match="Too many questions"):
            await there.ask({"question": "What else?"})
        await it.service.close(0.0)
        with pytest.raises(ServerError, match="being restarted"):
            await there.ask({"question": "And now?"})
        await there.http.close()


async def test_a_terminal_asks_waits_and_gets_the_whole_outcome(tmp_path: Path) -> None:
    async with served(tmp_path) as it, HttpClient() as http:
        there = BotAt(http, it.link)
        told = await there.ended(await there.ask({"question": "What was found?"}))
        assert told.outcome is not None
        assert told.outcome.kind == "answer"
        assert told.trace.startswith("http://bot.test/t/")


async def test_a_terminal_s_stop_ends_the_run_there(tmp_path: Path) -> None:
    async with served(tmp_path, hang=True) as it, HttpClient() as http:
        there = BotAt(http, it.link)
        run = await there.ask({"question": "What was found?"})
        waiting = asyncio.create_task(there.ended(run))
        await there.stop(run)
        told: RunTold = await asyncio.wait_for(waiting, 5)
        assert told.outcome is not None
        assert told.outcome.kind == "failure"


@asynccontextmanager
async def answering(*routes: Route) -> AsyncIterator[str]:
    """The ask link of a server that answers as these routes do."""
    at = listen("127.0.0.1", 0)
    app = Starlette(routes=list(routes))
    app.state.ended = asyncio.Event()
    server = WebServer(app, at)
    await server.start()
    try:
        yield f"http://127.0.0.1:{at.getsockname()[1]}/ask/x"
    finally:
        app.state.ended.set()
        await server.stop()


async def says_nothing(request: Request) -> JSONResponse:
    await request.app.state.ended.wait()
    return JSONResponse({})


async def test_a_run_that_never_ends_is_given_up_with_what_to_look_at(tmp_path: Path) -> None:
    async with served(tmp_path, hang=True) as it, HttpClient() as http:
        begun = await BotAt(http, it.link).ask({"question": "What was found?"})
    assert begun.longest_seconds == 120 + 60
    endless = begun.model_copy(update={"longest_seconds": 0.1})

    async def still_at_work(request: Request) -> JSONResponse:
        return JSONResponse(endless.model_dump(mode="json"))

    for handler in (still_at_work, says_nothing):
        async with (
            answering(Route("/ask/x/{run}", handler, methods=["POST"])) as link,
            HttpClient() as http,
        ):
            there = BotAt(http, link, restart_seconds=0.1)
            with pytest.raises(ServerError, match="did not end within") as caught:
                await asyncio.wait_for(there.ended(endless), 10)
            assert endless.trace in str(caught.value)


async def test_a_bot_that_takes_the_question_and_says_nothing_is_given_up() -> None:
    async with (
        answering(Route("/ask/x", says_nothing, methods=["POST"])) as link,
        HttpClient() as http,
    ):
        there = BotAt(http, link, request_seconds=0.1)
        with pytest.raises(ServerError, match="did not answer within"):
            await asyncio.wait_for(there.ask({"question": "What was found?"}), 10)


async def test_the_same_question_is_taken_once_the_queue_has_room_again(tmp_path: Path) -> None:
    async with served(tmp_path, hang=True, running=1) as it, HttpClient() as http:
        there = BotAt(http, it.link)
        first = await there.ask({"question": "What was found?", "key": "first-key"})
        again = {"question": "What else?", "key": "second-key"}
        for _ in range(2):
            with pytest.raises(ServerError, match="Too many questions"):
                await there.ask(again)
        await there.stop(first)
        await there.ended(first)
        taken = await there.ask(again)
        assert (await there.ask(again)).run == taken.run, "asked twice, taken once"


@pytest.mark.parametrize(
    ("link", "words"),
    [
        ("http://127.0.0.1:9/ask/x", "is the bot there running"),
        ("{base}/ask/wrong", "does not know this ask link"),
        ("{base}/health", "answers with HTTP|does not know"),
    ],
)
async def test_what_does_not_work_is_said_with_what_to_do(
    tmp_path: Path, link: str, words: str
) -> None:
    async def at_once(seconds: float) -> None:
        del seconds

    async with served(tmp_path) as it, HttpClient() as http:
        base = it.link.split("/ask/", maxsplit=1)[0]
        there = BotAt(http, link.format(base=base), at_once)
        with pytest.raises(ServerError, match=words):
            await there.ask({"question": "What was found?"})


def test_the_ask_link_is_no_trace_link_and_a_trace_link_is_no_ask_link() -> None:
    token: Any = FORM.rsplit("/", 1)[1]
    assert LINKS.may_ask(token)
    assert LINKS.run_of(token) is None
    assert not LINKS.may_ask(LINKS.trace("ask").rsplit("/", 1)[1])
