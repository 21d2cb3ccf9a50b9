"""How sure one may be of the first suspect: its own signs, and how far it is ahead of the next.

Owns the bounds between high, medium, low and none. They are set so that what is called high is right
at least nine times in ten. Reads scored signs only: no diff and no incident.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from tools.candidates import RECENT
from tools.records import Confidence, Suspect
from tools.weights import Sign

WORDS_ENOUGH = 0.8
"""Points for words below which they may be chance."""
WORDS_ALONE = 1.6
"""Points for words that tie an old change to an incident without anything more precise."""
CLEAR_MARGIN, SOME_MARGIN = 2.0, 0.8
"""Points ahead of the runner-up for high and for medium confidence."""
SECONDS: Mapping[Sign, float] = MappingProxyType(
    {
        Sign.UNDONE: 0.1,
        Sign.TAKEN_AWAY: 0.1,
        Sign.PRECISE: 1.0,
        Sign.RISKY: 0.6,
        Sign.KINSHIP: 0.25,
    }
)
"""High confidence needs one of these as well, at so many points: common words may be chance."""
_TYING = frozenset(
    sign.value for sign in (Sign.UNDONE, Sign.TAKEN_AWAY, Sign.PRECISE, Sign.BROUGHT)
)
"""What ties even an old change to an incident."""
CLEARING = frozenset({Sign.HARMLESS.value, Sign.SAME.value})
"""Signs that clear a change: there is no confidence in a suspect that has one."""


def confidence_in(suspects: Sequence[Suspect], external: str | None) -> Confidence:
    """How sure one may be of the first of these, which are ranked.

    ``external`` is a cause outside of any deploy that the incident states: only what people took
    back afterwards speaks against it.
    """
    if not suspects:
        return Confidence.NONE
    first = suspects[0]
    if external and Sign.UNDONE.value not in {reason.name for reason in first.reasons}:
        return Confidence.NONE
    margin = first.score - (suspects[1].score if len(suspects) > 1 else 0.0)
    points = {reason.name: reason.score for reason in first.reasons}
    linked = Sign.SERVICE.value in points
    told = (
        Sign.UNDONE.value in points
        or Sign.TAKEN_AWAY.value in points
        or points.get(Sign.WORDS.value, 0.0) >= WORDS_ENOUGH
    )
    recent = first.before_onset <= RECENT
    if not recent:
        told = told and (
            not points.keys().isdisjoint(_TYING) or points.get(Sign.WORDS.value, 0.0) >= WORDS_ALONE
        )
    if not (told or (linked and recent)) or points.keys() & CLEARING:
        return Confidence.NONE
    seconded = any(points.get(sign.value, 0.0) >= least for sign, least in SECONDS.items())
    if linked and told and seconded and margin >= CLEAR_MARGIN:
        return Confidence.HIGH
    if linked and told and margin >= SOME_MARGIN:
        return Confidence.MEDIUM
    return Confidence.LOW
