"""What the rules model says of a span of time: what was deployed in it, and what else.

Pure. A yes/no question opens with the verdict.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.loop.part_kinds import PartKind
from bot.loop.question import Part
from bot.loop.wire import Request, Seen
from bot.models.rules_calls import top_suspect
from bot.models.rules_follow_plan import (
    asks_else,
    goes_by,
    last_call,
    seen_for,
    window_call,
    window_of,
)
from bot.models.rules_plan import search_for
from bot.models.rules_words import Said, full_name, rest_of, shipped, stretch, versioned
from tools.records import Deploy, DeploysFound

LISTED = 4


def say_window(part: Part, request: Request, said: Said) -> None:
    bounds = window_of(part, request)
    if bounds is None:
        return
    found = seen_for(window_call(part, bounds), request)
    if found is None:
        return
    seen, value = found
    yes_no = part.kind is PartKind.SHIPPED
    of = scope_of(part)
    if asks_else(part) and (known := _spoken_of(part, request, value)):
        _what_else(known, found, said, yes_no=yes_no)
        return
    if value.deploys:
        noun = "deploy" if value.total == 1 else "deploys"
        said.headlines.append(
            f"{'Yes: ' if yes_no else ''}{value.total} {noun}{of} {stretch(value)}"
        )
        for deploy in value.deploys[:LISTED]:
            said.claim(f"{full_name(deploy)} {shipped(deploy)}", seen)
        if rest := rest_of(value, LISTED):
            said.unknowns.append(rest)
        return
    told = f"o deploy{of} is on record {stretch(value)}"
    said.headlines.append(f"{'No: n' if yes_no else 'N'}{told}")
    said.claim(f"N{told}", seen)
    before = last_call(part.service, bounds.since, environment=part.environment)
    last = seen_for(before, request)
    if last is not None and last[1].deploys:
        deploy = last[1].deploys[0]
        said.claim(f"The last one before was {versioned(deploy)}", last[0])
        said.claim(f"{full_name(deploy)} {shipped(deploy)}", last[0])


def scope_of(part: Part) -> str:
    """`` of web to staging``: what a list of deploys is limited to."""
    of = f" of {part.service}" if part.service else ""
    return f"{of} to {part.environment}" if part.environment else of


def say_of_person(part: Part, request: Request, said: Said) -> None:
    """What somebody deployed, of the deploys that were listed: by a name that is a part of theirs."""
    call = search_for(part, request.question)
    found = seen_for(call, request) if call is not None else None
    if found is None or part.person is None:
        return
    seen, value = found
    own = [one for one in value.deploys if _is_of(part.person, one.actor)]
    newest = f"the newest {len(value.deploys)} deploys" if value.total > len(value.deploys) else ""
    if not own:
        searched = newest or f"the {value.total} deploys {stretch(value)}"
        said.unknowns.append(f"{part.words}: none of {searched} names such a person")
        return
    names = ", ".join(versioned(one) for one in own[:LISTED])
    said.headlines.append(f"{own[0].actor} deployed {names}")
    for one in own[:LISTED]:
        said.claim(f"{full_name(one)} {shipped(one)}", seen)
    if (left := len(own) - LISTED) > 0:
        said.unknowns.append(f"{left} more deploys by {part.person} are in the trace")
    if newest:
        said.unknowns.append(f"what {part.person} deployed before {newest}")


def _is_of(person: str, actor: str | None) -> bool:
    low = (actor or "").lower()
    return person in (low, *re.split(r"[^\w]|_", low))


def _spoken_of(part: Part, request: Request, value: DeploysFound) -> list[Deploy]:
    """Those of the deploys beside which others are asked for: the one that is named, else the first
    suspect.
    """
    asked, top = part.deploy.asked if part.deploy else None, top_suspect(request)
    return [
        one
        for one in value.deploys
        if (top is not None and one.id == top.id) or (asked is not None and goes_by(one, asked))
    ]


def _what_else(
    known: Sequence[Deploy], found: tuple[Seen, DeploysFound], said: Said, *, yes_no: bool
) -> None:
    """What went out beside the deploys that are known already."""
    seen, value = found
    others = [one for one in value.deploys if one not in known]
    if not others:
        lead = "No: only" if yes_no else "Only"
        said.headlines.append(f"{lead} {versioned(known[0])} is on record {stretch(value)}")
        for one in known:
            said.claim(f"{full_name(one)} {shipped(one)}", seen)
        return
    names = ", ".join(versioned(one) for one in others[:LISTED])
    said.headlines.append(f"{'Yes: ' if yes_no else ''}{names}, {stretch(value)}")
    for one in others[:LISTED]:
        said.claim(f"{full_name(one)} {shipped(one)}", seen)
    if rest := rest_of(value, LISTED + len(known)):
        said.unknowns.append(rest)
