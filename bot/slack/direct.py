"""Posting to one person alone: as a direct message, or as a whisper where they are (M23).

A direct message carries a marker, as a reply does (``reply.py``), and is searched for before it is
posted again. A whisper cannot be searched for, so it may come twice: only they see it, and they may
have missed the first.
"""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass

from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.runs.surface import Gone, NotPostedError, Posted
from bot.slack.calls import Called, Make, Ok, Refused, Web
from bot.slack.fixes import fix_for
from bot.slack.rendering import Message
from bot.slack.reply import GONE, Mark, RefusedPostError

SECONDS = 30.0
"""How long Slack is asked for the conversation, and for each page of what is in it."""
PAGE = 200
_GONE = GONE | {"user_not_in_channel", "user_not_found"}


@dataclass(frozen=True)
class Spot:
    """Where a whisper is seen. ``thread_ts`` ``None``: at the channel's root."""

    channel: str
    thread_ts: str | None
    user: str


@dataclass(frozen=True)
class Direct:
    """The direct messages of one person with the bot. ``since``: a ts before which ours cannot be."""

    user: str
    since: str


class DirectPoster:
    """Posts what one person is to read and nobody else. One try each."""

    def __init__(self, web: Web) -> None:
        self._web = web

    async def post_once(
        self, to: Direct, message: Message, mark: Mark, *, may_be_out: bool
    ) -> Posted:
        """A direct message. Raises ``NotPostedError``: it may be out then, so look first next time."""
        opened = _ok(await self._web.persist(_opening(self._web, to.user), SECONDS))
        channel = str((opened.data.get("channel") or {}).get("id", ""))
        if may_be_out and (known := await self._find(channel, to.since, mark)):
            return known
        posted = await self._web.once(
            self._web.client.chat_postMessage(
                channel=channel,
                text=message.text,
                metadata=mark.metadata(),
                unfurl_links=False,
                unfurl_media=False,
            )
        )
        return Posted(str(_ok(posted).data.get("ts", "")))

    async def _find(self, channel: str, since: str, mark: Mark) -> Posted | None:
        """Look through all pages. Raises ``NotPostedError``: never post blindly again."""
        cursor: str | None = None
        while True:
            page = await self._web.persist(_history(self._web, channel, since, cursor), SECONDS)
            data = _ok(page).data
            for one in data.get("messages", ()):
                if mark.is_on(one):
                    return Posted(str(one["ts"]))
            cursor = (data.get("response_metadata") or {}).get("next_cursor") or None
            if cursor is None:
                return None

    async def whisper(self, spot: Spot, message: Message) -> Posted | Gone:
        """Raises ``NotPostedError``. Somebody who left the channel cannot be told there."""
        match await self._web.persist(_whispering(self._web, spot, message.text), SECONDS):
            case Ok(data=data):
                return Posted(str(data.get("message_ts", "")))
            case Refused(error=error) if error in _GONE:
                return Gone(error)
            case Refused() as refused:
                raise RefusedPostError(fix_for(refused))
            case trouble:
                raise NotPostedError(f"Slack did not take the whisper ({trouble}).")


def _ok(called: Called) -> Ok:
    match called:
        case Ok():
            return called
        case Refused():
            raise RefusedPostError(fix_for(called))
        case trouble:
            raise NotPostedError(f"Slack did not take the direct message ({trouble}).")


def _opening(web: Web, user: str) -> Make:
    return lambda: web.client.conversations_open(users=user)


def _whispering(web: Web, spot: Spot, text: str) -> Make:
    def whisper() -> Awaitable[AsyncSlackResponse]:
        return web.client.chat_postEphemeral(
            channel=spot.channel, user=spot.user, thread_ts=spot.thread_ts, text=text
        )

    return whisper


def _history(web: Web, channel: str, since: str, cursor: str | None) -> Make:
    def history() -> Awaitable[AsyncSlackResponse]:
        return web.client.conversations_history(
            channel=channel, oldest=since, include_all_metadata=True, limit=PAGE, cursor=cursor
        )

    return history
