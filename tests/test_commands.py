"""The commands on recorded runs and on the set-up: replay, fork, compare, manifest, doctor."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import yaml

from support import commands

ROOT = Path(__file__).parent.parent
AT = "2026-11-29T02:14Z"


def bot(*argv: str, **more: str) -> subprocess.CompletedProcess[str]:
    kept = {n: v for n, v in os.environ.items() if not n.startswith(("ONCALL_", "SLACK_"))}
    done = commands.run(*argv, env=kept | more)
    assert "Traceback" not in done.stdout + done.stderr
    return done


@pytest.fixture(scope="module", autouse=True)
def _commands_end_with_this_module() -> Iterator[None]:
    yield
    commands.end()


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


def test_a_model_without_a_step_is_refused_with_what_to_write(demo: tuple[str, list[str]]) -> None:
    root, _ = demo
    done = bot("replay", "last", "--model", "rules", "-w", root)
    assert (done.returncode, done.stdout) == (2, "")
    assert "write `replay last --from 1 --model rules`" in done.stderr


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


def test_the_manifest_is_what_the_settings_and_the_options_need(tmp_path: Path) -> None:
    def made(*argv: str) -> tuple[str | None, bool]:
        told = json.loads(bot("manifest", "--json", *argv).stdout)
        urls = {
            told["settings"][name].get("request_url")
            for name in ("event_subscriptions", "interactivity")
        }
        (url,) = urls
        assert told["settings"]["socket_mode_enabled"] is (url is None)
        return url, "channels:join" in told["oauth_config"]["scopes"]["bot"]

    root = str(tmp_path)
    (tmp_path / "oncall.toml").write_text(
        '[slack]\ntransport = "http"\nchannels = ["inc-*"]\njoin_channels = true\n'
    )
    assert made() == (None, False)
    assert made("--join", "--http", "https://a.test/") == ("https://a.test/slack/events", True)
    missing = bot("manifest", "-w", root)
    assert missing.returncode == 2
    assert "--http https://HOST" in missing.stderr
    assert made("-w", root, "--http", "https://b.test") == ("https://b.test/slack/events", True)
    with (tmp_path / "oncall.toml").open("a") as file:
        file.write('[web]\npublic_url = "https://c.test/bot"\n')
    assert made("-w", root) == ("https://c.test/bot/slack/events", True)
    link = bot("manifest", "-w", root, "--link").stdout
    assert "c.test%2Fbot%2Fslack%2Fevents" in link
    for wrong in ("a.test", "https://", "https://a b", "https://user:pw@a.test", "https://é.test"):
        refused = bot("manifest", "--http", wrong)
        assert refused.returncode == 2, wrong
        assert "write it like https://bot.example.com" in refused.stderr


def test_the_manifest_is_not_made_for_an_address_without_encryption(tmp_path: Path) -> None:
    refused = bot("manifest", "--http", "http://a.test")
    assert refused.returncode == 2
    assert "--http 'http://a.test' is not encrypted" in refused.stderr
    assert "or use Socket Mode" in refused.stderr
    (tmp_path / "oncall.toml").write_text(
        '[slack]\ntransport = "http"\n[web]\npublic_url = "http://a.test"\n'
    )
    configured = bot("manifest", "-w", str(tmp_path))
    assert configured.returncode == 2
    assert "[web] public_url 'http://a.test' is not encrypted" in configured.stderr


def test_a_run_goes_by_a_part_of_its_id_unless_several_do(demo: tuple[str, list[str]]) -> None:
    root, runs = demo
    assert bot("show", runs[0][-5:].lower(), "-w", root).returncode == 0
    several = bot("show", runs[0][:4], "-w", root)
    assert several.returncode == 2
    assert all(run in several.stderr for run in runs)
    for wrong in ("", "%", "zzzz", runs[0][:3], f"{runs[0]}0"):
        none = bot("show", wrong, "-w", root)
        assert none.returncode == 2
        assert "`oncall-bot runs` lists them" in none.stderr


def test_an_erased_run_leaves_no_byte_in_the_store_and_that_is_said(tmp_path: Path) -> None:
    root = str(tmp_path / "demo")
    bot("demo-workspace", root)
    secret = "Was it the heliotrope release?"
    run = json.loads(bot("ask", secret, "-w", root, "--now", AT, "--json").stdout)["run"]
    kept = json.loads(bot("ask", "Who deployed web last?", "-w", root, "--json").stdout)["run"]

    def stored() -> bytes:
        files = (tmp_path / "demo" / ".oncall").glob("oncall.db*")
        return b"".join(file.read_bytes() for file in files if file.is_file())

    assert b"heliotrope" in stored()
    assert bot("erase", "last", "-w", root).returncode == 2
    done = bot("erase", run, "-w", root)
    assert done.returncode == 0
    assert re.search(rf'Erased run {run} \("{re.escape(secret)}"\): \d+ events', done.stdout)
    assert b"heliotrope" not in stored()
    assert bot("show", run, "-w", root).returncode == 2
    assert bot("show", kept, "-w", root).returncode == 0
    assert bot("erase", run, "-w", root).returncode == 2
    fork = json.loads(bot("replay", kept, "--from", "1", "-w", root, "--json").stdout)["run"]
    told = json.loads(bot("erase", kept, "-w", root, "--json").stdout)
    assert told["forks"] == [fork]
    assert told["erased"]["replies"] == 1


def test_a_run_that_another_version_recorded_hides_no_other_run(tmp_path: Path) -> None:
    root = str(tmp_path / "demo")
    bot("demo-workspace", root)
    for question in ("Who deployed web last?", "What changed in deploy 4471?"):
        bot("ask", question, "-w", root, "--now", AT)
    with closing(sqlite3.connect(tmp_path / "demo" / ".oncall" / "oncall.db")) as store, store:
        store.execute("UPDATE events SET body = '{}' WHERE run = (SELECT max(id) FROM runs)")
    listed = bot("runs", "-w", root)
    assert (listed.returncode, len(listed.stdout.splitlines())) == (0, 2)
    for command in (
        ("show", "last"),
        ("replay", "last", "--from", "1"),
        ("compare",) + ("last",) * 2,
    ):
        done = bot(*command, "-w", root)
        assert done.returncode == 2
        assert "was recorded by another version of the bot" in done.stderr


def test_a_serving_bot_names_the_worst_that_its_data_lacks(tmp_path: Path) -> None:
    (tmp_path / "deploys.jsonl").write_text("not json\n")
    (tmp_path / "oncall.toml").write_text("")
    with subprocess.Popen(
        [sys.executable, "-m", "bot", "serve", "-w", str(tmp_path)],
        cwd=ROOT, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        env={**os.environ, "ONCALL_WEB__PORT": "0"},
    ) as process:  # fmt: skip
        assert process.stderr is not None
        said = [process.stderr.readline() for _ in range(3)]
        process.terminate()
        rest = process.stderr.read()
    assert "no incidents are known" in said[0]
    assert "no service is known: add [services.NAME]" in said[1]
    assert "deploys.jsonl line 1 is not JSON: skipped: correct it in deploys.jsonl" in said[2]
    assert "Traceback" not in rest


def test_the_doctor_looks_at_the_workspace_s_data_too(demo: tuple[str, list[str]]) -> None:
    root, _ = demo
    found = json.loads(bot("doctor", "-w", root, "--now", AT, "--json").stdout)
    assert [one["check"] for one in found if one["fix"]] == ["bot token"]
    early = bot("doctor", "-w", root, "--now", "2026-11-29T01:00Z")
    assert "3 records of deploys.jsonl dated in the future" in early.stdout
    unknown = json.loads(bot("doctor", "--model", "-w", root, "--json").stdout)
    assert (unknown["model"], unknown["level"]) == ("rules", "ok")


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
