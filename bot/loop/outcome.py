"""How a run ends: a closed union of answer, failure and proposal; and the arguments of ``answer``.

Owns the values only. What makes an answer true is ``grounding.py``'s, when to stop ``limits.py``'s,
how it looks in Slack or a terminal is the surface's.
"""

from __future__ import annotations

from typing import Annotated, Literal, assert_never

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from bot.loop.limits import StopReason
from bot.loop.state import Phase
from tools.base import Arguments
from tools.records import Confidence

ANSWER = "answer"
"""The name of the signal that ends a run (M5). No other tool may use it."""


class Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Claim(Arguments):
    """One sentence, and the observations that support it (M20)."""

    text: str = Field(
        min_length=1,
        max_length=600,
        description="One short sentence; every fact in it occurs in a cited observation.",
    )
    evidence: tuple[str, ...] = Field(
        description='Such as ["o1"]: what shows it.',
        max_length=12,
    )


class AnswerArguments(Arguments):
    """What the model hands in with ``answer``."""

    headline: str = Field(
        min_length=1,
        max_length=400,
        description="One sentence: the service, the deploy, what it did.",
    )
    claims: tuple[Claim, ...] = Field(
        max_length=12,
        description="Two to five facts, the strongest first.",
    )
    unknowns: tuple[str, ...] = Field(
        default=(),
        max_length=8,
        description="Parts that could not be answered, a short line each.",
    )
    confidence: Confidence = Field(description="Never above the tool's.")


class Cited(Value):
    """An observation that the reply cites, with the tool it came from."""

    observation: str
    tool: str


class Answer(Value):
    """A checked answer. ``not_checked`` is what the tools said they did not search.

    Of every outcome: ``model`` is the one that spoke last, ``instead_of`` the first one of the
    settings where that is another.
    """

    kind: Literal["answer"] = "answer"
    headline: str
    claims: tuple[Claim, ...]
    unknowns: tuple[str, ...] = ()
    not_checked: tuple[str, ...] = ()
    confidence: Confidence
    cited: tuple[Cited, ...] = ()
    steps: int
    model: str
    instead_of: str = ""


class Established(Value):
    """One thing that a run found before it failed."""

    text: str
    observation: str
    tool: str = ""


class Failure(Value):
    """A run that ended without an answer, in words for a person (M7)."""

    kind: Literal["failure"] = "failure"
    reason: StopReason
    phase: Phase
    detail: str = ""
    established: tuple[Established, ...] = ()
    missing: tuple[str, ...] = ()
    next_check: str
    steps: int
    model: str
    instead_of: str = ""


class Proposal(Value):
    """A write that waits for a human; the loop never runs it (M12)."""

    kind: Literal["proposal"] = "proposal"
    tool: str
    arguments: dict[str, JsonValue]
    reason: str
    key: str
    steps: int
    model: str
    instead_of: str = ""


Outcome = Annotated[Answer | Failure | Proposal, Field(discriminator="kind")]


def plain(reason: StopReason) -> str:
    """The reason as a sentence for a person who does not know the loop."""
    match reason:
        case StopReason.ANSWERED:
            return "It was answered."
        case StopReason.PROPOSED:
            return "A change was proposed and waits for a person."
        case StopReason.ABORTED:
            return "Someone stopped it."
        case StopReason.DEADLINE:
            return "The time for this question ran out."
        case StopReason.MODEL_UNAVAILABLE:
            return "The language model could not be reached."
        case StopReason.REFUSED:
            return "The language model declined to answer."
        case StopReason.TRUNCATED:
            return "The language model's replies were cut off twice."
        case StopReason.SILENT_FINISH:
            return "The language model stopped without handing in an answer."
        case StopReason.UNGROUNDED:
            return "What was written could not be backed by what the tools returned."
        case StopReason.ERROR_BUDGET:
            return "Too many tool calls failed."
        case StopReason.REPEATED_CALL:
            return "It kept asking for what it already had."
        case StopReason.CYCLE:
            return "It was going in circles."
        case StopReason.IGNORED_REFUSALS:
            return "It kept making calls that had been refused."
        case StopReason.TOKEN_BUDGET:
            return "The token budget for this question is spent."
        case StopReason.STEP_CAP:
            return "It used all its steps without an answer."
        case StopReason.INTERRUPTED:
            return "The work on this was interrupted."
        case _:
            assert_never(reason)
