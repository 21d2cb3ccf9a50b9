"""``oncall-bot doctor``: what was looked at, and the fix for each thing that is missing.

Owns the printing and the exit code: 0 when all is well, 1 with findings. The checks are
``bot.slack.doctor``'s.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from bot.config import load
from bot.slack.doctor import examine
from bot.terminal import say


async def examine_slack(root: Path, *, as_json: bool) -> int:
    """Raises ``ConfigError``."""
    findings = await examine(load(root).slack)
    if as_json:
        say(json.dumps([asdict(finding) for finding in findings], ensure_ascii=False))
    else:
        for finding in findings:
            say(f"{'ok ' if finding.is_well else 'FIX'} {finding.check}: {finding.what}")
            if finding.fix:
                say(f"    → {finding.fix}")
    return 0 if all(finding.is_well for finding in findings) else 1
