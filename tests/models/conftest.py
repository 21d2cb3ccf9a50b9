from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from bot.loop.stopping import Clock
from bot.loop.wire import Model
from bot.models.fallback import Breaker
from bot.models.make import adapter, make_model
from bot.models.settings import EndpointSettings, ModelSettings
from models.model_server import ModelServer
from models.wires import MESSAGES, TEXT, TOOLS, Alone, Wire
from tools.http import HttpClient


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a server names no time, the loop's own first wait is short."""
    monkeypatch.setattr("bot.loop.call.WAIT_SECONDS", 0.01)


@pytest.fixture(params=[TOOLS, TEXT, MESSAGES], ids=["openai", "text-mode", "anthropic"])
def wire(request: pytest.FixtureRequest) -> Wire:
    asked: Wire = request.param
    return asked


@pytest.fixture(params=[TOOLS, MESSAGES], ids=["openai", "anthropic"])
def calling(request: pytest.FixtureRequest) -> Wire:
    """A wire format with tool calls of its own."""
    asked: Wire = request.param
    return asked


@pytest.fixture
async def client() -> AsyncIterator[HttpClient]:
    async with HttpClient() as opened:
        yield opened


@pytest.fixture
def alone(client: HttpClient) -> Alone:
    """The model of a wire with nothing behind it."""

    def make(wire: Wire, server: ModelServer, **more: Any) -> Model:
        return adapter(wire.settings(server, **more), client, Clock())

    return make


@pytest.fixture
def fallback(client: HttpClient) -> Callable[..., Model]:
    """A run's model as the bot makes it: these endpoints, then rules."""
    breaker = Breaker(Clock().monotonic)

    def make(*endpoints: EndpointSettings) -> Model:
        first, *then = endpoints
        given = {name: getattr(first, name) for name in EndpointSettings.model_fields}
        return make_model(ModelSettings(**given, then=tuple(then)), client, breaker, Clock())

    return make
