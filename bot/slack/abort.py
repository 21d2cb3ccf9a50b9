"""Stopping: a stop emoji, "@oncall stop", Slack's own stop button (M25).

Owns which run is meant. Whose stop counts is ``stop_rights.py``'s. Nothing waits here behind other
work: the stop goes straight to the run, and the run's own reply says that it was stopped, by whom and
what was found. Slack gives no order, so a stop may also come before its question: it is kept until
then.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeAlias, assert_never

import structlog
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.runs.records import EarlyStop, RunRecord, RunState
from bot.runs.service import Aborting, RunService
from bot.slack.address import DEBUG_CHANNEL, DEBUG_TS, SURFACE, Address
from bot.slack.calls import Make, Ok, Web
from bot.slack.events import Reacted, Said, SessionStopped
from bot.slack.identity import Identity
from bot.slack.people import People
from bot.slack.settings import SlackSettings
from bot.slack.stop_rights import THE_ASKER, By, NotAllowed, StopRights
from bot.slack.tasks import Tasks

_log = structlog.get_logger(__name__)

WHISPER_SECONDS = 30.0
"""A whisper may come twice: only they see it, and they may have missed the first."""
_STOP_WORDS = re.compile(
    r"(?:please\s+)?(?:stop|abort|cancel|halt)(?:\s+(?:it|that|this|now|please))*[\s.!]*",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Taking:
    """A question that is being taken just now: checked and read, not yet committed."""

    channel: str
    root: str
    user: str
    task: asyncio.Task[None]


@dataclass(frozen=True)
class _At:
    """Where somebody stopped something, so where they are told that they may not.

    ``ts`` is the thread; ``None``: at the channel's root.
    """

    channel: str
    ts: str | None
    user: str


@dataclass(frozen=True)
class Stopped:
    """What was meant was found, and stopped if they may; ``left`` is also at work there."""

    left: tuple[RunRecord, ...] = ()


@dataclass(frozen=True)
class NothingRuns:
    pass


@dataclass(frozen=True)
class WhichOne:
    """Several are at work, and it is not plain which one is meant; none was stopped."""

    runs: tuple[RunRecord, ...]


Meant: TypeAlias = Stopped | NothingRuns | WhichOne


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
        self._rights = StopRights(identity, web, people, settings)

    async def reaction(self, reacted: Reacted) -> None:
        """Only the question and the debug thread's root mean a run; the bot's own emoji none."""
        if reacted.name not in self._settings.stop_emojis:
            return
        if reacted.user == self._identity.bot_user:
            return
        key = self._identity.key(reacted.channel, reacted.ts)
        await self._wait_for(
            [taking for k in (key, pointed(key)) if (taking := self._at_work.get(k))]
        )
        if not await self._stop_at(reacted, key):
            await self._keep(key, reacted.user, reacted.at)
            await self._stop_at(reacted, key)  # it may have come meanwhile

    async def session(self, stopped: SessionStopped) -> None:
        await self._stop_thread(_At(stopped.channel, stopped.thread_ts, stopped.user), None)

    async def words(self, said: Said) -> Meant:
        """Stop what "@oncall stop" means: what runs in its thread, or else in its channel.

        A question that was asked after it is never meant, also when the words are delivered again.
        """
        if said.root == said.ts:
            return await self._in_channel(said)
        at = _At(said.channel, said.root, said.user)
        found = await self._stop_thread(at, said.ts)
        await self._keep(in_thread(self._identity.key(said.channel, said.root)), said.user, said.ts)
        found = await self._stop_running(at, said.ts) or found
        return Stopped() if found else NothingRuns()

    async def _in_channel(self, said: Said) -> Meant:
        """Their own question if they have one at work there, else the only one there is."""
        theirs = [t for t in self._at_work.values() if t.user == said.user]
        await self._wait_for([t for t in theirs if t.channel == said.channel])
        running = await self._running_in(said)
        own = [run for run in running if Address.of(run).user == said.user]
        if len(own) != 1:
            await self._wait_for([t for t in self._at_work.values() if t.channel == said.channel])
            running = await self._running_in(said)
            own = [run for run in running if Address.of(run).user == said.user]
        meant = own if len(own) == 1 else running
        if not meant:
            return NothingRuns()
        if len(meant) > 1:
            return WhichOne(tuple(meant))
        await self._stop(meant[0], _At(said.channel, None, said.user))
        return Stopped(tuple(run for run in running if run.id != meant[0].id))

    async def _stop_thread(self, at: _At, before: str | None) -> bool:
        """Stop what runs in a thread; whether there was anything.

        What is being taken just now is waited for, after what runs already was stopped.
        """
        found = await self._stop_running(at, before)
        taking = [t for t in self._at_work.values() if (t.channel, t.root) == (at.channel, at.ts)]
        if not taking:
            return found
        await self._wait_for(taking)
        return await self._stop_running(at, before) or found

    async def _wait_for(self, taking: Collection[Taking]) -> None:
        """Wait for them. Raises what one of them raised: its question, and so this stop, come again."""
        others = {one.task for one in taking if one.task is not asyncio.current_task()}
        if not others:
            return
        done, _ = await asyncio.wait(others)
        for task in done:
            if not task.cancelled() and (error := task.exception()):
                raise error

    async def _stop_at(self, reacted: Reacted, key: str) -> bool:
        """Stop the runs that the message stands for; whether one of them was at work."""
        at = _At(reacted.channel, reacted.ts, reacted.user)
        runs = [await self._service.find(k) for k in (key, pointed(key))]
        meant = {run.id: run for run in runs if run is not None and _is_target(run, reacted)}
        for run in meant.values():
            await self._stop(run, at)
        return any(run.state is not RunState.ENDED for run in meant.values())

    async def _stop_running(self, at: _At, before: str | None) -> bool:
        running = [run for run in await self._running(before) if _is_in(run, at)]
        for run in running:
            await self._stop(run, at)
        return bool(running)

    async def _running_in(self, said: Said) -> list[RunRecord]:
        return [
            run for run in await self._running(said.ts) if Address.of(run).channel == said.channel
        ]

    async def _running(self, before: str | None) -> list[RunRecord]:
        """What is at work, or waits, and was asked before the message of this ts."""
        return [
            run
            for run in await self._service.store.unfinished((SURFACE,))
            if run.state is not RunState.ENDED
            and (before is None or float(Address.of(run).ts) < float(before))
        ]

    async def _keep(self, key: str, user: str, ts: str) -> None:
        """Its question may be on its way: the stop waits for it, if it can count for one."""
        match await self._rights.of_anyone(user):
            case By(name=name):
                of_all = True
            case NotAllowed():  # unless it turns out to be their own question
                known = self._people.known(user)
                name, of_all = known.name if known else THE_ASKER, False
            case None:
                return
        at = datetime.fromtimestamp(float(ts), UTC)
        stop = EarlyStop(key, user, name, at, of_all=of_all)
        await self._service.store.stop_early(stop, self._web.clock.now())

    async def _stop(self, run: RunRecord, at: _At) -> None:
        if run.state is RunState.ENDED:
            return
        match await self._rights.who(at.user, Address.of(run).user):
            case By(name=name):
                match await self._service.abort(run.id, name):
                    case Aborting():
                        _log.info("stopped", run=run.id, user=at.user)
                    case _:
                        _log.info("stop_came_late", run=run.id, user=at.user)
            case NotAllowed(why=why):
                _log.info("stop_not_allowed", run=run.id, user=at.user, why=why)
                await self._refuse(run, at, why)
            case None:
                _log.info("stop_ignored", run=run.id, user=at.user)
            case who:
                assert_never(who)

    async def _refuse(self, run: RunRecord, at: _At, why: str) -> None:
        """Told to the one who tried, and to nobody else; once a run, also over restarts."""
        where = Address.of(run)
        if (
            at.ts is not None and at.channel == where.channel
        ):  # the emoji may stand on a question inside a thread
            at = _At(where.channel, where.thread_ts, at.user)
        key = f"slack:refused-stop:{run.id}:{at.user}"
        if await self._service.store.first_seen((key,), self._web.clock.now()):
            self._tasks.start(self._whisper(at, why), f"refused stop {run.id}")

    async def _whisper(self, at: _At, words: str) -> None:
        called = await self._web.persist(_only_to(self._web, at, words), WHISPER_SECONDS)
        if not isinstance(called, Ok):
            _log.info("refused_stop_not_told", user=at.user, why=str(called))


def pointed(key: str) -> str:
    """The key of a question that somebody asked by pointing at the message with this key."""
    return f"{key}:pointed"


def in_thread(key: str) -> str:
    """The key of all that is asked in the thread whose root has this key."""
    return f"{key}:thread"


def _only_to(web: Web, at: _At, words: str) -> Make:
    def post() -> Awaitable[AsyncSlackResponse]:
        return web.client.chat_postEphemeral(
            channel=at.channel, user=at.user, thread_ts=at.ts, text=words
        )

    return post


def _is_target(run: RunRecord, reacted: Reacted) -> bool:
    where = Address.of(run)
    at = (reacted.channel, reacted.ts)
    return run.surface == SURFACE and at in {(where.channel, where.ts), _debug_root(run)}


def _is_in(run: RunRecord, at: _At) -> bool:
    """Whether it answers into that thread, or thinks there."""
    where = Address.of(run)
    return (at.channel, at.ts) in {(where.channel, where.thread_ts), _debug_root(run)}


def _debug_root(run: RunRecord) -> tuple[str | None, str | None]:
    return run.address.get(DEBUG_CHANNEL), run.address.get(DEBUG_TS)
