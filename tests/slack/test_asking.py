"""Asking: a mention or a direct message brings one reply in its thread."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from bot.loop.limits import StopReason
from bot.loop.outcome import Failure
from bot.loop.wire import Request, Turn
from bot.playground import Running
from bot.playground.log import DeliveryState
from bot.playground.people import Draft
from bot.runs.dispatch import QueueLimits
from support.scripted import Lookup, ScriptedModel, answer, called, forever, found, turn
from support.slack_bench import (
    ANSWER,
    BOT,
    INC,
    QUESTION,
    Bench,
    answering,
    bot_in,
    local_slack,
)


async def test_a_mention_is_answered_once_in_its_thread(bench: Bench) -> None:
    asked = bench.say()
    reply = await bench.reply(asked.ts)
    assert reply.thread_ts == asked.ts
    assert ANSWER in reply.blocks[0]["text"]
    assert ANSWER in reply.text[:120]
    assert "confidence" in reply.text[:120].lower()
    assert [m.ts for m in bench.posts(INC)] == [reply.ts]


async def test_the_reply_cites_its_evidence_and_links_to_the_trace(bench: Bench) -> None:
    shown = (await bench.reply(bench.say().ts)).blocks[0]["text"]
    assert f"- {ANSWER} [1]" in shown
    assert "[1] lookup · 2 steps" in shown
    assert "· [Trace](http://127.0.0.1:8410/t/" in shown


async def test_eyes_come_at_once_and_a_mark_replaces_them_when_it_is_answered(
    running: Running, tmp_path: Path
) -> None:
    lookup = Lookup(forever)
    async with bot_in(running, tmp_path, tools=(lookup,)) as bench:
        asked = bench.say()
        await bench.until(lambda: bench.reactions(asked.ts) == {"eyes"}, 0.5)
        await bench.until(lambda: lookup.ran)
        bench.pg.people.react("maya", INC, asked.ts, "octagonal_sign")
        await bench.reply(asked.ts)
        await bench.until(lambda: bench.reactions(asked.ts) == {"x"})
    async with bot_in(running, tmp_path) as bench:
        asked = bench.say()
        await bench.until(lambda: bench.reactions(asked.ts) == {"white_check_mark"})


async def test_the_thread_says_what_the_bot_is_doing_and_stops_saying_it(
    running: Running, tmp_path: Path
) -> None:
    lookup = Lookup(forever)
    async with bot_in(running, tmp_path, tools=(lookup,)) as bench:
        asked = bench.say()
        place = (INC, asked.ts)
        await bench.until(lambda: "using lookup" in status(bench, place))
        await bench.until(lambda: bench.pg.people.sessions.get(place) == "processing")
        bench.pg.people.react("maya", INC, asked.ts, "octagonal_sign")
        await bench.reply(asked.ts)
        await bench.until(lambda: not status(bench, place))
        await bench.until(lambda: bench.pg.people.sessions.get(place) == "active")


def status(bench: Bench, place: tuple[str, str]) -> str:
    shown = bench.pg.statuses().get(place)
    return shown.text if shown else ""


async def test_a_direct_message_is_answered_in_its_thread(bench: Bench) -> None:
    direct = bench.pg.people.direct("maya", "oncall").id
    asked = bench.say("What was found?", channel=direct)
    assert (await bench.reply(asked.ts, direct)).thread_ts == asked.ts


async def test_a_follow_up_in_a_thread_knows_what_was_said_in_it_alerts_included(
    running: Running, tmp_path: Path
) -> None:
    model = answering()
    async with bot_in(running, tmp_path, model=lambda: model) as bench:
        alert = next(m for m in bench.pg.world.top_level(INC) if m.bot_id == "B0ALERTS")
        bench.say(
            "It began with the &lt;cart&gt;, see <https://x.test/a|x.test/a>", thread=alert.ts
        )
        bench.say(
            "",
            thread=alert.ts,
            blocks=({"type": "section", "text": {"type": "mrkdwn", "text": "only in blocks"}},),
        )
        asked = bench.say(thread=alert.ts)
        bench.say("said afterwards", thread=alert.ts)
        reply = await bench.reply(alert.ts)
        assert reply.ts > asked.ts
    thread = "\n".join(model.requests[0].question.thread)
    assert "Alertmanager: FIRING: checkout error rate 14 %" in thread
    assert "POST /checkout" in thread
    assert "Error rate: 14 %" in thread
    assert "It began with the <cart>, see https://x.test/a" in thread
    assert "only in blocks" in thread
    assert "said afterwards" not in thread
    assert QUESTION not in thread


async def test_the_question_is_read_as_a_person_reads_it_at_its_message_s_time(
    running: Running, tmp_path: Path
) -> None:
    model = answering()
    async with bot_in(running, tmp_path, model=lambda: model) as bench:
        asked = bench.say(
            f"<@{BOT}>  what of &lt;b&gt; &amp; <#{INC}|inc-checkout>, <@U0JONAS|jonas>?"
        )
        await bench.reply(asked.ts)
    question = model.requests[0].question
    assert question.text == "what of <b> & #inc-checkout, @jonas?"
    assert question.asked_at.timestamp() == pytest.approx(float(asked.ts))
    assert question.asked_at.year == 2026


@pytest.mark.parametrize("text", ["", "help", "Help?"])
async def test_an_empty_mention_gets_short_help_and_no_run(bench: Bench, text: str) -> None:
    asked = bench.say(f"<@{BOT}> {text}")
    reply = await bench.reply(asked.ts)
    assert reply.text.startswith("Ask me what caused an incident")
    assert await bench.store.recent(5) == ()


@pytest.mark.parametrize("text", ["hello there", "@oncall what was found?", "<@U0MAYA> look"])
async def test_what_does_not_mention_the_bot_is_no_question(bench: Bench, text: str) -> None:
    bench.say(text)
    asked = bench.say()
    await bench.reply(asked.ts)
    assert len(bench.posts(INC)) == 1


async def test_when_too_many_questions_wait_the_next_one_is_told_so_once(
    running: Running, tmp_path: Path
) -> None:
    queue = QueueLimits(running=1, waiting=0)
    async with bot_in(running, tmp_path, tools=(Lookup(forever),), queue=queue) as bench:
        first = bench.say()
        await bench.until(lambda: bench.reactions(first.ts))
        late = bench.say()
        notice = await bench.until(lambda: bench.thread(late.ts))
        assert "too many questions" in notice[0].text
        bench.pg.events.replay(late.deliveries[0], new_id=True)
        bench.pg.people.react("maya", INC, first.ts, "octagonal_sign")
        await bench.reply(first.ts)
        assert len(bench.thread(late.ts)) == 1


async def test_a_question_that_waits_for_its_turn_says_how_many_are_before_it(
    running: Running, tmp_path: Path
) -> None:
    queue = QueueLimits(running=1, waiting=5)
    async with bot_in(running, tmp_path, tools=(Lookup(forever),), queue=queue) as bench:
        asked = [bench.say()]
        await bench.until(lambda: bench.reactions(asked[0].ts))
        for _ in range(2):
            asked.append(bench.say())
            await bench.until(lambda: status(bench, (INC, asked[-1].ts)))
        assert "1 question before this one" in status(bench, (INC, asked[1].ts))
        assert "2 questions before this one" in status(bench, (INC, asked[2].ts))
        for one in asked:
            bench.pg.people.react("maya", INC, one.ts, "octagonal_sign")
        for one in asked:
            await bench.reply(one.ts)


async def test_a_shortcut_where_the_bot_is_no_member_is_answered_in_a_direct_message_once(
    bench: Bench,
) -> None:
    people = bench.pg.people
    message, _ = people.post("maya", "general", Draft(text="checkout is slow"))
    delivery = people.shortcut("maya", "general", message.ts, "ask_about_this")
    direct = people.direct("maya", "oncall").id
    (told,) = await bench.until(lambda: bench.posts(direct))
    assert "/invite @oncall" in told.text
    bench.pg.events.replay(delivery, new_id=False)
    await bench.settled()
    await bench.later()
    assert len(bench.posts(direct)) == 1
    assert await bench.store.recent(5) == ()


async def test_a_bot_that_is_about_to_end_says_so_and_closes_what_it_works_on(
    running: Running, tmp_path: Path
) -> None:
    async with bot_in(running, tmp_path, tools=(Lookup(forever),)) as bench:
        first = bench.say()
        await bench.until(lambda: bench.reactions(first.ts))
        await bench.service.close(0.0)
        reply = await bench.reply(first.ts)
        assert reply.blocks[0]["text"].startswith("No answer. ")
        (run,) = await bench.store.recent(5)
        assert isinstance(run.outcome, Failure)
        assert run.outcome.reason is StopReason.INTERRUPTED
        late = bench.say()
        assert "being restarted" in (await bench.reply(late.ts)).text


async def test_every_subscribed_event_is_acknowledged(bench: Bench) -> None:
    people = bench.pg.people
    people.open_home("maya", "home")
    people.create_channel("maya", "inc-new", "channel", ("oncall",))  # type: ignore[arg-type]
    people.invite("oncall", "general", "maya")
    people.react("maya", INC, bench.say("hello").ts, "tada")
    await bench.settled()
    assert {d.state for d in bench.pg.outbox.deliveries()} == {"acked"}
    assert {len(d.attempts) for d in bench.pg.outbox.deliveries()} == {1}


async def test_oauth_variables_in_the_environment_change_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SLACK_CLIENT_ID", "SLACK_CLIENT_SECRET", "SLACK_BOT_TOKEN"):
        monkeypatch.setenv(name, "1.2")
    monkeypatch.chdir(tmp_path)
    async with local_slack() as running, bot_in(running, tmp_path) as bench:
        await bench.reply(bench.say().ts)


async def test_a_failure_says_why_what_was_found_and_what_to_check(
    running: Running, tmp_path: Path
) -> None:
    async def fails(request: Request) -> Turn:
        return turn(called("lookup", {"what": "pears"}), text="again")

    model = ScriptedModel(turn(called("lookup", {"what": "apples"})), *[fails] * 7)
    async with bot_in(running, tmp_path, model=lambda: model) as bench:
        shown = (await bench.reply(bench.say().ts)).blocks[0]["text"]
    assert shown.startswith("No answer. It kept asking for what it already had.")
    assert "- apples was found [1]" in shown
    assert "Check next: " in shown
    assert "[Trace](" in shown


async def test_mentions_written_by_the_model_are_dead_text(
    running: Running, tmp_path: Path
) -> None:
    spell = "<!channel> @here <@U0JONAS> apples was found"
    model = ScriptedModel(
        turn(called("lookup", {"what": "<!channel> @here <@U0JONAS> apples"})),
        turn(answer(spell, (spell, ["o1"]))),
    )
    async with bot_in(running, tmp_path, model=lambda: model) as bench:
        reply = await bench.reply(bench.say().ts)
        debug = "\n".join(m.text for m in bench.posts("C0DEBUG"))
    for shown in (reply.text, reply.blocks[0]["text"], debug):
        assert "<!" not in shown
        assert "<@" not in shown
        assert "@here" not in shown
    assert "&lt;!channel&gt;" in reply.blocks[0]["text"]


async def test_nothing_the_bot_posts_unfurls(bench: Bench) -> None:
    await bench.reply(bench.say().ts)
    await bench.reply(bench.say(f"<@{BOT}>").ts)
    await bench.until(lambda: bench.posts("C0DEBUG"))
    for args in bench.calls("chat.postMessage"):
        assert args["unfurl_links"] is False
        assert args["unfurl_media"] is False


async def test_the_message_shortcut_asks_about_an_alert_in_its_thread_once(
    running: Running, tmp_path: Path
) -> None:
    model = answering()
    async with bot_in(running, tmp_path, model=lambda: model) as bench:
        alert = next(m for m in bench.pg.world.top_level(INC) if m.bot_id == "B0ALERTS")
        for user in ("maya", "jonas"):
            bench.pg.people.shortcut(user, INC, alert.ts, "ask_about_this")
        await bench.reply(alert.ts)
        assert len(await bench.store.recent(5)) == 1
    assert "What caused this? FIRING: checkout error rate" in model.requests[0].question.text


async def test_a_shortcut_is_acknowledged_in_time_while_slack_is_slow_and_is_answered_later(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.slack.listeners.CLICK_SECONDS", 0.1)
    bench.fault("users.info", {"kind": "slow", "seconds": 2_000})
    alert = next(m for m in bench.pg.world.top_level(INC) if m.bot_id == "B0ALERTS")
    delivery = bench.pg.people.shortcut("maya", INC, alert.ts, "ask_about_this")

    def state() -> DeliveryState:
        return next(d.state for d in bench.pg.outbox.deliveries() if d.id == delivery.id)

    await bench.until(lambda: state() is not DeliveryState.PENDING)
    assert state() is DeliveryState.ACKED
    assert await bench.store.recent(5) == ()
    await bench.pg.clock.advance(2_000)
    await bench.reply(alert.ts)


async def test_a_guest_who_points_at_a_message_keeps_no_member_from_asking_about_it(
    bench: Bench,
) -> None:
    alert = next(m for m in bench.pg.world.top_level(INC) if m.bot_id == "B0ALERTS")
    for user in ("gita", "maya"):
        bench.pg.people.shortcut(user, INC, alert.ts, "ask_about_this")
        await bench.settled()
    refusal, reply = await bench.until(
        lambda: posts if len(posts := bench.thread(alert.ts)) == 2 else None
    )
    assert "you are a guest" in refusal.text + reply.text
    assert len(await bench.store.recent(5)) == 1


async def test_the_signs_of_life_end_when_another_process_took_the_question_over(
    running: Running, tmp_path: Path
) -> None:
    hold = asyncio.Event()

    async def look(arguments: Any, context: Any) -> Any:
        del context
        await hold.wait()
        return found(f"{arguments.what} was found")

    async with bot_in(running, tmp_path, tools=(Lookup(look),)) as bench:
        asked = bench.say()

        def said() -> list[str]:
            return [c["status"] for c in bench.calls("assistant.threads.setStatus")]

        await bench.until(lambda: "is using lookup…" in said())
        (run,) = await bench.store.recent(5)
        now = bench.service._clock.now()
        assert await bench.store.claim(run, "another", now, now)
        hold.set()
        await bench.hurried_until(lambda: said()[-1] == "")
        await bench.later()
        assert bench.thread(asked.ts) == []
        assert bench.reactions(asked.ts) == {"eyes"}, "the other one takes them away"
        assert bench.pg.people.sessions[INC, asked.ts] == "active"
