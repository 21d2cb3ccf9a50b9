"""Stopping: a stop emoji, "@oncall stop", Slack's own stop button (M25).

Owns which run is meant and whose stop counts. Nothing waits here behind other work: the stop goes
straight to the run, and the run's own reply says that it was stopped, by whom and what was found.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Mapping

import structlog

from bot.runs.records import RunRecord, RunState
from bot.runs.service import Aborting, RunService
from bot.slack.access import Allowed, may_ask
from bot.slack.address import DEBUG_CHANNEL, DEBUG_TS, SURFACE, Address
from bot.slack.calls import Make, Ok, Web
from bot.slack.events import Reacted, SessionStopped
from bot.slack.identity import Identity
from bot.slack.people import People
from bot.slack.settings import SlackSettings

_log = structlog.get_logger(__name__)

LOOKUP_SECONDS = 5.0
NAME_SECONDS = 0.3
"""How long the asker's own stop waits for the asker's name."""
_STOP_WORDS = re.compile(
    r"(?:please\s+)?(?:stop|abort|cancel|halt)(?:\s+(?:it|that|this|now|please))*[\s.!]*",
    re.IGNORECASE,
)


def is_stop(text: str, emojis: Collection[str]) -> bool:
    """Whether a message to the bot, as plain text, is nothing but a stop."""
    return bool(_STOP_WORDS.fullmatch(text)) or text.strip().strip(":") in emojis


class Stops:
    def __init__(
        self,
        service: RunService,
        identity: Identity,
        web: Web,
        people: People,
        settings: SlackSettings,
        at_work: Mapping[str, asyncio.Task[None]],
    ) -> None:
        """``at_work`` holds the messages that are being taken just now, by their keys."""
        self._service = service
        self._identity = identity
        self._web = web
        self._people = people
        self._settings = settings
        self._at_work = at_work

    async def reaction(self, reacted: Reacted) -> None:
        """Only the question and the debug thread's root mean a run; the bot's own emoji none."""
        if reacted.name not in self._settings.stop_emojis:
            return
        if reacted.user == self._identity.bot_user:
            return
        key = self._identity.key(reacted.channel, reacted.ts)
        if taking := self._at_work.get(key):
            await asyncio.wait({taking})
        run = await self._service.find(key)
        if run is not None and run.surface == SURFACE and self._is_target(run, reacted):
            await self._stop(run, reacted.user)

    async def session(self, stopped: SessionStopped) -> None:
        await self.thread(stopped.channel, stopped.thread_ts, stopped.user)

    async def thread(self, channel: str, thread_ts: str, user: str) -> bool:
        """Stop what runs in a thread; whether there was anything."""
        running = [
            run
            for run in await self._service.store.unfinished((SURFACE,))
            if run.state is not RunState.ENDED and _is_in(run, channel, thread_ts)
        ]
        for run in running:
            await self._stop(run, user)
        return bool(running)

    def _is_target(self, run: RunRecord, reacted: Reacted) -> bool:
        where = Address.of(run)
        at = (reacted.channel, reacted.ts)
        debug = (run.address.get(DEBUG_CHANNEL), run.address.get(DEBUG_TS))
        return at in {(where.channel, where.ts), debug}

    async def _stop(self, run: RunRecord, user: str) -> None:
        if run.state is RunState.ENDED:
            return
        by = await self._who(run, user)
        if by is None:
            _log.info("stop_not_allowed", run=run.id, user=user)
            return
        match await self._service.abort(run.id, by):
            case Aborting():
                _log.info("stopped", run=run.id, user=user)
            case _:
                _log.info("stop_came_late", run=run.id, user=user)

    async def _who(self, run: RunRecord, user: str) -> str | None:
        """The name of somebody whose stop counts; ``None`` for anybody else, also in doubt."""
        if user == Address.of(run).user:
            person = await self._people.person(user, NAME_SECONDS)
            return person.name if person else "the asker"
        match may_ask(self._identity.homes, (), await self._people.person(user, LOOKUP_SECONDS)):
            case Allowed(person=member):
                everyone = self._settings.stop_by == "everyone"
                return member.name if everyone or await self._in_group(user) else None
            case _:
                return None

    async def _in_group(self, user: str) -> bool:
        group = self._settings.stop_group
        if not group:
            return False
        match await self._web.persist(_members(self._web, group), LOOKUP_SECONDS):
            case Ok(data=data):
                return user in data.get("users", ())
            case trouble:
                _log.warning("stop_group_unknown", group=group, why=str(trouble))
                return False


def _is_in(run: RunRecord, channel: str, thread_ts: str) -> bool:
    where = Address.of(run)
    return (where.channel, where.thread_ts) == (channel, thread_ts)


def _members(web: Web, group: str) -> Make:
    return lambda: web.client.usergroups_users_list(usergroup=group)
