"""Stopping: a stop emoji, "@oncall stop", Slack's own stop button (M25).

Owns which run is meant. Whose stop counts is ``stop_rights.py``'s. Nothing waits here behind other
work: the stop goes straight to the run, and the run's own reply says that it was stopped, by whom and
what was found. Slack gives no order, so a stop may also come before its question: it is kept until
then.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeAlias, assert_never

import structlog

from bot.runs.records import EarlyStop, RunRecord, RunState
from bot.runs.service import Aborting, RunService
from bot.slack.address import DEBUG_CHANNEL, DEBUG_TS, SURFACE, Address
from bot.slack.calls import Web
from bot.slack.direct import Spot
from bot.slack.events import Reacted, Said, SessionStopped
from bot.slack.identity import Identity
from bot.slack.notices import Notices
from bot.slack.people import People
from bot.slack.settings import SlackSettings
from bot.slack.stop_rights import THE_ASKER, By, NotAllowed, StopRights

_log = structlog.get_logger(__name__)

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
class Stopped:
    """What was meant was found, and stopped if they may; ``left`` is also at work there."""

    left: tuple[RunRecord, ...] = ()


@dataclass(frozen=True)
class NothingRuns:
    """Nothing that was asked before the stop is at work there: told, so that nobody waits (M23)."""


@dataclass(frozen=True)
class WhichOne:
    """Several are at work, and it is not plain which one is meant; none was stopped."""

    runs: tuple[RunRecord, ...]


Meant: TypeAlias = Stopped | NothingRuns | WhichOne


def is_stop(text: str, emojis: Collection[str]) -> bool:
    """Whether a message to the bot, as plain text, is nothing but a stop."""
    return bool(_STOP_WORDS.fullmatch(text)) or text.strip().strip(":") in emojis


class Stops:
    """A stop by somebody allowed ends the run it means within a second, in every replica (M25).

    It never ends one that was asked after it, whenever and however often it is delivered.
    """

    def __init__(
        self,
        service: RunService,
        identity: Identity,
        web: Web,
        people: People,
        settings: SlackSettings,
        notices: Notices,
        taking: Mapping[str, Taking],
    ) -> None:
        """``taking`` holds the questions that are being taken just now, by their keys."""
        self._service = service
        self._identity = identity
        self._web = web
        self._people = people
        self._settings = settings
        self._notices = notices
        self._taking = taking
        self._rights = StopRights(identity, web, people, settings)

    async def reaction(self, reacted: Reacted) -> None:
        """Only the question and the debug thread's root mean a run; the bot's own emoji none."""
        if reacted.name not in self._settings.stop_emojis:
            return
        if reacted.user == self._identity.bot_user:
            return
        key = self._identity.key(reacted.channel, reacted.ts)
        await self._wait_for(
            [taking for k in (key, pointed(key)) if (taking := self._taking.get(k))]
        )
        if not await self._stop_at(reacted, key):
            await self._keep(key, reacted.user, reacted.at)
            await self._stop_at(reacted, key)  # it may have come meanwhile

    async def session(self, stopped: SessionStopped) -> None:
        await self._stop_thread(Spot(stopped.channel, stopped.thread_ts, stopped.user), stopped.at)

    async def words(self, said: Said) -> Meant:
        """Stop what "@oncall stop" means: what runs in its thread, or else in its channel.

        A question that was asked after it is never meant, also when the words are delivered again.
        """
        if said.root == said.ts:
            return await self._in_channel(said)
        at = Spot(said.channel, said.root, said.user)
        found = await self._stop_thread(at, said.ts)
        await self._keep(in_thread(self._identity.key(said.channel, said.root)), said.user, said.ts)
        found = await self._stop_running(at, said.ts) or found
        return Stopped() if found else NothingRuns()

    async def _in_channel(self, said: Said) -> Meant:
        """Their own question if they have one at work there, else the only one there is.

        Where they have none, theirs may be on its way: the stop waits for it.
        """
        theirs = [t for t in self._taking.values() if t.user == said.user]
        await self._wait_for([t for t in theirs if t.channel == said.channel])
        running = await self._running_in(said)
        if len(_of(said.user, running)) != 1:
            await self._wait_for([t for t in self._taking.values() if t.channel == said.channel])
            running = await self._running_in(said)
        if not _of(said.user, running):
            await self._keep_for_their_own(said)
            running = await self._running_in(said)  # it may have come meanwhile
        meant = own if len(own := _of(said.user, running)) == 1 else running
        if not meant:
            return NothingRuns()
        if len(meant) > 1:
            return WhichOne(tuple(meant))
        await self._stop(meant[0], Spot(said.channel, None, said.user))
        return Stopped(tuple(run for run in running if run.id != meant[0].id))

    async def _stop_thread(self, at: Spot, before: str | None) -> bool:
        """Stop what runs in a thread; whether there was anything.

        What is being taken just now is waited for, after what runs already was stopped.
        """
        found = await self._stop_running(at, before)
        taking = [
            t for t in self._taking.values() if (t.channel, t.root) == (at.channel, at.thread_ts)
        ]
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
        at = Spot(reacted.channel, reacted.ts, reacted.user)
        runs = [await self._service.find(k) for k in (key, pointed(key))]
        meant = {run.id: run for run in runs if run is not None and _is_target(run, reacted)}
        for run in meant.values():
            await self._stop(run, at)
        return any(run.state is not RunState.ENDED for run in meant.values())

    async def _stop_running(self, at: Spot, before: str | None) -> bool:
        running = [run for run in await self._running(before) if _is_in(run, at)]
        for run in running:
            await self._stop(run, at)
        return bool(running)

    async def _running_in(self, said: Said) -> list[RunRecord]:
        return [
            run for run in await self._running(said.ts) if Address.of(run).channel == said.channel
        ]

    async def _running(self, before: str | None) -> list[RunRecord]:
        """What is at work, or waits, and was asked before the message of this ts.

        Somebody may have asked later by pointing at an older message: what counts is the asking.
        """
        return [
            run
            for run in await self._service.store.unfinished((SURFACE,))
            if run.state is not RunState.ENDED
            and (before is None or float(Address.of(run).asked_ts) < float(before))
        ]

    async def _keep(self, key: str, user: str, ts: str) -> None:
        """Its question may be on its way: the stop waits for it, if it can count for one."""
        match await self._rights.of_anyone(user):
            case By(name=name):
                of_all = True
            case NotAllowed():  # unless it turns out to be their own question
                name, of_all = self._called(user), False
            case None:
                return
        await self._keep_early(EarlyStop(key, user, name, _time(ts), of_all=of_all))

    async def _keep_for_their_own(self, said: Said) -> None:
        """The same for words at the root, which name no question: they mean that person's alone."""
        key = in_channel(self._identity.channel_key(said.channel))
        name = self._called(said.user)
        await self._keep_early(EarlyStop(key, said.user, name, _time(said.ts), of_all=False))

    async def _keep_early(self, stop: EarlyStop) -> None:
        await self._service.store.stop_early(stop, self._web.clock.now())

    def _called(self, user: str) -> str:
        known = self._people.known(user)
        return known.name if known else THE_ASKER

    async def _stop(self, run: RunRecord, at: Spot) -> None:
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

    async def _refuse(self, run: RunRecord, at: Spot, why: str) -> None:
        """Told to the one who tried, and to nobody else; once a run, also over restarts."""
        where = Address.of(run)
        if (
            at.thread_ts is not None and at.channel == where.channel
        ):  # the emoji may stand on a question inside a thread
            at = Spot(where.channel, where.thread_ts, at.user)
        key = f"slack:refused-stop:{run.id}:{at.user}"
        await self._notices.whisper(at, key, why)


def pointed(key: str) -> str:
    """The key of a question that somebody asked by pointing at the message with this key."""
    return f"{key}:pointed"


def in_thread(key: str) -> str:
    """The key of all that is asked in the thread whose root has this key."""
    return f"{key}:thread"


def in_channel(key: str) -> str:
    """The key of all that is asked in the channel with this key."""
    return f"{key}:channel"


def _time(ts: str) -> datetime:
    return datetime.fromtimestamp(float(ts), UTC)


def _of(user: str, running: Sequence[RunRecord]) -> list[RunRecord]:
    return [run for run in running if Address.of(run).user == user]


def _is_target(run: RunRecord, reacted: Reacted) -> bool:
    """Whether it stands for the run, and was put there after the run was asked for."""
    if run.surface != SURFACE:
        return False
    where = Address.of(run)
    at = (reacted.channel, reacted.ts)
    is_its = at in {(where.channel, where.ts), _debug_root(run)}
    return is_its and float(where.asked_ts) <= float(reacted.at)


def _is_in(run: RunRecord, at: Spot) -> bool:
    """Whether it answers into that thread, or thinks there."""
    where = Address.of(run)
    return (at.channel, at.thread_ts) in {(where.channel, where.thread_ts), _debug_root(run)}


def _debug_root(run: RunRecord) -> tuple[str | None, str | None]:
    return run.address.get(DEBUG_CHANNEL), run.address.get(DEBUG_TS)
