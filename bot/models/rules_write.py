"""What the rules model answers: sentences made from structured observations, each with its evidence.

Pure. Reads values, never prose; says less rather than more. It is held to the goal check like any
model, so every fact below comes from the observation that it cites.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from bot.loop.outcome import AnswerArguments
from bot.loop.question import Part, PartKind
from bot.loop.wire import Request, Seen
from bot.models.rules_back import ASKS_YES_NO
from bot.models.rules_calls import diff_seen, ranking, top_suspect
from bot.models.rules_diff import (
    commits_claim,
    diff_claim,
    files_claim,
    headline_change,
    names_claim,
    tells_code,
    told_change,
)
from bot.models.rules_follow import say
from bot.models.rules_follow_plan import counted, seen_for
from bot.models.rules_nothing import say_nothing
from bot.models.rules_plan import diff_for, search_for
from bot.models.rules_records import say_records, say_which
from bot.models.rules_window import say_of_person, scope_of
from bot.models.rules_words import (
    Said,
    absent_or_many,
    full_name,
    incident_name,
    is_bump,
    name_of,
    rest_of,
    say_record,
    shipped,
    span,
    stretch,
    when,
)
from tools.base import Status
from tools.records import (
    Confidence,
    Deploy,
    DeploysFound,
    DiffShown,
    Direction,
    IncidentsFound,
    Suspect,
    SuspectsRanked,
)

NOT_READ = "I did not understand this part; ask it by itself, in other words"
NO_JUDGE = "Whether it is safe to roll forward stays open"
"""Said without a denial: no evidence could show one."""
_TOLD_ALREADY = frozenset({"recent"})
"""Reasons that the sentence about the time says, or that say little."""
ENOUGH = 3
"""So many changed settings and signatures tell what a change is about."""
_TOLD_TOGETHER = frozenset(
    {
        *(PartKind.WHO_WHEN, PartKind.COMMIT, PartKind.RUNNING),
        *(PartKind.LISTING, PartKind.SHIPPED, PartKind.ROLLBACK, PartKind.INCIDENT),
    }
)
"""Parts that ask the same of several deploys or services open with all of it."""
_TOLD_BESIDE: Mapping[PartKind, frozenset[PartKind]] = {
    PartKind.CAUSE: frozenset({PartKind.WHO_WHEN}),
    PartKind.FORWARD: frozenset({PartKind.CHANGES}),
    PartKind.WHO_WHEN: frozenset({PartKind.OWNER}),
    PartKind.OWNER: frozenset({PartKind.WHO_WHEN}),
}
"""Parts of other kinds that open an answer together."""
LONGEST_HEADLINE = 300
LISTED = 6
"""Deploys of a listing that are named one by one."""


def write(request: Request) -> AnswerArguments:
    """The answer to every part that the observations speak to; the rest is listed as unknown."""
    said = Said()
    parts = sorted(request.question.parts, key=lambda p: p.kind is not PartKind.CAUSE)
    headlines: list[tuple[PartKind, str]] = []
    for part in parts:
        if part.unread:
            said.unknowns.append(f"{part.words}: {part.unread}"[:300])
            if part.kind is PartKind.FORWARD:
                headlines.append((part.kind, NO_JUDGE))
                said.confidences.append(Confidence.LOW)
            continue
        opened = len(said.headlines)
        before, told = len(said.claims), len(said.unknowns)
        match part.kind:
            case PartKind.CAUSE:
                _cause(part, request, said)
            case PartKind.CHANGES:
                _changes(part, request, said)
            case PartKind.WHO_WHEN | PartKind.COMMIT if not counted(part):
                _who(part, request, said)
            case PartKind.INCIDENT | PartKind.INCIDENTS | PartKind.RUNNING:
                say_records(part, request, said)
            case PartKind.LISTING if part.person is not None:
                say_of_person(part, request, said)
            case PartKind.LISTING if part.around is None:
                _listing(part, request, said)
            case _:
                say(part, request, said)
                if ranking(request) is None and not said.claims:
                    _which_incident(request, said)
        headlines += [(part.kind, line) for line in said.headlines[opened:][:1]]
        silent = (len(said.claims), len(said.unknowns)) == (before, told)
        if silent and not _covered(part, request, said):
            said.unknowns.append(f"{part.words}{_why_not(request)}"[:300])
    said.unknowns += [f"“{clause[:200]}”: {NOT_READ}" for clause in request.question.unread]
    if not request.question.parts:
        said.unknowns.append(say_nothing(request.question))
    return AnswerArguments(
        headline=_headline(headlines)[:400],
        claims=tuple(said.claims[:12]),
        unknowns=tuple(dict.fromkeys(said.unknowns))[:8],
        confidence=_confidence(said),
    )


def _headline(told: list[tuple[PartKind, str]]) -> str:
    """What is told of the first part, with what is told of others like it where each is a fact."""
    if not told:
        return "I found nothing that answers this."
    first, line = told[0]
    for kind, other in told[1:]:
        together = kind is first and kind in _TOLD_TOGETHER
        beside = kind in _TOLD_BESIDE.get(first, ())
        if (together or beside) and other not in line and len(line) + len(other) < LONGEST_HEADLINE:
            line += f"; {other}"
    return line


def _confidence(said: Said) -> Confidence:
    """The lowest that a ranking gave; plain look-ups are certain; nothing said is none."""
    if not said.claims:
        return Confidence.NONE
    if said.confidences:
        return min(said.confidences, key=lambda c: c.rank)
    return Confidence.HIGH


# --- the cause -----------------------------------------------------------------------------------


def _cause(part: Part, request: Request, said: Said) -> None:
    ranked = ranking(request)
    if ranked is None:
        _which_incident(request, said)
        return
    seen, value = ranked
    said.confidences.append(value.confidence)
    incident = incident_name(value.incident)
    if value.confidence is Confidence.NONE or not value.suspects:
        _no_cause(part, seen, value, said)
        return
    first = value.suspects[0]
    deploy = first.deploy
    diff = diff_seen(deploy, request)
    words = _words_of(first)
    lined = Said()
    what = told_change(seen, diff[1], value.lines, words, lined) if diff else ""
    likely = {
        Confidence.HIGH: "most likely caused",
        Confidence.MEDIUM: "most likely caused",
    }.get(value.confidence, "is the first suspect for")
    lead = ""
    if ASKS_YES_NO.search(part.text):
        lead = "Yes: " if value.confidence.rank >= Confidence.MEDIUM.rank else "Possibly: "
    joint = "; " if lined.claims else ": "  # a line of a ranking stands by itself in the evidence
    said.headlines.append(f"{lead}{name_of(deploy)} {likely} {incident}{what and joint + what}")
    at = when(deploy.at, value.onset)
    said.claim(f"{full_name(deploy)} finished {at}, {span(first.before_onset)} before onset", seen)
    said.claims += lined.claims
    telling = [reason.text for reason in first.reasons if reason.name not in _TOLD_ALREADY]
    if telling:
        said.claim(f"Why it: {'; '.join(telling[:2])}", seen)
    if diff:
        diff_claim(*diff, said, words)
        if not tells_code(diff[1], words):
            files_claim(*diff, said)
            names_claim(*diff, said)
    if len(value.suspects) > 1:
        second = value.suspects[1]
        why = second.reasons[0].text if second.reasons else "ranked second"
        said.claim(f"Runner-up: {name_of(second.deploy)}, {why}", seen)
    if value.next_action and value.confidence.rank >= Confidence.MEDIUM.rank:
        said.claim(value.next_action.text, seen)


def _no_cause(part: Part, seen: Seen, value: SuspectsRanked, said: Said) -> None:
    no = "No: no" if ASKS_YES_NO.search(part.text) else "No"
    said.headlines.append(f"{no} deploy explains {incident_name(value.incident)}")
    if not value.considered:
        said.claim(f"No deploy explains {value.incident.id}: none before onset is on record", seen)
        said.unknowns.append("what was deployed before it: no change before onset is on record")
        return
    said.claim(
        f"None of the {value.considered} changes before onset ({when(value.onset, None)}) is "
        "shown to be its cause",
        seen,
    )
    if value.suspects:
        nearest = min(value.suspects, key=lambda s: s.before_onset)
        said.claim(
            f"The nearest before it is {name_of(nearest.deploy)}, "
            f"{when(nearest.deploy.at, value.onset)}, {span(nearest.before_onset)} before onset; "
            "nothing in it matches the symptom",
            seen,
        )


def _which_incident(request: Request, said: Said) -> None:
    for seen in request.seen:
        if isinstance(seen.value, IncidentsFound):
            said.confidences.append(Confidence.NONE)
            say_which(seen, seen.value, said)
            return


# --- what changed --------------------------------------------------------------------------------


def _changes(part: Part, request: Request, said: Said) -> None:
    found = diff_for(part, request)
    if found is not None:
        diff = found[1]
        if part.environment and part.environment != diff.deploy.environment:
            where = diff.deploy.environment
            said.unknowns.append(f"{part.words} in {part.environment}: it is a deploy to {where}")
            return
        if not said.headlines:
            change = headline_change(diff) or _size(diff)
            said.headlines.append(f"{full_name(diff.deploy)}: {change}")
        diff_claim(found[0], diff, said)
        if not any(p.kind is PartKind.CAUSE for p in request.question.parts):
            files_claim(found[0], diff, said)
            if len([h for h in diff.highlights if not is_bump(h)]) < ENOUGH:
                names_claim(found[0], diff, said)
            commits_claim(found[0], diff, said)
        return
    asked = part.deploy.asked if part.deploy else None
    for seen in request.seen:
        value = seen.value
        if isinstance(value, DeploysFound) and asked and value.asked_deploy == asked:
            absent_or_many(asked, seen, value, said)
            return


def _size(diff: DiffShown) -> str:
    if diff.direction is Direction.FIRST:
        return f"the first deploy of {diff.deploy.service} to {diff.deploy.environment} on record"
    return f"{diff.files_total} {'file' if diff.files_total == 1 else 'files'} changed"


def _words_of(suspect: Suspect) -> frozenset[str]:
    """The incident's words that the tool found in the changed lines."""
    found = (re.findall(r"`([^`]+)`", reason.text) for reason in suspect.reasons)
    return frozenset(word.lower() for words in found for word in words)


# --- who and when, and what went out -------------------------------------------------------------


def _who(part: Part, request: Request, said: Said) -> None:
    found = _deploy_for(part, request)
    if found is None:
        asked = part.deploy.asked if part.deploy else None
        for seen in request.seen:
            value = seen.value
            if isinstance(value, DeploysFound) and asked and value.asked_deploy == asked:
                absent_or_many(asked, seen, value, said)
                return
            if isinstance(value, DeploysFound) and _made_for(part, request, seen):
                service = part.deploy.service if part.deploy else part.service
                said.headlines.append(f"There is no deploy of {service} on record")
                said.claim(f"There is no deploy of {service} on record", seen)
                return
        return
    say_record(part, *found, said)


def _deploy_for(part: Part, request: Request) -> tuple[Seen, Deploy] | None:
    ref = part.deploy
    if ref is None and (wanted := search_for(part, request.question)) is not None:
        last = seen_for(wanted, request)
        return (last[0], last[1].deploys[0]) if last and last[1].deploys else None
    if ref is None:
        ranked, top = ranking(request), top_suspect(request)
        return (ranked[0], top) if ranked and top else None
    for seen in request.seen:
        value = seen.value
        if isinstance(value, DeploysFound) and _made_for(part, request, seen):
            of_it = [d for d in value.deploys if ref.service in (None, d.service)]
            if ref.asked is not None and len(of_it or value.deploys) == 1:
                return seen, (of_it or value.deploys)[0]
            if ref.asked is None and len(value.deploys) >= ref.ordinal:
                return seen, value.deploys[ref.ordinal - 1]
    return None


def _made_for(part: Part, request: Request, seen: Seen) -> bool:
    wanted = search_for(part, request.question)
    return wanted is not None and seen.asked == wanted.raw


def _listing(part: Part, request: Request, said: Said) -> None:
    for seen in request.seen:
        value = seen.value
        if not (isinstance(value, DeploysFound) and _made_for(part, request, seen)):
            continue
        scope = scope_of(part)
        if not value.deploys:
            said.headlines.append(f"Nothing was deployed{scope} {stretch(value)}")
            said.claim(f"No deploy{scope} is on record {stretch(value)}", seen)
            return
        noun = "deploy" if value.total == 1 else "deploys"
        said.headlines.append(f"{value.total} {noun}{scope} {stretch(value)}")
        for deploy in value.deploys[:LISTED]:
            said.claim(f"{full_name(deploy)} {shipped(deploy)}", seen)
        if rest := rest_of(value, LISTED):
            said.unknowns.append(rest)
        return


# --- words ---------------------------------------------------------------------------------------


def _covered(part: Part, request: Request, said: Said) -> bool:
    """Whether the claims of an earlier part answer this one as well."""
    cited = {e for claim in said.claims for e in claim.evidence}
    match part.kind:
        case PartKind.CHANGES:
            found = diff_for(part, request)
            ranked = ranking(request)
            none = ranked is not None and ranked[1].confidence is Confidence.NONE
            asking = any(isinstance(s.value, IncidentsFound) for s in request.seen)
            return (found is not None and found[0].id in cited) or (
                part.deploy is None and (none or asking) and bool(cited)
            )
        case PartKind.WHO_WHEN | PartKind.COMMIT:
            found_deploy = _deploy_for(part, request)
            return found_deploy is not None and found_deploy[0].id in cited
        case _:
            return False


def _why_not(request: Request) -> str:
    """The tool's own words, where a call failed."""
    failed = [seen.summary for seen in request.seen if seen.status is Status.ERROR]
    return f": {failed[-1]}" if failed else ""
