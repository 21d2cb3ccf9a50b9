"""What an incident says, as terms that can be looked for in changed lines and paths.

Owns taking a text apart into quoted phrases, identifiers, pairs of words and plain words, and finding
such a term in other text at the bounds of words (also inside ``CamelCase`` and ``snake_case``). Knows
no incident, deploy or diff.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import islice, pairwise

HITS_COUNTED = 60
"""More occurrences than this in one text say no more."""
PAIRS_SOUGHT = 60
"""Of a text; an incident that takes more words to tell has said it before."""

_QUOTED = re.compile(r"`([^`\n]{2,160})`|\"([^\"\n]{2,160})\"|(?<!\w)'([^'\n]{2,160})'(?!\w)")
_MESSAGE = re.compile(
    r"\b[A-Z]\w*(?:Error|Exception|Warning|Failure)(?:: | - )([^.;\n'\"`]{8,120})"
)
"""What stands after an error's class is its message, quoted or not."""
_ANYWHERE = re.compile(
    r"5\d\d|(?:Type|Value|Key|Index|Attribute|Runtime|Import|Name|Syntax|Reference|Range|OS|IO|Assertion"
    r"|Timeout|Connection|Unicode\w*|NotImplemented|ModuleNotFound|NullPointer|IllegalArgument"
    r"|IllegalState)?(?:Error|Exception)"
)
"""Statuses and the languages' own error classes: they are in many changes, whatever these do."""
_IDENTIFIER = re.compile(
    r"(?<![\w.+/-])(?:"
    r"/[a-z][\w{}.-]*(?:/[\w{}.-]+)*"  # an endpoint or a path
    r"|[A-Za-z][\w-]*(?:\.[A-Za-z_][\w-]*)+"  # retry.budget, setup.cfg
    r"|[A-Za-z]+\d*(?:_[A-Za-z0-9]+)+"  # url_decode, ERR_REQUIRE_ESM
    r"|[A-Z]\w*(?:-[A-Z]\w+)+"  # Cross-Origin-Embedder-Policy, E-Tugra
    r"|[A-Z]+[a-z0-9]+(?:[A-Z][a-z0-9]*)+|[a-z]+(?:[A-Z][a-z0-9]+)+"  # TypeError, maxSize
    r"|[a-z][a-z0-9]*\+[a-z0-9+]+"  # http+docker
    r"|[A-Z][A-Z0-9]{2,}"  # OOM, PUT
    r"|[45]\d\d"  # 404
    r")(?![\w+])"
)
_WORD = re.compile(r"[A-Za-z][A-Za-z]{2,}")
_TOKEN = re.compile(r"[A-Za-z]+|[^\sA-Za-z]")
_PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_TIMES = re.compile(r"\b\d{1,2}:\d{2}(?::\d{2})?\b|\b\d{4}-\d{2}-\d{2}\b|\bUTC\b")

_COMMON = frozenset(
    """
    about after again all almost alone already also although always and any anything are around
    away back bad because been before began behind being below between both broke broken but
    cannot caused causing change changed changes check com could day days deploy deployed deploys
    did does doing done down during each either else even every everything everywhere fails
    failed failing failure failures fail few fine first for from gave get gets getting give goes
    going gone good had happen happened happens has have having her here hour hours how however
    incident incidents inside into issue issues its itself just keep keeps kept know last later
    least less let like little long look looks made make makes many may maybe mean might minute
    minutes month months more most much must need needs never new next night nobody nor normal not
    nothing now off often old once one ones only other others our out outage over own per please
    prod production rather really reported right said same saw say says second seconds seem seems
    see seen service services several she should show shows shows side since some something start
    started starts still stop stopped such sure take than that the their them then there these
    they thing things think this those three though through time times today together told
    tonight too took toward tried try two under unless until upon usual very want wants was way
    week weeks well went were what when where whether which while who whole whose why will with
    within without work works worse would wrong year years yes yesterday yet you your team user
    users customer customers tell alert alerts monday tuesday wednesday thursday friday saturday
    sunday january february march april june july august september october november december
    """.split()  # noqa: SIM905 - a list of two hundred quoted words would be unreadable
)
_ENDINGS = ("ations", "ation", "ings", "ing", "ies", "ied", "ed", "es", "s", "e", "y")


class TermKind(StrEnum):
    """How precise a term is, most precise first."""

    QUOTED = "quoted"
    IDENTIFIER = "identifier"
    PAIR = "pair"
    PIECE = "piece"
    WORD = "word"


_WEIGHTS = {
    TermKind.QUOTED: 3.0,
    TermKind.IDENTIFIER: 2.5,
    TermKind.PAIR: 3.0,
    TermKind.PIECE: 1.2,
    TermKind.WORD: 1.0,
}


@dataclass(frozen=True)
class Term:
    """A term as the incident spells it, and ``needle``, the lower-case text to look for.

    ``whole`` terms must end where a word ends; the others are stems. ``beside`` is the stem of the
    word that must follow at once: ``entity too`` is in ``RequestEntityTooLarge`` and ``entity_too``.
    """

    shown: str
    needle: str
    kind: TermKind
    whole: bool
    beside: str = ""

    @property
    def weight(self) -> float:
        return _WEIGHTS[self.kind]

    @property
    def precise(self) -> bool:
        return self.kind in (TermKind.QUOTED, TermKind.IDENTIFIER)

    @cached_property
    def pair(self) -> re.Pattern[str]:
        """Both words of a pair in lower-case text, written as one name or as two words."""
        return re.compile(f"{re.escape(self.needle)}[a-z]{{0,4}}[ _./-]?{re.escape(self.beside)}")


def stem(word: str) -> str:
    """The part that the forms of a word share, roughly: ``retries`` and ``retry`` → ``retr``."""
    word = word.lower()
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word.removesuffix(ending)
    return word


def plain_words(text: str) -> tuple[str, ...]:
    """The stems of the words that say something, each once, in order."""
    words = (word.lower() for word in _WORD.findall(text))
    return tuple(dict.fromkeys(stem(word) for word in words if word not in _COMMON))


def terms_of(text: str, leave_out: Iterable[str] = ()) -> tuple[Term, ...]:
    """The terms of an incident's text, each once, most precise first.

    ``leave_out`` holds names of services: they say where, not what.
    """
    text = _TIMES.sub(" ", text)
    found: dict[str, Term] = {}
    for quoted in _QUOTED.finditer(text):
        phrase = next(group for group in quoted.groups() if group).strip(" .,:;")
        _add(found, phrase, TermKind.QUOTED if len(phrase) > 2 else TermKind.WORD)
        _add_runs(found, phrase)
    for message in _MESSAGE.finditer(text):
        _add_runs(found, message[1].strip())
    for name in sorted(leave_out, key=len, reverse=True):
        text = re.sub(rf"(?<![\w-]){re.escape(name)}(?![\w-])", " . ", text, flags=re.IGNORECASE)
    identifiers = [match.group() for match in _IDENTIFIER.finditer(text)]
    for identifier in identifiers:
        common = _ANYWHERE.fullmatch(identifier)
        _add(found, identifier, TermKind.PIECE if common else TermKind.IDENTIFIER, whole=True)
    for identifier in identifiers:
        pieces = [piece for piece in _PIECE.findall(identifier) if len(piece) >= 4]
        for piece in pieces if len(pieces) > 1 else ():
            if piece.lower() not in _COMMON and piece.lower() != "error":
                _add(found, piece, TermKind.PIECE)
    for word in _WORD.findall(text):
        if len(word) >= 4 and word.lower() not in _COMMON:
            _add(found, word, TermKind.WORD)
    terms = [*found.values(), *_pairs(text)]
    return tuple(sorted(terms, key=lambda term: list(TermKind).index(term.kind)))


def _pairs(text: str) -> tuple[Term, ...]:
    """Words that stand side by side: together they say more than both alone."""
    words = _TOKEN.findall(text)
    pairs: dict[tuple[str, str], Term] = {}
    for one, next_one in pairwise(words):
        if _telling(one) and _telling(next_one):
            stems = stem(one), stem(next_one)
            term = Term(f"{one} {next_one}", stems[0], TermKind.PAIR, whole=False, beside=stems[1])
            pairs.setdefault(stems, term)
        if len(pairs) == PAIRS_SOUGHT:
            break
    return tuple(pairs.values())


def _telling(word: str) -> bool:
    return len(word) >= 3 and word.isalpha() and word.lower() not in _COMMON


def _add_runs(found: dict[str, Term], phrase: str) -> None:
    """Each three words in a row: the rest of a message may have been filled in."""
    words = phrase.split()
    for at in range(len(words) - 2) if len(words) > 3 else ():
        _add(found, " ".join(words[at : at + 3]), TermKind.QUOTED)


def _add(found: dict[str, Term], shown: str, kind: TermKind, *, whole: bool = False) -> None:
    loose = kind in (TermKind.WORD, TermKind.PIECE) and not whole
    needle = stem(shown) if loose else shown.lower()
    if len(needle) >= 3:
        found.setdefault(needle, Term(shown, needle, kind, whole=not loose or len(needle) < 4))


@dataclass(frozen=True)
class Haystack:
    """Text to look in, kept as it is and in lower case, character for character."""

    text: str
    lower: str

    @classmethod
    def of(cls, text: str) -> Haystack:
        lower = text.lower()
        if len(lower) != len(text):  # a few letters grow when they are lowered
            lower = "".join(one if len(one) == 1 else "?" for one in map(str.lower, text))
        return cls(text, lower)

    def count(self, term: Term) -> int:
        """How often the term occurs at the bounds of words, at most ``HITS_COUNTED``."""
        if term.beside:
            return self._count_pairs(term)
        hits = 0
        at = self.lower.find(term.needle)
        while at >= 0 and hits < HITS_COUNTED:
            hits += self._bounded(at, at + len(term.needle), whole=term.whole)
            at = self.lower.find(term.needle, at + 1)
        return hits

    def _count_pairs(self, term: Term) -> int:
        if term.beside not in self.lower:
            return 0
        found = (match.span() for match in term.pair.finditer(self.lower))
        hits = (None for start, end in found if self._bounded(start, end, whole=False))
        return sum(1 for _ in islice(hits, HITS_COUNTED))

    def _bounded(self, start: int, end: int, *, whole: bool) -> bool:
        before = self.text[start - 1 : start]
        first = self.text[start]
        if before.isalpha() and first.isalnum() and not (first.isupper() and before.islower()):
            return False
        if not whole:
            return True
        after = self.text[end : end + 1]
        last = self.text[end - 1]
        return not (after.isalnum() and last.isalnum()) or (after.isupper() and last.islower())
