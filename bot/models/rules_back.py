"""What the rules model says of the way back: rolling back, its safety, and the setting that undoes.

Pure. The first suspect is judged by its ranking, another deploy by its diff and by what came after it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.loop.question import Part, PartKind
from bot.loop.wire import Request, Seen
from bot.models.rules_calls import diff_seen, ranking, top_suspect
from bot.models.rules_follow_plan import (
    goes_by,
    seen_for,
    since_call,
    sure,
    to_undo,
    undo_lookup,
)
from bot.models.rules_words import (
    Said,
    absent_or_many,
    full_name,
    incident_name,
    shipped,
    telling,
    versioned,
)
from tools.records import (
    Confidence,
    Deploy,
    DeploysFound,
    DeployStatus,
    DiffShown,
    Direction,
    FileKind,
    SuspectsRanked,
)

ASKS_YES_NO = re.compile(
    r"^\W*(?:was|were|is|are|has|have|had|did|does|do|could|can)\b", re.IGNORECASE
)
_IMPERATIVE = re.compile(r"^\W*(?:please |pls |just )?(?:roll|revert|undo)", re.IGNORECASE)
_ROLLED = re.compile(
    r"\broll\w*[ -]?back\s+(?:the\s+|deploy\s+)?#?([\w-]+)"
    r"|\b(?:was|is|has|were)\s+(?:the\s+|deploy\s+)?#?([\w-]+)\s+(?:been\s+)?(?:rolled|reverted)",
    re.IGNORECASE,
)
_CAME_TO_NOTHING = frozenset({DeployStatus.FAILURE, DeployStatus.CANCELLED})


def named_other(part: Part, request: Request, value: SuspectsRanked) -> str | None:
    """What a question about a fix names as rolled back, where that is not the first suspect."""
    first = value.suspects[0].deploy
    found = _ROLLED.search(part.text) if part.kind is PartKind.FIX else None
    if found is None:
        return None
    named = (found[1] or found[2]).lower()
    if named.isdigit():
        return None if goes_by(first, named) else f"deploy {named}"
    service = request.question.catalog.get(named)
    return service if service not in (None, first.service) else None


def say_setting(seen: Seen, value: SuspectsRanked, said: Said) -> None:
    first = versioned(value.suspects[0].deploy)
    for one in value.switches[:2]:
        others = " or ".join(f"`{other}`" for other in one.others[:3])
        if others and not said.headlines:
            said.headlines.append(
                f"`{one.name}`: {first} sets it to `{one.default}`, else {others}"
            )
        variable = f" (`{one.variable}`)" if one.variable else ""
        default = f", by default `{one.default}`" if one.default else ""
        also = f"; it can be {others}" if others else ""
        said.claim(f"{first} brings the setting `{one.name}`{variable}{default}{also}", seen)
    if value.switches and not said.headlines:
        said.headlines.append(f"{first} brings the setting `{value.switches[0].name}`")
    if not value.switches:
        said.unknowns.append(f"which setting brings the old behaviour back: {first} shows none")


def say_rollback(
    part: Part, request: Request, seen: Seen, value: SuspectsRanked, said: Said
) -> None:
    action = value.next_action
    first = value.suspects[0].deploy
    if action is None:
        return
    _run_by_a_person(part, said)
    if not ASKS_YES_NO.search(part.text):
        said.headlines.append(action.text)
    if action.unsafe:
        said.headlines.append(f"No: {action.unsafe[0]}")
        for line in action.unsafe:
            said.claim(line[:1].upper() + line[1:], seen)
    else:
        said.headlines.append(f"Yes, as far as its diff shows: {action.safety}")
        said.claim(action.safety[:1].upper() + action.safety[1:], seen)
    if (diff := diff_seen(first, request)) is not None:
        _undone(*diff, said)
    said.claim(action.text, seen)


def names_another(part: Part, request: Request) -> bool:
    """Whether a deploy is named to be rolled back that is not the first suspect."""
    top = top_suspect(request)
    return part.deploy is not None and (top is None or to_undo(part, request) != top)


def say_undo(part: Part, request: Request, said: Said) -> None:
    """Whether a deploy beside the first suspect can be rolled back, as far as records and diff show."""
    deploy = to_undo(part, request)
    if deploy is None:
        _not_one(part, request, said)
        return
    _run_by_a_person(part, said)
    lookup, name = undo_lookup(part), versioned(deploy)
    if lookup is not None and (found := seen_for(lookup, request)):
        said.claim(f"{full_name(deploy)} {shipped(deploy)}", found[0])
    since = seen_for(since_call(deploy), request) if deploy.at is not None else None
    diff = diff_seen(deploy, request)
    against = [*_built_on(deploy, since, said), *_lost_by_it(diff, said)]
    if against:
        said.headlines.append(f"Unsafe to roll back {name}; {against[0]}")
        said.confidences.append(Confidence.HIGH)
    elif since is None or diff is None or diff[1].files_total > len(diff[1].files):
        said.unknowns.append(f"{part.words}: not all that it changed could be read")
    else:
        can = f"As far as its diff shows, {name} can be rolled back"
        why = f": it is the newest of {deploy.service}"
        ranked = _ranked_otherwise(request, said)
        said.headlines.append(f"{can}; {ranked}" if ranked else f"{can}{why}")
        if kinds := dict.fromkeys(file.kind.value for file in diff[1].files):
            said.claim(f"{name} changed files of these kinds alone: {', '.join(kinds)}", diff[0])
        said.confidences.append(Confidence.MEDIUM)
        said.unknowns.append(
            f"whether that would help: {name} is not known to have caused anything"
        )
    if diff is not None:
        _undone(*diff, said)
        if diff[1].base is not None:
            said.claim(f"The version before it is {versioned(diff[1].base)}", diff[0])


def _ranked_otherwise(request: Request, said: Said) -> str:
    """What the incident's ranking says of a deploy that it does not put first; empty without one."""
    ranked = ranking(request)
    if ranked is None:
        return ""
    seen, value = ranked
    said.confidences.append(value.confidence)
    if not sure(value):
        none = f"o deploy explains {incident_name(value.incident)}"
        said.claim(f"N{none}{f': {value.why_none}' if value.why_none else ''}", seen)
        return f"n{none}"
    first = versioned(value.suspects[0].deploy)
    said.claim(f"{first} ranks first for {incident_name(value.incident)}", seen)
    return f"{first} ranks first"


def _built_on(deploy: Deploy, since: tuple[Seen, DeploysFound] | None, said: Said) -> Iterator[str]:
    for one in since[1].deploys if since else ():
        if since and one.id != deploy.id and one.status not in _CAME_TO_NOTHING:
            said.claim(f"{full_name(one)} {shipped(one)}", since[0])
            yield f"{versioned(one)} came after it and would go as well"


def _lost_by_it(diff: tuple[Seen, DiffShown] | None, said: Said) -> Iterator[str]:
    if diff is None:
        return
    seen, shown = diff
    if shown.direction is Direction.FIRST:
        first = f"is the first of {shown.deploy.service} to {shown.deploy.environment} on record"
        said.claim(f"{versioned(shown.deploy)} {first}", seen)
        yield f"it {first}"
    for file in shown.files:
        if file.kind is FileKind.MIGRATION:
            said.claim(f"{versioned(shown.deploy)} changed a migration: {file.path}", seen)
            yield f"it changed a migration, {file.path}"


def _not_one(part: Part, request: Request, said: Said) -> None:
    """The deploy that is named does not exist, or several go by that name."""
    lookup = undo_lookup(part)
    found = seen_for(lookup, request) if lookup is not None else None
    if found is None:
        return
    if part.deploy is not None and part.deploy.asked is not None:
        absent_or_many(part.deploy.asked, *found, said)
    elif part.deploy is not None:
        said.headlines.append(f"There is no deploy of {part.deploy.service} on record")
        said.claim(f"There is no deploy of {part.deploy.service} on record", found[0])


def _undone(seen: Seen, diff: DiffShown, said: Said) -> None:
    lost = telling(diff) or [f"“{commit.subject}”" for commit in diff.commits[:3]]
    if lost:
        said.claim(f"A rollback of {versioned(diff.deploy)} would undo: {'; '.join(lost)}", seen)


def _run_by_a_person(part: Part, said: Said) -> None:
    if _IMPERATIVE.search(part.text):
        said.unknowns.append("running the rollback: I only read, a person has to run it")
