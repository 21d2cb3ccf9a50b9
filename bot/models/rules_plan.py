"""What the rules model asks next: from the question's parts and what was seen, the missing calls.

Pure. First every search that a part needs, then the diffs that the searches lead to. A call that
failed once is tried once more, then its part is left unknown.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from pydantic import JsonValue

from bot.loop.question import DeployRef, Part, PartKind, Question
from bot.loop.wire import Request, Seen
from tools.base import Status
from tools.records import Confidence, Deploy, DeploysFound, DiffShown, SuspectsRanked

LISTING_LIMIT = 20
TRIES = 2

_ASKING = re.compile(
    r"\b(?:which|what|who|whose|when|why|how|did|does|do|is|are|was|were|has|have|had|been|be|it|its"
    r"|that|this|these|those|the|a|an|of|in|on|at|to|for|and|or|but|we|our|us|i|my|you|your|me|can"
    r"|could|please|tell|caus\w+|broke|behind|responsible|culprit|root|service|services|deploys?"
    r"|deployments?|releases?|changes?|changed|blame|one|about|something|since|there|so|then)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Wanted:
    """A call to make. ``why`` is the thought that goes with it."""

    tool: str
    arguments: Mapping[str, JsonValue] = field(default_factory=dict)
    why: str = ""

    @property
    def raw(self) -> str:
        return json.dumps(dict(self.arguments), ensure_ascii=False)


def plan(request: Request) -> tuple[Wanted, ...]:
    """The calls of the next turn; none when there is nothing left to ask."""
    searches = _missing(request, _searches(request.question))
    if searches:
        return searches
    return _missing(request, _diffs(request))


def _missing(request: Request, wanted: Iterator[Wanted]) -> tuple[Wanted, ...]:
    """Those that have no result yet, each once; a failed one is wanted again, once."""
    calls: list[Wanted] = []
    for call in wanted:
        made = [s for s in request.seen if s.tool == call.tool and _same(s, call)]
        failed = all(s.status is Status.ERROR for s in made)
        if failed and len(made) < TRIES and call not in calls:
            calls.append(call)
    return tuple(calls)


def _same(seen: Seen, call: Wanted) -> bool:
    """Whether this call was made, by this model or, with defaults left out, by another."""
    return seen.asked == call.raw or seen.arguments == call.arguments


def _searches(question: Question) -> Iterator[Wanted]:
    for part in question.parts:
        if wanted := search_for(part, question):
            yield wanted


def search_for(part: Part, question: Question) -> Wanted | None:
    """The search that a part begins with, or ``None`` if it begins with a diff."""
    match part.kind:
        case PartKind.CAUSE:
            arguments: dict[str, JsonValue] = {"incident": incident_words(part, question)}
            if part.environment:
                arguments["environment"] = part.environment
            return Wanted("search_deploy", arguments, "Ranking what could have caused it.")
        case PartKind.CHANGES | PartKind.WHO_WHEN:
            return _lookup(part)
        case PartKind.LISTING:
            since = part.since
            if since is None and part.until is None and part.service is None:
                since = question.asked_at - timedelta(days=1)
            window: dict[str, JsonValue] = {
                "service": part.service,
                "environment": part.environment,
                "since": since.isoformat() if since else None,
                "until": part.until.isoformat() if part.until else None,
                "limit": LISTING_LIMIT,
            }
            given = {key: value for key, value in window.items() if value is not None}
            return Wanted("search_deploy", given, "Listing what was deployed.")


def _lookup(part: Part) -> Wanted | None:
    """Find the deploy that a part is about, when a diff alone would not."""
    ref = part.deploy
    if ref is None:
        return None
    if ref.asked is not None:
        if part.kind is PartKind.CHANGES:
            return None
        named: dict[str, JsonValue] = {"deploy": ref.asked}
        if ref.service:
            named["service"] = ref.service
        return Wanted("search_deploy", named, f"Looking up deploy {ref.asked}.")
    if ref.service is None:
        return None
    latest: dict[str, JsonValue] = {"service": ref.service, "limit": max(1, ref.ordinal)}
    if part.environment:
        latest["environment"] = part.environment
    if part.until:
        latest["until"] = part.until.isoformat()
    return Wanted("search_deploy", latest, f"Looking up the deploys of {ref.service}.")


def _diffs(request: Request) -> Iterator[Wanted]:
    for part in request.question.parts:
        match part.kind:
            case PartKind.CAUSE:
                if top := top_suspect(request):
                    yield _diff_of(top, "Reading what the first suspect changed.")
            case PartKind.CHANGES if (
                part.deploy and part.deploy.asked and not _diffed(request, part)
            ):
                named: dict[str, JsonValue] = {"deploy": part.deploy.asked}
                if part.deploy.service:
                    named["service"] = part.deploy.service
                yield Wanted("get_diff", named, f"Reading what deploy {part.deploy.asked} changed.")
            case PartKind.CHANGES if part.deploy:
                if deploy := deploy_of(part.deploy, request):
                    yield _diff_of(deploy, f"Reading what {part.deploy.words} changed.")
            case _:
                pass


def _diffed(request: Request, part: Part) -> bool:
    """Whether the deploy that is asked about is the first suspect, whose diff is read anyway."""
    top = top_suspect(request)
    asked = part.deploy.asked if part.deploy else None
    asks_cause = any(p.kind is PartKind.CAUSE for p in request.question.parts)
    return bool(asks_cause and top and asked and asked in {top.label, top.ref, top.id})


def _diff_of(deploy: Deploy, why: str) -> Wanted:
    return Wanted("get_diff", {"deploy": deploy.label, "service": deploy.service}, why)


def ranking(request: Request) -> tuple[Seen, SuspectsRanked] | None:
    """The newest ranking of suspects, with the observation that holds it."""
    for seen in reversed(request.seen):
        if isinstance(seen.value, SuspectsRanked):
            return seen, seen.value
    return None


def top_suspect(request: Request) -> Deploy | None:
    """The first suspect, if the tool has any confidence in it."""
    ranked = ranking(request)
    if ranked is None or ranked[1].confidence is Confidence.NONE or not ranked[1].suspects:
        return None
    return ranked[1].suspects[0].deploy


def deploy_of(ref: DeployRef, request: Request) -> Deploy | None:
    """The deploy that a reference without a number stands for, from what was found."""
    for seen in request.seen:
        value = seen.value
        if isinstance(value, DeploysFound) and seen.arguments.get("service") == ref.service:
            return value.deploys[ref.ordinal - 1] if len(value.deploys) >= ref.ordinal else None
    return None


def diff_for(part: Part, request: Request) -> tuple[Seen, DiffShown] | None:
    """The diff that answers a CHANGES part, with the observation that holds it."""
    wanted = _wanted_labels(part, request)
    for seen in request.seen:
        value = seen.value
        if isinstance(value, DiffShown):
            names = {value.deploy.label, value.deploy.ref, value.deploy.id}
            short = part.deploy.asked if part.deploy else None
            by_sha = bool(short and value.deploy.sha and value.deploy.sha.startswith(short))
            if names & wanted or by_sha or seen.arguments.get("deploy") in wanted:
                return seen, value
    return None


def _wanted_labels(part: Part, request: Request) -> set[JsonValue]:
    ref = part.deploy
    if ref is None:
        top = top_suspect(request)
        return {top.label} if top else set()
    if ref.asked is not None:
        return {ref.asked}
    deploy = deploy_of(ref, request)
    return {deploy.label} if deploy else set()


def incident_words(part: Part, question: Question) -> str:
    """What to look an incident up by: its id, else the words that describe it."""
    if part.incident:
        return part.incident
    text = question.text
    for other in question.parts:
        if other.kind is not PartKind.CAUSE:
            text = text.replace(other.text, " ")
    words = re.sub(r"\s+", " ", _ASKING.sub(" ", text)).strip(" ,.?!;:")
    words = re.sub(r"\s+([,.?!;:])", r"\1", words)[:300]
    return words or "latest incident"
