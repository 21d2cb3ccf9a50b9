"""The debug thread: the bot's thoughts, one thread a run, never where they do not belong."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.playground import Running
from bot.playground.log import DeliveryState
from bot.playground.model import ChannelKind, Message
from bot.slack import audience
from support.scripted import Lookup, ScriptedModel, answer, called, found, turn
from support.slack_bench import ANSWER, DEBUG, INC, Bench, bot_in, settings_for


def written(bench: Bench, channel: str = DEBUG) -> str:
    return "\n".join(m.text for m in bench.posts(channel))


async def root_of(bench: Bench, channel: str = DEBUG) -> Message:
    await bench.later()
    assert "Answered in 2 steps" in written(bench, channel)
    (root,) = bench.pg.world.top_level(channel)
    return root


async def test_each_run_has_one_thread_with_its_question_its_trace_and_its_steps(
    bench: Bench,
) -> None:
    asked = bench.say()
    reply = await bench.reply(asked.ts)
    root = await root_of(bench)
    permalink = f"https://nordshop.slack.com/archives/{INC}/p{asked.ts.replace('.', '')}"
    assert root.text.startswith(f"<{permalink}|Asked>: What was found?")
    assert "/t/" in root.text
    told = "\n".join(m.text for m in bench.thread(root.ts, DEBUG))
    assert "*Step 1*\n> I look for apples." in told
    assert '→ `lookup(what="apples")`' in told
    assert "← ok apples was found [o1]" in told
    assert "*Step 2*" in told
    assert "I look for apples" not in reply.text + reply.blocks[0]["text"]


async def test_two_runs_have_two_threads(bench: Bench) -> None:
    for _ in range(2):
        await bench.reply(bench.say().ts)
    await bench.later()
    assert written(bench).count("Answered in 2 steps") == 2
    assert len(bench.pg.world.top_level(DEBUG)) == 2


async def test_a_debug_channel_that_is_slow_or_limited_does_not_delay_the_answer(
    bench: Bench,
) -> None:
    bench.fault("chat.postMessage", {"kind": "rate_limited", "retry_after": 30}, channel=DEBUG)
    asked = bench.say()
    await bench.until(lambda: bench.thread(asked.ts), 2)
    assert bench.posts(DEBUG) == []
    await bench.pg.clock.advance(31)
    await bench.until(lambda: bench.posts(DEBUG))
    for _ in range(5):
        await bench.pg.clock.advance(2)
    await root_of(bench)
    assert len(bench.posts(DEBUG)) == 2, "what waited was merged into one message"


async def test_what_a_model_thinks_pings_nobody(running: Running, tmp_path: Path) -> None:
    model = ScriptedModel(
        turn(called("lookup", {"what": "`<!here>`"}), text="```\n<!channel> @everyone <@U0JONAS>"),
        turn(called("lookup", {"what": "apples"})),
        turn(answer(ANSWER, (ANSWER, ["o2"]), confidence="high")),
    )
    async with bot_in(running, tmp_path, model=lambda: model, tools=(Lookup(),)) as bench:
        await bench.reply(bench.say().ts)
        await bench.hurried_until(lambda: "Answered in 3 steps" in written(bench))
        told = written(bench)
    assert "&lt;!channel&gt;" in told
    for live in ("<!", "<@", "@everyone", "```"):
        assert live not in told


async def in_private(bench: Bench) -> str:
    channel, _ = bench.pg.people.create_channel(
        "maya", "inc-secret", ChannelKind.PRIVATE, ("oncall",)
    )
    await bench.reply(bench.say(channel=channel.id).ts, channel.id)
    return channel.id


@pytest.mark.parametrize("where", ["private channel", "direct message"])
async def test_a_private_question_is_never_thought_about_in_the_public_debug_channel(
    bench: Bench, where: str
) -> None:
    if where == "private channel":
        await in_private(bench)
    else:
        direct = bench.pg.people.direct("maya", "oncall").id
        await bench.reply(bench.say("What was found?", channel=direct).ts, direct)
    await bench.later()
    assert bench.posts(DEBUG) == []


async def test_a_private_debug_channel_takes_the_thoughts_of_private_questions_only(
    running: Running, tmp_path: Path
) -> None:
    people = running.playground.people
    debug, _ = people.create_channel("maya", "oncall-secret", ChannelKind.PRIVATE, ("oncall",))
    settings = settings_for(running, private_debug_channel="oncall-secret")
    async with bot_in(running, tmp_path, settings=settings) as bench:
        await in_private(bench)
        await root_of(bench, debug.id)
        assert bench.posts(DEBUG) == []
        before = len(bench.posts(debug.id))
        await bench.reply(bench.say().ts)
        await root_of(bench)
        assert len(bench.posts(debug.id)) == before


async def test_a_private_debug_channel_that_outsiders_read_takes_no_thoughts(
    running: Running, tmp_path: Path
) -> None:
    people = running.playground.people
    members = ("oncall", "oskar")
    debug, _ = people.create_channel("maya", "oncall-secret", ChannelKind.PRIVATE, members)
    settings = settings_for(running, private_debug_channel="oncall-secret")
    async with bot_in(running, tmp_path, settings=settings) as bench:
        await in_private(bench)
        await bench.later()
        assert bench.posts(debug.id) == []
        assert bench.posts(DEBUG) == []


@pytest.mark.parametrize("told", ["Slack tells", "the event is lost"])
async def test_thoughts_end_once_outsiders_can_read_the_debug_channel(
    running: Running, tmp_path: Path, told: str
) -> None:
    """Also where nobody says so, a minute later: Slack is asked again."""
    await thoughts_end(running, tmp_path, "oskar", told)


def held(until: asyncio.Event) -> Lookup:
    async def look(arguments: Any, context: Any) -> Any:
        del context
        await until.wait()
        return found(f"{arguments.what} was found")

    return Lookup(look)


async def thoughts_end(running: Running, tmp_path: Path, who: str, told: str) -> None:
    holds = asyncio.Event()
    async with bot_in(running, tmp_path, tools=(held(holds),)) as bench:
        asked = bench.say()
        await bench.until(lambda: bench.posts(DEBUG))
        if told == "Slack tells":
            bench.pg.people.invite(who, DEBUG, "maya")
            await bench.until(
                lambda: all(
                    d.state is not DeliveryState.PENDING for d in bench.pg.outbox.deliveries()[1:]
                )
            )
        else:
            bench.pg.world.join(DEBUG, bench.pg.people.user(who).id)
            await bench.pg.clock.advance(61)
        before = len(bench.posts(DEBUG))
        holds.set()
        await bench.reply(asked.ts)
        await bench.reply(bench.say().ts)
        await bench.later()
        assert len(bench.posts(DEBUG)) == before


@pytest.mark.parametrize("kind", ["public", "private"])
async def test_a_debug_channel_that_a_guest_reads_takes_no_thoughts(
    running: Running, tmp_path: Path, kind: str
) -> None:
    debug, settings = DEBUG, settings_for(running)
    people = running.playground.people
    if kind == "private":
        members = ("oncall", "gita")
        channel, _ = people.create_channel("maya", "oncall-secret", ChannelKind.PRIVATE, members)
        debug = channel.id
        settings = settings_for(running, private_debug_channel="oncall-secret")
    else:
        people.invite("gita", DEBUG, "maya")
    async with bot_in(running, tmp_path, settings=settings) as bench:
        if kind == "private":
            await in_private(bench)
        else:
            await bench.reply(bench.say().ts)
        await bench.later()
        assert bench.posts(debug) == []
        people.kick("gita", debug)
        await bench.pg.clock.advance(61)
        if kind == "public":
            await bench.reply(bench.say().ts)
            await root_of(bench)


@pytest.mark.parametrize("told", ["Slack tells", "the event is lost"])
async def test_thoughts_end_once_a_guest_comes_to_read_the_debug_channel(
    running: Running, tmp_path: Path, told: str
) -> None:
    await thoughts_end(running, tmp_path, "gita", told)


async def test_members_and_bots_in_a_debug_channel_are_no_outsiders(bench: Bench) -> None:
    bench.pg.people.invite("alertmanager", DEBUG, "maya")
    bench.pg.people.change_user("jonas", lambda was: replace(was, deleted=True))
    await bench.reply(bench.say().ts)
    await root_of(bench)


async def test_a_big_debug_channel_is_looked_through_in_parts_and_used_once_all_are_known(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audience, "MOST_LOOKUPS", 1)
    await bench.reply(bench.say().ts)
    await bench.later()
    assert bench.posts(DEBUG) == []
    await bench.pg.clock.advance(61)
    await bench.reply(bench.say().ts)
    await root_of(bench)


async def test_thoughts_of_a_channel_that_was_made_private_stop_within_a_minute(
    running: Running, tmp_path: Path
) -> None:
    """Slack has no event for it that the bot hears."""
    holds = asyncio.Event()
    async with bot_in(running, tmp_path, tools=(held(holds),)) as bench:
        asked = bench.say()
        await bench.until(lambda: bench.posts(DEBUG))
        channel = bench.pg.world.channels[INC]
        bench.pg.world.put_channel(replace(channel, kind=ChannelKind.PRIVATE))
        await bench.pg.clock.advance(61)
        before = len(bench.posts(DEBUG))
        holds.set()
        await bench.reply(asked.ts)
        await bench.later()
        assert len(bench.posts(DEBUG)) == before
        await bench.reply(bench.say().ts)
        await bench.later()
        assert len(bench.posts(DEBUG)) == before


async def test_a_channel_whose_privacy_slack_does_not_tell_is_not_thought_about_in_public(
    bench: Bench,
) -> None:
    await bench.reply(bench.say().ts)
    await bench.later()
    before = len(bench.posts(DEBUG))
    await bench.pg.clock.advance(61)
    bench.fault("conversations.info", {"kind": "server_error"}, times=None, channel=INC)
    asked = bench.say()
    await bench.hurried()
    await bench.until(lambda: bench.thread(asked.ts))
    await bench.later()
    assert len(bench.posts(DEBUG)) == before


@pytest.mark.parametrize("method", ["conversations.info", "conversations.members", "users.info"])
async def test_no_thought_is_shown_where_slack_does_not_say_who_reads_it(
    bench: Bench, method: str
) -> None:
    await bench.pg.clock.advance(61)
    rule: dict[str, Any] = {"skip": 1} if method == "users.info" else {"channel": DEBUG}
    bench.fault(method, {"kind": "server_error"}, times=None, **rule)  # who asks is still told
    asked = bench.say()
    await bench.hurried_reply(asked.ts)
    await bench.later()
    assert bench.posts(DEBUG) == []


async def test_a_private_debug_channel_that_is_public_is_not_used(
    running: Running, tmp_path: Path
) -> None:
    settings = settings_for(running, debug_channel="", private_debug_channel="oncall-debug")
    async with bot_in(running, tmp_path, settings=settings) as bench:
        await in_private(bench)
        await bench.later()
        assert bench.posts(DEBUG) == []


async def test_without_a_debug_channel_the_question_is_answered_all_the_same(
    running: Running, tmp_path: Path
) -> None:
    running.playground.people.kick("oncall", DEBUG)
    async with bot_in(running, tmp_path) as bench:
        await bench.reply(bench.say().ts)
        await bench.later()
        assert bench.posts(DEBUG) == []


async def test_a_debug_thread_whose_root_was_deleted_leaves_nothing_at_the_channel_s_root(
    bench: Bench,
) -> None:
    asked = bench.say()
    await bench.until(lambda: bench.posts(DEBUG))
    bench.pg.world.delete(bench.posts(DEBUG)[0])
    await bench.reply(asked.ts)
    await bench.later()
    assert bench.posts(DEBUG) == []


async def test_an_answer_that_was_under_way_when_outsiders_came_is_not_believed(
    bench: Bench,
) -> None:
    channels = bench.slack._channels
    asking = asyncio.create_task(channels.sure(DEBUG, 30, -1))
    await asyncio.sleep(0)  # it has begun to ask
    channels.doubt(DEBUG)
    assert await asking is None
    assert await channels.sure(DEBUG, 30, 60) is not None
