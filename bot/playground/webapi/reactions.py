"""reactions.*: the app's own reactions, and who reacted.

Owns the order of Slack's refusals and the ceilings. A reaction's name is checked for its form, not
against the list of all emoji.
"""

from __future__ import annotations

import re

from bot.playground.model import Channel, Json, Message
from bot.playground.webapi.errors import SlackError
from bot.playground.webapi.method import (
    Call,
    find_channel,
    find_message,
    need_membership,
    need_open,
)
from bot.playground.wire import message_json, permalink

MAX_EMOJI = 50
"""Different emoji on one message: the ceiling that Slack calls too_many_emoji."""
MAX_REACTIONS = 23
"""Different emoji that one user may put on one message: too_many_reactions."""
_NAME = re.compile(r"[a-z0-9_+'-]+(::skin-tone-[2-6])?")


def add(call: Call) -> Json:
    call.args.require("name", "timestamp", "channel")
    _channel, message = _target(call)
    name = _name(call)
    me = call.app.bot_user
    known = {r.name for r in message.reactions}
    if name not in known and len(known) >= MAX_EMOJI:
        raise SlackError("too_many_emoji")
    mine = [r for r in message.reactions if me in r.users]
    if len(mine) >= MAX_REACTIONS and all(r.name != name for r in mine):
        raise SlackError("too_many_reactions")
    if call.world.react(message, me, name) is None:
        raise SlackError("already_reacted")
    call.playground.feed.touch()
    call.playground.events.reacted("reaction_added", message, me, name)
    return {}


def remove(call: Call) -> Json:
    call.args.require("name")
    if not call.args.has("channel"):
        raise SlackError("no_item_specified")
    _channel, message = _target(call)
    name = _name(call)
    me = call.app.bot_user
    if call.world.unreact(message, me, name) is None:
        raise SlackError("no_reaction")
    call.playground.feed.touch()
    call.playground.events.reacted("reaction_removed", message, me, name)
    return {}


def get(call: Call) -> Json:
    if not call.args.has("channel"):
        raise SlackError("no_item_specified")
    channel = find_channel(call)
    need_membership(call, channel)
    if call.args.text("timestamp") in ("", "0"):
        raise SlackError("bad_timestamp")
    message = find_message(call, channel, "timestamp")
    shown = message_json(call.world, message) | {"permalink": permalink(call.world, message)}
    return {"type": "message", "channel": channel.id, "message": shown}


def _target(call: Call) -> tuple[Channel, Message]:
    if call.args.text("timestamp") in ("", "0"):
        raise SlackError("bad_timestamp")
    channel = find_channel(call)
    need_membership(call, channel)
    need_open(channel)
    return channel, find_message(call, channel, "timestamp")


def _name(call: Call) -> str:
    name = call.args.text("name")
    if not _NAME.fullmatch(name):
        raise SlackError("invalid_name")
    return name
