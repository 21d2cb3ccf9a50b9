"""The limits of a run, the reasons to stop, and every stop rule in one ordered list (M7).

Limits are data, checked against each other when they are made. Rules are pure and read a ``Tally``,
which the scratchpad counts. Knows nothing of models or tools.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator


class StopReason(StrEnum):
    """Why a run ended. Each has its own; ``plain`` in outcome.py says it to people."""

    ANSWERED = "answered"
    PROPOSED = "write_proposed"
    ABORTED = "aborted"
    DEADLINE = "deadline"
    MODEL_UNAVAILABLE = "model_unavailable"
    REFUSED = "refused_by_model"
    TRUNCATED = "truncated"
    SILENT_FINISH = "silent_finish"
    UNGROUNDED = "ungrounded"
    ERROR_BUDGET = "error_budget"
    REPEATED_CALL = "repeated_call"
    CYCLE = "cycle"
    IGNORED_REFUSALS = "ignored_refusals"
    TOKEN_BUDGET = "token_budget"  # noqa: S105 - a reason, not a secret
    STEP_CAP = "step_cap"
    INTERRUPTED = "interrupted"


class Limits(BaseModel):
    """Every limit of one run. Seconds, tokens, characters or counts as the names say."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_steps: int = Field(default=8, ge=1, le=50)
    deadline_seconds: float = Field(default=60.0, gt=0, le=900)
    reserve_seconds: float = Field(default=5.0, ge=0)
    model_call_seconds: float = Field(default=20.0, gt=0)
    tool_call_seconds: float = Field(default=10.0, gt=0)
    parallel_reads: int = Field(default=4, ge=1, le=16)
    calls_per_turn: int = Field(default=8, ge=1, le=32)
    tool_errors: int = Field(default=3, ge=1)
    repeated_turns: int = Field(default=3, ge=1)
    ignored_refusals: int = Field(default=3, ge=1)
    failed_call_retries: int = Field(default=2, ge=0)
    rejected_answers: int = Field(default=2, ge=1)
    request_tokens: int = Field(default=24_000, ge=1_000)
    run_tokens: int = Field(default=200_000, ge=1_000)
    observation_chars: int = Field(default=4_000, ge=400)
    model_retries: int = Field(default=2, ge=0, le=5)

    @model_validator(mode="after")
    def _fit_each_other(self) -> Self:
        work = self.deadline_seconds - self.reserve_seconds
        if work <= 0:
            raise ValueError(
                f"reserve_seconds ({self.reserve_seconds:g}) leaves nothing of deadline_seconds "
                f"({self.deadline_seconds:g}): raise the deadline or lower the reserve"
            )
        for name in ("model_call_seconds", "tool_call_seconds"):
            seconds = getattr(self, name)
            if seconds >= work:
                raise ValueError(
                    f"{name} ({seconds:g}) must be smaller than deadline_seconds - "
                    f"reserve_seconds ({work:g}), or one call could eat the whole run"
                )
        if self.request_tokens > self.run_tokens:
            raise ValueError(
                f"request_tokens ({self.request_tokens}) is more than run_tokens "
                f"({self.run_tokens}): no request would fit the run"
            )
        return self


@dataclass(frozen=True)
class Tally:
    """What the stop rules look at. Counts are of the whole run so far."""

    tool_errors: int = 0
    repeated_turns: int = 0
    refusals_in_a_row: int = 0
    refused_again: int = 0
    cycle: bool = False
    silent_turns: int = 0
    truncated_turns: int = 0
    rejected_answers: int = 0
    tokens: int = 0


@dataclass(frozen=True)
class StopRule:
    """``holds`` says, from the tally alone, that the run must end for this reason."""

    reason: StopReason
    holds: Callable[[Tally, Limits], bool]


STOP_RULES: tuple[StopRule, ...] = (
    StopRule(StopReason.UNGROUNDED, lambda t, x: t.rejected_answers >= x.rejected_answers),
    StopRule(StopReason.TRUNCATED, lambda t, _: t.truncated_turns > 1),
    StopRule(StopReason.SILENT_FINISH, lambda t, _: t.silent_turns > 1),
    StopRule(StopReason.ERROR_BUDGET, lambda t, x: t.tool_errors >= x.tool_errors),
    StopRule(StopReason.CYCLE, lambda t, _: t.cycle),
    StopRule(StopReason.REPEATED_CALL, lambda t, x: t.repeated_turns >= x.repeated_turns),
    StopRule(
        StopReason.IGNORED_REFUSALS,
        lambda t, x: max(t.refusals_in_a_row, t.refused_again) >= x.ignored_refusals,
    ),
    StopRule(StopReason.TOKEN_BUDGET, lambda t, x: t.tokens >= x.run_tokens),
)
"""Asked in this order after every turn. Four reasons are not counted and stand where they arise:
the abort and the deadline (stopping.py), a model that is down or refuses (decide.py), and the step
cap, which is the ``for`` of the engine itself."""


def stop_reason(tally: Tally, limits: Limits) -> StopReason | None:
    """The first rule that holds, or ``None`` while the run may go on."""
    return next((rule.reason for rule in STOP_RULES if rule.holds(tally, limits)), None)
