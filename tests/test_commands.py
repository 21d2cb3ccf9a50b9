"""The commands on recorded runs and on the set-up: replay, fork, compare, manifest, doctor."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent
AT = "2026-11-29T02:14Z"


def bot(*argv: str, **more: str) -> subprocess.CompletedProcess[str]:
    kept = {n: v for n, v in os.environ.items() if not n.startswith(("ONCALL_", "SLACK_"))}
    done = subprocess.run(
        [sys.executable, "-m", "bot", *argv],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env=kept | more,
        timeout=60,
    )
    assert "Traceback" not in done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, list[str]]:
    """A workspace with two runs that differ in the deploy they ask about."""
    root = str(tmp_path_factory.mktemp("commands") / "demo")
    assert bot("demo-workspace", root).returncode == 0
    runs = []
    for number in (4470, 4471):
        asked = bot("ask", f"What changed in deploy {number}?", "-w", root, "--now", AT, "--json")
        runs.append(json.loads(asked.stdout)["run"])
    return root, runs


def test_a_run_replays_to_the_same_events(demo: tuple[str, list[str]]) -> None:
    root, runs = demo
    done = bot("replay", runs[0], "-w", root)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("same: all ")


def test_a_run_forks_at_a_step_and_is_kept_as_a_run_of_its_own(
    demo: tuple[str, list[str]],
) -> None:
    root, runs = demo
    done = bot("replay", runs[0], "--from", "2", "--model", "rules", "-w", root)
    assert done.returncode == 0, done.stderr
    assert "4470" in done.stdout
    kept = done.stdout.split("Kept as run ")[1].split(".")[0]
    assert kept not in runs
    assert bot("replay", kept, "-w", root).returncode == 0
    same = bot("compare", runs[0], kept, "-w", root)
    assert (same.returncode, "the two runs are the same" in same.stdout) == (0, True)


def test_a_fork_from_a_step_or_a_model_that_is_not_there_is_said(
    demo: tuple[str, list[str]],
) -> None:
    root, runs = demo
    late = bot("replay", runs[0], "--from", "7", "-w", root)
    assert late.returncode == 2
    assert "step" in late.stderr
    unknown = bot("replay", runs[0], "--from", "2", "--model", "gpt-9", "-w", root)
    assert unknown.returncode == 2
    assert "there is no model 'gpt-9'; there are: rules" in unknown.stderr


def test_two_runs_are_compared_to_their_first_difference(demo: tuple[str, list[str]]) -> None:
    root, runs = demo
    done = bot("compare", *runs, "-w", root)
    assert done.returncode == 1
    assert "A: What changed in deploy 4470?" in done.stdout
    missing = bot("compare", runs[0], "NOPE", "-w", root)
    assert missing.returncode == 2
    assert "there is no run 'NOPE'" in missing.stderr


def test_the_manifest_is_printed_as_yaml_json_and_a_link() -> None:
    as_yaml, as_json = bot("manifest"), bot("manifest", "--json")
    assert yaml.safe_load(as_yaml.stdout) == json.loads(as_json.stdout)
    assert yaml.safe_load((ROOT / "manifest.yml").read_text("utf-8")) == json.loads(as_json.stdout)
    assert bot("manifest", "--link").stdout.startswith("https://api.slack.com/apps?new_app=1")


def test_the_doctor_says_what_to_do_without_tokens_and_without_a_model(
    demo: tuple[str, list[str]],
) -> None:
    root, _ = demo
    slack = bot("doctor", "-w", root)
    assert slack.returncode == 1
    assert "oncall-bot manifest --link" in slack.stdout
    models = bot("doctor", "--model", "-w", root)
    assert models.returncode == 0
    assert "the rules model answers" in models.stdout


def test_the_doctor_names_a_model_that_nobody_serves(demo: tuple[str, list[str]]) -> None:
    root, _ = demo
    done = bot(
        "doctor", "--model", "-w", root,
        ONCALL_MODEL__KIND="openai",
        ONCALL_MODEL__MODEL="local",
        ONCALL_MODEL__BASE_URL="http://127.0.0.1:9/v1",
    )  # fmt: skip
    assert done.returncode == 1
    assert "fail local" in done.stdout
    assert "→" in done.stdout


def test_wrong_slack_tokens_are_refused_in_words(demo: tuple[str, list[str]]) -> None:
    root, _ = demo
    one = bot("serve", "-w", root, SLACK_BOT_TOKEN="xoxb-1")
    assert one.returncode == 2
    assert "app_token" in one.stderr
    swapped = bot("serve", "-w", root, SLACK_BOT_TOKEN="xapp-1", SLACK_APP_TOKEN="xoxb-1")
    assert swapped.returncode == 2
    assert "must start with xoxb-" in swapped.stderr
