"""How much each sign counts when suspects are ranked: one table, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType


class Sign(StrEnum):
    """A reason to suspect a change, or to clear it."""

    SERVICE = "service"
    RECENT = "recent"
    WORDS = "words"
    PRECISE = "precise words"
    TAKEN_AWAY = "taken away"
    BROUGHT = "brought in"
    KINSHIP = "kind of failure"
    RISKY = "risky change"
    VERSION = "new version"
    UNDONE = "undone afterwards"
    RESOLVED = "resolved by a later deploy"
    HARMLESS = "documentation or tests only"
    SAME = "changes nothing"
    FAILED = "did not finish"


@dataclass(frozen=True)
class Weight:
    """``points`` for a sign at its full strength of 1."""

    sign: Sign
    points: float
    why: str


WEIGHTS: tuple[Weight, ...] = (
    Weight(Sign.SERVICE, 3.0, "a failure shows in the changed service or in what depends on it"),
    Weight(Sign.RECENT, 2.0, "most incidents begin soon after the change that caused them"),
    Weight(Sign.WORDS, 4.0, "what fails is written in the lines that changed"),
    Weight(Sign.PRECISE, 2.0, "an identifier or a quoted text is rarely shared by chance"),
    Weight(Sign.TAKEN_AWAY, 2.0, "what an error message misses was there before the change"),
    Weight(Sign.BROUGHT, 1.0, "an error message that is new came with what raises it"),
    Weight(Sign.KINSHIP, 1.0, "some kinds of failure have usual causes"),
    Weight(Sign.RISKY, 0.7, "timeouts, limits, migrations and the like break in production only"),
    Weight(Sign.VERSION, 0.3, "a patch version promises to break nobody, a greater step does not"),
    Weight(Sign.UNDONE, 3.0, "people take back what they believe was the cause"),
    Weight(Sign.RESOLVED, 1.5, "the incident ended with a deploy that works on the same lines"),
    Weight(Sign.HARMLESS, -4.0, "documentation and tests do not run in production"),
    Weight(Sign.SAME, -3.0, "the same commit was running before"),
    Weight(Sign.FAILED, -0.5, "a failed deploy may not have taken effect"),
)


def points_by_sign(weights: tuple[Weight, ...] = WEIGHTS) -> Mapping[Sign, float]:
    """The table as a lookup; signs that it leaves out count nothing."""
    by_sign = dict.fromkeys(Sign, 0.0)
    by_sign.update({weight.sign: weight.points for weight in weights})
    return MappingProxyType(by_sign)
