"""When a run is over, and what its failure leaves a person with."""

from __future__ import annotations

import pytest

from bot.loop.execute import Executed
from bot.loop.grounding import Verdict
from bot.loop.limits import Limits, StopReason
from bot.loop.outcome import Answer, Established, Failure, Proposal
from bot.loop.scratchpad import Scratchpad
from bot.loop.settle import failure, settled
from bot.loop.state import Phase
from bot.loop.stopping import Cut
from support.pads import pad
from support.scripted import INCIDENT, asked, deploy, diff, found, ranking
from tools.base import Status, ToolResult
from tools.records import Confidence, DeploysFound, IncidentsFound

EMPTY = Scratchpad.begin(asked(), "m")
ANSWER = Answer(headline="x", claims=(), confidence=Confidence.LOW, steps=1, model="m")
PROPOSAL = Proposal(tool="restart", arguments={}, reason="", key="k", steps=1, model="m")
REJECTED = Verdict(None, ("claim 1: no", "claim 2: no"), None)
ABORTED = Executed(cut=Cut(StopReason.ABORTED, "@maya"))


def test_a_proposal_and_an_accepted_answer_end_the_run() -> None:
    given = pad(found("x"))
    assert settled(given, Executed(proposal=PROPOSAL), Limits()) == PROPOSAL
    assert settled(given, Executed(verdict=Verdict(ANSWER, (), None)), Limits()) == ANSWER
    assert settled(given, Executed(), Limits()) is None


def test_a_rejected_answer_is_mended_until_the_last_step() -> None:
    given = pad(found("x"))
    assert settled(given, Executed(verdict=REJECTED), Limits()) is None
    assert settled(given, Executed(verdict=REJECTED), Limits(max_steps=2)) is None
    outcome = settled(given, Executed(verdict=REJECTED), Limits(max_steps=1))
    assert isinstance(outcome, Failure)
    assert (outcome.reason, outcome.phase) == (StopReason.UNGROUNDED, Phase.EXECUTE)
    assert outcome.detail == "", "what the model was told is no text for people"


def test_what_holds_of_the_last_rejected_answer_is_the_answer() -> None:
    half = Executed(verdict=Verdict(None, ("claim 1: no",), ANSWER))
    assert settled(pad(found("x")), half, Limits(max_steps=1)) == ANSWER


def test_an_answer_that_came_before_the_stop_counts() -> None:
    both = Executed(verdict=Verdict(ANSWER, (), None), cut=ABORTED.cut)
    assert settled(pad(found("x")), both, Limits()) == ANSWER


def test_a_stop_says_by_whom_and_a_deadline_by_nobody() -> None:
    outcome = settled(pad(found("x")), ABORTED, Limits())
    assert isinstance(outcome, Failure)
    assert (outcome.reason, outcome.phase) == (StopReason.ABORTED, Phase.EXECUTE)
    assert outcome.detail == "Stopped by @maya."
    late = settled(pad(found("x")), Executed(cut=Cut(StopReason.DEADLINE)), Limits())
    assert isinstance(late, Failure)
    assert (late.reason, late.detail) == (StopReason.DEADLINE, "")


def test_a_failure_keeps_what_was_found_and_says_what_is_missing() -> None:
    failed = ToolResult(status=Status.ERROR, summary="down", text="down")
    given = pad(ranking(), failed, question="What broke checkout? What changed in deploy 12?")
    outcome = failure(StopReason.STEP_CAP, Phase.APPEND, given)
    assert outcome == Failure(
        reason=StopReason.STEP_CAP,
        phase=Phase.APPEND,
        detail="",
        established=(Established(text=ranking().summary, observation="o1", tool="tool1"),),
        missing=("what changed in deploy 12",),
        next_check="Look at payments-api deploy 4471: it ranks first so far.",
        steps=1,
        model="m",
    )


LISTED = found("one", DeploysFound(asked="x", deploys=(deploy(4470, "web"),), total=1))
NONE_LISTED = found("none", DeploysFound(asked="x", deploys=(), total=0))
TIED = found(
    "two",
    IncidentsFound(asked="x", incidents=(INCIDENT, INCIDENT), total=2, tied=("INC-7", "INC-8")),
)
NOT_TIED = found("one", IncidentsFound(asked="x", incidents=(INCIDENT,), total=1))


@pytest.mark.parametrize(
    ("results", "next_check"),
    [
        ([ranking()], "Look at payments-api deploy 4471: it ranks first so far."),
        ([ranking(), diff()], "Read the diff of payments-api deploy 4471 in the trace."),
        ([diff(), LISTED], "Look at web deploy 4470 in the trace."),
        ([TIED], "Ask again with the incident's id: INC-7, INC-8."),
        ([LISTED, NOT_TIED, NONE_LISTED, found("text")], "Look at web deploy 4470 in the trace."),
        ([NOT_TIED], "Ask for less: one deploy, one service or a narrower time."),
    ],
)
def test_the_next_check_is_the_newest_thing_that_leads_on(
    results: list[ToolResult], next_check: str
) -> None:
    assert failure(StopReason.STEP_CAP, Phase.APPEND, pad(*results)).next_check == next_check


@pytest.mark.parametrize(
    ("reasons", "advice"),
    [
        (("model_unavailable", "refused_by_model", "truncated"), "`oncall-bot doctor`"),
        (("error_budget",), "check that source"),
        (("aborted", "interrupted"), "to start over"),
        (("deadline", "step_cap", "token_budget"), "Ask for less"),
        (
            ("silent_finish", "ungrounded", "repeated_call", "cycle", "ignored_refusals"),
            "ask again with a deploy number or an incident id",
        ),
        (("answered", "write_proposed"), "Nothing."),
    ],
)
def test_where_nothing_was_found_the_reason_says_what_to_do(
    reasons: tuple[str, ...], advice: str
) -> None:
    for reason in reasons:
        text = failure(StopReason(reason), Phase.CALL, EMPTY).next_check
        assert advice in text
        assert (text[0], text[-1]) == (text[0].upper(), ".")
        assert not text.isupper()
