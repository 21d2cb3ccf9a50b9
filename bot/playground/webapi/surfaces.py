"""assistant.*, agents.*, views.*: what an app shows outside its messages.

Owns the statuses' words. The status itself, with its two-minute timeout, lives in the playground.
"""

from __future__ import annotations

from bot.playground.model import Json
from bot.playground.webapi.errors import SlackError
from bot.playground.webapi.method import Call, find_channel, need_membership

SESSION_STATUSES = ("active", "processing", "suspended", "closed")


def set_thread_status(call: Call) -> Json:
    call.args.require("channel_id", "thread_ts", "status")
    channel = find_channel(call, "channel_id")
    need_membership(call, channel)
    root = call.args.text("thread_ts")
    if call.world.message(channel.id, root) is None:
        raise SlackError("invalid_thread_ts")
    call.playground.set_status(call.app.id, channel.id, root, call.args.text("status"))
    return {}


def set_session_status(call: Call) -> Json:
    call.args.require("status")
    if not call.app.is_agent:
        raise SlackError("not_allowed")
    status = call.args.text("status")
    if status not in SESSION_STATUSES:
        raise SlackError("invalid_arguments")
    channel = find_channel(call, "channel_id")
    need_membership(call, channel)
    root = call.args.text("thread_ts")
    if call.world.message(channel.id, root) is None:
        raise SlackError("invalid_thread_ts")
    call.playground.people.sessions[channel.id, root] = status
    call.playground.feed.touch()
    return {"status": status, "agent_status": status, "title": call.args.text("title")}


def publish_view(call: Call) -> Json:
    """Checked for its form only; nobody looks at an app's home here."""
    call.args.require("user_id", "view")
    view = call.args.json("view")
    if call.args.text("user_id") not in call.world.users:
        raise SlackError("user_not_found")
    if not isinstance(view, dict) or view.get("type") != "home":
        raise SlackError("invalid_arguments")
    return {"view": {**view, "id": call.world.new_id("V"), "app_id": call.app.id}}
