"""Access: who may ask and where; everyone else is told once, bots not at all."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.playground import Running
from bot.playground.model import ChannelKind
from bot.slack.access import Allowed, Denied, Ignored, Why, may_ask, may_ask_here
from bot.slack.people import Person
from support.scripted import (
    Canned,
    Lookup,
    ScriptedModel,
    answer,
    called,
    diff,
    found,
    ranking,
    turn,
)
from support.slack_bench import BOT, INC, SHARED, Bench, bot_in, only_app, settings_for

OURS = frozenset({"T1", "E1"})
MEMBER = Person(id="U1", name="maya", team="T1")


@pytest.mark.parametrize(
    ("teams", "person", "verdict"),
    [
        ((), MEMBER, Allowed(MEMBER)),
        (("T1",), MEMBER, Allowed(MEMBER)),
        (("E1",), MEMBER, Allowed(MEMBER)),
        (("T2",), MEMBER, Denied(Why.OUTSIDER)),
        (("E2",), MEMBER, Denied(Why.OUTSIDER)),
        (("T1", "T2"), MEMBER, Denied(Why.OUTSIDER)),
        ((), None, Denied(Why.STRANGE)),
        (("T1",), replace(MEMBER, is_deleted=True), Denied(Why.STRANGE)),
        (("T1",), replace(MEMBER, is_guest=True), Denied(Why.GUEST)),
        (("T1",), replace(MEMBER, is_stranger=True), Denied(Why.OUTSIDER)),
        ((), replace(MEMBER, team="T2"), Denied(Why.OUTSIDER)),
        ((), replace(MEMBER, team=""), Denied(Why.OUTSIDER)),
        ((), replace(MEMBER, team="T9", enterprise="E1"), Allowed(replace(MEMBER, team="T9", enterprise="E1"))),
        ((), replace(MEMBER, is_bot=True), Ignored()),
    ],
)  # fmt: skip
def test_the_decision(teams: tuple[str, ...], person: Person | None, verdict: object) -> None:
    got = may_ask(OURS, teams, person)
    assert got == verdict


def test_channels_are_allowed_by_id_or_by_name_pattern_and_all_when_none_is_named() -> None:
    assert may_ask_here((), "C1", None)
    assert may_ask_here(("C1",), "C1", None)
    assert may_ask_here(("inc-*",), "C1", "inc-checkout")
    assert not may_ask_here(("inc-*",), "C1", None)
    assert not may_ask_here(("inc-*",), "C1", "general")


async def test_a_guest_is_refused_once_in_the_thread(bench: Bench) -> None:
    asked = bench.say(user="gita")
    bench.pg.events.replay(asked.deliveries[0], new_id=False)
    bench.pg.events.replay(asked.deliveries[0], new_id=True)
    refusal = await bench.reply(asked.ts)
    assert "you are a guest" in refusal.text
    await bench.pg.clock.advance(3_600)
    bench.pg.events.replay(asked.deliveries[0], new_id=True)
    await bench.reply(asked.ts)
    assert await bench.store.recent(5) == ()


async def test_an_outsider_of_a_shared_channel_is_refused_once_in_the_thread(
    bench: Bench,
) -> None:
    asked = bench.say(user="oskar", channel=SHARED)
    bench.pg.events.replay(asked.deliveries[0], new_id=True)
    refusal = await bench.reply(asked.ts, SHARED)
    assert "not people of other organisations" in refusal.text
    assert await bench.store.recent(5) == ()


async def test_a_refusal_arrives_once_also_when_posting_it_fails(bench: Bench) -> None:
    bench.fault("chat.postMessage", {"kind": "reset_after"}, channel=INC)
    asked = bench.say(user="gita")
    await bench.until(lambda: bench.thread(asked.ts))
    await bench.later()
    assert len(bench.posts(INC)) == 1


async def test_somebody_whom_slack_does_not_know_is_refused(bench: Bench) -> None:
    bench.fault("users.info", {"kind": "api_error", "error": "user_not_found"})
    asked = bench.say()
    assert "could not find out whether you are a member" in (await bench.reply(asked.ts)).text


async def test_a_question_waits_for_slack_to_say_who_asks_and_is_then_answered(
    bench: Bench,
) -> None:
    bench.fault("users.info", {"kind": "rate_limited", "retry_after": 20})
    bench.fault("users.info", {"kind": "server_error"})
    asked = bench.say()
    await bench.until(lambda: bench.calls("users.info"))
    await bench.hurried_reply(asked.ts)
    await bench.pg.clock.advance(400)
    await bench.reply(asked.ts)
    assert [c["user"] for c in bench.calls("users.info")].count("U0MAYA") == 3


async def test_only_allowed_channels_may_ask_also_one_that_was_created_a_moment_ago(
    running: Running, tmp_path: Path
) -> None:
    settings = settings_for(running, channels=("#inc-*",))
    async with bot_in(running, tmp_path, settings=settings) as bench:
        people = bench.pg.people
        await bench.reply(bench.say().ts)
        elsewhere, _ = people.create_channel("maya", "lunch", ChannelKind.PUBLIC, ("oncall",))
        refused = bench.say(channel=elsewhere.id)
        assert "not set up to answer" in (await bench.reply(refused.ts, elsewhere.id)).text
        new, _ = people.create_channel("maya", "inc-ledger", ChannelKind.PUBLIC, ("oncall",))
        asked = bench.say(channel=new.id)
        await bench.reply(asked.ts, new.id)
        assert len(await bench.store.recent(5)) == 2


async def test_direct_messages_can_be_switched_off(running: Running, tmp_path: Path) -> None:
    settings = settings_for(running, direct_messages=False)
    async with bot_in(running, tmp_path, settings=settings) as bench:
        direct = bench.pg.people.direct("maya", "oncall").id
        asked = bench.say("what was found?", channel=direct)
        assert "direct messages" in (await bench.reply(asked.ts, direct)).text


async def test_where_outsiders_are_present_there_is_no_code_no_diff_and_no_trace_link(
    running: Running, tmp_path: Path
) -> None:
    model = ScriptedModel(
        turn(called("search_deploy")),
        turn(called("get_diff")),
        turn(
            answer(
                "payments-api deploy 4471 caused the checkout incident: `retry.budget: 5s → 1s`",
                ("Deploy 4471 finished 01:44 UTC, 22 min before onset", ["o1"]),
                ("It changed 12 files; `retry.budget: 5s → 1s` in config/retry.yaml", ["o2"]),
            )
        ),
    )
    tools = (Canned("search_deploy", ranking()), Canned("get_diff", diff()))
    async with bot_in(running, tmp_path, model=lambda: model, tools=tools) as bench:
        question = "<@U0ONCALL> what caused the checkout incident and what changed in deploy 4471?"
        asked = bench.say(question, channel=SHARED)
        reply = await bench.reply(asked.ts, SHARED)
    for shown in (reply.text, reply.blocks[0]["text"]):
        assert "deploy 4471 caused the checkout incident" in shown
        assert "finished 01:44 UTC" in shown
        assert "5s" not in shown
        assert "retry" not in shown
        assert "Trace]" not in shown
        assert "/t/" not in shown
        assert "People from outside are in this channel" in shown


@pytest.mark.parametrize("slack", ["tells", "does not tell"])
async def test_a_reply_holds_no_code_once_outsiders_have_come_or_may_have(
    running: Running, tmp_path: Path, slack: str
) -> None:
    holds = asyncio.Event()

    async def look(arguments: Any, context: Any) -> Any:
        del arguments, context
        await holds.wait()
        return found("apples was found")

    async with bot_in(running, tmp_path, tools=(Lookup(look),)) as bench:
        asked = bench.say()
        await bench.until(lambda: bench.service.load.running)
        bench.pg.people.invite("oskar", INC, "maya")
        await bench.until(lambda: all(d.state == "acked" for d in bench.pg.outbox.deliveries()[1:]))
        if slack == "does not tell":
            bench.fault("conversations.info", {"kind": "server_error"}, times=None, channel=INC)
        holds.set()
        reply = await bench.hurried_reply(asked.ts)
    assert "People from outside are in this channel" in reply.blocks[0]["text"]
    assert "/t/" not in reply.blocks[0]["text"]


async def test_a_new_incident_channel_is_joined_by_itself_where_that_is_wanted(
    running: Running, tmp_path: Path
) -> None:
    app = only_app(running.playground)
    scopes = (*app.scopes, "channels:join")
    running.playground.people.change_app(None, lambda was: replace(was, scopes=scopes))
    settings = settings_for(running, channels=("inc-*",), join_channels=True)
    async with bot_in(running, tmp_path, settings=settings) as bench:
        people, members = bench.pg.people, bench.pg.world.channels
        new, _ = people.create_channel("maya", "inc-ledger", ChannelKind.PUBLIC, ())
        lunch, _ = people.create_channel("maya", "lunch", ChannelKind.PUBLIC, ())
        await bench.until(lambda: BOT in members[new.id].members)
        await bench.settled()
        assert BOT not in members[lunch.id].members
        await bench.reply(bench.say(channel=new.id).ts, new.id)


async def test_by_default_the_bot_joins_nothing(bench: Bench) -> None:
    new, _ = bench.pg.people.create_channel("maya", "inc-ledger", ChannelKind.PUBLIC, ())
    await bench.settled()
    await bench.later()
    assert bench.calls("conversations.join") == []
    assert BOT not in bench.pg.world.channels[new.id].members
