"""What of an observation the model sees, and what a request keeps when it grows too long."""

from __future__ import annotations

import math

import pytest

from bot.loop.limits import Limits
from bot.loop.prompt import LAST_STEP, opening
from bot.loop.scratchpad import (
    CHARS_A_TOKEN,
    CUT_TO,
    Observation,
    Origin,
    Scratchpad,
    Step,
    assemble,
    first_notice,
    fitted,
    show,
)
from bot.loop.wire import ResultMessage, UserMessage
from support.scripted import Lookup, asked, called, found, toolbox, turn
from tools.base import Status, ToolResult

CAP = 400
HEAD = "[o1] ok\n"
ROOM = CAP - 170
TOOLS = toolbox(Lookup())


def seen(text: str, cap: int = CAP) -> str:
    return show("o1", found(text), cap)


def left_out(left: int, of: int) -> str:
    return f'\n… {left:,} of {of:,} characters left out: read_result(observation="o1", page=2) shows more.'


def test_a_result_that_just_fits_is_shown_whole() -> None:
    fits = "x" * (CAP - len(HEAD))
    assert seen(fits) == HEAD + fits
    assert seen(fits + "x") == HEAD + "x" * ROOM + left_out(
        CAP - len(HEAD) + 1 - ROOM, CAP - len(HEAD) + 1
    )


def test_blanks_at_the_end_are_not_shown_and_those_at_the_beginning_are() -> None:
    assert seen("  a\n\n") == f"{HEAD}  a"
    assert seen(" \n") == HEAD + " \n"


def test_a_long_result_is_cut_at_the_end_of_a_line() -> None:
    text = "".join(f"line {n:03}\n" for n in range(1_000))
    whole = text.rstrip()
    fits = ROOM // 9 * 9 - 1
    assert seen(text) == HEAD + text[:fits] + left_out(len(whole) - fits, len(whole))


@pytest.mark.parametrize(
    "at", [0, ROOM // 3 + 1, ROOM // 2 - 1, ROOM // 2, ROOM // 2 + 1, ROOM - 1, ROOM]
)
def test_a_line_end_in_the_first_half_is_no_place_to_cut(at: int) -> None:
    text = "x" * at + "\n" + "y" * 1_000
    cut = at if ROOM // 2 < at < ROOM else ROOM
    assert seen(text) == HEAD + text[:cut] + left_out(len(text) - cut, len(text))


def test_a_failure_says_so_in_its_head() -> None:
    failed = ToolResult(status=Status.ERROR, summary="down", text="")
    assert show("o7", failed, CAP) == "[o7] error\ndown"


# --- a request that grows too long ----------------------------------------------------------------


def step(number: int, chars: int = 3_000) -> Step:
    result = found(f"found {number}\n" + "x" * chars)
    observation = Observation(
        id=f"o{number}",
        call_id="c",
        tool="lookup",
        arguments={},
        origin=Origin.RAN,
        result=result.model_copy(update={"summary": f"found {number}"}),
        shown=f"[o{number}] ok\n{result.text}",
        same_as=f"lookup {number}",
    )
    return Step(number, turn(called("lookup")), (observation,))


def grown(steps: int) -> Scratchpad:
    pad = Scratchpad.begin(asked(), "m")
    for number in range(1, steps + 1):
        pad = pad.with_step(step(number))
    return pad


def limits(tokens: int) -> Limits:
    return Limits(request_tokens=tokens, run_tokens=200_000)


def shown(pad: Scratchpad, tokens: int = 24_000) -> list[bool]:
    """For each observation of the request, whether it is shown whole."""
    _, request = fitted(pad, TOOLS, limits(tokens))
    texts = [m.text for m in request.messages if isinstance(m, ResultMessage)]
    for number, text in enumerate(texts, 1):
        assert f"found {number}" in text
    return [len(text) > 3_000 for text in texts]


def tokens_of(pad: Scratchpad) -> float:
    return assemble(pad, TOOLS, Limits()).size / CHARS_A_TOKEN


def test_a_request_that_just_fits_is_sent_whole() -> None:
    pad = grown(4)
    tokens = math.ceil(tokens_of(pad))
    assert shown(pad, tokens) == [True] * 4
    assert shown(pad, tokens - 1) != [True] * 4


@pytest.mark.parametrize("cut", [1, 2, 3])
def test_the_oldest_are_cut_to_one_line_until_there_is_room_again(cut: int) -> None:
    pad = grown(4)
    wanted = math.ceil(tokens_of(pad.with_cut(cut)) / CUT_TO)
    if wanted >= tokens_of(pad):
        wanted = math.ceil(tokens_of(pad)) - 1
    mine, request = fitted(pad, TOOLS, limits(wanted))
    small = next(n for n in (1, 2, 3) if tokens_of(pad.with_cut(n)) <= wanted * CUT_TO or n == 3)
    assert mine.cut == small
    assert shown(pad, wanted) == [n > small for n in range(1, 5)]
    assert (request.kept, request.can_shrink) == (1, small < 3)
    assert request.tools == TOOLS.specs


def test_where_one_old_observation_makes_it_too_long_that_one_alone_is_cut() -> None:
    pad = Scratchpad.begin(asked(), "m").with_step(step(1, chars=30_000))
    for number in (2, 3, 4):
        pad = pad.with_step(step(number))
    mine, _ = fitted(pad, TOOLS, limits(9_000))
    assert mine.cut == 1
    assert shown(pad, 9_000) == [False, True, True, True]


def test_the_newest_observation_is_never_cut_and_nothing_is_forgotten() -> None:
    pad, request = fitted(grown(4), TOOLS, limits(1_000))
    assert shown(grown(4), 1_000) == [False, False, False, True]
    assert not request.can_shrink
    assert set(pad.evidence) == {"o1", "o2", "o3", "o4"}
    assert pad.succeeded("lookup 1") is not None
    line = next(m.text for m in request.messages if isinstance(m, ResultMessage))
    assert line == (
        '[o1] ok found 1\n(shortened; read_result(observation="o1") shows its text again)'
    )


def test_after_a_cut_requests_grow_by_what_is_new_again() -> None:
    pad, request = fitted(grown(4), TOOLS, limits(1_000))
    later = pad.with_step(step(5))
    same, after = fitted(later, TOOLS, limits(24_000))
    assert same.cut == 3
    assert after.kept == len(request.messages)
    assert after.messages[: after.kept] == request.messages
    assert later.with_cut(2) is later
    assert later.with_cut(3) is later


def test_the_last_request_says_that_it_is_the_last() -> None:
    pad = grown(2)
    assert [assemble(pad, TOOLS, Limits(max_steps=n)).last for n in (2, 3, 4)] == [
        True,
        True,
        False,
    ]


@pytest.mark.parametrize(("most", "more"), [(1, f"\n\n{LAST_STEP}"), (2, "")])
def test_the_first_message_is_the_question_and_tells_when_there_is_one_step_only(
    most: int, more: str
) -> None:
    question = asked()
    limits = Limits(max_steps=most)
    pad = Scratchpad.begin(question, "m-1", first_notice(limits))
    assert assemble(pad, TOOLS, limits).messages == (UserMessage(text=opening(question) + more),)


def test_a_model_that_reads_no_prose_gets_the_question_and_what_was_found_as_data() -> None:
    request = assemble(grown(2), TOOLS, Limits())
    assert request.question == asked()
    assert [seen.id for seen in request.seen] == ["o1", "o2"]
