"""The Slack app's manifest: what the app is, which scopes it has, which events it hears.

The one source. ``manifest.yml`` at the top of the repository is this, written out for people who
paste it; a test keeps them equal. The doctor checks granted scopes against it.
"""

from __future__ import annotations

import json
from typing import Any, Final
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
    "member_joined_channel",
    "message.im",
    "reaction_added",
)
ASK_ABOUT_THIS: Final = "ask_about_this"
"""The message shortcut's callback id."""
_DESCRIPTION = "Answers on-call questions about incidents and deploys, with evidence."
_QUESTION = "Which service caused the checkout incident, and what changed in deploy 4471?"


def manifest() -> dict[str, Any]:
    """For Socket Mode. An app-level token with ``connections:write`` is made by hand."""
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
        "oauth_config": {"scopes": {"bot": list(BOT_SCOPES)}},
        "settings": {
            "event_subscriptions": {"bot_events": list(BOT_EVENTS)},
            "interactivity": {"is_enabled": True},
            "org_deploy_enabled": False,
            "socket_mode_enabled": True,
            "token_rotation_enabled": False,
        },
    }


def manifest_json() -> str:
    return json.dumps(manifest(), indent=2)


def manifest_link() -> str:
    """A page of Slack's that makes the app, with everything filled in."""
    compact = json.dumps(manifest(), separators=(",", ":"))
    return f"https://api.slack.com/apps?{urlencode({'new_app': 1, 'manifest_json': compact})}"
