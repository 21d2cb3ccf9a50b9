"""What the bot says outside runs: help, refusals, "too busy". Once a message, in its thread.

Where that cannot be, or is not for all to read, to one person alone (``direct.py``).
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import timedelta
from typing import TypeAlias, assert_never

import structlog

from bot.runs.again import Again
from bot.runs.errors import StoreError
from bot.runs.outbox import Outbox
from bot.runs.records import Notice, OpenNotice
from bot.runs.surface import Gone, NotPostedError, Posted
from bot.slack.address import SURFACE
from bot.slack.calls import Web
from bot.slack.direct import Direct, DirectPoster, Spot
from bot.slack.events import Said
from bot.slack.rendering import Message, notice
from bot.slack.reply import Mark, Place, Poster, RefusedPostError
from bot.slack.tasks import Tasks

_log = structlog.get_logger(__name__)

LOOK_SECONDS = 30.0
"""Between two looks for notices that are not out."""
GIVE_UP_AFTER = timedelta(hours=1)
"""How long a notice that Slack refuses is tried."""

BUSY = "I have too many questions to work on just now. Ask again in a minute."
CLOSING = "I am being restarted. Ask again in a minute."
NO_MEMBER = (
    "I am not in that channel, so I cannot read it or answer there. "
    "Type `/invite @oncall` in it and ask again."
)
NOTHING_RUNS = "Nothing is running in this thread, so there is nothing to stop."
NOTHING_RUNS_HERE = "Nothing is running here, so there is nothing to stop."

To: TypeAlias = Place | Spot | Direct
"""Where a notice goes: a thread, one person in a channel, or their direct messages."""


def help_text(stop_emoji: str) -> str:
    """For an empty mention."""
    return (
        "Ask me what caused an incident, what changed in a deploy, or what was deployed. "
        "For example: which service caused the checkout incident, and what changed in deploy 4471? "
        f"React with :{stop_emoji}: to your question to stop me."
    )


class Notices:
    """Each is kept with its message before that is acknowledged, and posted once (M23).

    What posts it is a task: it must not hold up the acknowledgement. After a crash, or where Slack
    did not take it, ``watch`` looks whether it is out, and posts it otherwise.
    """

    def __init__(self, poster: Poster, web: Web, tasks: Tasks, outbox: Outbox) -> None:
        self._poster = poster
        self._directly = DirectPoster(web)
        self._web = web
        self._tasks = tasks
        self._outbox = outbox
        self._again = Again(web.clock.monotonic)

    async def tell(self, said: Said, keys: Sequence[str], told: str | Message) -> None:
        """In the message's thread, unless one of ``keys`` was seen. The first one names the notice."""
        await self._tell(keys, for_thread(said, keys[0], told))

    async def tell_directly(self, said: Said, keys: Sequence[str], words: str) -> None:
        """As a direct message: the bot cannot write where it was asked."""
        await self._tell(keys, _kept(keys[0], Direct(said.user, said.asked_at), notice(words)))

    async def whisper(self, spot: Spot, key: str, words: str) -> None:
        """To one person alone, once for ``key``."""
        await self._tell((key,), _kept(key, spot, notice(words)))

    def post(self, kept: OpenNotice) -> None:
        """Post, in the background, what was noted just now."""
        self._start(kept, may_be_out=False)

    async def watch(self) -> None:
        """Post what was left, by a dead process or because Slack did not take it, for ever."""
        while True:
            try:
                await self._look()
            except StoreError as error:
                _log.error("notices_unread", why=str(error))
            await self._web.sleep(LOOK_SECONDS)

    async def _tell(self, keys: Sequence[str], told: Notice) -> None:
        kept = await self._outbox.note(keys, self._web.clock.now(), told)
        if kept is not None:
            self.post(kept)

    async def _look(self) -> None:
        for left in await self._outbox.left(SURFACE):
            if not self._again.is_due(left.notice.key):
                continue
            if (mine := await self._outbox.take(left)) is not None:
                self._start(mine, may_be_out=True)

    def _start(self, kept: OpenNotice, *, may_be_out: bool) -> None:
        work = self._post(kept, may_be_out=may_be_out)
        task = self._tasks.start(work, f"notice {kept.notice.key}")
        task.add_done_callback(lambda task: self._ended(kept, task))

    def _ended(self, kept: OpenNotice, task: asyncio.Task[None]) -> None:
        """However it ended, also where it was cut: what is not done then is looked for again.

        One that this version cannot read may be another's; it is tried ever more seldom.
        """
        self._outbox.put_back(kept)
        if not task.cancelled() and task.exception() is not None:
            self._again.failed(kept.notice.key)

    async def _post(self, kept: OpenNotice, *, may_be_out: bool) -> None:
        key = kept.notice.key
        try:
            done = await self._send_in_time(kept, may_be_out=may_be_out)
            await self._outbox.done(kept)
        except (NotPostedError, StoreError) as error:
            pause = self._again.failed(key)
            _log.warning("notice_still_open", key=key, why=str(error), again_in=pause)
            return
        self._again.settled(key)
        match done:
            case Posted():
                _log.info("notice_posted", key=key)
            case Gone(why=why):
                _log.info("notice_has_no_place", key=key, why=why)
            case _:
                assert_never(done)

    async def _send_in_time(self, kept: OpenNotice, *, may_be_out: bool) -> Posted | Gone:
        """Raises ``NotPostedError``; what Slack has refused for long enough has no place."""
        try:
            return await self._send(kept.notice, may_be_out=may_be_out)
        except RefusedPostError as error:
            if self._web.clock.now() - kept.at < GIVE_UP_AFTER:
                raise
            return Gone(f"Slack refused it for an hour: {error}")

    async def _send(self, told: Notice, *, may_be_out: bool) -> Posted | Gone:
        """Raises ``NotPostedError``."""
        mark = Mark(run="", marker=hashlib.sha256(told.key.encode()).hexdigest()[:16])
        message = Message(**told.body)
        match _read(told.address):
            case Place() as place:
                return await self._poster.post_once(place, message, mark, may_be_out=may_be_out)
            case Spot() as spot:
                return await self._directly.whisper(spot, message)
            case Direct() as to:
                return await self._directly.post_once(to, message, mark, may_be_out=may_be_out)
            case to:
                assert_never(to)


def for_thread(said: Said, key: str, told: str | Message) -> Notice:
    """A notice in the message's thread, as it is kept."""
    message = notice(told) if isinstance(told, str) else told
    return _kept(key, Place(said.channel, said.root, said.ts), message)


def _kept(key: str, to: To, message: Message) -> Notice:
    return Notice(key, SURFACE, _stored(to), asdict(message))


def _stored(to: To) -> Mapping[str, str]:
    match to:
        case Place(channel=channel, thread_ts=thread, since=since):
            return {"channel": channel, "thread_ts": thread, "since": since}
        case Spot(channel=channel, thread_ts=within, user=user):
            return {"channel": channel, "thread_ts": within or "", "user": user}
        case Direct(user=user, since=since):
            return {"user": user, "since": since}
        case _:
            assert_never(to)


def _read(address: Mapping[str, str]) -> To:
    match address:
        case {"channel": channel, "thread_ts": thread, "since": since}:
            return Place(channel, thread, since)
        case {"channel": channel, "thread_ts": thread, "user": user}:
            return Spot(channel, thread or None, user)
        case _:
            return Direct(address["user"], address["since"])
