"""Slack gives no order: a stop that is handled before its question stops it when it comes (M25)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from bot.loop.limits import StopReason
from bot.loop.outcome import Failure
from bot.playground import Running
from bot.playground.log import DeliveryState
from bot.playground.model import Message
from support.scripted import Lookup, found
from support.slack_bench import BOT, INC, QUESTION, SHARED, Bench, answering, bot_in, settings_for

STOP = "octagonal_sign"


@dataclass
class Late:
    """A bot, and messages to it that Slack delivers when the test says so."""

    bench: Bench
    tool: Lookup
    works: asyncio.Event

    def unheard(self, text: str = QUESTION, **more: Any) -> Message:
        people = self.bench.pg.people
        before = people.app().events
        people.change_app(None, lambda app: replace(app, events=()))
        message = self.bench.say(text, **more).message
        people.change_app(None, lambda app: replace(app, events=before))
        return message

    def react(self, user: str, ts: str) -> None:
        self.bench.pg.people.react(user, INC, ts, STOP)

    async def handled(self) -> None:
        await self.bench.until(
            lambda: all(
                d.state is not DeliveryState.PENDING for d in self.bench.pg.outbox.deliveries()
            )
        )

    def deliver(self, message: Message) -> None:
        self.bench.pg.events.posted(message)

    async def is_stopped(self, ts: str, by: str) -> None:
        reply = await self.bench.reply(ts)
        assert f"Stopped by {by}." in reply.blocks[0]["text"]
        (run,) = await self.bench.store.recent(5)
        assert isinstance(run.outcome, Failure)
        assert run.outcome.reason is StopReason.ABORTED
        assert self.tool.ran == []

    async def is_answered(self, ts: str) -> None:
        assert "apples was found" in (await self.bench.reply(ts)).blocks[0]["text"]


@asynccontextmanager
async def late_in(running: Running, folder: Path, **more: Any) -> AsyncIterator[Late]:
    works = asyncio.Event()
    works.set()

    async def look(arguments: Any, context: Any) -> Any:
        del context
        await works.wait()
        return found(f"{arguments.what} was found")

    tool = Lookup(look)
    async with bot_in(running, folder, model=answering, tools=(tool,), **more) as bench:
        yield Late(bench, tool, works)


@pytest.fixture
async def late(running: Running, tmp_path: Path) -> AsyncIterator[Late]:
    async with late_in(running, tmp_path) as late:
        yield late


@pytest.mark.parametrize("user", ["maya", "jonas"])
async def test_a_stop_emoji_that_comes_before_its_question_stops_it(late: Late, user: str) -> None:
    asked = late.unheard()
    late.react(user, asked.ts)
    await late.handled()
    late.deliver(asked)
    await late.is_stopped(asked.ts, {"maya": "Maya Lindqvist", "jonas": "Jonas Weber"}[user])


async def test_words_that_come_before_the_question_of_their_thread_stop_it(late: Late) -> None:
    asked = late.unheard()
    late.bench.say(f"<@{BOT}> stop", user="jonas", thread=asked.ts)
    await late.handled()
    late.deliver(asked)
    await late.bench.until(lambda: len(late.bench.thread(asked.ts)) == 2)
    told, reply = late.bench.thread(asked.ts)
    assert told.text.startswith("Nothing is running in this thread")
    assert "Stopped by Jonas Weber." in reply.blocks[0]["text"]
    assert late.tool.ran == []


async def test_a_question_asked_after_the_words_in_its_thread_is_answered(late: Late) -> None:
    alert = next(m for m in late.bench.pg.world.top_level(INC) if m.bot_id == "B0ALERTS")
    late.bench.say(f"<@{BOT}> stop", thread=alert.ts)
    await late.handled()
    late.bench.say(thread=alert.ts)
    await late.bench.until(lambda: len(late.bench.thread(alert.ts)) == 2)
    assert "apples was found" in late.bench.thread(alert.ts)[1].blocks[0]["text"]


async def test_the_stop_is_kept_over_a_restart(running: Running, tmp_path: Path) -> None:
    async with late_in(running, tmp_path) as late:
        asked = late.unheard()
        late.react("jonas", asked.ts)
        await late.handled()
    async with late_in(running, tmp_path) as late:
        late.deliver(asked)
        await late.is_stopped(asked.ts, "Jonas Weber")


async def test_the_question_may_come_to_another_replica_than_the_stop(
    running: Running, tmp_path: Path
) -> None:
    """Two bots on one store; each takes what the other does not."""
    async with late_in(running, tmp_path) as first, late_in(running, tmp_path) as second:
        asked = first.unheard()
        first.react("jonas", asked.ts)
        await first.handled()
        for _ in range(2):  # under two ids, so one goes to each of the two sockets
            second.deliver(asked)
        reply = await second.bench.reply(asked.ts)
        assert "Stopped by Jonas Weber." in reply.blocks[0]["text"]
        assert first.tool.ran == second.tool.ran == []


@pytest.mark.parametrize("user", ["gita", "alertmanager", "oncall"])
async def test_who_may_not_stop_it_does_not_stop_it_beforehand_either(
    late: Late, user: str
) -> None:
    asked = late.unheard()
    late.react(user, asked.ts)
    await late.handled()
    late.deliver(asked)
    await late.is_answered(asked.ts)


async def test_where_only_the_asker_may_stop_it_others_cannot_beforehand(
    running: Running, tmp_path: Path
) -> None:
    settings = settings_for(running, stop_by="asker")
    async with late_in(running, tmp_path, settings=settings) as late:
        first, second = late.unheard(), late.unheard()
        late.react("jonas", first.ts)
        late.react("maya", second.ts)
        await late.handled()
        late.deliver(first)
        await late.is_answered(first.ts)
        late.deliver(second)
        reply = await late.bench.reply(second.ts)
        assert "Stopped by Maya Lindqvist." in reply.blocks[0]["text"]


async def test_a_stop_emoji_from_long_ago_does_not_stop_what_is_asked_about_its_message(
    late: Late,
) -> None:
    """Somebody found an alert done with; later it is asked about."""
    alert = next(m for m in late.bench.pg.world.top_level(INC) if m.bot_id == "B0ALERTS")
    late.react("jonas", alert.ts)
    await late.handled()
    await late.bench.pg.clock.advance(5)
    late.bench.pg.people.shortcut("maya", INC, alert.ts, "ask_about_this")
    await late.is_answered(alert.ts)


async def test_a_stop_emoji_on_a_message_stops_the_question_that_was_asked_by_pointing_at_it(
    late: Late,
) -> None:
    """Also where that message was a question of its own before."""
    asked = late.bench.say()
    await late.is_answered(asked.ts)
    late.works.clear()
    late.bench.pg.people.shortcut("jonas", INC, asked.ts, "ask_about_this")
    late.react("maya", asked.ts)
    await late.bench.until(lambda: len(late.bench.thread(asked.ts)) == 2)
    assert "Stopped by Maya Lindqvist." in late.bench.thread(asked.ts)[1].blocks[0]["text"]


# --- words ---------------------------------------------------------------------------------------


def an_alert(late: Late) -> Message:
    return next(m for m in late.bench.pg.world.top_level(INC) if m.bot_id == "B0ALERTS")


async def test_words_at_the_root_that_come_before_their_author_s_question_stop_it(
    late: Late,
) -> None:
    asked = late.unheard()
    said = late.bench.say(f"<@{BOT}> stop")
    await late.handled()
    assert (await late.bench.reply(said.ts)).text.startswith("Nothing is running here")
    late.deliver(asked)
    await late.is_stopped(asked.ts, "Maya Lindqvist")


@pytest.mark.parametrize("user", ["jonas", "gita"])
async def test_words_at_the_root_wait_for_no_question_of_somebody_else(
    late: Late, user: str
) -> None:
    asked = late.unheard()
    late.bench.say(f"<@{BOT}> stop", user=user)
    await late.handled()
    late.deliver(asked)
    await late.is_answered(asked.ts)


async def test_words_at_the_root_wait_for_no_question_elsewhere_and_none_that_is_asked_later(
    late: Late,
) -> None:
    elsewhere = late.unheard(channel=SHARED)
    late.bench.say(f"<@{BOT}> stop")
    await late.handled()
    late.deliver(elsewhere)
    await late.bench.until(lambda: late.bench.thread(elsewhere.ts, SHARED))
    assert late.tool.ran == ["apples"]
    late.bench.pg.people.shortcut("maya", INC, an_alert(late).ts, "ask_about_this")
    await late.is_answered(an_alert(late).ts)
    later = late.bench.say()
    await late.is_answered(later.ts)


async def test_an_older_stop_that_comes_again_does_not_replace_a_newer_one(late: Late) -> None:
    first = late.unheard(f"<@{BOT}> stop")
    asked = late.unheard()
    late.bench.say(f"<@{BOT}> stop")
    await late.handled()
    late.deliver(first)
    await late.handled()
    late.deliver(asked)
    await late.is_stopped(asked.ts, "Maya Lindqvist")


@pytest.mark.parametrize("where", ["at the channel's root", "in the thread", "an emoji"])
async def test_a_stop_that_comes_late_stops_nothing_that_was_asked_after_it_about_an_older_message(
    late: Late, where: str
) -> None:
    alert = an_alert(late)
    thread = alert.ts if where == "in the thread" else None
    stop = late.unheard(f"<@{BOT}> stop", thread=thread)
    if where == "an emoji":
        (reaction,) = late.bench.pg.people.react("maya", INC, alert.ts, STOP)
        await late.handled()
    late.works.clear()
    late.bench.pg.people.shortcut("maya", INC, alert.ts, "ask_about_this")
    await late.bench.until(lambda: late.tool.ran)
    if where == "an emoji":
        late.bench.pg.events.replay(reaction, new_id=True)
    else:
        late.deliver(stop)
    await late.handled()
    late.works.set()
    await late.bench.settled()
    replies = [m.blocks[0]["text"] for m in late.bench.thread(alert.ts)]
    assert [text for text in replies if "apples was found" in text]
    assert not [text for text in replies if "Stopped by" in text]


async def test_words_that_stopped_one_s_own_question_stop_no_other_one_when_they_come_again(
    late: Late,
) -> None:
    late.works.clear()
    mine, other = late.bench.say(), late.bench.say(user="jonas")
    await late.bench.until(lambda: late.tool.ran.count("apples") == 2)
    said = late.bench.say(f"<@{BOT}> stop")
    await late.bench.until(lambda: late.bench.thread(mine.ts) and late.bench.thread(said.ts))
    late.bench.pg.events.replay(said.deliveries[0], new_id=True)
    await late.handled()
    late.works.set()
    await late.is_answered(other.ts)
