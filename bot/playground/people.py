"""What people do in the workspace: write, edit, react, click, join.

Owns the rules of a person's rights (one writes where one is a member) and that each act becomes the
events that Slack would send. Used by the control API and the page; raises `NotAllowedError` with a
message that says what to do. The bot acts through the Web API instead.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace

from bot.playground.clock import Clock
from bot.playground.events import Events
from bot.playground.feed import Feed
from bot.playground.log import Delivery
from bot.playground.model import App, Channel, ChannelKind, Edited, Json, Message, Role, User
from bot.playground.text import from_typed
from bot.playground.wire import block_id
from bot.playground.world import World, unique


class NotAllowedError(ValueError):
    """A person cannot do this; the message says why and what would work."""


@dataclass(frozen=True)
class Draft:
    """What somebody posts: Slack's wire text, or `typed` as it is typed into the composer."""

    text: str = ""
    typed: str | None = None
    blocks: tuple[Json, ...] = ()
    attachments: tuple[Json, ...] = ()
    thread_ts: str | None = None


class People:
    """Acts of people, each by user id. All return what was made or changed."""

    def __init__(self, world: World, clock: Clock, events: Events, feed: Feed) -> None:
        self._world = world
        self._clock = clock
        self._events = events
        self._feed = feed
        self.sessions: dict[tuple[str, str], str] = {}

    # -- looking things up

    def user(self, key: str) -> User:
        """By id or by name."""
        user = self._world.users.get(key) or self._world.user_named(key)
        if user is None:
            names = ", ".join(u.name for u in self._world.users.values())
            raise NotAllowedError(f"no user {key!r}; there are {names}")
        return user

    def channel(self, key: str) -> Channel:
        """By id or by name."""
        channel = self._world.channels.get(key) or self._world.channel_named(key)
        if channel is None:
            names = ", ".join(c.name for c in self._world.channels.values() if c.name)
            raise NotAllowedError(f"no channel {key!r}; there are {names}")
        return channel

    def message(self, channel: str, ts: str) -> Message:
        message = self._world.message(self.channel(channel).id, ts)
        if message is None:
            raise NotAllowedError(f"no message {ts} in {channel}")
        return message

    def app(self, key: str | None = None) -> App:
        """By id; the only one when there is one."""
        apps = self._world.apps
        if key is None and len(apps) == 1:
            return next(iter(apps.values()))
        if key not in apps:
            raise NotAllowedError(f"no app {key!r}; there are {', '.join(apps)}")
        return apps[key]

    # -- messages

    def post(self, user: str, channel: str, draft: Draft) -> tuple[Message, list[Delivery]]:
        author, where = self.user(user), self._writable(user, channel)
        text = draft.text if draft.typed is None else from_typed(draft.typed, self._world)
        if not text and not draft.blocks and not draft.attachments:
            raise NotAllowedError("a message needs a text")
        of_a_bot = author.role is Role.BOT
        message = self._world.add(
            Message(
                channel=where.id,
                ts=self._world.new_ts(self._clock.now()),
                text=text,
                user=author.id,
                team=author.team,
                thread_ts=draft.thread_ts,
                blocks=draft.blocks,
                attachments=draft.attachments,
                bot_id=author.bot_id,
                client_msg_id=None if of_a_bot else str(uuid.uuid4()),
            )
        )
        self._feed.touch()
        return message, self._events.posted(message)

    def edit(self, user: str, channel: str, ts: str, typed: str) -> tuple[Message, list[Delivery]]:
        author, before = self.user(user), self.message(channel, ts)
        if before.user != author.id:
            raise NotAllowedError(f"{author.name} did not write this message")
        now = self._world.new_ts(self._clock.now())
        after = self._world.edit(
            before,
            text=from_typed(typed, self._world),
            blocks=(),
            attachments=before.attachments,
            metadata=before.metadata,
            edited=Edited(author.id, now),
        )
        self._feed.touch()
        return after, self._events.changed(before, after)

    def delete(self, user: str, channel: str, ts: str) -> list[Delivery]:
        """Delete one's own message; an admin may delete any."""
        author, message = self.user(user), self.message(channel, ts)
        if message.user != author.id and author.role is not Role.ADMIN:
            raise NotAllowedError(f"{author.name} did not write this message, and is no admin")
        self._world.delete(message)
        self._feed.touch()
        return self._events.deleted(message)

    def react(
        self, user: str, channel: str, ts: str, name: str, *, item_user: bool = True
    ) -> list[Delivery]:
        message, who = self.message(channel, ts), self.user(user)
        self._writable(user, channel)
        if self._world.react(message, who.id, name) is None:
            raise NotAllowedError(f"{who.name} has already reacted with :{name}:")
        self._feed.touch()
        return self._events.reacted("reaction_added", message, who.id, name, item_user=item_user)

    def unreact(self, user: str, channel: str, ts: str, name: str) -> list[Delivery]:
        message, who = self.message(channel, ts), self.user(user)
        if self._world.unreact(message, who.id, name) is None:
            raise NotAllowedError(f"{who.name} has no :{name}: on this message")
        self._feed.touch()
        return self._events.reacted("reaction_removed", message, who.id, name)

    # -- interaction

    def click(self, user: str, channel: str, ts: str, action_id: str) -> Delivery:
        """Click a button (any element with this action_id) in a message's blocks."""
        message, who = self.message(channel, ts), self.user(user)
        self._writable(user, channel)
        app = self._world.apps.get(message.app_id or "")
        if app is None:
            raise NotAllowedError("the message is not an app's: nothing hears the click")
        for place, block in enumerate(message.blocks):
            for element in _elements(block):
                if element.get("action_id") == action_id:
                    known: Json = {k: element[k] for k in ("type", "value", "text") if k in element}
                    action = {
                        "action_id": action_id,
                        "block_id": block.get("block_id") or block_id(message, place),
                        **known,
                    }
                    return self._events.clicked(app, who, message, action)
        raise NotAllowedError(f"the message has no element with action_id {action_id!r}")

    def shortcut(self, user: str, channel: str, ts: str, callback_id: str) -> Delivery:
        who = self.user(user)
        self._writable(user, channel)
        return self._events.shortcut(self.app(), who, self.message(channel, ts), callback_id)

    def open_home(self, user: str, tab: str) -> list[Delivery]:
        who, app = self.user(user), self.app()
        channel = self._world.direct_channel(who.id, app.bot_user, self._clock.now())
        self._feed.touch()
        return self._events.home_opened(app, who.id, channel, tab)

    def stop_session(self, user: str, channel: str, thread_ts: str) -> list[Delivery]:
        where = self.channel(channel)
        if self.sessions.get((where.id, thread_ts)) != "processing":
            raise NotAllowedError("no agent works in this thread: there is no stop button")
        return self._events.session_stopped(self.app(), self.user(user).id, where, thread_ts)

    # -- channels

    def direct(self, user: str, other: str) -> Channel:
        """The direct messages of two users."""
        channel = self._world.direct_channel(
            self.user(user).id, self.user(other).id, self._clock.now()
        )
        self._feed.touch()
        return channel

    def create_channel(
        self, user: str, name: str, kind: ChannelKind, members: tuple[str, ...]
    ) -> tuple[Channel, list[Delivery]]:
        if self._world.channel_named(name):
            raise NotAllowedError(f"there is a channel named {name} already")
        creator = self.user(user)
        ids = unique((creator.id, *(self.user(m).id for m in members)))
        teams = unique(self._world.users[m].team for m in ids)
        channel = self._world.put_channel(
            Channel(
                id=self._world.new_id("C"),
                name=name,
                kind=kind,
                members=ids,
                created=int(self._clock.now()),
                creator=creator.id,
                shared_with=tuple(t for t in teams if t != self._world.team.id),
            )
        )
        self._feed.touch()
        return channel, self._events.created(channel)

    def invite(self, user: str, channel: str, inviter: str | None) -> list[Delivery]:
        who, where = self.user(user), self.channel(channel)
        if who.id in where.members:
            raise NotAllowedError(f"{who.name} is in the channel already")
        joined = self._world.join(where.id, who.id)
        self._feed.touch()
        shared = () if joined.shared_with == where.shared_with else self._events.shared(joined)
        told = self._events.joined(joined, who.id, self.user(inviter).id if inviter else None)
        return [*shared, *told]

    def kick(self, user: str, channel: str) -> Channel:
        return self._changed(self._world.leave(self.channel(channel).id, self.user(user).id))

    def archive(self, channel: str) -> Channel:
        return self._changed(self._world.put_channel(replace(self.channel(channel), archived=True)))

    def change_app(self, key: str | None, change: Callable[[App], App]) -> App:
        """Replace an app by a changed one: its scopes, its events, where it is delivered to."""
        app = change(self.app(key))
        self._world.apps[app.id] = app
        self._feed.touch()
        return app

    def change_user(self, key: str, change: Callable[[User], User]) -> User:
        user = change(self.user(key))
        self._world.users[user.id] = user
        self._feed.touch()
        return user

    def _changed(self, channel: Channel) -> Channel:
        self._feed.touch()
        return channel

    def _writable(self, user: str, channel: str) -> Channel:
        who, where = self.user(user), self.channel(channel)
        if who.id not in where.members:
            raise NotAllowedError(
                f"{who.name} is not in {where.name or where.id}: invite them first"
            )
        if where.archived:
            raise NotAllowedError(f"{where.name} is archived")
        return where


def _elements(block: Json) -> list[Json]:
    elements = block.get("elements") if block.get("type") in ("actions", "context_actions") else []
    accessory = block.get("accessory")
    return [*(elements or []), *([accessory] if isinstance(accessory, dict) else [])]
