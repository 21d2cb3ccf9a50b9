"""A run can be driven again from its record alone, forked with another model, and compared."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from bot.loop import compare as comparing
from bot.loop import prompt
from bot.loop.compare import Subject, compare
from bot.loop.journal import (
    Appended,
    Decided,
    Event,
    MemoryJournal,
    ModelCalled,
    ModelReturned,
    OtherVersionError,
    RunEnded,
    RunStarted,
    ToolCalled,
    ToolReturned,
    WasCut,
)
from bot.loop.limits import Limits, StopReason
from bot.loop.outcome import Answer, Failure
from bot.loop.replay import Drift, Drifted, NeedsVersion, Same, fork, replay, told
from bot.loop.state import Phase
from bot.loop.toolbox import Toolbox
from bot.loop.wire import ModelError, ModelErrorKind, Turn
from support.scripted import (
    Canned,
    Lookup,
    LookupArguments,
    Play,
    ScriptedModel,
    answer,
    called,
    diff,
    forever,
    found,
    play,
    stop_after,
    toolbox,
    turn,
)
from tools.base import CallContext, ToolResult

SCRIPT = (
    turn(called("lookup", {"what": "apples"}), called("lookup", {"what": "pears"}), text="both"),
    turn(answer("deploy 9999 was found", ("deploy 9999 was found", ["o1"]))),
    turn(answer("apples was found", ("apples was found", ["o1"]))),
)


class Untouched(Lookup):
    """Fails the test when it runs."""

    async def run(self, arguments: LookupArguments, context: CallContext) -> ToolResult:
        raise AssertionError("a replay ran a tool")


UNTOUCHED = toolbox(Untouched())


async def recorded(*plays: Play, **given: Any) -> MemoryJournal:
    journal = MemoryJournal()
    await play(ScriptedModel(*(plays or SCRIPT)), Lookup(), journal=journal, **given)
    return journal


def with_event(journal: MemoryJournal, at: int, event: Event) -> MemoryJournal:
    copy = MemoryJournal()
    copy.events = [*journal.events[:at], event, *journal.events[at + 1 :]]
    copy.blobs = dict(journal.blobs)
    return copy


def first(journal: MemoryJournal, kind: type[Event]) -> tuple[int, Any]:
    return next((at, e) for at, e in enumerate(journal.events) if isinstance(e, kind))


# --- replay ---------------------------------------------------------------------------------------


async def test_a_run_replays_to_the_same_events_and_outcome_and_asks_nobody() -> None:
    journal = await recorded()
    replayed = await replay(journal, UNTOUCHED)
    assert isinstance(replayed, Same)
    assert replayed.events == tuple(journal.events)
    assert isinstance(replayed.outcome, Answer)
    assert told(replayed) == [f"same: all {len(journal.events)} events"]


async def test_waits_between_tries_of_the_model_take_no_time_in_a_replay() -> None:
    busy = ModelError(ModelErrorKind.OVERLOADED, "busy", retry_after=0.01)
    journal = await recorded(busy, *SCRIPT)
    at, failed = first(journal, type(journal.events[2]))
    slow = with_event(journal, at, failed.model_copy(update={"again_in": 3_600.0}))
    async with asyncio.timeout(5):
        assert isinstance(await replay(slow, UNTOUCHED), Same)


@pytest.mark.parametrize("events", range(14))
async def test_the_record_of_a_run_that_died_replays_as_far_as_it_goes(events: int) -> None:
    journal = await recorded()
    journal.events = journal.events[:events]
    replayed = await replay(journal, UNTOUCHED)
    assert replayed == Same(tuple(journal.events), None)
    assert "without an end" in told(replayed)[0]


async def test_a_run_that_its_service_closed_replays_up_to_there() -> None:
    journal = await recorded()
    closed = Failure(
        reason=StopReason.INTERRUPTED, phase=Phase.CALL, next_check="ask", steps=1, model="scripted"
    )
    journal.events = [*journal.events[:7], RunEnded(outcome=closed)]
    assert await replay(journal, UNTOUCHED) == Same(tuple(journal.events), closed)


async def test_a_run_that_was_stopped_in_a_tool_replays_to_the_same_stop() -> None:
    stop = stop_after()

    async def hangs(arguments: LookupArguments, context: CallContext) -> ToolResult:
        if arguments.what == "pears":
            stop.abort("@maya")
            await forever()
        return found("apples was found")

    journal = MemoryJournal()
    outcome = await play(ScriptedModel(*SCRIPT), Lookup(hangs), journal=journal, stop=stop)
    assert any(isinstance(e, WasCut) for e in journal.events)
    assert await replay(journal, UNTOUCHED) == Same(tuple(journal.events), outcome)


async def test_a_stop_that_comes_as_the_last_tool_ends_is_recorded_and_met_again() -> None:
    stop = stop_after()

    async def stops(arguments: LookupArguments, context: CallContext) -> ToolResult:
        stop.abort("@maya")
        return found("apples was found")

    journal = MemoryJournal()
    one = turn(called("lookup", {"what": "apples"}))
    outcome = await play(ScriptedModel(one), Lookup(stops), journal=journal, stop=stop)
    assert isinstance(outcome, Failure)
    assert [e.by for e in journal.events if isinstance(e, WasCut)] == ["@maya"]
    assert await replay(journal, UNTOUCHED) == Same(tuple(journal.events), outcome)
    journal.events = journal.events[:-1]
    assert await play(ScriptedModel(), Lookup(), journal=journal) == outcome


async def test_a_changed_prompt_is_told_apart_from_a_changed_decision() -> None:
    journal = await recorded()
    at, started = first(journal, RunStarted)
    old = with_event(journal, at, started.model_copy(update={"prompt": "0" * 64}))
    replayed = await replay(old, UNTOUCHED)
    assert isinstance(replayed, Drifted)
    assert (replayed.at, replayed.kind) == (0, Drift.PROMPT)
    assert told(replayed)[0].startswith("drifted: the model is told something else")
    assert "prompt: recorded '0000" in told(replayed)[1]


async def test_a_tool_that_is_described_otherwise_is_a_drift_of_the_prompt() -> None:
    journal = await recorded()
    replayed = await replay(journal, toolbox(Untouched(), Canned("get_diff", diff())))
    assert isinstance(replayed, Drifted)
    assert replayed.kind is Drift.PROMPT


@pytest.mark.parametrize(
    ("kind", "change", "drift"),
    [
        (ModelCalled, {"added": ("0" * 64,)}, Drift.PROMPT),
        (Decided, {"text": "lookup (o9)"}, Drift.DECISION),
        (Decided, {"decision": "stop"}, Drift.DECISION),
        (ToolCalled, {"arguments": {"what": "plums"}}, Drift.DECISION),
        (Appended, {"notice": "hurry"}, Drift.NOTICE),
    ],
)
async def test_the_first_event_that_differs_is_named(
    kind: type[Event], change: dict[str, Any], drift: Drift
) -> None:
    journal = await recorded()
    at, event = first(journal, kind)
    old = with_event(journal, at, event.model_copy(update=change))
    replayed = await replay(old, UNTOUCHED)
    assert isinstance(replayed, Drifted)
    assert (replayed.at, replayed.kind) == (at, drift)
    assert replayed.got == event
    assert told(replayed)[0].endswith(f"(step {event.step}, event {at + 1}, {event.kind})")


async def test_another_verdict_of_the_goal_check_and_another_end_are_named() -> None:
    journal = await recorded()
    at = max(i for i, e in enumerate(journal.events) if isinstance(e, ToolReturned))
    accepted = journal.events[at].model_copy(update={"result": "0" * 64})
    replayed = await replay(with_event(journal, at, accepted), UNTOUCHED)
    assert isinstance(replayed, Drifted)
    assert (replayed.at, replayed.kind) == (at, Drift.CHECK)
    last = len(journal.events) - 1
    end = journal.events[last]
    assert isinstance(end, RunEnded)
    other = RunEnded(outcome=end.outcome.model_copy(update={"steps": 7}))
    replayed = await replay(with_event(journal, last, other), UNTOUCHED)
    assert isinstance(replayed, Drifted)
    assert (replayed.at, replayed.kind) == (last, Drift.OUTCOME)
    assert told(replayed)[1:] == ["  steps: recorded 7, now 3"]


async def test_a_recorded_turn_that_was_tampered_with_shows_as_another_decision() -> None:
    journal = await recorded()
    at, returned = first(journal, ModelReturned)
    forged = turn(called("lookup", {"what": "plums"}), text="both")
    replayed = await replay(
        with_event(journal, at, returned.model_copy(update={"turn": forged})), UNTOUCHED
    )
    assert isinstance(replayed, Drifted)
    assert replayed.kind is Drift.DECISION
    assert replayed.at == at + 1


async def test_a_recorded_result_that_was_tampered_with_shows_in_what_was_written_back() -> None:
    journal = await recorded()
    at, returned = first(journal, ToolReturned)
    forged = found("nothing of the kind").model_dump_json()
    tampered = with_event(journal, at, returned.model_copy(update={"result": "f" * 64}))
    tampered.blobs["f" * 64] = forged
    replayed = await replay(tampered, UNTOUCHED)
    assert isinstance(replayed, Drifted)
    assert replayed.kind is Drift.NOTICE


async def test_a_journal_of_another_version_says_which_version_it_needs() -> None:
    journal = await recorded()
    at, started = first(journal, RunStarted)
    old = with_event(journal, at, started.model_copy(update={"version": 7}))
    replayed = await replay(old, UNTOUCHED)
    assert replayed == NeedsVersion(7)
    assert "version 7" in told(replayed)[0]


async def test_latency_is_not_compared() -> None:
    journal = await recorded()
    for at, event in enumerate(journal.events):
        if isinstance(event, ModelReturned | ToolReturned):
            journal.events[at] = event.model_copy(update={"seconds": 99.0})
    assert isinstance(await replay(journal, UNTOUCHED), Same)


# --- fork -----------------------------------------------------------------------------------------


class Other(ScriptedModel):
    name = "other"


async def forked(
    journal: MemoryJournal, step: int, *turns: Turn, limits: Limits | None = None
) -> tuple[Any, MemoryJournal, Lookup, Toolbox]:
    tool, new = Lookup(), MemoryJournal()
    box = toolbox(tool)
    outcome = await fork(journal, step, Other(*turns), box, limits or Limits(), new, stop_after())
    return outcome, new, tool, box


async def test_a_fork_keeps_the_steps_before_it_and_goes_on_with_another_model() -> None:
    journal = await recorded()
    outcome, new, tool, box = await forked(
        journal,
        2,
        turn(called("lookup", {"what": "plums"})),
        turn(answer("plums was found", ("plums was found", ["o3"]))),
    )
    assert isinstance(outcome, Answer)
    assert outcome.headline == "plums was found"
    assert outcome.model == "other"
    assert tool.ran == ["plums"]
    assert [e.model for e in new.events if isinstance(e, ModelCalled)] == [
        "scripted",
        "other",
        "other",
    ]
    assert isinstance(await replay(new, box), Same)
    assert isinstance(await replay(journal, UNTOUCHED), Same)


async def test_a_fork_at_the_first_step_keeps_only_the_question() -> None:
    journal = await recorded()
    outcome, new, tool, box = await forked(journal, 1, *SCRIPT)
    assert isinstance(outcome, Answer)
    assert sorted(tool.ran) == ["apples", "pears"]
    assert isinstance(await replay(new, box), Same)


async def test_a_fork_under_other_limits_is_told_of_its_own_last_step() -> None:
    journal = await recorded(limits=Limits(max_steps=3))
    done = turn(answer("apples was found", ("apples was found", ["o1"])))
    for steps in (2, 5):
        outcome, new, _, box = await forked(journal, 2, done, limits=Limits(max_steps=steps))
        assert isinstance(outcome, Answer)
        appended = next(e for e in new.events if isinstance(e, Appended))
        assert appended.notice == (prompt.LAST_STEP if steps == 2 else "")
        assert isinstance(await replay(new, box), Same)


@pytest.mark.parametrize("step", [-1, 0, 4, 9])
async def test_a_step_that_the_run_did_not_reach_cannot_be_forked(step: int) -> None:
    journal = await recorded()
    with pytest.raises(ValueError, match="choose one from 1 to 3"):
        await forked(journal, step)


@pytest.mark.parametrize("events", [0, 1])
async def test_a_run_that_never_asked_its_model_cannot_be_forked(events: int) -> None:
    journal = await recorded()
    journal.events = journal.events[:events]
    with pytest.raises(ValueError, match="it never asked its model"):
        await forked(journal, 1)


async def test_a_fork_keeps_what_the_model_was_told_by_the_bot_of_then() -> None:
    journal = await recorded()
    at, asked = first(journal, ModelCalled)
    old = with_event(journal, at, asked.model_copy(update={"added": ("f" * 64,)}))
    old.blobs["f" * 64] = "as it was said then"
    _, new, _, _ = await forked(old, 2, SCRIPT[2])
    told_then = next(e for e in new.events if isinstance(e, ModelCalled)).added
    assert [await new.blob(digest) for digest in told_then] == ["as it was said then"]


class Newer(MemoryJournal):
    """A journal that a newer bot wrote."""

    async def read(self) -> tuple[Event, ...]:
        raise OtherVersionError("written by a newer bot", 7)


async def test_a_journal_that_cannot_be_parsed_says_which_version_it_needs() -> None:
    assert await replay(Newer(), UNTOUCHED) == NeedsVersion(7)


@pytest.mark.parametrize(("chars", "whole"), [(198, True), (199, False), (1_000, False)])
def test_a_long_difference_is_told_by_its_beginning(chars: int, *, whole: bool) -> None:
    before = Decided(step=1, decision="act", text="x" * chars)
    drifted = Drifted(4, before, before.model_copy(update={"text": "y"}), Drift.DECISION)
    text = repr("x" * chars) if whole else f"{repr('x' * chars)[:199]}…"
    assert told(drifted)[1] == f"  text: recorded {text}, now 'y'"


async def test_an_answer_that_became_a_failure_is_told_whole() -> None:
    journal = await recorded()
    ended = journal.events[-1]
    failure = Failure(
        reason=StopReason.UNGROUNDED, phase=Phase.EXECUTE, next_check="x", steps=3, model="m"
    )
    assert isinstance(ended, RunEnded)
    (line,) = told(Drifted(9, ended, RunEnded(outcome=failure), Drift.OUTCOME))[1:]
    assert line.startswith("  outcome: recorded Answer(kind='answer', headline='apples was found'")
    assert ", now Failure(kind='failure', reason=<StopReason.UNGROUNDED" in line


def test_a_difference_outside_of_all_steps_names_no_step() -> None:
    ended = RunEnded(
        outcome=Failure(
            reason=StopReason.ABORTED, phase=Phase.CALL, next_check="x", steps=1, model="m"
        )
    )
    assert told(Drifted(8, ended, ended, Drift.OUTCOME)) == [
        "drifted: the run ends otherwise (event 9, run_ended)"
    ]


# --- compare --------------------------------------------------------------------------------------


async def test_two_runs_that_did_the_same_are_the_same() -> None:
    a, b = await recorded(), await recorded()
    assert compare(a.events, b.events).first is None
    assert comparing.told(compare(a.events, b.events)) == [
        "the two runs are the same, step by step (3 steps)"
    ]


async def test_another_thought_is_found_and_said_to_be_words_only() -> None:
    thinks = turn(*SCRIPT[0].calls, text="two at once")
    a, b = await recorded(), await recorded(thinks, *SCRIPT[1:])
    compared = compare(a.events, b.events)
    assert compared.first is not None
    assert (compared.first.step, compared.first.subject) == (1, Subject.THOUGHT)
    assert (compared.first.a, compared.first.b) == ("both", "two at once")


@pytest.mark.parametrize(
    ("other", "subject", "a", "b"),
    [
        (
            turn(called("lookup", {"what": "plums"}), SCRIPT[0].calls[1], text="both"),
            Subject.ARGUMENTS,
            '{"what": "apples"}, {"what": "pears"}',
            '{"what": "plums"}, {"what": "pears"}',
        ),
        (
            turn(called("lookup", {"what": "apples"}), text="one"),
            Subject.TOOL,
            "lookup, lookup",
            "lookup",
        ),
        (ModelError(ModelErrorKind.AUTH, "bad key"), Subject.TOOL, "lookup, lookup", "nothing"),
    ],
)
async def test_the_first_difference_in_what_was_done_is_named(
    other: Play, subject: Subject, a: str, b: str
) -> None:
    compared = compare((await recorded()).events, (await recorded(other, *SCRIPT[1:])).events)
    assert compared.in_action is not None
    assert (compared.in_action.step, compared.in_action.subject) == (1, subject)
    if subject is not Subject.TOOL or b != "nothing":
        assert (compared.in_action.a, compared.in_action.b) == (a, b)
    assert f"  A: {compared.in_action.a}" in comparing.told(compared)
