"""Every command of the README runs, as written."""

from __future__ import annotations

import functools
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")
BOT = ".venv/bin/oncall-bot "
INSTALL = "python3.11 -m venv .venv && .venv/bin/pip install -q -c constraints.txt "


def commands() -> list[str]:
    blocks = re.findall(r"^```sh\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.strip()]


def inline() -> list[str]:
    return re.findall(r"`([^`\n]*\.venv/bin/oncall-bot [^`\n]*)`", README)


def run(command: str, where: Path) -> subprocess.CompletedProcess[str]:
    script = command.replace(BOT, f"{shlex.quote(sys.executable)} -m bot ")
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=where, env=env, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


ASKS = [c for c in commands() if BOT in c and not c.startswith(INSTALL)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("readme")


def test_the_first_commands_install_by_the_pins_and_end_in_the_demo_and_the_tests() -> None:
    first, second = [c for c in commands() if c.startswith(INSTALL)]
    assert first == f"{INSTALL}. && .venv/bin/oncall-bot demo"
    assert second == f"{INSTALL}-e '.[dev]' && .venv/bin/pytest"


@pytest.mark.parametrize("command", ASKS)
def test_a_command_of_the_readme_answers(command: str, folder: Path) -> None:
    done = run(command, folder)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout.strip()


def test_the_shown_answer_is_the_one_that_is_given(folder: Path) -> None:
    asked = next(c for c in ASKS if "payments" in c or "checkout incident" in c)
    given = run(asked.split(" && ")[-1], folder).stdout
    shown = re.search(r"^```\n(payments-api .*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert shown is not None
    for line in shown[1].splitlines():
        for piece in re.split(r"…|\d+\.\d s", line):
            assert piece.strip() in given, piece


def test_every_command_is_tested_here() -> None:
    assert len(ASKS) >= 5
    assert [c for c in commands() if BOT not in c] == [
        c for c in commands() if c.endswith("pytest")
    ]


@functools.cache
def help_of(command: str) -> str:
    shown = run(f"{BOT}{command} --help", ROOT)
    assert shown.returncode == 0
    return shown.stdout


@pytest.mark.parametrize("command", inline())
def test_a_command_inside_the_text_exists_with_its_options(command: str) -> None:
    words = shlex.split(command[command.index(BOT) + len(BOT) :])
    shown = help_of(words[0])
    for option in (word for word in words if word.startswith("--")):
        assert option in shown


def test_serve_as_the_readme_says_opens_the_trace_pages(folder: Path) -> None:
    serve = next(c for c in inline() if " serve --workspace demo" in c)
    words = shlex.split(serve.replace(BOT, ""))
    with subprocess.Popen(
        [sys.executable, "-m", "bot", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "ONCALL_WEB__PORT": "0"},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert first.startswith("Serving http://127.0.0.1:")
    assert process.returncode == 0
