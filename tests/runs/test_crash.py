"""kill -9 in the middle, start again: one outcome, one reply, no finished tool call ran twice."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from bot.runs.journal import StoreJournal
from bot.runs.records import RunState
from runs.bench import opened
from support.scripted import NOW

CHILD = Path(__file__).parent / "child.py"
ROOT = CHILD.parent.parent.parent


def child(database: Path, effects: Path, mode: str, key: str = "m1") -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, str(CHILD), str(database), str(effects), mode, key],
        env={"PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"},
        cwd=ROOT,
    )


def lines(effects: Path) -> list[str]:
    return effects.read_text().splitlines() if effects.exists() else []


def kill_once_it_says(process: subprocess.Popen[bytes], effects: Path, line: str) -> None:
    with process:
        give_up = time.monotonic() + 30
        while not any(said.startswith(line) for said in lines(effects)):
            assert process.poll() is None, "it ended by itself"
            assert time.monotonic() < give_up, lines(effects)
            time.sleep(0.02)
        process.kill()


async def test_a_run_killed_in_a_slow_tool_ends_once_and_repeats_no_finished_call(
    database: Path, tmp_path: Path
) -> None:
    effects = tmp_path / "effects"
    kill_once_it_says(child(database, effects, "stuck"), effects, "began pears")
    assert lines(effects) == ["began apples", "ended apples", "began pears"]
    assert child(database, effects, "well").wait(timeout=30) == 0
    said = lines(effects)
    assert said.count("began apples") == 1
    assert said.count("ended pears") == 1
    assert said.count("replied m1 answer") == 1
    async with opened(database) as store:
        (run,) = await store.recent(10)
        events = await StoreJournal(store, run.id, run.epoch, lambda: NOW).read()
    assert run.state is RunState.ENDED
    assert run.epoch == 2
    assert [event.kind for event in events].count("run_ended") == 1
    assert [event.kind for event in events].count("run_started") == 1


async def test_a_run_killed_while_posting_is_replied_to_with_word_of_the_earlier_intent(
    database: Path, tmp_path: Path
) -> None:
    effects = tmp_path / "effects"
    kill_once_it_says(child(database, effects, "post"), effects, "posting")
    assert child(database, effects, "well").wait(timeout=30) == 0
    posts = [line for line in lines(effects) if line.startswith("posting")]
    assert len(posts) == 2
    assert posts[0] == posts[1], "the second owner knows of the first one's intent"
    assert lines(effects).count("replied m1 answer") == 1
    assert lines(effects).count("began apples") == 1


@pytest.mark.parametrize("starts", [2])
async def test_processes_that_start_together_after_a_crash_take_the_run_over_once(
    database: Path, tmp_path: Path, starts: int
) -> None:
    effects = tmp_path / "effects"
    kill_once_it_says(child(database, effects, "stuck"), effects, "began pears")
    together = [child(database, effects, "well", key=f"n{n}") for n in range(starts)]
    assert [process.wait(timeout=30) for process in together] == [0] * starts
    said = lines(effects)
    assert said.count("replied m1 answer") == 1
    assert [line for line in said if line.startswith("replied n")] == sorted(
        [f"replied n{n} answer" for n in range(starts)], key=said.index
    )
