"""The Slack app: Bolt over Socket Mode, with a listener for every event that is subscribed.

Owns the joining of the parts and the one boundary where a listener's fault is caught. In use::

    slack = await create_slack(settings, links)
    service = RunService(surfaces=(slack.surface, ...), ...)
    await slack.start(service)
    ...
    await service.close(drain_seconds)
    await slack.close()

Until it is closed, a stop emoji still works while the service drains.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import aiohttp
import structlog
from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_bolt.authorization import AuthorizeResult

from bot.loop.stopping import Clock
from bot.runs.links import Links
from bot.runs.service import RunService
from bot.slack.abort import Stops
from bot.slack.calls import Limited, Ok, Refused, Sleep, Unknown, Web
from bot.slack.channels import Channels
from bot.slack.client import library_log, web_client
from bot.slack.events import pointed_at, reacted, said, session_stopped
from bot.slack.fixes import fix_for
from bot.slack.identity import START_SECONDS, Identity, SlackSetupError, identify
from bot.slack.intake import AskedAt, Intake, at_its_own_time
from bot.slack.manifest import ASK_ABOUT_THIS
from bot.slack.notices import Notices
from bot.slack.people import People
from bot.slack.settings import SlackSettings
from bot.slack.socket import Socket
from bot.slack.surface import SlackSurface
from bot.slack.tasks import Tasks

_log = structlog.get_logger(__name__)

LOAD_SECONDS = 5.0
CLOSE_SECONDS = 5.0
"""How long marks and debug messages that are on their way may still take."""

Body = Mapping[str, Any]


async def create_slack(
    settings: SlackSettings,
    links: Links,
    *,
    clock: Clock | None = None,
    sleep: Sleep = asyncio.sleep,
    asked_at: AskedAt = at_its_own_time,
) -> SlackApp:
    """Find out who the bot is, and be ready to start. Raises ``SlackSetupError``."""
    if settings.bot_token is None or settings.app_token is None:
        raise SlackSetupError("Set [slack] bot_token and app_token, or run without Slack.")
    session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=settings.call_seconds))
    client = web_client(settings, session, settings.bot_token.get_secret_value())
    web = Web(client, clock or Clock(), sleep)
    try:
        identity = await identify(web)
    except SlackSetupError:
        await session.close()
        raise
    channels = Channels(web)
    await channels.load(LOAD_SECONDS)
    return SlackApp(settings, links, web, identity, channels, asked_at)


class SlackApp:
    """Made by ``create_slack``. ``surface`` goes to the service, which goes to ``start``."""

    def __init__(
        self,
        settings: SlackSettings,
        links: Links,
        web: Web,
        identity: Identity,
        channels: Channels,
        asked_at: AskedAt,
    ) -> None:
        self.identity = identity
        self._settings = settings
        self._web = web
        self._channels = channels
        self._asked_at = asked_at
        self._tasks = Tasks()
        self._socket: Socket | None = None
        self.surface = SlackSurface(
            web=web,
            identity=identity,
            channels=channels,
            links=links,
            settings=settings,
            tasks=self._tasks,
        )

    async def start(self, service: RunService) -> None:
        """Open the surface and take questions. Raises ``SlackSetupError``."""
        self.surface.open(service.store)
        people = People(self._web)
        at_work: dict[str, asyncio.Task[None]] = {}
        stops = Stops(service, self.identity, self._web, people, self._settings, at_work)
        intake = Intake(
            service=service,
            identity=self.identity,
            web=self._web,
            people=people,
            channels=self._channels,
            notices=Notices(self.surface.poster, self._tasks, self.identity),
            stops=stops,
            progress=self.surface.progress,
            tasks=self._tasks,
            settings=self._settings,
            now=self._web.clock.now,
            asked_at=self._asked_at,
            at_work=at_work,
        )
        bolt = self._bolt()
        _listen(bolt, intake, stops, self._channels, self.identity)
        token = self._settings.app_token.get_secret_value() if self._settings.app_token else ""
        address = await self._open_socket(token)
        self._socket = Socket(bolt, token)
        await self._socket.open(address)
        _log.info("slack_connected", team=self.identity.team, bot=self.identity.bot_user)

    async def is_up(self) -> bool:
        """Whether questions and stops reach the bot just now."""
        return self._socket is not None and await self._socket.is_up()

    async def close(self, seconds: float = CLOSE_SECONDS) -> None:
        """Take no more events, and let what is on its way end for so long."""
        if self._socket is not None:
            await self._socket.close()
        await self._tasks.close(seconds)
        if self._web.client.session is not None:
            await self._web.client.session.close()

    def _bolt(self) -> AsyncApp:
        """Events are answered after their listener. Who we are is known, so Bolt asks nobody.

        Bolt's own authorization acknowledges an event when its ``auth.test`` fails, and the event
        is lost; with ``authorize`` it also stays out of OAuth, whatever is in the environment.
        """
        token = self._web.client.token
        identity = self.identity

        async def authorize() -> AuthorizeResult:
            return AuthorizeResult(
                enterprise_id=identity.enterprise,
                team_id=identity.team,
                bot_user_id=identity.bot_user,
                bot_id=identity.bot_id,
                bot_token=token,
            )

        return AsyncApp(
            client=web_client(self._settings, self._web.client.session, None),
            authorize=authorize,
            process_before_response=True,
            logger=library_log(),
            name="oncall",
        )

    async def _open_socket(self, token: str) -> str:
        """The address of a socket: a wrong app token is told here and not retried for ever."""
        client = self._web.client
        match await self._web.persist(
            lambda: client.apps_connections_open(app_token=token), START_SECONDS
        ):
            case Ok(data=data):
                return str(data["url"])
            case Refused() as refused:
                raise SlackSetupError(f"Slack refuses the app token: {fix_for(refused)}.")
            case Limited() | Unknown() as trouble:
                raise SlackSetupError(f"Slack opens no socket ({trouble}): try again later.")


def _listen(
    bolt: AsyncApp, intake: Intake, stops: Stops, channels: Channels, identity: Identity
) -> None:
    """One listener for each subscribed event: an unmatched one is never acknowledged."""

    async def on_mention(body: Body) -> None:
        if heard := said(body):
            await intake.message(heard)

    async def on_message(body: Body) -> None:
        """Direct messages only: in channels the bot is asked by its name."""
        if (heard := said(body)) and heard.direct:
            await intake.message(heard)

    async def on_shortcut(body: Body, ack: AsyncAck) -> None:
        await intake.message(pointed_at(body))
        await ack()

    async def on_reaction(body: Body) -> None:
        if seen := reacted(body):
            await stops.reaction(seen)

    async def on_session_stopped(body: Body) -> None:
        await stops.session(session_stopped(body))

    async def on_channel_created(event: Body) -> None:
        channels.created(event)

    async def on_member_joined(event: Body) -> None:
        if event.get("user") == identity.bot_user:
            channels.forget(str(event.get("channel", "")))

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
    bolt.event("app_home_opened")(on_home_opened)
    bolt.message_shortcut(ASK_ABOUT_THIS)(on_shortcut)
    bolt.error(on_fault)
