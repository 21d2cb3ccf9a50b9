"""Feedback: a click under an answer is kept with the run, and shown in its trace."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import httpx

from bot.loop.stopping import Clock
from bot.playground import Running
from bot.playground.model import Message
from bot.runs.feedback import Feedback, feedback_on, keep_feedback
from bot.runs.links import Links
from bot.slack.buttons import NOT_USEFUL, USEFUL
from bot.web.app import create_app
from support.slack_bench import BOT, INC, SHARED, Bench

LINKS = Links("k" * 40, "http://bot.test")


async def answered(bench: Bench, channel: str = INC) -> tuple[str, Message]:
    reply = await bench.reply(bench.say(channel=channel).ts, channel)
    (run,) = await bench.store.recent(1)
    return run.id, reply


async def click(bench: Bench, reply: Message, action: str, user: str = "maya") -> None:
    bench.pg.people.click(user, reply.channel, reply.ts, action)
    await bench.settled()


async def test_two_people_click_and_one_changes_their_mind_and_the_trace_shows_it(
    bench: Bench,
) -> None:
    run, reply = await answered(bench)
    await click(bench, reply, USEFUL)
    await click(bench, reply, USEFUL, "jonas")
    assert await feedback_on(bench.store, run) == Feedback(useful=2)
    await click(bench, reply, NOT_USEFUL, "jonas")
    assert await feedback_on(bench.store, run) == Feedback(useful=1, not_useful=1)
    await bench.until(lambda: len(bench.calls("chat.postEphemeral")) == 3)
    assert "Thank you" in bench.calls("chat.postEphemeral")[0]["text"]
    app = create_app(bench.store, LINKS, Clock())
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://b") as client:
        page = await client.get(LINKS.trace(run))
    assert "1 useful, 1 not useful" in page.text
    assert len(bench.posts(INC)) == 1, "thanks are no message in the channel"


async def test_guests_and_outsiders_have_no_say(bench: Bench) -> None:
    run, reply = await answered(bench)
    await click(bench, reply, USEFUL, "gita")
    other, shared = await answered(bench, SHARED)
    await click(bench, shared, NOT_USEFUL, "oskar")
    assert await feedback_on(bench.store, run) == Feedback()
    assert await feedback_on(bench.store, other) == Feedback()
    await bench.until(lambda: len(bench.calls("chat.postEphemeral")) == 2)
    assert "Only members" in bench.calls("chat.postEphemeral")[0]["text"]


async def test_a_click_that_names_another_run_than_its_own_message_s_counts_for_none(
    bench: Bench,
) -> None:
    _, first = await answered(bench)
    run, second = await answered(bench)
    stored = bench.pg.world.messages[INC]
    stored[first.ts] = replace(first, blocks=second.blocks)
    await click(bench, first, USEFUL)
    assert await feedback_on(bench.store, run) == Feedback()


async def test_notices_have_no_buttons(bench: Bench) -> None:
    help_ = await bench.reply(bench.say(f"<@{BOT}>").ts)
    assert [block["type"] for block in help_.blocks] == ["markdown"]


async def test_feedback_on_a_run_that_was_erased_is_kept_nowhere(
    bench: Bench, running: Running, tmp_path: Path
) -> None:
    run, reply = await answered(bench)
    await bench.store.erase(run)
    await click(bench, reply, USEFUL)
    now = bench.slack._web.clock.now()
    assert not await keep_feedback(bench.store, run, "U1", now, useful=True)
    assert await feedback_on(bench.store, run) == Feedback()
