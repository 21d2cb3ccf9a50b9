"""The command line as a process: what it prints, how it ends, how fast, and never a traceback."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import IO

import httpx
import pytest

ROOT = Path(__file__).parent.parent
AT = "2026-11-29T02:14:00Z"
QUESTION = "Which service caused the checkout incident, and what changed in deploy 4471?"


def environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ONCALL_")}
    return kept | {"PYTHONPATH": str(ROOT), "ONCALL_WEB__PORT": str(free_port())} | more


def free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def bot(*argv: str, **more: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "bot", *argv],
        capture_output=True,
        text=True,
        check=False,
        cwd=more.pop("cwd", str(ROOT)),
        env=environment(**more),
        timeout=60,
    )
    assert "Traceback" not in done.stdout + done.stderr
    return done


def start(*argv: str, **more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "bot", *argv],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=environment(**more),
    )


def line_of(stream: IO[str] | None) -> str:
    assert stream is not None
    return stream.readline()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo") / "shop"
    done = bot("demo-workspace", str(folder), "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["workspace"] == str(folder)
    return folder


@pytest.fixture
def shop(made: Path, tmp_path: Path) -> Path:
    """The demo workspace with a state folder of its own."""
    for name in ("repos", "deploys.jsonl", "incidents.jsonl"):
        (tmp_path / name).symlink_to(made / name)
    (tmp_path / "oncall.toml").write_text((made / "oncall.toml").read_text())
    return tmp_path


def ask(shop: Path, question: str, *more: str, **env: str) -> subprocess.CompletedProcess[str]:
    return bot("ask", question, "--workspace", str(shop), "--now", AT, *more, **env)


# --- the 02:14 question --------------------------------------------------------------------------


def test_the_demo_workspace_says_what_to_ask_and_that_command_works(tmp_path: Path) -> None:
    made = bot("demo-workspace", str(tmp_path / "with a space"))
    assert made.returncode == 0
    command = shlex.split(made.stdout.strip().splitlines()[-1])
    assert command[0] == "oncall-bot"
    asked = bot(*command[1:])
    assert asked.returncode == 0
    again = bot("demo-workspace", str(tmp_path / "with a space"))
    assert again.returncode == 0
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").touch()
    refused = bot("demo-workspace", str(tmp_path / "mine"))
    assert refused.returncode == 2
    assert "is not empty: name a folder that is new or empty" in refused.stderr


def test_a_demo_asked_into_somebodys_workspace_is_refused_and_its_runs_stay(tmp_path: Path) -> None:
    kept = tmp_path / ".oncall" / "oncall.db"
    kept.parent.mkdir()
    kept.write_bytes(b"every run so far")
    (tmp_path / "oncall.toml").write_text('[services.web]\nrepo = "web"\n', encoding="utf-8")
    refused = bot("demo", "--workspace", str(tmp_path), "--port", "0")
    assert refused.returncode == 2
    assert "is not empty: name a folder that is new or empty" in refused.stderr
    assert kept.read_bytes() == b"every run so far"


def test_the_0214_question_is_answered_with_its_evidence_and_a_link(shop: Path) -> None:
    done = ask(shop, QUESTION)
    assert done.returncode == 0
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    for fact in ("payments-api", "4471", "confidence: high"):
        assert fact in lines[0][:160], fact
    assert "12 files" in done.stdout
    assert "5s → 1s" in done.stdout
    assert "[1] search_deploy  [2] get_diff · 3 steps · " in done.stdout
    assert re.search(r"^Trace: http://127\.0\.0\.1:\d+/t/\S+$", done.stdout, re.MULTILINE)
    assert lines[-1] == f"(open it with: oncall-bot serve --workspace {shop})"


def test_debug_shows_four_lines_a_turn_beside_the_reply(shop: Path) -> None:
    done = ask(shop, QUESTION, "--debug")
    turns = re.findall(
        r"turn (\d)  .*stop tool_use\n  -> (\w+)\(.*\)\n  <- ok .* \(o\d\)\n"
        r"  elapsed \d+\.\d\d s  model \d+\.\d\d s  tool \d+\.\d\d s\n",
        done.stderr,
    )
    assert turns == [("1", "search_deploy"), ("2", "get_diff"), ("3", "answer")]
    assert len(done.stderr.splitlines()) == 12
    assert "turn 1" not in done.stdout


def test_json_is_one_object_for_programs(shop: Path) -> None:
    told = json.loads(ask(shop, QUESTION, "--json").stdout)
    assert told["outcome"]["kind"] == "answer"
    assert told["outcome"]["steps"] == 3
    assert told["asked_at"] == "2026-11-29T02:14:00+00:00"
    assert told["trace"].startswith("http://127.0.0.1:")


def test_runs_lists_and_show_shows_what_was_asked(shop: Path) -> None:
    assert "No questions yet" in bot("runs", "--workspace", str(shop)).stdout
    first = json.loads(ask(shop, QUESTION, "--json").stdout)
    ask(shop, "What changed in deploy 9999?")
    listed = bot("runs", "--workspace", str(shop)).stdout.splitlines()
    assert len(listed) == 2
    assert "What changed in deploy 9999?" in listed[0]
    assert first["run"] in listed[1]
    assert "answered" in listed[1]
    as_json = bot("runs", "--workspace", str(shop), "--json", "--limit", "1").stdout.splitlines()
    assert [json.loads(line)["question"] for line in as_json] == ["What changed in deploy 9999?"]
    shown = bot("show", first["run"].lower(), "--workspace", str(shop))
    assert shown.returncode == 0
    assert "-> search_deploy(" in shown.stdout
    assert first["trace"].rsplit("/", 1)[1] in shown.stdout
    events = json.loads(bot("show", "last", "--workspace", str(shop), "--json").stdout)["events"]
    assert events[-1]["kind"] == "run_ended"
    unknown = bot("show", "01ABC", "--workspace", str(shop))
    assert unknown.returncode == 2
    assert "`oncall-bot runs` lists them" in unknown.stderr


def test_earlier_messages_of_a_file_go_with_the_question(shop: Path, tmp_path: Path) -> None:
    thread = tmp_path / "thread.txt"
    thread.write_text("checkout fails at the payment step\n\n  since 02:06  \n")
    done = ask(shop, QUESTION, "--thread", str(thread))
    assert done.returncode == 0
    shown = json.loads(bot("show", "last", "--workspace", str(shop), "--json").stdout)
    asked = shown["events"][0]["question"]
    assert asked["thread"] == ["checkout fails at the payment step", "since 02:06"]


def test_a_deploy_that_does_not_exist_is_an_answer(shop: Path) -> None:
    done = ask(shop, "What changed in deploy 9999?")
    assert done.returncode == 0
    assert "9999 does not exist" in done.stdout


LIBRARIES = "aiosqlite, itsdangerous, pydantic_settings, sqlalchemy.ext.asyncio, structlog, typer"
"""What asking cannot do without. Loading them measures the machine and what else it has to do."""
MEASURED = """
    used = resource.getrusage(resource.RUSAGE_SELF)
    status = open('/proc/self/status').read()  # ru_maxrss would be the parent's
    peak = status.split('VmHWM:')[1].split()[0]
    print(used.ru_utime + used.ru_stime, peak, *heavy & set(sys.modules), file=sys.stderr)
"""


def measured(work: str) -> tuple[float, int]:
    """CPU seconds and peak kilobytes of a process that does this; no server may be loaded."""
    code = (
        "import resource, sys\n"
        "heavy = {'uvicorn', 'starlette', 'slack_bolt', 'httpx', 'alembic', 'jinja2', 'aiohttp'}\n"
        f"try:\n    {work}\nfinally:{MEASURED}"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True, text=True, check=True, env=environment(), cwd=ROOT,
    )  # fmt: skip
    seconds, kilobytes, *heavy = done.stderr.split()
    assert heavy == []
    return float(seconds), int(kilobytes)


def test_asking_takes_little_more_than_its_libraries_and_80_mb_and_loads_no_server(
    shop: Path,
) -> None:
    ask(shop, QUESTION)  # the first one makes the database
    argv = ["oncall-bot", "ask", QUESTION, "--workspace", str(shop), "--now", AT]
    asking = f"sys.argv = {argv!r}; from bot.cli import main; main()"
    pairs = [(measured(f"import {LIBRARIES}"), measured(asking)) for _ in range(3)]
    least, most = min(one for (one, _), _ in pairs), min(own for _, (own, _) in pairs)
    assert most < 3 * least, pairs
    assert max(kilobytes for _, (_, kilobytes) in pairs) <= 80 * 1024, pairs


# --- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("ask", ""), "say what to ask, for example"),
        (("ask", "  \n"), "say what to ask, for example"),
        (("ask", "Why?", "--now", "yesterday-ish"), "write it like 2026-11-29T02:14Z"),
        (("ask", "Why?", "--now", "0001-01-01T00:00+05:00"), "out of range"),
        (("ask", "Why?", "--thread", "/nowhere/thread.txt"), "cannot be read"),
        (("ask", "Why?", "--workspace", "/nowhere"), "name a folder that holds an oncall.toml"),
        (("runs", "--workspace", "/nowhere"), "name a folder that holds an oncall.toml"),
        (("serve", "--workspace", "/nowhere"), "name a folder that holds an oncall.toml"),
        (("migrate", "--workspace", "/nowhere"), "name a folder that holds an oncall.toml"),
        (("runs", "--workspace", str(ROOT / "README.md")), "is a file: name the folder that"),
        (("ask", "Why?", "--server", "nope"), "pass the ask link that `oncall-bot serve` prints"),
        (("erase", "x", "--workspace", "/nowhere"), "name a folder that holds an oncall.toml"),
        (("aks", "Why?"), "No such command"),
        (("ask", "Why?", "--nwo", "x"), "No such option"),
    ],
)
def test_bad_use_is_said_in_words_and_ends_with_2(argv: tuple[str, ...], words: str) -> None:
    done = bot(*argv)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stdout == ""


def test_an_unknown_key_is_said_with_the_closest_one(shop: Path) -> None:
    with (shop / "oncall.toml").open("a") as file:
        file.write("\n[limits]\nmax_step = 3\n")
    done = ask(shop, "Why?")
    assert done.returncode == 2
    assert "unknown key `max_step` in [limits]. Did you mean `max_steps`?" in done.stderr


def test_an_unknown_key_of_a_service_is_said_too(shop: Path) -> None:
    with (shop / "oncall.toml").open("a") as file:
        file.write('\n[services.extra]\nrepos = "x"\n')
    done = ask(shop, "Why?")
    assert done.returncode == 2
    assert "unknown key `repos` in [services.extra]" in done.stderr


def test_a_missing_repository_is_said_and_the_rest_is_used(shop: Path) -> None:
    with (shop / "oncall.toml").open("a") as file:
        file.write('\n[services.extra]\nrepo = "repos/extra"\n')
    done = ask(shop, QUESTION)
    assert done.returncode == 0
    assert "the repository of extra is missing" in done.stderr
    assert "4471" in done.stdout


def test_20000_characters_are_bounded_and_that_is_said(shop: Path) -> None:
    done = ask(shop, f"{QUESTION} " + "please " * 2_850)
    assert done.returncode in {0, 1}
    assert re.search(r"has 20,\d{3} characters: the first 4,000 are read", done.stderr)


def test_a_question_of_odd_bytes_is_taken(shop: Path) -> None:
    done = ask(shop, "What changed in deploy 4471? \udce2\x1b[31m")
    assert done.returncode == 0
    assert "\x1b" not in bot("runs", "--workspace", str(shop)).stdout


def test_a_locked_database_is_said(shop: Path) -> None:
    ask(shop, "What changed in deploy 9999?")
    with closing(sqlite3.connect(shop / ".oncall" / "oncall.db")) as other:
        other.execute("BEGIN IMMEDIATE")
        done = ask(shop, "What changed in deploy 9999?")
    assert done.returncode == 2
    assert "locked by another process: wait" in done.stderr


def test_a_database_of_something_else_is_said(shop: Path) -> None:
    (shop / ".oncall").mkdir()
    (shop / ".oncall" / "oncall.db").write_text("not a database" * 100)
    done = ask(shop, "Why?")
    assert done.returncode == 2
    assert "is not a database of this bot: move it away" in done.stderr


def test_migrate_makes_the_database_and_says_so(shop: Path) -> None:
    assert "was made" in bot("migrate", "--workspace", str(shop)).stdout
    again = json.loads(bot("migrate", "--workspace", str(shop), "--json").stdout)
    assert "up to date" in again["done"]


def test_help_names_the_commands_and_loads_nothing_that_is_slow() -> None:
    code = (
        "import sys\nsys.argv = ['oncall-bot', '--help']\nfrom bot.cli import main\n"
        "try:\n    main()\nfinally:\n"
        "    slow = {'pydantic', 'sqlalchemy', 'structlog', 'httpx', 'slack_sdk', 'starlette'}\n"
        "    print(*slow & set(sys.modules), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True, text=True, check=True, env=environment(), cwd=ROOT,
    )  # fmt: skip
    assert done.stderr.strip() == ""
    for command in ("ask", "runs", "show", "serve", "demo-workspace", "migrate", "erase"):
        assert command in done.stdout
    assert "..." not in done.stdout.split("Commands:")[1], "each line is short enough to be whole"


# --- stopping, crashing, serving ------------------------------------------------------------------


def slow_git(tmp_path: Path) -> str:
    """A PATH whose git says that it began and then hangs, as on a dead network disk."""
    folder = tmp_path / "bin"
    folder.mkdir()
    git = folder / "git"
    git.write_text(f"#!/bin/sh\necho $$ >> {shlex.quote(str(tmp_path / 'began'))}\nexec sleep 60\n")
    git.chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


def wait_for(file: Path) -> None:
    give_up = time.monotonic() + 20
    while not (file.exists() and file.read_text().strip()):
        assert time.monotonic() < give_up
        time.sleep(0.02)


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return (Path(f"/proc/{pid}/stat")).read_text().rsplit(")", 1)[1].split()[0] == "Z"


def test_ctrl_c_stops_the_run_and_prints_what_was_found(shop: Path, tmp_path: Path) -> None:
    process = start("ask", QUESTION, "--workspace", str(shop), "--now", AT, PATH=slow_git(tmp_path))
    wait_for(tmp_path / "began")
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    # git hangs for 60 s and the tool's own limit is 10 s: below that, it was Ctrl-C that ended it.
    assert time.monotonic() - began < 8
    assert process.returncode == 1
    assert out.startswith("No answer. Stopped by Ctrl-C.")
    assert "Check next:" in out
    assert "press Ctrl-C again to leave at once" in err
    assert "Traceback" not in out + err
    assert all(gone(int(pid)) for pid in (tmp_path / "began").read_text().split())


def test_the_next_ask_ends_what_a_killed_one_left(shop: Path, tmp_path: Path) -> None:
    process = start("ask", QUESTION, "--workspace", str(shop), "--now", AT, PATH=slow_git(tmp_path))
    wait_for(tmp_path / "began")
    assert "running" in bot("runs", "--workspace", str(shop)).stdout
    untouched = ask(shop, "What changed in deploy 9999?")
    assert "interrupted" not in untouched.stderr
    process.kill()
    process.communicate()
    done = ask(shop, "What changed in deploy 9999?")
    assert "an earlier question was interrupted" in done.stderr
    assert "9999 does not exist" in done.stdout
    listed = bot("runs", "--workspace", str(shop)).stdout
    assert "running" not in listed
    assert listed.count(" answered ") == 3


def test_serve_opens_the_trace_says_when_its_port_is_taken_and_ends_cleanly(shop: Path) -> None:
    port = str(free_port())
    asked = json.loads(ask(shop, QUESTION, "--json", ONCALL_WEB__PORT=port).stdout)
    process = start("serve", "--workspace", str(shop), ONCALL_WEB__PORT=port)
    try:
        assert line_of(process.stdout) == f"Serving http://127.0.0.1:{port} (Ctrl-C ends it)\n"
        page = httpx.get(asked["trace"], trust_env=False)
        assert "retry.budget" in page.text
        hinted = ask(shop, "What changed in deploy 9999?", ONCALL_WEB__PORT=port)
        assert "open it with" not in hinted.stdout
        second = bot("serve", "--workspace", str(shop), ONCALL_WEB__PORT=port)
        assert second.returncode == 2
        assert f"cannot serve at 127.0.0.1:{port}" in second.stderr
    finally:
        process.terminate()
        out, err = process.communicate(timeout=20)
    assert process.returncode == 0
    assert "Traceback" not in out + err
    rotated = start("serve", "--workspace", str(shop), "--rotate-key", ONCALL_WEB__PORT=port)
    try:
        line_of(rotated.stdout)
        assert httpx.get(asked["trace"], trust_env=False).status_code == 404
    finally:
        rotated.terminate()
        rotated.communicate(timeout=20)
