"""The causes that a text names, and what each of them blames (M20).

Pure. A cause is a word ("caused", "the culprit is", "due to") and what stands before or after it;
what only refers back ("which", "it", "the deploy") is what the clause before it speaks of. Knows no
evidence.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from bot.loop.entities import service_places
from bot.loop.guard import guarded
from bot.loop.senses import NAMELESS, TOKEN, Known, Sense, has_verb, is_aside, is_hit, sense_of

MOST = 8
"""Words of a cause in one text that is read: of one with more, ask ``too_many`` first."""
CAUSAL = guarded(
    r"caus|culprit|brok|responsible|blame|due|trigger|led|introduced|took|brought|taken|knocked"
    r"|behind|explain|stem|originat|result|why|reason|fault|guilty|thanks|trace|ribut"
    r"|kill|crash|wreck",
    r"\b(?:(?P<after>(?:caused|triggered|broken|killed|crashed|introduced|explained|(?:brought|taken|knocked)"
    r" (?:down|over|out|offline)) by|because(?: of)?|due to|thanks to|stem\w* from"
    r"|originat\w+ (?:in|from|with)|result(?:s|ed|ing)? (?:from|of)"
    r"|traced? (?:back )?to|attribut\w+ to|blame (?:lies|falls|goes|is) (?:with|on|to)|blamed? on)"
    r"|(?P<noun>(?:root )?causes?|culprits?|the reasons?|trigger)"
    r"|(?P<broke>broke|killed|crashed|wrecked)"
    r"|(?P<verb>caus\w+|triggered|led to|responsible|to blame|blame for|at fault|s fault|guilty"
    r"|contribut\w+ to|(?:brought|took|knocked)(?: [^\s,;]+){0,4} (?:down|offline)"
    r"|knocked(?: [^\s,;]+){0,4} (?:over|out)|(?:is|was) behind|explains|result(?:ed|ing) in"
    r"|(?:is|was) why)"
    r"|(?P<order>blame))\b",
)
"""A word that names a cause: what it blames stands ``after`` it, before a ``verb``, on either side of
a ``noun``; ``broke`` may break nothing, and ``order`` is "blame …".
"""
_UNSEEN = re.compile(
    r"[\u00ad\u200b-\u200f\u2060\ufeff]|[*~]+|(?<![^\W_])_+(?=\w)|(?<=[^\W_])_+(?![^\W_])"
)
_BLANKS = re.compile(r"[^\S\n]+")
_BRACKETS = re.compile(r"\([^()]*\)")
_NOT_BUT = re.compile(r"\bnot\b[^,;.\n]{1,80}?\bbut\b", re.IGNORECASE)
_IDIOMS = re.compile(
    r"\b(?:without (?:a |any )?doubt|no doubt|nothing (?:else )?but|no(?:ne)? other than"
    r"|not only|no less than)\b",
    re.IGNORECASE,
)
_DENIES = re.compile(
    r"(?:\b(?:not|never|cannot|isnt|dont|didnt)|n['’]t)\W+(?:(?:[\w-]+ly|most|even|itself|be|been|has"
    r"|have|a|an|the|what|who|that|which|one|is|was|root|main|first|deploy|change)\W+)*$",
    re.IGNORECASE,
)
_NOBODY = re.compile(r"\b(?:no|none|nothing|neither|nor|nobody|no-one)\b", re.IGNORECASE)
_OPEN = re.compile(
    r"\W*(?:(?:still|yet|as yet|currently|to me) )?(?:unknown|unclear"
    r"|undetermined|open|uncertain|not|no|none)\b",
    re.IGNORECASE,
)
_PREDICATE = re.compile(
    r"\b(?:is|was|are|were|be|been|as|seems?|looks?|appears?|became|becomes?)\b\W+(?:(?:like|to|be|the"
    r"|a|an|its|most|more|less|likely|likeliest|probabl[ey]|possibl[ey]|perhaps|main|real|actual|only"
    r"|first|also|one|of|root|very|underlying|clear|tool['’]s|s)\W+)*$",
    re.IGNORECASE,
)
_COPULA = re.compile(
    r"[^;\n]{0,120}?(?:\b(?:is|was|are|were|being|remains?|lies (?:in|with))\b|[:=]|\s[–—-]\s)"
)
_TO_DO = re.compile(
    r"\b(?:did|does|do|could|may|might|can|will|would|should|must|to)(?: \w+)?\s+$", re.IGNORECASE
)
_RELATIVE = re.compile(r"\b(?:that|which|who|what)\b", re.IGNORECASE)
_COLON = re.compile(r":\s")
_RANKED = guarded(
    "likely|suspect|rank|ruled|confidence|candidate",
    r"\b(?:(?:less |un)likely|suspects?|rank\w*|ruled out|confidence|candidates?)\b",
)
"""Words of a ranking: the ``because`` after them gives its reason, and not what broke."""
_FEW = 4
_IS = re.compile(r"[^,;:\n]{0,120}?\b(?:is|was|were)\b")
_SINCE = re.compile(r"\b(?:after|following|once|when|as soon as)\b", re.IGNORECASE)
_SINCE_THEN = re.compile(
    r"(?: (?:at |around |about )?\d\d?:\d\d(?::\d\d)?(?: ?(?:utc|gmt|z))?,?)?"
    r"\s*(?:(?:about |only |just |some |shortly |right |soon )?(?:\d+ ?\w+ )?)"
    r"(?:after|following|once|when|as soon as)\b",
    re.IGNORECASE,
)
_NO_OBJECT = re.compile(
    r"\W*$|\s*[,;.)]|\s+(?:at|on|in|around|since|for|again|down|off|out|after|before|once|when|while|and|because|due"
    r"|following|as soon as|with|\d)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Blame:
    """One cause that a text names: the words that stand where it does, and what these come to."""

    said: str
    sense: Sense

    @property
    def holds(self) -> bool:
        """Whether these are a change that may be blamed, or refer to nothing else."""
        return self.sense in {Sense.NAMED, Sense.BACK}


@dataclass(frozen=True)
class Clause:
    """A piece of the text from ``start`` to ``end``; ``joined`` to the one before by "and"."""

    start: int
    end: int
    joined: bool


def as_read(text: str) -> str:
    """The text as an eye takes it: without what is not seen (marks of emphasis, letters of no width),
    any blanks as one. Code stays as it is.
    """
    pieces = unicodedata.normalize("NFKC", text).split("`")
    pieces[::2] = [_BLANKS.sub(" ", _UNSEEN.sub("", piece)) for piece in pieces[::2]]
    return "`".join(pieces)


def one_word(service: str) -> str:
    """A service's name as it stands in a text that is ``plain``."""
    return service.lower().replace(" ", "-")


def plain(text: str, catalog: Mapping[str, str]) -> str:
    """The text as it is read here: services by their own names, idioms that deny nothing left out."""
    for start, end, name in reversed(service_places(text, catalog)):
        text = f"{text[:start]}{one_word(name)}{text[end:]}"
    return _NOT_BUT.sub(" ", _IDIOMS.sub(" ", text))


class Blames:
    """The causes that a text names. ``text`` is ``plain``, without what it quotes; ``clauses`` are its
    pieces, in order.
    """

    def __init__(self, text: str, clauses: Sequence[Clause], known: Known) -> None:
        self._whole = text
        self._text = _BRACKETS.sub(lambda m: " " * len(m[0]), text)
        self._clauses = clauses
        self._known = known

    def __iter__(self) -> Iterator[Blame]:
        named = False
        for found in CAUSAL.finditer(self._text):
            for blame in self._of(found, self._at(found.start()), reason=named):
                named = True
                yield blame

    @property
    def too_many(self) -> bool:
        """Whether there are more words of a cause than are read: each is held against all clauses."""
        return next(islice(CAUSAL.finditer(self._text), MOST, None), None) is not None

    def _at(self, place: int) -> int:
        return max(n for n, clause in enumerate(self._clauses) if n == 0 or clause.start <= place)

    def _said(self, at: int) -> str:
        clause = self._clauses[at]
        return self._text[clause.start : clause.end]

    def _of(self, found: re.Match[str], at: int, *, reason: bool) -> Iterator[Blame]:
        before = self._text[self._clauses[at].start : found.start()]
        nobody = self._is_nobody(before)
        if _DENIES.search(before[-60:]):
            return
        match found.lastgroup:
            case "after" if not nobody or not found[0].lower().endswith("by"):
                because = found[0].lower() == "because"
                lead = before if TOKEN.search(before) or not at else self._said(at - 1)
                if not because or not _RANKED.search(lead):
                    yield from self._after(found.end(), reason=because and reason)
            case _ if nobody:
                return
            case "noun":
                yield from self._noun(found, at, before)
            case "broke" if self._is_broken(found, before):
                yield from self._since(found.end(), at, before)
            case "order":
                if sense_of(before, self._known) is Sense.BACK:
                    yield from self._after(found.end())
            case _:
                yield from self._before(found, at, before)

    def _is_broken(self, found: re.Match[str], subject: str) -> bool:
        """Whether something broke, and broke nothing: of a suspect that "broke" it is a cause."""
        if not _NO_OBJECT.match(self._text, found.end()):
            return False
        return found[0].lower() != "broke" or is_hit(subject, self._known)

    def _is_nobody(self, subject: str) -> bool:
        """Whether a subject is nobody: "no deploy", "neither …", "I found nothing that"."""
        found = _NOBODY.search(subject)
        if (
            found is None
            or sense_of(subject[: found.start()], self._known, loose=True) not in NAMELESS
        ):
            return False
        known = replace(self._known, names=self._known.names | self._known.others)
        of = sense_of(subject[found.end() :], known, loose=True)
        return of is not Sense.OTHER or found[0].lower() != "no"

    def _since(self, end: int, at: int, before: str) -> Iterator[Blame]:
        """What something broke "after" is as good as blamed, unless it is the suspect."""
        said = [self._phrase(then.end()) for then in [_SINCE_THEN.match(self._text, end)] if then]
        earlier = self._said(at - 1) if at else ""
        said += [
            piece[since.end() :]
            for piece in (earlier, before)
            for since in [_SINCE.search(piece)]
            if since
        ]
        for phrase in said:
            if sense_of(phrase, self._known, loose=True) is Sense.OTHER:
                yield Blame(phrase, Sense.OTHER)

    def _noun(self, found: re.Match[str], at: int, before: str) -> Iterator[Blame]:
        """The cause by its name: "X is the cause", "the cause is X", "could cause"."""
        if predicate := _PREDICATE.search(before[-80:]):
            subject = before[: len(before[:-80]) + predicate.start()]
            yield from self._before(found, at, subject)
            return
        copula = None if _TO_DO.search(before[-20:]) else _COPULA.match(self._text, found.end())
        if copula:
            if _OPEN.match(self._text, copula.end()):
                return
            blames = list(self._after(copula.end()))
            if any(blame.sense is not Sense.BACK for blame in blames):
                yield from blames
                return
        if copula or found[0].lower() != "trigger":
            yield from self._before(found, at, before)

    def _after(self, start: int, *, reason: bool = False) -> Iterator[Blame]:
        """What stands after "because of", "caused by" or "the cause is"."""
        said = self._phrase(start)
        first = TOKEN.search(said)
        if first and (first[0].lower() == "not" or _NOBODY.fullmatch(first[0])):
            return
        sense = sense_of(said, self._known, loose=reason)
        if sense is Sense.BACK:
            sense = self._bracketed(start, start + len(said))
        if not reason or sense is Sense.OTHER:
            yield Blame(said, sense)

    def _phrase(self, start: int) -> str:
        """From a place to the end of the clause, with what "and" adds to a name there. Of a few words
        that name nothing the next clause is a part: "is, most likely, …".
        """
        at = self._at(start)
        clause = self._clauses[at]
        end = clause.end
        for then in self._clauses[at + 1 :]:
            piece = self._text[then.start : then.end]
            few = len(TOKEN.findall(self._text, start, end)) < _FEW
            aside = few and sense_of(self._text[start:end], self._known) is Sense.BACK
            if not aside and (not then.joined or has_verb(piece)):
                break
            end = then.end
        colon = _COLON.search(self._text, start + 1, end)
        return self._text[start : colon.start() if colon else end]

    def _before(self, found: re.Match[str], at: int, before: str) -> Iterator[Blame]:
        """What stands before "caused it" or "is the cause"."""
        *_, subject = _COLON.split(before)
        head, relative, tail = _last_relative(subject)
        if relative and TOKEN.search(tail) and sense_of(tail, self._known) is not Sense.BACK:
            if sense_of(head, self._known, loose=True) in NAMELESS:
                subject = tail
        elif relative and (copula := _IS.match(self._text, found.end())):
            blames = list(self._after(copula.end()))
            if any(blame.sense in {Sense.NAMED, Sense.OTHER} for blame in blames):
                yield from blames
                return
        sense = sense_of(subject, self._known)
        if sense is Sense.BACK:
            start = self._clauses[at].start
            sense = self._bracketed(start, start + len(before))
        if sense is Sense.NAMED:
            yield Blame(subject, self._with_others(at))
        elif sense in {Sense.BACK, Sense.A_CHANGE}:
            yield self._spoken_of(at, Blame(subject, sense))
        else:
            yield Blame(subject, sense)

    def _bracketed(self, start: int, end: int) -> Sense:
        """What words that name nothing come to with what they hold in brackets."""
        return sense_of(self._whole[start:end], self._known)

    def _spoken_of(self, at: int, blame: Blame) -> Blame:
        """What was spoken of before: the last clause that names something."""
        for n in range(at - 1, -1, -1):
            said = self._said(n)
            if n and is_aside(said) and not self._clauses[n].joined:
                continue
            match sense_of(said, self._known, loose=True):
                case Sense.NAMED:
                    return Blame(said, self._with_others(n))
                case Sense.OTHER:
                    return Blame(said, Sense.OTHER)
                case _:
                    pass
        return blame

    def _with_others(self, at: int) -> Sense:
        """Of "X and the suspect" both are blamed."""
        for n in range(at, 0, -1):
            clause = self._clauses[n]
            if not clause.joined and not self._text.startswith("and ", clause.start):
                break
            other = self._said(n - 1)
            if has_verb(other):
                break
            if sense_of(other, self._known, loose=True) is Sense.OTHER:
                return Sense.OTHER
        return Sense.NAMED


def _last_relative(subject: str) -> tuple[str, str, str]:
    """The subject around its last "that", "which", "who" or "what"."""
    found = [*_RELATIVE.finditer(subject)][-1:]
    for last in found:
        return subject[: last.start()], last[0], subject[last.end() :]
    return subject, "", ""
