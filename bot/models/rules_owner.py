"""What the rules model says to "who owns it?" and "who should I page?": whom the catalog names.

Pure. No tool reads an on-call schedule, and nobody is guessed at: what is not in the catalog is said
to be missing, with where it goes.
"""

from __future__ import annotations

import re

from bot.loop.question import Part
from bot.loop.wire import Request, Seen
from bot.models.rules_calls import ranking
from bot.models.rules_follow_plan import last_call, named_call, owned, seen_for, sure
from bot.models.rules_words import Said, absent_or_many, full_name, shipped, versioned
from tools.records import DeploysFound, SuspectsRanked

_NOW = re.compile(r"\bon[ -]?call\b|\b(?:page|wake|call|ping|escalate)\b", re.IGNORECASE)
NO_SCHEDULE = (
    "who is on call now: no source that I read holds a schedule; ask the owner or your paging tool"
)


def say_owner(part: Part, request: Request, said: Said) -> None:
    service = owned(part, request)
    ranked = ranking(request)
    if service is None and part.deploy is not None and part.deploy.asked is not None:
        if lookup := seen_for(named_call(part.deploy.asked, part.deploy.service), request):
            absent_or_many(part.deploy.asked, *lookup, said)
    elif service is not None:
        if found := seen_for(last_call(service, None), request):
            _of_service(service, *found, said)
    elif ranked is not None and sure(ranked[1]):
        _of_suspect(*ranked, said)
    elif ranked is not None:
        said.unknowns.append("who owns it: no deploy is suspected; name the service")
    if _NOW.search(part.text):
        said.unknowns.append(NO_SCHEDULE)


def _of_service(service: str, seen: Seen, value: DeploysFound, said: Said) -> None:
    if value.owner:
        said.headlines.append(f"Owner of {service}: {value.owner}")
        said.claim(f"Owner of {service}: {value.owner}", seen)
        return
    said.unknowns.append(_nobody(service))
    for one in value.deploys[:1]:
        if one.actor:
            said.headlines.append(f"The newest deploy of {service} was by {one.actor}")
            said.claim(f"{full_name(one)} {shipped(one)}", seen)


def _of_suspect(seen: Seen, value: SuspectsRanked, said: Said) -> None:
    """Who owns the first suspect: where an incident is spoken of and no service."""
    said.confidences.append(value.confidence)
    first, action = value.suspects[0].deploy, value.next_action
    if action is None or action.owner is None:
        said.unknowns.append(_nobody(first.service))
        said.headlines.append(f"The first suspect is {versioned(first)}")
        said.claim(f"The first suspect is {versioned(first)}", seen)
        return
    said.headlines.append(f"Ask {action.owner}: {versioned(first)} is the first suspect")
    said.claim(action.text, seen)


def _nobody(service: str) -> str:
    return (
        f"who owns {service}: the catalog names nobody; "
        f"set `owner` under [services.{service}] in oncall.toml"
    )
