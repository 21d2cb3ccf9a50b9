"""Scoring a case file: what is judged, what counts, and files that cannot be used."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.eval import JUDGED, EvalError, Scored, evaluate, judged_text, read_cases, table
from bot.loop.limits import StopReason
from bot.loop.outcome import Answer, Claim, Failure
from bot.loop.state import Phase
from bot.models.rules import RulesModel
from support.shop import NOW, Shop, stamp
from tools.records import Confidence

CASE: dict[str, Any] = {
    "id": "shop",
    "title": "not read",
    "asked_at": stamp(NOW),
    "question": "Which deploy caused the checkout incident?",
    "truth": {
        "kind": "deploy",
        "service": "payments",
        "deploy": 10,
        "facts": ["PAYMENTS.*10"],
        "forbidden": [r"^checkout"],
    },
    "followups": [
        {"question": "What changed in deploy 9999?", "facts": [r"\bno deploy 9999", "unicorn"]}
    ],
}


def written(root: Path, **change: Any) -> Path:
    file = root / "cases.json"
    file.write_text(json.dumps({"format": 1, "cases": [CASE | change]}), "utf-8")
    return file


@pytest.fixture
def workspaces(tmp_path: Path) -> Path:
    shop = Shop(tmp_path / "shop")
    shop.service("checkout", depends_on=["payments"])
    shop.service("payments")
    shop.release("checkout", 1, timedelta(days=9), {"a.py": "x = 1\n"})
    shop.release("payments", 2, timedelta(days=9), {"a.py": "post('/charges', timeout=5.0)\n"})
    shop.release("payments", 10, timedelta(hours=1), {"a.py": "post('/charges', timeout=0.5)\n"})
    shop.incident(summary="'/charges' runs into its timeout")
    shop.open()
    return tmp_path


async def test_questions_and_follow_ups_are_scored_against_their_patterns(
    workspaces: Path,
) -> None:
    seen: list[Scored] = []
    result = await evaluate(written(workspaces), workspaces, RulesModel, watch=seen.append)
    first, second = result.scored
    assert tuple(seen) == result.scored
    assert (first.right, first.rank, first.wants, first.facts) == (True, 1, "deploy", 1)
    assert (second.right, second.rank, second.followup) == (False, None, True)
    assert second.lacks == ("unicorn",)
    assert (second.facts, second.facts_total) == (1, 2)
    assert result.totals.right == (1, 2)
    assert result.totals.rank_1 == (1, 1)
    assert result.totals.facts == (2, 3)
    assert result.totals.answered == (2, 2)


async def test_the_table_shows_each_question_each_miss_and_the_totals(workspaces: Path) -> None:
    shown = table(await evaluate(written(workspaces), workspaces, RulesModel))
    lines = shown.splitlines()
    assert lines[0].split()[:4] == ["case", "question", "right", "rank"]
    assert "shop: What changed in deploy 9999?: lacks 'unicorn'" in lines
    assert "total (rules): right 1/2, right suspect at rank 1 1/1" in shown


async def test_a_wrong_deploy_and_forbidden_words_count_against_it(workspaces: Path) -> None:
    truth = CASE["truth"] | {"deploy": 2, "forbidden": ["charges"]}
    result = await evaluate(written(workspaces, truth=truth), workspaces, RulesModel)
    assert result.scored[0].rank not in (None, 1)
    assert result.scored[0].says == ("charges",)
    assert not result.scored[0].right
    assert result.totals.forbidden == 1
    assert result.totals.rank_1 == (0, 1)


def test_only_the_headline_and_the_claims_are_judged_and_only_so_much() -> None:
    answer = Answer(
        headline="Deploy 1",
        claims=(Claim(text="c" * 600, evidence=("o1",)), Claim(text="d" * 600, evidence=("o1",))),
        unknowns=("what else",),
        not_checked=("feature flags",),
        confidence=Confidence.LOW,
        steps=2,
        model="rules",
    )
    judged = judged_text(answer)
    assert len(judged) == JUDGED
    assert judged.startswith("Deploy 1\nccc")
    assert "what else" not in judged
    failed = Failure(
        reason=StopReason.STEP_CAP, phase=Phase.CALL, next_check="look", steps=8, model="rules"
    )
    assert judged_text(failed) == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[", "Invalid JSON"),
        ('{"cases": []}', "cases: Tuple should have at least 1 item"),
        ('{"cases": [{"id": "a"}]}', "cases.0.asked_at: Field required"),
    ],
)
def test_a_file_that_is_no_case_file_is_named_with_the_place(
    tmp_path: Path, text: str, said: str
) -> None:
    file = tmp_path / "cases.json"
    file.write_text(text)
    with pytest.raises(EvalError, match=said):
        read_cases(file)
    with pytest.raises(EvalError, match="cannot be read"):
        read_cases(tmp_path / "none.json")


def test_a_broken_pattern_is_named(tmp_path: Path) -> None:
    truth = CASE["truth"] | {"facts": ["(unclosed"]}
    with pytest.raises(EvalError, match="is no pattern"):
        read_cases(written(tmp_path, truth=truth))


async def test_a_workspace_that_is_not_built_is_said_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(EvalError, match="each case needs a built workspace"):
        await evaluate(written(tmp_path), tmp_path, RulesModel)
