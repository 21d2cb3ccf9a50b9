"""The Slack app: Bolt over Socket Mode or over HTTP, and the parts that its listeners tell.

Owns the joining of the parts and the two transports' start and end. In use::

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
from collections.abc import Sequence
from typing import assert_never

import aiohttp
import structlog
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult

from bot.loop.stopping import Clock
from bot.runs.links import Links
from bot.runs.service import RunService
from bot.slack.abort import Stops, Taking
from bot.slack.audience import Audience
from bot.slack.calls import Limited, Ok, Refused, Sleep, Unknown, Web
from bot.slack.channels import Channels
from bot.slack.client import library_log, web_client
from bot.slack.debug_thread import SURE_SECONDS
from bot.slack.doctor import Finding, examine
from bot.slack.feedback import FeedbackClicks
from bot.slack.fixes import fix_for
from bot.slack.http import Requests
from bot.slack.identity import (
    START_SECONDS,
    Identity,
    SlackSetupError,
    SlackUnreachableError,
    identify,
)
from bot.slack.intake import AskedAt, Intake, at_its_own_time
from bot.slack.joining import Joining
from bot.slack.listeners import Heard, listen
from bot.slack.notices import Notices
from bot.slack.people import People
from bot.slack.settings import SlackSettings
from bot.slack.socket import Socket
from bot.slack.surface import SlackSurface
from bot.slack.tasks import Tasks
from bot.slack.watch import Watch

_log = structlog.get_logger(__name__)

LOAD_SECONDS = 5.0
BUSY_AT = 3
"""Questions being taken in at once, beyond which they come before decoration."""
CLOSE_SECONDS = 5.0
"""How long marks and debug messages that are on their way may still take."""


async def create_slack(
    settings: SlackSettings,
    links: Links,
    *,
    clock: Clock | None = None,
    sleep: Sleep = asyncio.sleep,
    asked_at: AskedAt = at_its_own_time,
    requests: Requests | None = None,
    seconds: float = START_SECONDS,
) -> SlackApp:
    """Find out who the bot is, and be ready to start.

    ``requests`` is where Slack posts to over HTTP, ``seconds`` how long to wait for a Slack that
    does not answer. Raises ``SlackSetupError``, and of those ``SlackUnreachableError`` where
    trying again later may help.
    """
    if settings.bot_token is None:
        raise SlackSetupError("Set [slack] bot_token and app_token, or run without Slack.")
    session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=settings.call_seconds))
    client = web_client(settings, session, settings.bot_token.get_secret_value())
    web = Web(client, clock or Clock(), sleep)
    try:
        identity = await identify(web, seconds)
    except SlackSetupError:
        await session.close()
        raise
    channels = Channels(web)
    await channels.load(LOAD_SECONDS)
    requests = requests or Requests()
    return SlackApp(settings, links, web, identity, channels, asked_at, requests, seconds)


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
        requests: Requests,
        seconds: float,
    ) -> None:
        self.identity = identity
        self._settings = settings
        self._web = web
        self._channels = channels
        self._asked_at = asked_at
        self._requests = requests
        self._seconds = seconds
        self._tasks = Tasks()
        self._people = People(web)
        self._audience = Audience(web, self._people, identity)
        self._socket: Socket | None = None
        self.surface = SlackSurface(
            web=web,
            identity=identity,
            channels=channels,
            audience=self._audience,
            links=links,
            settings=settings,
            tasks=self._tasks,
        )

    async def start(self, service: RunService) -> None:
        """Open the surface and take questions. Raises ``SlackSetupError``."""
        self.surface.open(service)
        service.add_surface(self.surface)
        people = self._people
        taking: dict[str, Taking] = {}
        self.surface.progress.is_busy = lambda: len(taking) > BUSY_AT
        notices = Notices(self.surface.poster, self._web, self._tasks, service.outbox)
        self._tasks.start_endless(notices.watch(), "notices")
        stops = Stops(service, self.identity, self._web, people, self._settings, notices, taking)
        intake = Intake(
            service=service,
            identity=self.identity,
            web=self._web,
            people=people,
            channels=self._channels,
            notices=notices,
            stops=stops,
            progress=self.surface.progress,
            tasks=self._tasks,
            settings=self._settings,
            now=self._web.clock.now,
            asked_at=self._asked_at,
            taking=taking,
        )
        bolt = self._bolt()
        heard = Heard(
            identity=self.identity,
            intake=intake,
            stops=stops,
            channels=self._channels,
            audience=self._audience,
            joining=Joining(self._web, self._channels, self._settings, self._tasks),
            feedback=FeedbackClicks(service.store, self.identity, self._web, people, self._tasks),
            tasks=self._tasks,
        )
        listen(bolt, heard)
        match self._settings.transport:
            case "socket":
                await self._connect(bolt)
            case "http":
                self._requests.open(bolt)
            case other:
                assert_never(other)
        _log.info("slack_connected", team=self.identity.team, bot=self.identity.bot_user)

    async def is_up(self) -> bool:
        """Whether questions and stops reach the bot just now."""
        if self._settings.transport == "http":
            return self._requests.is_open
        return self._socket is not None and await self._socket.is_up()

    async def connections(self) -> int | None:
        """How many sockets Slack counts for the app token, ours included; counted anew if several.

        ``None`` where there are none to count.
        """
        return await self._socket.counted() if self._socket else None

    def watch(self, public_url: str) -> None:
        """Let the doctor look again and again until the app is closed."""

        async def look() -> Sequence[Finding]:
            return await examine(
                self._settings,
                self._web.clock,
                public_url=public_url,
                connections=await self.connections(),
            )

        watch = Watch(look, self._tell_team, self._web.sleep)
        self._tasks.start_endless(watch.run(), "doctor")

    async def _tell_team(self, text: str) -> bool:
        """Post to the debug channel; one that outsiders read is not told."""
        found = self._channels.find(self._settings.debug_channel)
        channel = found and await self._channels.sure(found.id, LOAD_SECONDS, SURE_SECONDS)
        if channel is None or channel.is_shared:
            return False
        if not await self._audience.is_ours(channel.id, LOAD_SECONDS):
            return False
        client = self._web.client
        called = await self._web.once(
            client.chat_postMessage(
                channel=channel.id, text=text, unfurl_links=False, unfurl_media=False
            )
        )
        return isinstance(called, Ok)

    async def close(self, seconds: float = CLOSE_SECONDS) -> None:
        """Take no more events, and let what is on its way end for so long."""
        self._requests.close()
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

        secret = self._settings.signing_secret
        return AsyncApp(
            signing_secret=secret.get_secret_value() if secret else None,
            client=web_client(self._settings, self._web.client.session, None),
            authorize=authorize,
            process_before_response=True,
            logger=library_log(),
            name="oncall",
        )

    async def _connect(self, bolt: AsyncApp) -> None:
        token = self._settings.app_token.get_secret_value() if self._settings.app_token else ""
        address = await self._open_socket(token)
        self._socket = Socket(bolt, token, lambda: self._new_address(token))
        try:
            await self._socket.open(address)
        except (aiohttp.ClientError, OSError) as error:
            raise SlackUnreachableError(f"Slack's socket cannot be reached ({error}).") from error

    async def _new_address(self, token: str) -> str:
        """Raises ``ConnectionError``."""
        match await self._web.once(self._web.client.apps_connections_open(app_token=token)):
            case Ok(data=data):
                return str(data["url"])
            case trouble:
                raise ConnectionError(f"Slack opens no socket ({trouble})")

    async def _open_socket(self, token: str) -> str:
        """The address of a socket: a wrong app token is told here and not retried for ever."""
        client = self._web.client
        match await self._web.persist(
            lambda: client.apps_connections_open(app_token=token), self._seconds
        ):
            case Ok(data=data):
                return str(data["url"])
            case Refused() as refused:
                raise SlackSetupError(f"Slack refuses the app token: {fix_for(refused)}.")
            case Limited() | Unknown() as trouble:
                raise SlackUnreachableError(f"Slack opens no socket ({trouble}): try again later.")
