"""What was said in a thread before the question: context for the run, as data."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import Any

import structlog
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.slack.calls import Make, Ok, Web
from bot.slack.events import Said
from bot.slack.people import People
from bot.slack.reading import message_text, plain_text
from bot.slack.writing import clean, cut

_log = structlog.get_logger(__name__)

SECONDS = 1.5
"""The question is not acknowledged before; without the thread it is asked all the same."""
PAGE = 200
MAX_PAGES = 3
MAX_MESSAGES = 40
MAX_CHARACTERS = 1_500
"""Of one message."""


async def earlier_messages(web: Web, people: People, said: Said) -> tuple[str, ...]:
    """The thread's first message and its newest ones before the question, oldest first."""
    if said.thread_ts is None or said.thread_ts == said.ts:
        return ()
    found: list[Mapping[str, Any]] = []
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        match await web.persist(_page(web, said, cursor), SECONDS):
            case Ok(data=data):
                found += data.get("messages", ())
                cursor = (data.get("response_metadata") or {}).get("next_cursor") or None
            case trouble:
                _log.warning("thread_not_read", channel=said.channel, why=str(trouble))
                break
        if cursor is None:
            break
    lines = [line for message in found if (line := _line(message, people, said.ts))]
    return tuple(lines if len(lines) <= MAX_MESSAGES else [lines[0], *lines[1 - MAX_MESSAGES :]])


def _page(web: Web, said: Said, cursor: str | None) -> Make:
    def page() -> Awaitable[AsyncSlackResponse]:
        return web.client.conversations_replies(
            channel=said.channel,
            ts=said.root,
            latest=said.ts,
            limit=PAGE,
            cursor=cursor,
        )

    return page


def _line(message: Mapping[str, Any], people: People, before: str) -> str:
    if str(message.get("ts", "")) >= before or message.get("subtype") == "tombstone":
        return ""
    text = clean(plain_text(message_text(message), people.name)).strip()
    if not text:
        return ""
    who = message.get("username") or people.name(str(message.get("user", ""))) or "an app"
    return cut(f"{clean(str(who))}: {text}", MAX_CHARACTERS)
