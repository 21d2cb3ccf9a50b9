"""The way to Slack of a process that has more to do: it is tried until Slack answers.

Owns the retrying and what is said meanwhile. A refusal, which no waiting mends, ends it.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

import structlog

from bot.loop.stopping import Clock
from bot.runs.links import Links
from bot.runs.service import RunService
from bot.slack.app import SlackApp, create_slack
from bot.slack.calls import Sleep, pauses
from bot.slack.http import Requests
from bot.slack.identity import SlackUnreachableError
from bot.slack.settings import SlackSettings

_log = structlog.get_logger(__name__)

TRY_SECONDS = 5.0
"""How long one try goes on asking a Slack that does not answer."""


class SlackLink:
    """``app`` is there once Slack was reached. Without a bot token there is nothing to reach."""

    def __init__(
        self,
        settings: SlackSettings,
        links: Links,
        requests: Requests,
        *,
        clock: Clock | None = None,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self.app: SlackApp | None = None
        self.tried = asyncio.Event()
        """Set once it is known whether Slack answers."""
        self._settings = settings
        self._links = links
        self._requests = requests
        self._clock = clock
        self._sleep = sleep
        self._why = "it was not reached yet"

    @property
    def is_wanted(self) -> bool:
        return self._settings.bot_token is not None

    async def connect(self, service: RunService) -> None:
        """Return once connected, or at once without tokens.

        Raises ``SlackSetupError`` if Slack refuses.
        """
        if not self.is_wanted:
            self.tried.set()
            return
        for pause in pauses():
            try:
                self.app = await self._try(service)
            except SlackUnreachableError as error:
                self._why = str(error)
                _log.warning("slack_unreachable", why=self._why, again_in=pause)
                self.tried.set()
                await self._sleep(pause)
            else:
                self.tried.set()
                return

    async def trouble(self) -> str:
        """Why questions from Slack do not reach the bot just now, or nothing."""
        if not self.is_wanted:
            return ""
        if self.app is None:
            return f"Slack: {self._why}"
        return "" if await self.app.is_up() else "Slack: the connection is down"

    async def close(self) -> None:
        if self.app is not None:
            await self.app.close()

    async def _try(self, service: RunService) -> SlackApp:
        app = await create_slack(
            self._settings,
            self._links,
            clock=self._clock,
            sleep=self._sleep,
            requests=self._requests,
            seconds=TRY_SECONDS,
        )
        async with AsyncExitStack() as unless_started:
            unless_started.push_async_callback(app.close, 0.0)
            await app.start(service)
            unless_started.pop_all()
        return app
