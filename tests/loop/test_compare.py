"""What a person reads when two runs are laid side by side."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from bot.loop.compare import Difference, Subject, compare, told
from bot.loop.journal import (
    Appended,
    CallShown,
    Decided,
    Event,
    ModelCalled,
    ModelFailed,
    ModelReturned,
    RunEnded,
    RunStarted,
    ToolCalled,
    ToolReturned,
    WasCut,
)
from bot.loop.limits import Limits, StopReason
from bot.loop.outcome import Answer, Failure, Proposal
from bot.loop.state import Phase
from bot.loop.wire import Finish, ModelErrorKind
from support.scripted import asked, called, turn
from tools.base import Status
from tools.records import Confidence

STARTED = RunStarted(
    question=asked("What was found?"),
    limits=Limits(),
    model="one",
    prompt="p" * 11 + "1" + "x" * 20,
    tools="t" * 11 + "2" + "y" * 20,
)
CALLED = ModelCalled(step=1, model="one", kept=0, added=("a", "b"), size=7)
SAID = turn(called("lookup", {"what": "apples"}), text="hm")
RETURNED = ModelReturned(step=1, turn=SAID, seconds=0.1)
DECIDED = Decided(step=1, decision="act", text="lookup (o1)")
TOOL = ToolCalled(step=1, observation="o1", tool="lookup", arguments={"what": "apples"})
RESULT = ToolReturned(
    step=1,
    observation="o1",
    tool="lookup",
    status=Status.OK,
    summary="apples was found",
    result="h1",
    size=9,
    seconds=0.1,
)
SHOWN = CallShown(
    observation="o1", tool="lookup", status=Status.OK, summary="apples", shown=9, of=9
)
APPENDED = Appended(step=1, observations=(SHOWN,), notice="go on")
ANSWERED = Answer(headline="apples", claims=(), confidence=Confidence.HIGH, steps=2, model="one")
ENDED = RunEnded(outcome=ANSWERED)
RUN: tuple[Event, ...] = (
    STARTED, CALLED, RETURNED, DECIDED, TOOL, RESULT, APPENDED, ENDED,
)  # fmt: skip


def other(event: Event, **fields: object) -> tuple[Event, ...]:
    """The run with one event changed."""
    return tuple(e.model_copy(update=fields) if e is event else e for e in RUN)


def said(**fields: object) -> tuple[Event, ...]:
    return other(RETURNED, turn=SAID.model_copy(update=fields))


FAILED = Failure(
    reason=StopReason.STEP_CAP,
    phase=Phase.APPEND,
    detail="no time",
    next_check="x",
    steps=8,
    model="one",
)
PROPOSED = Proposal(
    tool="restart", arguments={"service": "web"}, reason="", key="k", steps=1, model="one"
)


@pytest.mark.parametrize(
    ("b", "lines"),
    [
        (
            other(STARTED, question=asked("What else?")),
            ["  question", "  A: What was found?", "  B: What else?"],
        ),
        (
            other(STARTED, prompt="q" * 32),
            [
                "  prompt",
                "  A: prompt ppppppppppp1, tools ttttttttttt2",
                "  B: prompt qqqqqqqqqqqq, tools ttttttttttt2",
            ],
        ),
        (
            other(CALLED, added=("a",), size=3),
            [
                "  step 1, assemble, prompt",
                "  A: 2 new messages, 7 bytes",
                "  B: 1 new messages, 3 bytes",
            ],
        ),
        (
            said(calls=()),
            ["  step 1, call, tool", "  A: lookup", "  B: no call"],
        ),
        (
            said(calls=(called("lookup", {"what": "pears"}),)),
            ["  step 1, call, arguments", '  A: {"what": "apples"}', '  B: {"what": "pears"}'],
        ),
        (
            said(finish=Finish.STOP),
            ["  step 1, call, finish reason", "  A: tool_use", "  B: stop"],
        ),
        (said(text=" oh\n"), ["  step 1, call, thought", "  A: hm", "  B: oh"]),
        (
            other(DECIDED, decision="stop", text="enough"),
            ["  step 1, decide, decision", "  A: act: lookup (o1)", "  B: stop: enough"],
        ),
        (
            other(TOOL, arguments={"what": "pears"}),
            [
                "  step 1, execute, arguments",
                "  A: lookup {'what': 'apples'}",
                "  B: lookup {'what': 'pears'}",
            ],
        ),
        (
            other(RESULT, summary="pears were found", result="h2"),
            [
                "  step 1, execute, result",
                "  A: o1: apples was found",
                "  B: o1: pears were found",
            ],
        ),
        (
            other(APPENDED, observations=()),
            ["  step 1, append, result", "  A: o1 ok", "  B: no observation"],
        ),
        (
            other(
                APPENDED,
                observations=(SHOWN, SHOWN.model_copy(update={"observation": "o2"})),
            ),
            ["  step 1, append, result", "  A: o1 ok", "  B: o1 ok, o2 ok"],
        ),
        (
            other(APPENDED, notice="stop now"),
            ["  step 1, append, notice", "  A: go on", "  B: stop now"],
        ),
        (
            other(ENDED, outcome=FAILED),
            [
                "  outcome",
                "  A: answer after 2 steps: apples",
                "  B: failure after 8 steps: step_cap no time",
            ],
        ),
        (
            other(ENDED, outcome=PROPOSED),
            [
                "  outcome",
                "  A: answer after 2 steps: apples",
                "  B: proposal after 1 steps: restart {'service': 'web'}",
            ],
        ),
    ],
)
def test_the_first_difference_is_told_with_its_place_and_both_sides(
    b: Sequence[Event], lines: list[str]
) -> None:
    head, *rest = told(compare(RUN, b))
    assert head == "first difference"
    words = lines[0].endswith(("prompt", "thought"))
    assert rest == [*lines, *(["both did the same: they differ in words only"] if words else [])]


def outage(**fields: object) -> ModelFailed:
    failed = ModelFailed(
        step=1,
        attempt=1,
        error=ModelErrorKind.OVERLOADED,
        message="busy",
        again_in=1.0,
        seconds=0.1,
    )
    return failed.model_copy(update=fields)


def stopped(**fields: object) -> WasCut:
    cut = WasCut(step=1, phase=Phase.CALL, reason=StopReason.ABORTED, by="@maya")
    return cut.model_copy(update=fields)


@pytest.mark.parametrize(
    ("one", "another", "lines"),
    [
        (
            outage(),
            outage(error=ModelErrorKind.NETWORK, message="reset"),
            ["  step 1, call, model failure", "  A: overloaded: busy", "  B: network: reset"],
        ),
        (
            stopped(),
            stopped(reason=StopReason.DEADLINE, by=""),
            ["  step 1, call, stop", "  A: aborted @maya", "  B: deadline"],
        ),
        (
            stopped(),
            outage(),
            ["  step 1, call, stop", "  A: aborted @maya", "  B: overloaded: busy"],
        ),
    ],
)
def test_outages_and_stops_are_compared_by_their_kind(
    one: Event, another: Event, lines: list[str]
) -> None:
    assert told(compare((CALLED, one), (CALLED, another))) == ["first difference", *lines]


def test_other_words_for_the_same_outage_and_another_person_who_stops_are_no_difference() -> None:
    assert compare((outage(),), (outage(message="still busy"),)).first is None
    assert compare((stopped(),), (stopped(by="@noor"),)).first is None


def test_what_only_one_run_has_is_nothing_in_the_other() -> None:
    assert told(compare(RUN, RUN[:3]))[1:] == [
        "  step 1, decide, decision",
        "  A: act: lookup (o1)",
        "  B: nothing",
    ]
    assert told(compare(RUN[:3], RUN))[1:] == [
        "  step 1, decide, decision",
        "  A: nothing",
        "  B: act: lookup (o1)",
    ]


def test_the_first_thing_that_was_done_otherwise_stands_beside_the_first_other_word() -> None:
    b = (*said(text="oh")[:-1], RunEnded(outcome=FAILED))
    assert told(compare(RUN, b)) == [
        "first difference",
        "  step 1, call, thought",
        "  A: hm",
        "  B: oh",
        "first difference in what was done",
        "  outcome",
        "  A: answer after 2 steps: apples",
        "  B: failure after 8 steps: step_cap no time",
    ]


def test_the_end_of_a_run_stands_behind_its_last_step_and_outside_of_it() -> None:
    assert compare(RUN, other(ENDED, outcome=FAILED)).first == Difference(
        step=0,
        phase=None,
        subject=Subject.OUTCOME,
        a="answer after 2 steps: apples",
        b="failure after 8 steps: step_cap no time",
    )


def test_another_model_alone_is_a_difference_in_words() -> None:
    outcome = ANSWERED.model_copy(update={"model": "two"})
    b = (*other(STARTED, model="two")[:-1], RunEnded(outcome=outcome))
    assert told(compare(RUN, b)) == [
        "first difference",
        "  model",
        "  A: one",
        "  B: two",
        "both did the same: they differ in words only",
    ]


def test_tools_that_ended_in_another_order_are_no_difference() -> None:
    results = [
        RESULT.model_copy(update={"observation": name}) for name in ("o1", "o2", "o10", "o11")
    ]
    assert compare(results, results[::-1]).first is None


def test_a_long_text_is_told_by_its_beginning_on_one_line() -> None:
    exact = told(compare(RUN, said(text="x" * 299 + "\ny")))
    assert exact[3] == f"  B: {'x' * 299}…"
    assert told(compare(RUN, said(text="x\n" * 150)))[3] == f"  B: {' '.join('x' * 150)}"
    assert told(compare(RUN, said(text="x" * 300)))[3] == f"  B: {'x' * 300}"
    assert told(compare(RUN, said(text="x" * 301)))[3] == f"  B: {'x' * 299}…"


def test_runs_that_are_the_same_say_so_with_their_steps() -> None:
    second = CALLED.model_copy(update={"step": 2})
    assert told(compare(RUN, RUN)) == ["the two runs are the same, step by step (1 steps)"]
    assert compare(RUN, (*RUN[:-1], second, ENDED)).steps == (1, 2)
