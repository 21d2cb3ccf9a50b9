"""What the rules model says of the way back: rolling back, its safety, and the setting that undoes.

Pure. Judges only the first suspect: what a question names beside it is said not to be judged.
"""

from __future__ import annotations

import re

from bot.loop.question import Part, PartKind
from bot.loop.wire import Request, Seen
from bot.models.rules_follow_plan import goes_by
from bot.models.rules_words import Said, telling, versioned
from tools.records import DiffShown, SuspectsRanked

ASKS_YES_NO = re.compile(
    r"^\W*(?:was|were|is|are|has|have|had|did|does|do|could|can)\b", re.IGNORECASE
)
_ROLLED = re.compile(
    r"\broll\w*[ -]?back\s+(?:the\s+|deploy\s+)?#?([\w-]+)"
    r"|\b(?:was|is|has|were)\s+(?:the\s+|deploy\s+)?#?([\w-]+)\s+(?:been\s+)?(?:rolled|reverted)",
    re.IGNORECASE,
)


def named_other(part: Part, request: Request, value: SuspectsRanked) -> str | None:
    """What a question about rolling back or fixing names, where that is not the first suspect."""
    first = value.suspects[0].deploy
    asked = part.deploy.asked if part.deploy else None
    match part.kind:
        case PartKind.ROLLBACK if asked is not None:
            return None if goes_by(first, asked) else f"deploy {asked}"
        case PartKind.ROLLBACK | PartKind.FIX if found := _ROLLED.search(part.text):
            named = (found[1] or found[2]).lower()
            if named.isdigit():
                return None if goes_by(first, named) else f"deploy {named}"
            service = request.question.catalog.get(named)
            return service if service not in (None, first.service) else None
        case _:
            return None


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
    if not ASKS_YES_NO.search(part.text):
        said.headlines.append(action.text)
    if action.unsafe:
        said.headlines.append(f"No: {action.unsafe[0]}")
        for line in action.unsafe:
            said.claim(line[:1].upper() + line[1:], seen)
    else:
        said.headlines.append(f"Yes, as far as its diff shows: {action.safety}")
        said.claim(action.safety[:1].upper() + action.safety[1:], seen)
    for diff in request.seen:
        shown = diff.value
        if isinstance(shown, DiffShown) and shown.deploy.id == first.id:
            lost = telling(shown) or [f"“{commit.subject}”" for commit in shown.commits[:3]]
            if lost:
                said.claim(f"A rollback of {versioned(first)} would undo: {'; '.join(lost)}", diff)
            break
    said.claim(action.text, seen)
