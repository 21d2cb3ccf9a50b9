"""Who reads a channel, one by one: whether all of its members are our own people (M24, M26).

Slack says of a channel that it is shared with another organisation, but not that a guest of ours is
in it. Owns the looking, and how long what it found is believed. In doubt there is an outsider.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass

import structlog
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.slack.access import is_ours
from bot.slack.calls import Make, Ok, Web
from bot.slack.identity import Identity
from bot.slack.people import People

_log = structlog.get_logger(__name__)

SURE_SECONDS = 60.0
"""How long the list of members is believed; an event says sooner that somebody came."""
MEMBER_SECONDS = 3_600.0
"""How long somebody who is ours counts as ours."""
MOST_LOOKUPS = 40
"""New members looked up at once: of the 100 calls a minute, those who ask need some as well."""
AT_ONCE = 8
PAGE = 1_000


@dataclass(frozen=True)
class _Verdict:
    at: float
    all_ours: bool


class Audience:
    """Thoughts and code are shown where our own members alone read along (M24, M26).

    Guests, people of other organisations and whoever Slack does not name count as outsiders.
    """

    def __init__(self, web: Web, people: People, identity: Identity) -> None:
        self._web = web
        self._people = people
        self._identity = identity
        self._ours: dict[str, float] = {}
        self._verdicts: dict[str, _Verdict] = {}
        self._doubts: Counter[str] = Counter()

    async def is_ours(self, channel: str, seconds: float) -> bool:
        """Whether members of our workspace and bots alone read it; ``False`` where Slack does not say.

        ``seconds`` is for each call to Slack. A big channel may take a few looks, a minute apart.
        """
        now = self._web.clock.monotonic()
        known = self._verdicts.get(channel)
        if known and now - known.at <= SURE_SECONDS:
            return known.all_ours
        doubts = self._doubts[channel]
        members = await self._members(channel, seconds)
        if members is None:
            return False
        all_ours = await self._all_ours(channel, members, seconds)
        if self._doubts[channel] != doubts:  # somebody came while we looked
            return False
        self._verdicts[channel] = _Verdict(now, all_ours)
        return all_ours

    def doubt(self, channel: str) -> None:
        """Somebody came: look again when it is needed."""
        self._doubts[channel] += 1
        self._verdicts.pop(channel, None)

    async def _members(self, channel: str, seconds: float) -> Sequence[str] | None:
        found: list[str] = []
        cursor: str | None = None
        while True:
            match await self._web.persist(_page(self._web, channel, cursor), seconds):
                case Ok(data=data):
                    found += [str(member) for member in data.get("members", ())]
                    cursor = (data.get("response_metadata") or {}).get("next_cursor") or None
                    if cursor is None:
                        return found
                case trouble:
                    _log.warning("members_unknown", channel=channel, why=str(trouble))
                    return None

    async def _all_ours(self, channel: str, members: Sequence[str], seconds: float) -> bool:
        since = self._web.clock.monotonic() - MEMBER_SECONDS
        mine = self._identity.bot_user
        new = [m for m in members if m != mine and self._ours.get(m, since) <= since]
        for first in range(0, min(len(new), MOST_LOOKUPS), AT_ONCE):
            some = new[first : min(first + AT_ONCE, MOST_LOOKUPS)]
            found = await asyncio.gather(*(self._is_ours(member, seconds) for member in some))
            if not all(found):
                _log.info("outsiders_read_channel", channel=channel)
                return False
        if len(new) > MOST_LOOKUPS:
            _log.info("members_not_all_known", channel=channel, left=len(new) - MOST_LOOKUPS)
            return False
        return True

    async def _is_ours(self, member: str, seconds: float) -> bool:
        person = await self._people.person(member, seconds)
        if not is_ours(self._identity.homes, person):
            return False
        self._ours[member] = self._web.clock.monotonic()
        return True


def _page(web: Web, channel: str, cursor: str | None) -> Make:
    def page() -> Awaitable[AsyncSlackResponse]:
        return web.client.conversations_members(channel=channel, limit=PAGE, cursor=cursor)

    return page
