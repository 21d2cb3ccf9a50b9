"""The doctor: what is missing in Slack for the bot to work, each finding with its fix (M27).

Owns the checks and their words. Changes nothing, posts nothing, and looks on after a finding
wherever that makes sense. The app token's check opens no socket, it only asks for an address.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from http import HTTPStatus
from typing import assert_never

import aiohttp

from bot.loop.stopping import Clock
from bot.slack.access import may_ask_here
from bot.slack.calls import Called, Limited, Ok, Refused, Unknown, Web
from bot.slack.channels import Channel, joined_channels
from bot.slack.client import web_client
from bot.slack.fixes import fix_for
from bot.slack.identity import read_identity
from bot.slack.manifest import BOT_SCOPES, JOIN_SCOPE
from bot.slack.settings import SlackSettings

SECONDS = 10.0
MAX_SKEW_SECONDS = 60.0


class Check(StrEnum):
    """What was looked at."""

    BOT_TOKEN = "bot token"  # noqa: S105 - a name, not a token
    SCOPES = "scopes"
    APP_TOKEN = "app token"  # noqa: S105 - as above
    CHANNELS = "channels"
    DEBUG_CHANNEL = "debug channel"
    CLOCK = "clock"
    CONNECTIONS = "connections"
    PUBLIC_URL = "public URL"


@dataclass(frozen=True)
class Finding:
    """One thing that was checked. ``fix`` is empty where all is well."""

    check: Check
    what: str
    fix: str = ""

    @property
    def is_well(self) -> bool:
        return not self.fix


async def examine(
    settings: SlackSettings,
    clock: Clock | None = None,
    *,
    public_url: str = "",
    connections: int | None = None,
) -> tuple[Finding, ...]:
    """Everything that can be checked from here. Never raises for what it finds.

    ``connections`` is how many sockets Slack counts for the app token, where a running bot knows.
    """
    if settings.bot_token is None:
        return (
            Finding(
                Check.BOT_TOKEN,
                "Slack is not set up",
                "run `oncall-bot manifest --link`, make the app, then set [slack] bot_token "
                "(xoxb-, page OAuth & Permissions) and app_token (xapp-, page Basic Information)",
            ),
        )
    timeout = aiohttp.ClientTimeout(total=settings.call_seconds)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        client = web_client(settings, session, settings.bot_token.get_secret_value())
        web = Web(client, clock or Clock())
        found = [finding async for finding in _findings(settings, web)]
        found.append(_connections(connections))
        found.append(await _public_url(session, public_url))
        return tuple(found)


async def _findings(settings: SlackSettings, web: Web) -> AsyncIterator[Finding]:
    called = await web.persist(web.client.auth_test, SECONDS)
    yield _bot_token(called, web.client.base_url)
    if isinstance(called, Ok):
        yield _scopes(called.headers, settings)
        yield _clock(called.headers, web.clock.now())
        joined = await joined_channels(web, SECONDS)
        for finding in _channels(settings.channels, joined):
            yield finding
        yield _debug_channel(settings.debug_channel, joined)
        if settings.private_debug_channel:
            yield _private_debug_channel(settings.private_debug_channel, joined)
    if settings.transport == "socket":
        yield await _app_token(settings, web)


def _bot_token(called: Called, base_url: str) -> Finding:
    match called:
        case Ok(data=data):
            who = read_identity(data)
            return Finding(Check.BOT_TOKEN, f"works: {who.name} in team {who.team}")
        case Refused() as refused:
            return Finding(Check.BOT_TOKEN, "Slack refuses it", fix_for(refused))
        case Limited() | Unknown() as trouble:
            return _unreachable(Check.BOT_TOKEN, base_url, trouble)
        case _:
            assert_never(called)


def _unreachable(check: Check, base_url: str, trouble: Limited | Unknown) -> Finding:
    return Finding(
        check,
        f"Slack does not answer at {base_url} ({trouble})",
        "check the network, the proxy and [slack] base_url",
    )


def _scopes(headers: Mapping[str, str], settings: SlackSettings) -> Finding:
    """Granted scopes come with every answer."""
    told = {name.lower(): value for name, value in headers.items()}.get("x-oauth-scopes")
    if told is None:
        return Finding(Check.SCOPES, "Slack did not say which are granted")
    granted = {scope.strip() for scope in told.split(",")}
    needed = (*BOT_SCOPES, JOIN_SCOPE) if settings.join_channels else BOT_SCOPES
    missing = [scope for scope in needed if scope not in granted]
    if not missing:
        return Finding(Check.SCOPES, f"all {len(needed)} of the manifest are granted")
    return Finding(
        Check.SCOPES,
        f"missing: {', '.join(missing)}",
        'add them on the page "OAuth & Permissions", then reinstall the app',
    )


def _clock(headers: Mapping[str, str], now: datetime) -> Finding:
    """The bot's clock against Slack's: windows and deadlines go by it."""
    date = {name.lower(): value for name, value in headers.items()}.get("date", "")
    try:
        skew = (now - parsedate_to_datetime(date)).total_seconds()
    except (TypeError, ValueError):
        return Finding(Check.CLOCK, "Slack did not say what time it is")
    if abs(skew) <= MAX_SKEW_SECONDS:
        return Finding(Check.CLOCK, f"within {MAX_SKEW_SECONDS:.0f} s of Slack's")
    way = "ahead of" if skew > 0 else "behind"
    return Finding(
        Check.CLOCK,
        f"{abs(skew):.0f} s {way} Slack's",
        "synchronise this machine's clock (NTP): incident windows are read against it",
    )


def _channels(rules: Sequence[str], joined: Sequence[Channel] | None) -> Iterator[Finding]:
    if joined is None:
        yield Finding(
            Check.CHANNELS,
            "Slack did not list the bot's channels",
            "grant channels:read, groups:read and im:read, then reinstall the app",
        )
        return
    places = [channel for channel in joined if channel.name]
    if not rules:
        yield _all_channels(places)
    for rule in rules:
        found = [c.name for c in places if may_ask_here((rule,), c.id, c.name)]
        if found:
            yield Finding(Check.CHANNELS, f"{rule}: in {_listed(found)}")
        else:
            yield Finding(
                Check.CHANNELS,
                f"{rule}: the bot is in no such channel",
                "type `/invite @oncall` there, or correct [slack] channels",
            )


def _all_channels(places: Sequence[Channel]) -> Finding:
    if places:
        return Finding(Check.CHANNELS, f"answers in {_listed([c.name for c in places])}")
    return Finding(
        Check.CHANNELS, "the bot is in no channel", "type `/invite @oncall` in an incident channel"
    )


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(f"#{name}" for name in names[:5])
    return shown if len(names) <= 5 else f"{shown} and {len(names) - 5} more"


def _find(key: str, joined: Sequence[Channel] | None) -> Channel | None:
    return next((c for c in joined or () if key in {c.id, c.name}), None)


def _debug_channel(key: str, joined: Sequence[Channel] | None) -> Finding:
    if not key:
        return Finding(Check.DEBUG_CHANNEL, "none is set: thoughts are only in the trace")
    channel = _find(key, joined)
    if channel is None:
        return Finding(
            Check.DEBUG_CHANNEL,
            f"the bot is not in #{key}",
            f"create #{key}, type `/invite @oncall` there, or set [slack] debug_channel",
        )
    if channel.is_shared:
        return Finding(
            Check.DEBUG_CHANNEL,
            f"#{channel.name} is shared with another organisation",
            "set [slack] debug_channel to an internal channel: nothing is posted to this one",
        )
    return Finding(Check.DEBUG_CHANNEL, f"#{channel.name}")


def _private_debug_channel(key: str, joined: Sequence[Channel] | None) -> Finding:
    channel = _find(key, joined)
    if channel is not None and channel.is_private and not channel.is_shared:
        return Finding(Check.DEBUG_CHANNEL, f"#{channel.name}, for private channels")
    what = "is not private" if channel else "cannot be seen by the bot"
    return Finding(
        Check.DEBUG_CHANNEL,
        f"{key}, meant for private channels, {what}",
        "set [slack] private_debug_channel to a private channel with the bot in it",
    )


async def _app_token(settings: SlackSettings, web: Web) -> Finding:
    token = settings.app_token.get_secret_value() if settings.app_token else ""
    client = web.client
    called = await web.persist(lambda: client.apps_connections_open(app_token=token), SECONDS)
    match called:
        case Ok():
            return Finding(Check.APP_TOKEN, "works: Socket Mode can connect")
        case Refused(error="missing_scope"):
            fix = 'give it connections:write on the page "Basic Information", App-Level Tokens'
            return Finding(Check.APP_TOKEN, "Slack opens no socket with it", fix)
        case Refused() as refused:
            return Finding(Check.APP_TOKEN, "Slack refuses it", fix_for(refused))
        case Limited() | Unknown() as trouble:
            return _unreachable(Check.APP_TOKEN, client.base_url, trouble)
        case _:
            assert_never(called)


def _connections(count: int | None) -> Finding:
    """Two environments with one app token get half of the events each."""
    if count is None:
        return Finding(Check.CONNECTIONS, "counted by a running bot only")
    if count == 1:
        return Finding(Check.CONNECTIONS, "this bot's is the only one")
    return Finding(
        Check.CONNECTIONS,
        f"{count} processes are connected with this app token, so each gets a part of the events",
        "end the others, or make an app of its own for each environment "
        "(`oncall-bot manifest --link`)",
    )


async def _public_url(session: aiohttp.ClientSession, url: str) -> Finding:
    """Whether the trace links lead to this bot's pages."""
    if not url:
        return Finding(Check.PUBLIC_URL, "not set: trace links open on this machine only")
    fix = "set [web] public_url to how people reach the pages, and let the proxy pass /health"
    try:
        async with session.get(f"{url.rstrip('/')}/health", allow_redirects=False) as answer:
            told = await answer.content.read(1_000)
    except (aiohttp.ClientError, OSError) as error:
        why = str(error) or type(error).__name__
        return Finding(Check.PUBLIC_URL, f"{url} cannot be reached ({why})", fix)
    if answer.status == HTTPStatus.OK and b'"ok"' in told:
        return Finding(Check.PUBLIC_URL, f"{url} leads to the pages")
    return Finding(Check.PUBLIC_URL, f"{url}/health answers with HTTP {answer.status}", fix)
