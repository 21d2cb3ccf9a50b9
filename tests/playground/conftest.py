"""A playground on a virtual clock, served over real HTTP and WebSocket, and clients for it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.playground import Playground, Running, VirtualClock, read_seed, running_playground

BOT_TOKEN = "xoxb-playground-oncall"
APP_TOKEN = "xapp-playground-oncall"
GIVE_UP = 10.0


@dataclass
class Control:
    """The control API over HTTP."""

    url: str
    session: aiohttp.ClientSession

    async def __call__(self, name: str, **body: Any) -> dict[str, Any]:
        async with self.session.post(f"{self.url}{name}", json=body) as response:
            answer: dict[str, Any] = await response.json()
            assert answer["ok"], answer
            return answer

    async def refused(self, name: str, **body: Any) -> dict[str, Any]:
        async with self.session.post(f"{self.url}{name}", json=body) as response:
            assert response.status == 400
            answer: dict[str, Any] = await response.json()
            return answer

    async def state(self) -> dict[str, Any]:
        async with self.session.get(f"{self.url}state") as response:
            state: dict[str, Any] = await response.json()
            return state

    async def ask(self, text: str = "<@U0ONCALL> why?", user: str = "maya", **more: Any) -> str:
        """Post in #inc-checkout; the message's ts."""
        answer = await self("post", user=user, channel="inc-checkout", text=text, **more)
        return str(answer["ts"])


@dataclass
class Socket:
    """A bare Socket Mode client, to see every frame and to acknowledge, or not."""

    ws: aiohttp.ClientWebSocketResponse
    hello: dict[str, Any] = field(default_factory=dict)

    async def receive(self) -> dict[str, Any]:
        async with asyncio.timeout(GIVE_UP):
            message = await self.ws.receive()
        assert message.type is aiohttp.WSMsgType.TEXT, message
        frame: dict[str, Any] = json.loads(message.data)
        return frame

    async def closed(self) -> None:
        async with asyncio.timeout(GIVE_UP):
            while (await self.ws.receive()).type is aiohttp.WSMsgType.TEXT:
                pass

    async def ack(self, envelope: dict[str, Any], payload: dict[str, Any] | None = None) -> None:
        answer = {"envelope_id": envelope["envelope_id"]}
        await self.ws.send_json(answer | ({"payload": payload} if payload else {}))


OpenSocket = Callable[[], Awaitable[Socket]]


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
def eventually() -> Callable[[Callable[[], Any]], Awaitable[None]]:
    """Wait for a condition of the outside world; fails after ten seconds, never sleeps for luck."""

    async def wait(condition: Callable[[], Any]) -> None:
        async with asyncio.timeout(GIVE_UP):
            while not condition():
                await asyncio.sleep(0.005)

    return wait


@pytest.fixture
def error_of() -> Callable[[Awaitable[Any]], Awaitable[dict[str, Any]]]:
    """The answer of a call that Slack refuses."""

    async def refused(call: Awaitable[Any]) -> dict[str, Any]:
        with pytest.raises(SlackApiError) as caught:
            await call
        answer: dict[str, Any] = caught.value.response.data
        return answer

    return refused
