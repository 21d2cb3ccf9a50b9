"""The playground's whole state as JSON, and one person's view of it for the page.

Owns these two shapes. Reads everything, changes nothing.
"""

from __future__ import annotations

from dataclasses import asdict

from bot.playground.model import App, Channel, ChannelKind, HttpDelivery, Json, Message, User
from bot.playground.playground import Playground
from bot.playground.wire import blocks_json, channel_json, message_json, team_json, user_json


def state_json(playground: Playground) -> Json:
    """All of it: channels with their messages (threads inline, by ts), deliveries, calls."""
    world = playground.world
    return {
        "now": playground.clock.now(),
        "team": team_json(world),
        "users": [user_json(world, user) | {"role": user.role} for user in world.users.values()],
        "channels": [_channel(playground, channel) for channel in world.channels.values()],
        "apps": [_app(app) for app in world.apps.values()],
        "connections": [{"id": c.id, "app": c.app} for c in playground.sockets.all()],
        "deliveries": [asdict(delivery) for delivery in playground.outbox.deliveries()],
        "calls": [asdict(call) for call in playground.calls.calls()],
        "rates": dict(playground.rates.usage(playground.clock.now())),
        "faults": [rule.model_dump() for rule in playground.faults.rules()],
        "statuses": _statuses(playground),
        "sessions": [
            {"channel": channel, "thread_ts": root, "status": status}
            for (channel, root), status in playground.people.sessions.items()
        ],
    }


def view_json(playground: Playground, viewer: User) -> Json:
    """What one person sees: the channels that they are in, newest state."""
    world = playground.world
    seen = [c for c in world.channels.values() if viewer.id in c.members]
    return {
        "version": playground.feed.version,
        "now": playground.clock.now(),
        "team": team_json(world),
        "viewer": viewer.id,
        "question": world.question,
        "pace": playground.pace.read() if playground.pace else None,
        "users": {user.id: _person(playground, user) for user in world.users.values()},
        "people": [user.id for user in world.people()],
        "channels": [_viewed_channel(playground, channel, viewer) for channel in seen],
        "statuses": _statuses(playground),
        "sessions": [
            {"channel": channel, "thread_ts": root}
            for (channel, root), status in playground.people.sessions.items()
            if status == "processing"
        ],
        "connected": {app.bot_user: _is_connected(playground, app) for app in world.apps.values()},
    }


def _channel(playground: Playground, channel: Channel) -> Json:
    world = playground.world
    messages = sorted(world.messages[channel.id].values(), key=lambda m: m.ts)
    return {
        **channel_json(world, channel, ""),
        "kind": channel.kind,
        "members": list(channel.members),
        "messages": [message_json(world, m, metadata=True) for m in messages],
    }


def _viewed_channel(playground: Playground, channel: Channel, viewer: User) -> Json:
    world = playground.world
    other = next((m for m in channel.members if m != viewer.id), viewer.id)
    direct = channel.kind is ChannelKind.DIRECT
    return {
        "id": channel.id,
        "name": world.users[other].real_name if direct else channel.name,
        "kind": channel.kind,
        "with": other if direct else None,
        "topic": channel.topic,
        "members": list(channel.members),
        "shared": bool(channel.shared_with),
        "archived": channel.archived,
        "messages": [
            _viewed_message(playground, message)
            for message in sorted(world.messages[channel.id].values(), key=lambda m: m.ts)
        ],
    }


def _viewed_message(playground: Playground, message: Message) -> Json:
    """As in the API, but with only those blocks that were sent: text is rendered by the page."""
    shown = message_json(playground.world, message)
    for key in ("bot_profile", "team", "client_msg_id"):
        shown.pop(key, None)
    shown["blocks"] = blocks_json(message) if message.blocks else []
    return shown


def _person(playground: Playground, user: User) -> Json:
    teams = playground.world.teams
    return {
        "id": user.id,
        "name": user.name,
        "real_name": user.real_name,
        "role": user.role,
        "title": user.title,
        "color": user.color,
        "team": teams[user.team].name if user.team in teams else user.team,
        "is_app": user.is_bot,
    }


def _statuses(playground: Playground) -> list[Json]:
    world = playground.world
    return [
        {
            "channel": channel,
            "thread_ts": root,
            "user": world.apps[status.app].bot_user,
            "text": status.text,
            "until": status.until,
        }
        for (channel, root), status in playground.statuses().items()
    ]


def _app(app: App) -> Json:
    mode = "http" if isinstance(app.delivery, HttpDelivery) else "socket"
    return {
        "id": app.id,
        "name": app.name,
        "bot_user": app.bot_user,
        "bot_id": app.bot_id,
        "bot_token": app.bot_token,
        "app_token": app.app_token,
        "signing_secret": app.signing_secret,
        "scopes": list(app.scopes),
        "events": list(app.events),
        "delivery": mode,
    }


def _is_connected(playground: Playground, app: App) -> bool:
    return isinstance(app.delivery, HttpDelivery) or bool(playground.sockets.connections(app.id))
