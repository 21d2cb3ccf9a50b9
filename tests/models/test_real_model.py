"""The demo question on a real model, when one is named.

    ONCALL_TEST_MODEL_URL=http://127.0.0.1:11434/v1 ONCALL_TEST_MODEL=qwen3:8b pytest tests/models/test_real_model.py -s

``ONCALL_TEST_MODEL_KIND`` (openai, anthropic), ``_MODE`` (tools, text) and ``_KEY`` are optional.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pydantic import SecretStr

from bot.loop.engine import run
from bot.loop.journal import MemoryJournal
from bot.loop.limits import Limits
from bot.loop.outcome import Answer
from bot.loop.question import parse
from bot.loop.stopping import Clock
from bot.loop.toolbox import Toolbox
from bot.models.make import adapter
from bot.models.settings import EndpointSettings
from bot.playground.incident import make_demo_workspace
from support.scripted import NoRedaction, stop_after
from tools.http import HttpClient
from tools.workspace import open_workspace, read_tools

URL = os.environ.get("ONCALL_TEST_MODEL_URL", "")


@pytest.mark.skipif(not URL, reason="ONCALL_TEST_MODEL_URL is not set: no real model to ask")
async def test_the_demo_question_is_answered_by_a_real_model(tmp_path: Path) -> None:
    settings = EndpointSettings.model_validate(
        {
            "kind": os.environ.get("ONCALL_TEST_MODEL_KIND", "openai"),
            "mode": os.environ.get("ONCALL_TEST_MODEL_MODE", "tools"),
            "model": os.environ["ONCALL_TEST_MODEL"],
            "base_url": URL,
            "api_key": SecretStr(os.environ.get("ONCALL_TEST_MODEL_KEY", "")),
        }
    )
    demo = make_demo_workspace(tmp_path / "workspace")
    workspace = open_workspace(demo.root)
    limits = Limits(deadline_seconds=600, model_call_seconds=200)
    async with HttpClient() as client:
        outcome = await run(
            parse(demo.question, demo.asked_at, workspace.catalog.words(), ()),
            adapter(settings, client, Clock()),
            Toolbox(read_tools(workspace), NoRedaction()),
            limits,
            MemoryJournal(),
            stop_after(limits.deadline_seconds - limits.reserve_seconds),
        )
    print(outcome.model_dump_json(indent=2))
    assert isinstance(outcome, Answer), outcome
    assert "4471" in outcome.model_dump_json()
