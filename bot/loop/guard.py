"""A cheap look before a costly pattern: most patterns of a question need a word that is not there.

Pure. A look is a few plain words, one of which stands in every match of the pattern behind it; a look
that asks for more than its pattern would change what is read (``tests/loop/test_guard.py``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

DIGITS = "0|1|2|3|4|5|6|7|8|9"
"""The look of a pattern that needs a digit, of whatever script."""
_LIKE_ASCII = str.maketrans({"\u0130": "i", "\u0131": "i", "\u017f": "s", "\u212a": "k"})
"""The four other letters that a pattern which ignores case takes for ASCII ones."""
_ASCII = frozenset(map(chr, range(128)))
_DIGIT = re.compile(r"\d")


def folded(text: str) -> str:
    """The text in lower case and with ASCII digits, as a look reads it."""
    if text.isascii():
        return text.lower()
    if any(map(str.isalnum, set(text) - _ASCII)):
        text = _DIGIT.sub("0", text.translate(_LIKE_ASCII))
    return text.lower()


def has_digit(text: str) -> bool:
    return _DIGIT.search(text) is not None


def holds(low: str, look: tuple[str, ...]) -> bool:
    """Whether a folded text holds any of the words."""
    return any(map(low.__contains__, look))


@dataclass(frozen=True, slots=True)
class Guarded:
    """A pattern that ignores case, and the words that are looked for before it."""

    look: tuple[str, ...]
    pattern: re.Pattern[str]

    def search(self, text: str) -> re.Match[str] | None:
        return self.pattern.search(text) if holds(folded(text), self.look) else None

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        return self.pattern.finditer(text) if holds(folded(text), self.look) else iter(())

    def sub(self, by: str, text: str) -> str:
        return self.pattern.sub(by, text) if holds(folded(text), self.look) else text

    def fits(self, text: str, low: str) -> bool:
        """Whether it is found in the text, whose ``folded`` form is ``low``: asked of many in turn."""
        for word in self.look:
            if word in low:
                return self.pattern.search(text) is not None
        return False


def guarded(look: str, pattern: str) -> Guarded:
    """``look`` names the words, divided by ``|``: ``change|culprit``."""
    return Guarded(tuple(look.split("|")), re.compile(pattern, re.IGNORECASE))
