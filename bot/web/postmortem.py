"""A run as a Markdown postmortem to copy: what is known, when, from which observation (M18).

Owns the sections and their words. Everything comes from the journal; what nobody established is left
as a line to fill in, never guessed. Other people's words, names of services and ids of incidents among
them, stay on one line and lose their markup, but for what they put in backticks. What a diff shows is a
span of code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import assert_never

from bot.loop.outcome import Answer, Failure, Proposal, plain
from bot.runs.records import RunRecord
from bot.runs.reply_text import mark
from tools.base import ToolResult
from tools.records import Deploy, DeploysFound, DiffShown, Incident, IncidentsFound, SuspectsRanked

Result = tuple[str, str, ToolResult]
"""An observation: its id, its tool, what it returned."""

# CommonMark 6.1: a backtick that does not close opens nothing, so what no pair holds is escaped.
_CODE = re.compile(r"(?<!`)(`[^`]+`)(?!`)")
_MARKUP = re.compile(r"[\[\]<>#*_|~`\\]")
# CommonMark 5.2: what would make a list or a rule of a line.
_OPENING = re.compile(r"\A(?:\d{1,9}(?=[.)](?: |\Z))|(?=[-+=]))")
# What a reader cannot see: control characters, and those that turn the order of letters around.
_UNSEEN = re.compile(
    r"[\x00-\x08\x0e-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]"
)


def postmortem(run: RunRecord, results: Sequence[Result], link: str) -> str:
    """The whole document. ``link`` is the trace's own address."""
    lines = [
        *_title(results),
        "",
        "## Summary",
        *_summary(run),
        "",
        "## Timeline (UTC)",
        *_timeline(run, results),
        "",
        "## Cause",
        *_cause(results),
        "",
        "## What changed",
        *_changes(results),
        "",
        "## Not known",
        *_gaps(run),
        "",
        "## Actions",
        "- [ ] (fill in: owner, due date)",
        "",
        "## Evidence",
        *[f"- [{mark(name)}] {tool}: {_line(result.summary)}" for name, tool, result in results],
        f"- Trace: {link}",
    ]
    return "\n".join(lines) + "\n"


def _title(results: Sequence[Result]) -> list[str]:
    incident = _incident(results)
    if incident is None:
        return ["# Postmortem: (fill in the incident)"]
    severity = (f"severity {_line(incident.severity)}",) if incident.severity else ()
    services = ", ".join(incident.services)
    return [
        f"# Postmortem: {_line(incident.title)} ({_line(incident.id)})",
        "",
        f"{_line(services)} · {', '.join((*severity, incident.status.value))}",
    ]


def _incident(results: Sequence[Result]) -> Incident | None:
    for _, _, result in results:
        match result.value:
            case SuspectsRanked(incident=incident):
                return incident
            case IncidentsFound(incidents=(incident,)):
                return incident
            case _:
                continue
    return None


def _summary(run: RunRecord) -> Iterator[str]:
    match run.outcome:
        case Answer(headline=headline, claims=claims, confidence=confidence):
            yield f"{_line(headline)} (confidence: {confidence})"
            yield ""
            for claim in claims:
                marks = "".join(f"[{mark(e)}]" for e in claim.evidence)
                yield f"- {_line(claim.text)} {marks}"
        case Failure(reason=reason, established=established):
            yield f"The bot found no answer. {plain(reason)}"
            yield ""
            for found in established:
                yield f"- {_line(found.text)} [{mark(found.observation)}]"
        case Proposal(tool=tool, reason=why):
            yield f"A change was proposed ({tool}): {_line(why)}"
        case None:
            yield "The run has not ended yet."
        case _:
            assert_never(run.outcome)


def _timeline(run: RunRecord, results: Sequence[Result]) -> list[str]:
    moments: set[tuple[datetime, str]] = {(run.asked_at, "question asked")}
    if incident := _incident(results):
        for at, what in (
            (incident.started_at, "impact began"),
            (incident.detected_at, "detected"),
            (incident.resolved_at, "resolved"),
        ):
            if at is not None:
                moments.add((at, f"{_line(incident.id)}: {what}"))
    for deploy in _deploys(results):
        if deploy.at is not None:
            by = f", by {_line(deploy.actor)}" if deploy.actor else ""
            moments.add((deploy.at, f"{_named(deploy, ' deploy ')} finished{by}"))
    dated = [f"- {at:%Y-%m-%d %H:%M} {what}" for at, what in sorted(moments)]
    return [*dated, *(f"- ruled out: {_line(one)}" for one in _ruled_out(results))]


def _ruled_out(results: Sequence[Result]) -> Iterator[str]:
    """Deploys that an observation holds in a sentence alone, with when they finished."""
    for _, _, result in results:
        if isinstance(result.value, SuspectsRanked):
            yield from result.value.ruled_out


def _deploys(results: Sequence[Result]) -> Iterator[Deploy]:
    for _, _, result in results:
        match result.value:
            case SuspectsRanked(suspects=suspects, later=later):
                yield from (suspect.deploy for suspect in suspects)
                yield from (each.deploy for each in later)
            case DeploysFound(deploys=deploys):
                yield from deploys
            case DiffShown(deploy=deploy, base=base):
                yield deploy
                if base is not None:
                    yield base
            case _:
                pass


def _cause(results: Sequence[Result]) -> list[str]:
    for name, _, result in results:
        if isinstance(result.value, SuspectsRanked):
            ranked = result.value
            lines = [f"Confidence by code: {ranked.confidence} [{mark(name)}]", ""]
            for place, suspect in enumerate(ranked.suspects[:3], 1):
                why = "; ".join(_line(reason.text) for reason in suspect.reasons)
                lines.append(f"{place}. {_named(suspect.deploy)}: {why}")
            return lines
    return ["(fill in: no ranking of suspects was made in this run)"]


def _changes(results: Sequence[Result]) -> list[str]:
    lines = []
    for name, _, result in results:
        if isinstance(result.value, DiffShown):
            diff = result.value
            lines.append(
                f"- {_named(diff.deploy)}: {diff.files_total} files, "
                f"+{diff.added} −{diff.removed} lines [{mark(name)}]"
            )
            lines += [f"  - {_code(h.text)} in {_code(h.path)}" for h in diff.highlights[:10]]
    return lines or ["(fill in: no diff was read in this run)"]


def _gaps(run: RunRecord) -> list[str]:
    match run.outcome:
        case Answer(unknowns=unknowns, not_checked=unchecked):
            lines = [f"- {_line(one)}" for one in unknowns]
            lines += [f"- not checked: {_line(one)}" for one in unchecked]
            return lines or ["- nothing was left open"]
        case Failure(missing=missing, next_check=following):
            return [*(f"- {_line(one)}" for one in missing), f"- check next: {_line(following)}"]
        case Proposal() | None:
            return ["- (fill in)"]
        case _:
            assert_never(run.outcome)


def _named(deploy: Deploy, joint: str = " ") -> str:
    return f"{_line(deploy.service)}{joint}{_line(deploy.label)}"


def _line(text: str | None) -> str:
    """One line of somebody's words that makes no heading, list, link, image or block of its own."""
    one = _flat(text or "")
    # Every second piece is a span of code, where a backslash would stand for itself.
    pieces = _CODE.split(one)
    pieces[::2] = [_MARKUP.sub(r"\\\g<0>", piece) for piece in pieces[::2]]
    return _OPENING.sub(r"\g<0>\\", "".join(pieces))


def _code(text: str) -> str:
    """Somebody's words as one span of code. Its fence is longer than any run of backticks in them
    (CommonMark 6.1), so that nothing in them closes it.
    """
    one = _flat(text)
    if not one:
        return ""
    fence = "`" * (1 + max((len(run) for run in re.findall(r"`+", one)), default=0))
    apart = " " if one.startswith("`") or one.endswith("`") else ""
    return f"{fence}{apart}{one}{apart}{fence}"


def _flat(text: str) -> str:
    """On one line, without what a reader cannot see."""
    return re.sub(r"\s+", " ", _UNSEEN.sub("", text)).strip()
