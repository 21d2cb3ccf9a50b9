"""How deploys and suspects read as text: the best first, one fact a line, distances computed."""

from __future__ import annotations

from datetime import datetime

from tools.base import Status, ToolResult
from tools.records import (
    ChangeKind,
    Confidence,
    Deploy,
    DeploysFound,
    DeployStatus,
    SuspectsRanked,
    Switch,
)
from tools.wording import clean, clock, plural, span


def deploy_line(deploy: Deploy, beside: datetime) -> str:
    """``deploy 4471 (payments-api, production, v2.3.1) finished 01:44 UTC by release-bot``."""
    kind = "deploy" if deploy.kind is ChangeKind.DEPLOY else f"{deploy.kind.value} change"
    label = clean(deploy.label, 60)
    inside = [clean(deploy.service, 60), clean(deploy.environment, 40)]
    if deploy.ref and deploy.ref != deploy.label:
        inside.append(clean(deploy.ref, 60))
    line = f"{kind} {label} ({', '.join(inside)})"
    if deploy.title:
        line += f" “{clean(deploy.title, 120)}”"
    if deploy.status is not DeployStatus.SUCCESS:
        line += f" {deploy.status.value.replace('_', ' ')}"
    if deploy.finished_at:
        line += f" finished {clock(deploy.finished_at, beside)}"
    elif deploy.started_at:
        line += f" started {clock(deploy.started_at, beside)}"
    else:
        line += " at an unknown time"
    return f"{line} by {clean(deploy.actor, 60)}" if deploy.actor else line


def deploys_result(value: DeploysFound, now: datetime) -> ToolResult:
    """Render deploys that were found; several for one name are ambiguous."""
    lines = []
    if value.asked_deploy and value.total > 1:
        lines.append(f"{value.total} deploys go by {clean(value.asked_deploy, 60)!r}: say which.")
    for deploy in value.deploys:
        line = deploy_line(deploy, now)
        if deploy.at:
            line += f", {span(now - deploy.at)} ago"
        if deploy.sha:
            line += f", commit {deploy.sha[:12]}"
        lines.append(line)
    if (rest := value.total - len(value.deploys)) > 0:
        lines.append(f"{rest:,} older not shown: narrow the window or raise limit.")
    if value.owner:
        lines.append(f"Owner of {clean(value.deploys[0].service, 60)}: {value.owner}")
    lines += [f"Not searched: {clean(note, 300)}" for note in value.not_searched]
    summary = f"{plural(value.total, 'deploy')}: {deploy_line(value.deploys[0], now)}"
    return ToolResult(status=Status.OK, summary=summary[:200], text="\n".join(lines), value=value)


def suspects_result(value: SuspectsRanked) -> ToolResult:
    """Render a ranking: what is said of the first, then the rest, then what speaks for none."""
    incident = f"{clean(value.incident.id, 40)} “{clean(value.incident.title, 120)}”"
    lines = [f"Incident {incident}, onset {clock(value.onset)}."]
    if value.confidence is Confidence.NONE:
        lines.append("No deploy explains it (confidence: none).")
        if value.why_none:
            lines.append(f"By the incident's own words, {value.why_none}.")
        headline = f"no deploy explains {clean(value.incident.id, 40)}"
    else:
        first = value.suspects[0].deploy
        lines.append(f"Confidence in the first: {value.confidence.value}.")
        headline = f"{deploy_line(first, value.onset)}; confidence {value.confidence.value}"
    for place, suspect in enumerate(value.suspects, start=1):
        lines.append(f"{place}. {deploy_line(suspect.deploy, value.onset)}; {suspect.score:.1f}")
        lines += [
            f"   {'+' if reason.score > 0 else '-'} {clean(reason.text, 240)}"
            for reason in suspect.reasons
        ]
    lines += [f"After onset: {one.text}." for one in value.later]
    lines += [f"It {one.side} in {one.path}: {one.text}" for one in value.lines]
    lines += [_switch_line(one) for one in value.switches]
    if action := value.next_action:
        lines += [f"{action.text}.", *(f"{line}." for line in action.unsafe)]
    lines.append(f"{plural(value.considered, 'change')} before onset considered.")
    lines += [f"Ruled out: {line}." for line in value.ruled_out]
    lines += [f"Not searched: {line}" for line in value.not_searched]
    status = Status.OK if value.suspects else Status.EMPTY
    return ToolResult(status=status, summary=headline[:200], text="\n".join(lines), value=value)


def _switch_line(one: Switch) -> str:
    others = f", other values: {', '.join(one.others)}" if one.others else ""
    variable = f" ({one.variable})" if one.variable else ""
    default = f", by default {one.default}" if one.default else ""
    return f"It brings the setting {one.name}{variable}{default}{others}."
