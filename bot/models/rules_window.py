"""What the rules model says of a span of time: what was deployed in it, and what else.

Pure. A yes/no question opens with the verdict.
"""

from __future__ import annotations

import re

from bot.loop.part_kinds import PartKind
from bot.loop.question import Part
from bot.loop.wire import Request, Seen
from bot.models.rules_calls import top_suspect
from bot.models.rules_follow_plan import last_call, seen_for, window_call, window_of
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
    of = f" of {part.service}" if part.service else ""
    else_asked = re.search(r"\belse\b", part.text, re.IGNORECASE)
    if else_asked and (top := _cause_in(request, value)) and (yes_no or value.total == 1):
        _what_else(top, found, said, yes_no=yes_no)
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
    last = seen_for(last_call(part.service, bounds.since), request)
    if last is not None and last[1].deploys:
        deploy = last[1].deploys[0]
        said.claim(f"The last one before was {versioned(deploy)}", last[0])
        said.claim(f"{full_name(deploy)} {shipped(deploy)}", last[0])


def _cause_in(request: Request, value: DeploysFound) -> Deploy | None:
    """The first suspect, where it is one of these deploys."""
    top = top_suspect(request)
    return top if top is not None and any(one.id == top.id for one in value.deploys) else None


def _what_else(top: Deploy, found: tuple[Seen, DeploysFound], said: Said, *, yes_no: bool) -> None:
    """What went out beside the first suspect."""
    seen, value = found
    others = [one for one in value.deploys if one.id != top.id]
    if not others:
        lead = "No: only" if yes_no else "Only"
        said.headlines.append(f"{lead} {versioned(top)} is on record {stretch(value)}")
        said.claim(f"{full_name(top)} {shipped(top)}", seen)
        return
    names = ", ".join(versioned(one) for one in others[:LISTED])
    said.headlines.append(f"Yes: {names}")
    for one in (*others[:LISTED], top):
        said.claim(f"{full_name(one)} {shipped(one)}", seen)
    if rest := rest_of(value, LISTED + 1):
        said.unknowns.append(rest)
