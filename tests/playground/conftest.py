"""A playground on a virtual clock, served over real HTTP and WebSocket, and clients for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.playground import Playground, Running, VirtualClock, read_seed, running_playground
from playground.harness import (
    APP_TOKEN,
    BOT_TOKEN,
    GIVE_UP,
    POLL,
    Control,
    ErrorOf,
    Eventually,
    OpenSocket,
    Socket,
)


@pytest.fixture
async def running() -> AsyncIterator[Running]:
    seed = read_seed()
    clock = VirtualClock(seed.now.timestamp())
    async with running_playground(Playground.from_seed(seed, clock)) as running:
        yield running


@pytest.fixture
def pg(running: Running) -> Playground:
    return running.playground


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


@pytest.fixture
def control(running: Running, session: aiohttp.ClientSession) -> Control:
    return Control(running.control_url, session)


@pytest.fixture
def slack(running: Running) -> AsyncWebClient:
    """Slack's own client, without retries, as the bot."""
    return AsyncWebClient(token=BOT_TOKEN, base_url=running.api_url, retry_handlers=[])


@pytest.fixture
async def open_socket(
    running: Running, session: aiohttp.ClientSession
) -> AsyncIterator[OpenSocket]:
    opened: list[aiohttp.ClientWebSocketResponse] = []

    async def connect() -> Socket:
        client = AsyncWebClient(token=APP_TOKEN, base_url=running.api_url)
        address = (await client.apps_connections_open(app_token=APP_TOKEN))["url"]
        ws = await session.ws_connect(address)
        opened.append(ws)
        socket = Socket(ws)
        socket.hello = await socket.receive()
        return socket

    yield connect
    for ws in opened:
        await ws.close()


@pytest.fixture
def eventually() -> Eventually:
    async def wait(condition: Callable[[], Any]) -> None:
        async with asyncio.timeout(GIVE_UP):
            while not condition():  # a condition has no event
                await asyncio.sleep(POLL)

    return wait


@pytest.fixture
def error_of() -> ErrorOf:
    async def refused(call: Awaitable[Any]) -> dict[str, Any]:
        with pytest.raises(SlackApiError) as caught:
            await call
        answer: dict[str, Any] = caught.value.response.data
        return answer

    return refused
