"""What the rules model says about a known suspect: was it that one, is it fixed, what is the way back.

Pure. A yes/no question opens with the verdict. What is denied is denied in the tool's own words, or
with the ranking that put something else first.
"""

from __future__ import annotations

import re
from typing import assert_never

from bot.loop.entities import DeployRef
from bot.loop.part_kinds import PartKind
from bot.loop.question import Part
from bot.loop.wire import Request, Seen
from bot.models.rules_back import (
    ASKS_YES_NO,
    named_other,
    names_another,
    say_rollback,
    say_setting,
    say_undo,
)
from bot.models.rules_calls import ranking, top_suspect
from bot.models.rules_follow_plan import (
    counted_call,
    fix_of,
    goes_by,
    last_call,
    mends,
    named_call,
    seen_for,
    sure,
)
from bot.models.rules_live import say_live
from bot.models.rules_owner import say_owner
from bot.models.rules_window import say_window
from bot.models.rules_words import (
    Said,
    full_name,
    incident_name,
    name_of,
    say_record,
    shipped,
    span,
    telling,
    versioned,
    when,
)
from tools.records import (
    Confidence,
    DiffShown,
    FileStatus,
    LaterDeploy,
    Mending,
    Suspect,
    SuspectsRanked,
)

PLACES = ("first", "second", "third", "fourth", "fifth")
_PLAIN_REASONS = frozenset({"recent"})


def say(part: Part, request: Request, said: Said) -> None:
    """Add what the observations say to one part; nothing where they say nothing."""
    match part.kind:
        case PartKind.SHIPPED | PartKind.LISTING:
            say_window(part, request, said)
        case PartKind.MOVED:
            _moved(part, request, said)
        case PartKind.WHO_WHEN | PartKind.COMMIT:
            _counted(part, request, said)
        case PartKind.ROLLBACK if names_another(part, request):
            say_undo(part, request, said)
        case PartKind.WAS_IT | PartKind.FIX | PartKind.BEFORE_ONSET:
            _of_ranking(part, request, said)
        case PartKind.SETTING | PartKind.ROLLBACK:
            _of_ranking(part, request, said)
        case PartKind.CAUSE | PartKind.CHANGES:
            pass
        case PartKind.LIVE:
            say_live(part, request, said)
        case PartKind.OWNER:
            say_owner(part, request, said)
        case PartKind.INCIDENT | PartKind.INCIDENTS | PartKind.RUNNING | PartKind.FORWARD:
            pass
        case _:
            assert_never(part.kind)


def _of_ranking(part: Part, request: Request, said: Said) -> None:
    ranked = ranking(request)
    if ranked is None:
        return
    seen, value = ranked
    if part.kind is PartKind.BEFORE_ONSET:
        _before_onset(seen, value, said)
        return
    said.confidences.append(value.confidence)
    if not sure(value):
        no = "No: " if ASKS_YES_NO.search(part.text) or part.kind is PartKind.WAS_IT else ""
        said.headlines.append(f"{no}no deploy explains {incident_name(value.incident)}")
        why = f": {value.why_none}" if value.why_none else ""
        said.claim(f"No deploy explains {incident_name(value.incident)}{why}", seen)
        return
    if other := named_other(part, request, value):
        said.unknowns.append(
            f"{part.words}: I can judge only the first suspect, "
            f"{versioned(value.suspects[0].deploy)}, and not {other}"
        )
        return
    match part.kind:
        case PartKind.WAS_IT:
            _was_it(part, request, seen, value, said)
        case PartKind.FIX:
            _fix(part, request, seen, value, said)
        case PartKind.SETTING:
            say_setting(seen, value, said)
        case _:
            say_rollback(part, request, seen, value, said)


# --- was it that one -----------------------------------------------------------------------------


def _was_it(part: Part, request: Request, seen: Seen, value: SuspectsRanked, said: Said) -> None:
    asked = part.deploy.asked if part.deploy else None
    service = part.deploy.service if part.deploy else part.service
    if asked is None and service is None:
        return
    first = value.suspects[0]
    found = [
        (place, one)
        for place, one in enumerate(value.suspects)
        if (asked is None or goes_by(one.deploy, asked)) and service in (None, one.deploy.service)
    ]
    if found and found[0][0] == 0:
        sure_of_it = value.confidence in (Confidence.HIGH, Confidence.MEDIUM)
        lead = "Yes" if sure_of_it else "Possibly"
        likely = "most likely caused" if sure_of_it else "is the first suspect for"
        name = versioned(first.deploy)
        said.headlines.append(f"{lead}: {name} {likely} {incident_name(value.incident)}")
        said.claim(_reasons("Why it", first), seen)
        return
    lookup = seen_for(named_call(asked, service), request) if asked is not None else None
    named = found[0][1].deploy if found else None
    evidence = [seen]
    if named is None and lookup and len(lookup[1].deploys) == 1:
        named = lookup[1].deploys[0]
        evidence.append(lookup[0])
    if named is None:
        if asked is None:
            name = versioned(first.deploy)
            said.headlines.append(
                f"No: {name} ranks first, and no deploy of {service} is a suspect"
            )
            said.claim(_reasons(f"Why {name}", first), seen)
        elif lookup and not lookup[1].deploys:
            said.headlines.append(f"No: deploy {asked} does not exist")
            said.claim(f"There is no deploy {asked} in any source", lookup[0])
        return
    plain = named.ref == first.deploy.ref or not found
    told = name_of(named) if plain else versioned(named)
    said.headlines.append(
        f"No: {told} most likely did not cause it; {versioned(first.deploy)} ranks first"
    )
    said.claim(_reasons(f"Why {versioned(first.deploy)}", first), seen)
    if found:
        place, suspect = found[0]
        rank = PLACES[place] if place < len(PLACES) else "further down"
        said.claim(_reasons(f"{versioned(named)} ranks {rank}", suspect), seen)
        return
    ruled_out = next((r for r in value.ruled_out if _about(r, named.label)), None)
    if ruled_out:
        said.claim(ruled_out, seen)
    else:
        said.claim(f"{full_name(named)} {shipped(named)}", *evidence)


def _about(line: str, label: str) -> bool:
    return bool(re.search(rf"\bdeploy {re.escape(label)}\b", line))


def _reasons(lead: str, suspect: Suspect) -> str:
    told = [reason.text for reason in suspect.reasons if reason.name not in _PLAIN_REASONS]
    return f"{lead}: {'; '.join(told[:3]) or f'{span(suspect.before_onset)} before onset'}"


# --- is it fixed ---------------------------------------------------------------------------------


def _fix(part: Part, request: Request, seen: Seen, value: SuspectsRanked, said: Said) -> None:
    first = versioned(value.suspects[0].deploy)
    best = fix_of(part, request)
    asked = part.deploy.asked if part.deploy else None
    if asked is not None and best is None:
        said.unknowns.append(
            f"whether deploy {asked} fixed it: it is no later deploy of what could mend {first}"
        )
        if value.none_mends:
            said.headlines.append(_as_sentence(value.none_mends))
            said.claim(_as_sentence(value.none_mends), seen)
        return
    if best is None:
        _no_fix(request, seen, value, said)
        return
    yes_no = ASKS_YES_NO.search(part.text)
    name = versioned(best.deploy)
    if mends(best) and (asked is None or not _unsettled(best, value)):
        said.headlines.append(f"{'Yes: ' if yes_no else ''}{_mended(best)}")
    elif best.mending in (Mending.PARTLY, Mending.TAKES_BACK):
        lead = "Not fully: " if yes_no else ""
        said.headlines.append(f"{lead}{name} takes back only a part of it")
    elif best.mending is Mending.NOTHING:
        lead = "No: " if yes_no else ""
        said.headlines.append(f"{lead}{best.text}")
    else:
        lead = "Possibly: " if yes_no else ""
        said.headlines.append(f"{lead}{name} changes the same lines")
    said.claim(best.text, seen)
    after = span(best.after_onset)
    said.claim(f"{full_name(best.deploy)} {shipped(best.deploy)}, {after} after onset", seen)
    _what_it_changed(best, request, said)
    other = next((one for one in value.later if mends(one) and one is not best), None)
    if asked is not None and other is not None:
        said.claim(other.text, seen)


def _unsettled(later: LaterDeploy, value: SuspectsRanked) -> bool:
    """Whether the incident ended with another deploy than this one."""
    return not later.mended and any(one.mended for one in value.later)


def _mended(best: LaterDeploy) -> str:
    match best.mending:
        case Mending.ROLLED_BACK:
            return f"{versioned(best.deploy)} rolled it back"
        case Mending.TAKES_BACK:
            return f"{versioned(best.deploy)} takes it back in effect"
        case Mending.TOUCHES | Mending.PARTLY | Mending.NOTHING:
            return f"{versioned(best.deploy)} most likely made it work again"


def _no_fix(request: Request, seen: Seen, value: SuspectsRanked, said: Said) -> None:
    first = value.suspects[0].deploy
    none = value.none_mends or ""
    if not none:
        return
    said.headlines.append(f"No: {none}")
    said.claim(_as_sentence(none), seen)
    for one in value.later[:2]:
        said.claim(one.text, seen)
    last = seen_for(last_call(first.service, None), request)
    if last is not None and last[1].deploys:
        deploy = last[1].deploys[0]
        said.claim(f"The newest of {first.service} is {versioned(deploy)}", last[0])


def _as_sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _what_it_changed(best: LaterDeploy, request: Request, said: Said) -> None:
    for seen in request.seen:
        value = seen.value
        if isinstance(value, DiffShown) and value.deploy.id == best.deploy.id:
            told = "; ".join(telling(value)) or ", ".join(file.path for file in value.files[:3])
            if told:
                said.claim(f"{versioned(best.deploy)} changed: {told}", seen)
            return


# --- what went out, and where things were --------------------------------------------------------


def _before_onset(seen: Seen, value: SuspectsRanked, said: Said) -> None:
    if not value.suspects:
        return
    last = min(value.suspects, key=lambda one: one.before_onset)
    text = (
        f"{full_name(last.deploy)} was the last before it began, {span(last.before_onset)} before"
    )
    said.headlines.append(f"{text} onset")
    at = when(last.deploy.at, None)
    said.claim(
        f"{full_name(last.deploy)} finished {at}, {span(last.before_onset)} before onset", seen
    )


def _counted(part: Part, request: Request, said: Said) -> None:
    ref = part.deploy
    if (
        ref is not None
        and ref.service is None
        and ref.before is None
        and _shipped_first(part, ref, request, said)
    ):
        return
    call = counted_call(part, request)
    found = seen_for(call, request)
    if found is None:
        _not_named(ref, request, said)
        return
    seen, value = found
    wanted = int(str(call.arguments["limit"]))
    if len(value.deploys) < wanted:
        if value.deploys:
            oldest = value.deploys[-1]
            text = f"{versioned(oldest)} is the first deploy of {oldest.service} on record"
            said.headlines.append(text)
            said.claim(text, seen)
        return
    say_record(part, seen, value.deploys[wanted - 1], said)


def _shipped_first(part: Part, ref: DeployRef, request: Request, said: Said) -> bool:
    """``who shipped it?``: the first suspect's own record says so; where there is none, that."""
    ranked, top = ranking(request), top_suspect(request)
    if ranked is None:
        return False
    seen, value = ranked
    if top is None:
        said.confidences.append(Confidence.NONE)
        text = f"No deploy explains {incident_name(value.incident)}"
        said.headlines.append(text)
        said.claim(text, seen)
        return True
    if ref.before_cause:
        return False
    say_record(part, seen, top, said)
    return True


def _not_named(ref: DeployRef | None, request: Request, said: Said) -> None:
    """The deploy that another is counted from does not exist."""
    if ref is None or ref.before is None:
        return
    lookup = seen_for(named_call(ref.before, ref.service), request)
    if lookup is not None and not lookup[1].deploys:
        said.headlines.append(f"There is no deploy {ref.before}")
        said.claim(f"There is no deploy {ref.before} in any source", lookup[0])


def _moved(part: Part, request: Request, said: Said) -> None:
    for seen in request.seen:
        value = seen.value
        if not isinstance(value, DiffShown) or value.path is None:
            continue
        for file in value.files:
            if part.path is None or not _is_called(file.path, part.path):
                continue
            name = versioned(value.deploy)
            if file.previous_path is not None:
                text = f"{name} moved {file.previous_path} to {file.path}"
                said.headlines.append(f"It was {file.previous_path} before: {name} moved it")
            elif file.status is FileStatus.ADDED:
                text = f"{name} added {file.path}"
                said.headlines.append(f"{file.path} is new in {name}")
            else:
                text = f"{name} left {file.path} where it was ({file.status.value})"
                said.headlines.append(f"{file.path} stood in the same place before {name}")
            said.claim(text, seen)
            return


def _is_called(path: str, asked: str) -> bool:
    """Whether a path is what was asked for, whole or by its last components."""
    return path == asked or path.endswith(f"/{asked.lstrip('/')}")
