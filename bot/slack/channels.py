"""The channels that the bot is in: their names, and who can read them.

Owns the directory: read once at the start, kept up by events, asked for where it is silent. So a
channel that was created a minute ago is known by its name (M26). What follows is ``access.py``'s.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from typing import Any

import structlog
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.slack.calls import Make, Ok, Web

_log = structlog.get_logger(__name__)

FRESH_SECONDS = 600.0
PAGE = 200
_KINDS = "public_channel,private_channel,im"


@dataclass(frozen=True)
class Channel:
    """``is_private`` holds for direct messages too; ``is_shared``: with other organisations."""

    id: str
    name: str
    is_private: bool
    is_shared: bool
    is_member: bool
    is_archived: bool = False


class Channels:
    def __init__(self, web: Web) -> None:
        self._web = web
        self._known: dict[str, tuple[float, Channel]] = {}
        self._doubts: Counter[str] = Counter()

    async def load(self, seconds: float) -> None:
        """Read the channels that the bot is in. What cannot be read is asked for when needed."""
        found = await joined_channels(self._web, seconds)
        for channel in found or ():
            self._keep(channel)

    def known(self, channel: str) -> Channel | None:
        """The last that was heard, fresh or not."""
        kept = self._known.get(channel)
        return kept[1] if kept else None

    def find(self, key: str) -> Channel | None:
        """By id or by name, among those that the bot is in."""
        if found := self.known(key):
            return found if found.is_member else None
        named = (c for _, c in self._known.values() if c.name == key and c.is_member)
        return next(named, None)

    async def channel(self, channel: str, seconds: float) -> Channel | None:
        """Fresh where Slack says in time, else the last that was heard, else ``None``."""
        return await self.sure(channel, seconds, FRESH_SECONDS) or self.known(channel)

    async def sure(self, channel: str, seconds: float, age: float) -> Channel | None:
        """As it was at most ``age`` seconds ago; ``None`` where Slack does not say in time.

        An answer that was under way when something about the channel changed may be the older one.
        """
        kept = self._known.get(channel)
        if kept and self._web.clock.monotonic() - kept[0] <= age:
            return kept[1]
        doubts = self._doubts[channel]
        match await self._web.persist(_info(self._web, channel), seconds):
            case Ok() if self._doubts[channel] != doubts:
                return None
            case Ok(data=data):
                return self._keep(read_channel(data.get("channel") or {}))
            case trouble:
                _log.warning("channel_unknown", channel=channel, why=str(trouble))
                return None

    def created(self, event: Mapping[str, Any]) -> Channel:
        """A public channel was created: its name is known before anybody asks in it."""
        return self._keep(read_channel({"is_channel": True, **(event.get("channel") or {})}))

    def doubt(self, channel: str) -> None:
        """Something about it changed: ask again when it is needed."""
        self._doubts[channel] += 1
        if kept := self.known(channel):
            self._known[channel] = (-math.inf, kept)

    def _keep(self, channel: Channel) -> Channel:
        self._known[channel.id] = (self._web.clock.monotonic(), channel)
        return channel


async def joined_channels(web: Web, seconds: float) -> tuple[Channel, ...] | None:
    """Every channel that the bot is in; ``None`` if Slack did not say."""
    found: list[Channel] = []
    cursor: str | None = None
    while True:
        match await web.persist(_page(web, cursor), seconds):
            case Ok(data=data):
                found += [read_channel({**c, "is_member": True}) for c in data.get("channels", ())]
                cursor = (data.get("response_metadata") or {}).get("next_cursor") or None
                if cursor is None:
                    return tuple(found)
            case trouble:
                _log.warning("channels_unknown", why=str(trouble))
                return None


def _page(web: Web, cursor: str | None) -> Make:
    def page() -> Awaitable[AsyncSlackResponse]:
        return web.client.users_conversations(
            types=_KINDS, exclude_archived=True, limit=PAGE, cursor=cursor
        )

    return page


def _info(web: Web, channel: str) -> Make:
    return lambda: web.client.conversations_info(channel=channel)


def read_channel(raw: Mapping[str, Any]) -> Channel:
    """Anything that is not plainly public counts as private; a pending share counts as shared."""
    public = bool(raw.get("is_channel")) and not raw.get("is_private")
    return Channel(
        id=str(raw.get("id", "")),
        name=str(raw.get("name", "")),
        is_private=not public,
        is_shared=bool(raw.get("is_ext_shared") or raw.get("is_pending_ext_shared")),
        is_member=bool(raw.get("is_member") or raw.get("is_im")),
        is_archived=bool(raw.get("is_archived")),
    )
