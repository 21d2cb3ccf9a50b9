"""conversations.*: which channels there are, who is in them, and what was said.

Owns the reading of history and threads with Slack's pagination and time bounds.
"""

from __future__ import annotations

from dataclasses import dataclass

from bot.playground.model import Channel, ChannelKind, Json, Message
from bot.playground.webapi.errors import SlackError
from bot.playground.webapi.method import (
    PREFIXES,
    Call,
    find_channel,
    need_membership,
    need_open,
    need_scope,
    page,
    read_cursor,
    write_cursor,
)
from bot.playground.wire import channel_json, message_json

HISTORY_DEFAULT = 100
HISTORY_MOST = 999
REPLIES_MOST = 1_000
DISTRIBUTED_MOST = 15
_TYPES = {
    "public_channel": ChannelKind.PUBLIC,
    "private_channel": ChannelKind.PRIVATE,
    "im": ChannelKind.DIRECT,
}


def info(call: Call) -> Json:
    call.args.require("channel")
    channel = find_channel(call)
    need_scope(call, channel, "read")
    shown = channel_json(call.world, channel, call.app.bot_user)
    if call.args.flag("include_num_members"):
        shown["num_members"] = len(channel.members)
    return {"channel": shown}


def list_(call: Call) -> Json:
    return _listing(call, members_only=None)


def of_user(call: Call) -> Json:
    """users.conversations: the channels that a user, or the app itself, is in."""
    user = call.args.text("user") or call.app.bot_user
    if user not in call.world.users:
        raise SlackError("user_not_found")
    return _listing(call, members_only=user)


def _listing(call: Call, *, members_only: str | None) -> Json:
    wanted = (call.args.text("types") or "public_channel").split(",")
    names = [name.strip() for name in wanted if name.strip()]
    if any(name not in (*_TYPES, "mpim") for name in names):
        raise SlackError("invalid_types")
    kinds = [_TYPES[name] for name in names if name in _TYPES]
    for kind in kinds:
        if f"{PREFIXES[kind]}:read" not in call.app.scopes:
            raise SlackError(
                "missing_scope", needed=f"{PREFIXES[kind]}:read", provided=",".join(call.app.scopes)
            )
    me = call.app.bot_user
    shown = [
        channel_json(call.world, channel, me) | _members(channel)
        for channel in call.world.channels.values()
        if channel.kind in kinds
        and (channel.kind is ChannelKind.PUBLIC or me in channel.members)
        and (members_only is None or members_only in channel.members)
        and not (channel.archived and call.args.flag("exclude_archived"))
    ]
    items, cursor = page(shown, call, default=100, most=1_000)
    return {"channels": items, "response_metadata": {"next_cursor": cursor}}


def _members(channel: Channel) -> Json:
    return {"num_members": len(channel.members)} if channel.kind is not ChannelKind.DIRECT else {}


def members(call: Call) -> Json:
    call.args.require("channel")
    channel = find_channel(call)
    need_scope(call, channel, "read")
    items, cursor = page(
        [{"id": member} for member in channel.members], call, default=100, most=1_000
    )
    return {
        "members": [item["id"] for item in items],
        "response_metadata": {"next_cursor": cursor},
    }


def join(call: Call) -> Json:
    call.args.require("channel")
    channel = find_channel(call)
    if channel.kind is not ChannelKind.PUBLIC:
        raise SlackError("method_not_supported_for_channel_type")
    need_open(channel)
    me = call.app.bot_user
    if me in channel.members:
        shown = channel_json(call.world, channel, me)
        return {
            "channel": shown,
            "warning": "already_in_channel",
            "response_metadata": {"warnings": ["already_in_channel"]},
        }
    joined = call.world.join(channel.id, me)
    call.playground.feed.touch()
    call.playground.events.joined(joined, me, None)
    return {"channel": channel_json(call.world, joined, me)}


def open_(call: Call) -> Json:
    """The direct conversation with one user; Slack's group messages are not modelled."""
    users = [user for user in call.args.text("users").split(",") if user]
    if call.args.has("channel"):
        channel = find_channel(call)
    elif len(users) != 1:
        raise SlackError("users_list_not_supplied" if not users else "method_not_supported")
    elif users[0] not in call.world.users:
        raise SlackError("user_not_found")
    else:
        channel = call.world.direct_channel(call.app.bot_user, users[0], call.now())
        call.playground.feed.touch()
    if call.args.flag("return_im"):
        return {"channel": channel_json(call.world, channel, call.app.bot_user)}
    return {"channel": {"id": channel.id}}


@dataclass(frozen=True)
class _Bounds:
    """`oldest` and `latest`, both excluded unless `inclusive`."""

    oldest: float | None
    latest: float | None
    inclusive: bool

    def __contains__(self, message: Message) -> bool:
        at = float(message.ts)
        if self.inclusive:
            return (self.oldest is None or at >= self.oldest) and (
                self.latest is None or at <= self.latest
            )
        return (self.oldest is None or at > self.oldest) and (
            self.latest is None or at < self.latest
        )


def history(call: Call) -> Json:
    """Top-level messages, newest first; with `oldest` alone, pages go forward from it."""
    call.args.require("channel")
    channel = _readable(call)
    bounds = _bounds(call)
    limit = call.args.number("limit", HISTORY_DEFAULT, _most(call, HISTORY_MOST))
    start = read_cursor(call.args.text("cursor"))
    forward = bounds.oldest is not None and bounds.latest is None
    found = [m for m in call.world.top_level(channel.id) if m in bounds]
    if not forward:
        found.reverse()
    rows = found[start : start + limit]
    if forward:
        rows.reverse()
    more = start + limit < len(found)
    return {
        "messages": _shown(call, rows),
        "has_more": more,
        "pin_count": 0,
        "channel_actions_ts": None,
        "channel_actions_count": 0,
        **_next(start + limit, more=more),
    }


def replies(call: Call) -> Json:
    """A thread, oldest first. Its root opens the first page, whatever the bounds are."""
    call.args.require("channel", "ts")
    channel = _readable(call)
    named = call.world.message(channel.id, call.args.text("ts"))
    root = call.world.message(channel.id, named.thread_ts or named.ts) if named else None
    if root is None:
        raise SlackError("thread_not_found")
    bounds = _bounds(call)
    limit = call.args.number("limit", REPLIES_MOST, _most(call, REPLIES_MOST))
    start = read_cursor(call.args.text("cursor"))
    found = [root, *(m for m in call.world.replies(channel.id, root.ts) if m in bounds)]
    more = start + limit < len(found)
    return {
        "messages": _shown(call, found[start : start + limit]),
        "has_more": more,
        **_next(start + limit, more=more),
    }


def _readable(call: Call) -> Channel:
    channel = find_channel(call)
    need_scope(call, channel, "history")
    need_membership(call, channel)
    return channel


def _most(call: Call, most: int) -> int:
    return DISTRIBUTED_MOST if call.app.distributed else most


def _shown(call: Call, messages: list[Message]) -> list[Json]:
    metadata = call.args.flag("include_all_metadata")
    me = call.app.bot_user
    return [message_json(call.world, m, metadata=metadata, viewer=me) for m in messages]


def _next(offset: int, *, more: bool) -> Json:
    return {"response_metadata": {"next_cursor": write_cursor(offset)}} if more else {}


def _bounds(call: Call) -> _Bounds:
    latest = _time(call, "latest")
    return _Bounds(_time(call, "oldest"), latest, call.args.flag("inclusive"))


def _time(call: Call, name: str) -> float | None:
    raw = call.args.text(name)
    if raw in ("", "0"):
        return None
    try:
        return float(raw)
    except ValueError:
        raise SlackError(f"invalid_ts_{name}") from None
