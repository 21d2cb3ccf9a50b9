"""How much the words of an incident say about each of several changes: rare words, said often.

Owns the weighing (BM25 over the changed lines of all candidates). Knows no deploy and no weight of
a sign.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tools.evidence import ChangeText
from tools.symptoms import Term

SATURATION, LENGTH_SHARE = 1.2, 0.7
"""k1 and b of BM25: how fast repeats stop counting, how much long diffs are discounted."""
NEXT_TERM = 0.75
"""Each further term counts so much less: a few telling words beat many common ones."""
TELLING = 12.0
"""A worth of terms at which the words of the incident count at nearly two thirds."""
TELLING_KIND = 4.0
"""The same for the usual words of a kind of failure, of which there are a dozen at most."""


@dataclass(frozen=True)
class Found:
    """A term in a candidate, with what it is worth there."""

    term: Term
    worth: float


class Corpus:
    """All changes as documents, so that words in all of them count little."""

    def __init__(self, changes: Sequence[ChangeText | None], terms: Sequence[Term]) -> None:
        texts = {id(text): text for text in changes if text}
        self._lengths = {key: text.length for key, text in texts.items()}
        self._mean = sum(self._lengths.values()) / max(1, len(texts)) or 1.0
        self._hits = {
            key: {term: hits for term in terms if (hits := text.hits(term))}
            for key, text in texts.items()
        }
        counts = {term: sum(term in hits for hits in self._hits.values()) for term in terms}
        size = len(texts)
        self._rarity = {
            term: math.log(1 + (size - n + 0.5) / (n + 0.5)) for term, n in counts.items() if n
        }

    def found(self, change: ChangeText | None) -> tuple[Found, ...]:
        """The terms in a candidate's change, most telling first."""
        hits = self._hits.get(id(change), {})
        length = self._lengths.get(id(change), 0) / self._mean
        slack = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * length)
        worth = (
            Found(
                term,
                term.weight * self._rarity[term] * count * (SATURATION + 1) / (count + slack),
            )
            for term, count in hits.items()
        )
        return tuple(sorted(worth, key=lambda one: -one.worth))

    def rarity(self, term: Term) -> float:
        return self._rarity.get(term, 0.0)


def share_of(found: Sequence[Found], telling: float = TELLING) -> float:
    """The worth of terms (most telling first) as a share of all that words could say: 0 to 1, nearly
    two thirds where they are worth ``telling``.
    """
    total = sum(one.worth * NEXT_TERM**place for place, one in enumerate(found))
    return 1 - math.exp(-total / telling)
