"""Which apps hear of what happened, and in what words.

Owns the shapes of events and interactive payloads, and the subscriptions: an app hears of what is
among its `events`, and of messages and reactions only in channels that it is in. Puts payloads into
the outbox; changes nothing in the world.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping

from bot.playground.clock import Clock
from bot.playground.log import Delivery, PayloadKind
from bot.playground.model import App, Channel, ChannelKind, Json, Message, User
from bot.playground.outbox import Outbox
from bot.playground.text import mentioned
from bot.playground.wire import channel_json, message_json
from bot.playground.world import World

_MESSAGE_EVENTS: Mapping[ChannelKind, str] = {
    ChannelKind.PUBLIC: "message.channels",
    ChannelKind.PRIVATE: "message.groups",
    ChannelKind.DIRECT: "message.im",
}


class Events:
    """Turns what happened into payloads for the apps that subscribed."""

    def __init__(self, world: World, clock: Clock, outbox: Outbox) -> None:
        self._world = world
        self._clock = clock
        self._outbox = outbox
        self._ids = itertools.count(1)

    # -- messages

    def posted(self, message: Message) -> list[Delivery]:
        """A new message: `message.*` where subscribed, and `app_mention` to the mentioned."""
        channel = self._world.channels[message.channel]
        sent = []
        for app in self._apps_in(channel):
            if _MESSAGE_EVENTS[channel.kind] in app.events:
                event = self._message_event(message)
                sent.append(self._put(app, event, channel))
            sent += self._mention(app, message, channel)
        return sent

    def changed(self, before: Message, after: Message) -> list[Delivery]:
        """An edit: `message_changed`, and `app_mention` again, with `edited`, if it mentions."""
        channel = self._world.channels[after.channel]
        sent = []
        for app in self._apps_in(channel):
            if _MESSAGE_EVENTS[channel.kind] in app.events:
                event = {
                    "type": "message",
                    "subtype": "message_changed",
                    "message": message_json(self._world, after),
                    "previous_message": message_json(self._world, before),
                    "channel": channel.id,
                    "hidden": True,
                    "ts": self._world.new_ts(self._clock.now()),
                    "channel_type": channel.kind,
                }
                sent.append(self._put(app, {**event, "event_ts": event["ts"]}, channel))
            sent += self._mention(app, after, channel)
        return sent

    def deleted(self, message: Message) -> list[Delivery]:
        channel = self._world.channels[message.channel]
        sent = []
        for app in self._apps_in(channel):
            if _MESSAGE_EVENTS[channel.kind] in app.events:
                event = {
                    "type": "message",
                    "subtype": "message_deleted",
                    "previous_message": message_json(self._world, message),
                    "channel": channel.id,
                    "hidden": True,
                    "deleted_ts": message.ts,
                    "ts": self._world.new_ts(self._clock.now()),
                    "channel_type": channel.kind,
                }
                sent.append(self._put(app, {**event, "event_ts": event["ts"]}, channel))
        return sent

    def _mention(self, app: App, message: Message, channel: Channel) -> list[Delivery]:
        """Slack sends no app_mention for direct messages, mentioned or not."""
        if (
            channel.kind is ChannelKind.DIRECT
            or "app_mention" not in app.events
            or app.bot_user not in mentioned(message.text, message.blocks)
        ):
            return []
        event = self._message_event(message)
        del event["channel_type"]
        return [self._put(app, {**event, "type": "app_mention"}, channel)]

    def _message_event(self, message: Message) -> Json:
        world = self._world
        shape = message_json(world, message)
        for key in ("reactions", "reply_count", "reply_users_count", "reply_users"):
            shape.pop(key, None)
        for key in ("latest_reply", "is_locked", "subscribed"):
            shape.pop(key, None)
        if not message.is_reply:
            shape.pop("thread_ts", None)
        channel = world.channels[message.channel]
        if channel.shared_with and message.user in world.users:
            team = world.users[message.user].team
            shape |= {"user_team": team, "source_team": team, "team": world.team.id}
        return {
            **shape,
            "channel": message.channel,
            "event_ts": message.edited.ts if message.edited else message.ts,
            "channel_type": channel.kind,
        }

    # -- reactions

    def reacted(
        self, kind: str, message: Message, user: str, name: str, *, item_user: bool = True
    ) -> list[Delivery]:
        """`reaction_added` or `reaction_removed`; there is never a thread_ts in it."""
        channel = self._world.channels[message.channel]
        event: Json = {
            "type": kind,
            "user": user,
            "reaction": name,
            "item": {"type": "message", "channel": message.channel, "ts": message.ts},
            "event_ts": self._world.new_ts(self._clock.now()),
        }
        if item_user and message.user:
            event["item_user"] = message.user
        return [
            self._put(app, event, channel) for app in self._apps_in(channel) if kind in app.events
        ]

    # -- channels and surfaces

    def joined(self, channel: Channel, user: str, inviter: str | None) -> list[Delivery]:
        event: Json = {
            "type": "member_joined_channel",
            "user": user,
            "channel": channel.id,
            "channel_type": "G" if channel.kind is ChannelKind.PRIVATE else "C",
            "team": self._world.users[user].team,
            "event_ts": self._world.new_ts(self._clock.now()),
        }
        if inviter:
            event["inviter"] = inviter
        return [
            self._put(app, event, channel)
            for app in self._apps_in(channel)
            if "member_joined_channel" in app.events
        ]

    def shared(self, channel: Channel) -> list[Delivery]:
        """`channel_shared`: another organisation, the last of the list, reads the channel now."""
        event: Json = {
            "type": "channel_shared",
            "connected_team_id": channel.shared_with[-1],
            "channel": channel.id,
            "event_ts": self._world.new_ts(self._clock.now()),
        }
        return [
            self._put(app, event, channel)
            for app in self._apps_in(channel)
            if "channel_shared" in app.events
        ]

    def created(self, channel: Channel) -> list[Delivery]:
        """`channel_created`, which Slack sends for public channels whoever is in them."""
        event = {
            "type": "channel_created",
            "channel": {
                key: value
                for key, value in channel_json(self._world, channel, channel.creator).items()
                if key not in ("is_member", "topic", "purpose", "properties")
            },
            "event_ts": self._world.new_ts(self._clock.now()),
        }
        return [
            self._put(app, event, channel)
            for app in self._world.apps.values()
            if "channel_created" in app.events and channel.kind is ChannelKind.PUBLIC
        ]

    def home_opened(self, app: App, user: str, channel: Channel, tab: str) -> list[Delivery]:
        if "app_home_opened" not in app.events:
            return []
        event = {
            "type": "app_home_opened",
            "user": user,
            "channel": channel.id,
            "tab": tab,
            "event_ts": self._world.new_ts(self._clock.now()),
        }
        return [self._put(app, event, channel)]

    def session_stopped(self, app: App, user: str, channel: Channel, root: str) -> list[Delivery]:
        """Somebody clicked Slack's own stop button in a thread."""
        if "agent_session_stopped" not in app.events:
            return []
        event = {
            "type": "agent_session_stopped",
            "channel": channel.id,
            "thread_ts": root,
            "user": user,
            "streaming_message_ts": [],
            "event_ts": self._world.new_ts(self._clock.now()),
        }
        return [self._put(app, event, channel)]

    # -- interactive payloads

    def clicked(self, app: App, user: User, message: Message, action: Json) -> Delivery:
        """`block_actions` for an element of a message's blocks."""
        world = self._world
        channel = world.channels[message.channel]
        payload = {
            **self._interactive(app, user, channel, "block_actions"),
            "container": {
                "type": "message",
                "message_ts": message.ts,
                "channel_id": channel.id,
                "is_ephemeral": False,
                **({"thread_ts": message.thread_ts} if message.thread_ts else {}),
            },
            "message": message_json(world, message),
            "state": {"values": {}},
            "actions": [{**action, "action_ts": world.new_ts(self._clock.now())}],
        }
        return self._outbox.put(app.id, PayloadKind.INTERACTIVE, payload)

    def shortcut(self, app: App, user: User, message: Message, callback_id: str) -> Delivery:
        """A message shortcut (`message_action`) from a message's menu."""
        channel = self._world.channels[message.channel]
        payload = {
            **self._interactive(app, user, channel, "message_action"),
            "callback_id": callback_id,
            "action_ts": self._world.new_ts(self._clock.now()),
            "message_ts": message.ts,
            "message": message_json(self._world, message),
        }
        return self._outbox.put(app.id, PayloadKind.INTERACTIVE, payload)

    def _interactive(self, app: App, user: User, channel: Channel, kind: str) -> Json:
        number = next(self._ids)
        return {
            "type": kind,
            "api_app_id": app.id,
            "token": "playground-verification-token",
            "trigger_id": f"{number}.{app.id}",
            "team": {"id": self._world.team.id, "domain": self._world.team.domain},
            "enterprise": None,
            "is_enterprise_install": False,
            "user": {
                "id": user.id,
                "username": user.name,
                "name": user.name,
                "team_id": user.team,
            },
            "channel": {"id": channel.id, "name": channel.name or "directmessage"},
            "response_url": "",
        }

    # -- envelopes

    def replay(self, delivery: Delivery, *, new_id: bool) -> Delivery:
        """The same event once more, under its own event id or under a new one."""
        payload = delivery.payload
        if new_id:
            payload = {**payload, "event_id": self._event_id()}
        return self._outbox.put(delivery.app, delivery.kind, payload)

    def _apps_in(self, channel: Channel) -> list[App]:
        return [app for app in self._world.apps.values() if app.bot_user in channel.members]

    def _put(self, app: App, event: Json, channel: Channel) -> Delivery:
        world = self._world
        payload: Json = {
            "token": "playground-verification-token",
            "team_id": world.team.id,
            "context_team_id": world.team.id,
            "context_enterprise_id": None,
            "api_app_id": app.id,
            "event": event,
            "type": "event_callback",
            "event_id": self._event_id(),
            "event_time": int(self._clock.now()),
            "authorizations": [
                {
                    "enterprise_id": None,
                    "team_id": world.team.id,
                    "user_id": app.bot_user,
                    "is_bot": True,
                    "is_enterprise_install": False,
                }
            ],
            "is_ext_shared_channel": bool(channel.shared_with),
            "event_context": f"playground-{channel.id}",
        }
        return self._outbox.put(app.id, PayloadKind.EVENT, payload)

    def _event_id(self) -> str:
        return f"Ev0PLAY{next(self._ids):06d}"
