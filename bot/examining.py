"""``oncall-bot doctor``: what was looked at, and the fix for each thing that is missing.

Owns the printing and the exit code: 0 when all is well, 1 with findings. The checks are those of
``tools.checkup``, ``bot.slack.doctor`` and ``bot.models.doctor``.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

from bot.config import load
from bot.loop.stopping import Clock
from bot.models.doctor import Level, check_model
from bot.models.make import adapter
from bot.models.rules import NAME as RULES
from bot.slack.doctor import Finding as SlackFinding
from bot.slack.doctor import examine
from bot.terminal import clean, say, warn
from bot.wiring import http_client
from tools import checkup
from tools.checkup import Check, Finding
from tools.workspace import WorkspaceError, open_workspace

WORST = 5
"""Findings that a starting bot names."""


async def examine_models(root: Path, *, as_json: bool) -> int:
    """One tiny call to each configured model. Raises ``ConfigError``."""
    settings = load(root)
    clock = Clock()
    async with http_client(settings.model) as client:
        if client is None:
            well = "[model] names none, so the rules model answers: no key and no network needed."
            told = {"model": RULES, "level": Level.OK, "text": well, "fix": ""}
            say(json.dumps(told) if as_json else well)
            return 0
        bad = False
        for endpoint in settings.model.endpoints:
            model = adapter(endpoint, client, clock)
            for found in await check_model(model, clock, settings.limits.model_call_seconds):
                bad = bad or found.level is Level.FAIL
                if as_json:
                    say(json.dumps({"model": endpoint.shown, **asdict(found)}))
                    continue
                say(f"{found.level.value:<4} {endpoint.shown}: {found.text}")
                if found.fix:
                    say(f"     → {found.fix}")
    return 1 if bad else 0


async def examine_bot(root: Path, now: datetime, *, as_json: bool) -> int:
    """The workspace's data, as of ``now``, then Slack. Raises ``ConfigError``."""
    settings = load(root)
    workspace = await workspace_findings(root, now)
    slack = await examine(settings.slack, public_url=settings.web.public_url)
    findings: list[Finding | SlackFinding] = [*workspace, *slack]
    if as_json:
        say(json.dumps([asdict(finding) for finding in findings], ensure_ascii=False))
    else:
        for finding in findings:
            say(f"{'ok ' if finding.is_well else 'FIX'} {finding.check}: {clean(finding.what)}")
            if finding.fix:
                say(f"    → {clean(finding.fix)}")
    return 0 if all(finding.is_well for finding in findings) else 1


async def workspace_findings(root: Path, now: datetime) -> tuple[Finding, ...]:
    """What there is to say of the workspace; one thing where it cannot be opened at all."""
    try:
        return await checkup.examine(open_workspace(root), now)
    except WorkspaceError as error:
        return (Finding(Check.SERVICES, str(error), "correct that, then run this again"),)


async def warn_of_the_worst(root: Path, said: Collection[str], now: datetime) -> None:
    """Warnings for who starts the bot, the worst first, without what was ``said`` already."""
    bad = [f for f in await workspace_findings(root, now) if not f.is_well and f.what not in said]
    for finding in bad[:WORST]:
        warn(f"{finding.what}: {finding.fix}")
    if len(bad) > WORST:
        warn(f"and {len(bad) - WORST} more: `oncall-bot doctor` lists them")
