"""Notices: a person's only reply arrives once, also over a crash and where Slack does not take it."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from bench.slack_process import bot
from bot.playground import FaultRule, Running
from bot.playground.model import Message
from bot.playground.people import Draft
from bot.runs.dispatch import QueueLimits
from bot.runs.links import Links
from bot.slack.app import create_slack
from support.scripted import Lookup, forever
from support.slack_bench import (
    BOT,
    INC,
    QUESTION,
    Bench,
    bot_in,
    settings_for,
    shared_clock,
    until,
)

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
        assert tries <= 12  # ever more seldom
        await bench.pg.clock.advance(3_600)
        await bench.settled()
        assert len(bench.posted_to(INC)) == tries


async def test_a_notice_is_not_lost_with_the_connection_that_was_to_post_it(
    running: Running, tmp_path: Path
) -> None:
    """As when Slack's socket cannot be reached at first: the same process connects anew."""
    pg = running.playground
    hang(running, "hang_before")
    async with bot_in(running, tmp_path) as bench:
        asked = bench.say(user="gita")
        await bench.until(lambda: tried(running))
        await bench.slack.close(0.0)
        anew = await create_slack(
            settings_for(running),
            Links("k" * 40, "http://127.0.0.1:8410"),
            clock=shared_clock(pg.clock),
            sleep=pg.clock.sleep,
        )
        try:
            await anew.start(bench.service)
            await once(running, tmp_path, lambda: bench.thread(asked.ts), "you are a guest")
        finally:
            await anew.close(0.0)


async def test_a_notice_whose_end_could_not_be_stored_is_not_posted_again_and_is_ended_later(
    running: Running, tmp_path: Path
) -> None:
    async with bot_in(running, tmp_path) as bench:
        bench.fault("chat.postMessage", {"kind": "slow", "seconds": 5})
        asked = bench.say(user="gita")
        await bench.slow_call_waits()
        with closing(sqlite3.connect(tmp_path / "oncall.db")) as file:
            file.execute("ALTER TABLE notices RENAME TO broken")
            await bench.hurried_until(lambda: not bench.slack._tasks._tasks)
            file.execute("ALTER TABLE broken RENAME TO notices")
        assert kept(tmp_path) == 1
        await once(running, tmp_path, lambda: bench.thread(asked.ts), "you are a guest")
        assert len(bench.posted_to(INC)) == 1


async def test_a_whisper_that_slack_refuses_for_now_comes_once_it_takes_it(
    running: Running, tmp_path: Path
) -> None:
    settings = settings_for(running, stop_by="asker", debug_channel="")
    async with bot_in(running, tmp_path, tools=(Lookup(forever),), settings=settings) as bench:
        asked = bench.say()
        await bench.until(lambda: bench.reactions(asked.ts))
        bench.fault("chat.postEphemeral", {"kind": "api_error", "error": "token_expired"})
        bench.pg.people.react("jonas", INC, asked.ts, "octagonal_sign")
        await bench.hurried_until(lambda: len(bench.calls("chat.postEphemeral")) == 2)
        await bench.hurried_until(lambda: not kept(tmp_path))


@pytest.mark.parametrize("way", WAYS)
async def test_a_direct_message_that_newer_ones_follow_arrives_once_over_a_restart(
    running: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    monkeypatch.setattr("bot.slack.direct.PAGE", 2)
    people = running.playground.people
    message, _ = people.post("maya", "general", Draft(text="checkout is slow"))
    direct = people.direct("maya", "oncall").id
    hang(running, way)
    async with bot_in(running, tmp_path):
        people.shortcut("maya", "general", message.ts, "ask_about_this")
        await until(lambda: tried(running))
    for _ in range(5):
        people.post("maya", direct, Draft(text="help"))
    async with bot_in(running, tmp_path) as bench:
        await once(
            running,
            tmp_path,
            lambda: [m for m in bench.posts(direct) if m.thread_ts is None],
            "/invite @oncall",
        )


async def test_a_reply_that_may_be_out_is_looked_for_before_the_notices_that_may_be(
    running: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Slack lets an app search one thread a minute; nobody's answer waits for others' refusals."""
    monkeypatch.setattr("bot.runs.service.LINGER_SECONDS", 0.05)
    faults = running.playground.faults
    lost = {"method": "chat.postMessage", "channel": INC, "fault": {"kind": "hang_before"}}
    faults.add(FaultRule.model_validate({**lost, "times": None}))
    async with bot_in(running, tmp_path) as bench:
        refused = [bench.say(user="gita").ts for _ in range(4)]
        asked = bench.say().ts
        await bench.until(lambda: len(bench.posted_to(INC)) == 5)
    faults.clear()
    busy = {"method": "conversations.replies", "fault": {"kind": "rate_limited", "retry_after": 60}}
    faults.add(FaultRule.model_validate({**busy, "times": None}))
    async with bot_in(running, tmp_path) as bench:
        searches = bench.slack.surface.poster._searches
        await bench.until(lambda: len(searches._waiting) == 4)  # and one whose turn it is
        so_far = len(bench.calls("conversations.replies"))
        faults.clear()
        await bench.hurried_until(lambda: all(bench.thread(ts) for ts in (asked, *refused)))
        after = [args["ts"] for args in bench.calls("conversations.replies")[so_far:]]
        assert asked in after[:2]


async def test_a_notice_of_a_version_that_writes_others_is_kept_and_tried_ever_more_seldom(
    running: Running, tmp_path: Path
) -> None:
    hang(running, "hang_before")
    async with bot_in(running, tmp_path) as bench:
        asked = bench.say(user="gita")
        await bench.until(lambda: tried(running))
    with closing(sqlite3.connect(tmp_path / "oncall.db", isolation_level=None)) as file:
        (body,) = file.execute("SELECT body FROM notices").fetchone()
        file.execute("""UPDATE notices SET body = '{"words": "Hm."}'""")
        with capture_logs() as logs:
            async with bot_in(running, tmp_path) as bench:
                since = bench.pg.clock.now()
                async with asyncio.timeout(20):
                    while [log["event"] for log in logs].count("slack_task_failed") < 6:
                        await bench.pg.clock.advance(10)
                        await asyncio.sleep(0.005)
                assert bench.pg.clock.now() - since > 200  # a look is made every 30 s
                file.execute("UPDATE notices SET body = ?", (body,))
                await bench.pg.clock.advance(600)
                await once(running, tmp_path, lambda: bench.thread(asked.ts), "you are a guest")
