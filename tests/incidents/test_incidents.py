"""Real incidents, rebuilt from package releases: the right suspect, and nothing where none is."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType

import pytest

from bot.eval import evaluate, read_cases
from bot.models.rules import RulesModel
from tools.records import Confidence

CASES = Path(__file__).with_name("cases.json")


def test_every_release_of_every_case_is_pinned() -> None:
    book = json.loads(CASES.read_text("utf-8"))
    assert len(book["cases"]) >= 6
    for case in book["cases"]:
        numbers = [r["number"] for s in case["services"].values() for r in s["releases"]]
        assert len(numbers) == len(set(numbers)), case["id"]
        pins = [r["sha256"] for s in case["services"].values() for r in s["releases"]]
        assert all(len(pin) == 64 for pin in pins), case["id"]
    assert any(case.truth.kind == "none" for case in read_cases(CASES).cases)


@pytest.mark.network
async def test_the_cause_is_ranked_first_and_an_outage_elsewhere_has_none(
    workspaces: Path,
) -> None:
    result = await evaluate(CASES, workspaces, RulesModel)
    first = [one for one in result.scored if not one.followup]
    assert [one.case for one in first if one.wants == "deploy" and one.rank != 1] == []
    sure = [one for one in first if one.confidence is Confidence.HIGH]
    assert len(sure) >= 3
    outside = [one for one in first if one.wants == "none"]
    assert len(outside) == 2
    assert all(one.right and one.confidence is Confidence.NONE for one in outside)
    assert all(one.rank == 1 for one in sure)
    assert result.totals.forbidden == 0


def test_an_artifact_that_is_not_the_pinned_one_is_refused(
    builder: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def other(release: object, folder: Path) -> Path:
        (folder / "x.whl").write_bytes(b"something else")
        return folder / "x.whl"

    monkeypatch.setattr(builder, "_download", other)
    book = json.loads(CASES.read_text("utf-8"))
    name, service = next(iter(book["cases"][0]["services"].items()))
    release = next(builder._releases(service))
    with pytest.raises(builder.FetchError, match="pinned is"):
        builder.fetch(release, tmp_path)
    assert list(tmp_path.glob("*.whl")) == [], name
