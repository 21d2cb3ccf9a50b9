"""The three ways to talk to a model, and the real loop over the 02:14 incident's tools."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bot.loop.engine import run
from bot.loop.journal import MemoryJournal
from bot.loop.limits import Limits
from bot.loop.outcome import Outcome
from bot.loop.stopping import Stop
from bot.loop.toolbox import Toolbox
from bot.loop.wire import Model
from bot.models.settings import EndpointSettings
from models.model_server import ModelServer
from support.scripted import Canned, NoRedaction, asked, diff, ranking, stop_after

KEY = "sk-live-0123456789abcdef"
Q0214 = "Which service caused the checkout incident, and what changed in deploy 4471?"


@dataclass(frozen=True)
class Wire:
    """One of the three ways to talk to a model."""

    kind: str
    mode: str

    def settings(self, server: ModelServer | str, **more: Any) -> EndpointSettings:
        url = server if isinstance(server, str) else server.url
        values = {
            "kind": self.kind,
            "mode": self.mode,
            "model": "m-1",
            "base_url": url,
            "api_key": KEY,
        }
        return EndpointSettings(**(values | more))


TOOLS = Wire("openai", "tools")
TEXT = Wire("openai", "text")
MESSAGES = Wire("anthropic", "tools")

Alone = Callable[..., Model]
Fallback = Callable[..., Model]


async def ask(
    model: Model,
    *,
    limits: Limits | None = None,
    journal: MemoryJournal | None = None,
    stop: Stop | None = None,
    question: str = Q0214,
    tools: Toolbox | None = None,
) -> Outcome:
    """The real loop over canned tools of the 02:14 incident."""
    return await run(
        asked(question),
        model,
        tools or canned(),
        limits or Limits(),
        journal or MemoryJournal(),
        stop or stop_after(),
    )


def canned() -> Toolbox:
    return Toolbox([Canned("search_deploy", ranking()), Canned("get_diff", diff())], NoRedaction())
