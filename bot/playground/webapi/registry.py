"""Every method that the playground answers, with its rate, scopes and token. The table to read."""

from __future__ import annotations

from collections.abc import Mapping

from bot.playground.rates import CONNECTIONS, MESSAGES, SPECIAL, TIER_2, TIER_3, TIER_4
from bot.playground.webapi import chat, conversations, directory, reactions, surfaces
from bot.playground.webapi.method import Method, TokenKind, family

_WRITE = ("chat:write",)

METHODS: Mapping[str, Method] = {
    "auth.test": Method(directory.auth_test, SPECIAL, token=TokenKind.ANY, takes_json=True),
    "apps.connections.open": Method(
        directory.connections_open,
        CONNECTIONS,
        ("connections:write",),
        token=TokenKind.APP,
        takes_json=True,
    ),
    "chat.postMessage": Method(chat.post_message, MESSAGES, _WRITE, takes_json=True),
    "chat.postEphemeral": Method(chat.post_ephemeral, TIER_4, _WRITE, takes_json=True),
    "chat.update": Method(chat.update, TIER_3, _WRITE, takes_json=True),
    "chat.delete": Method(chat.delete, TIER_3, _WRITE, takes_json=True),
    "chat.getPermalink": Method(chat.get_permalink, SPECIAL),
    "reactions.add": Method(reactions.add, TIER_3, ("reactions:write",), takes_json=True),
    "reactions.remove": Method(reactions.remove, TIER_3, ("reactions:write",), takes_json=True),
    "reactions.get": Method(reactions.get, TIER_3, ("reactions:read",)),
    "conversations.info": Method(conversations.info, TIER_3, family("read")),
    "conversations.history": Method(
        conversations.history, TIER_3, family("history"), slow_when_distributed=True
    ),
    "conversations.replies": Method(
        conversations.replies, TIER_3, family("history"), slow_when_distributed=True
    ),
    "conversations.list": Method(conversations.list_, TIER_2, family("read")),
    "conversations.members": Method(conversations.members, TIER_4, family("read")),
    "conversations.join": Method(conversations.join, TIER_3, ("channels:join",), takes_json=True),
    "conversations.open": Method(conversations.open_, TIER_3, ("im:write",), takes_json=True),
    "users.info": Method(directory.users_info, TIER_4, ("users:read",)),
    "users.conversations": Method(conversations.of_user, TIER_3, family("read")),
    "team.info": Method(directory.team_info, TIER_3, ("team:read",)),
    "usergroups.users.list": Method(directory.usergroup_users, TIER_2, ("usergroups:read",)),
    "assistant.threads.setStatus": Method(
        surfaces.set_thread_status, SPECIAL, ("chat:write", "assistant:write"), takes_json=True
    ),
    "agents.sessions.setStatus": Method(
        surfaces.set_session_status, TIER_3, _WRITE, takes_json=True
    ),
    "views.publish": Method(surfaces.publish_view, TIER_4, takes_json=True),
}
