"""The Slack app's manifest: what the app is, which scopes it has, which events it hears.

The one source. ``manifest.yml`` at the top of the repository is this, written out for people who
paste it; a test keeps them equal. The doctor checks granted scopes against it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, assert_never
from urllib.parse import urlencode

BOT_SCOPES: Final = (
    "app_mentions:read",
    "assistant:write",
    "channels:history",
    "channels:read",
    "chat:write",
    "commands",
    "groups:history",
    "groups:read",
    "im:history",
    "im:read",
    "im:write",
    "reactions:read",
    "reactions:write",
    "usergroups:read",
    "users:read",
)
BOT_EVENTS: Final = (
    "agent_session_stopped",
    "app_home_opened",
    "app_mention",
    "channel_created",
    "channel_shared",
    "channel_unshared",
    "member_joined_channel",
    "message.im",
    "reaction_added",
)
JOIN_SCOPE: Final = "channels:join"
"""For a bot that joins channels by itself."""
EVENTS_PATH: Final = "/slack/events"
"""Where Slack posts events, clicks and shortcuts, under the bot's public address."""
ASK_ABOUT_THIS: Final = "ask_about_this"
"""The message shortcut's callback id."""
_DESCRIPTION = "Answers on-call questions about incidents and deploys, with evidence."
_QUESTION = "Which service caused the checkout incident, and what changed in deploy 4471?"


@dataclass(frozen=True)
class OverSocket:
    """The bot opens the connection. An app-level token with ``connections:write`` is made by hand."""


@dataclass(frozen=True)
class OverHttp:
    """Slack posts to the bot. ``url`` is where: PUBLIC_URL/slack/events."""

    url: str


Transport: TypeAlias = OverSocket | OverHttp


def manifest(over: Transport = OverSocket(), more_scopes: Sequence[str] = ()) -> dict[str, Any]:
    """For Slack to make the app from, or to change it to."""
    requests = _requests(over)
    return {
        "_metadata": {"major_version": 1, "minor_version": 1},
        "display_information": {
            "name": "oncall",
            "description": _DESCRIPTION,
            "background_color": "#1f2937",
        },
        "features": {
            "app_home": {
                "home_tab_enabled": False,
                "messages_tab_enabled": True,
                "messages_tab_read_only_enabled": False,
            },
            "bot_user": {"display_name": "oncall", "always_online": True},
            "shortcuts": [
                {
                    "name": "Ask on-call about this",
                    "type": "message",
                    "callback_id": ASK_ABOUT_THIS,
                    "description": "What caused what this message tells of",
                }
            ],
            "agent_view": {
                "agent_description": _DESCRIPTION,
                "suggested_prompts": [
                    {"title": "What caused the incident?", "message": _QUESTION},
                    {"title": "What was deployed?", "message": "What was deployed since 01:00?"},
                ],
            },
        },
        "oauth_config": {"scopes": {"bot": sorted({*BOT_SCOPES, *more_scopes})}},
        "settings": {
            "event_subscriptions": {**requests, "bot_events": list(BOT_EVENTS)},
            "interactivity": {"is_enabled": True, **requests},
            "org_deploy_enabled": False,
            "socket_mode_enabled": isinstance(over, OverSocket),
            "token_rotation_enabled": False,
        },
    }


def _requests(over: Transport) -> dict[str, str]:
    """Where Slack sends events and clicks."""
    match over:
        case OverSocket():
            return {}
        case OverHttp(url=url):
            return {"request_url": url}
        case _:
            assert_never(over)


def manifest_json(over: Transport = OverSocket(), more_scopes: Sequence[str] = ()) -> str:
    return json.dumps(manifest(over, more_scopes), indent=2)


def manifest_link(over: Transport = OverSocket(), more_scopes: Sequence[str] = ()) -> str:
    """A page of Slack's that makes the app, with everything filled in."""
    compact = json.dumps(manifest(over, more_scopes), separators=(",", ":"))
    return f"https://api.slack.com/apps?{urlencode({'new_app': 1, 'manifest_json': compact})}"
