"""What a few words come to that stand where a cause does: a change that was ranked, something else, or
what was spoken of before (M20).

Pure. They are read word by word, up to the first name. A word that nobody knows there ("a kafka outage
in …", "…'s database") is something else, whatever is named after it. Knows no sentence.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto

SHORTEST_SHA = 7
NAMED_CODE = " “code” "
OTHER_CODE = " other-code "
"""Stand in a text for a piece of code: one that the evidence shows of the deploys that may be blamed,
and any other.
"""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_REFERS = _words(
    "a an the it its this that these those they them their he she his her i we you who which what"
    " there here one ones and or so also only just then thus therefore now still again both all"
    " any each first next same new newer latest last recent old single"
    " main root real actual top very best surest most more less likely unlikely likeliest probable"
    " probably possible possibly perhaps maybe presumably apparently clearly obviously certainly"
    " definitely almost about exactly shortly may might could must can would will should has have"
    " had having is are was were be been being do does did seem seems seemed appear appears look"
    " looks looked like as think believe conclude suspect suspects suspected candidate candidates"
    " ranking rankings ranked ranks rank tool tools put puts lists listed named names"
    " says say said shows show shown found finds find points point confidence high medium low"
    " cause causes caused causing culprit culprits trigger reason evidence timing fits matches"
    " window enough if whether why how where utc gmt min mins minute minutes seconds hour hours"
    " day days s ms m h am pm today yesterday production prod staging known established roll"
    " rolling back strongest strong highly confident sure certain fairly pretty quite yes"
)
"""Words that name nothing: what holds no others is what was spoken of before."""
_NOBODY = _words("no none nothing neither nor nobody without")
_DEPLOYS = _words(
    "deploy deploys deployment deployments release releases rollout rollouts change changes commit"
    " commits"
)
"""By themselves these refer back, too: "the deploy"."""
_CHANGES = _words(
    "version versions update updates upgrade upgrades bump hotfix patch diff config configs"
    " configuration setting settings value values default code line lines file files bug bugs"
    " regression regressions defect mistake misconfiguration problem issue issues drop cut"
    " increase decrease reduction lower lowered higher raised shorter longer smaller bigger larger"
    " tighter stricter reduced increased decreased bad wrong broken faulty buggy faster slower"
    " changed added removed missing lowering shortening raising reducing increasing decreasing"
    " cutting dropping changing removing adding"
)
"""What a deploy brings: it may be blamed where the deploy, or a setting of it, is named with it."""
_EFFECTS = _words(
    "incident outage error errors failure failures failing fails failed fail alert alerts page"
    " downtime symptoms impact crash crashes crashing orders requests users"
)
_DOES = _words(
    "went go goes out live finished finishes ended started starts began begins begin beginning"
    " completed shipped ships deployed deploys released landed came come merged made makes brought took"
    " set sets setting changed changes lowered lowers cut cuts reduced reduces raised raises increased"
    " increases decreased decreases dropped drops removed removes added adds moved moves switched"
    " switches turned turns disabled disables enabled enables bumped bumps upgraded upgrades updated"
    " updates introduced introduces replaced replaces renamed renames reverted reverts rolled touched"
    " touches contains contained carries carried depends depend calls called uses used limits shortened"
    " happened happens spiked rose stopped erroring breaking affected affects halved doubled"
)
_OF = _words("of in to from by on at for with into within via through under since until as per")
_BESIDE = _words(
    "rather instead after before during near beside alongside between around behind despite"
    " following while when than without against over next-to once"
)
TOKEN = re.compile(r"“code”|#\d+|[^\W_](?:[\w./@+:-]*\w)?|[&+/=]")
_GOES_ON = _words("which who that not")
_IS_OR_HAS = _words("is are was were has had have did does")
_NUMBERED = _words("deploy deployment release rollout")


class _Kind(Enum):
    """What one word is: a name of what may be blamed, one that nobody knows, or a word of the rest."""

    NAME = auto()
    UNKNOWN = auto()
    EFFECT = auto()
    LINK = auto()
    BESIDE = auto()
    DEPLOY = auto()
    CHANGE = auto()
    SETTING = auto()
    PERSON = auto()
    NOTHING = auto()


_KINDS = {
    word: kind
    for words, kind in (
        (_REFERS | _NOBODY, _Kind.NOTHING),
        (_CHANGES, _Kind.CHANGE),
        (_DEPLOYS, _Kind.DEPLOY),
        (_OF | _DOES, _Kind.LINK),
        (_BESIDE, _Kind.BESIDE),
        (_EFFECTS, _Kind.EFFECT),
        ({NAMED_CODE.strip()}, _Kind.NAME),
    )
    for word in words
}
"""Of a word in several lists the last counts."""
_OF_A_DEPLOY = frozenset({_Kind.DEPLOY, _Kind.CHANGE})


class Sense(Enum):
    """What a few words where a cause stands come to: ``OTHER`` is what was not ranked, ``BACK`` what
    was spoken of before, ``A_CHANGE`` a change that is not said whose.
    """

    NAMED = auto()
    OTHER = auto()
    EFFECT = auto()
    BACK = auto()
    A_CHANGE = auto()


_SENSES = (
    (_Kind.NAME, Sense.NAMED),
    (_Kind.EFFECT, Sense.EFFECT),
    (_Kind.CHANGE, Sense.A_CHANGE),
)
"""What a phrase is, by the first of these that it holds."""
NAMELESS = frozenset({Sense.BACK, Sense.EFFECT, Sense.A_CHANGE})


@dataclass(frozen=True)
class Known:
    """What may be blamed, in lower case: ``names`` of deploys and services, ``heads`` the last words
    of changed settings and ``settings`` their other words, ``people`` who may stand before them.
    ``others`` names what was ranked and may not be blamed, ``affected`` the incident's services.
    """

    names: frozenset[str]
    others: frozenset[str]
    settings: frozenset[str]
    heads: frozenset[str]
    affected: frozenset[str]
    people: frozenset[str]

    def is_named(self, token: str) -> bool:
        if not self.names.isdisjoint((token, token.removeprefix("v"))) or token in self.heads:
            return True
        return len(token) >= SHORTEST_SHA and any(
            n.startswith(token) for n in self.names if len(n) >= 40
        )


def is_aside(said: str) -> bool:
    """Whether words go on about what the clause before names: "which …", "not …", "deployed by …"."""
    first = TOKEN.search(said.lower())
    return first is not None and (first[0] in _GOES_ON or first[0] in _DOES)


def is_hit(subject: str, known: Known) -> bool:
    """Whether what "broke" is what the incident is about, as in "checkout broke"."""
    words = [word for word in TOKEN.findall(subject.lower()) if word not in _REFERS]
    return not words or words[-1] in known.affected or words[-1] in _EFFECTS


def has_verb(said: str) -> bool:
    return any(token in _DOES or token in _IS_OR_HAS for token in TOKEN.findall(said.lower()))


def sense_of(phrase: str, known: Known, *, loose: bool = False) -> Sense:
    """What words come to. ``loose`` for those that may begin with the incident itself: "checkout
    failed 22 min after …".
    """
    seen: set[_Kind] = set()
    last = ""
    for token in TOKEN.findall(phrase.lower()):
        before, last = last, token
        kind = _kind(token, before, known)
        match kind:
            case _Kind.UNKNOWN:
                return Sense.OTHER
            case _Kind.NAME if _Kind.BESIDE in seen or (_Kind.EFFECT in seen and not loose):
                return Sense.OTHER
            case _Kind.EFFECT if _Kind.NAME in seen:
                return Sense.NAMED if token in known.affected else Sense.OTHER
            case _Kind.LINK | _Kind.BESIDE if _Kind.NAME in seen:
                return Sense.NAMED
            case _Kind.BESIDE if seen.isdisjoint(_OF_A_DEPLOY):
                pass
            case _:
                seen.add(kind)
    alone = seen.isdisjoint({_Kind.NAME, *_OF_A_DEPLOY})
    if alone and (_Kind.SETTING in seen or (_Kind.PERSON in seen and not loose)):
        return Sense.OTHER
    return next((sense for kind, sense in _SENSES if kind in seen), Sense.BACK)


def _kind(token: str, before: str, known: Known) -> _Kind:
    of_setting = token in {"change", "changes"} and before in known.settings
    if of_setting or known.is_named(token.removeprefix("#")):
        return _Kind.NAME
    if token in known.affected:
        return _Kind.EFFECT
    if token in known.others:
        return _Kind.UNKNOWN
    if token in known.settings:
        return _Kind.SETTING
    if token in known.people:
        return _Kind.PERSON
    if token[0].isdigit():
        return _Kind.UNKNOWN if before in _NUMBERED else _Kind.NOTHING
    return _KINDS.get(token, _Kind.UNKNOWN)
