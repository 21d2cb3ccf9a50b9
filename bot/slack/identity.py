"""Who the bot is in the workspace that installed it: asked once, when it starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot.slack.calls import Limited, Ok, Refused, Unknown, Web

START_SECONDS = 60.0
"""How long a start waits for a Slack that does not answer."""


class SlackSetupError(Exception):
    """The bot cannot work in Slack. The message says what to change."""


class SlackUnreachableError(SlackSetupError):
    """Slack does not answer just now; nothing is known to be wrong with the settings."""


@dataclass(frozen=True)
class Identity:
    """``team`` is the installing workspace (T…), ``enterprise`` its organisation (E…), if any."""

    team: str
    enterprise: str | None
    bot_user: str
    bot_id: str
    name: str
    url: str

    @property
    def homes(self) -> frozenset[str]:
        """The ids that mark somebody as one of ours."""
        return frozenset({self.team} | ({self.enterprise} if self.enterprise else set()))

    def key(self, channel: str, ts: str) -> str:
        """What names a message for all time, whatever event it came with (M23)."""
        return f"{self.channel_key(channel)}:{ts}"

    def channel_key(self, channel: str) -> str:
        return f"slack:{self.team}:{channel}"

    def permalink(self, channel: str, ts: str, thread_ts: str | None = None) -> str:
        query = f"?thread_ts={thread_ts}&cid={channel}" if thread_ts and thread_ts != ts else ""
        return f"{self.url.rstrip('/')}/archives/{channel}/p{ts.replace('.', '')}{query}"


async def identify(web: Web, seconds: float = START_SECONDS) -> Identity:
    """Raises ``SlackSetupError``, also when Slack cannot be reached in time."""
    match await web.persist(web.client.auth_test, seconds):
        case Ok(data=data):
            return read_identity(data)
        case Refused(error=error):
            raise SlackSetupError(
                f"Slack refuses the bot token ({error}): copy it again from the app's page "
                '"OAuth & Permissions", reinstall the app if it was revoked.'
            )
        case Limited() | Unknown() as trouble:
            raise SlackUnreachableError(
                f"Slack does not answer at {web.client.base_url} ({trouble}): "
                "check the network and [slack] base_url."
            )


def read_identity(data: Mapping[str, Any]) -> Identity:
    return Identity(
        team=str(data.get("team_id", "")),
        enterprise=data.get("enterprise_id") or None,
        bot_user=str(data.get("user_id", "")),
        bot_id=str(data.get("bot_id", "")),
        name=str(data.get("user", "oncall")),
        url=str(data.get("url", "https://slack.com/")),
    )
