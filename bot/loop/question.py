"""The question, taken apart once: its entities and its parts.

The rules model plans from the parts, and the goal check asks of each part whether it was answered
(M21). Pure: the catalog's words are given. Knows no tool and no source.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from pydantic import AwareDatetime, BaseModel, ConfigDict

from bot.loop.entities import (
    ACTED_ON,
    BARE,
    BARE_VERSION,
    BETWEEN,
    IN_NUMBER,
    VERSION,
    DeployRef,
    find_deploys,
    find_environment,
    find_services,
    find_versions,
)
from bot.loop.part_kinds import PartKind, kinds_of
from bot.loop.times import OnsetWindow, onset_window, window
from bot.loop.unread import unread

__all__ = ["MAX_QUESTION", "DeployRef", "Part", "PartKind", "Question", "find_services", "parse"]

MAX_QUESTION = 4_000
"""Characters of a question that are read; what is beyond is cut, and said."""


class Part(BaseModel):
    """One thing that is asked. A CHANGES part without ``deploy`` asks about the cause's deploy."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: PartKind
    text: str
    deploy: DeployRef | None = None
    service: str | None = None
    incident: str | None = None
    environment: str | None = None
    since: AwareDatetime | None = None
    until: AwareDatetime | None = None
    around: OnsetWindow | None = None
    unread: str = ""
    path: str | None = None

    @property
    def words(self) -> str:
        """The part as a reply names it when it stays unanswered."""
        match self.kind:
            case PartKind.CAUSE:
                return "what caused the incident"
            case PartKind.CHANGES:
                return f"what changed in {self.deploy.words if self.deploy else 'that deploy'}"
            case PartKind.WHO_WHEN:
                what = self.deploy.words if self.deploy else (self.service or "that deploy")
                return f"who deployed it and when ({what})"
            case PartKind.LISTING:
                return f"what was deployed{f' of {self.service}' if self.service else ''}"
            case PartKind.WAS_IT:
                return f"whether it was {self.deploy.words if self.deploy else 'that deploy'}"
            case PartKind.FIX:
                what = f"{self.deploy.words} fixed it" if self.deploy else "a later deploy fixed it"
                return f"whether {what}"
            case PartKind.SHIPPED:
                return f"whether {self.service or 'anything'} was deployed in that time"
            case PartKind.BEFORE_ONSET:
                return "the last deploy before it began"
            case PartKind.MOVED:
                return f"where {self.path or 'that file'} was before"
            case PartKind.SETTING:
                return "which setting brings the old behaviour back"
            case PartKind.ROLLBACK:
                return "whether a rollback is safe"


class Question(BaseModel):
    """A question with its clock, redacted before it gets here. ``parts`` is empty when none is
    recognised. ``thread`` holds earlier messages, as data.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str
    asked_at: AwareDatetime
    thread: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    services: tuple[str, ...] = ()
    deploys: tuple[str, ...] = ()
    catalog: dict[str, str] = {}
    cut: bool = False


_CLAUSE = re.compile(
    r"(?<=[?!;\n])\s*|(?<=[a-z)\"'])\.\s+"
    r"|,?\s+\band\s+(?=(?:what|which|who|when|how|why|did|was|were|is|show|list)\b)"
    r"|,\s+(?=(?:what|which|who|when|why)\b)|,\s+in\s+(?=which\b)",
    re.IGNORECASE,
)
_INCIDENT = re.compile(r"\b(?!UTC-|SHA-|UTF-|ISO-|CVE-)[A-Z][A-Z0-9]{1,9}-\d{1,8}\b")
_WAS_IT = re.compile(r"\b(?:was|is|could|may|might) it\b(?: be| have been)?", re.IGNORECASE)
_PRONOUN = re.compile(r"\b(?:it|that|this|its)\b", re.IGNORECASE)
_FILE = re.compile(r"(?<![\w@:/.])(?:[\w.@+-]+/)*[\w@+-][\w.@+-]*\.[A-Za-z]\w{0,7}(?![\w/])")
_BEFORE_NAMED = re.compile(
    r"\b(?:before|prior to) (?:(?:deploy|release) #?(?P<number>\d{1,8})"
    r"|(?:deploy |release |version )?#?(?P<name>\d{3,8}|v?\d+(?:\.\d+)+[\w.+-]*))"
    r"(?![\w:.%-])(?!-\d)",
    re.IGNORECASE,
)
_RUN_TOGETHER = re.compile(r"\b(what|who|when|where|how)s\b", re.IGNORECASE)
"""``whats``, as it is typed at night."""
_AS_WELL = re.compile(
    r"^\W*(?:and|or|so|but|then)?\W*(?:what about|how about|and|or|not)\s+(?:the )?[\w.@/ -]{2,60}\W*$",
    re.IGNORECASE,
)
_AT_END = re.compile(r"[a-z] #?(?P<number>\d{1,8})\W*$", re.IGNORECASE)
"""After a service's name alone any number is a deploy's: ``and ledger 12?``."""
_SYMPTOM = re.compile(
    r"\b(?:down|broken?|fail\w*|crash\w*|errors?|[45]\d\d|5xx|4xx|dead|dies|dying|died|hang\w*|stuck"
    r"|slow\w*|time\w* ?out|unreachable|oom\w*|exceptions?|nobody can|no ?one can|can ?.?t|cannot"
    r"|refus\w*|reject\w*|outage|incident)\b",
    re.IGNORECASE,
)
_BEFORE_THAT = re.compile(
    r"\b(?:before|prior to) (?:that|this|it)\b(?: one| deploy)?|\bpreviously\b", re.IGNORECASE
)
_BACK = re.compile(
    r"\bbefore (?:that|this|it)\b|\bprevious (?:good )?version\b|\b(?:ran|was running) before\b",
    re.IGNORECASE,
)
_THE_CHANGE = re.compile(r"\b(?:the|that) (?:[\w.-]+ )?(?:change|culprit|suspect)\b", re.IGNORECASE)
_AT_A_NAME = re.compile(r"\b(?:in|on|with|for|to)\s+\W?\w|\bwhat did\b", re.IGNORECASE)
_TROUBLE = re.compile(r"\b(?:incident|outage|alert)\b", re.IGNORECASE)
_LAST = re.compile(r"\b(last|latest|newest|most recent|current)\b", re.IGNORECASE)
_BEFORE_LAST = re.compile(
    r"\b(?:one|deploy|release)\s+before\s+(?:that|the last|it)\b|\b(?:second|2nd)[- ]last\b"
    r"|\bprevious\s+(?:deploy|release)\b|\bdeploy before (?:the )?(?:last|latest)\b",
    re.IGNORECASE,
)


def _parts_of(
    clause: str, words: Mapping[str, str], now: datetime, asked: PartKind | None
) -> list[Part]:
    """The parts of one clause; ``asked`` is what the clause before it asks for."""
    clause = _RUN_TOGETHER.sub(r"\1 is", clause)
    services = find_services(clause, words)
    service = services[0] if services else None
    incident = _INCIDENT.search(clause)
    span = window(clause, now)
    path = _FILE.search(clause)
    around = onset_window(clause)
    named = find_deploys(clause) or find_versions(clause, words) or ACTED_ON.search(clause)
    placed = bool(services or named)
    return [
        Part(
            kind=kind,
            unread=unread(
                kind,
                clause,
                words,
                placed=placed or ref is not None,
                timed=bool(span or around),
                one_deploy=bool(find_deploys(clause)),
            ),
            text=clause.strip(" ,"),
            deploy=ref,
            service=service,
            incident=incident[0] if incident else None,
            environment=find_environment(clause),
            since=span.since,
            until=span.until,
            around=around or _around(kind, clause),
            path=path[0] if path else None,
        )
        for kind in _kinds(clause, services, asked, timed=bool(span))
        for ref in _refs(kind, clause, service, words)
    ]


def _kinds(
    clause: str, services: tuple[str, ...], asked: PartKind | None, *, timed: bool
) -> list[PartKind]:
    """What the clause asks for. What changed *since* a time is what was deployed since."""
    kinds = kinds_of(clause) or _asks_of_a_service(clause, services, asked)
    named = find_deploys(clause) or IN_NUMBER.search(clause) or _PRONOUN.search(clause)
    if kinds == [PartKind.SHIPPED] and not services and ACTED_ON.search(clause):
        return [PartKind.WHO_WHEN]
    if timed and kinds == [PartKind.CHANGES] and not named:
        return [PartKind.LISTING]
    return kinds


def _asks_of_a_service(
    clause: str, services: tuple[str, ...], asked: PartKind | None
) -> list[PartKind]:
    """``was it web?``: only the catalog tells that it asks about a service. ``and web 12?`` asks
    what was asked before it, else whether it was that one.
    """
    if _AS_WELL.search(clause) and (services or find_deploys(clause) or ACTED_ON.search(clause)):
        return [asked or PartKind.WAS_IT]
    return [PartKind.WAS_IT] if services and _WAS_IT.search(clause) else []


def _around(kind: PartKind, clause: str) -> OnsetWindow | None:
    """``what else went out?`` asks about the day before onset."""
    if kind is PartKind.LISTING and re.search(r"\bwhat else\b", clause, re.IGNORECASE):
        return OnsetWindow(before=timedelta(days=1))
    return None


def _refs(
    kind: PartKind, clause: str, service: str | None, words: Mapping[str, str]
) -> list[DeployRef | None]:
    """The deploys that a part of this kind is about; ``[None]`` for none, or for the cause's."""
    refs: list[DeployRef | None] = [
        DeployRef(asked=d, service=_beside(d, clause, words)) for d in find_deploys(clause)
    ]
    refs += find_versions(clause, words)
    if kind is PartKind.WHO_WHEN and service and (named := _BEFORE_NAMED.search(clause)):
        return [DeployRef(service=service, before=named["number"] or named["name"])]
    if not refs and kind in (PartKind.CHANGES, PartKind.WHO_WHEN, PartKind.WAS_IT):
        refs += [DeployRef(asked=v[1], service=service) for v in BARE_VERSION.finditer(clause)]
    if not refs and service and _AS_WELL.search(clause) and (last := _AT_END.search(clause)):
        refs += [DeployRef(asked=last["number"], service=service)]
    if not refs:
        numbers = dict.fromkeys(found["number"] for found in ACTED_ON.finditer(clause))
        refs += [DeployRef(asked=n, service=_beside(n, clause, words)) for n in numbers]
    match kind:
        case PartKind.FIX:
            known = {ref.asked for ref in refs if ref}
            bare = (found[1] for found in VERSION.finditer(clause))
            refs += [DeployRef(asked=v, service=service) for v in bare if v not in known]
        case PartKind.CHANGES if not refs and (both := BETWEEN.search(clause)):
            refs = [DeployRef(asked=number) for number in both.groups()]
        case PartKind.CHANGES if not refs and (number := IN_NUMBER.search(clause)):
            refs = [DeployRef(asked=number[1], service=_beside(number[1], clause, words))]
        case PartKind.CHANGES | PartKind.WHO_WHEN if not refs:
            back = _BEFORE_LAST.search(clause)
            of_it = service is not None and (kind is PartKind.WHO_WHEN or _LAST.search(clause))
            if of_it or (back and (service or kind is PartKind.CHANGES)):
                refs = [_counted(clause, service)]
        case PartKind.WAS_IT if not refs:
            refs += [DeployRef(asked=found[1], service=service) for found in BARE.finditer(clause)]
        case PartKind.CHANGES | PartKind.WHO_WHEN | PartKind.WAS_IT:
            pass
        case PartKind.CAUSE | PartKind.LISTING | PartKind.SHIPPED | PartKind.BEFORE_ONSET:
            return [None]
        case PartKind.MOVED | PartKind.SETTING | PartKind.ROLLBACK:
            return refs[:1] or [None]
    return refs or [None]


def _beside(deploy: str, clause: str, words: Mapping[str, str]) -> str | None:
    """The service that stands right at a deploy's name: ``web deploy 4470``, ``4470 of web``.

    One that stands elsewhere in the clause is the incident's, not the deploy's.
    """
    name = re.escape(deploy)
    before = re.search(
        rf"([\w-]+)\s+(?:deploy|release|version)?\s*#?{name}\b", clause, re.IGNORECASE
    )
    after = re.search(rf"\b{name}\s+(?:of|for|to)\s+(?:the\s+)?([\w-]+)", clause, re.IGNORECASE)
    for found in (before, after):
        if found and (service := words.get(found[1].lower())):
            return service
    return None


def _counted(clause: str, service: str | None) -> DeployRef:
    """The last deploy of a service, the one before, or one counted from the first suspect."""
    ordinal = 2 if _BEFORE_LAST.search(clause) else 1
    if service is not None and _BEFORE_THAT.search(clause):
        return DeployRef(service=service, ordinal=2, before_cause=1)
    if service is not None and _THE_CHANGE.search(clause):
        return DeployRef(service=service, before_cause=0)
    return DeployRef(service=service, ordinal=ordinal)


def parse(
    text: str, asked_at: datetime, words: Mapping[str, str], thread: tuple[str, ...] = ()
) -> Question:
    """Take a question apart. ``words`` maps the catalog's names and aliases to service names.

    A question that asks what changed without naming a deploy asks for the cause first.
    """
    cut = len(text) > MAX_QUESTION
    text = text[:MAX_QUESTION].strip()
    now = asked_at.astimezone(UTC)
    clauses = [clause for clause in _CLAUSE.split(text) if clause and clause.strip()]
    parts: list[Part] = []
    for clause in clauses:
        for part in _parts_of(clause, words, now, parts[-1].kind if parts else None):
            if not any(_same(part, one) for one in parts):
                parts.append(part)
    services = find_services(text, words)
    incident = _INCIDENT.search(text)
    named = _named(text, words) or next(filter(None, (_named(t, words) for t in thread[::-1])), ())
    incident = incident or next(filter(None, map(_INCIDENT.search, thread[::-1])), None)
    path = _FILE.search(text)
    parts = [_with_context(part, parts, services, incident, named) for part in parts]
    parts = [
        part.model_copy(update={"path": path[0]})
        if part.kind is PartKind.MOVED and part.path is None and path is not None
        else part
        for part in parts
    ]
    if services and _SYMPTOM.search(text) and all(_ours_at_all(part) for part in parts):
        parts = [Part(kind=PartKind.CAUSE, text=text, incident=incident[0] if incident else None)]
    cause = any(part.kind is PartKind.CAUSE for part in parts)
    dangling = next(
        (p for p in parts if p.kind is PartKind.CHANGES and p.deploy is None and not p.unread), None
    )
    if dangling and not cause:
        parts.insert(0, dangling.model_copy(update={"kind": PartKind.CAUSE}))
    return Question(
        text=text,
        asked_at=now,
        thread=thread,
        parts=tuple(parts),
        services=services,
        deploys=find_deploys(text),
        catalog=dict(words),
        cut=cut,
    )


def _same(part: Part, other: Part) -> bool:
    """Whether both ask one thing. ``was it web, or ledger?`` asks two, of two services."""
    of_one = part.service == other.service or part.kind is not PartKind.WAS_IT
    return part.kind is other.kind and part.deploy == other.deploy and of_one


def _ours_at_all(part: Part) -> bool:
    """``did we ship something?`` beside a symptom and without a time asks for the cause."""
    anywhen = part.since is None and part.until is None and part.around is None
    return part.kind is PartKind.SHIPPED and anywhen and part.service is None and not part.unread


def _named(text: str, words: Mapping[str, str]) -> tuple[DeployRef, ...]:
    return (*(DeployRef(asked=d) for d in find_deploys(text)), *find_versions(text, words))


def _with_context(
    part: Part,
    parts: list[Part],
    services: tuple[str, ...],
    incident: re.Match[str] | None,
    named: tuple[DeployRef, ...],
) -> Part:
    """The part with what the rest of the question says: its incident, "who deployed it"."""
    update: dict[str, object] = {}
    if part.unread:
        return part
    if part.incident is None and incident is not None:
        update["incident"] = incident[0]
    if part.kind is PartKind.WHO_WHEN and part.deploy is None:
        other = next((p.deploy for p in parts if p.deploy is not None), None)
        caused = any(p.kind is PartKind.CAUSE for p in parts)
        if other is not None:
            update["deploy"] = other
        elif services and not caused:
            update["deploy"] = DeployRef(service=services[0])
        elif named and not caused and _PRONOUN.search(part.text):
            update["deploy"] = named[0]
        elif not caused and any(one.search(part.text) for one in (_PRONOUN, _THE_CHANGE, _BACK)):
            back = 1 if _BACK.search(part.text) else 0
            update["deploy"] = DeployRef(before_cause=back)
    if part.kind is PartKind.WAS_IT and part.deploy is None and part.service is None:
        update |= {"deploy": named[0]} if named else {"service": next(iter(services), None)}
    if part.kind is PartKind.CHANGES and part.deploy is None and services:
        asks_cause = any(p.kind is PartKind.CAUSE for p in parts)
        if not asks_cause and part.service is not None and _names_it(part):
            update["deploy"] = DeployRef(service=part.service)
    if part.kind is PartKind.CHANGES and part.deploy is None and "deploy" not in update:
        asks_cause = any(p.kind is PartKind.CAUSE for p in parts)
        others = part.service and named and named[0].service not in (None, part.service)
        if others and not asks_cause:
            update["deploy"] = DeployRef(service=part.service)
        elif len(named) == 1 or (named and not asks_cause and _PRONOUN.search(part.text)):
            update["deploy"] = named[0]
    return part.model_copy(update=update) if update else part


def _names_it(part: Part) -> bool:
    """Whether "what changed in X" names the service itself and no incident or symptom."""
    return _AT_A_NAME.search(part.text) is not None and _TROUBLE.search(part.text) is None
