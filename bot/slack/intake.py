"""From a message to a run: checked, read, committed, and only then acknowledged (M23, M26).

Owns the order of the checks and that one message is handled once, however often and under however
many event ids Slack delivers it. What must not be lost is in the store before ``message`` returns;
when it raises, the event is not acknowledged and Slack sends it again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import assert_never

import structlog

from bot.loop.question import MAX_QUESTION
from bot.runs.records import Ask, Heeds, RunRecord
from bot.runs.service import Accepted, Closing, Duplicate, QueueFull, RunService
from bot.slack.abort import (
    NothingRuns,
    Stopped,
    Stops,
    Taking,
    WhichOne,
    in_channel,
    in_thread,
    is_stop,
    pointed,
)
from bot.slack.access import Allowed, Denied, Ignored, Verdict, Why, may_ask, may_ask_here, sentence
from bot.slack.address import SURFACE, Address
from bot.slack.at_work import AtWork, left_at_work, which_one
from bot.slack.bindings import Unsure, scope_of
from bot.slack.calls import Web
from bot.slack.channels import Channels
from bot.slack.events import Said
from bot.slack.identity import Identity
from bot.slack.notices import (
    BUSY,
    CLOSING,
    NO_MEMBER,
    NOTHING_RUNS,
    NOTHING_RUNS_HERE,
    Notices,
    for_thread,
    help_text,
)
from bot.slack.people import People
from bot.slack.progress import Progress
from bot.slack.reading import plain_text
from bot.slack.rendering import Message
from bot.slack.settings import SlackSettings
from bot.slack.tasks import Tasks
from bot.slack.thread import earlier_messages
from bot.slack.writing import clean

_log = structlog.get_logger(__name__)

WHO_SECONDS = 180.0
"""How long to ask Slack who somebody is; meanwhile the event stays unacknowledged, so safe."""
WHERE_SECONDS = 30.0

AskedAt = Callable[[str], datetime]
"""The clock that a question is read against, from its message's ts."""


def at_its_own_time(ts: str) -> datetime:
    return datetime.fromtimestamp(float(ts), UTC)


class Intake:
    """Takes each message once: a reply, a notice or nothing, decided before it is acknowledged (M23).

    Only who may ask gets further than the checks (M26).
    """

    def __init__(
        self,
        *,
        service: RunService,
        identity: Identity,
        web: Web,
        people: People,
        channels: Channels,
        notices: Notices,
        stops: Stops,
        progress: Progress,
        tasks: Tasks,
        settings: SlackSettings,
        now: Callable[[], datetime],
        asked_at: AskedAt,
        taking: dict[str, Taking],
    ) -> None:
        """``taking`` gets the questions that are being taken just now, by their keys."""
        self._service = service
        self._identity = identity
        self._web = web
        self._people = people
        self._channels = channels
        self._notices = notices
        self._stops = stops
        self._progress = progress
        self._tasks = tasks
        self._settings = settings
        self._now = now
        self._asked_at = asked_at
        self._taking = taking
        self._deliveries: dict[str, asyncio.Task[None]] = {}

    async def message(self, said: Said) -> None:
        """Take one delivery of a message. Deliveries that come meanwhile wait for the first one."""
        key = self._key(said)
        task = self._deliveries.get(key)
        if task is None:
            task = self._tasks.start(self._take(said, key), f"intake {key}")
            self._deliveries[key] = task
            if not self._is_stop(self._text(said)):  # stops wait for questions, not for stops
                self._taking[key] = Taking(said.channel, said.root, said.user, task)
            task.add_done_callback(lambda _: self._taken(key))
        await asyncio.shield(task)

    def _taken(self, key: str) -> None:
        del self._deliveries[key]
        self._taking.pop(key, None)

    def _key(self, said: Said) -> str:
        """A message may be a question itself, and once more be pointed at by somebody."""
        key = self._identity.key(said.channel, said.ts)
        return pointed(key) if said.pointed else key

    async def _take(self, said: Said, key: str) -> None:
        keys = (key, said.delivery)
        if said.user == self._identity.bot_user:
            return
        if self._needs_slack(said) and await self._service.find(*keys) is not None:
            return
        if said.pointed and not said.direct and not await self._is_member_of(said.channel):
            await self._notices.tell_directly(said, keys[1:], NO_MEMBER)
            return
        match await self._verdict(said):
            case Ignored():
                return
            case Denied(why=why):
                _log.info("refused", why=why.value, channel=said.channel, user=said.user)
                # A refusal is about who points at a message; somebody else may point at it too.
                told_once = keys[1:] if said.pointed else keys
                await self._notices.tell(said, told_once, sentence(why))
            case Allowed():
                await self._read(said, keys)
            case verdict:
                assert_never(verdict)

    def _needs_slack(self, said: Said) -> bool:
        """Whether Slack has to be asked before the commit, which finds a double by itself."""
        return said.root != said.ts or self._people.known(said.user) is None

    async def _is_member_of(self, channel: str) -> bool:
        """A shortcut can be used where the bot is not; a private channel it does not even see."""
        known = await self._channels.channel(channel, WHERE_SECONDS)
        return known is not None and known.is_member

    async def _verdict(self, said: Said) -> Verdict:
        person = await self._people.person(said.user, WHO_SECONDS)
        verdict = may_ask(self._identity.homes, said.teams, person)
        if not isinstance(verdict, Allowed):
            return verdict
        if said.direct:
            return verdict if self._settings.direct_messages else Denied(Why.DIRECT)
        allowed = self._settings.channels
        if may_ask_here(allowed, said.channel, None) and not self._settings.bindings:
            return verdict
        channel = await self._channels.channel(said.channel, WHERE_SECONDS)
        if not may_ask_here(allowed, said.channel, channel.name if channel else None):
            return Denied(Why.CHANNEL)
        bound = scope_of(self._settings.bindings, self._address(said))
        return Denied(Why.UNNAMED) if isinstance(bound, Unsure) else verdict

    async def _read(self, said: Said, keys: tuple[str, ...]) -> None:
        """What an allowed person wants: help, a stop, or an answer."""
        text = self._text(said)
        if text.lower().strip("!?. ") in {"", "help"}:
            await self._notices.tell(said, keys, help_text(self._settings.stop_emojis[0]))
        elif self._is_stop(text):
            await self._stop(said, keys)
        else:
            await self._ask(said, keys, text)

    def _text(self, said: Said) -> str:
        return clean(plain_text(said.text, self._name, self._identity.bot_user)).strip()

    def _is_stop(self, text: str) -> bool:
        return is_stop(text, self._settings.stop_emojis)

    async def _stop(self, said: Said, keys: tuple[str, ...]) -> None:
        """Stop first: a delivery that comes again after a crash must still find its stop undone.

        One that was seen to its end stops nothing more: what runs now is not what was meant then.
        """
        if await self._service.store.is_seen(keys):
            return
        emoji = self._settings.stop_emojis[0]
        told: str | Message
        match await self._stops.words(said):
            case Stopped(left=left):
                told = left_at_work(self._listed(left), emoji) if left else ""
            case WhichOne(runs=runs):
                told = which_one(self._listed(runs), emoji)
            case NothingRuns():
                told = NOTHING_RUNS_HERE if said.root == said.ts else NOTHING_RUNS
            case meant:
                assert_never(meant)
        if told:
            await self._notices.tell(said, keys, told)
        else:
            await self._service.store.first_seen(keys, self._now())

    def _listed(self, runs: Sequence[RunRecord]) -> list[AtWork]:
        places = [(run.question, Address.of(run)) for run in runs]
        return [
            AtWork(question, self._identity.permalink(at.channel, at.ts, at.thread_ts))
            for question, at in places
        ]

    async def _ask(self, said: Said, keys: tuple[str, ...], text: str) -> None:
        """The commit. A thread that cannot be read in time is left out."""
        taken = await self._service.accept(
            Ask(
                origin_key=keys[0],
                surface=SURFACE,
                text=text[: MAX_QUESTION * 2],
                asked_at=self._asked_at(said.ts),
                address=self._address(said).stored(),
                thread=await earlier_messages(self._web, self._people, said),
                seen_keys=keys[1:],
                heeds=self._heeds(said),
                if_full=for_thread(said, keys[0], BUSY),
            )
        )
        match taken:
            case Accepted(run=run):
                self._progress.begin(run)
            case Duplicate():
                return
            case QueueFull(told=told):
                if told is not None:
                    self._notices.post(told)
            case Closing():
                await self._notices.tell(said, keys, CLOSING)
            case _:
                assert_never(taken)

    def _heeds(self, said: Said) -> Heeds:
        """The stops that are meant for it, should they have been delivered sooner."""
        message = self._identity.key(said.channel, said.ts)
        thread = in_thread(self._identity.key(said.channel, said.root))
        channel = in_channel(self._identity.channel_key(said.channel))
        return Heeds((message, thread, channel), said.user, at_its_own_time(said.asked_at))

    def _address(self, said: Said) -> Address:
        known = self._channels.known(said.channel)
        shared = said.shared if said.shared is not None else known is None or known.is_shared
        return Address(
            channel=said.channel,
            ts=said.ts,
            thread_ts=said.root,
            asked_ts=said.asked_at,
            user=said.user,
            shared=shared and not said.direct,
            direct=said.direct,
            name=known.name if known else "",
        )

    def _name(self, key: str) -> str:
        channel = self._channels.known(key)
        return channel.name if channel and channel.name else self._people.name(key)
