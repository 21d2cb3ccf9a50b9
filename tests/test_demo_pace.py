"""The demo's pace: how long each turn of its bot waits."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.demo_pace import Paced, paced_by, seconds_in
from bot.loop.wire import Request
from bot.playground.pace import SLOW_SECONDS, Pace, PaceFile
from support.scripted import ScriptedModel, answer, asked, turn


async def test_each_turn_waits_as_the_local_slack_s_page_says(tmp_path: Path) -> None:
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    told = PaceFile(tmp_path / "pace")
    said = turn(answer("apples was found", ("apples was found", ["o1"])))
    model = Paced(ScriptedModel(said, said, said), told.path, sleep)
    request = Request(system="", tools=(), messages=(), question=asked("What?"), seen=())
    for pace in (Pace.USUAL, Pace.SLOW, Pace.USUAL):
        told.write(pace)
        assert told.read() is pace
        await model.complete(request)
    assert waited == [0.0, SLOW_SECONDS, 0.0]


@pytest.mark.parametrize("text", ["", "soon", "-1", "nan", "inf", "1e9", "\ud7ff"])
def test_a_file_that_holds_no_pace_slows_nothing_down(tmp_path: Path, text: str) -> None:
    (tmp_path / "pace").write_text(text, encoding="utf-8")
    assert seconds_in(tmp_path / "pace") == 0.0


def test_without_a_file_the_model_is_as_it_is() -> None:
    model = ScriptedModel()
    assert paced_by(None)(model) is model
