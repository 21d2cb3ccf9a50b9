from __future__ import annotations

from datetime import timedelta

from tools.confidence import CLEAR_MARGIN, SOME_MARGIN, confidence_in
from tools.records import Confidence, Deploy, Reason, Suspect
from tools.weights import Sign

OWN, TOLD = (Sign.SERVICE, 3.0), (Sign.WORDS, 2.0)
HOUR = timedelta(hours=1)


def _suspect(*signs: tuple[Sign, float], before: timedelta = HOUR) -> Suspect:
    reasons = tuple(Reason(name=sign.value, score=score, text="so") for sign, score in signs)
    deploy = Deploy(id="1", service="payments", environment="production")
    score = sum(reason.score for reason in reasons)
    return Suspect(deploy=deploy, score=score, before_onset=before, reasons=reasons)


def _ahead(first: Suspect, margin: float) -> tuple[Suspect, Suspect]:
    return first, _suspect((Sign.SERVICE, first.score - margin))


def test_high_needs_a_lead_and_a_second_sign_beside_common_words() -> None:
    seconded = _suspect(OWN, TOLD, (Sign.RISKY, 0.7))
    assert confidence_in(_ahead(seconded, CLEAR_MARGIN), None) is Confidence.HIGH
    assert confidence_in(_ahead(seconded, CLEAR_MARGIN - 0.1), None) is Confidence.MEDIUM
    assert confidence_in(_ahead(seconded, SOME_MARGIN - 0.1), None) is Confidence.LOW
    assert confidence_in(_ahead(_suspect(OWN, TOLD), CLEAR_MARGIN), None) is Confidence.MEDIUM


def test_a_new_version_is_no_second_sign() -> None:
    first = _suspect(OWN, TOLD, (Sign.VERSION, 0.3))
    assert confidence_in(_ahead(first, CLEAR_MARGIN), None) is Confidence.MEDIUM


def test_a_stated_cause_from_outside_yields_only_to_what_was_taken_back() -> None:
    told = _suspect(OWN, TOLD, (Sign.RISKY, 0.7))
    undone = _suspect(OWN, TOLD, (Sign.UNDONE, 3.0))
    assert confidence_in((told,), "it came from outside") is Confidence.NONE
    assert confidence_in((undone,), "it came from outside") is Confidence.HIGH
    assert confidence_in((), None) is Confidence.NONE
