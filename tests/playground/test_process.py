"""The playground as a process: the ready line, ports, seeds, and an orderly end."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bot.playground import PortInUseError, read_seed, running_playground
from bot.playground.seed import DEFAULT_SEED


@contextmanager
def process(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "bot.playground", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as it:
        try:
            yield it
        finally:
            it.kill()


@pytest.fixture(scope="module")
def taken() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as sock:
        yield sock.getsockname()[1]


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_it_says_ready_answers_and_ends_on_a_signal_with_the_page_open(
    ending: signal.Signals,
) -> None:
    with process("--port", "0", "--now", "2026-11-29T02:14:00Z") as it:
        assert it.stdout is not None
        word, url = it.stdout.readline().split()
        assert word == "ready"
        with urllib.request.urlopen(f"{url}/_control/state") as response:  # noqa: S310  # our own
            assert json.load(response)["team"]["name"] == "Nordshop"
        with urllib.request.urlopen(f"{url}/_control/stream") as stream:  # noqa: S310  # our own
            assert stream.readline().startswith(b"data: ")
            it.send_signal(ending)
            code = it.wait(10)
        assert code in (0, -ending)
        assert it.stderr is not None
        assert "Traceback" not in it.stderr.read()


def test_a_port_in_use_is_told_and_has_an_exit_code_of_its_own(taken: int) -> None:
    with process("--port", str(taken)) as it:
        out, err = it.communicate(timeout=20)
    assert it.returncode == 3
    assert out == ""
    assert f"port {taken} is in use on 127.0.0.1" in err


def test_other_addresses_and_bad_seeds_are_refused(tmp_path: Path) -> None:
    with process("--host", "0.0.0.0", "--port", "0") as it:  # noqa: S104  # refused
        _, err = it.communicate(timeout=20)
    assert it.returncode == 2
    assert "127.0.0.1 only" in err
    seed = json.loads(DEFAULT_SEED.read_text())
    seed["users"][0]["nmae"] = "typo"
    bad = tmp_path / "seed.json"
    bad.write_text(json.dumps(seed))
    with process("--seed", str(bad), "--port", "0") as it:
        _, err = it.communicate(timeout=20)
    assert it.returncode == 2
    assert "nmae" in err


async def test_a_port_in_use_is_an_error_with_its_number(taken: int) -> None:
    with pytest.raises(PortInUseError) as caught:
        async with running_playground(port=taken):
            pass
    assert caught.value.port == taken
    assert "choose another one" in str(caught.value)


def test_the_alert_of_the_default_world_does_not_give_the_cause_away() -> None:
    seed = read_seed()
    told = " ".join(m.model_dump_json() for m in seed.messages)
    for word in ("4471", "payments-api", "retry", "deploy"):
        assert word not in told
    alert = next(m for m in seed.messages if m.user == "alertmanager")
    assert alert.at.strftime("%H:%M") == "02:08"
    assert seed.now.strftime("%H:%M") == "02:14"
