"""The values of the playground's world: teams, people, channels, messages, apps.

Frozen: a change makes a new value (`dataclasses.replace`), and `world.World` swaps it in. Knows
nothing of HTTP, rates or delivery; `wire.py` turns these values into Slack's JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]
"""A JSON object at the wire boundary: blocks, attachments and payloads keep Slack's own shape."""

SLACKBOT = "USLACKBOT"
TOMBSTONE_TEXT = "This message was deleted."


@dataclass(frozen=True)
class Team:
    id: str
    name: str
    domain: str


class Role(StrEnum):
    """What somebody is in the workspace that installed the app."""

    MEMBER = "member"
    ADMIN = "admin"
    GUEST = "guest"
    SINGLE_CHANNEL_GUEST = "single_channel_guest"
    OUTSIDER = "outsider"
    BOT = "bot"


@dataclass(frozen=True)
class User:
    """A person or a bot user. `team` is another team's id for an outsider of a shared channel."""

    id: str
    name: str
    real_name: str
    role: Role
    team: str
    display_name: str = ""
    """What others see; those who chose none, as most, are shown by their real name."""
    title: str = ""
    color: str = "4a154b"
    bot_id: str | None = None
    app_id: str | None = None
    deleted: bool = False

    @property
    def is_bot(self) -> bool:
        return self.role is Role.BOT


class ChannelKind(StrEnum):
    """The kinds of conversations, by the word that events call `channel_type`."""

    PUBLIC = "channel"
    PRIVATE = "group"
    DIRECT = "im"


@dataclass(frozen=True)
class Channel:
    id: str
    name: str
    kind: ChannelKind
    members: tuple[str, ...]
    created: int
    creator: str
    topic: str = ""
    purpose: str = ""
    archived: bool = False
    shared_with: tuple[str, ...] = ()
    """Ids of the other teams of a shared channel."""
    is_general: bool = False


@dataclass(frozen=True)
class Reaction:
    name: str
    users: tuple[str, ...]


@dataclass(frozen=True)
class Edited:
    user: str
    ts: str


@dataclass(frozen=True)
class Message:
    """One message. `thread_ts` is the root's ts on replies, and on a root that has replies."""

    channel: str
    ts: str
    text: str
    user: str | None = None
    team: str | None = None
    thread_ts: str | None = None
    blocks: tuple[Json, ...] = ()
    attachments: tuple[Json, ...] = ()
    metadata: Json | None = None
    bot_id: str | None = None
    app_id: str | None = None
    username: str | None = None
    subtype: str | None = None
    client_msg_id: str | None = None
    edited: Edited | None = None
    reactions: tuple[Reaction, ...] = ()

    @property
    def is_reply(self) -> bool:
        return self.thread_ts is not None and self.thread_ts != self.ts

    @property
    def is_tombstone(self) -> bool:
        return self.subtype == "tombstone"


@dataclass(frozen=True)
class SocketDelivery:
    """Events go to the app's WebSockets."""


@dataclass(frozen=True)
class HttpDelivery:
    """Events are POSTed, signed, to a request URL."""

    url: str


DeliveryMode: TypeAlias = SocketDelivery | HttpDelivery


@dataclass(frozen=True)
class App:
    """An installed Slack app: its tokens, what it may do, and what it hears of."""

    id: str
    name: str
    bot_user: str
    bot_id: str
    bot_token: str
    app_token: str
    signing_secret: str
    scopes: tuple[str, ...]
    events: tuple[str, ...]
    app_scopes: tuple[str, ...] = ("connections:write",)
    is_agent: bool = True
    distributed: bool = False
    """Distributed outside the Marketplace: history and replies at 1 a minute, 15 objects."""
    delivery: DeliveryMode = field(default_factory=SocketDelivery)
    usergroups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
