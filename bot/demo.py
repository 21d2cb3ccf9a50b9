"""``oncall-bot demo``: a local Slack with the 02:14 incident, and the bot in it, with no account.

Owns the two child processes (the playground and ``serve``), the ports they get, and their end. The
bot is the same program as anywhere: only its base URL and tokens are the playground's.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from bot.config import STATE_FOLDER
from bot.playground.incident import DemoIncident, make_demo_workspace
from bot.playground.seed import DEFAULT_SEED, read_seed
from bot.terminal import say, warn

HOST = "127.0.0.1"
READY_SECONDS = 30.0
END_SECONDS = 8.0


class DemoStartError(Exception):
    """The demo did not come up. The message says what to look at."""


@dataclass(frozen=True)
class Ports:
    """Where the local Slack's page and the trace pages are wanted; another is taken if in use."""

    slack: int = 8065
    web: int = 8410


async def demo(folder: Path | None, ports: Ports, *, as_json: bool) -> int:
    """Run the demo until Ctrl-C; the exit code. Raises ``DemoStartError`` and ``DemoError``."""
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ended.set)
    kept = folder is not None
    root = folder or Path(tempfile.mkdtemp(prefix="oncall-demo-")) / "workspace"
    try:
        made = make_demo_workspace(root)
        # A new local Slack starts its clock anew: an old store would know its messages already.
        # Only now is it sure that the folder is a demo's, and not somebody's own workspace.
        shutil.rmtree(root / STATE_FOLDER, ignore_errors=True)
        return await _run(made, ports, ended, as_json=as_json)
    finally:
        if not kept:
            shutil.rmtree(root.parent, ignore_errors=True)


async def _run(made: DemoIncident, ports: Ports, ended: asyncio.Event, *, as_json: bool) -> int:
    log = made.root / STATE_FOLDER / "demo.log"
    log.parent.mkdir(mode=0o700, exist_ok=True)
    slack_port = _free(ports.slack, "local Slack takes")
    web_port = _free(ports.web, "trace pages take")
    now = made.asked_at.strftime("%Y-%m-%dT%H:%M:%SZ")
    pace = made.root / STATE_FOLDER / "pace"
    clock = ("--now", now, "--pace", str(pace))
    playground = ("-m", "bot.playground", "--port", str(slack_port), *clock)
    async with _child(playground, {}, log) as local_slack:
        page = (await _first_line(local_slack, "the local Slack", log)).removeprefix("ready ")
        serve = ("-m", "bot", "serve", "--workspace", str(made.root), "--json", *clock)
        async with _child(serve, _environment(page, web_port), log) as bot:
            told = json.loads(await _first_line(bot, "the bot", log))
            _tell(page, told["address"], told["ask"], made, as_json=as_json)
            return await _until_the_end(ended, local_slack, bot, log)


def _environment(page: str, web_port: int) -> dict[str, str]:
    """What makes the bot talk to the local Slack instead of the real one."""
    tokens = read_seed(DEFAULT_SEED).apps[0]
    return {
        "SLACK_BOT_TOKEN": tokens.bot_token,
        "SLACK_APP_TOKEN": tokens.app_token,
        "ONCALL_SLACK__BASE_URL": f"{page}/api/",
        "ONCALL_WEB__PORT": str(web_port),
    }


def _tell(page: str, traces: str, form: str, made: DemoIncident, *, as_json: bool) -> None:
    if as_json:
        told = {
            "page": page,
            "traces": traces,
            "form": form,
            "workspace": str(made.root),
            "ask": made.question,
        }
        say(json.dumps(told))
        return
    say(f"""The demo is ready. It is 02:14, and checkout is failing.

  Open      {page}
  In        #inc-checkout
  Ask       @oncall {made.question}

Click 🛑 on a question to stop it: "Slow answers", at the left, leaves the time to. The bot's thoughts
are in #oncall-debug; each reply links to its trace. For the day Slack is down there is a form:
  {form}
Ctrl-C ends the demo.""")


async def _until_the_end(
    ended: asyncio.Event,
    local_slack: asyncio.subprocess.Process,
    bot: asyncio.subprocess.Process,
    log: Path,
) -> int:
    """Wait for Ctrl-C; a child that dies before it ends the demo as failed."""
    waits = {
        asyncio.create_task(ended.wait()): "",
        asyncio.create_task(local_slack.wait()): "The local Slack",
        asyncio.create_task(bot.wait()): "The bot",
    }
    done, rest = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    for task in rest:
        task.cancel()
    died = next((waits[task] for task in done if waits[task]), "")
    if died and not ended.is_set():
        warn(f"{died} ended by itself: {_tail(log)}")
        return 1
    return 0


@asynccontextmanager
async def _child(
    arguments: Sequence[str], more: Mapping[str, str], log: Path
) -> AsyncIterator[asyncio.subprocess.Process]:
    """A process of our own Python in a session of its own, so that Ctrl-C reaches only us and the
    children end in order; killed if it does not end.
    """
    with log.open("ab") as out:
        child = await asyncio.create_subprocess_exec(
            sys.executable,
            *arguments,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=out,
            env={**os.environ, **more},
            start_new_session=True,
        )
    try:
        yield child
    finally:
        if child.returncode is None:
            child.terminate()
            try:
                await asyncio.wait_for(child.wait(), END_SECONDS)
            except TimeoutError:
                os.killpg(child.pid, signal.SIGKILL)
                await child.wait()


async def _first_line(child: asyncio.subprocess.Process, what: str, log: Path) -> str:
    """What a child says when it is up. Raises ``DemoStartError``."""
    if child.stdout is None:
        raise DemoStartError(f"{what} has no output to read")
    try:
        line = await asyncio.wait_for(child.stdout.readline(), READY_SECONDS)
    except TimeoutError:
        raise DemoStartError(f"{what} was not up after {READY_SECONDS:.0f} s") from None
    if not line:
        raise DemoStartError(f"{what} did not start: {_tail(log)}")
    return line.decode("utf-8", "replace").strip()


def _tail(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines[-1][:300] if lines else "it said nothing"


def _free(port: int, who_takes: str) -> int:
    """The port, or 0 (any) if something listens there already, which is told."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            warn(f"Port {port} is in use: the {who_takes} another one.")
            return 0
    return port
