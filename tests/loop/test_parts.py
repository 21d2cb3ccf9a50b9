"""Which observation speaks to which part of a question, and what becomes of the whole answer."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from bot.loop.grounding import check, is_sha_of, unanswered_by
from bot.loop.outcome import AnswerArguments, Claim
from support.pads import pad
from support.scripted import INCIDENT, deploy, diff, found, no_deploy, ranking
from tools.base import ToolResult
from tools.records import (
    Confidence,
    DeploysFound,
    DiffShown,
    IncidentsFound,
    Record,
    SuspectsRanked,
)


def changed(result: ToolResult, **fields: object) -> ToolResult:
    assert isinstance(result.value, Record)
    return result.model_copy(update={"value": result.value.model_copy(update=fields)})


RANKED = ranking()
NO_CAUSE = ranking(Confidence.NONE)
DIFF = diff()
MOVED = changed(DIFF, path="src/app.py")
NONE_9999 = no_deploy()
LISTED = found(
    "one deploy",
    DeploysFound(asked="deploys of web", deploys=(deploy(4470, "web"),), total=1),
)
DEPLOY_4471 = found(
    "deploy 4471",
    DeploysFound(asked="deploy 4471", asked_deploy="4471", deploys=(deploy(),), total=1),
)
INCIDENTS = found("INC-7", IncidentsFound(asked="checkout", incidents=(INCIDENT,), total=1))
TEXT = found("some text")
ALL = {
    "ranked": RANKED,
    "no cause": NO_CAUSE,
    "diff": DIFF,
    "moved": MOVED,
    "no 9999": NONE_9999,
    "listed": LISTED,
    "4471": DEPLOY_4471,
    "incidents": INCIDENTS,
    "text": TEXT,
}


@pytest.mark.parametrize(
    ("question", "speak"),
    [
        ("What caused the outage?", {"ranked", "no cause", "incidents"}),
        ("What changed in deploy 4471?", {"diff", "moved", "4471"}),
        ("What changed in deploy 9999?", {"no 9999"}),
        ("What changed in v2.3.1?", {"diff", "moved"}),
        ("Who shipped it, and when?", {"ranked", "no cause", "diff", "moved", "no 9999", "listed", "4471"}),
        ("What was deployed today?", {"no 9999", "listed", "4471"}),
        ("Was web deployed that week?", {"no 9999", "listed", "4471", "incidents"}),
        ("Was it deploy 9999?", {"ranked", "no cause", "incidents", "no 9999"}),
        ("Was it deploy 12?", {"ranked", "no cause", "incidents"}),
        ("Was it fixed?", {"ranked", "no cause", "incidents"}),
        ("How long before?", {"ranked", "no cause", "incidents"}),
        ("Which setting turns it off?", {"ranked", "no cause", "incidents"}),
        ("Is it safe to roll back?", {"ranked", "no cause", "incidents"}),
        (
            "Is it safe to roll back payments-api?",
            {"ranked", "no cause", "incidents", "diff", "moved"},
        ),
        ("Is it safe to roll back 4471?", {"ranked", "no cause", "incidents", "diff", "moved", "4471"}),
        ("Is it safe to roll back 9999?", {"ranked", "no cause", "incidents", "no 9999"}),
        ("What commit is deploy 4471?", {"ranked", "no cause", "diff", "moved", "no 9999", "listed", "4471"}),
        ("What is running in production?", {"no 9999", "listed", "4471"}),
        ("What incidents are open?", {"ranked", "no cause", "incidents"}),
        ("When did the incident start?", {"ranked", "no cause", "incidents"}),
        ("Where was src/app.py before?", {"moved", "incidents"}),
    ],
)  # fmt: skip
def test_a_part_is_answered_by_what_speaks_to_it_and_by_nothing_else(
    question: str, speak: set[str]
) -> None:
    for name, result in ALL.items():
        given = pad(result, question=question)
        assert len(given.question.parts) == 1
        left = unanswered_by(given, given.observations)
        assert (left == []) is (name in speak), name


@pytest.mark.parametrize(
    ("name", "answered"),
    [("diff", True), ("no cause", True), ("incidents", True), ("ranked", False), ("4471", False)],
)
def test_what_changed_in_the_cause_is_answered_by_its_diff_or_by_there_being_none(
    name: str, *, answered: bool
) -> None:
    given = pad(ALL[name], question="What broke checkout and what changed?")
    left = [part.kind.value for part in unanswered_by(given, given.observations)]
    assert ("changes" not in left) is answered


def test_a_diff_of_a_deploy_named_by_its_commit_answers_for_it() -> None:
    value = DIFF.value
    assert isinstance(value, DiffShown)
    sha = value.deploy.sha or ""
    for asked, answered in ((sha[:9], True), ("deadbeef1", False)):
        given = pad(DIFF, question=f"What changed in commit {asked}?")
        assert (unanswered_by(given, given.observations) == []) is answered


@pytest.mark.parametrize(
    ("asked", "sha", "is_it"),
    [
        ("3f2a9bc", "3f2a9bc" + "0" * 33, True),
        ("3F2A9BC", "3f2a9bc" + "0" * 33, True),
        ("3f2a9b", "3f2a9bc" + "0" * 33, False),
        ("3f2a9bd", "3f2a9bc" + "0" * 33, False),
        ("3f2a9bc", None, False),
        ("3f2a9bc", "", False),
    ],
)
def test_a_name_is_the_beginning_of_a_commit_id_from_seven_characters_on(
    asked: str, sha: str | None, *, is_it: bool
) -> None:
    assert is_sha_of(asked, sha) is is_it


# --- the whole answer -----------------------------------------------------------------------------

BOTH = "What broke checkout and what changed in deploy 4471?"
CAUSE = Claim(text="payments-api 4471 most likely caused it", evidence=("o1",))
CHANGE = Claim(text="Deploy 4471 changed 12 files", evidence=("o2",))
LIE = Claim(text="Deploy 4471 changed 99 files", evidence=("o2",))


def handed_in(
    *claims: Claim,
    headline: str = "payments-api 4471 most likely caused it",
    unknowns: Sequence[str] = (),
) -> AnswerArguments:
    return AnswerArguments(
        headline=headline, claims=claims, unknowns=tuple(unknowns), confidence=Confidence.HIGH
    )


def test_each_problem_names_its_claim_and_the_part_that_is_left_out() -> None:
    given = pad(RANKED, DIFF, question=BOTH)
    verdict = check(handed_in(CAUSE, LIE, headline="Deploy 4471 changed 98 files"), given)
    assert verdict.accepted is None
    assert verdict.problems == (
        "claim 2: count '99 files' does not occur in o2",
        "headline: count '98 files' does not occur in o1, o2",
        'the question also asks "what changed in deploy 4471": answer it, or list it under unknowns',
    )


def test_an_answer_of_nothing_is_asked_for_a_claim() -> None:
    assert check(handed_in(), pad(RANKED)).problems == (
        "there are no claims: make at least one, or list what is unknown",
    )


@pytest.mark.parametrize(
    ("unknown", "named"),
    [
        ("what changed in deploy 4471", True),
        ("The 4471 diff", True),
        ("Changed files", True),
        ("what the that and", False),
        ("the weather", False),
    ],
)
def test_an_unknown_speaks_of_a_part_by_a_word_that_tells(unknown: str, *, named: bool) -> None:
    verdict = check(handed_in(CAUSE, unknowns=[unknown]), pad(RANKED, DIFF, question=BOTH))
    assert (verdict.accepted is not None) is named


def test_what_holds_of_a_rejected_answer_is_said_with_what_was_withheld() -> None:
    given = pad(RANKED, DIFF, question=BOTH)
    salvage = check(handed_in(CAUSE, LIE, unknowns=["flags"]), given).salvage
    assert salvage is not None
    assert salvage.headline == "payments-api 4471 most likely caused it"
    assert salvage.claims[0] == CAUSE
    assert LIE not in salvage.claims
    assert salvage.unknowns == (
        "flags",
        "what changed in deploy 4471",
        "1 more claim was withheld: nothing backed it",
    )


def test_a_headline_that_nothing_backs_gives_way_to_the_first_claim_that_holds() -> None:
    given = pad(RANKED, DIFF, question=BOTH)
    salvage = check(handed_in(CHANGE, CAUSE, headline="Deploy 9999 did it"), given).salvage
    assert salvage is not None
    assert salvage.headline == "Deploy 4471 changed 12 files"
    assert salvage.unknowns == ()


def test_nothing_is_said_of_a_rejected_answer_that_answers_no_part() -> None:
    given = pad(TEXT, DIFF, question="What caused the outage?")
    assert check(handed_in(CHANGE, headline="x"), given).salvage is None


def runner_up(*claims: Claim, headline: str, result: ToolResult = RANKED) -> list[str]:
    accepted = check(handed_in(*claims, headline=headline), pad(result)).accepted
    assert accepted is not None
    return [c.text for c in accepted.claims if c.text.startswith("Runner-up")]


def test_the_runner_up_is_added_where_a_cause_is_named_and_it_is_left_out() -> None:
    added = ["Runner-up: web 4470, touches checkout's page only"]
    when = Claim(text="Deploy 4471 finished 01:44 UTC", evidence=("o1",))
    assert runner_up(CAUSE, headline=CAUSE.text) == added
    assert runner_up(CAUSE, headline="Deploy 4471 finished 01:44 UTC") == added
    assert runner_up(when, headline="payments-api is the first suspect") == added
    assert runner_up(when, headline="Deploy 4471 finished 01:44 UTC") == []
    told = Claim(text="the Runner-Up is web 4470", evidence=("o1",))
    assert runner_up(CAUSE, told, headline=CAUSE.text) == []


def test_a_runner_up_without_reasons_and_one_suspect_alone() -> None:
    value = RANKED.value
    assert isinstance(value, SuspectsRanked)
    first, second = value.suspects
    bare = changed(RANKED, suspects=(first, second.model_copy(update={"reasons": ()})))
    assert runner_up(CAUSE, headline=CAUSE.text, result=bare) == [
        "Runner-up: web 4470, ranked second"
    ]
    assert runner_up(CAUSE, headline=CAUSE.text, result=changed(RANKED, suspects=(first,))) == []


def test_what_no_tool_searched_is_said_once_for_all_that_is_cited() -> None:
    other = changed(INCIDENTS, not_searched=("pagerduty", "feature flags"))
    claims = (CAUSE, Claim(text="INC-7 is the incident", evidence=("o2",)))
    accepted = check(handed_in(*claims), pad(RANKED, other)).accepted
    assert accepted is not None
    assert accepted.not_checked == ("feature flags", "pagerduty")
    assert [(c.observation, c.tool) for c in accepted.cited] == [("o1", "tool1"), ("o2", "tool2")]
    assert (accepted.steps, accepted.model) == (2, "m")


@pytest.mark.parametrize("name", [name for name in ALL if name != "text"])
def test_every_kind_of_result_can_be_cited(name: str) -> None:
    """What a tool returned is in the evidence, whatever it is: nothing is silently missing."""
    given = pad(ALL[name])
    assert set(given.evidence) == {"o1"}
    assert given.evidence["o1"].result == ALL[name]
