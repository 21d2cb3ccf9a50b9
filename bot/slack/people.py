"""Who somebody is: Slack's word on a user, kept for a few minutes.

Owns the fetching, one call at a time for each user. What follows from it is ``access.py``'s.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import structlog

from bot.slack.calls import Make, Ok, Web
from bot.slack.writing import one_line

_log = structlog.get_logger(__name__)

FRESH_SECONDS = 600.0
"""Somebody who was made a guest may still ask for so long."""
_MOST = 5_000


@dataclass(frozen=True)
class Person:
    """``name`` is for people to read; it pings nobody."""

    id: str
    name: str
    team: str
    enterprise: str | None = None
    is_guest: bool = False
    is_stranger: bool = False
    is_bot: bool = False
    is_deleted: bool = False


class People:
    def __init__(self, web: Web) -> None:
        self._web = web
        self._known: dict[str, tuple[float, Person]] = {}
        self._asked: dict[str, asyncio.Lock] = {}

    def known(self, user: str) -> Person | None:
        """What is still fresh, without asking."""
        kept = self._known.get(user)
        if kept is None or self._web.clock.monotonic() - kept[0] > FRESH_SECONDS:
            return None
        return kept[1]

    def name(self, user: str) -> str:
        """What to call somebody in a text; the id of somebody who was never looked up."""
        kept = self._known.get(user)
        return kept[1].name if kept else user

    async def person(self, user: str, seconds: float) -> Person | None:
        """``None`` if Slack does not know them, or did not say in so many seconds."""
        lock = self._asked.setdefault(user, asyncio.Lock())
        try:
            async with lock:
                return self.known(user) or await self._fetch(user, seconds)
        finally:
            if not lock.locked():
                self._asked.pop(user, None)

    async def _fetch(self, user: str, seconds: float) -> Person | None:
        match await self._web.persist(_info(self._web, user), seconds):
            case Ok(data=data):
                person = read_person(data.get("user") or {})
                if len(self._known) >= _MOST:
                    self._known.clear()
                self._known[user] = (self._web.clock.monotonic(), person)
                return person
            case trouble:
                _log.warning("person_unknown", user=user, why=str(trouble))
                return None


def _info(web: Web, user: str) -> Make:
    return lambda: web.client.users_info(user=user)


def read_person(user: Mapping[str, Any]) -> Person:
    profile = user.get("profile") or {}
    seen = (profile.get("display_name"), profile.get("real_name"), user.get("real_name"))
    names = (*seen, user.get("name"))
    name = next((one_line(str(n)) for n in names if n), "")
    return Person(
        id=str(user.get("id", "")),
        name=name[:60] or "somebody",
        team=str(user.get("team_id", "")),
        enterprise=(user.get("enterprise_user") or {}).get("enterprise_id"),
        is_guest=bool(user.get("is_restricted") or user.get("is_ultra_restricted")),
        is_stranger=bool(user.get("is_stranger")),
        is_bot=bool(user.get("is_bot")) or user.get("id") == "USLACKBOT",
        is_deleted=bool(user.get("deleted")),
    )
