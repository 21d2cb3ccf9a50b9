"""Whose stop counts (M25): the asker's always, others' as the settings say.

Owns the rule and the sentences for those whose stop does not count. Which run is meant is
``abort.py``'s.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

import structlog

from bot.slack.access import Allowed, Denied, Ignored, Why, may_ask
from bot.slack.calls import Make, Ok, Web
from bot.slack.identity import Identity
from bot.slack.people import People, Person
from bot.slack.settings import SlackSettings

_log = structlog.get_logger(__name__)

LOOKUP_SECONDS = 5.0
NAME_SECONDS = 0.3
"""How long the asker's own stop waits for the asker's name."""
THE_ASKER = "the asker"
NOT_YOURS = (
    "I go on: only the one who asked, and the people who were named for it, can stop this question."
)
WHO_MAY = "I go on: Slack does not tell me who else may stop this question. The one who asked can."
NO_MEMBER = "I go on: only members of this workspace can stop me."
STRANGE = "I go on: I could not find out who you are. Try again in a minute."


@dataclass(frozen=True)
class By:
    """It counts; ``name`` is for people to read."""

    name: str


@dataclass(frozen=True)
class NotAllowed:
    """It does not; ``why`` is told to the one who tried."""

    why: str


class StopRights:
    """The asker may always stop a question; of others, the members that the settings name (M25)."""

    def __init__(
        self, identity: Identity, web: Web, people: People, settings: SlackSettings
    ) -> None:
        self._identity = identity
        self._web = web
        self._people = people
        self._settings = settings

    async def who(self, user: str, asker: str) -> By | NotAllowed | None:
        """Whose stop it is, or why it does not count; ``None`` for bots, who are told nothing."""
        if user == asker:
            person = await self._people.person(user, NAME_SECONDS)
            return By(person.name if person else THE_ASKER)
        return await self.of_anyone(user)

    async def of_anyone(self, user: str) -> By | NotAllowed | None:
        """The same for a question of somebody else."""
        match may_ask(self._identity.homes, (), await self._people.person(user, LOOKUP_SECONDS)):
            case Allowed(person=member):
                if self._settings.stop_by == "everyone":
                    return By(member.name)
                return await self._by_group(member)
            case Denied(why=Why.STRANGE):
                return NotAllowed(STRANGE)
            case Denied():
                return NotAllowed(NO_MEMBER)
            case Ignored():
                return None
            case verdict:
                assert_never(verdict)

    async def _by_group(self, member: Person) -> By | NotAllowed:
        group = self._settings.stop_group
        if not group:
            return NotAllowed(NOT_YOURS)
        match await self._web.persist(_members(self._web, group), LOOKUP_SECONDS):
            case Ok(data=data):
                is_in = member.id in data.get("users", ())
                return By(member.name) if is_in else NotAllowed(NOT_YOURS)
            case trouble:
                _log.warning("stop_group_unknown", group=group, why=str(trouble))
                return NotAllowed(WHO_MAY)


def _members(web: Web, group: str) -> Make:
    return lambda: web.client.usergroups_users_list(usergroup=group)
