"""The goal check: what may be said of which observation."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from bot.loop.grounding import NOTHING, Verdict, check
from bot.loop.outcome import AnswerArguments, Claim
from support.pads import pad
from support.scripted import CATALOG, NOW, asked, deploy, diff, found, no_deploy, ranking
from tools.base import Status, ToolResult
from tools.records import Confidence, Deploy, DeploysFound, DiffShown


def verdict(
    text: str,
    *results: ToolResult,
    evidence: Sequence[str] = ("o1",),
    confidence: Confidence = Confidence.HIGH,
    question: str = "hello",
) -> Verdict:
    claim = Claim(text=text, evidence=tuple(evidence))
    arguments = AnswerArguments(headline=text, claims=(claim,), confidence=confidence)
    return check(arguments, pad(*results, question=question))


@pytest.mark.parametrize(
    "text",
    [
        "Deploy 4471 finished 01:44 UTC, 22 min before onset",
        "Deploy #4471 finished 02:44+01:00",
        "payments-api 4471 finished at 2026-11-29T01:44:00Z",
        "It finished on 2026-11-29, 22 minutes before onset",
        "It finished 1320 s before onset",
        "The runner-up is web 4470, v9.0.0",
        "web 4470 finished 1 h before onset",
        "payments most likely caused it",
    ],
)
def test_a_fact_holds_by_value_however_it_is_spelled(text: str) -> None:
    assert verdict(text, ranking()).problems == ()


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Deploy 4472 finished 01:44 UTC", "deploy number"),
        ("Deploy 4471 finished 01:45 UTC", "time"),
        ("Deploy 4471 finished 2026-11-28", "date"),
        ("Deploy 4471 finished 23 min before onset", "duration"),
        ("ledger did it", "service"),
        ("See https://example.com/x", "URL"),
        ("Error rate is 14 %", "percentage"),
        ("It changed 13 files", "count"),
        ("It has 13 owners", "number"),
        ("It is v2.3.2", "version"),
        ("It changed config/pool.yaml", "file"),
        ("Commit deadbeef99 did it", "SHA"),
        ("It set `retry.budget: 5s → 2s`", "quoted code"),
        ("It is INC-9", "incident id"),
        ("See HTTPS://EXAMPLE.COM/X", "URL"),
        ("See www.example.com/x", "URL"),
        ("@bob deployed it", "person"),
        ("10k errors", "number"),
        ("It has 5GB of memory", "number"),
        ("It has 5 GiB of memory", "number"),
        ("Errors rose 3x", "number"),
    ],
)
def test_a_fact_of_each_kind_that_no_observation_holds_is_caught(text: str, kind: str) -> None:
    problems = verdict(text, ranking()).problems
    assert any(kind in problem for problem in problems), problems


def test_settings_files_and_counts_hold_against_a_diff() -> None:
    text = "Deploy 4471 changed 12 files; `retry.budget: 5s → 1s` in config/retry.yaml, +80 −31"
    assert verdict(text, diff()).problems == ()
    assert verdict("The budget went from 5000ms to 1000 ms", diff()).problems == ()
    assert verdict("retry.yaml changed", diff()).problems == ()


def test_a_short_sha_is_the_long_one_it_begins() -> None:
    shown = diff().value
    assert isinstance(shown, DiffShown)
    sha = shown.deploy.sha
    assert sha is not None
    assert verdict(f"It shipped {sha[:9]}b", diff()).problems != ()
    assert verdict(f"It shipped {sha[:9]}", diff()).problems == ()
    assert verdict("It was compared with " + "b" * 39 + "1", diff()).problems == ()


def test_a_failed_call_supports_no_claim_and_neither_does_one_that_was_not_made() -> None:
    failed = ToolResult(status=Status.ERROR, summary="down", text="deploy 4471")
    assert "no successful observation" in verdict("Deploy 4471", failed).problems[0]
    assert "no successful observation" in verdict("x", ranking(), evidence=["o9"]).problems[0]
    assert verdict("x", ranking(), evidence=[]).problems[0].endswith("it cites no observation")


def test_facts_must_be_in_the_observation_that_is_cited_and_not_in_another() -> None:
    text = "It changed 12 files"
    assert verdict(text, ranking(), diff(), evidence=["o2"]).problems == ()
    assert verdict(text, ranking(), diff(), evidence=["o1"]).problems != ()


def test_words_of_the_question_are_no_evidence() -> None:
    asked_it = "Did deploy 5555 break checkout?"
    assert verdict("Deploy 5555 broke it", ranking(), question=asked_it).problems != ()


def test_an_echoed_argument_supports_only_a_denial() -> None:
    assert verdict("There is no deploy 9999", no_deploy()).problems == ()
    assert verdict("Deploy 9999 does not exist; nearest is 4473", no_deploy()).problems == ()
    assert verdict("Deploy 9999 changed 12 files", no_deploy()).problems != ()
    assert verdict("Deploy 9999 was fine", no_deploy()).problems != ()


def test_cause_is_said_flatly_only_at_high_confidence() -> None:
    flat, hedged = "payments-api caused it", "payments-api most likely caused it"
    assert verdict(flat, ranking()).problems == ()
    assert verdict(hedged, ranking(Confidence.MEDIUM)).problems == ()
    assert "say 'most likely'" in verdict(flat, ranking(Confidence.MEDIUM)).problems[0]
    assert "cannot be named" in verdict(hedged, ranking(Confidence.NONE)).problems[0]
    assert "cites no ranking" in verdict("The diff caused it", diff()).problems[0]
    assert verdict("No deploy caused it", ranking(Confidence.NONE)).problems == ()


def test_confidence_is_never_above_the_tools() -> None:
    accepted = verdict("payments-api most likely caused it", ranking(Confidence.LOW)).accepted
    assert accepted is not None
    assert accepted.confidence is Confidence.LOW


GAP = "2 deploys without a time (deploys.jsonl)"
DATED = deploy(4471)
UNDATED = DATED.model_copy(update={"finished_at": None, "started_at": None, "created_at": None})


@pytest.mark.parametrize(
    ("deploys", "asked_deploy", "gaps", "confidence"),
    [
        ((), None, (GAP,), Confidence.LOW),
        ((), "9999", (GAP,), Confidence.LOW),
        ((UNDATED, DATED), None, (GAP,), Confidence.LOW),
        ((DATED, UNDATED), None, (GAP,), Confidence.HIGH),
        ((UNDATED,), "4471", (GAP,), Confidence.HIGH),
        ((), None, (), Confidence.HIGH),
        ((UNDATED,), None, (), Confidence.HIGH),
    ],
)
def test_what_was_not_searched_lowers_an_answer_that_it_could_turn(
    deploys: tuple[Deploy, ...],
    asked_deploy: str | None,
    gaps: tuple[str, ...],
    confidence: Confidence,
) -> None:
    value = DeploysFound(
        asked="payments-api",
        asked_deploy=asked_deploy,
        deploys=deploys,
        total=len(deploys),
        not_searched=gaps,
    )
    result = found("searched", value)
    accepted = verdict("it was searched", result).accepted
    assert accepted is not None
    assert (accepted.confidence, accepted.not_checked) == (confidence, gaps)


def test_the_models_lower_confidence_stands() -> None:
    text = "payments-api most likely caused it"
    accepted = verdict(text, ranking(), confidence=Confidence.LOW).accepted
    assert accepted is not None
    assert accepted.confidence is Confidence.LOW


def test_prose_without_a_claim_reaches_nobody() -> None:
    prose = AnswerArguments(
        headline="Just restart the database",
        claims=(),
        unknowns=("it all",),
        confidence="high",
    )
    accepted = check(prose, pad(ranking())).accepted
    assert accepted is not None
    assert accepted.headline == NOTHING
    bare = prose.model_copy(update={"unknowns": ()})
    assert check(bare, pad(ranking())).accepted is None


BOTH_PARTS = "Which service caused the checkout incident, and what changed in deploy 4471?"
HOLDS = Claim(text="Deploy 4471 finished 22 min before onset", evidence=("o1",))


def answered(headline: str, *claims: Claim) -> Verdict:
    arguments = AnswerArguments(headline=headline, claims=claims, confidence=Confidence.HIGH)
    return check(arguments, pad(ranking(), question=BOTH_PARTS))


@pytest.mark.parametrize(
    ("headline", "posted"),
    [
        ("payments-api most likely caused it", "payments-api most likely caused it"),
        ("payments-api deploy 9999 most likely caused it", HOLDS.text),
    ],
)
def test_of_a_rejected_answer_the_headline_stays_if_it_holds(headline: str, posted: str) -> None:
    invented = Claim(text="It changed 99 files", evidence=("o1",))
    left = answered(headline, HOLDS, invented).salvage
    assert left is not None
    assert left.headline == posted
    assert left.claims[0] == HOLDS
    assert invented not in left.claims
    assert left.unknowns[0] == "what changed in deploy 4471"
    assert left.unknowns[1] == "1 more claim was withheld: nothing backed it"


@pytest.mark.parametrize(
    ("unknown", "named"),
    [
        ("which service caused it", True),
        ("the cause of the incident", True),
        ("the flags", False),
        ("what else went out", False),
        ("deploy windows and flags were not checked", False),
        ("which service owns the flags", False),
    ],
)
def test_an_unknown_names_a_part_by_more_than_a_small_word(unknown: str, *, named: bool) -> None:
    changed = verdict("It changed 12 files", diff(), question=BOTH_PARTS)
    assert len(changed.problems) == 1, "the cause is open"
    arguments = AnswerArguments(
        headline="It changed 12 files",
        claims=(Claim(text="It changed 12 files", evidence=("o1",)),),
        unknowns=(unknown,),
        confidence=Confidence.HIGH,
    )
    accepted = check(arguments, pad(diff(), question=BOTH_PARTS)).accepted
    assert (accepted is not None) is named


@pytest.mark.parametrize(
    ("asked_for", "given", "answers"),
    [
        ("payments-api v2.3.1", "4471", True),
        ("payments-api 2.3.1", "4471", True),
        ("release 2.3.1", "2.3.1", True),
        ("deploy 4471", "v2.3.1", True),
        ("deploy-4471", "deploy-4471", True),
        ("deploy 4472", "4471", False),
        ("release 2.3.2", "2.3.1", False),
    ],
)
def test_the_diff_of_a_deploy_answers_for_it_by_any_of_its_names(
    asked_for: str, given: str, *, answers: bool
) -> None:
    text = "Deploy 4471 changed 12 files"
    arguments = AnswerArguments(
        headline=text,
        claims=(Claim(text=text, evidence=("o1",)),),
        confidence=Confidence.HIGH,
    )
    seen = pad((diff(), {"deploy": given}), question=f"What changed in {asked_for}?")
    assert (check(arguments, seen).accepted is not None) is answers


def test_nothing_is_salvaged_when_no_claim_holds() -> None:
    assert verdict("Deploy 1 changed 99 files", ranking()).salvage is None


def test_facts_of_plain_text_results_count() -> None:
    assert verdict("It took 3 s", found("the call took 3000 ms")).problems == ()


def test_an_amount_holds_with_its_unit_and_a_person_by_a_mention() -> None:
    log = found("web was given 512 MB, then 2GB, 3x of before, by @bob.k of @scope/pkg")
    assert verdict("@bob.k gave web 512MB and then 2 GB, 3x", log).problems == ()
    assert verdict("web was given 2 MB", log).problems != ()
    assert verdict("@bo gave web 512MB", log).problems != ()


def test_the_clock_of_the_question_is_utc() -> None:
    assert asked("x").asked_at == NOW
    assert CATALOG["payments"] == "payments-api"


def test_two_deploys_of_one_version_are_told_apart_by_their_numbers() -> None:
    ranked = ranking()
    value = ranked.value
    assert value is not None
    assert value.kind == "suspects"
    first, second = value.suspects
    twin = second.model_copy(
        update={"deploy": second.deploy.model_copy(update={"ref": first.deploy.ref})}
    )
    same = found(ranked.text, value.model_copy(update={"suspects": (first, twin)}))
    assert verdict("web deploy 4470 (v2.3.1) most likely did not cause it", same).problems == ()
    assert verdict("Deploy 4471 (v2.3.1) did not cause it", same).problems != ()
