"""What one reply of a model leads to: what runs, what is refused, and what the model is told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.loop.decide import (
    Act,
    Check,
    Decision,
    Halt,
    Notice,
    Plan,
    Point,
    Propose,
    Refuse,
    Run,
    decide,
)
from bot.loop.limits import Limits, StopReason
from bot.loop.prompt import SILENT, TRUNCATED
from bot.loop.scratchpad import Observation, Origin, Scratchpad, Step
from bot.loop.stopping import Cut
from bot.loop.wire import Finish, ModelError, ModelErrorKind, ToolCall, Turn
from support.scripted import Lookup, Restart, answer, asked, called, found, toolbox, turn
from tools.base import Status, ToolResult

TOOLS = toolbox(Lookup(), Restart())
APPLES = called("lookup", {"what": "apples"})
PEARS = called("lookup", {"what": "pears"})
RESTART = called("restart", {"service": "web"})
DONE = answer("apples was found", ("apples was found", ["o1"]))
EMPTY = Scratchpad.begin(asked(), "m")
LAST = Limits(max_steps=1)
FAILED = ToolResult(status=Status.ERROR, summary="down", text="down")


def reply(
    said: Turn | ModelError | Cut, pad: Scratchpad = EMPTY, limits: Limits | None = None
) -> Decision:
    return decide(said, pad, TOOLS, limits or Limits())


def plans(
    *calls: ToolCall, pad: Scratchpad = EMPTY, limits: Limits | None = None
) -> tuple[Plan, ...]:
    decision = reply(turn(*calls), pad, limits)
    assert isinstance(decision, Act)
    return decision.plans


def same(call: ToolCall) -> str:
    """The canonical form of a call that would run."""
    (plan,) = plans(call)
    return plan.same_as


def after(call: ToolCall, *results: ToolResult) -> Scratchpad:
    """A scratchpad in which the call ran once a step with these results."""
    pad = EMPTY
    for number, result in enumerate(results, 1):
        observation = Observation(
            id=f"o{number}",
            call_id="c",
            tool=call.name,
            arguments={},
            origin=Origin.RAN,
            result=result,
            shown=result.text,
            same_as=same(call),
        )
        pad = pad.with_step(Step(number, turn(call), (observation,)))
    return pad


def test_a_stop_names_who_stopped_it_where_somebody_did() -> None:
    assert reply(Cut(StopReason.ABORTED, "@maya")) == Halt(StopReason.ABORTED, "Stopped by @maya.")
    assert reply(Cut(StopReason.DEADLINE)) == Halt(StopReason.DEADLINE, "")


def test_a_refusal_and_an_outage_end_the_run_with_the_providers_words() -> None:
    refused = ModelError(ModelErrorKind.REFUSED, "content filter")
    assert reply(refused) == Halt(StopReason.REFUSED, "content filter")
    assert reply(turn(APPLES, finish=Finish.REFUSAL)) == Halt(StopReason.REFUSED, "")
    down = ModelError(ModelErrorKind.NETWORK, "reset")
    assert reply(down) == Halt(StopReason.MODEL_UNAVAILABLE, "reset")


@pytest.mark.parametrize("finish", [Finish.STOP, Finish.TOOL_USE, Finish.OTHER])
def test_prose_is_told_to_hand_in_an_answer_whatever_its_finish_reason(finish: Finish) -> None:
    said = turn(text="It was 4471.", finish=finish)
    assert reply(said) == Notice(said, SILENT)


def test_a_cut_off_reply_is_asked_for_again_whatever_it_calls() -> None:
    said = turn(APPLES, DONE, finish=Finish.LENGTH)
    assert reply(said) == Notice(said, TRUNCATED)


@pytest.mark.parametrize("finish", [Finish.STOP, Finish.TOOL_USE, Finish.OTHER])
def test_calls_count_whatever_the_finish_reason_says(finish: Finish) -> None:
    decision = reply(turn(APPLES, finish=finish))
    assert isinstance(decision, Act)
    assert isinstance(decision.plans[0], Run)


def test_observations_are_numbered_on_from_the_last_one() -> None:
    assert [p.observation for p in plans(APPLES, PEARS)] == ["o1", "o2"]
    pad = after(APPLES, FAILED, FAILED)
    assert [p.observation for p in plans(PEARS, RESTART, pad=pad)] == ["o3", "o4"]


def test_an_unknown_tool_is_told_with_the_tools_that_there_are() -> None:
    assert plans(called("serch")) == (
        Refuse(
            called("serch"),
            "o1",
            "",
            "There is no such tool. The tools are: lookup, restart, answer.",
        ),
    )


def test_calls_beyond_the_limit_of_a_turn_are_to_be_sent_again() -> None:
    third = called("lookup", {"what": "plums"})
    one, two, refused = plans(APPLES, PEARS, third, limits=Limits(calls_per_turn=2))
    assert isinstance(one, Run)
    assert isinstance(two, Run)
    assert refused == Refuse(
        third, "o3", same(third), "Only 2 calls a turn run. Send this one again."
    )


def test_a_call_that_succeeded_is_pointed_to_in_any_spelling() -> None:
    pad = after(APPLES, FAILED, found("apples"))
    again = called("lookup", '{"limit": "5", "what": " APPLES\\n"}')
    assert plans(again, pad=pad) == (Point(again, "o3", same(APPLES), "o2"),)
    empty = ToolResult(status=Status.EMPTY, summary="none", text="none")
    assert isinstance(plans(APPLES, pad=after(APPLES, empty))[0], Point)


def test_a_twin_in_the_same_turn_points_to_the_first() -> None:
    _, twin, other = plans(APPLES, called("lookup", {"what": "Apples "}), PEARS)
    assert twin == Point(called("lookup", {"what": "Apples "}), "o2", same(APPLES), "o1")
    assert isinstance(other, Run)


@pytest.mark.parametrize(("failures", "runs"), [(1, True), (2, True), (3, False), (4, False)])
def test_a_failed_call_may_be_tried_twice_more(failures: int, *, runs: bool) -> None:
    pad = after(APPLES, *[FAILED] * failures)
    (plan,) = plans(APPLES, pad=pad)
    assert isinstance(plan, Run) is runs
    assert isinstance(plans(PEARS, pad=pad)[0], Run)
    if not runs:
        assert plan == Refuse(
            APPLES,
            f"o{failures + 1}",
            same(APPLES),
            "This call failed before, and was tried again as often as makes sense. "
            "Change the arguments, use another tool, or answer with what is known.",
        )


def test_a_write_alone_is_proposed_with_the_words_beside_it_as_the_reason() -> None:
    decision = reply(turn(RESTART, text=" web is stuck\n"))
    assert isinstance(decision, Act)
    assert decision.plans == (
        Propose(RESTART, "o1", same(RESTART), "restart", {"service": "web"}, "web is stuck"),
    )


def test_a_write_beside_other_calls_and_two_writes_are_refused() -> None:
    why = "A change stands alone: call it in a turn of its own."
    read, write = plans(APPLES, RESTART)
    assert isinstance(read, Run)
    assert write == Refuse(RESTART, "o2", same(RESTART), why)
    assert [p.why for p in plans(RESTART, RESTART) if isinstance(p, Refuse)] == [why, why]


def test_an_answer_beside_reads_waits_until_they_are_seen() -> None:
    read, early = plans(APPLES, DONE)
    assert isinstance(read, Run)
    assert isinstance(early, Refuse)
    assert early.why == (
        "`answer` came together with other calls, before their results were seen. "
        "Read them, then call `answer` again, alone."
    )
    assert early.same_as == same(DONE)


def test_an_answer_that_is_sent_twice_in_one_turn_is_checked_once() -> None:
    first, second = plans(DONE, DONE)
    assert isinstance(first, Check)
    assert second == Refuse(
        DONE, "o2", same(DONE), "One answer a run. The first one of this turn was used."
    )


def test_the_same_answer_is_the_same_call_and_another_one_is_not() -> None:
    other = answer("pears was found", ("pears was found", ["o1"]))
    assert same(DONE)
    assert same(DONE) == same(DONE.model_copy(update={"id": "x"}))
    assert same(DONE) != same(other)


# --- the last step --------------------------------------------------------------------------------


def test_the_last_step_without_an_answer_is_told_by_what_it_asked_for() -> None:
    assert reply(turn(APPLES, RESTART, PEARS, called("serch")), limits=LAST) == Halt(
        StopReason.STEP_CAP, "The last step asked for lookup, restart, lookup."
    )


def test_beside_the_answer_of_the_last_step_nothing_runs() -> None:
    why = "Only `answer` counts on the last step. This call was not run."
    read, check, write = plans(APPLES, DONE, RESTART, limits=LAST)
    assert read == Refuse(APPLES, "o1", same(APPLES), why)
    assert isinstance(check, Check)
    assert write == Refuse(RESTART, "o3", same(RESTART), why)


def test_of_two_answers_on_the_last_step_the_first_counts() -> None:
    first, second = plans(DONE, DONE, limits=LAST)
    assert isinstance(first, Check)
    assert second == Refuse(
        DONE, "o2", same(DONE), "One answer a run. The first one of this turn was used."
    )


def test_a_malformed_answer_on_the_last_step_is_told_what_is_wrong_with_it() -> None:
    bad, check = plans(called("answer", "{"), DONE, limits=LAST)
    assert isinstance(bad, Refuse)
    assert "not valid JSON" in bad.why
    assert isinstance(check, Check)


def test_the_step_before_the_last_may_still_read() -> None:
    assert isinstance(plans(APPLES, limits=Limits(max_steps=2))[0], Run)
    second = after(PEARS, found("pears"))
    assert reply(turn(APPLES), second, Limits(max_steps=2)) == Halt(
        StopReason.STEP_CAP, "The last step asked for lookup."
    )


def test_a_decision_is_the_same_whenever_it_is_made() -> None:
    said, pad = turn(APPLES, DONE, RESTART), after(APPLES, FAILED)
    assert reply(said, pad) == reply(said, replace(pad))
