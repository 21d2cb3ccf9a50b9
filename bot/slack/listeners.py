"""A listener for every event that is subscribed, and the one boundary where a fault is caught.

An event that no listener matches is never acknowledged, so that Slack sends it again and again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import structlog
from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.slack.abort import Stops
from bot.slack.audience import Audience
from bot.slack.buttons import NOT_USEFUL, USEFUL, clicked
from bot.slack.channels import Channels
from bot.slack.events import pointed_at, reacted, said, session_stopped
from bot.slack.feedback import FeedbackClicks
from bot.slack.identity import Identity
from bot.slack.intake import Intake
from bot.slack.joining import Joining
from bot.slack.manifest import ASK_ABOUT_THIS
from bot.slack.tasks import Tasks

_log = structlog.get_logger(__name__)

Body = Mapping[str, Any]

CLICK_SECONDS = 1.5
"""How long a click may be worked on before it is acknowledged: after three, Slack calls it failed.

It is sent once only, so what fails sooner stays unacknowledged and is seen by the one who clicked.
"""


@dataclass(frozen=True)
class Heard:
    """Who is told what Slack says."""

    identity: Identity
    intake: Intake
    stops: Stops
    channels: Channels
    audience: Audience
    joining: Joining
    feedback: FeedbackClicks
    tasks: Tasks


def listen(bolt: AsyncApp, to: Heard) -> None:
    async def on_mention(body: Body) -> None:
        if heard := said(body):
            await to.intake.message(heard)

    async def on_message(body: Body) -> None:
        """Direct messages only: in channels the bot is asked by its name."""
        if (heard := said(body)) and heard.direct:
            await to.intake.message(heard)

    async def on_shortcut(body: Body, ack: AsyncAck) -> None:
        await to.tasks.within(CLICK_SECONDS, to.intake.message(pointed_at(body)), "shortcut")
        await ack()

    async def on_feedback(body: Body, ack: AsyncAck) -> None:
        await to.tasks.within(CLICK_SECONDS, to.feedback.take(clicked(body)), "feedback")
        await ack()

    async def on_reaction(body: Body) -> None:
        if seen := reacted(body):
            await to.stops.reaction(seen)

    async def on_session_stopped(body: Body) -> None:
        await to.stops.session(session_stopped(body))

    async def on_channel_created(event: Body) -> None:
        to.joining.created(event)

    async def on_member_joined(event: Body) -> None:
        channel = str(event.get("channel", ""))
        to.audience.doubt(channel)
        if event.get("user") == to.identity.bot_user:
            to.joining.invited(channel)
        elif event.get("team") not in to.identity.homes:
            to.channels.doubt(channel)

    async def on_shared(event: Body) -> None:
        """People of another organisation came or went: who can read it is asked anew."""
        to.channels.doubt(str(event.get("channel", "")))

    async def on_home_opened() -> None:
        """Subscribed because Slack's agent view needs it; there is nothing to show."""

    async def on_fault(error: Exception, body: Body) -> None:
        """The boundary: logged, never shown, and not acknowledged, so that Slack sends it again."""
        kind = (body.get("event") or {}).get("type")
        _log.error("listener_fault", event_type=kind, exc_info=error)

    bolt.event("app_mention")(on_mention)
    bolt.event("message")(on_message)
    bolt.event("reaction_added")(on_reaction)
    bolt.event("agent_session_stopped")(on_session_stopped)
    bolt.event("channel_created")(on_channel_created)
    bolt.event("member_joined_channel")(on_member_joined)
    bolt.event("channel_shared")(on_shared)
    bolt.event("channel_unshared")(on_shared)
    bolt.event("app_home_opened")(on_home_opened)
    bolt.message_shortcut(ASK_ABOUT_THIS)(on_shortcut)
    bolt.action(USEFUL)(on_feedback)
    bolt.action(NOT_USEFUL)(on_feedback)
    bolt.error(on_fault)
