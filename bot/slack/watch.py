"""The doctor, again and again: a token that expired is known before somebody needs the bot.

Owns what counts as a change of state and that each is posted once, to the debug channel. The checks
are ``doctor.py``'s.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

import structlog

from bot.slack.calls import Sleep
from bot.slack.doctor import Finding
from bot.slack.writing import for_mrkdwn

_log = structlog.get_logger(__name__)

EVERY_SECONDS = 300.0

Examine = Callable[[], Awaitable[Sequence[Finding]]]
Post = Callable[[str], Awaitable[bool]]
"""Whether the text stands in the debug channel now."""


@dataclass
class Watch:
    examine: Examine
    post: Post
    sleep: Sleep = asyncio.sleep
    told: tuple[str, ...] = field(default=())
    """What was wrong when people were last told; nothing at first."""

    async def run(self) -> None:
        while True:
            await self.look()
            await self.sleep(EVERY_SECONDS)

    async def look(self) -> None:
        """Look once. What could not be posted is told with the next look."""
        wrong = [finding for finding in await self.examine() if not finding.is_well]
        state = tuple(sorted(finding.check.value for finding in wrong))
        if state == self.told:
            return
        for finding in wrong:
            _log.warning("doctor", check=finding.check.value, what=finding.what, fix=finding.fix)
        if not wrong:
            _log.info("doctor_all_well")
        if await self.post(told_as(wrong, self.told)):
            self.told = state


def told_as(wrong: Sequence[Finding], before: Sequence[str]) -> str:
    """The message, in mrkdwn."""
    if not wrong:
        return f"All is well again ({for_mrkdwn(', '.join(before))})."
    lines = ["Something keeps me from working as I should:"]
    for finding in wrong:
        lines.append(f"• {for_mrkdwn(f'{finding.check.value}: {finding.what}')}")
        lines.append(f"    → {for_mrkdwn(finding.fix)}")
    return "\n".join(lines)
