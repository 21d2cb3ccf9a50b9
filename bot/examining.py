"""``oncall-bot doctor``: what was looked at, and the fix for each thing that is missing.

Owns the printing and the exit code: 0 when all is well, 1 with findings. The checks are
``bot.slack.doctor``'s.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from bot.config import load
from bot.loop.stopping import Clock
from bot.models.doctor import Level, check_model
from bot.models.make import adapter
from bot.slack.doctor import examine
from bot.terminal import say
from bot.wiring import http_client


async def examine_models(root: Path, *, as_json: bool) -> int:
    """One tiny call to each configured model. Raises ``ConfigError``."""
    settings = load(root)
    clock = Clock()
    async with http_client(settings.model) as client:
        if client is None:
            say("[model] names none, so the rules model answers: no key and no network needed.")
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


async def examine_slack(root: Path, *, as_json: bool) -> int:
    """Raises ``ConfigError``."""
    settings = load(root)
    findings = await examine(settings.slack, public_url=settings.web.public_url)
    if as_json:
        say(json.dumps([asdict(finding) for finding in findings], ensure_ascii=False))
    else:
        for finding in findings:
            say(f"{'ok ' if finding.is_well else 'FIX'} {finding.check}: {finding.what}")
            if finding.fix:
                say(f"    → {finding.fix}")
    return 0 if all(finding.is_well for finding in findings) else 1
