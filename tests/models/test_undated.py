"""Deploys without a time: no answer about when is sure while they exist."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from bot.loop.engine import run
from bot.loop.journal import MemoryJournal
from bot.loop.limits import Limits
from bot.loop.outcome import Answer
from bot.loop.question import parse
from bot.loop.toolbox import Toolbox
from bot.models.rules import RulesModel
from bot.redact import Redactor
from support.scripted import stop_after
from support.shop import NOW, Shop
from tools.records import Confidence
from tools.workspace import read_tools

GAP = ("2 deploys without a time (deploys.jsonl)",)


@pytest.mark.parametrize(
    ("question", "confidence", "not_checked"),
    [
        ("What was deployed in the last hour?", Confidence.LOW, GAP),
        ("Was web deployed in the last hour?", Confidence.LOW, GAP),
        ("Who deployed web last?", Confidence.LOW, GAP),
        ("Who deployed ledger last?", Confidence.HIGH, ()),
    ],
)
async def test_an_answer_that_undated_deploys_could_turn_is_not_sure(
    tmp_path: Path, question: str, confidence: Confidence, not_checked: tuple[str, ...]
) -> None:
    shop = Shop(tmp_path)
    shop.service("web")
    shop.service("ledger")
    shop.deploys += [{"number": 1, "service": "web"}, {"number": 2, "service": "web"}]
    shop.release("ledger", 3, timedelta(days=2), {"a": "1"})
    workspace = shop.open()
    answer = await run(
        parse(question, NOW, workspace.catalog.words(), ()),
        RulesModel(),
        Toolbox(read_tools(workspace), Redactor()),
        Limits(),
        MemoryJournal(),
        stop_after(),
    )
    assert isinstance(answer, Answer)
    assert (answer.confidence, answer.not_checked) == (confidence, not_checked)
