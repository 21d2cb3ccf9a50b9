"""Tools at work: what they are given, what the model hears of them, and how they are stopped."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import date
from typing import ClassVar

import pytest
import structlog
from pydantic import Field

from bot.loop.engine import run
from bot.loop.journal import Event, MemoryJournal, ToolCalled, ToolReturned, WasCut
from bot.loop.limits import Limits, StopReason
from bot.loop.outcome import Answer, Failure, Outcome, Proposal
from bot.loop.state import Phase
from bot.loop.stopping import Clock, Stop
from bot.loop.toolbox import MOST_CHARACTERS, READ_AT_ONCE, Toolbox
from bot.loop.wire import ResultMessage
from support.scripted import (
    NOW,
    Lookup,
    LookupArguments,
    Play,
    Restart,
    ScriptedModel,
    answer,
    asked,
    called,
    found,
    play,
    stop_after,
    toolbox,
    turn,
)
from support.virtual_loop import VirtualLoop
from tools.base import Arguments, CallContext, Status, Tool, ToolError, ToolResult

APPLES = turn(called("lookup", {"what": "apples"}))
UNKNOWN = turn(answer("none", unknowns=["all"], confidence="none"))


def told(model: ScriptedModel, request: int) -> list[str]:
    """The results that the model reads in this request, without their head line."""
    texts = [m.text for m in model.requests[request].messages if isinstance(m, ResultMessage)]
    return [text.split("\n", 1)[1] for text in texts]


@pytest.fixture
def loop() -> Iterator[VirtualLoop]:
    loop = VirtualLoop()
    asyncio.set_event_loop(loop)
    loop.play(asyncio.sleep(100))
    yield loop
    asyncio.set_event_loop(None)
    loop.close()


# --- what a tool is given -------------------------------------------------------------------------


async def test_a_tool_gets_the_clock_of_the_question_and_the_earlier_results_whole() -> None:
    contexts: list[CallContext] = []
    whole = "apples was found\n" + "a line\n" * 1_000

    async def keeps(arguments: LookupArguments, context: CallContext) -> ToolResult:
        contexts.append(context)
        return found(whole if arguments.what == "apples" else "pears")

    pears = turn(called("lookup", {"what": "pears"}))
    await play(ScriptedModel(APPLES, pears, UNKNOWN), Lookup(keeps))
    assert [context.now for context in contexts] == [NOW, NOW]
    assert [dict(context.earlier) for context in contexts] == [{}, {"o1": whole}]


class DatedArguments(Arguments):
    day: date = Field(default=date(2026, 11, 29), description="The day.")
    limit: int = Field(default=5, ge=1, description="How many.")


class Dated(Tool[DatedArguments]):
    name: ClassVar[str] = "dated"
    description: ClassVar[str] = "Looks at a day."
    arguments: type[DatedArguments] = DatedArguments

    async def run(self, arguments: DatedArguments, context: CallContext) -> ToolResult:
        return found(f"{arguments.day:%A}")


async def test_arguments_are_told_checked_as_json_and_without_their_defaults() -> None:
    raw = '{"day": "2026-11-28", "limit": "5"}'
    journal, model = MemoryJournal(), ScriptedModel(turn(called("dated", raw)), UNKNOWN)
    await play(model, Dated(), journal=journal)
    event = next(e for e in journal.events if isinstance(e, ToolCalled))
    assert event.arguments == {"day": "2026-11-28"}
    (seen,) = model.requests[1].seen
    assert (seen.arguments, seen.asked) == ({"day": "2026-11-28"}, raw)


async def test_an_answer_is_kept_with_its_arguments_and_is_no_observation_to_read() -> None:
    wrong = turn(answer("9999 was found", ("9999 was found", ["o1"])))
    journal, model = MemoryJournal(), ScriptedModel(APPLES, wrong, UNKNOWN)
    await play(model, Lookup(), journal=journal)
    event = [e for e in journal.events if isinstance(e, ToolCalled)][1]
    assert event.tool == "answer"
    assert event.arguments["confidence"] == "high"
    assert [seen.id for seen in model.requests[2].seen] == ["o1"]


# --- what the model hears -------------------------------------------------------------------------


async def test_a_rejected_answer_is_told_each_problem_on_a_line() -> None:
    wrong = turn(answer("apples was found", ("7 pears", ["o1"]), ("8 plums", ["o1"])))
    journal, model = MemoryJournal(), ScriptedModel(APPLES, wrong, UNKNOWN)
    await play(model, Lookup(), journal=journal)
    assert told(model, 2)[1] == (
        "The answer was rejected and reached nobody:\n"
        "- claim 1: number '7' does not occur in o1\n"
        "- claim 2: number '8' does not occur in o1\n"
        "Mend it from the observations, or leave out what they do not show."
    )
    returned = [e for e in journal.events if isinstance(e, ToolReturned) and e.tool == "answer"]
    assert [(e.status, e.summary, e.seconds) for e in returned] == [
        (
            Status.ERROR,
            "the answer was rejected: claim 1: number '7' does not occur in o1",
            0.0,
        ),
        (Status.OK, "the answer holds", 0.0),
    ]


async def test_a_rejected_answer_is_summed_up_within_bounds() -> None:
    wrong = turn(answer("apples was found", ("7 pears", ["o" + "9" * 300])))
    journal = MemoryJournal()
    await play(ScriptedModel(APPLES, wrong, UNKNOWN), Lookup(), journal=journal)
    rejected = next(e for e in journal.events if isinstance(e, ToolReturned) and e.tool == "answer")
    assert rejected.summary.startswith("the answer was rejected: claim 1: o999")
    assert len(rejected.summary) == 200


async def test_a_repeated_call_is_told_where_its_result_stands() -> None:
    model = ScriptedModel(APPLES, APPLES, UNKNOWN)
    await play(model, Lookup())
    assert told(model, 2)[1] == "You have this already: it is o1. The call was not run again."


def twice(what: str) -> Play:
    return turn(*(called("lookup", {"what": what}, id=name) for name in "ab"))


async def test_a_model_that_sends_each_call_twice_is_served_all_the_same() -> None:
    tool, done = Lookup(), turn(answer("w4 was found", ("w4 was found", ["o7"])))
    outcome = await play(ScriptedModel(*map(twice, ("w1", "w2", "w3", "w4")), done), tool)
    assert isinstance(outcome, Answer)
    assert tool.ran == ["w1", "w2", "w3", "w4"]


async def test_a_model_that_sends_what_it_has_twice_is_stopped_all_the_same() -> None:
    outcome = await play(ScriptedModel(APPLES, *[twice("apples")] * 3), Lookup())
    assert isinstance(outcome, Failure)
    assert outcome.reason is StopReason.REPEATED_CALL


async def test_the_twin_of_a_call_that_failed_is_told_so() -> None:
    async def fails(arguments: LookupArguments, context: CallContext) -> ToolResult:
        raise ToolError("the source is down")

    model = ScriptedModel(twice("apples"), UNKNOWN)
    await play(model, Lookup(fails))
    shown = [m.text for m in model.requests[1].messages if isinstance(m, ResultMessage)]
    assert shown == [
        "[o1] error\nthe source is down",
        "[o2] error\nIt is the same call as o1, which failed. It ran once.",
    ]


async def test_a_tool_that_fails_inside_is_told_to_the_log_and_not_to_the_model() -> None:
    async def bug(arguments: LookupArguments, context: CallContext) -> ToolResult:
        raise KeyError("secret internals")

    model = ScriptedModel(APPLES, UNKNOWN)
    with structlog.testing.capture_logs() as logs:
        await play(model, Lookup(bug))
    assert told(model, 1) == [
        (
            "lookup failed inside. Its log has the reason. Try another way, or "
            "answer with what is known."
        )
    ]
    assert [(log["event"], log["tool"], log["log_level"]) for log in logs] == [
        ("tool_raised", "lookup", "error")
    ]


async def test_a_tools_own_error_is_told_in_its_words_and_summed_up_within_bounds() -> None:
    async def fails(arguments: LookupArguments, context: CallContext) -> ToolResult:
        raise ToolError("no such thing: " + "x" * 300)

    journal, model = MemoryJournal(), ScriptedModel(APPLES, UNKNOWN)
    await play(model, Lookup(fails), journal=journal)
    assert told(model, 1) == ["no such thing: " + "x" * 300]
    event = next(e for e in journal.events if isinstance(e, ToolReturned))
    assert event.summary == ("no such thing: " + "x" * 300)[:200]


async def test_reads_that_are_needed_together_are_all_to_be_sent_again() -> None:
    class Pair(Lookup):
        together: ClassVar[bool] = True

    class Other(Pair):
        name: ClassVar[str] = "other"

    async def half(arguments: LookupArguments, context: CallContext) -> ToolResult:
        if arguments.what == "bad":
            raise ToolError("no such thing")
        return found("good was found")

    calls = [
        called("lookup", {"what": "good"}),
        called("lookup", {"what": "bad"}),
        called("other", {"what": "good"}),
    ]
    model = ScriptedModel(turn(*calls), UNKNOWN)
    await play(model, Pair(half), Other(half))
    assert told(model, 1) == [
        (
            "Another lookup call of this turn failed, and they only make sense "
            "together. Send all of them again."
        ),
        "no such thing",
        "good was found",
    ]
    fine = ScriptedModel(turn(calls[0], called("lookup", {"what": "fine"})), UNKNOWN)
    await play(fine, Pair(half))
    assert told(fine, 1) == ["good was found", "good was found"]


# --- time and stops -------------------------------------------------------------------------------


def ask(
    loop: VirtualLoop, model: ScriptedModel, tool: Lookup, stop: Stop, journal: MemoryJournal
) -> Outcome:
    return loop.play(run(asked(), model, toolbox(tool), Limits(), journal, stop))


def stop_in(loop: VirtualLoop) -> Stop:
    return Stop(Clock(monotonic=loop.time, now=lambda: NOW), loop.time() + 60)


async def slowly(arguments: LookupArguments, context: CallContext) -> ToolResult:
    await asyncio.sleep({"apples": 2, "pears": 3}.get(arguments.what, 100))
    return found(f"{arguments.what} was found")


BOTH = turn(called("lookup", {"what": "apples"}), called("lookup", {"what": "plums"}))


def returned(events: list[Event]) -> list[tuple[str, Status, float]]:
    return [
        (e.observation, e.status, e.seconds)
        for e in events
        if isinstance(e, ToolReturned) and e.tool != "answer"
    ]


def test_a_tool_over_its_time_is_told_what_to_do(loop: VirtualLoop) -> None:
    model, journal = ScriptedModel(BOTH, UNKNOWN), MemoryJournal()
    assert isinstance(ask(loop, model, Lookup(slowly), stop_in(loop), journal), Answer)
    assert told(model, 1)[1] == (
        "lookup did not finish within 10 s and was stopped. "
        "Ask for less (a narrower window, one service), or try once more."
    )
    assert returned(journal.events) == [("o1", Status.OK, 2.0), ("o2", Status.ERROR, 10.0)]


def test_what_a_tool_brings_after_its_time_reaches_nobody(loop: VirtualLoop) -> None:
    async def deaf(arguments: LookupArguments, context: CallContext) -> ToolResult:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(50)
        await asyncio.sleep(5)
        return found("late was found")

    pears = turn(called("lookup", {"what": "pears"}))
    late = turn(answer("late was found", ("late was found", ["o1"])))
    journal, model = MemoryJournal(), ScriptedModel(APPLES, pears, late, UNKNOWN)
    outcome = ask(loop, model, Lookup(deaf), stop_in(loop), journal)
    loop.play(asyncio.sleep(20))
    assert isinstance(outcome, Answer)
    assert "o1 is no successful observation" in told(model, 3)[2]
    assert [status for _, status, _ in returned(journal.events)] == [Status.ERROR] * 2
    assert not any('"summary":"late was found"' in blob for blob in journal.blobs.values())
    assert loop.unheard == []


def test_a_tools_own_time_may_be_shorter_and_never_longer(loop: VirtualLoop) -> None:
    for timeout, seconds in ((4.0, 4.0), (40.0, 10.0)):

        class Hasty(Lookup):
            pass

        Hasty.timeout = timeout
        journal = MemoryJournal()
        ask(loop, ScriptedModel(BOTH, UNKNOWN), Hasty(slowly), stop_in(loop), journal)
        assert returned(journal.events)[1] == ("o2", Status.ERROR, seconds)


def test_a_stop_keeps_what_finished_before_it_and_the_trace_says_who_and_where(
    loop: VirtualLoop,
) -> None:
    stop, journal = stop_in(loop), MemoryJournal()
    loop.call_later(5, stop.abort, "@maya")
    outcome = ask(loop, ScriptedModel(BOTH), Lookup(slowly), stop, journal)
    assert isinstance(outcome, Failure)
    assert (outcome.reason, outcome.detail) == (StopReason.ABORTED, "Stopped by @maya.")
    assert [e.text for e in outcome.established] == ["apples was found"]
    assert returned(journal.events) == [("o1", Status.OK, 2.0), ("o2", Status.ERROR, 5.0)]
    (cut,) = [e for e in journal.events if isinstance(e, WasCut)]
    assert cut == WasCut(step=1, phase=Phase.EXECUTE, reason=StopReason.ABORTED, by="@maya")
    last = [e for e in journal.events if isinstance(e, ToolReturned)][-1]
    assert last.summary == "The run was stopped before this call finished."


def test_a_stop_that_was_recorded_is_met_again_after_a_crash(loop: VirtualLoop) -> None:
    stop, journal = stop_in(loop), MemoryJournal()
    loop.call_later(1, stop.abort, "@maya", StopReason.INTERRUPTED)
    first = ask(loop, ScriptedModel(BOTH), Lookup(slowly), stop, journal)
    cut = next(i for i, e in enumerate(journal.events) if isinstance(e, WasCut))
    journal.events = [e for e in journal.events[: cut + 1] if not isinstance(e, ToolReturned)]
    tool, again = Lookup(slowly), stop_in(loop)
    assert ask(loop, ScriptedModel(), tool, again, journal) == first
    assert tool.ran == []
    assert again.cut is not None
    assert (again.cut.reason, again.cut.by) == (StopReason.INTERRUPTED, "@maya")


class Sleeps(Lookup):
    """Runs a real process, in a group of its own, that would take a minute."""

    def __init__(self) -> None:
        super().__init__()
        self.pids: list[int] = []

    async def run(self, arguments: LookupArguments, context: CallContext) -> ToolResult:
        process = await asyncio.create_subprocess_exec("sleep", "60", start_new_session=True)
        self.pids.append(process.pid)
        try:
            await process.wait()
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
        return found("slept")


def runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_a_hanging_process_of_a_tool_is_gone_when_its_time_is_over() -> None:
    tool, model = Sleeps(), ScriptedModel(APPLES, UNKNOWN)
    outcome = await play(model, tool, limits=Limits(tool_call_seconds=0.1))
    assert isinstance(outcome, Answer)
    assert "did not finish within 0.1 s" in told(model, 1)[0]
    assert [runs(pid) for pid in tool.pids] == [False]


@pytest.mark.alone
async def test_an_abort_returns_within_250_ms_and_leaves_no_process_behind() -> None:
    tool, stop, aborted = Sleeps(), stop_after(), []

    async def aborts() -> None:
        while not tool.pids:
            await asyncio.sleep(0.005)
        aborted.append(time.monotonic())
        stop.abort("@maya")

    async with asyncio.TaskGroup() as group:
        group.create_task(aborts())
        outcome = await play(ScriptedModel(APPLES), tool, stop=stop)
    assert isinstance(outcome, Failure)
    assert time.monotonic() - aborted[0] < 0.25
    assert [runs(pid) for pid in tool.pids] == [False]


# --- writes ---------------------------------------------------------------------------------------


async def proposed(*plays: Play, text: str = "x", journal: MemoryJournal | None = None) -> Proposal:
    outcome = await play(
        ScriptedModel(*plays), Lookup(), Restart(), question=asked(text), journal=journal
    )
    assert isinstance(outcome, Proposal)
    return outcome


async def test_a_proposal_says_its_tool_its_arguments_and_after_how_many_steps() -> None:
    restart = turn(called("restart", {"service": "web"}), text="stuck")
    journal = MemoryJournal()
    one = await proposed(restart, journal=journal)
    two = await proposed(APPLES, restart)
    assert (one.tool, one.arguments, one.reason) == ("restart", {"service": "web"}, "stuck")
    assert (one.steps, two.steps) == (1, 2)
    shown = next(e for e in journal.events if e.kind == "appended").observations[0]
    assert shown.summary == "Proposed to a person; nothing was changed."
    assert shown.status is Status.OK


class MoveArguments(Arguments):
    day: date


class Move(Restart):
    arguments = MoveArguments  # type: ignore[assignment]


async def test_a_proposal_can_be_stored_whatever_its_arguments_are() -> None:
    move = turn(called("restart", {"day": "2026-11-28"}))
    outcome = await play(ScriptedModel(move), Move())
    assert isinstance(outcome, Proposal)
    assert outcome.arguments == {"day": "2026-11-28"}


async def test_the_key_of_a_write_is_the_same_for_the_same_write_of_the_same_question_only() -> (
    None
):
    def restart(raw: str) -> Play:
        return turn(called("restart", raw))

    key = (await proposed(restart('{"service": "web"}'))).key
    assert (await proposed(restart('{"service":"web "}'))).key == key
    assert (await proposed(restart('{"service": "ledger"}'))).key != key
    assert (await proposed(restart('{"service": "web"}'), text="y")).key != key


# --- a text that takes long to redact ---------------------------------------------------------------


class Held:
    """A redactor that takes as long as the test says."""

    def __init__(self) -> None:
        self.began = threading.Event()
        self.free = threading.Event()

    def text(self, text: str) -> str:
        return text

    def result(self, result: ToolResult) -> ToolResult:
        if len(result.text) > READ_AT_ONCE:
            self.began.set()
            self.free.wait(10)
        return result


async def test_a_stop_is_heard_while_the_largest_text_is_read_for_secrets() -> None:
    async def crafted(arguments: LookupArguments, context: CallContext) -> ToolResult:
        return found("password=" * (MOST_CHARACTERS // 9))

    held, stop = Held(), stop_after()
    tools = Toolbox([Lookup(crafted)], held)
    model = ScriptedModel(turn(called("lookup")))
    running = asyncio.create_task(run(asked(), model, tools, Limits(), MemoryJournal(), stop))
    assert await asyncio.to_thread(held.began.wait, 10)

    stop.abort("U1")
    outcome = await running

    still_read = not held.free.is_set()
    held.free.set()
    assert still_read
    assert isinstance(outcome, Failure)
    assert outcome.reason is StopReason.ABORTED
