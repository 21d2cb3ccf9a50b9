"""Stopping: a stop emoji, "@oncall stop", Slack's own stop button (M25).

Owns which run is meant and whose stop counts. Nothing waits here behind other work: the stop goes
straight to the run, and the run's own reply says that it was stopped, by whom and what was found.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Collection, Mapping
from dataclasses import dataclass
from typing import assert_never

import structlog
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.runs.records import RunRecord, RunState
from bot.runs.service import Aborting, RunService
from bot.slack.access import Allowed, Denied, Ignored, Why, may_ask
from bot.slack.address import DEBUG_CHANNEL, DEBUG_TS, SURFACE, Address
from bot.slack.calls import Make, Ok, Web
from bot.slack.events import Reacted, SessionStopped
from bot.slack.identity import Identity
from bot.slack.people import People, Person
from bot.slack.settings import SlackSettings
from bot.slack.tasks import Tasks

_log = structlog.get_logger(__name__)

LOOKUP_SECONDS = 5.0
NAME_SECONDS = 0.3
"""How long the asker's own stop waits for the asker's name."""
WHISPER_SECONDS = 30.0
"""A whisper may come twice: only they see it, and they may have missed the first."""
NOT_YOURS = (
    "I go on: only the one who asked, and the people who were named for it, can stop this question."
)
WHO_MAY = "I go on: Slack does not tell me who else may stop this question. The one who asked can."
NO_MEMBER = "I go on: only members of this workspace can stop me."
STRANGE = "I go on: I could not find out who you are. Try again in a minute."
_STOP_WORDS = re.compile(
    r"(?:please\s+)?(?:stop|abort|cancel|halt)(?:\s+(?:it|that|this|now|please))*[\s.!]*",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Taking:
    """A question that is being taken just now: checked and read, not yet committed."""

    channel: str
    root: str
    task: asyncio.Task[None]


@dataclass(frozen=True)
class _At:
    """Where somebody stopped something, so where they are told that they may not."""

    channel: str
    ts: str
    user: str


@dataclass(frozen=True)
class _By:
    name: str


@dataclass(frozen=True)
class _NotAllowed:
    why: str


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
        tasks: Tasks,
        at_work: Mapping[str, Taking],
    ) -> None:
        """``at_work`` holds the questions that are being taken just now, by their keys."""
        self._service = service
        self._identity = identity
        self._web = web
        self._people = people
        self._settings = settings
        self._tasks = tasks
        self._at_work = at_work

    async def reaction(self, reacted: Reacted) -> None:
        """Only the question and the debug thread's root mean a run; the bot's own emoji none."""
        if reacted.name not in self._settings.stop_emojis:
            return
        if reacted.user == self._identity.bot_user:
            return
        key = self._identity.key(reacted.channel, reacted.ts)
        at = _At(reacted.channel, reacted.ts, reacted.user)
        await self._taken([taking for k in (key, pointed(key)) if (taking := self._at_work.get(k))])
        run = await self._service.find(key)
        if run is not None and run.surface == SURFACE and self._is_target(run, reacted):
            await self._stop(run, at)

    async def session(self, stopped: SessionStopped) -> None:
        await self.thread(stopped.channel, stopped.thread_ts, stopped.user)

    async def thread(self, channel: str, thread_ts: str, user: str) -> bool:
        """Stop what runs in a thread; whether there was anything.

        What is being taken just now is waited for, after what runs already was stopped.
        """
        at = _At(channel, thread_ts, user)
        found = await self._stop_running(at)
        taking = [t for t in self._at_work.values() if (t.channel, t.root) == (channel, thread_ts)]
        if not taking:
            return found
        await self._taken(taking)
        return await self._stop_running(at) or found

    async def _taken(self, taking: Collection[Taking]) -> None:
        """Wait for them. Raises what one of them raised: its question, and so this stop, come again."""
        if taking:
            done, _ = await asyncio.wait({one.task for one in taking})
            for task in done:
                if not task.cancelled() and (error := task.exception()):
                    raise error

    async def _stop_running(self, at: _At) -> bool:
        running = [
            run
            for run in await self._service.store.unfinished((SURFACE,))
            if run.state is not RunState.ENDED and _is_in(run, at.channel, at.ts)
        ]
        for run in running:
            await self._stop(run, at)
        return bool(running)

    def _is_target(self, run: RunRecord, reacted: Reacted) -> bool:
        where = Address.of(run)
        at = (reacted.channel, reacted.ts)
        debug = (run.address.get(DEBUG_CHANNEL), run.address.get(DEBUG_TS))
        return at in {(where.channel, where.ts), debug}

    async def _stop(self, run: RunRecord, at: _At) -> None:
        if run.state is RunState.ENDED:
            return
        match await self._who(run, at.user):
            case _By(name=name):
                match await self._service.abort(run.id, name):
                    case Aborting():
                        _log.info("stopped", run=run.id, user=at.user)
                    case _:
                        _log.info("stop_came_late", run=run.id, user=at.user)
            case _NotAllowed(why=why):
                _log.info("stop_not_allowed", run=run.id, user=at.user, why=why)
                await self._refuse(run, at, why)
            case None:
                _log.info("stop_ignored", run=run.id, user=at.user)

    async def _refuse(self, run: RunRecord, at: _At, why: str) -> None:
        """Told to the one who tried, and to nobody else; once a run, also over restarts."""
        where = Address.of(run)
        if at.channel == where.channel:  # the emoji may stand on a question inside a thread
            at = _At(where.channel, where.thread_ts, at.user)
        key = f"slack:refused-stop:{run.id}:{at.user}"
        if await self._service.store.first_seen((key,), self._web.clock.now()):
            self._tasks.start(self._whisper(at, why), f"refused stop {run.id}")

    async def _whisper(self, at: _At, words: str) -> None:
        called = await self._web.persist(_only_to(self._web, at, words), WHISPER_SECONDS)
        if not isinstance(called, Ok):
            _log.info("refused_stop_not_told", user=at.user, why=str(called))

    async def _who(self, run: RunRecord, user: str) -> _By | _NotAllowed | None:
        """Whose stop it is, or why it does not count; ``None`` for bots, who are told nothing."""
        if user == Address.of(run).user:
            person = await self._people.person(user, NAME_SECONDS)
            return _By(person.name if person else "the asker")
        match may_ask(self._identity.homes, (), await self._people.person(user, LOOKUP_SECONDS)):
            case Allowed(person=member):
                if self._settings.stop_by == "everyone":
                    return _By(member.name)
                return await self._by_group(member)
            case Denied(why=Why.STRANGE):
                return _NotAllowed(STRANGE)
            case Denied():
                return _NotAllowed(NO_MEMBER)
            case Ignored():
                return None
            case verdict:
                assert_never(verdict)

    async def _by_group(self, member: Person) -> _By | _NotAllowed:
        group = self._settings.stop_group
        if not group:
            return _NotAllowed(NOT_YOURS)
        match await self._web.persist(_members(self._web, group), LOOKUP_SECONDS):
            case Ok(data=data):
                is_in = member.id in data.get("users", ())
                return _By(member.name) if is_in else _NotAllowed(NOT_YOURS)
            case trouble:
                _log.warning("stop_group_unknown", group=group, why=str(trouble))
                return _NotAllowed(WHO_MAY)


def pointed(key: str) -> str:
    """The key of a question that somebody asked by pointing at the message with this key."""
    return f"{key}:pointed"


def _only_to(web: Web, at: _At, words: str) -> Make:
    def post() -> Awaitable[AsyncSlackResponse]:
        return web.client.chat_postEphemeral(
            channel=at.channel, user=at.user, thread_ts=at.ts, text=words
        )

    return post


def _is_in(run: RunRecord, channel: str, thread_ts: str) -> bool:
    where = Address.of(run)
    return (where.channel, where.thread_ts) == (channel, thread_ts)


def _members(web: Web, group: str) -> Make:
    return lambda: web.client.usergroups_users_list(usergroup=group)
