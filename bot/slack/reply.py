"""Posting exactly once: the one place where the bot writes messages that must not be lost (M23).

Owns what is done after each of the ways that a post can go. A post carries a marker in its metadata;
after an unknown outcome, or a crash, the thread is searched for it before anything is posted again.
Knows no run: what is still ours to say is asked of ``still_ours``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, TypeAlias, assert_never

import structlog
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.runs.surface import Gone, NotPostedError, Posted
from bot.slack.buttons import feedback_buttons
from bot.slack.calls import Called, Limited, Make, Ok, Refused, Unknown, Web, pauses
from bot.slack.fixes import fix_for
from bot.slack.lane import Lane, Rank
from bot.slack.rendering import Message
from bot.slack.tasks import Tasks

_log = structlog.get_logger(__name__)

EVENT_TYPE = "oncall_reply"
PATIENCE = 600.0
"""Seconds that one reply is worked on; then it stays open for a later try."""
SEARCH_PATIENCE = 300.0
PAGE = 200
SETTLING = (0.0, 1.3)
"""Seconds between the searches after a lost connection: Slack may still be storing the message."""
SETTLING_SLOWLY = (0.0, 2.0, 5.0)
"""The same after a post that Slack did not answer in time."""
SWEEPS = (30.0, 120.0, 600.0)
"""Seconds after which a reply whose way was unclear is looked at once more for a double."""

_REFUSED_CONTENT = frozenset(
    {
        "invalid_blocks",
        "invalid_blocks_format",
        "msg_blocks_too_long",
        "msg_too_long",
        "markdown_text_conflict",
        "no_text",
        "too_many_attachments",
    }
)
GONE = frozenset({"channel_not_found", "is_archived", "not_in_channel", "thread_not_found"})
"""Refusals that say that nothing can be posted there any more."""


class RefusedPostError(NotPostedError):
    """Slack refuses it and will go on to, until somebody mends what the message names."""


@dataclass(frozen=True)
class Place:
    """A thread. ``since`` is the ts of a message before which ours cannot be."""

    channel: str
    thread_ts: str
    since: str


@dataclass(frozen=True)
class Mark:
    """What finds a post again: the run that it is the reply of, if any, and a word of its own."""

    run: str
    marker: str

    @property
    def rank(self) -> Rank:
        """How soon it is searched for: replies do not wait for what is said outside runs."""
        return Rank.REPLY if self.run else Rank.NOTICE

    def metadata(self) -> dict[str, Any]:
        payload = {"run": self.run, "marker": self.marker}
        return {"event_type": EVENT_TYPE, "event_payload": payload}

    def is_on(self, message: Mapping[str, Any]) -> bool:
        metadata = message.get("metadata") or {}
        payload = metadata.get("event_payload") or {}
        return bool(
            metadata.get("event_type") == EVENT_TYPE and payload.get("marker") == self.marker
        )


@dataclass(frozen=True)
class _Found:
    """Where ours stands: the ts of each, oldest first."""

    messages: tuple[str, ...]


@dataclass(frozen=True)
class _NoThread:
    """The thread is gone; ``strays`` of ours stand at the channel's root."""

    strays: tuple[str, ...]


_Search: TypeAlias = _Found | _NoThread


class _Length(IntEnum):
    """What is sent: less of it each time that Slack refuses the content."""

    FULL = 0
    PLAIN = 1
    BRIEF = 2


async def nobody_else() -> None:
    """The ``still_ours`` of what belongs to no run."""


class Poster:
    """Posts messages that arrive once, or says that the place is gone."""

    def __init__(self, web: Web, tasks: Tasks) -> None:
        self._web = web
        self._tasks = tasks
        self._searches = Lane(web)

    async def post_once(
        self,
        place: Place,
        message: Message,
        mark: Mark,
        *,
        may_be_out: bool = False,
        still_ours: Callable[[], Awaitable[None]] = nobody_else,
    ) -> Posted | Gone:
        """Raises ``NotPostedError``, and what ``still_ours`` raises.

        ``may_be_out``: somebody else may have posted it before, so look first.
        """
        until = self._web.clock.monotonic() + PATIENCE
        length = _Length.FULL
        settling: Sequence[float] = SETTLING if may_be_out else ()
        unclear = may_be_out
        for pause in pauses():
            if settling:
                if known := await self._look(place, mark, settling):
                    return known
                settling = ()
            await still_ours()
            called = await self._web.once(self._post(place, message, mark, length))
            match called:
                case Ok(data=data):
                    return await self._landed(place, mark, data, unclear=unclear)
                case Limited(seconds=seconds):
                    await self._wait(seconds, until, called)
                case Unknown(slow=slow):
                    unclear = True
                    settling = SETTLING_SLOWLY if slow else SETTLING
                    await self._wait(pause, until, called)
                case Refused(error=error) if error in _REFUSED_CONTENT and length < _Length.BRIEF:
                    _log.warning("reply_shortened", run=mark.run, error=error)
                    length = _Length(length + 1)
                case Refused(error=error) if error in GONE:
                    _log.warning("reply_has_no_place", run=mark.run, fix=fix_for(called))
                    return Gone(error)
                case Refused():
                    raise RefusedPostError(fix_for(called))
                case _:
                    assert_never(called)
        raise AssertionError("pauses never end")

    async def _wait(self, seconds: float, until: float, why: Called) -> None:
        if self._web.clock.monotonic() + seconds > until:
            raise NotPostedError(f"Slack did not take the reply in time ({why}).")
        await self._web.sleep(seconds)

    def _post(
        self, place: Place, message: Message, mark: Mark, length: _Length
    ) -> Awaitable[AsyncSlackResponse]:
        blocks: list[dict[str, Any]] | None = None
        match length:
            case _Length.FULL:
                text = message.text
                blocks = [{"type": "markdown", "text": message.markdown}]
                if mark.run:
                    blocks.append(feedback_buttons(mark.run))
            case _Length.PLAIN:
                text = message.plain
            case _Length.BRIEF:
                text = message.brief
            case _:
                assert_never(length)
        return self._web.client.chat_postMessage(
            channel=place.channel,
            thread_ts=place.thread_ts,
            text=text,
            blocks=blocks,
            metadata=mark.metadata(),
            unfurl_links=False,
            unfurl_media=False,
            link_names=False,
            reply_broadcast=False,
        )

    async def _landed(
        self, place: Place, mark: Mark, data: Mapping[str, Any], *, unclear: bool
    ) -> Posted | Gone:
        """Where it went: without the parent, Slack posts at the channel's root and says ok."""
        ts = str(data.get("ts", ""))
        if not (data.get("message") or {}).get("thread_ts"):
            await self._delete(place.channel, (ts,))
            return Gone("the question was deleted")
        if unclear:
            self._tasks.start(self._sweep(place, mark, ts), f"sweep {mark.run}")
        return Posted(ts)

    # --- searching ---------------------------------------------------------------------------------

    async def _look(
        self, place: Place, mark: Mark, settling: Sequence[float]
    ) -> Posted | Gone | None:
        """What became of an earlier post. ``None``: nothing, for sure."""
        for pause in settling:
            await self._web.sleep(pause)
            match await self._search(place, mark, mark.rank):
                case _Found(messages=(first, *doubles)):
                    await self._delete(place.channel, doubles)
                    self._tasks.start(self._sweep(place, mark, first), f"sweep {mark.run}")
                    return Posted(first)
                case _Found():
                    continue
                case _NoThread(strays=strays):
                    await self._delete(place.channel, strays)
                    return Gone("the question was deleted")
        return None

    async def _search(self, place: Place, mark: Mark, rank: Rank) -> _Search:
        """Raises ``NotPostedError`` when Slack does not let us look: never post blindly again."""
        client = self._web.client
        in_thread = await self._pages(
            mark,
            rank,
            lambda cursor: client.conversations_replies(
                channel=place.channel,
                ts=place.thread_ts,
                oldest=place.since,
                include_all_metadata=True,
                limit=PAGE,
                cursor=cursor,
            ),
        )
        if in_thread is not None:
            return _Found(in_thread)
        at_root = await self._pages(
            mark,
            rank,
            lambda cursor: client.conversations_history(
                channel=place.channel,
                oldest=place.since,
                include_all_metadata=True,
                limit=PAGE,
                cursor=cursor,
            ),
        )
        return _NoThread(at_root or ())

    async def _pages(
        self, mark: Mark, rank: Rank, page: Callable[[str | None], Awaitable[AsyncSlackResponse]]
    ) -> tuple[str, ...] | None:
        """Our messages on all pages; ``None`` if there is no such thread or channel."""
        ours: list[str] = []
        cursor: str | None = None
        while True:
            at = cursor
            match await self._searches.persist(_call(page, at), SEARCH_PATIENCE, rank):
                case Ok(data=data):
                    ours += [str(m["ts"]) for m in data.get("messages", ()) if mark.is_on(m)]
                    cursor = (data.get("response_metadata") or {}).get("next_cursor") or None
                    if cursor is None:
                        return tuple(sorted(set(ours)))
                case Refused(error="thread_not_found" | "channel_not_found"):
                    return None
                case Refused() as refused:
                    raise RefusedPostError(fix_for(refused))
                case Limited() | Unknown() as trouble:
                    raise NotPostedError(f"Slack did not let us search the thread ({trouble}).")

    async def _sweep(self, place: Place, mark: Mark, kept: str) -> None:
        """Remove a double that Slack stored late."""
        for pause in SWEEPS:
            await self._web.sleep(pause)
            try:
                found = await self._search(place, mark, Rank.TIDYING)
            except NotPostedError as error:
                _log.warning("sweep_failed", run=mark.run, why=str(error))
                return
            match found:
                case _Found(messages=messages):
                    doubles = tuple(ts for ts in messages if ts != kept)
                    await self._delete(place.channel, doubles if kept in messages else ())
                case _NoThread(strays=strays):
                    await self._delete(place.channel, strays)

    async def _delete(self, channel: str, messages: Sequence[str]) -> None:
        for ts in messages:
            called = await self._web.persist(_deletion(self._web, channel, ts), SEARCH_PATIENCE)
            match called:
                case Ok() | Refused(error="message_not_found" | "channel_not_found"):
                    _log.info("own_message_removed", channel=channel, ts=ts)
                case _:
                    _log.error("own_message_left", channel=channel, ts=ts, why=str(called))


def _call(page: Callable[[str | None], Awaitable[AsyncSlackResponse]], cursor: str | None) -> Make:
    return lambda: page(cursor)


def _deletion(web: Web, channel: str, ts: str) -> Make:
    return lambda: web.client.chat_delete(channel=channel, ts=ts)
