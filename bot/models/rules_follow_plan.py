"""What the rules model asks next for questions about a suspect that is already known, or nearly.

Pure. They all begin with the ranking of the incident's suspects: which one is meant comes from the
question's words, from the thread, else it is the latest incident.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import assert_never

from pydantic import JsonValue

from bot.loop.entities import DeployRef
from bot.loop.part_kinds import PartKind
from bot.loop.question import Part, Question
from bot.loop.times import Window
from bot.loop.wire import Request, Seen
from bot.models.rules_calls import Wanted, diff_call, incident_words, ranking, top_suspect
from tools.base import Status
from tools.records import (
    Confidence,
    Deploy,
    DeploysFound,
    IncidentsFound,
    LaterDeploy,
    Mending,
    SuspectsRanked,
)

RANKED = 50
"""Suspects that are asked for, so that any of them can be told apart."""
SHOWN = 20
RECENT = 5
"""Deploys of one service among which the last successful one is looked for."""
LATEST = "latest incident"
_ELSE = re.compile(r"\belse\b", re.IGNORECASE)
_NAMES_INCIDENT = re.compile(r"\bincident|\boutage|\balert", re.IGNORECASE)


def follow(part: Part, request: Request) -> Iterator[Wanted]:
    """The calls that a part needs, those that can be made by now; some lead to others."""
    match part.kind:
        case PartKind.WAS_IT:
            yield from rank(part, request)
            if part.deploy is not None and part.deploy.asked is not None:
                yield named_call(part.deploy.asked, part.deploy.service)
        case PartKind.FIX:
            yield from rank(part, request)
            if (best := fix_of(part, request)) is not None:
                yield diff_call(best.deploy, "Reading what the later deploy changed.")
            elif (top := top_suspect(request)) is not None:
                yield last_call(top.service, None)
        case PartKind.SETTING | PartKind.BEFORE_ONSET:
            yield from rank(part, request)
        case PartKind.ROLLBACK:
            yield from rank(part, request)
            yield from _undo(part, request)
        case PartKind.MOVED:
            yield from _moved(part, request)
        case PartKind.SHIPPED:
            yield from _shipped(part, request)
        case PartKind.LISTING if part.around is not None:
            yield from _shipped(part, request)
        case PartKind.WHO_WHEN | PartKind.COMMIT:
            yield from _counted(part, request)
        case PartKind.LIVE:
            yield from _live(part, request)
        case PartKind.OWNER:
            yield from _owner(part, request)
        case PartKind.CAUSE | PartKind.CHANGES | PartKind.LISTING:
            pass
        case PartKind.INCIDENT | PartKind.INCIDENTS | PartKind.RUNNING | PartKind.FORWARD:
            pass
        case _:
            assert_never(part.kind)


def _moved(part: Part, request: Request) -> Iterator[Wanted]:
    if part.path is None:
        return
    if part.deploy is not None and part.deploy.asked is not None:
        asked: dict[str, JsonValue] = {"deploy": part.deploy.asked, "path": part.path}
        yield Wanted("get_diff", asked, "Reading what became of the file.")
        return
    yield from rank(part, request)
    if (top := top_suspect(request)) is not None:
        about: dict[str, JsonValue] = {
            "deploy": top.label,
            "service": top.service,
            "path": part.path,
        }
        yield Wanted("get_diff", about, "Reading what became of the file.")


def _live(part: Part, request: Request) -> Iterator[Wanted]:
    if part.deploy is None or part.deploy.asked is None:
        return
    yield named_call(part.deploy.asked, part.deploy.service)
    service = next(iter({one.service for one in named_deploys(part, request)}), None)
    if service is not None:
        yield live_call(service, part)


def named_deploys(part: Part, request: Request) -> tuple[Deploy, ...]:
    """The deploys that go by a part's name, once they were looked up: of its service where it tells
    one, none where they are of several.
    """
    ref = part.deploy
    if ref is None or ref.asked is None:
        return ()
    found = seen_for(named_call(ref.asked, ref.service), request)
    if found is None:
        return ()
    of_it = tuple(one for one in found[1].deploys if ref.service in (None, one.service))
    named = of_it or found[1].deploys
    return named if len({one.service for one in named}) == 1 else ()


def live_call(service: str | None, part: Part) -> Wanted:
    """The newest deploys to an environment, production unless told: of one service, or of all."""
    live: dict[str, JsonValue] = {"environment": part.environment or "production"}
    if service:
        live |= {"service": service, "limit": RECENT}
    else:
        live["limit"] = RANKED
    return Wanted("search_deploy", live, "Looking up the last successful deploys.")


def _owner(part: Part, request: Request) -> Iterator[Wanted]:
    if part.service is None and part.deploy is not None and part.deploy.asked is not None:
        yield named_call(part.deploy.asked, part.deploy.service)
    elif part.service is None:
        yield from rank(part, request)
    if (service := owned(part, request)) is not None:
        yield last_call(service, None)


def owned(part: Part, request: Request) -> str | None:
    """The service whose owner is asked for: the one that is named, that of the deploy that is named,
    else the incident's own where no deploy is suspected.
    """
    if part.service is not None or part.deploy is not None:
        return part.service or next((one.service for one in named_deploys(part, request)), None)
    ranked = ranking(request)
    if ranked is None or top_suspect(request) is not None:
        return None
    return next(iter(ranked[1].incident.services), None)


def _shipped(part: Part, request: Request) -> Iterator[Wanted]:
    span = window_of(part, request)
    if span is None:
        yield from rank(part, request)
        return
    if part.deploy is None and asks_else(part):
        yield from rank(part, request)
    call = window_call(part, span)
    yield call
    if any(s.asked == call.raw and s.status is Status.EMPTY for s in request.seen):
        yield last_call(part.service, span.since, environment=part.environment)


def asks_else(part: Part) -> bool:
    """``what else went out?``: beside the first suspect, or beside the deploy that is spoken of."""
    return _ELSE.search(part.text) is not None


def _undo(part: Part, request: Request) -> Iterator[Wanted]:
    if (lookup := undo_lookup(part)) is not None:
        yield lookup
    if (deploy := to_undo(part, request)) is not None:
        yield diff_call(deploy, "Reading what a rollback would take away.")
        if deploy != top_suspect(request):
            yield since_call(deploy)


def undo_lookup(part: Part) -> Wanted | None:
    """The search for the deploy that is to be rolled back, where it is named; ``None`` where the
    first suspect is meant.
    """
    match part.deploy:
        case None:
            return None
        case DeployRef(asked=str() as asked, service=service):
            return named_call(asked, service)
        case DeployRef(service=service):
            return last_call(service, None)


def to_undo(part: Part, request: Request) -> Deploy | None:
    """The deploy whose rollback a part asks about, once it is known."""
    top = top_suspect(request)
    lookup, ref = undo_lookup(part), part.deploy
    if lookup is None or ref is None:
        return top
    service = ref.service
    if top is not None and (goes_by(top, ref.asked) if ref.asked else top.service == service):
        return top
    found = seen_for(lookup, request)
    named = [one for one in found[1].deploys if service in (None, one.service)] if found else []
    one_only = named if len(named) == 1 else found[1].deploys if found else ()
    return one_only[0] if len(one_only) == 1 else None


def since_call(deploy: Deploy) -> Wanted:
    """What went out of its service since a deploy, itself included."""
    asked: dict[str, JsonValue] = {
        "service": deploy.service,
        "environment": deploy.environment,
        "limit": SHOWN,
    }
    if deploy.at is not None:
        asked["since"] = deploy.at.isoformat()
    return Wanted("search_deploy", asked, "Looking up what builds on it.")


def counted(part: Part) -> bool:
    """Whether a part names its deploy by counting, from the first suspect or from another deploy."""
    ref = part.deploy
    return ref is not None and (ref.before_cause is not None or ref.before is not None)


def _counted(part: Part, request: Request) -> Iterator[Wanted]:
    """``the one before that``: counted from the first suspect, or from the deploy that is named."""
    ref = part.deploy
    if ref is None or not counted(part):
        return
    if ref.before is not None:
        yield named_call(ref.before, ref.service)
        if begins_before(part, request) is not None:
            yield counted_call(part, request)
        return
    yield from rank(part, request)
    if ranking(request) is not None and (
        ref.service or (ref.before_cause and top_suspect(request))
    ):
        yield counted_call(part, request)


def begins_before(part: Part, request: Request) -> Deploy | None:
    """The deploy that a part names to ask for the one before it, once it was looked up."""
    ref = part.deploy
    if ref is None or ref.before is None:
        return None
    found = seen_for(named_call(ref.before, ref.service), request)
    of_it = [one for one in found[1].deploys if one.service == ref.service] if found else []
    return next(iter(of_it or (found[1].deploys if found else ())), None)


def counted_call(part: Part, request: Request) -> Wanted:
    """The search whose last row is the deploy that a counted reference means."""
    ref, top = part.deploy, top_suspect(request)
    if ref is None:
        return last_call(part.service, None)
    if (named := begins_before(part, request)) is not None:
        return last_call(ref.service, named.at, 1 + (named.service == ref.service))
    service = ref.service or (top.service if top else None)
    until = top.at if top is not None and top.service == service else None
    back = ref.before_cause if until is not None and ref.before_cause is not None else 0
    return last_call(service, until, back + 1 if until else ref.ordinal)


def rank(part: Part, request: Request) -> Iterator[Wanted]:
    """The ranking of the incident that is meant; of the latest one where the words find none."""
    first = _rank_call(_incident(part, request.question))
    yield first
    empty = any(
        seen.asked == first.raw
        and isinstance(seen.value, IncidentsFound)
        and not seen.value.incidents
        for seen in request.seen
    )
    if empty:
        yield _rank_call(LATEST)


def _rank_call(incident: str) -> Wanted:
    asked: dict[str, JsonValue] = {"incident": incident, "limit": RANKED}
    return Wanted("search_deploy", asked, "Ranking what could have caused it.")


def _incident(part: Part, question: Question) -> str:
    if part.incident:
        return part.incident
    return incident_words(part, question) if names_incident(question) else LATEST


def names_incident(question: Question) -> bool:
    """Whether the question's own words tell which incident is meant."""
    return bool(question.services or _NAMES_INCIDENT.search(question.text))


def named_call(asked: str, service: str | None) -> Wanted:
    named: dict[str, JsonValue] = {"deploy": asked}
    if service and not asked.isdigit():
        named["service"] = service
    return Wanted("search_deploy", named, f"Looking up deploy {asked}.")


def last_call(
    service: str | None, until: datetime | None, count: int = 1, environment: str | None = None
) -> Wanted:
    asked: dict[str, JsonValue] = {"limit": count}
    if service:
        asked["service"] = service
    if environment:
        asked["environment"] = environment
    if until:
        asked["until"] = until.isoformat()
    return Wanted("search_deploy", asked, "Looking up the last deploy before.")


def window_of(part: Part, request: Request) -> Window | None:
    """The span that a part names; one told by the onset needs the ranking first."""
    if part.since or part.until:
        return Window(part.since, part.until)
    if part.around is None:
        return Window(None, request.question.asked_at)
    ranked = ranking(request)
    return part.around.bounds(ranked[1].onset) if ranked else None


def window_call(part: Part, span: Window) -> Wanted:
    asked: dict[str, JsonValue] = {"limit": SHOWN}
    if part.service:
        asked["service"] = part.service
    if part.environment:
        asked["environment"] = part.environment
    if span.since:
        asked["since"] = span.since.isoformat()
    if span.until:
        asked["until"] = span.until.isoformat()
    return Wanted("search_deploy", asked, "Listing what was deployed in that time.")


def fix_of(part: Part, request: Request) -> LaterDeploy | None:
    """The later deploy that a FIX part is about: the one it names, else the likeliest."""
    ranked = ranking(request)
    if ranked is None:
        return None
    later = ranked[1].later
    if part.deploy is not None and part.deploy.asked is not None:
        return next((one for one in later if goes_by(one.deploy, part.deploy.asked)), None)
    return next((one for one in later if mends(one)), None)


def mends(later: LaterDeploy) -> bool:
    """Whether the incident ended with it, or it takes the change back."""
    return later.mended or later.mending in (Mending.ROLLED_BACK, Mending.TAKES_BACK)


def goes_by(deploy: Deploy, asked: str) -> bool:
    """Whether people call this deploy so: its number, its version, its SHA's beginning."""
    refs = {deploy.label, deploy.id, (deploy.ref or "").removeprefix("v")}
    by_sha = len(asked) >= 7 and bool(deploy.sha and deploy.sha.startswith(asked))
    return asked.removeprefix("v") in refs or by_sha


def seen_for(call: Wanted, request: Request) -> tuple[Seen, DeploysFound] | None:
    """The deploys that this very call brought."""
    for seen in request.seen:
        if seen.asked == call.raw and isinstance(seen.value, DeploysFound):
            return seen, seen.value
    return None


def sure(value: SuspectsRanked) -> bool:
    """Whether the ranking holds anyone to blame."""
    return value.confidence is not Confidence.NONE and bool(value.suspects)
