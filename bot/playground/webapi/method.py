"""What a Web API method is: a handler, its rate, its scopes, the kind of token it takes.

Owns the `Call` that handlers get, and the checks that several methods share: which channel is
meant, whether the app can see it, whether it is in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from bot.playground.model import App, Channel, ChannelKind, Json, Message
from bot.playground.playground import Playground
from bot.playground.rates import Rate
from bot.playground.webapi.args import Args
from bot.playground.webapi.errors import SlackError, missing_scope
from bot.playground.world import World

PREFIXES: Mapping[ChannelKind, str] = {
    ChannelKind.PUBLIC: "channels",
    ChannelKind.PRIVATE: "groups",
    ChannelKind.DIRECT: "im",
}


class TokenKind(StrEnum):
    BOT = "bot"
    APP = "app"
    ANY = "any"


@dataclass(frozen=True)
class Call:
    """One call that has been let in: whose it is and what it asks."""

    playground: Playground
    app: App
    args: Args
    base_url: str
    """This server's own address, `http://127.0.0.1:PORT`."""

    @property
    def world(self) -> World:
        return self.playground.world

    def now(self) -> float:
        return self.playground.clock.now()


Handler = Callable[[Call], Json]


@dataclass(frozen=True)
class Method:
    """A method. Any one of `scopes` lets a call in; kinds of channels may ask for more."""

    handler: Handler
    rate: Rate
    scopes: tuple[str, ...] = ()
    token: TokenKind = TokenKind.BOT
    takes_json: bool = False
    slow_when_distributed: bool = False


def family(name: str) -> tuple[str, ...]:
    """The scopes of one right for all kinds of conversations, as `channels:history`."""
    return tuple(f"{prefix}:{name}" for prefix in PREFIXES.values())


def find_channel(call: Call, name: str = "channel", *, by_name: bool = False) -> Channel:
    """The channel that is meant and that the app can see. Raises channel_not_found.

    A private channel that the app is not in does not exist for it. Only chat.postMessage takes a
    channel's name.
    """
    key = call.args.text(name)
    channel = call.world.channels.get(key)
    if channel is None and by_name:
        channel = call.world.channel_named(key)
    if channel is None:
        raise SlackError("channel_not_found")
    if channel.kind is not ChannelKind.PUBLIC and call.app.bot_user not in channel.members:
        raise SlackError("channel_not_found")
    return channel


def need_scope(call: Call, channel: Channel, name: str) -> None:
    """Refuse the call when the app lacks the scope of this kind of conversation."""
    needed = f"{PREFIXES[channel.kind]}:{name}"
    if needed not in call.app.scopes:
        raise missing_scope(needed, call.app.scopes)


def need_membership(call: Call, channel: Channel) -> None:
    if call.app.bot_user not in channel.members:
        raise SlackError("not_in_channel")


def need_open(channel: Channel) -> None:
    if channel.archived:
        raise SlackError("is_archived")


def find_message(call: Call, channel: Channel, name: str) -> Message:
    message = call.world.message(channel.id, call.args.text(name))
    if message is None:
        raise SlackError("message_not_found")
    return message


def page(items: list[Json], call: Call, *, default: int, most: int) -> tuple[list[Json], str]:
    """One page of a list and the cursor of the next, empty at the end."""
    limit = call.args.number("limit", default, most)
    start = read_cursor(call.args.text("cursor"))
    rest = items[start : start + limit]
    more = start + limit < len(items)
    return rest, write_cursor(start + limit) if more else ""


def write_cursor(offset: int) -> str:
    return f"offset:{offset}".encode().hex()


def read_cursor(cursor: str) -> int:
    if not cursor:
        return 0
    try:
        word, _, offset = bytes.fromhex(cursor).decode().partition(":")
        start = int(offset)
    except ValueError:
        raise SlackError("invalid_cursor") from None
    if word != "offset" or start < 0:
        raise SlackError("invalid_cursor")
    return start
