"""Slack's own client as the bot uses it: no repeats by itself, no proxy to this machine, few words."""

from __future__ import annotations

import logging
from urllib.parse import urlsplit

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.settings import SlackSettings


def web_client(
    settings: SlackSettings, session: aiohttp.ClientSession | None, token: str | None
) -> AsyncWebClient:
    """A client that repeats nothing: a repeated post would be a second reply."""
    client = AsyncWebClient(
        token=token,
        base_url=settings.base_url,
        session=session,
        retry_handlers=[],
        logger=library_log(),
    )
    if is_local(settings.base_url):
        client.proxy = None
    return client


def is_local(base_url: str) -> bool:
    """Whether it is a local Slack: the environment's proxy does not lead there."""
    return urlsplit(base_url).hostname in {"127.0.0.1", "localhost", "::1"}


def library_log() -> logging.Logger:
    """The log of Slack's libraries: what needs attention, without the text of messages."""
    log = logging.getLogger("oncall.slack")
    log.setLevel(logging.ERROR)
    if _is_news not in log.filters:
        log.addFilter(_is_news)
    return log


def _is_news(record: logging.LogRecord) -> bool:
    """Not each acknowledgement that a lost connection took along: Slack sends those events again."""
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, ConnectionError)
