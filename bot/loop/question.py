"""The question, taken apart once: its entities and its parts.

The rules model plans from the parts, and the goal check asks of each part whether it was answered
(M21). What a clause names is ``clauses.py``'s, what it asks for ``part_kinds.py``'s, which deploys it
is about ``refs.py``'s; here a question is put together from them. Pure: the catalog's words are given.
Knows no tool and no source.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import takewhile

from pydantic import AwareDatetime, BaseModel, ConfigDict

from bot.loop.clauses import Clause, asks, clauses_of, readable
from bot.loop.entities import IN_NUMBER, DeployRef
from bot.loop.guard import guarded
from bot.loop.part import Part
from bot.loop.part_kinds import PartKind, kinds_of
from bot.loop.refs import THE_BAD_ONE, THE_CHANGE, asks_as_well, refs_of
from bot.loop.times import OnsetWindow
from bot.loop.unread import unread

__all__ = ["MAX_QUESTION", "DeployRef", "Part", "PartKind", "Question", "parse"]

MAX_QUESTION = 4_000
"""Characters of a question that are read; what is beyond is cut, and said."""


class Question(BaseModel):
    """A question with its clock, redacted before it gets here. ``parts`` is empty when none is
    recognised. ``thread`` holds earlier messages, as data. ``unread`` holds the clauses that ask for
    something beside the parts, and nobody knows what.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str
    asked_at: AwareDatetime
    thread: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    unread: tuple[str, ...] = ()
    services: tuple[str, ...] = ()
    deploys: tuple[str, ...] = ()
    catalog: dict[str, str] = {}
    cut: bool = False


MOST_MEANT = 3
"""So many deploys that ``it`` may mean are answered one by one."""
_OF_SERVICES = frozenset(
    {PartKind.LISTING, PartKind.SHIPPED, PartKind.WAS_IT, PartKind.RUNNING, PartKind.OWNER}
)
"""Kinds of parts that are asked of each service by itself."""
_LISTS = frozenset({PartKind.LISTING, PartKind.SHIPPED})
_BY_TIME = ("environment", "since", "until", "around", "person")
_TOLD_APART: Mapping[PartKind, tuple[str, ...]] = {
    **dict.fromkeys((PartKind.LISTING, PartKind.SHIPPED, PartKind.INCIDENTS), _BY_TIME),
    **dict.fromkeys((PartKind.RUNNING, PartKind.LIVE), ("environment",)),
    **dict.fromkeys((PartKind.INCIDENT, PartKind.CAUSE), ("incident",)),
}
"""What tells parts of a kind apart beside their deploy and their service."""
_WAS_IT = guarded(
    "it| be",
    r"\b(?:was|is|could|may|might) it\b(?! (?:safe|risky|ok|okay|possible)\b)(?: be| have been)?"
    r"|\b(?:could|might|may) be\b",
)
_RIGHT_BEFORE = guarded(
    "before", r"\b(?:right|just|shortly) before (?:it|this|that|onset|the (?:incident|outage))\b"
)
_STILL_DOWN = guarded(
    "is |are ",
    r"^\W*(?:is|are) .{2,60} (?:down|up|broken|failing|back|okay|ok|healthy|working)"
    r"(?: again| now| yet)?\W*$",
)
_PRONOUN = guarded("it|that|this", r"\b(?:it|that|this|its)\b")
_ELSE = guarded("else", r"\belse\b")
_AND_NUMBER = re.compile(r"\b(?:and|or|not) #?\d{4,8}\W*$", re.IGNORECASE)
_WHAT_ELSE = guarded("what else", r"\bwhat else\b")
_ROLL_BACK = guarded(
    "roll|revert|undo", r"^\W*(?:please |pls |just )?(?:roll[ -]?back|revert|undo) "
)
_SYMPTOM = re.compile(
    r"\b(?:down|broken?|fail\w*|crash\w*|errors?|[45]\d\ds?|5xx|4xx|dead|dies|dying|died|hang\w*|stuck"
    r"|slow\w*|time\w* ?out|unreachable|oom\w*|exceptions?|nobody can|no ?one can|can ?.?t|cannot"
    r"|refus\w*|reject\w*|outage|incident)\b",
    re.IGNORECASE,
)
_BACK = guarded(
    "before|previous",
    r"\bbefore (?:that|this|it)\b|\bprevious (?:good )?version\b|\b(?:ran|was running) before\b",
)
_AT_A_NAME = re.compile(r"\b(?:in|on|with|for|to)\s+\W?\w|\bwhat did\b", re.IGNORECASE)
_TROUBLE = re.compile(r"\b(?:incident|outage|alert)\b", re.IGNORECASE)


def parse(
    text: str, asked_at: datetime, words: Mapping[str, str], thread: tuple[str, ...] = ()
) -> Question:
    """Take a question apart. ``words`` maps the catalog's names and aliases to service names.

    A question that asks what changed without naming a deploy asks for the cause first.
    """
    now = asked_at.astimezone(UTC)
    kept = text[:MAX_QUESTION].strip()
    whole = Clause(readable(kept).strip(), words, now)
    told = _Told(
        whole,
        tuple(clauses_of(whole)),
        tuple(Clause(readable(message), words, now) for message in reversed(thread)),
    )
    with_urls = (Clause(message, words, now) for message in (kept, *reversed(thread)))
    incident = next(filter(None, (one.incident for one in with_urls)), None)
    parts: list[Part] = []
    left: list[str] = []
    for clause in told.clauses:
        read = tuple(_parts_of(clause, parts[-1].kind if parts else None))
        for part in read:
            if not any(_same(part, one) for one in parts):
                parts.append(_one_incident(part, parts) if parts else part)
        if not read and asks(clause.text):
            left.append(clause.text.strip(" ,"))
    return Question(
        text=kept,
        asked_at=now,
        thread=thread,
        parts=tuple(_in_context(parts, told, incident)),
        unread=tuple(left) if parts else (),
        services=whole.services,
        deploys=whole.deploys,
        catalog=dict(words),
        cut=len(text) > MAX_QUESTION,
    )


# --- one clause ----------------------------------------------------------------------------------


def _parts_of(clause: Clause, asked: PartKind | None) -> Iterator[Part]:
    """The parts of one clause; ``asked`` is what the clause before it asks for."""
    kinds = _kinds(clause, asked)
    around = clause.around if kinds else None
    if around is None and kinds and kinds[0] in _LISTS:
        around = _just_before(clause)
    for kind in kinds:
        person = clause.person if kind is PartKind.LISTING else None
        of_cause = len(kinds) > 1 and kinds[0] is PartKind.CAUSE
        for ref in (None,) if of_cause else refs_of(kind, clause):
            for service in _services(kind, ref, clause):
                part = Part(
                    kind=kind,
                    unread=unread(
                        kind,
                        clause,
                        placed=ref is not None or person is not None,
                        timed=bool(clause.span or around),
                    ),
                    text=clause.text.strip(" ,"),
                    deploy=ref,
                    service=service,
                    incident=clause.incident,
                    environment=clause.environment,
                    since=clause.span.since,
                    until=clause.span.until,
                    around=around or _around(kind, person, clause),
                    path=clause.path,
                    person=person,
                )
                yield part
                if kind is PartKind.FORWARD or kind is PartKind.RUNNING:
                    yield from _brought_by(part, clause)


def _brought_by(part: Part, clause: Clause) -> Iterator[Part]:
    """What goes with a part: what a deploy changed beside whether to go forward to it, and what runs
    in each of the other environments that are named.
    """
    if part.kind is PartKind.FORWARD and part.deploy is not None:
        known = {"kind": PartKind.CHANGES, "unread": "", "environment": None}
        yield part.model_copy(update=known)
    if part.kind is PartKind.RUNNING:
        others = (one for one in clause.environments if one != part.environment)
        yield from (part.model_copy(update={"environment": one}) for one in others)


def _services(kind: PartKind, ref: DeployRef | None, clause: Clause) -> tuple[str | None, ...]:
    """The service of a part; each is a part of its own where several are asked about together."""
    if ref is not None and ref.asked is None and ref.service is not None:
        return (ref.service,)
    if ref is None and kind in _OF_SERVICES:
        return clause.subjects or (None,)
    return (clause.service,)


def _kinds(clause: Clause, asked: PartKind | None) -> list[PartKind]:
    """What the clause asks for. What changed *since* a time is what was deployed since."""
    kinds = kinds_of(clause.text) or _asks_of_a_service(clause, asked)
    if kinds == [PartKind.SHIPPED] and clause.acted_on and not clause.services:
        return [PartKind.WHO_WHEN]
    if kinds == [PartKind.SHIPPED] and clause.person:
        return [PartKind.LISTING]
    if kinds == [PartKind.CHANGES] and clause.span and not _names_one(clause):
        return [PartKind.LISTING]
    return kinds


def _names_one(clause: Clause) -> bool:
    """Whether it speaks of one deploy, by name or as ``it``."""
    named = clause.deploys or IN_NUMBER.search(clause.text) or _PRONOUN.search(clause.text)
    return bool(named)


def _asks_of_a_service(clause: Clause, asked: PartKind | None) -> list[PartKind]:
    """``was it web?``: only the catalog tells that it asks about a service. ``and web 12?`` asks
    what was asked before it, else whether it was that one.
    """
    if asks_as_well(clause) and (clause.names_any or _AND_NUMBER.search(clause.text)):
        return [asked or PartKind.WAS_IT]
    if _WAS_IT.search(clause.text) and clause.services:
        return [PartKind.WAS_IT]
    if _STILL_DOWN.search(clause.text) and clause.services:
        return [PartKind.INCIDENT]
    return [PartKind.ROLLBACK] if _ROLL_BACK.search(clause.text) and clause.services else []


def _around(kind: PartKind, person: str | None, clause: Clause) -> OnsetWindow | None:
    """``what else went out?`` asks about the day before onset."""
    if kind is PartKind.LISTING and person is None and _WHAT_ELSE.search(clause.text):
        return OnsetWindow(before=timedelta(days=1))
    return None


def _just_before(clause: Clause) -> OnsetWindow | None:
    """``right before it started``: the hour before onset."""
    return OnsetWindow(before=timedelta(hours=1)) if _RIGHT_BEFORE.search(clause.text) else None


def _same(part: Part, other: Part) -> bool:
    """Whether both ask one thing. ``was it web, or ledger?`` asks two, of two services; what the
    later one names for itself, a time, a place, an incident, makes it another one too.
    """
    if part.kind is not other.kind or part.deploy != other.deploy:
        return False
    if part.service != other.service and part.kind in _OF_SERVICES:
        return False
    return not any(
        (named := getattr(part, name)) is not None and named != getattr(other, name)
        for name in _TOLD_APART.get(part.kind, ())
    )


def _one_incident(part: Part, before: Sequence[Part]) -> Part:
    """Only one incident's suspects are ranked in a run; another one is asked for by itself."""
    if part.kind is PartKind.CAUSE and any(one.kind is part.kind for one in before):
        why = f"I rank the suspects of one incident at a time; ask for {part.incident} by itself"
        return part.model_copy(update={"unread": why})
    return part


# --- the whole question --------------------------------------------------------------------------


@dataclass(frozen=True)
class _Told:
    """What a part leans on: the question, its clauses, and the thread before it, newest first."""

    whole: Clause
    clauses: tuple[Clause, ...]
    before: tuple[Clause, ...]

    @cached_property
    def meant(self) -> tuple[DeployRef, ...]:
        """The deploys that are spoken of, in the question or else in the thread."""
        return next(filter(None, (one.meant for one in (self.whole, *self.before))), ())

    def it(self, part: Part) -> tuple[DeployRef, ...]:
        """The deploys that "it" can mean in a part: those of the last clause before that names any."""
        earlier = takewhile(lambda one: one.text.strip(" ,") != part.text, self.clauses)
        return next(filter(None, (one.meant for one in reversed(tuple(earlier)))), ()) or self.meant


def _in_context(parts: Sequence[Part], told: _Told, incident: str | None) -> list[Part]:
    """The parts with what the rest of the question says, and the thread before it."""
    whole = told.whole
    known = [_known_elsewhere(part, whole, incident) for part in parts]
    found = [one for part in known for one in _of_meant(part, parts, told)]
    if whole.services and all(map(_ours_at_all, found)) and _SYMPTOM.search(whole.text):
        found = [Part(kind=PartKind.CAUSE, text=whole.text, incident=incident)]
    if any(part.kind is PartKind.CAUSE for part in found):
        return found
    for part in found:
        if part.kind is PartKind.CHANGES and part.deploy is None and not part.unread:
            return [part.model_copy(update={"kind": PartKind.CAUSE}), *found]
    return found


def _ours_at_all(part: Part) -> bool:
    """``did we ship something?`` beside a symptom and without a time asks for the cause."""
    anywhen = part.since is None and part.until is None and part.around is None
    return part.kind is PartKind.SHIPPED and anywhen and part.service is None and not part.unread


def _known_elsewhere(part: Part, whole: Clause, incident: str | None) -> Part:
    """The part with the incident and the file that another clause names."""
    update: dict[str, object] = {}
    if part.kind is PartKind.MOVED and part.path is None and whole.path is not None:
        update["path"] = whole.path
    if part.incident is None and incident is not None and not part.unread:
        update["incident"] = incident
    return part.model_copy(update=update) if update else part


def _of_meant(part: Part, parts: Sequence[Part], told: _Told) -> list[Part]:
    """The part with the deploy that it means by ``it``, or by naming none. Where that may be one of
    several it is asked of each; where they are too many, it is left open which.
    """
    if part.deploy is not None or part.unread or part.kind is PartKind.CAUSE:
        return [part]
    caused = any(one.kind is PartKind.CAUSE for one in parts)
    refs: Sequence[DeployRef] = ()
    match part.kind:
        case PartKind.WHO_WHEN | PartKind.COMMIT:
            other = next((one.deploy for one in parts if one.deploy is not None), None)
            refs = [other] if other else () if caused else _shipped(part, told)
        case PartKind.LIVE:
            refs = told.it(part)
            if not refs:
                return [part.model_copy(update={"unread": "name the deploy or the version"})]
        case PartKind.WAS_IT if part.service is None:
            refs = told.it(part)
            if not refs:
                return [part.model_copy(update={"service": told.whole.service})]
        case PartKind.CHANGES if (not caused and part.service is not None) and (
            _names_it(part) or (told.meant and told.meant[0].service not in (None, part.service))
        ):
            refs = [DeployRef(service=part.service)]
        case PartKind.CHANGES if not caused and _PRONOUN.search(part.text):
            runs = [one.service for one in parts if one.kind is PartKind.RUNNING and one.service]
            refs = [DeployRef(service=one) for one in runs] or told.it(part)
        case PartKind.OWNER if part.service is None and _PRONOUN.search(part.text):
            refs = told.it(part)[:1] or [one.deploy for one in parts if one.deploy][:1]
        case PartKind.CHANGES if (
            not caused
            and part.service is None
            and (last := next((one.deploy for one in parts if _asks_for_last(one)), None))
        ):
            refs = [last]
        case PartKind.CHANGES if len(told.meant) == 1:
            refs = told.meant
        case PartKind.LISTING | PartKind.SHIPPED if _ELSE.search(part.text):
            refs = told.it(part) if len(told.it(part)) == 1 else ()
        case _:
            pass
    if len(refs) > MOST_MEANT:
        which = ", ".join(ref.words for ref in refs)
        return [part.model_copy(update={"unread": f"which one do you mean: {which}?"})]
    return [part.model_copy(update={"deploy": ref}) for ref in refs] or [part]


def _asks_for_last(part: Part) -> bool:
    """``when was ledger last deployed, and what changed?`` asks for that deploy's change."""
    return part.kind is PartKind.WHO_WHEN and part.deploy is not None and part.deploy.ordinal == 1


def _shipped(part: Part, told: _Told) -> Sequence[DeployRef]:
    """The deploys that "who shipped it?" asks about, where no cause is asked for."""
    if THE_BAD_ONE.search(part.text):
        return (DeployRef(before_cause=0),)
    if told.whole.service is not None:
        return (DeployRef(service=told.whole.service),)
    if _PRONOUN.search(part.text) and (meant := told.it(part)):
        return meant
    if any(one.search(part.text) for one in (_PRONOUN, THE_CHANGE, _BACK)):
        return (DeployRef(before_cause=1 if _BACK.search(part.text) else 0),)
    return ()


def _names_it(part: Part) -> bool:
    """Whether "what changed in X" names the service itself and no incident or symptom."""
    return _AT_A_NAME.search(part.text) is not None and _TROUBLE.search(part.text) is None
