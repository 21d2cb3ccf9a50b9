"""Calls that the rules model makes, and what it looks up in its observations. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from bot.loop.clauses import readable
from bot.loop.part_kinds import PartKind
from bot.loop.question import Part, Question
from bot.loop.wire import Request, Seen
from tools.records import Confidence, Deploy, DeploysFound, DiffShown, SuspectsRanked

_ASKING = re.compile(
    r"\b(?:(?:which|what) commits?|which|what|who|whose|when|why|how|did|does|do|is|are|was|were|has"
    r"|have|had|been|be|it|its|that|this|these|those|the|a|an|of|in|on|at|to|for|and|or|but|we|our|us|i|my|you|your|me|can"
    r"|could|please|tell|caus\w+|broke|behind|responsible|culprit|root|service|services|deploys?"
    r"|deployments?|releases?|changes?|changed|blame|one|about|something|since|there|so|then|here"
    r"|exactly|really|actually|files?|lines?|numbers?|pls|plz|thanks|thx|hey|hi|guys|anyone|awake|happene?d|tldr|tl|dr|summary|recap"
    r"|sitrep|wtf|any|ideas?|clues?|wat|sure|confident)\b",
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


def diff_call(deploy: Deploy, why: str) -> Wanted:
    return Wanted("get_diff", {"deploy": deploy.label, "service": deploy.service}, why)


def by_name(asked: str, service: str | None, request: Request) -> dict[str, JsonValue]:
    """How a deploy is looked up. A number alone is enough, unless several services have it: then
    the service counts. A service that is wrong must not hide the deploy.
    """
    several = any(
        isinstance(seen.value, DeploysFound)
        and seen.value.asked_deploy == asked
        and seen.value.total > 1
        for seen in request.seen
    )
    if service is None or (asked.isdigit() and not several):
        return {"deploy": asked}
    return {"deploy": asked, "service": service}


def ranking(request: Request) -> tuple[Seen, SuspectsRanked] | None:
    """The newest ranking of suspects, with the observation that holds it."""
    for seen in reversed(request.seen):
        if isinstance(seen.value, SuspectsRanked):
            return seen, seen.value
    return None


def diff_seen(deploy: Deploy, request: Request) -> tuple[Seen, DiffShown] | None:
    """The diff of a deploy, with the observation that holds it."""
    for seen in request.seen:
        if isinstance(seen.value, DiffShown) and seen.value.deploy.id == deploy.id:
            return seen, seen.value
    return None


def top_suspect(request: Request) -> Deploy | None:
    """The first suspect, if the tool has any confidence in it."""
    ranked = ranking(request)
    if ranked is None or ranked[1].confidence is Confidence.NONE or not ranked[1].suspects:
        return None
    return ranked[1].suspects[0].deploy


def incident_words(part: Part, question: Question) -> str:
    """What to look an incident up by: its id, else the words that describe it."""
    if part.incident:
        return part.incident
    text = readable(question.text)
    for other in question.parts:
        if other.kind is not PartKind.CAUSE:
            text = text.replace(other.text, " ")
    words = re.sub(r"\s+", " ", _ASKING.sub(" ", text)).strip(" ,.?!;:")
    words = re.sub(r"\s+([,.?!;:])", r"\1", words)[:300]
    return words or "latest incident"
