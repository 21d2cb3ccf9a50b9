"""The command line as a process: what it prints, how it ends, and never a traceback."""

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
from collections.abc import Iterator
from contextlib import closing
from importlib.metadata import version
from pathlib import Path
from typing import IO

import httpx
import pytest

from bot.cli_words import program
from support import commands

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
    done = commands.run(*argv, cwd=more.pop("cwd", str(ROOT)), env=environment(**more))
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


@pytest.fixture(scope="module", autouse=True)
def _commands_end_with_this_module() -> Iterator[None]:
    yield
    commands.end()


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
    asked = subprocess.run(command, capture_output=True, check=False, env=environment(), cwd=ROOT)
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
    opened = re.fullmatch(r"\(open it with: (.+) serve --workspace (.+)\)", lines[-1])
    assert opened is not None
    assert shlex.split(opened[1]) == [sys.executable, "-m", "bot"]
    assert opened[2] == str(shop)


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


def test_asking_takes_at_most_80_mb_and_loads_no_server(shop: Path) -> None:
    ask(shop, QUESTION)  # the first one makes the database
    argv = ["oncall-bot", "ask", QUESTION, "--workspace", str(shop), "--now", AT]
    code = (
        "import sys\n"
        f"sys.argv = {argv!r}\n"
        "try:\n    from bot.cli import main; main()\n"
        "finally:\n"
        "    heavy = {'uvicorn', 'starlette', 'slack_bolt', 'httpx', 'alembic', 'jinja2', 'aiohttp'}\n"
        "    status = open('/proc/self/status').read()\n"  # ru_maxrss would be the parent's
        "    print(status.split('VmHWM:')[1].split()[0], *heavy & set(sys.modules), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True, text=True, check=True, env=environment(), cwd=ROOT,
    )  # fmt: skip
    kilobytes, *heavy = done.stderr.split()
    assert heavy == []
    assert int(kilobytes) <= 80 * 1024


# --- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("ask", ""), "say what to ask, for example"),
        (("ask", "  \n"), "say what to ask, for example"),
        (("ask", "Why?", "--now", "yesterday-ish"), "write it like 2026-11-29T02:14Z"),
        (("ask", "Why?", "--now", "0001-01-01T00:00+05:00"), "outside of the years 1970 to 2999"),
        (("ask", "Why?", "--now", "0001-01-01"), "outside of the years 1970 to 2999"),
        (("ask", "Why?", "--now", "9999-12-31T23:59-14:00"), "outside of the years 1970 to 2999"),
        (("doctor", "--now", "9999-12-31"), "outside of the years 1970 to 2999"),
        (("ask", "Why?", "--now", "x" * 9_000), f"--now '{'x' * 80}…' is no time"),
        (("ask", "Why?", "--thread", "/nowhere/thread.txt"), "cannot be read"),
        (("ask", "Why?", "--thread", str(ROOT)), "cannot be read: Is a directory"),
        (("ask", "Why?", "--thread", "/dev/zero"), "has more than 4 MB: keep the newest messages"),
        (
            ("ask", "Why?", "--workspace", "~nobody-here/x"),
            "home of a user who does not exist here",
        ),
        (("demo-workspace", "~nobody-here/x"), "home of a user who does not exist here"),
        (("demo-workspace", "/dev/null/x"), "/dev/null/x cannot be used: Not a directory"),
        (("demo-workspace", "x" * 9_000), "cannot be used: File name too long"),
        (("playground", "--port", "99999"), "'99999' is no port: write 0 to 65535"),
        (("playground", "--now", "0001-01-01T00:00+05:00"), "is out of range"),
        (("ask", "Why?", "--workspace", "/nowhere"), "name a folder that holds an oncall.toml"),
        (("runs", "--workspace", "/nowhere"), "name a folder that holds an oncall.toml"),
        (("serve", "--workspace", "/nowhere"), "name a folder that holds an oncall.toml"),
        (("migrate", "--workspace", "/nowhere"), "name a folder that holds an oncall.toml"),
        (("runs", "--workspace", str(ROOT / "README.md")), "is a file: name the folder that"),
        (("ask", "Why?", "--server", "nope"), "pass the ask link that `oncall-bot serve` prints"),
        (("ask", "Why?", "--server", "http://127.0.0.1:abc/ask/x"), "is no address"),
        (("ask", "Why?", "--server", "http://127.0.0.1:99999/ask/x"), "is no address"),
        (("ask", "Why?", "--server", "http://x\n/ask/x"), "is no address"),
        (("ask", "Why?", "--server", "http://\udcff/ask/x"), "is no address"),
        (("erase", "x", "--workspace", "/nowhere"), "name a folder that holds an oncall.toml"),
        (("aks", "Why?"), "No such command 'aks'. Did you mean 'ask'?"),
        (("trace", "last"), "No such command 'trace'. Did you mean 'show'?"),
        (("history",), "Did you mean 'runs'?"),
        (("list",), "Did you mean 'runs'?"),
        (("ps",), "Did you mean 'runs'?"),
        (("start",), "Did you mean 'serve'?"),
        (("Run", "Why?"), "Did you mean 'ask'?"),
        (("stop",), "A question is stopped with Ctrl-C where it was asked, or with 🛑 in Slack"),
        (("ask", "Why?", "--nwo", "x"), "No such option"),
    ],
)
def test_bad_use_is_said_in_words_and_ends_with_2(argv: tuple[str, ...], words: str) -> None:
    done = bot(*argv)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("word", ["eras", "erasee", "erases", "ease", "trase", "delete", "rm"])
def test_no_mistyped_word_is_answered_with_a_command_that_deletes(word: str) -> None:
    done = bot(word, "last")
    assert done.returncode == 2
    assert f"No such command '{word}'." in done.stderr
    assert "'erase'" not in done.stderr


def test_the_program_goes_by_its_path_where_its_name_is_not_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = tmp_path / "oncall-bot"
    installed.touch(mode=0o755)
    monkeypatch.setattr(sys, "argv", [str(installed), "ask"])
    monkeypatch.setenv("PATH", "/nowhere")
    assert program() == (str(installed),)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert program() == ("oncall-bot",)


def test_the_help_of_the_local_slack_says_what_each_option_is() -> None:
    done = bot("playground", "--help")
    assert done.returncode == 0
    assert "Start the local Slack alone" in done.stdout
    for option in ("--host", "--port", "--seed", "--now", "--clock", "--fault-seed", "--help"):
        assert re.search(rf"^  {option}[^\n]*\s+[A-Z0-9][^\n]+\.", done.stdout, re.MULTILINE), (
            option
        )


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


def test_a_terminal_of_few_letters_shows_the_rest_of_the_answer(shop: Path) -> None:
    done = ask(shop, QUESTION, PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert "`retry.budget: 5s ? 1s`" in done.stdout
    assert "fault" not in done.stderr
    assert QUESTION[:40] in bot("runs", "-w", str(shop), PYTHONIOENCODING="ascii").stdout


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_an_output_that_is_closed_hides_what_is_said_and_nothing_else(
    shop: Path, closed: str
) -> None:
    command = f'exec "$0" -m bot ask "$1" -w "$2" {closed}'
    done = subprocess.run(
        ["/bin/sh", "-c", command, sys.executable, "What changed in deploy 4471?", str(shop)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env=environment(),
        timeout=60,
    )
    assert done.returncode == 0
    assert "fault" not in done.stderr
    assert "answered" in bot("runs", "-w", str(shop)).stdout


def test_a_locked_database_is_said(shop: Path) -> None:
    ask(shop, "What changed in deploy 9999?")
    with closing(sqlite3.connect(shop / ".oncall" / "oncall.db")) as other:
        other.execute("BEGIN IMMEDIATE")
        impatient = commands.with_periods("bot.runs.migrate", BUSY_SECONDS=0.2)
        done = subprocess.run(
            [sys.executable, *impatient, "ask", "Why?", "--workspace", str(shop), "--now", AT],
            capture_output=True, text=True, check=False, env=environment(), cwd=ROOT,
        )  # fmt: skip
    assert "Traceback" not in done.stderr
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


def test_the_version_is_printed() -> None:
    done = bot("--version")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"oncall-bot {version('oncall-bot')}\n"


@pytest.mark.parametrize("command", ["show", "erase", "replay"])
def test_a_run_named_in_odd_bytes_is_one_that_is_not_there(shop: Path, command: str) -> None:
    done = bot(command, "caf\udce9", "--workspace", str(shop))
    assert done.returncode == 2
    assert "there is no run 'caf" in done.stderr


@pytest.mark.parametrize(
    ("way", "argv", "words"),
    [
        (".oncall", ("ask", "Why?"), ".oncall is a file: move it away"),
        (".oncall/oncall.db.owners", ("ask", "Why?"), "oncall.db.owners: File exists"),
        (".oncall/signing.key/", ("serve", "--rotate-key"), "signing.key: Is a directory"),
    ],
)
def test_what_stands_in_the_way_in_the_bots_folder_is_named(
    shop: Path, way: str, argv: tuple[str, ...], words: str
) -> None:
    place = shop / way
    if way.endswith("/"):
        place.mkdir(parents=True)
    else:
        place.parent.mkdir(exist_ok=True)
        place.write_text("x")
    done = bot(*argv, "--workspace", str(shop))
    assert done.returncode == 2
    assert words in done.stderr
    assert "a fault inside the bot" not in done.stderr


def test_a_host_that_is_no_address_is_said_with_what_to_set(shop: Path) -> None:
    done = bot("serve", "--workspace", str(shop), ONCALL_WEB__HOST="256.1.1.1")
    assert done.returncode == 2
    assert "set web.host in oncall.toml to an address of this machine" in done.stderr


def test_a_repository_in_nobodys_home_is_said(shop: Path) -> None:
    with (shop / "oncall.toml").open("a") as file:
        file.write('\n[services.extra]\nrepo = "~nobody-here/extra"\n')
    done = ask(shop, "Why?")
    assert done.returncode == 2
    assert "the path '~nobody-here/extra' leads nowhere" in done.stderr


ODD_NAMES = (
    ("https://ci.example/jobs/99?by=me", "by https://ci.example/jobs/99?by=me"),
    ("\x1b[31mred\x1b[0m", "by red"),
    ("\x1b]8;;http://ci.example\x07bot\x1b]8;;\x07 12 at 03:33", "by bot 12 at 03:33"),
    ("ci, build 99; caused by none", "by ci, build 99; caused by none"),
    ('"mara" `x` 3.4.5', "by 'mara' 'x' 3.4.5"),
)


@pytest.mark.parametrize(("actor", "shown"), ODD_NAMES)
def test_who_deployed_is_answered_whatever_they_are_called(
    shop: Path, actor: str, shown: str
) -> None:
    lines = [json.loads(line) for line in (shop / "deploys.jsonl").read_text().splitlines()]
    told = [line | {"actor": actor} if line["number"] == 4471 else line for line in lines]
    (shop / "deploys.jsonl").unlink()
    (shop / "deploys.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in told))
    done = ask(shop, "Who deployed 4471 and when?")
    assert done.returncode == 0, done.stdout
    assert shown in done.stdout
    assert "\x1b" not in done.stdout


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
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=40)
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
