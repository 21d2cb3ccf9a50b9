"""What Slack tells the bot, as values: the one place where an event's raw JSON is read.

Owns which messages are no questions by their form alone: edits, bots, the bot's own, everything with
a subtype that a person cannot write. Knows no right and no run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot.slack.reading import message_text

_WRITTEN = (None, "file_share", "thread_broadcast")
"""The subtypes of messages that a person wrote."""


@dataclass(frozen=True)
class Said:
    """A message to the bot. ``teams`` are the workspaces that Slack names as the author's.

    ``delivery`` is the event's id. ``shared`` is Slack's word on whether people of other
    organisations are in the channel, where it says so. ``text`` is mrkdwn as it came. ``pointed``:
    somebody pointed at another's message, whose ts it is. ``asked_at`` is the ts of the asking
    itself: the message's, or that of the click.
    """

    delivery: str
    channel: str
    ts: str
    thread_ts: str | None
    user: str
    text: str
    teams: tuple[str, ...]
    direct: bool
    shared: bool | None
    asked_at: str
    pointed: bool = False

    @property
    def root(self) -> str:
        """The thread that a reply belongs to."""
        return self.thread_ts or self.ts


@dataclass(frozen=True)
class Reacted:
    """Somebody put an emoji on a message. ``name`` is without a skin tone, ``at`` a ts."""

    channel: str
    ts: str
    user: str
    name: str
    at: str


@dataclass(frozen=True)
class SessionStopped:
    """Somebody clicked Slack's own stop button in a thread, ``at`` a ts where Slack says when."""

    channel: str
    thread_ts: str
    user: str
    at: str | None


def said(body: Mapping[str, Any]) -> Said | None:
    """The message of an ``app_mention`` or ``message.im``, or ``None`` if it asks nothing."""
    event = body["event"]
    user = event.get("user")
    if (
        not user
        or event.get("bot_id")
        or event.get("edited")
        or event.get("hidden")
        or event.get("subtype") not in _WRITTEN
    ):
        return None
    named = [event.get(key) for key in ("user_team", "source_team")]
    teams = [team for team in named if team] or [event.get("team")]
    return Said(
        delivery=str(body.get("event_id", "")),
        channel=str(event["channel"]),
        ts=str(event["ts"]),
        thread_ts=event.get("thread_ts"),
        user=str(user),
        text=message_text({**event, "attachments": None}),
        teams=tuple(str(team) for team in teams if team),
        direct=event.get("channel_type") == "im",
        shared=body.get("is_ext_shared_channel"),
        asked_at=str(event["ts"]),
    )


def pointed_at(body: Mapping[str, Any]) -> Said:
    """The message that somebody chose "Ask on-call about this" for, as a question about it."""
    message = body["message"]
    user = body["user"]
    return Said(
        delivery=f"shortcut:{body.get('trigger_id', '')}",
        channel=str(body["channel"]["id"]),
        ts=str(body["message_ts"]),
        thread_ts=message.get("thread_ts"),
        user=str(user["id"]),
        text=f"What caused this? {message_text(message)}",
        teams=tuple(str(team) for team in (user.get("team_id"),) if team),
        direct=str(body["channel"]["id"]).startswith("D"),
        shared=None,
        asked_at=str(body.get("action_ts") or body["message_ts"]),
        pointed=True,
    )


def reacted(body: Mapping[str, Any]) -> Reacted | None:
    """The reaction of a ``reaction_added``, or ``None`` if it is not on a message."""
    event = body["event"]
    item = event.get("item") or {}
    if item.get("type") != "message":
        return None
    return Reacted(
        channel=str(item["channel"]),
        ts=str(item["ts"]),
        user=str(event.get("user", "")),
        name=str(event.get("reaction", "")).split("::")[0],
        at=str(event.get("event_ts") or item["ts"]),
    )


def session_stopped(body: Mapping[str, Any]) -> SessionStopped:
    event = body["event"]
    return SessionStopped(
        channel=str(event["channel"]),
        thread_ts=str(event.get("thread_ts", "")),
        user=str(event.get("user", "")),
        at=str(at) if (at := event.get("event_ts")) else None,
    )
