"""A run's life from acceptance to its one reply, with the real loop and a real store."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.loop.journal import Event, RunStarted
from bot.loop.limits import Limits, StopReason
from bot.loop.outcome import Answer
from bot.loop.question import MAX_QUESTION
from bot.loop.stopping import Clock
from bot.redact import Redactor
from bot.runs.dispatch import QueueLimits
from bot.runs.errors import NoWorkbenchError
from bot.runs.records import Notice, ReplyState, RunRecord, RunState
from bot.runs.service import (
    Aborting,
    AlreadyFinished,
    Closing,
    Duplicate,
    QueueFull,
    UnknownRun,
    Workbench,
)
from runs.bench import Channel, accepted, ask, failed, serving
from support.scripted import NOW, Lookup, ScriptedModel, answer, called, forever, found, turn

SECRET = "xoxb-123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx"


class Slow:
    """A tool's behaviour that says when it began and never ends by itself."""

    def __init__(self) -> None:
        self.began = asyncio.Event()
        self.cancelled = False

    async def __call__(self, *_: object) -> Any:
        self.began.set()
        try:
            await forever()
        finally:
            self.cancelled = True


# --- one question, one reply --------------------------------------------------------------------


async def test_a_question_gets_one_reply_and_its_events_are_shown_in_order(database: Path) -> None:
    channel = Channel()
    async with serving(database, channel, Lookup()) as service:
        run = await accepted(service)
        await service.wait(run.id)
        stored = await service.store.run(run.id)
    assert [reply[0].id for reply in channel.replies] == [run.id]
    outcome = channel.replies[0][1]
    assert isinstance(outcome, Answer)
    assert outcome.headline == "apples was found"
    assert channel.begun == [run.id]
    kinds = [event.kind for event in channel.events]
    assert kinds[0] == "run_started"
    assert kinds[-1] == "run_ended"
    assert kinds.count("tool_returned") == 2
    assert stored is not None
    assert (stored.state, stored.outcome) == (RunState.ENDED, outcome)
    assert stored.reply is not None
    assert (stored.reply.state, stored.reply.reference) == (ReplyState.POSTED, "post-1")


async def test_the_same_message_again_is_a_duplicate_that_names_its_run(database: Path) -> None:
    channel = Channel()
    async with serving(database, channel, Lookup()) as service:
        run = await accepted(service, seen_keys=("event-1",))
        again = await service.accept(ask(seen_keys=("event-2",)))
        assert isinstance(again, Duplicate)
        assert again.run is not None
        assert again.run.id == run.id
        await service.wait(run.id)
    assert len(channel.replies) == 1


async def test_a_secret_in_the_question_or_the_thread_reaches_no_disk(database: Path) -> None:
    channel = Channel()
    async with serving(database, channel, Lookup(), redactor=Redactor) as service:
        run = await accepted(service, text=f"What does {SECRET} open?", thread=(f"try {SECRET}",))
        await service.wait(run.id)
    files = b"".join(file.read_bytes() for file in database.parent.iterdir() if file.is_file())
    assert SECRET.encode() not in files
    assert SECRET not in str(channel.events)


async def test_a_question_of_any_size_and_any_bytes_is_stored_bounded(database: Path) -> None:
    channel = Channel()
    text = "What was found? \udce2\x00 " + "why " * 5_000
    async with serving(database, channel, Lookup()) as service:
        run = await accepted(service, text=text, thread=tuple("x" * 9_000 for _ in range(80)))
        await service.wait(run.id)
    stored = channel.replies[0][0]
    assert len(stored.question) == MAX_QUESTION + 1
    assert "\x00" not in stored.question
    assert len(stored.thread) == 50
    assert all(len(message) == MAX_QUESTION for message in stored.thread)
    started = next(event for event in channel.events if isinstance(event, RunStarted))
    assert started.question.cut


# --- watchers -----------------------------------------------------------------------------------


async def test_a_watcher_that_fails_or_is_slow_neither_breaks_nor_delays_the_reply(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.runs.service.LINGER_SECONDS", 0.05)

    async def fail(event: Event) -> None:
        raise RuntimeError("the debug channel is archived")

    broken = Channel(on_event=fail)
    async with serving(database, broken, Lookup()) as service:
        await service.wait((await accepted(service)).id)
    assert len(broken.replies) == 1

    async def block(event: Event) -> None:
        await forever()

    slow = Channel(on_event=block)
    async with serving(database, slow, Lookup()) as service:
        await accepted(service, key="m2")
        async with asyncio.timeout(3):
            while not slow.replies:
                await asyncio.sleep(0.01)


# --- stopping -----------------------------------------------------------------------------------


@pytest.mark.alone
async def test_a_stop_cancels_the_tool_at_once_and_the_reply_says_what_was_found(
    database: Path,
) -> None:
    slow = Slow()

    async def does(arguments: Any, context: Any) -> Any:
        return found("apples was found") if arguments.what == "apples" else await slow()

    channel = Channel()
    script = (
        turn(called("lookup", {"what": "apples"})),
        turn(called("lookup", {"what": "pears"})),
    )
    async with serving(
        database, channel, Lookup(does), model=lambda: ScriptedModel(*script)
    ) as service:
        run = await accepted(service)
        await slow.began.wait()
        async with asyncio.timeout(1):
            assert isinstance(await service.abort(run.id, "ada"), Aborting)
            second = await service.abort(run.id, "grace")
            await service.wait(run.id)
        assert isinstance(second, Aborting | AlreadyFinished)
        assert isinstance(await service.abort(run.id, "grace"), AlreadyFinished)
        assert isinstance(await service.abort("nothing", "ada"), UnknownRun)
    assert slow.cancelled
    outcome = failed(channel)
    assert outcome.reason is StopReason.ABORTED
    assert "ada" in outcome.detail
    assert [one.text for one in outcome.established] == ["apples was found"]
    assert len(channel.replies) == 1


@pytest.mark.alone
async def test_a_question_that_waits_in_the_queue_can_be_stopped_too(database: Path) -> None:
    slow = Slow()
    channel = Channel()
    async with serving(
        database, channel, Lookup(slow), queue=QueueLimits(running=1, waiting=2)
    ) as service:
        await accepted(service, key="m1")
        await slow.began.wait()
        waiting = await accepted(service, key="m2")
        async with asyncio.timeout(1):
            await service.abort(waiting.id, "ada")
            await service.wait(waiting.id)
        assert [run.id for run, _ in channel.replies] == [waiting.id]
        assert failed(channel).reason is StopReason.ABORTED


async def test_a_full_queue_is_told_once_a_message_and_makes_no_run(database: Path) -> None:
    slow = Slow()
    channel = Channel()
    async with serving(
        database, channel, Lookup(slow), queue=QueueLimits(running=1, waiting=1)
    ) as service:
        await accepted(service, key="m1")
        await accepted(service, key="m2")
        busy = Notice("m3", "channel", {"channel": "C1"}, {"text": "Too many."})
        full = await service.accept(ask("m3", seen_keys=("e1",), if_full=busy))
        assert isinstance(full, QueueFull)
        assert full.told is not None
        assert full.told.notice == busy
        again = await service.accept(ask("m3", seen_keys=("e2",), if_full=busy))
        assert isinstance(again, Duplicate)
        assert len(await service.store.recent(10)) == 2


async def test_who_asks_again_by_himself_after_a_full_queue_has_a_new_chance(
    database: Path,
) -> None:
    slow = Slow()
    channel = Channel()
    async with serving(
        database, channel, Lookup(slow), queue=QueueLimits(running=1, waiting=0)
    ) as service:
        first = await accepted(service, key="m1")
        assert isinstance(await service.accept(ask("m2")), QueueFull)
        assert isinstance(await service.accept(ask("m2")), QueueFull)
        again = await service.accept(ask("m1"))
        assert isinstance(again, Duplicate)
        assert again.run is not None
        assert again.run.id == first.id
        await service.abort(first.id, "ada")
        await service.wait(first.id)
        await accepted(service, key="m2")
        assert isinstance(await service.accept(ask("m2")), Duplicate)


async def test_a_question_that_waited_too_long_is_closed_with_a_reason(database: Path) -> None:
    channel = Channel()
    seconds = 0.0
    clock = Clock(now=lambda: NOW + timedelta(seconds=seconds))
    slow = Slow()
    async with serving(
        database, channel, Lookup(slow), queue=QueueLimits(running=1), clock=clock
    ) as service:
        first = await accepted(service, key="m1")
        await slow.began.wait()
        second = await accepted(service, key="m2")
        seconds = 121.0
        await service.abort(first.id, "ada")
        await service.wait(second.id)
    assert failed(channel, 1).reason is StopReason.DEADLINE


async def test_at_the_end_no_question_is_taken_and_what_does_not_end_in_time_is_closed(
    database: Path,
) -> None:
    slow = Slow()
    channel = Channel()
    async with serving(database, channel, Lookup(slow), queue=QueueLimits(running=1)) as service:
        await accepted(service, key="m1")
        await accepted(service, key="m2")
        await slow.began.wait()
        await service.close(0.01)
        assert isinstance(await service.accept(ask("m3")), Closing)
    assert slow.cancelled
    assert [failed(channel, n).reason for n in (0, 1)] == [StopReason.INTERRUPTED] * 2


# --- what fails inside --------------------------------------------------------------------------


async def test_a_fault_inside_is_a_plain_failure_and_its_traceback_reaches_nobody(
    database: Path,
) -> None:
    def broken(run: RunRecord) -> Workbench:
        raise KeyError("internal detail")

    channel = Channel()
    async with serving(database, channel, workbench=broken) as service:
        await service.wait((await accepted(service)).id)
    outcome = failed(channel)
    assert outcome.reason is StopReason.INTERRUPTED
    assert "internal detail" not in str(outcome)
    assert "its log has the reason" in outcome.detail


async def test_a_workspace_that_broke_while_the_bot_runs_is_said_in_its_own_words(
    database: Path,
) -> None:
    def broken(run: RunRecord) -> Workbench:
        raise NoWorkbenchError("/shop/oncall.toml does not exist")

    channel = Channel()
    async with serving(database, channel, workbench=broken) as service:
        await service.wait((await accepted(service)).id)
    assert failed(channel).detail == "/shop/oncall.toml does not exist"


async def test_a_fault_after_a_finished_tool_keeps_what_that_established(database: Path) -> None:
    async def crash(request: object) -> Any:
        raise RuntimeError("a bug in an adapter")

    channel = Channel()
    script = (turn(called("lookup", {"what": "apples"})), crash)
    async with serving(
        database, channel, Lookup(), model=lambda: ScriptedModel(*script)
    ) as service:
        await service.wait((await accepted(service)).id)
    assert [one.text for one in failed(channel).established] == ["apples was found"]


@pytest.mark.parametrize("reserve", [0.0, 5.0])
async def test_the_reserve_is_kept_of_the_deadline_for_the_reply(
    database: Path, reserve: float
) -> None:
    limits = Limits(
        deadline_seconds=reserve + 0.3,
        reserve_seconds=reserve,
        model_call_seconds=0.2,
        tool_call_seconds=0.2,
        model_retries=0,
    )
    script = tuple(turn(called("lookup", {"what": str(n)})) for n in range(8))
    slow = Slow()
    channel = Channel()
    async with serving(
        database, channel, Lookup(slow), model=lambda: ScriptedModel(*script), limits=limits
    ) as service:
        async with asyncio.timeout(3):
            await service.wait((await accepted(service)).id)
    assert failed(channel).reason is StopReason.DEADLINE


async def test_an_answer_that_was_never_stopped_is_not_marked_so(database: Path) -> None:
    channel = Channel()
    model = ScriptedModel(
        turn(called("lookup", {"what": "apples"})),
        turn(answer("apples was found", ("apples was found", ["o1"]))),
    )
    async with serving(database, channel, Lookup(), model=lambda: model) as service:
        run = await accepted(service)
        await service.wait(run.id)
        late = await service.abort(run.id, "ada")
    assert isinstance(late, AlreadyFinished)
    assert isinstance(late.run.outcome, Answer)
    assert late.run.abort_requested_by is None
