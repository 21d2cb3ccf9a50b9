"""What the rules model says to "is 5.12.0 live?": whether it was deployed there last, or what was.

Pure. Deploy records tell what went out last, and nothing is said to run that only was deployed.
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.loop.question import Part
from bot.loop.wire import Request, Seen
from bot.models.rules_follow_plan import live_call, named_call, named_deploys, seen_for
from bot.models.rules_words import (
    ENDED,
    NOT_THE_MACHINES,
    Said,
    absent_or_many,
    full_name,
    shipped,
    versioned,
    when,
)
from tools.records import Deploy, DeploysFound


def say_live(part: Part, request: Request, said: Said) -> None:
    if part.deploy is None or part.deploy.asked is None:
        return
    lookup = seen_for(named_call(part.deploy.asked, part.deploy.service), request)
    if lookup is None:
        return
    named = named_deploys(part, request)
    if not named:
        absent_or_many(part.deploy.asked, *lookup, said)
        return
    found = seen_for(live_call(named[0].service, part), request)
    if found is None:
        return
    where = part.environment or "production"
    listed = {(one.id, one.environment) for one in found[1].deploys}
    there = [
        one for one in named if (one.id, one.environment) in listed or one.environment == where
    ]
    last = next((one for one in found[1].deploys if one.status in ENDED), None)
    one = next((each for each in there if each.status in ENDED), (there or named)[0])
    said.headlines.append(_verdict(one, last, there, found[1].deploys, where))
    both = (lookup[0], found[0]) if one == last else (lookup[0],)
    said.claim(f"{full_name(one)} {shipped(one)}", *both)
    if not there:
        said.claim(f"{full_name(one)} was a deploy to {one.environment}", lookup[0])
    if one != last:
        _say_last(one, last, found, where, said)
    said.unknowns.append(NOT_THE_MACHINES)


def _verdict(
    one: Deploy,
    last: Deploy | None,
    there: Sequence[Deploy],
    all_there: Sequence[Deploy],
    where: str,
) -> str:
    """The answer in a sentence: what was asked for is the last one there, or what is instead."""
    if last is not None and (last in there or _same_version(one, last)):
        return f"Yes: {versioned(last)} is the last successful deploy to {where}{_since(last)}"
    if last is None and not there:
        if not all_there:
            return f"No: no deploy of {one.service} to {where} is on record"
        return f"{versioned(one)} was a deploy to {one.environment}"
    if one.status not in ENDED or last is None:
        return f"{full_name(one)} {shipped(one)}"
    instead = f"The last successful deploy to {where} is {versioned(last)}"
    if not there:
        return f"{instead}; {versioned(one)} was a deploy to {one.environment}"
    return f"{instead}{_since(last)}; {versioned(one)} went out before it"


def _since(last: Deploy) -> str:
    return f", since {when(last.at, None)}" if last.at else ""


def _same_version(one: Deploy, other: Deploy) -> bool:
    same_ref = one.ref is not None and one.ref == other.ref
    return same_ref or (one.sha is not None and one.sha == other.sha)


def _say_last(
    one: Deploy, last: Deploy | None, found: tuple[Seen, DeploysFound], where: str, said: Said
) -> None:
    if not found[1].deploys:
        said.claim(f"No deploy of {one.service} to {where} is on record", found[0])
    elif last is None:
        said.unknowns.append(
            f"which version of {one.service} is live: none of its last deploys succeeded"
        )
    else:
        said.claim(f"{full_name(last)} {shipped(last)}", found[0])
