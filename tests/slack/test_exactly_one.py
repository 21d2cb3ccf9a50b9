"""Exactly one reply: whatever Slack sends twice, loses, limits or refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bot.loop.limits import Limits
from bot.playground import Running
from bot.runs.records import ReplyState
from support.scripted import Lookup, ScriptedModel, answer, called, forever, found, turn
from support.slack_bench import (
    ANSWER,
    BOT,
    INC,
    QUESTION,
    Bench,
    answering,
    bot_in,
    is_reply,
    only_app,
    settings_for,
)


async def no_more_replies(bench: Bench, root: str) -> None:
    """After everything that the bot does later: still one, and none at the channel's root."""
    await bench.later()
    assert len([m for m in bench.posts(INC) if is_reply(m)]) == 1
    assert len(bench.thread(root)) == 1


# --- what Slack sends twice ----------------------------------------------------------------------


async def test_the_same_event_three_times_and_under_another_id_and_an_hour_later_is_one_reply(
    bench: Bench,
) -> None:
    asked = bench.say()
    (first,) = asked.deliveries
    for _ in range(2):
        bench.pg.events.replay(first, new_id=False)
    bench.pg.events.replay(first, new_id=True)
    await bench.reply(asked.ts)
    await bench.pg.clock.advance(3_600)
    bench.pg.events.replay(first, new_id=False)
    bench.pg.events.replay(first, new_id=True)
    await bench.reply(asked.ts)
    assert len(await bench.store.recent(10)) == 1
    assert {d.state for d in bench.pg.outbox.deliveries()} == {"acked"}


async def test_a_mention_that_comes_as_app_mention_and_as_message_is_one_run(bench: Bench) -> None:
    app = only_app(bench.pg)
    events = (*app.events, "message.channels")
    bench.pg.people.change_app(None, lambda was: replace_events(was, events))
    asked = bench.say()
    assert len(asked.deliveries) == 2
    await bench.reply(asked.ts)
    assert len(await bench.store.recent(10)) == 1


def replace_events(app: Any, events: tuple[str, ...]) -> Any:
    from dataclasses import replace  # noqa: PLC0415 - one use

    return replace(app, events=events)


async def test_a_slow_slack_holds_the_acknowledgement_and_its_retries_join_the_first(
    running: Running, tmp_path: Path
) -> None:
    async with bot_in(running, tmp_path) as bench:
        bench.fault("users.info", {"kind": "slow", "seconds": 4.0})
        asked = bench.say()
        await bench.hurried()
        await bench.reply(asked.ts)
        (delivery,) = [d for d in bench.pg.outbox.deliveries() if d.id == asked.deliveries[0].id]
        assert len(delivery.attempts) >= 2
        assert len(await bench.store.recent(10)) == 1


async def test_a_connection_that_is_lost_before_the_acknowledgement_brings_no_second_reply(
    bench: Bench,
) -> None:
    asked = bench.say()
    for connection in bench.pg.sockets.all():
        connection.abort()
    await bench.until(bench.pg.sockets.all, 3)
    await bench.until(lambda: bench.thread(asked.ts))
    await bench.reply(asked.ts)
    assert len(await bench.store.recent(10)) == 1


# --- what goes wrong while posting ---------------------------------------------------------------

FAULTS: dict[str, dict[str, Any]] = {
    "429": {"kind": "rate_limited", "retry_after": 1},
    "429 without a time": {"kind": "rate_limited", "retry_after": None},
    "ok:false ratelimited": {"kind": "soft_rate_limited", "retry_after": 1},
    "5xx": {"kind": "server_error", "status": 503},
    "5xx after it was posted": {"kind": "server_error_after", "status": 504},
    "internal_error": {"kind": "api_error", "error": "internal_error"},
    "fatal_error": {"kind": "api_error", "error": "fatal_error"},
    "reset before it was posted": {"kind": "reset_before"},
    "reset after it was posted": {"kind": "reset_after"},
    "no answer, not posted": {"kind": "hang_before"},
    "no answer, posted": {"kind": "hang_after"},
}


@pytest.mark.parametrize("name", FAULTS)
async def test_one_reply_when_posting_it_meets_a(
    name: str, running: Running, tmp_path: Path
) -> None:
    settings = settings_for(running, call_seconds=0.5)
    async with bot_in(running, tmp_path, settings=settings) as bench:
        bench.fault("chat.postMessage", FAULTS[name], channel=INC)
        asked = bench.say()
        reply = await bench.hurried_reply(asked.ts)
        assert ANSWER in reply.blocks[0]["text"]
        await no_more_replies(bench, asked.ts)


async def test_one_reply_when_the_search_after_a_lost_post_fails_as_well(bench: Bench) -> None:
    bench.fault("chat.postMessage", {"kind": "reset_after"}, channel=INC)
    bench.fault("conversations.replies", {"kind": "server_error"}, times=3)
    bench.fault("conversations.replies", {"kind": "rate_limited", "retry_after": 2})
    asked = bench.say()
    await bench.hurried_reply(asked.ts)
    await no_more_replies(bench, asked.ts)
    posted = [c for c in bench.pg.calls.calls() if c.method == "chat.postMessage"]
    assert len([c for c in posted if c.args["channel"] == INC and c.fault]) == 1
    assert len([c for c in posted if c.args["channel"] == INC]) == 2, "processed, and cut off"


async def test_one_reply_when_slack_stores_a_lost_post_late(
    running: Running, tmp_path: Path
) -> None:
    settings = settings_for(running, call_seconds=0.3)
    async with bot_in(running, tmp_path, settings=settings) as bench:
        bench.fault("chat.postMessage", {"kind": "slow", "seconds": 20.0}, channel=INC)
        asked = bench.say()
        await bench.hurried_reply(asked.ts)
        assert bench.calls("conversations.replies")
        await no_more_replies(bench, asked.ts)


async def test_a_long_answer_is_cut_with_a_notice_and_keeps_its_trace_link(
    running: Running, tmp_path: Path
) -> None:
    async def long(arguments: Any, context: Any) -> Any:
        return found(f"apples {'x' * 90} was found")

    text = " ".join(f"apples {'x' * 90} was found" for _ in range(5))
    model = ScriptedModel(
        turn(called("lookup")), turn(answer(ANSWER, *[(text, ["o1"])] * 12, confidence="high"))
    )
    async with bot_in(running, tmp_path, model=lambda: model, tools=(Lookup(long),)) as bench:
        reply = await bench.reply(bench.say().ts)
    assert len(reply.blocks[0]["text"]) <= 11_500
    assert len(reply.text) + len(reply.blocks[0]["text"]) <= 13_000
    assert "Shortened by " in reply.text
    assert "|Trace>" in reply.text


@pytest.mark.parametrize(
    "errors", [("invalid_blocks",), ("msg_blocks_too_long",), ("invalid_blocks", "msg_too_long")]
)
async def test_blocks_that_slack_refuses_are_posted_as_plain_text(
    bench: Bench, errors: tuple[str, ...]
) -> None:
    for error in errors:
        bench.fault("chat.postMessage", {"kind": "api_error", "error": error}, channel=INC)
    reply = await bench.reply(bench.say().ts)
    assert reply.blocks == ()
    assert ANSWER in reply.text
    assert "|Trace>" in reply.text


# --- questions that are gone ---------------------------------------------------------------------


async def deleted_while_it_works(bench: Bench, lookup: Lookup) -> str:
    asked = bench.say()
    await bench.until(lambda: lookup.ran)
    bench.pg.people.delete("maya", INC, asked.ts)
    return asked.ts


async def gone(bench: Bench) -> None:
    await bench.hurried()
    (run,) = await bench.store.recent(5)
    assert run.reply is not None
    assert run.reply.state is ReplyState.GONE
    assert run.outcome is not None
    assert bench.posts(INC) == []


class Held:
    """A lookup that waits until the test lets go."""

    def __init__(self) -> None:
        import asyncio  # noqa: PLC0415 - one use

        self.go = asyncio.Event()
        self.tool = Lookup(self.look)

    async def look(self, arguments: Any, context: Any) -> Any:
        await self.go.wait()
        return found(f"{arguments.what} was found")


async def test_a_question_that_was_deleted_leaves_nothing_at_the_channel_s_root(
    running: Running, tmp_path: Path
) -> None:
    held = Held()
    async with bot_in(running, tmp_path, tools=(held.tool,)) as bench:
        await deleted_while_it_works(bench, held.tool)
        held.go.set()
        await gone(bench)


async def test_nothing_is_left_either_when_the_post_s_outcome_was_unknown(
    running: Running, tmp_path: Path
) -> None:
    held = Held()
    async with bot_in(running, tmp_path, tools=(held.tool,)) as bench:
        await deleted_while_it_works(bench, held.tool)
        bench.fault("chat.postMessage", {"kind": "reset_after"}, channel=INC)
        bench.fault("chat.delete", {"kind": "rate_limited", "retry_after": 1})
        held.go.set()
        await gone(bench)


async def test_a_channel_that_was_archived_ends_quietly_with_the_trace_kept(
    running: Running, tmp_path: Path
) -> None:
    held = Held()
    async with bot_in(running, tmp_path, tools=(held.tool,)) as bench:
        bench.say()
        await bench.until(lambda: held.tool.ran)
        bench.pg.people.archive(INC)
        held.go.set()
        await gone(bench)


async def test_a_scope_that_was_taken_away_keeps_the_reply_open_until_it_is_back(
    bench: Bench,
) -> None:
    bench.fault("chat.postMessage", {"kind": "api_error", "error": "missing_scope"}, channel=INC)
    asked = bench.say()
    await bench.until(lambda: bench.posted_to(INC))
    await bench.until(lambda: not bench.service._dispatcher._tasks)
    assert bench.thread(asked.ts) == []
    await bench.service.resume_unfinished()
    await bench.hurried_reply(asked.ts)


async def test_a_scope_that_stays_away_ends_the_reply_after_an_hour_with_plain_lines_in_the_log(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    refusal = {"kind": "api_error", "error": "missing_scope"}
    bench.fault("chat.postMessage", refusal, channel=INC, times=None)
    bench.say()
    tries = 0
    while not (await bench.store.recent(1) and (await bench.store.recent(1))[0].replied):
        await bench.hurried()
        await bench.pg.clock.advance(60)
        await bench.service.resume_unfinished()
        tries += 1
        assert tries < 100
    (run,) = await bench.store.recent(1)
    assert run.reply is not None
    assert run.reply.state is ReplyState.GONE
    assert "missing_scope: add the scope" in (run.reply.reference or "")
    assert tries > 50, "about an hour, looked at every minute"
    assert len(bench.posted_to(INC)) < 16, "ever more seldom"
    said = capsys.readouterr().out
    assert "Traceback" not in said
    assert "reply_not_posted" in said


async def test_a_post_that_slack_stores_minutes_after_it_was_given_up_on_is_taken_away_again(
    running: Running, tmp_path: Path
) -> None:
    settings = settings_for(running, call_seconds=0.3)
    async with bot_in(running, tmp_path, settings=settings) as bench:
        bench.fault("chat.postMessage", {"kind": "slow", "seconds": 400.0}, channel=INC)
        asked = bench.say()
        await bench.hurried_reply(asked.ts)
        await no_more_replies(bench, asked.ts)
        assert bench.calls("chat.delete"), "the second one came, and went"


async def test_questions_that_come_together_get_one_reply_each_within_slack_s_rates(
    running: Running, tmp_path: Path
) -> None:
    async with bot_in(running, tmp_path, model=answering) as bench:
        asked = [bench.say(f"{QUESTION} {n}") for n in range(6)]
        await bench.hurried()
        await bench.settled()
        assert [len(bench.thread(one.ts)) for one in asked] == [1] * 6


async def test_the_bot_answers_neither_itself_nor_other_bots_nor_edits(bench: Bench) -> None:
    people = bench.pg.people
    bench.say(user="alertmanager")
    bench.say(user="oncall")
    edited = bench.say("look at this")
    people.edit("maya", INC, edited.ts, "@oncall look at this")
    asked = bench.say()
    await bench.reply(asked.ts)
    people.edit("maya", INC, asked.ts, "@oncall what was found, really?")
    await bench.settled()
    replies = [m for m in bench.posts(INC) if is_reply(m)]
    assert len(replies) == 1
    assert f"<@{BOT}>" not in replies[0].text


async def test_a_reply_of_more_points_than_slack_takes_blocks_is_posted_whole_and_once(
    running: Running, tmp_path: Path
) -> None:
    """What a question that was stopped had found: one block each would be too many."""
    things = [f"fruit {number}" for number in range(56)]

    async def look(arguments: Any, context: Any) -> Any:
        del context
        if arguments.what == "pears":
            await forever()
        return found(f"{arguments.what} was found")

    tool = Lookup(look)
    turns = [
        turn(*(called("lookup", {"what": what}, id=what) for what in things[first : first + 8]))
        for first in range(0, 56, 8)
    ]
    model = ScriptedModel(*turns, turn(called("lookup", {"what": "pears"})))
    limits = Limits(max_steps=9)
    async with bot_in(
        running, tmp_path, model=lambda: model, tools=(tool,), limits=limits
    ) as bench:
        asked = bench.say()
        await bench.until(lambda: tool.ran[-1:] == ["pears"])
        bench.pg.people.react("maya", INC, asked.ts, "octagonal_sign")
        reply = await bench.reply(asked.ts)
        await bench.later()
        assert len(bench.posted_to(INC)) == 1, "Slack took it as it was"
    shown = reply.blocks[0]["text"]
    assert [line.split(" was found")[0] for line in shown.splitlines() if "fruit" in line] == [
        f"- {what}" for what in things
    ]
    assert "Shortened" not in shown
