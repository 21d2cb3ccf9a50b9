"""A cheap look before a costly pattern: most patterns of a question need a word that is not there.

Pure. A look is a few plain words, one of which stands in every match of the pattern behind it; a look
that asks for more than its pattern would change what is read (``tests/loop/test_guard.py``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_DIGIT = re.compile(r"\d")


def folded(text: str) -> str:
    """The text in lower case, letter for letter, as a look reads it. What a pattern of small letters
    finds in it, ``re.IGNORECASE`` finds in the text: four other letters count as ASCII ones.
    """
    if not text.isascii():
        text = text.replace("\u0130", "i").replace("\u0131", "i").replace("\u017f", "s")
    return text.lower()  # which makes a "k" of the fourth, the sign of Kelvin


def has_digit(text: str) -> bool:
    return _DIGIT.search(text) is not None


def holds(low: str, look: tuple[str, ...]) -> bool:
    """Whether a folded text holds any of the words."""
    for word in look:  # noqa: SIM110 - any() takes longer than most looks
        if word in low:
            return True
    return False


@dataclass(frozen=True, slots=True)
class Guarded:
    """A pattern, and the words that are looked for before it: one of ``look``, and one of ``also``."""

    look: tuple[str, ...]
    also: tuple[str, ...]
    pattern: re.Pattern[str]

    def lets_by(self, low: str) -> bool:
        """Whether a folded text holds the words without which nothing is found."""
        return holds(low, self.look) and holds(low, self.also)

    def search(self, text: str) -> re.Match[str] | None:
        return self.pattern.search(text) if self.lets_by(folded(text)) else None

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        return self.pattern.finditer(text) if self.lets_by(folded(text)) else iter(())

    def sub(self, by: str | Callable[[re.Match[str]], str], text: str) -> str:
        return self.pattern.sub(by, text) if self.lets_by(folded(text)) else text

    def find(self, low: str) -> re.Match[str] | None:
        """What is found in a text that is ``folded`` already, as it is where many are asked in turn."""
        for word in self.look:  # written out: most calls end here, with nothing
            if word in low:
                return self.pattern.search(low) if holds(low, self.also) else None
        return None


def guarded(look: str, pattern: str, also: str = "") -> Guarded:
    """A pattern that ignores case, for text as it is written. ``look`` and ``also`` name the words,
    divided by ``|``: ``change|culprit``.
    """
    return _guarded(look, also, re.compile(pattern, re.IGNORECASE))


def in_folded(look: str, pattern: str, also: str = "") -> Guarded:
    """A pattern of small letters, for text that is ``folded``: twice as fast as ignoring case."""
    return _guarded(look, also, re.compile(pattern))


def _guarded(look: str, also: str, pattern: re.Pattern[str]) -> Guarded:
    return Guarded(tuple(look.split("|")), tuple(also.split("|")), pattern)
