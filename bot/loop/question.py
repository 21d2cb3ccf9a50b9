"""The question, taken apart once: its entities and its parts.

The rules model plans from the parts, and the goal check asks of each part whether it was answered
(M21). Pure: the catalog's words are given. Knows no tool and no source.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from pydantic import AwareDatetime, BaseModel, ConfigDict

from bot.loop.part_kinds import PartKind, kinds_of
from bot.loop.times import OnsetWindow, onset_window, window

__all__ = ["MAX_QUESTION", "DeployRef", "Part", "PartKind", "Question", "find_services", "parse"]

MAX_QUESTION = 4_000
"""Characters of a question that are read; what is beyond is cut, and said."""


class DeployRef(BaseModel):
    """A deploy as people name it: ``asked`` (number, SHA, tag), else the last one of a service.

    ``ordinal`` 1 is the last deploy of ``service``, 2 the one before. With ``before_cause``
    it is counted from the first suspect, if that is of the same service: 0 is it, 1 the one before.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    asked: str | None = None
    service: str | None = None
    ordinal: int = 1
    before_cause: int | None = None

    @property
    def words(self) -> str:
        if self.asked is not None:
            return f"deploy {self.asked}"
        which = "last deploy" if self.ordinal == 1 else f"deploy {self.ordinal} back"
        return f"{which} of {self.service}"


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
_NUMBERED = re.compile(
    r"\b(?:deploys?|deployments?|releases?|rollouts?|builds?|runs?)\s+(?:nos?\.?\s*|numbers?\s+)?"
    r"((?:#?\d{1,10}(?![\d.:]*[.:]\d))(?:\s*(?:,|and|or|&|vs\.?|to)\s*#?\d{1,10}(?![\d.:]*[.:]\d))*)",
    re.IGNORECASE,
)
_HASHED = re.compile(r"(?<![\w/&])#(\d{1,10})\b")
_SHA = re.compile(r"(?<![\w-])(?=[0-9a-f]*\d)(?=\d*[a-f])([0-9a-f]{7,40})(?![\w-])", re.IGNORECASE)
_NAMED_SHA = re.compile(r"\b(?:sha|commit|revision)\s+([0-9a-f]{7,40})\b", re.IGNORECASE)
_TAG = re.compile(
    r"(?<![\w.])(v\d+(?:\.\d+){1,3}(?:[-+.][0-9A-Za-z.]+)?|(?:deploy|release)[-_]\d[\w.-]*\d"
    r"|(?:deploy|release)[-_]\d)(?![\w])"
)
_VERSION = re.compile(r"(?<=\s)(\d+(?:\.\d+)+[\w.+-]*\w|\d+(?:\.\d+)+)(?![\w:])")
_NUMBER = re.compile(r"(?<=\s)#?(\d{4,8})(?![\w:.%-])")
"""After a service's name a deploy's number; three digits would be an HTTP status."""
_BARE = re.compile(r"\b(?:was|is) it #?(\d{3,8})(?![\w:.%-])", re.IGNORECASE)
_WAS_IT = re.compile(r"\b(?:was|is|could|may|might) it\b(?: be| have been)?", re.IGNORECASE)
_PRONOUN = re.compile(r"\b(?:it|that|this|its)\b", re.IGNORECASE)
_FILE = re.compile(r"(?<![\w@:/.])(?:[\w.@+-]+/)*[\w@+-][\w.@+-]*\.[A-Za-z]\w{0,7}(?![\w/])")
_BEFORE_THAT = re.compile(
    r"\b(?:before|prior to) (?:that|this|it)\b(?: one| deploy)?|\bpreviously\b", re.IGNORECASE
)
_THE_CHANGE = re.compile(r"\b(?:the|that) (?:[\w.-]+ )?(?:change|culprit|suspect)\b", re.IGNORECASE)
_ENVIRONMENT = re.compile(
    r"\b(production|prod|staging|stage|canary|preprod|pre-production|development|dev|qa|test)\b"
    r"(?=\s*(?:environment|env|cluster)?\b)",
    re.IGNORECASE,
)
_ENVIRONMENTS = {"prod": "production", "stage": "staging", "dev": "development"}
_LAST = re.compile(r"\b(last|latest|newest|most recent|current)\b", re.IGNORECASE)
_BEFORE_LAST = re.compile(
    r"\b(?:one|deploy|release)\s+before\s+(?:that|the last|it)\b|\b(?:second|2nd)[- ]last\b"
    r"|\bprevious\s+(?:deploy|release)\b|\bdeploy before (?:the )?(?:last|latest)\b",
    re.IGNORECASE,
)


def find_services(text: str, words: Mapping[str, str]) -> tuple[str, ...]:
    """The catalog's services that the text names, by name or alias, in order of their place.

    The longest name wins where several overlap; ``payments api`` names ``payments-api``.
    """
    lowered = text.lower()
    taken = [False] * len(lowered)
    found: list[tuple[int, str]] = []
    for word in sorted(words, key=len, reverse=True):
        pattern = r"[-_ ]".join(re.escape(piece) for piece in re.split(r"[-_ ]", word.lower()))
        for match in re.finditer(rf"(?<![\w-])(?<!\w\.){pattern}(?![\w-])", lowered):
            if not any(taken[match.start() : match.end()]):
                taken[match.start() : match.end()] = [True] * (match.end() - match.start())
                found.append((match.start(), words[word]))
    return tuple(dict.fromkeys(name for _, name in sorted(found)))


def find_deploys(text: str) -> tuple[str, ...]:
    """Numbers, SHAs and tags of deploys that the text names, in order, each once."""
    found: list[tuple[int, str]] = []
    for match in _NUMBERED.finditer(text):
        found += [(match.start(1), number) for number in re.findall(r"\d+", match[1])]
    found += [(m.start(1), m[1]) for m in _HASHED.finditer(text)]
    for pattern in (_SHA, _NAMED_SHA):
        found += [(m.start(1), m[1].lower()) for m in pattern.finditer(text)]
    found += [(m.start(1), m[1]) for m in _TAG.finditer(text)]
    return tuple(dict.fromkeys(name for _, name in sorted(found)))


def find_versions(text: str, words: Mapping[str, str]) -> tuple[DeployRef, ...]:
    """Deploys named by service and version or number: ``httpx 0.28.0``, ``web 4470``."""
    refs = []
    for match in (*_VERSION.finditer(text), *_NUMBER.finditer(text)):
        before = find_services(text[: match.start()][-80:], words)
        name = text[: match.start()].rstrip().lower()
        named = next((w for w in words if words[w] in before[-1:] and name.endswith(w.lower())), "")
        if named:
            refs.append(DeployRef(asked=match[1], service=words[named]))
    return tuple(dict.fromkeys(refs))


def find_environment(text: str) -> str | None:
    match = _ENVIRONMENT.search(text)
    if match is None:
        return None
    word = match[1].lower()
    return _ENVIRONMENTS.get(word, word)


def _parts_of(clause: str, words: Mapping[str, str], now: datetime) -> list[Part]:
    services = find_services(clause, words)
    service = services[0] if services else None
    incident = _INCIDENT.search(clause)
    span = window(clause, now)
    path = _FILE.search(clause)
    return [
        Part(
            kind=kind,
            text=clause.strip(" ,"),
            deploy=ref,
            service=service,
            incident=incident[0] if incident else None,
            environment=find_environment(clause),
            since=span.since,
            until=span.until,
            around=onset_window(clause) or _around(kind, clause),
            path=path[0] if path else None,
        )
        for kind in kinds_of(clause) or _asks_of_a_service(clause, services)
        for ref in _refs(kind, clause, service, words)
    ]


def _asks_of_a_service(clause: str, services: tuple[str, ...]) -> list[PartKind]:
    """``was it web?``: only the catalog tells that it asks about a service."""
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
        DeployRef(asked=d, service=service) for d in find_deploys(clause)
    ]
    refs += find_versions(clause, words)
    match kind:
        case PartKind.FIX:
            known = {ref.asked for ref in refs if ref}
            bare = (found[1] for found in _VERSION.finditer(clause))
            refs += [DeployRef(asked=v, service=service) for v in bare if v not in known]
        case PartKind.CHANGES | PartKind.WHO_WHEN if not refs:
            back = _BEFORE_LAST.search(clause)
            named = service is not None and (kind is PartKind.WHO_WHEN or _LAST.search(clause))
            if named or back:
                refs = [_counted(clause, service)]
        case PartKind.WAS_IT if not refs:
            refs += [DeployRef(asked=found[1], service=service) for found in _BARE.finditer(clause)]
        case PartKind.CHANGES | PartKind.WHO_WHEN | PartKind.WAS_IT:
            pass
        case PartKind.CAUSE | PartKind.LISTING | PartKind.SHIPPED | PartKind.BEFORE_ONSET:
            return [None]
        case PartKind.MOVED | PartKind.SETTING | PartKind.ROLLBACK:
            return refs[:1] or [None]
    return refs or [None]


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
        for part in _parts_of(clause, words, now):
            if not any(part.kind is p.kind and part.deploy == p.deploy for p in parts):
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
    cause = any(part.kind is PartKind.CAUSE for part in parts)
    dangling = next((p for p in parts if p.kind is PartKind.CHANGES and p.deploy is None), None)
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
    if part.kind is PartKind.WAS_IT and part.deploy is None and part.service is None and named:
        update["deploy"] = named[0]
    if part.kind is PartKind.CHANGES and part.deploy is None and services:
        asks_cause = any(p.kind is PartKind.CAUSE for p in parts)
        if not asks_cause and part.service is not None and _names_it(part):
            update["deploy"] = DeployRef(service=part.service)
    if part.kind is PartKind.CHANGES and part.deploy is None and "deploy" not in update:
        asks_cause = any(p.kind is PartKind.CAUSE for p in parts)
        if len(named) == 1 or (named and not asks_cause and _PRONOUN.search(part.text)):
            update["deploy"] = named[0]
    return part.model_copy(update=update) if update else part


def _names_it(part: Part) -> bool:
    """Whether "what changed in X" names the service itself and no incident or symptom."""
    return bool(re.search(r"\b(?:in|on|with|for|to)\s+\W?\w", part.text)) and not re.search(
        r"\bincident\b|\boutage\b|\balert\b", part.text, re.IGNORECASE
    )
