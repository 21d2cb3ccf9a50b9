"""A bot with scripted answers in a local Slack."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.playground import Running
from support.slack_bench import Bench, bot_in, local_slack


@pytest.fixture
async def running() -> AsyncIterator[Running]:
    async with local_slack() as running:
        yield running


@pytest.fixture
async def bench(running: Running, tmp_path: Path) -> AsyncIterator[Bench]:
    async with bot_in(running, tmp_path) as bench:
        yield bench
