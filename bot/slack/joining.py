"""Joining: a new public channel that the settings name is joined as soon as it is there (M26)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import structlog

from bot.slack.access import may_ask_here
from bot.slack.calls import Make, Ok, Refused, Web
from bot.slack.channels import Channels
from bot.slack.fixes import fix_for
from bot.slack.settings import SlackSettings
from bot.slack.tasks import Tasks

_log = structlog.get_logger(__name__)

JOIN_SECONDS = 60.0


class Joining:
    def __init__(self, web: Web, channels: Channels, settings: SlackSettings, tasks: Tasks) -> None:
        self._web = web
        self._channels = channels
        self._settings = settings
        self._tasks = tasks

    def created(self, event: Mapping[str, Any]) -> None:
        """A public channel was created: its name is known before anybody asks in it."""
        channel = self._channels.created(event)
        if self._settings.join_channels and may_ask_here(
            self._settings.channels, channel.id, channel.name
        ):
            self._tasks.start(self._join(channel.id, channel.name), f"join {channel.id}")

    def invited(self, channel: str) -> None:
        """The bot is in a channel from now on: its name is needed before anybody asks in it."""
        self._channels.doubt(channel)
        self._tasks.start(self._channels.channel(channel, JOIN_SECONDS), f"look at {channel}")

    async def _join(self, channel: str, name: str) -> None:
        match await self._web.persist(_joining(self._web, channel), JOIN_SECONDS):
            case Ok():
                self._channels.doubt(channel)
                _log.info("channel_joined", channel=channel, name=name)
            case Refused() as refused:
                _log.warning("channel_not_joined", channel=channel, fix=fix_for(refused))
            case trouble:
                _log.warning("channel_not_joined", channel=channel, why=str(trouble))


def _joining(web: Web, channel: str) -> Make:
    return lambda: web.client.conversations_join(channel=channel)
