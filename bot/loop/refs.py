"""Which deploys a part of a question is about: by number, by version, or counted from another one.

Pure. Knows kinds of parts and clauses, and no whole question.
"""

from __future__ import annotations

import re

from bot.loop.clauses import Clause
from bot.loop.entities import BARE, BARE_VERSION, IN_NUMBER, VERSION, DeployRef
from bot.loop.guard import folded, guarded
from bot.loop.part_kinds import PartKind

THE_CHANGE = guarded(
    "change|culprit|suspect", r"\b(?:the|that) (?:[\w.-]+ )?(?:change|culprit|suspect)\b"
)
THE_BAD_ONE = guarded(
    "bad|broken|faulty|guilty|offending",
    r"\b(?:the|that|this) (?:bad|broken|faulty|guilty|offending) (?:[\w.-]+ )?"
    r"(?:version|deploy|release|build|change|one|commit)\b",
)
"""The first suspect, of whatever service: the one that is named beside it is where the trouble is."""
_OF_NONE = frozenset(
    {
        *(PartKind.CAUSE, PartKind.LISTING, PartKind.SHIPPED, PartKind.BEFORE_ONSET),
        *(PartKind.INCIDENTS, PartKind.INCIDENT, PartKind.RUNNING),
    }
)
"""Kinds of parts that are about no deploy of their own."""
_OF_ONE = frozenset({PartKind.MOVED, PartKind.SETTING})
"""Kinds of parts that are about one deploy at most."""
_BY_VERSION = frozenset(
    {PartKind.LIVE, PartKind.CHANGES, PartKind.WHO_WHEN, PartKind.WAS_IT, PartKind.COMMIT}
)
"""Kinds of parts whose deploy may go by its version alone."""
_BEFORE_NAMED = guarded(
    "before|prior",
    r"\b(?:before|prior to) (?:(?:deploy|release) #?(?P<number>\d{1,8})"
    r"|(?:deploy |release |version )?#?(?P<name>\d{3,8}|v?\d+(?:\.\d+)+[\w.+-]*))"
    r"(?![\w:.%-])(?!-\d)",
)
_AS_WELL = re.compile(
    r"^\W*+(?:(?:and|or|so|but|then)\W*+)?(?:what about|how about|and|or|not)\s+(?:the )?"
    r"[\w.@/ -]{2,60}\W*$",
    re.IGNORECASE,
)
_AT_END = re.compile(r"[a-z] #?(?P<number>\d{1,8})\W*$", re.IGNORECASE)
"""After a service's name alone any number is a deploy's: ``and ledger 12?``."""
_SHORTEST_NUMBER = 3
"""Digits of a deploy's number behind "roll back"."""
_TOLD_BY_ITSELF = 4
"""Digits that make a number a deploy's where no service is named: ``and 4473?``."""
_LAST = guarded(
    "last|latest|newest|most recent|current", r"\b(last|latest|newest|most recent|current)\b"
)
_BEFORE_THAT = guarded(
    "before|prior|previously",
    r"\b(?:before|prior to) (?:that|this|it)\b(?: one| deploy)?|\bpreviously\b",
)
_BEFORE_LAST = guarded(
    "before|last|previous",
    r"\b(?:one|deploy|release)\s+before\s+(?:that|the last|it)\b|\b(?:second|2nd)[- ]last\b"
    r"|\bprevious\s+(?:deploy|release)\b|\bdeploy before (?:the )?(?:last|latest)\b",
)
_UNDONE = guarded(
    "rolled|reverted|undone",
    r"\b(?:was|is|has) (?:the )?(?:[\w-]+ )?#?v?\d[\w.-]* (?:been )?(?:rolled|reverted|undone)\b",
)
"""``has deploy 4471 been rolled back?`` names what is mended, and not what mends."""
_GOING_OUT = re.compile(
    r"\b(?:forward|out|roll|ship|push|release|deploy|promote|is|to)\s+#?"
    r"(v\d[\w+-]*(?:\.[\w+-]+)*|\d+(?:\.\d+)+[\w+-]*|\d{3,8})(?![\w:%-])",
    re.IGNORECASE,
)
"""What stands there is to go out: ``is it safe to roll forward to 4473?``."""
_OR_NUMBER = guarded(
    "or|and|,", r"\d(?:\s*,|\s+(?:or|and))\s+(?:deploy |release )?#?(\d{4,8})(?![\w:.%-])"
)
"""``was it web 4470 or 4471?``: a service's name belongs to the first of them."""
_ROLLED = guarded("roll|revert|undo", r"\b(?:roll\w*[ -]?back|revert|undo)\s+(?:the\s+)?([\w-]+)")
"""What stands there may be a service: ``is it safe to roll back web?``."""
_STANDS_BEFORE = re.compile(
    r"(?<![\w-])([\w-]++)\s++(?:deploy|release|version)?+\s*+#?+\Z", re.IGNORECASE
)
_ANY_NAME = re.compile(
    r"(?<![\w.:%-])#?(v\d[\w+-]*(?:\.[\w+-]+)*|\d+(?:\.\d+)+[\w+-]*|\d{3,8})(?![\w:%-])"
)
"""A version or a number, wherever it stands: in a question whether it is live."""
_A_NAME = r"(?:[a-z][\w-]+ )?#?(v\d[\w.+-]*|\d+(?:\.\d+)+[\w+-]*|\d{3,8})"
_BOTH = guarded(
    "compare|between", rf"\b(?:compare|between) {_A_NAME} (?:and|to|with|vs) {_A_NAME}(?![\w:.%-])"
)
_NEAR = 120
"""Characters before a deploy's number in which its service's name is looked for."""
_STANDS_AFTER = re.compile(r"\s(?<!\s\s)\s*+(?:of|for|to)\s++(?:the\s++)?([\w-]+)", re.IGNORECASE)


def asks_as_well(clause: Clause) -> bool:
    """``and web 12?``, ``what about ledger?``: it goes on with what was asked before it."""
    return _AS_WELL.search(clause.text) is not None


def refs_of(kind: PartKind, clause: Clause) -> list[DeployRef | None]:
    """The deploys that a part of this kind is about; ``[None]`` for none, or for the cause's."""
    if kind in _OF_NONE:
        return [None]
    if kind is PartKind.FIX and _UNDONE.search(clause.text):
        return [None]
    of_it = kind is PartKind.WHO_WHEN and clause.service is not None
    if of_it and (named := _BEFORE_NAMED.search(clause.text)):
        return [DeployRef(service=clause.service, before=named["number"] or named["name"])]
    refs = _by_name(kind, clause) if clause.has_digit or clause.deploys else []
    if kind in _OF_ONE:
        return list(refs[:1]) or [None]
    if not refs and kind is PartKind.ROLLBACK and (rolled := _ROLLED.search(clause.text)):
        if rolled[1].isdigit() and len(rolled[1]) >= _SHORTEST_NUMBER:
            return [DeployRef(asked=rolled[1])]
        service = clause.words.get(rolled[1].lower())
        rolled_back = clause.subjects if service in clause.subjects else (service,)
        return [DeployRef(service=one) if one else None for one in rolled_back]
    if not refs and kind in (PartKind.CHANGES, PartKind.WHO_WHEN, PartKind.COMMIT):
        return [_counted(kind, clause, service) for service in clause.subjects or (None,)]
    return list(refs) or [None]


def _by_name(kind: PartKind, clause: Clause) -> list[DeployRef]:
    """The deploys that are named by number, SHA, tag or version, as far as this kind goes by them."""
    text, service = clause.text, clause.service
    refs = [DeployRef(asked=one, service=_beside(one, clause)) for one in clause.deploys]
    refs += clause.versions
    if not refs and kind in _BY_VERSION:
        refs += [DeployRef(asked=v[1], service=service) for v in BARE_VERSION.finditer(text)]
    if not refs and asks_as_well(clause) and (last := _AT_END.search(text)):
        told = service is not None or len(last["number"]) >= _TOLD_BY_ITSELF
        refs += [DeployRef(asked=last["number"], service=service)] if told else []
    if not refs:
        refs += [DeployRef(asked=one, service=_beside(one, clause)) for one in clause.acted_on]
    match kind:
        case PartKind.CHANGES if not clause.deploys and (both := _BOTH.search(text)):
            newest_first = both.groups() if both[1].isdigit() else both.groups()[::-1]
            return [
                DeployRef(asked=one, service=None if one.isdigit() else service)
                for one in newest_first
            ]
        case PartKind.FIX:
            known = {ref.asked for ref in refs}
            bare = (found[1] for found in VERSION.finditer(text))
            refs += [DeployRef(asked=v, service=service) for v in bare if v not in known]
        case PartKind.FORWARD if not refs:
            refs += [DeployRef(asked=v[1], service=service) for v in _GOING_OUT.finditer(text)][:1]
        case PartKind.LIVE if not refs:
            refs += [DeployRef(asked=one[1], service=service) for one in _ANY_NAME.finditer(text)]
        case PartKind.CHANGES | PartKind.COMMIT if not refs and (number := IN_NUMBER.search(text)):
            refs = [DeployRef(asked=number[1], service=_beside(number[1], clause))]
        case PartKind.WAS_IT:
            if not refs:
                refs += [DeployRef(asked=one[1], service=service) for one in BARE.finditer(text)]
            named = {ref.asked for ref in refs}
            others = [one[1] for one in _OR_NUMBER.finditer(text)] if refs else []
            refs += [DeployRef(asked=one) for one in others if one not in named]
        case _:
            pass
    return refs


def _beside(deploy: str, clause: Clause) -> str | None:
    """The service that stands right at a deploy's name: ``web deploy 4470``, ``4470 of web``.

    One that stands elsewhere in the clause is the incident's, not the deploy's.
    """
    low, name = folded(clause.text), folded(deploy)
    before = after = None
    at = low.find(name)
    while at >= 0:
        end = at + len(name)
        if before is None and not _in_a_word(low[end : end + 1]):
            before = _STANDS_BEFORE.search(clause.text[max(0, at - _NEAR) : at])
        if after is None and not _in_a_word(low[at - 1 : at]):
            after = _STANDS_AFTER.match(clause.text, end)
        at = low.find(name, at + 1)
    for found in (before, after):
        if found and (service := clause.words.get(found[1].lower())):
            return service
    return None


def _in_a_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _counted(kind: PartKind, clause: Clause, service: str | None) -> DeployRef | None:
    """The last deploy of a service, the one before, or one counted from the first suspect."""
    text = clause.text
    if kind is PartKind.WHO_WHEN and THE_BAD_ONE.search(text):
        return DeployRef(before_cause=0)
    back = _BEFORE_LAST.search(text) is not None
    of_it = service is not None and (kind is not PartKind.CHANGES or _LAST.search(text))
    if not of_it and not (back and (service or kind is PartKind.CHANGES)):
        return None
    if service is not None and _BEFORE_THAT.search(text):
        return DeployRef(service=service, ordinal=2, before_cause=1)
    if service is not None and THE_CHANGE.search(text):
        return DeployRef(service=service, before_cause=0)
    return DeployRef(service=service, ordinal=2 if back else 1)
