"""What is left of a masked secret elsewhere: repeated, cut off, or taken apart into names.

Lives for one result. Pieces of what a machine issued are traces; words that a secret holds are not,
for they stand in other places in their own right.
"""

from __future__ import annotations

import re
from bisect import insort
from collections.abc import Iterator, Sequence

from bot.redact.spans import Span
from bot.redact.values import searchable

SHORTEST = 6
_LABEL = re.compile(r"-----?(?:BEGIN|END) [A-Z0-9 ]{1,80}-----?|PuTTY-User-Key-File-\d")
_CHUNK = re.compile(r"[^\s\"'`\\]{6,}")
_TOKEN = re.compile("[^\\s\ue000]{6,}")
_WORD = re.compile(r"(?:[a-z]+|[A-Z][a-z]+|[A-Z]+)\d{0,3}|\d{1,4}")
_PART = re.compile(r"[A-Za-z0-9]+")
_PLAIN_WORD = re.compile(r"[a-z]+|[A-Z]?[a-z]+|[A-Z]+|\d+")
_HEX = frozenset("0123456789abcdefABCDEF")
_SURELY = 10
"""Characters from which on a run of hexadecimal digits within a longer one is no chance."""
_LONGEST = 512
"""Characters of a secret made of words that are looked for."""
_MOST_ALIKE = 32
"""Secrets made of words that begin alike and are told from each other."""


class Traces:
    """The secrets masked in one result, with their masks, and where else they can be seen."""

    def __init__(self) -> None:
        self._grams: dict[str, str] = {}
        self._chunks: dict[str, str] = {}
        # Secrets made of words count only whole: by their beginnings, the longest last.
        self._wholes: dict[str, list[tuple[int, str]]] = {}

    def add(self, secret: str, mask: str) -> None:
        """Remember what was masked."""
        for chunk in _CHUNK.findall(_LABEL.sub(" ", secret)):
            if chunk in self._chunks or _PLAIN_WORD.fullmatch(chunk):
                continue
            self._chunks[chunk] = mask
            grams = list(_grams(chunk))
            for gram in grams:
                self._grams.setdefault(gram, mask)
            if not grams:
                whole = chunk[:_LONGEST]
                insort(self._wholes.setdefault(chunk[:SHORTEST], []), (len(whole), whole))
                self._chunks.setdefault(whole, mask)

    def __bool__(self) -> bool:
        return bool(self._chunks)

    def touches(self, name: str) -> bool:
        """Tell whether a name was taken out of a secret."""
        return any(True for _ in self._within(name)) or any(name in one for one in self._chunks)

    def masked(self, text: str) -> str:
        """Return ``text`` with every trace replaced by the mask of its secret."""
        if len(text) < SHORTEST:
            return text
        pieces: list[str] = []
        at = 0
        clean: set[str] = set()
        for token in _TOKEN.finditer(searchable(text)):
            if token[0] in clean:
                continue
            spans = list(self._within(token[0]))
            if not spans:
                clean.add(token[0])
            for span in spans:
                pieces += (text[at : token.start() + span.start], span.kind)
                at = token.start() + span.end
        return "".join((*pieces, text[at:])) if pieces else text

    def _within(self, token: str) -> Iterator[Span]:
        """Yield the traces in a text without blanks; their kind is the mask."""
        at, last = 0, len(token) - SHORTEST
        while at <= last:
            gram = token[at : at + SHORTEST]
            mask = self._grams.get(gram)
            if mask is None:
                whole = self._whole(token, at, self._wholes.get(gram, ()))
                if whole:
                    yield whole
                at = whole.end if whole else at + 1
                continue
            start = at
            while at <= last and token[at : at + SHORTEST] in self._grams:
                at += 1
            end = at + SHORTEST - 1
            if not _by_chance(token, start, end):
                yield Span(start, end, mask)
            at = end

    def _whole(self, token: str, at: int, alike: Sequence[tuple[int, str]]) -> Span | None:
        """Return the longest of some secrets that stands at ``at``, whole.

        Of one that is very long, and of very many, what begins like them is taken to its end.
        """
        if not alike or token[max(0, at - 1) : at].isalnum():
            return None
        if len(alike) > _MOST_ALIKE:
            return Span(at, len(token), self._chunks[alike[0][1]])
        for length, secret in reversed(alike):
            end = at + length
            cut = length == _LONGEST
            if (cut or not token[end : end + 1].isalnum()) and token.startswith(secret, at):
                return Span(at, len(token) if cut else end, self._chunks[secret])
        return None


def _by_chance(token: str, start: int, end: int) -> bool:
    """Tell a few digits of a SHA, a time or a number that a secret happens to hold too."""
    if end - start >= _SURELY or not _HEX.issuperset(token[start:end]):
        return False
    return token[max(0, start - 1) : start].isalnum() or token[end : end + 1].isalnum()


def _grams(chunk: str) -> Iterator[str]:
    """Yield the pieces of six characters that do not consist of words."""
    readable = bytearray(len(chunk))
    for joint in re.finditer(r"[^A-Za-z0-9]", chunk):
        readable[joint.start()] = 1
    for part in _PART.finditer(chunk):
        if _WORD.fullmatch(part[0]):
            readable[part.start() : part.end()] = b"\1" * len(part[0])
    for at in range(len(chunk) - SHORTEST + 1):
        if not all(readable[at : at + SHORTEST]):
            yield chunk[at : at + SHORTEST]
