"""What the playground's tests talk to it with: the control API and a bare Socket Mode client."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import aiohttp

BOT_TOKEN = "xoxb-playground-oncall"
APP_TOKEN = "xapp-playground-oncall"
GIVE_UP = 30.0
POLL = 0.005

Json = dict[str, Any]


@dataclass
class Control:
    """The control API over HTTP."""

    url: str
    session: aiohttp.ClientSession

    async def __call__(self, name: str, /, **body: Any) -> dict[str, Any]:
        async with self.session.post(f"{self.url}{name}", json=body) as response:
            answer: dict[str, Any] = await response.json()
            assert answer["ok"], answer
            return answer

    async def refused(self, name: str, /, **body: Any) -> dict[str, Any]:
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
Eventually = Callable[[Callable[[], Any]], Awaitable[None]]
"""Wait for a condition of the outside world; fails after ``GIVE_UP``, never sleeps for luck."""
ErrorOf = Callable[[Awaitable[Any]], Awaitable[dict[str, Any]]]
"""The answer of a call that Slack refuses."""
