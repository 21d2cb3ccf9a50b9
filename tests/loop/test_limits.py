from __future__ import annotations

import pytest
from pydantic import ValidationError

from bot.loop.limits import STOP_RULES, Limits, StopReason, Tally, stop_reason
from bot.loop.outcome import plain


def test_a_model_call_longer_than_the_deadline_is_refused_with_what_to_do() -> None:
    with pytest.raises(ValidationError, match=r"model_call_seconds .* must be smaller"):
        Limits(deadline_seconds=20, reserve_seconds=5, model_call_seconds=15)


def test_a_tool_call_longer_than_the_deadline_is_refused() -> None:
    with pytest.raises(ValidationError, match=r"tool_call_seconds .* must be smaller"):
        Limits(deadline_seconds=30, model_call_seconds=5, tool_call_seconds=25)


def test_a_reserve_that_eats_the_deadline_is_refused() -> None:
    with pytest.raises(ValidationError, match="leaves nothing of deadline_seconds"):
        Limits(deadline_seconds=5, reserve_seconds=5)


def test_a_request_budget_over_the_run_budget_is_refused() -> None:
    with pytest.raises(ValidationError, match="no request would fit"):
        Limits(request_tokens=9000, run_tokens=8000)


@pytest.mark.parametrize(
    ("tally", "reason"),
    [
        (Tally(rejected_answers=2), StopReason.UNGROUNDED),
        (Tally(truncated_turns=2), StopReason.TRUNCATED),
        (Tally(silent_turns=2), StopReason.SILENT_FINISH),
        (Tally(tool_errors=3), StopReason.ERROR_BUDGET),
        (Tally(cycle=True), StopReason.CYCLE),
        (Tally(repeated_turns=3), StopReason.REPEATED_CALL),
        (Tally(refusals_in_a_row=3), StopReason.IGNORED_REFUSALS),
        (Tally(tokens=200_000), StopReason.TOKEN_BUDGET),
    ],
)
def test_each_rule_stops_at_its_limit_and_not_before(tally: Tally, reason: StopReason) -> None:
    assert stop_reason(tally, Limits()) is reason


@pytest.mark.parametrize(
    "tally",
    [
        Tally(),
        Tally(rejected_answers=1),
        Tally(truncated_turns=1),
        Tally(silent_turns=1),
        Tally(tool_errors=2),
        Tally(repeated_turns=2),
        Tally(refusals_in_a_row=2),
        Tally(tokens=199_999),
    ],
)
def test_just_below_a_limit_the_run_goes_on(tally: Tally) -> None:
    assert stop_reason(tally, Limits()) is None


def test_every_rule_has_a_reason_of_its_own_and_every_reason_plain_words() -> None:
    reasons = [rule.reason for rule in STOP_RULES]
    assert len(reasons) == len(set(reasons))
    assert len({plain(reason) for reason in StopReason}) == len(StopReason)


@pytest.mark.parametrize("reason", StopReason)
def test_a_reason_is_told_as_one_plain_sentence(reason: StopReason) -> None:
    sentence = plain(reason)
    first, rest = sentence[0], sentence[1:-1]
    assert (first, rest) == (first.upper(), rest.lower())
    assert sentence[-1] == "."
    assert "." not in rest
