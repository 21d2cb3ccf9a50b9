"""Stopping: who may, on what, at once, once; and the reply says who did and what was found."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from bot.loop.limits import StopReason
from bot.loop.outcome import Failure
from bot.playground import Running
from bot.playground.model import Role
from bot.runs.dispatch import QueueLimits
from support.scripted import Lookup, ScriptedModel, called, forever, found, turn
from support.slack_bench import BOT, DEBUG, INC, SHARED, Bench, bot_in, settings_for

STOP = "octagonal_sign"


class Hanging:
    """Finds apples; pears hang."""

    def __init__(self) -> None:
        self.tool = Lookup(self.look)

    async def look(self, arguments: Any, context: Any) -> Any:
        if arguments.what == "pears":
            await forever()
        return found(f"{arguments.what} was found")


def hanging_model() -> ScriptedModel:
    return ScriptedModel(
        turn(called("lookup", {"what": "apples"}), text="Apples first."),
        turn(called("lookup", {"what": "pears"}), text="Then pears."),
    )


@dataclass
class Stuck:
    """A bot that hangs in a tool, on a question that was asked."""

    bench: Bench
    tool: Lookup
    ts: str

    def react(self, user: str, ts: str | None = None, *, name: str = STOP, **more: Any) -> None:
        self.bench.pg.people.react(user, more.pop("channel", INC), ts or self.ts, name, **more)

    async def still_works(self) -> None:
        await self.bench.until(
            lambda: all(d.state == "acked" for d in self.bench.pg.outbox.deliveries())
        )
        assert self.bench.thread(self.ts) == []
        assert self.bench.service._dispatcher._tasks


async def stuck_in(bench: Bench, tool: Lookup) -> Stuck:
    asked = bench.say()
    await bench.until(lambda: tool.ran[-1:] == ["pears"])
    return Stuck(bench, tool, asked.ts)


@pytest.fixture
async def stuck(running: Running, tmp_path: Path) -> AsyncIterator[Stuck]:
    hanging = Hanging()
    async with bot_in(running, tmp_path, model=hanging_model, tools=(hanging.tool,)) as bench:
        yield await stuck_in(bench, hanging.tool)


async def test_a_stop_emoji_ends_it_and_the_reply_says_who_and_what_was_found(
    stuck: Stuck,
) -> None:
    stuck.react("maya")
    reply = await stuck.bench.reply(stuck.ts)
    shown = reply.blocks[0]["text"]
    assert shown.startswith("No answer. Stopped by Maya Lindqvist.")
    assert "- apples was found [1]" in shown
    assert "<@" not in shown
    assert "Apples first." not in shown
    assert stuck.tool.ran == ["apples", "pears"]
    (run,) = await stuck.bench.store.recent(5)
    assert isinstance(run.outcome, Failure)
    assert run.outcome.reason is StopReason.ABORTED


async def test_who_stopped_it_is_called_as_people_see_them_and_is_not_pinged(
    running: Running, tmp_path: Path
) -> None:
    name = "Jo <@U0MAYA> @here"
    running.playground.people.change_user("jonas", lambda was: replace(was, display_name=name))
    hanging = Hanging()
    async with bot_in(running, tmp_path, model=hanging_model, tools=(hanging.tool,)) as bench:
        stuck = await stuck_in(bench, hanging.tool)
        stuck.react("jonas")
        reply = await bench.reply(stuck.ts)
        assert "Stopped by Jo &lt;@U0MAYA&gt; @ here." in reply.blocks[0]["text"]
        assert "<@" not in reply.text + reply.blocks[0]["text"]


async def test_a_run_that_is_found_at_work_once_more_can_still_be_stopped(stuck: Stuck) -> None:
    (run,) = await stuck.bench.store.recent(5)
    stuck.bench.service._dispatch(run)
    stuck.react("maya")
    assert "Stopped by Maya Lindqvist." in (await stuck.bench.reply(stuck.ts)).blocks[0]["text"]


async def whispers(stuck: Stuck) -> list[dict[str, Any]]:
    await stuck.still_works()
    await stuck.bench.until(lambda: stuck.bench.calls("chat.postEphemeral"))
    return stuck.bench.calls("chat.postEphemeral")


async def test_a_guest_who_stops_it_is_told_once_and_alone_that_it_goes_on(stuck: Stuck) -> None:
    stuck.react("gita")
    (told,) = await whispers(stuck)
    assert (told["channel"], told["user"], told["thread_ts"]) == (INC, "U0GUEST", stuck.ts)
    assert told["text"] == "I go on: only members of this workspace can stop me."
    stuck.bench.pg.people.unreact("gita", INC, stuck.ts, STOP)
    stuck.react("gita")
    stuck.react("alertmanager")
    assert len(await whispers(stuck)) == 1
    assert stuck.bench.thread(stuck.ts) == []


@pytest.mark.parametrize("way", ["emoji", "words"])
async def test_who_may_not_stop_another_s_question_is_told_so_once(
    running: Running, tmp_path: Path, way: str
) -> None:
    hanging = Hanging()
    settings = settings_for(running, stop_by="asker")
    async with bot_in(
        running, tmp_path, model=hanging_model, tools=(hanging.tool,), settings=settings
    ) as bench:
        stuck = await stuck_in(bench, hanging.tool)
        if way == "emoji":
            stuck.react("jonas")
        else:
            bench.say(f"<@{BOT}> stop", user="jonas", thread=stuck.ts)
        (told,) = await whispers(stuck)
        assert (told["user"], told["thread_ts"]) == ("U0JONAS", stuck.ts)
        assert "only the one who asked" in told["text"]
        stuck.react("jonas" if way == "words" else "maya")
        if way == "words":
            assert len(await whispers(stuck)) == 1


async def test_a_skin_tone_and_an_absent_author_change_nothing(stuck: Stuck) -> None:
    stuck.react("jonas", name=f"{STOP}::skin-tone-3", item_user=False)
    assert "Stopped by Jonas Weber." in (await stuck.bench.reply(stuck.ts)).blocks[0]["text"]


async def test_a_second_stop_and_a_late_one_do_nothing(stuck: Stuck) -> None:
    stuck.react("maya")
    stops = stuck.bench.service._stops  # two that come at the same moment have no order
    await stuck.bench.until(lambda: all(stop.cut for stop in stops.values()))
    stuck.react("jonas")
    reply = await stuck.bench.reply(stuck.ts)
    assert "Stopped by Maya Lindqvist." in reply.blocks[0]["text"]
    stuck.bench.pg.people.unreact("maya", INC, stuck.ts, STOP)
    stuck.react("maya")
    await stuck.bench.reply(stuck.ts)


async def test_other_emojis_other_messages_guests_bots_and_outsiders_stop_nothing(
    stuck: Stuck,
) -> None:
    other = stuck.bench.say("something else")
    stuck.react("maya", other.ts)
    stuck.react("maya", name="tada")
    stuck.react("gita")
    stuck.react("alertmanager")
    people = stuck.bench.pg.people
    people.change_user("jonas", lambda was: replace(was, role=Role.OUTSIDER, team="T0FJORDPAY"))
    stuck.react("jonas")
    await stuck.still_works()


async def test_the_bot_s_own_stop_emoji_stops_nothing(stuck: Stuck) -> None:
    stuck.react("oncall")
    await stuck.still_works()


async def test_only_the_run_that_it_points_at_is_stopped(running: Running, tmp_path: Path) -> None:
    hanging = Hanging()
    async with bot_in(running, tmp_path, model=hanging_model, tools=(hanging.tool,)) as bench:
        one = bench.say()
        two = bench.say()
        await bench.until(lambda: hanging.tool.ran.count("pears") == 2)
        bench.pg.people.react("maya", INC, two.ts, STOP)
        await bench.until(lambda: bench.thread(two.ts))
        await bench.until(lambda: len(bench.service._dispatcher._tasks) == 1)
        assert bench.thread(one.ts) == []
        bench.pg.people.react("maya", INC, one.ts, STOP)
        await bench.reply(one.ts)


async def test_the_debug_thread_s_root_takes_a_stop_emoji_as_well(stuck: Stuck) -> None:
    root = await stuck.bench.until(lambda: stuck.bench.pg.world.top_level(DEBUG))
    key = stuck.bench.slack.identity.key(DEBUG, root[0].ts)
    async with asyncio.timeout(5):
        while await stuck.bench.service.find(key) is None:
            await asyncio.sleep(0.01)
    stuck.react("jonas", root[0].ts, channel=DEBUG)
    assert "Stopped by Jonas Weber." in (await stuck.bench.reply(stuck.ts)).blocks[0]["text"]


@pytest.mark.parametrize("words", ["stop", "Stop!", "please cancel", "abort it", f":{STOP}:"])
async def test_oncall_stop_in_the_thread_stops_it_and_is_no_question(
    stuck: Stuck, words: str
) -> None:
    said = stuck.bench.say(f"<@{BOT}> {words}", user="jonas", thread=stuck.ts)
    stuck.bench.pg.events.replay(said.deliveries[0], new_id=True)
    assert "Stopped by Jonas Weber." in (await stuck.bench.reply(stuck.ts)).blocks[0]["text"]
    assert len(await stuck.bench.store.recent(5)) == 1


@pytest.mark.parametrize("where", ["at the channel's root", "in a thread"])
async def test_oncall_stop_where_nothing_runs_says_so_once(bench: Bench, where: str) -> None:
    alert = next(m for m in bench.pg.world.top_level(INC) if m.bot_id == "B0ALERTS")
    thread = alert.ts if where == "in a thread" else None
    said = bench.say(f"<@{BOT}> stop", thread=thread)
    bench.pg.events.replay(said.deliveries[0], new_id=True)
    told = (await bench.reply(thread or said.ts)).text
    assert told.startswith(f"Nothing is running {'in this thread' if thread else 'here'}")


@pytest.mark.parametrize("channel", [INC, "direct messages"])
async def test_oncall_stop_at_the_root_stops_the_one_question_that_is_at_work_there(
    running: Running, tmp_path: Path, channel: str
) -> None:
    hanging = Hanging()
    async with bot_in(running, tmp_path, model=hanging_model, tools=(hanging.tool,)) as bench:
        if channel != INC:
            channel = bench.pg.people.direct("maya", "oncall").id
        asked = bench.say(channel=channel)
        await bench.until(lambda: hanging.tool.ran[-1:] == ["pears"])
        elsewhere = bench.say(channel=SHARED)
        await bench.until(lambda: hanging.tool.ran.count("pears") == 2)
        said = bench.say(
            f"<@{BOT}> stop" if channel == INC else "stop",
            user="jonas" if channel == INC else "maya",
            channel=channel,
        )
        await bench.until(lambda: bench.thread(asked.ts, channel))
        (reply,) = bench.thread(asked.ts, channel)
        who = "Jonas Weber" if channel == INC else "Maya Lindqvist"
        assert f"Stopped by {who}." in reply.blocks[0]["text"]
        assert bench.thread(said.ts, channel) == []
        assert bench.thread(elsewhere.ts, SHARED) == []


async def test_oncall_stop_at_the_root_stops_one_s_own_question_and_names_the_others(
    running: Running, tmp_path: Path
) -> None:
    hanging = Hanging()
    async with bot_in(running, tmp_path, model=hanging_model, tools=(hanging.tool,)) as bench:
        mine, other = bench.say(), bench.say(f"<@{BOT}> What <!here> `else`?", user="jonas")
        await bench.until(lambda: hanging.tool.ran.count("pears") == 2)
        said = bench.say(f"<@{BOT}> stop")
        told = (await bench.until(lambda: bench.thread(said.ts)))[0].text
        stopped = (await bench.until(lambda: bench.thread(mine.ts)))[0]
        assert "Stopped by Maya" in stopped.blocks[0]["text"]
        assert bench.thread(other.ts) == []
        link = f"https://nordshop.slack.com/archives/{INC}/p{other.ts.replace('.', '')}"
        assert told.startswith(
            f"I stop your question. At work here are also:\n• <{link}|What @ here 'else'?>\n"
        )


async def test_oncall_stop_at_the_root_asks_which_one_where_several_are_at_work(
    running: Running, tmp_path: Path
) -> None:
    hanging = Hanging()
    async with bot_in(running, tmp_path, model=hanging_model, tools=(hanging.tool,)) as bench:
        asked = [bench.say(), bench.say()]
        await bench.until(lambda: hanging.tool.ran.count("pears") == 2)
        said = bench.say(f"<@{BOT}> stop", user="jonas")
        bench.pg.events.replay(said.deliveries[0], new_id=True)
        told = (await bench.until(lambda: bench.thread(said.ts)))[0].text
        assert told.startswith("I am working on 2 questions here and stopped none:\n")
        for one in asked:
            assert f"p{one.ts.replace('.', '')}" in told
            assert bench.thread(one.ts) == []
        assert told.endswith(f"react to it with :{STOP}:, or write “@oncall stop” in its thread.")
        bench.say(f"<@{BOT}> stop", user="jonas", thread=asked[0].ts)
        await bench.until(lambda: bench.thread(asked[0].ts))
        await bench.until(lambda: len(bench.service._dispatcher._tasks) == 1)
        assert len(bench.thread(said.ts)) == 1


async def test_oncall_stop_at_the_root_right_after_the_question_waits_until_it_is_taken(
    running: Running, tmp_path: Path
) -> None:
    hanging = Hanging()
    async with bot_in(running, tmp_path, model=hanging_model, tools=(hanging.tool,)) as bench:
        bench.fault("users.info", {"kind": "slow", "seconds": 600})
        asked = bench.say()
        await bench.slow_call_waits()
        bench.say(f"<@{BOT}> stop")
        await bench.until(lambda: all(d.attempts for d in bench.pg.outbox.deliveries()))
        await bench.pg.clock.advance(600)
        assert "Stopped by Maya" in (await bench.reply(asked.ts)).blocks[0]["text"]


async def test_oncall_stop_at_the_root_by_one_who_may_not_is_told_so(
    running: Running, tmp_path: Path
) -> None:
    hanging = Hanging()
    settings = settings_for(running, stop_by="asker")
    async with bot_in(
        running, tmp_path, model=hanging_model, tools=(hanging.tool,), settings=settings
    ) as bench:
        stuck = await stuck_in(bench, hanging.tool)
        bench.say(f"<@{BOT}> stop", user="jonas")
        (told,) = await whispers(stuck)
        assert "only the one who asked" in told["text"]
        assert not told.get("thread_ts")


async def test_a_stop_that_is_delivered_again_stops_no_question_that_was_asked_after_it(
    running: Running, tmp_path: Path
) -> None:
    hanging = Hanging()
    async with bot_in(running, tmp_path, model=hanging_model, tools=(hanging.tool,)) as bench:
        stuck = await stuck_in(bench, hanging.tool)
        said = bench.say(f"<@{BOT}> stop", thread=stuck.ts)
        await bench.until(lambda: bench.thread(stuck.ts))  # two at the same moment have no order
        top = bench.say(f"<@{BOT}> stop")
        await bench.until(lambda: all(d.state == "acked" for d in bench.pg.outbox.deliveries()))
        bench.say(thread=stuck.ts)
        await bench.until(lambda: hanging.tool.ran.count("pears") == 2)
        for again in (said, top):
            bench.pg.events.replay(again.deliveries[0], new_id=True)
        await bench.until(lambda: all(d.state == "acked" for d in bench.pg.outbox.deliveries()))
        assert len(bench.thread(stuck.ts)) == 1
        assert bench.service._dispatcher._tasks


async def test_oncall_stop_in_the_debug_thread_stops_what_is_thought_about_there(
    stuck: Stuck,
) -> None:
    root = (await stuck.bench.until(lambda: stuck.bench.pg.world.top_level(DEBUG)))[0]
    key = stuck.bench.slack.identity.key(DEBUG, root.ts)
    async with asyncio.timeout(5):
        while await stuck.bench.service.find(key) is None:
            await asyncio.sleep(0.01)
    stuck.bench.say(f"<@{BOT}> stop", user="jonas", channel=DEBUG, thread=root.ts)
    assert "Stopped by Jonas Weber." in (await stuck.bench.reply(stuck.ts)).blocks[0]["text"]


async def test_slack_s_own_stop_button_stops_what_runs_in_the_thread(stuck: Stuck) -> None:
    place = (INC, stuck.ts)
    await stuck.bench.until(lambda: stuck.bench.pg.people.sessions.get(place) == "processing")
    stuck.bench.pg.people.stop_session("maya", INC, stuck.ts)
    assert "Stopped by Maya Lindqvist." in (await stuck.bench.reply(stuck.ts)).blocks[0]["text"]
    await stuck.bench.until(lambda: stuck.bench.pg.people.sessions.get(place) == "active")


async def test_a_question_that_waits_in_the_queue_is_stopped_at_once_as_well(
    running: Running, tmp_path: Path
) -> None:
    hanging = Hanging()
    queue = QueueLimits(running=1, waiting=5)
    async with bot_in(
        running, tmp_path, model=hanging_model, tools=(hanging.tool,), queue=queue
    ) as bench:
        await stuck_in(bench, hanging.tool)
        waits = bench.say()
        await bench.until(lambda: bench.reactions(waits.ts))
        bench.pg.people.react("maya", INC, waits.ts, STOP)
        await bench.until(lambda: bench.thread(waits.ts))


async def test_a_stop_does_not_wait_behind_questions_that_wait_for_slack(
    running: Running, tmp_path: Path
) -> None:
    hanging = Hanging()
    settings = settings_for(running, debug_channel="")  # who reads it would be asked of Slack too
    async with bot_in(
        running, tmp_path, model=hanging_model, tools=(hanging.tool,), settings=settings
    ) as bench:
        stuck = await stuck_in(bench, hanging.tool)
        bench.fault("users.info", {"kind": "rate_limited", "retry_after": 30}, times=None)
        bench.say(user="jonas")
        stuck.react("maya")
        await bench.until(lambda: bench.thread(stuck.ts))


async def test_where_only_the_asker_and_a_group_may_stop_others_cannot(
    running: Running, tmp_path: Path
) -> None:
    hanging = Hanging()
    settings = settings_for(running, stop_by="asker", stop_emojis=(":no_entry:",))
    async with bot_in(
        running, tmp_path, model=hanging_model, tools=(hanging.tool,), settings=settings
    ) as bench:
        stuck = await stuck_in(bench, hanging.tool)
        stuck.react("jonas", name="no_entry")
        stuck.react("maya", name=STOP)
        await stuck.still_works()
        stuck.react("maya", name="no_entry")
        await bench.reply(stuck.ts)
    hanging = Hanging()
    settings = settings_for(running, stop_by="asker", stop_group="S0ONCALL")
    async with bot_in(
        running, tmp_path, model=hanging_model, tools=(hanging.tool,), settings=settings
    ) as bench:
        stuck = await stuck_in(bench, hanging.tool)
        bench.fault("usergroups.users.list", {"kind": "api_error", "error": "no_such_subteam"})
        stuck.react("jonas")
        told = await bench.until(lambda: bench.calls("chat.postEphemeral")[1:])
        assert "who else may stop this question" in told[0]["text"]
        stuck.bench.pg.people.unreact("jonas", INC, stuck.ts, STOP)
        stuck.react("jonas")
        await bench.reply(stuck.ts)


async def test_an_outsider_cannot_stop_what_a_member_asked_in_a_shared_channel(
    running: Running, tmp_path: Path
) -> None:
    hanging = Hanging()
    async with bot_in(running, tmp_path, model=hanging_model, tools=(hanging.tool,)) as bench:
        asked = bench.say(channel=SHARED)
        await bench.until(lambda: hanging.tool.ran[-1:] == ["pears"])
        bench.pg.people.react("oskar", SHARED, asked.ts, STOP)
        said = bench.say(f"<@{BOT}> stop", user="oskar", channel=SHARED, thread=asked.ts)
        refusal = await bench.until(lambda: bench.thread(asked.ts, SHARED))
        assert "members of this workspace only" in refusal[0].text
        assert said.ts
        bench.pg.people.react("maya", SHARED, asked.ts, STOP)
        await bench.until(lambda: len(bench.thread(asked.ts, SHARED)) == 2)


@pytest.mark.parametrize("way", ["emoji", "words", "twice"])
async def test_a_stop_that_comes_while_the_question_is_taken_counts(
    running: Running, tmp_path: Path, way: str
) -> None:
    hanging = Hanging()
    async with bot_in(running, tmp_path, model=hanging_model, tools=(hanging.tool,)) as bench:
        bench.fault("users.info", {"kind": "slow", "seconds": 600})
        asked = bench.say()
        await bench.slow_call_waits()
        if way == "emoji":
            bench.pg.people.react("maya", INC, asked.ts, STOP)
        else:
            for _ in range(2 if way == "twice" else 1):
                bench.say(f"<@{BOT}> stop", user="jonas", thread=asked.ts)
        await bench.until(lambda: all(d.attempts for d in bench.pg.outbox.deliveries()))
        assert await bench.store.recent(5) == ()
        await bench.pg.clock.advance(600)
        who = "Maya Lindqvist" if way == "emoji" else "Jonas Weber"
        assert f"Stopped by {who}." in (await bench.reply(asked.ts)).blocks[0]["text"]
        assert len(await bench.store.recent(5)) == 1


async def test_a_stop_in_a_thread_waits_for_no_other_question_that_is_being_taken_there(
    running: Running, tmp_path: Path
) -> None:
    hanging = Hanging()
    settings = settings_for(running, debug_channel="")  # who reads it would be asked of Slack too
    async with bot_in(
        running, tmp_path, model=hanging_model, tools=(hanging.tool,), settings=settings
    ) as bench:
        stuck = await stuck_in(bench, hanging.tool)
        bench.fault("users.info", {"kind": "slow", "seconds": 600})
        bench.say(user="jonas", thread=stuck.ts)
        await bench.slow_call_waits()
        bench.say(f"<@{BOT}> stop", thread=stuck.ts)
        await bench.until(lambda: bench.thread(stuck.ts))
        (first,) = bench.thread(stuck.ts)
        assert "Stopped by Maya Lindqvist." in first.blocks[0]["text"]
        await bench.pg.clock.advance(600)
        await bench.until(lambda: len(bench.thread(stuck.ts)) == 2)


async def test_a_stop_emoji_on_an_alert_counts_while_the_question_about_it_is_taken(
    running: Running, tmp_path: Path
) -> None:
    hanging = Hanging()
    async with bot_in(running, tmp_path, model=hanging_model, tools=(hanging.tool,)) as bench:
        alert = next(m for m in bench.pg.world.top_level(INC) if m.bot_id == "B0ALERTS")
        bench.fault("users.info", {"kind": "slow", "seconds": 600})
        bench.pg.people.shortcut("maya", INC, alert.ts, "ask_about_this")
        await bench.slow_call_waits()
        bench.pg.people.react("maya", INC, alert.ts, STOP)
        await bench.until(lambda: all(d.attempts for d in bench.pg.outbox.deliveries()))
        await bench.pg.clock.advance(600)
        assert "Stopped by Maya Lindqvist." in (await bench.reply(alert.ts)).blocks[0]["text"]
