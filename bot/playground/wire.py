"""Slack's JSON: how the world's values look in API answers and in events.

Owns the shapes only. `message_json` is what a reader of the channel gets; the additions that single
methods make (permalinks, num_members) stand beside them here too, so that a shape has one place.
"""

from __future__ import annotations

import hashlib

from bot.playground.model import (
    SLACKBOT,
    App,
    Channel,
    ChannelKind,
    Json,
    Message,
    Role,
    User,
)
from bot.playground.text import rich_text
from bot.playground.world import World

MAX_REPLY_USERS = 5


def message_json(
    world: World, message: Message, *, metadata: bool = False, viewer: str | None = None
) -> Json:
    """A message as conversations.history and conversations.replies give it."""
    out: Json = {"type": "message"}
    if message.subtype:
        out["subtype"] = message.subtype
    if message.is_tombstone:
        out |= {"hidden": True, "user": SLACKBOT, "parent_user_id": SLACKBOT}
    elif message.user:
        out["user"] = message.user
    out |= {"text": message.text, "ts": message.ts}
    if message.client_msg_id:
        out["client_msg_id"] = message.client_msg_id
    if message.team:
        out["team"] = message.team
    out |= _author_json(world, message)
    if blocks := blocks_json(message):
        out["blocks"] = blocks
    if message.attachments:
        out["attachments"] = list(message.attachments)
    if message.edited:
        out["edited"] = {"user": message.edited.user, "ts": message.edited.ts}
    if message.reactions:
        out["reactions"] = [
            {"name": r.name, "users": list(r.users), "count": len(r.users)}
            for r in message.reactions
        ]
    out |= _thread_json(world, message, viewer)
    if metadata and message.metadata is not None:
        out["metadata"] = message.metadata
    return out


def blocks_json(message: Message) -> list[Json]:
    """The blocks a message was sent with, or the one that Slack composes for its text."""
    if message.blocks:
        return [
            block if "block_id" in block else {**block, "block_id": block_id(message, place)}
            for place, block in enumerate(message.blocks)
        ]
    if message.subtype or not message.text.strip():
        return []
    return [rich_text(message.text, block_id(message, 0))]


def block_id(message: Message, place: int) -> str:
    seed = f"{message.channel}:{message.ts}:{place}".encode()
    return hashlib.sha256(seed).hexdigest()[:5]


def _author_json(world: World, message: Message) -> Json:
    out: Json = {}
    if message.username:
        out["username"] = message.username
    if message.bot_id:
        out["bot_id"] = message.bot_id
    if message.app_id and message.app_id in world.apps:
        out["app_id"] = message.app_id
        out["bot_profile"] = bot_profile(world, world.apps[message.app_id])
    return out


def bot_profile(world: World, app: App) -> Json:
    return {
        "id": app.bot_id,
        "app_id": app.id,
        "user_id": app.bot_user,
        "name": app.name,
        "icons": {},
        "deleted": False,
        "updated": 0,
        "team_id": world.team.id,
    }


def _thread_json(world: World, message: Message, viewer: str | None) -> Json:
    if message.thread_ts is None:
        return {}
    if message.is_reply:
        root = world.message(message.channel, message.thread_ts)
        parent = root.user or root.bot_id if root else None
        return {"thread_ts": message.thread_ts} | ({"parent_user_id": parent} if parent else {})
    replies = world.replies(message.channel, message.ts)
    if not replies:
        return {}
    authors = list(dict.fromkeys(r.user or r.bot_id or "" for r in replies))
    return {
        "thread_ts": message.ts,
        "reply_count": len(replies),
        "reply_users_count": len(authors),
        "reply_users": authors[:MAX_REPLY_USERS],
        "latest_reply": replies[-1].ts,
        "is_locked": False,
        "subscribed": viewer is not None and viewer in (message.user, *authors),
    }


def permalink(world: World, message: Message) -> str:
    """The archive URL; a message in a thread names the thread as well."""
    path = f"archives/{message.channel}/p{message.ts.replace('.', '')}"
    query = f"?thread_ts={message.thread_ts}&cid={message.channel}" if message.thread_ts else ""
    return f"https://{world.team.domain}.slack.com/{path}{query}"


def channel_json(world: World, channel: Channel, viewer: str) -> Json:
    """A conversation as conversations.info and .list share it."""
    if channel.kind is ChannelKind.DIRECT:
        other = next((m for m in channel.members if m != viewer), viewer)
        return {
            "id": channel.id,
            "created": channel.created,
            "is_archived": False,
            "is_im": True,
            "is_org_shared": False,
            "user": other,
            "is_user_deleted": False,
            "priority": 0,
        }
    shared = bool(channel.shared_with)
    private = channel.kind is ChannelKind.PRIVATE
    return {
        "id": channel.id,
        "name": channel.name,
        "name_normalized": channel.name,
        "is_channel": not private,
        "is_group": private,
        "is_im": False,
        "is_mpim": False,
        "is_private": private,
        "is_archived": channel.archived,
        "is_general": channel.is_general,
        "is_member": viewer in channel.members,
        "is_shared": shared,
        "is_ext_shared": shared,
        "is_org_shared": False,
        "is_pending_ext_shared": False,
        "pending_shared": [],
        "pending_connected_team_ids": [],
        "context_team_id": world.team.id,
        "shared_team_ids": [world.team.id, *channel.shared_with],
        "connected_team_ids": list(channel.shared_with),
        "internal_team_ids": [],
        "parent_conversation": None,
        "unlinked": 0,
        "created": channel.created,
        "updated": channel.created * 1000,
        "creator": channel.creator,
        "topic": _described(channel, channel.topic),
        "purpose": _described(channel, channel.purpose),
        "previous_names": [],
        "properties": {},
    }


def _described(channel: Channel, value: str) -> Json:
    return {"value": value, "creator": channel.creator, "last_set": channel.created}


def user_json(world: World, user: User) -> Json:
    """A user as users.info gives it; somebody of another team is a stranger."""
    first, _, last = user.real_name.partition(" ")
    out: Json = {
        "id": user.id,
        "team_id": user.team,
        "name": user.name,
        "deleted": user.deleted,
        "color": user.color,
        "real_name": user.real_name,
        "tz": "Etc/UTC",
        "tz_label": "Coordinated Universal Time",
        "tz_offset": 0,
        "profile": {
            "title": user.title,
            "real_name": user.real_name,
            "real_name_normalized": user.real_name,
            "display_name": user.display_name,
            "display_name_normalized": user.display_name,
            "first_name": first,
            "last_name": last,
            "status_text": "",
            "status_emoji": "",
            "team": user.team,
        },
        "is_admin": user.role is Role.ADMIN,
        "is_owner": False,
        "is_primary_owner": False,
        "is_restricted": user.role in (Role.GUEST, Role.SINGLE_CHANNEL_GUEST),
        "is_ultra_restricted": user.role is Role.SINGLE_CHANNEL_GUEST,
        "is_bot": user.is_bot,
        "is_app_user": False,
        "updated": 0,
    }
    if user.is_bot:
        out["profile"] |= {"bot_id": user.bot_id, "api_app_id": user.app_id or ""}
    if user.team != world.team.id:
        out["is_stranger"] = True
    return out


def team_json(world: World) -> Json:
    return {"id": world.team.id, "name": world.team.name, "domain": world.team.domain}
