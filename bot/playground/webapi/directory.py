"""auth.*, apps.*, users.*, team.*, usergroups.*: who the app is and who is there."""

from __future__ import annotations

from bot.playground.model import Json
from bot.playground.webapi.errors import SlackError
from bot.playground.webapi.method import Call
from bot.playground.wire import team_json, user_json


def auth_test(call: Call) -> Json:
    app, world = call.app, call.world
    return {
        "url": f"https://{world.team.domain}.slack.com/",
        "team": world.team.name,
        "user": world.users[app.bot_user].name,
        "team_id": world.team.id,
        "user_id": app.bot_user,
        "bot_id": app.bot_id,
        "is_enterprise_install": False,
    }


def connections_open(call: Call) -> Json:
    """A WebSocket address with a ticket that works once, for 30 seconds."""
    ticket = call.playground.sockets.issue_ticket(call.app.id)
    base = call.base_url.replace("http", "ws", 1)
    return {"url": f"{base}/link/?ticket={ticket}&app_id={call.app.id}"}


def users_info(call: Call) -> Json:
    call.args.require("user")
    user = call.world.users.get(call.args.text("user"))
    if user is None:
        raise SlackError("user_not_found")
    return {"user": user_json(call.world, user)}


def team_info(call: Call) -> Json:
    return {"team": team_json(call.world)}


def usergroup_users(call: Call) -> Json:
    call.args.require("usergroup")
    members = call.app.usergroups.get(call.args.text("usergroup"))
    if members is None:
        raise SlackError("no_such_subteam")
    return {"users": list(members)}
