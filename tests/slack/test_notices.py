"""Notices: a person's only reply arrives once, also over a crash and where Slack does not take it."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from bot.playground import FaultRule, Running
from bot.playground.model import Message
from bot.playground.people import Draft
from bot.runs.dispatch import QueueLimits
from support.scripted import Lookup, forever
from support.slack_bench import BOT, INC, QUESTION, Bench, bot_in, settings_for, until
from support.slack_process import bot

WAYS = ["hang_before", "hang_after"]
"""Slack has not taken the post when the bot dies, or has taken it and not said so."""


def kept(folder: Path) -> int:
    with closing(sqlite3.connect(folder / "oncall.db")) as connection:
        (count,) = connection.execute("SELECT count(*) FROM notices").fetchone()
        return int(count)


def hang(running: Running, way: str) -> None:
    rule = {"method": "chat.postMessage", "fault": {"kind": way}}
    running.playground.faults.add(FaultRule.model_validate(rule))


def tried(running: Running) -> bool:
    return any(c.method == "chat.postMessage" for c in running.playground.calls.calls())


async def once(
    running: Running, folder: Path, there: Callable[[], Sequence[Message]], words: str
) -> None:
    """It is posted, nothing of it is left to do, and it stands there once."""
    async with asyncio.timeout(20):
        while kept(folder) or not there():
            await running.playground.clock.advance(0.5)
            await asyncio.sleep(0.01)
    (only,) = there()
    assert words in only.text


async def test_a_refusal_arrives_after_the_bot_was_killed_before_slack_took_it(
    running: Running, tmp_path: Path
) -> None:
    pg = running.playground
    hang(running, "hang_before")
    async with bot(running, tmp_path):
        asked, _ = pg.people.post("gita", INC, Draft(text=QUESTION))
        await until(lambda: tried(running))

    def there() -> list[Message]:
        return [m for m in pg.world.messages[INC].values() if m.user == BOT]

    async with bot(running, tmp_path):
        await once(running, tmp_path, there, "you are a guest")
    assert there()[0].thread_ts == asked.ts


@pytest.mark.parametrize("way", WAYS)
async def test_a_refusal_arrives_once_over_a_restart(
    running: Running, tmp_path: Path, way: str
) -> None:
    hang(running, way)
    async with bot_in(running, tmp_path) as bench:
        asked = bench.say(user="gita")
        await until(lambda: tried(running))
    async with bot_in(running, tmp_path) as bench:
        await once(running, tmp_path, lambda: bench.posts(INC), "you are a guest")
        assert len(bench.thread(asked.ts)) == 1


@pytest.mark.parametrize("way", WAYS)
async def test_a_direct_message_where_the_bot_is_no_member_arrives_once_over_a_restart(
    running: Running, tmp_path: Path, way: str
) -> None:
    people = running.playground.people
    message, _ = people.post("maya", "general", Draft(text="checkout is slow"))
    direct = people.direct("maya", "oncall").id
    hang(running, way)
    async with bot_in(running, tmp_path):
        people.shortcut("maya", "general", message.ts, "ask_about_this")
        await until(lambda: tried(running))
    async with bot_in(running, tmp_path) as bench:
        await once(running, tmp_path, lambda: bench.posts(direct), "/invite @oncall")


async def test_who_was_not_told_that_the_queue_is_full_is_told_after_a_restart(
    running: Running, tmp_path: Path
) -> None:
    queue = QueueLimits(running=1, waiting=0)
    async with bot_in(running, tmp_path, tools=(Lookup(forever),), queue=queue) as bench:
        first = bench.say()
        await bench.until(lambda: bench.reactions(first.ts))
        await bench.until(lambda: tried(running))  # thoughts are shown
        bench.fault("chat.postMessage", {"kind": "hang_before"}, channel=INC)
        late = bench.say()
        await bench.until(lambda: bench.posted_to(INC))
    async with bot_in(running, tmp_path) as bench:
        await once(running, tmp_path, lambda: bench.thread(late.ts), "too many questions")


async def test_who_may_not_stop_a_question_is_told_so_after_a_restart_as_well(
    running: Running, tmp_path: Path
) -> None:
    settings = settings_for(running, stop_by="asker", debug_channel="")
    async with bot_in(running, tmp_path, tools=(Lookup(forever),), settings=settings) as bench:
        asked = bench.say()
        await bench.until(lambda: bench.reactions(asked.ts))
        bench.fault("chat.postEphemeral", {"kind": "hang_before"})
        bench.pg.people.react("jonas", INC, asked.ts, "octagonal_sign")
        await bench.until(lambda: bench.calls("chat.postEphemeral"))
    async with bot_in(running, tmp_path, settings=settings) as bench:
        await bench.until(lambda: not kept(tmp_path))
        _, told = bench.calls("chat.postEphemeral")
        assert (told["user"], told["thread_ts"]) == ("U0JONAS", asked.ts)
        assert "only the one who asked" in told["text"]


async def test_a_refusal_is_not_taken_for_an_earlier_one_about_the_same_message_over_a_restart(
    running: Running, tmp_path: Path
) -> None:
    people = running.playground.people
    message, _ = people.post("maya", INC, Draft(text="checkout is slow"))
    async with bot_in(running, tmp_path) as bench:
        people.shortcut("gita", INC, message.ts, "ask_about_this")
        await bench.until(lambda: bench.thread(message.ts))
        hang(running, "hang_before")
        people.shortcut("gita", INC, message.ts, "ask_about_this")
        await bench.until(lambda: len(bench.posted_to(INC)) == 2)
    async with bot_in(running, tmp_path) as bench:
        async with asyncio.timeout(20):
            while kept(tmp_path):
                await bench.pg.clock.advance(0.5)
                await asyncio.sleep(0.01)
        assert len(bench.thread(message.ts)) == 2


async def test_a_notice_that_slack_refuses_is_posted_once_it_takes_it(bench: Bench) -> None:
    bench.fault("chat.postMessage", {"kind": "api_error", "error": "not_authed"}, times=2)
    asked = bench.say(user="gita")
    await bench.until(lambda: bench.posted_to(INC))
    assert bench.thread(asked.ts) == []
    async with asyncio.timeout(20):
        while not bench.thread(asked.ts):
            await bench.pg.clock.advance(15)
            await asyncio.sleep(0.01)
    assert len(bench.posted_to(INC)) == 3


async def test_a_notice_that_slack_refuses_for_an_hour_is_given_up(
    running: Running, tmp_path: Path
) -> None:
    async with bot_in(running, tmp_path) as bench:
        fault = {"kind": "api_error", "error": "not_authed"}
        bench.fault("chat.postMessage", fault, times=None)
        bench.say(user="gita")
        await bench.until(lambda: kept(tmp_path))
        async with asyncio.timeout(20):
            while kept(tmp_path):
                await bench.pg.clock.advance(120)
                await asyncio.sleep(0.01)
        tries = len(bench.posted_to(INC))
        await bench.pg.clock.advance(3_600)
        await bench.settled()
        assert len(bench.posted_to(INC)) == tries
