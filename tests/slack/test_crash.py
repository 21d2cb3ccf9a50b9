"""``kill -9`` of the bot before, during and after its post: after the next start, one reply."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from bench.slack_process import bot
from bot.playground import FaultRule, Running
from bot.playground.model import Message
from bot.playground.people import Draft
from bot.runs.migrate import prepare
from bot.runs.records import ReplyState, RunRecord
from bot.runs.store import Store
from support.slack_bench import BOT, DEBUG, INC, QUESTION, is_reply, until

ALL_COMMITS = range(1, 14)
"""From the acceptance of the question to the record of its reply."""
COMMITS = ALL_COMMITS if os.environ.get("STORM") == "full" else (1, 2, 8, 12)


def ask(running: Running) -> str:
    message, _ = running.playground.people.post("maya", INC, Draft(text=QUESTION))
    return message.ts


def replies(running: Running) -> list[Message]:
    """All of the bot's in the channel, at its root or in a thread."""
    found = running.playground.world.messages[INC].values()
    return [m for m in found if m.user == BOT]


def fault(running: Running, kind: str) -> None:
    rule = {"method": "chat.postMessage", "channel": INC, "fault": {"kind": kind}}
    running.playground.faults.add(FaultRule.model_validate(rule))


async def recorded(folder: Path, holds: Callable[[RunRecord], bool]) -> RunRecord:
    """The run, once the store says so."""
    prepare(folder / "oncall.db")
    store = Store.open(folder / "oncall.db")
    try:
        async with asyncio.timeout(30):
            while True:
                for run in await store.recent(1):
                    if holds(run):
                        return run
                await asyncio.sleep(0.01)
    finally:
        await store.close()


def posted(run: RunRecord) -> bool:
    return run.reply is not None and run.reply.state is ReplyState.POSTED


def intended(run: RunRecord) -> bool:
    return run.reply is not None


async def one_reply_after_the_next_start(running: Running, folder: Path, asked: str) -> None:
    async with bot(running, folder):
        run = await recorded(folder, posted)
        (only,) = replies(running)
        assert is_reply(only)
        assert only.thread_ts == asked
        assert run.reply is not None
        assert run.reply.reference == only.ts


async def test_killed_while_a_tool_runs(running: Running, tmp_path: Path) -> None:
    (tmp_path / "hold").touch()
    async with bot(running, tmp_path):
        asked = ask(running)
        await until(lambda: running.playground.world.messages[DEBUG])
    assert replies(running) == []
    (tmp_path / "hold").unlink()
    await one_reply_after_the_next_start(running, tmp_path, asked)


async def test_killed_before_slack_took_the_post(running: Running, tmp_path: Path) -> None:
    fault(running, "hang_before")
    async with bot(running, tmp_path):
        asked = ask(running)
        await recorded(tmp_path, intended)
        await until(lambda: tries(running))
    assert replies(running) == []
    await one_reply_after_the_next_start(running, tmp_path, asked)


async def test_killed_after_slack_took_the_post_and_before_it_answered(
    running: Running, tmp_path: Path
) -> None:
    fault(running, "hang_after")
    async with bot(running, tmp_path):
        asked = ask(running)
        await until(lambda: replies(running))
    assert not posted(await recorded(tmp_path, intended))
    await one_reply_after_the_next_start(running, tmp_path, asked)


async def test_a_clock_that_was_set_back_before_the_next_start_brings_no_second_reply(
    running: Running, tmp_path: Path
) -> None:
    fault(running, "hang_after")
    async with bot(running, tmp_path):
        asked = ask(running)
        await until(lambda: replies(running))
    await recorded(tmp_path, intended)
    with closing(sqlite3.connect(tmp_path / "oncall.db")) as file, file:
        file.execute("UPDATE replies SET intent_at = datetime(intent_at, '+1 hour')")
    await one_reply_after_the_next_start(running, tmp_path, asked)


@pytest.mark.parametrize("commit", COMMITS)
async def test_killed_right_before_it_is_stored_what_was_done(
    running: Running, tmp_path: Path, commit: int
) -> None:
    async with bot(running, tmp_path, str(commit)) as process:
        asked = ask(running)
        async with asyncio.timeout(20):
            assert await process.wait() == -signal.SIGKILL
    await one_reply_after_the_next_start(running, tmp_path, asked)


async def test_killed_after_the_post_was_recorded(running: Running, tmp_path: Path) -> None:
    async with bot(running, tmp_path):
        asked = ask(running)
        await recorded(tmp_path, posted)
    await one_reply_after_the_next_start(running, tmp_path, asked)


async def test_killed_and_the_question_comes_again_at_the_next_start(
    running: Running, tmp_path: Path
) -> None:
    (tmp_path / "hold").touch()
    async with bot(running, tmp_path):
        _, (delivery,) = running.playground.people.post("maya", INC, Draft(text=QUESTION))
        await until(lambda: running.playground.world.messages[DEBUG])
    (tmp_path / "hold").unlink()
    running.playground.events.replay(delivery, new_id=True)
    asked = delivery.payload["event"]["ts"]
    await one_reply_after_the_next_start(running, tmp_path, asked)


async def test_asked_while_the_bot_was_down(running: Running, tmp_path: Path) -> None:
    asked = ask(running)
    await one_reply_after_the_next_start(running, tmp_path, asked)


def tries(running: Running) -> bool:
    calls = running.playground.calls.calls()
    return any(c.method == "chat.postMessage" and c.args.get("channel") == INC for c in calls)
