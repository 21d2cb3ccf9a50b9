"""The Socket Mode connection, kept up: renewed within a second of being lost.

Owns the watchdog. Slack's library looks at its socket only every ten seconds, and one that failed to
connect is tried again with a ticket that is used up. Knows no event.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import aiohttp
import structlog
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient

from bot.slack.calls import LONGEST_WAIT
from bot.slack.client import is_local, library_log

_log = structlog.get_logger(__name__)

BEAT_SECONDS = 0.5
CONNECT_SECONDS = 20.0
PING_SECONDS = 10.0


class Socket:
    """``new_address`` asks Slack for one, good for one use; raises ``OSError`` if it gives none.

    The library's own asking fails on answers that are not JSON, as those of a Slack in trouble.
    """

    def __init__(
        self, bolt: AsyncApp, app_token: str, new_address: Callable[[], Coroutine[Any, Any, str]]
    ) -> None:
        handler = AsyncSocketModeHandler(
            bolt, app_token, logger=library_log(), ping_interval=PING_SECONDS
        )
        self._client = handler.client
        if is_local(bolt.client.base_url):
            self._client.proxy = None
        self._client.issue_new_wss_url = new_address  # type: ignore[method-assign]
        self._client.message_listeners.append(self._count)
        self._watch: asyncio.Task[None] | None = None
        self._counted = asyncio.Event()
        self._connections = 1

    async def open(self, address: str) -> None:
        self._client.wss_uri = address
        await self._client.connect()  # type: ignore[no-untyped-call]
        self._watch = asyncio.create_task(self._keep_up(), name="slack socket")

    async def is_up(self) -> bool:
        """Connected, and answering pings."""
        return await self._client.is_connected()

    async def counted(self) -> int:
        """How many sockets Slack counts for the app token.

        It says so when one is opened only. One that was lost a moment before may still be among
        them, so a count above one is made again on a new socket before it is believed.
        """
        if self._connections > 1:
            self._counted.clear()
            try:
                async with asyncio.timeout(CONNECT_SECONDS):
                    await self._client.connect_to_new_endpoint(force=True)
                    await self._counted.wait()
            except (SlackApiError, aiohttp.ClientError, OSError) as error:
                _log.warning("slack_sockets_not_counted", why=str(error))
        return self._connections

    async def _count(
        self, client: AsyncBaseSocketModeClient, message: dict[str, Any], raw: str | None
    ) -> None:
        del client, raw
        if message.get("type") == "hello":
            self._connections = int(message.get("num_connections") or 1)
            self._counted.set()

    async def close(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.wait({self._watch})
        await self._client.close()  # type: ignore[no-untyped-call]

    async def _keep_up(self) -> None:
        pause = BEAT_SECONDS
        while True:
            await asyncio.sleep(pause)
            if await self._client.is_connected():
                pause = BEAT_SECONDS
                continue
            try:
                async with asyncio.timeout(CONNECT_SECONDS):
                    await self._client.connect_to_new_endpoint()
                _log.info("slack_socket_renewed")
                pause = BEAT_SECONDS
            except (SlackApiError, aiohttp.ClientError, OSError) as error:
                pause = min(pause * 2, LONGEST_WAIT)
                _log.warning("slack_socket_down", why=str(error), again_in=pause)
