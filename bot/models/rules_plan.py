"""What the rules model asks next: from the question's parts and what was seen, the missing calls.

Pure. First every search that a part needs, then the diffs that the searches lead to. A call that
failed once is tried once more, then its part is left unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import assert_never

from pydantic import JsonValue

from bot.loop.entities import DeployRef
from bot.loop.grounding import is_sha_of
from bot.loop.question import Part, PartKind, Question
from bot.loop.wire import Request, Seen
from bot.models.rules_calls import Wanted, by_name, diff_call, incident_words, top_suspect
from bot.models.rules_follow_plan import counted, follow, last_call
from bot.models.rules_records import records_call
from tools.base import Status
from tools.records import Deploy, DeploysFound, DiffShown

_LAST = re.compile(
    r"\b(?:last|latest|newest) (?:deploy|release|rollout)"
    r"|\b(?:deployed|shipped|released) last\b|\blast (?:one|person) to (?:deploy|ship|release)\b",
    re.IGNORECASE,
)
LISTING_LIMIT = 20
PERSON_LIMIT = 50
"""No tool lists deploys by who made them: so many are read, and those of the person are told."""
TRIES = 2


def plan(request: Request) -> tuple[Wanted, ...]:
    """The calls of the next turn; none when there is nothing left to ask."""
    searches = _missing(request, _searches(request.question))
    if searches:
        return searches
    return _missing(request, _then(request))


def _then(request: Request) -> Iterator[Wanted]:
    for part in read_parts(request.question):
        yield from follow(part, request)
    yield from _diffs(request)


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


def read_parts(question: Question) -> tuple[Part, ...]:
    """The parts that were understood: the others are listed as unknown, not guessed at."""
    return tuple(part for part in question.parts if not part.unread)


def search_for(part: Part, question: Question) -> Wanted | None:
    """The search that a part begins with, or ``None`` if it begins with a diff."""
    if part.unread:
        return None
    match part.kind:
        case PartKind.CAUSE:
            arguments: dict[str, JsonValue] = {"incident": incident_words(part, question)}
            if part.environment:
                arguments["environment"] = part.environment
            return Wanted("search_deploy", arguments, "Ranking what could have caused it.")
        case PartKind.CHANGES | PartKind.WHO_WHEN | PartKind.COMMIT:
            return _lookup(part)
        case PartKind.INCIDENT | PartKind.INCIDENTS | PartKind.RUNNING:
            return records_call(part, question)
        case PartKind.LISTING if part.around is None:
            since = part.since
            anytime = since is None and part.until is None and part.service is None
            if anytime and part.person is None:
                since = question.asked_at - timedelta(days=1)
            window: dict[str, JsonValue] = {
                "service": part.service,
                "environment": part.environment,
                "since": since.isoformat() if since else None,
                "until": part.until.isoformat() if part.until else None,
                "limit": LISTING_LIMIT if part.person is None else PERSON_LIMIT,
            }
            given = {key: value for key, value in window.items() if value is not None}
            return Wanted("search_deploy", given, "Listing what was deployed.")
        case PartKind.LISTING | PartKind.SHIPPED | PartKind.WAS_IT | PartKind.FIX:
            return None
        case PartKind.BEFORE_ONSET | PartKind.MOVED | PartKind.SETTING | PartKind.ROLLBACK:
            return None
        case PartKind.LIVE | PartKind.OWNER | PartKind.FORWARD:
            return None
        case _:
            assert_never(part.kind)


def _lookup(part: Part) -> Wanted | None:
    """Find the deploy that a part is about, when a diff alone would not."""
    ref = part.deploy
    if ref is None and part.kind is PartKind.WHO_WHEN and _LAST.search(part.text):
        return last_call(part.service, part.until, environment=part.environment)
    if ref is None or counted(part):
        return None
    if ref.asked is not None:
        if part.kind is PartKind.CHANGES:
            return None
        named: dict[str, JsonValue] = {"deploy": ref.asked}
        if ref.service and not ref.asked.isdigit():
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
    for part in read_parts(request.question):
        match part.kind:
            case PartKind.CAUSE:
                if top := top_suspect(request):
                    yield diff_call(top, "Reading what the first suspect changed.")
            case PartKind.CHANGES if (
                part.deploy and part.deploy.asked and not _diffed(request, part)
            ):
                named = by_name(part.deploy.asked, part.deploy.service, request)
                yield Wanted("get_diff", named, f"Reading what deploy {part.deploy.asked} changed.")
            case PartKind.CHANGES if part.deploy:
                if deploy := deploy_of(part.deploy, request):
                    yield diff_call(deploy, f"Reading what {part.deploy.words} changed.")
            case _:
                pass


def _diffed(request: Request, part: Part) -> bool:
    """Whether the deploy that is asked about is the first suspect, whose diff is read anyway."""
    top = top_suspect(request)
    asked = part.deploy.asked if part.deploy else None
    asks_cause = any(p.kind is PartKind.CAUSE for p in request.question.parts)
    service = part.deploy.service if part.deploy else None
    same = bool(top and asked and asked in {top.label, top.ref, top.id})
    return bool(asks_cause and same and top and service in (None, top.service))


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
    service = part.deploy.service if part.deploy else None
    found: list[tuple[Seen, DiffShown]] = []
    for seen in request.seen:
        value = seen.value
        if isinstance(value, DiffShown):
            names = {value.deploy.label, value.deploy.ref, value.deploy.id}
            short = part.deploy.asked if part.deploy else None
            by_sha = bool(short and is_sha_of(short, value.deploy.sha))
            if names & wanted or by_sha or seen.arguments.get("deploy") in wanted:
                found.append((seen, value))
    of_it = [one for one in found if service in (None, one[1].deploy.service)]
    return next(iter(of_it or found), None)


def _wanted_labels(part: Part, request: Request) -> set[JsonValue]:
    ref = part.deploy
    if ref is None:
        top = top_suspect(request)
        return {top.label} if top else set()
    if ref.asked is not None:
        return {ref.asked}
    deploy = deploy_of(ref, request)
    return {deploy.label} if deploy else set()
