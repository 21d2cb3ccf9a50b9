"""While Slack is down the bot serves its pages, says so, and goes on trying to connect."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from bot.loop.stopping import Clock
from bot.playground import FaultRule, Running
from bot.playground.incident import make_demo_workspace
from bot.playground.people import Draft
from bot.runs.links import Links
from bot.serving import LOOK_AGAIN_SECONDS
from bot.slack.http import Requests
from bot.slack.identity import SlackSetupError
from bot.slack.link import SlackLink
from bot.web.app import create_app as create_pages
from support.commands import with_periods
from support.slack_bench import (
    BOT,
    INC,
    Bench,
    bot_in,
    is_reply,
    local_slack,
    settings_for,
    until,
)

ROOT = Path(__file__).parents[2]


async def ready(bench: Bench) -> httpx.Response:
    async def trouble() -> str:
        return "" if await bench.slack.is_up() else "Slack: the connection is down"

    app = create_pages(bench.store, Links("k" * 40, "http://b"), Clock(), trouble=trouble)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://b") as it:
        return await it.get("/ready")


@pytest.fixture
def quick_beat(monkeypatch: pytest.MonkeyPatch) -> None:
    """The watchdog of the socket looks every 50 ms."""
    monkeypatch.setattr("bot.slack.socket.BEAT_SECONDS", 0.05)


@pytest.mark.usefixtures("quick_beat")
async def test_readiness_says_no_while_the_socket_is_down_and_yes_once_it_is_renewed(
    bench: Bench,
) -> None:
    assert (await ready(bench)).json() == {"status": "ready"}
    bench.fault("apps.connections.open", {"kind": "server_error"}, times=2)
    for connection in bench.pg.sockets.all():
        connection.abort()
    await bench.until(lambda: not bench.pg.sockets.all())
    down = await ready(bench)
    assert down.status_code == 503
    assert "Slack" in down.json()["reason"]
    await bench.until(bench.pg.sockets.all)
    await bench.reply(bench.say().ts)
    assert (await ready(bench)).status_code == 200


# --- the real process ----------------------------------------------------------------------------


class Serving:
    def __init__(self, process: asyncio.subprocess.Process, told: dict[str, Any]) -> None:
        self.process = process
        self.told = told

    async def ready(self) -> dict[str, Any]:
        async with httpx.AsyncClient(trust_env=False) as client:
            return dict((await client.get(f"{self.told['address']}/ready")).json())


def environment(api_url: str, **more: str) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("ONCALL_", "SLACK_"))}
    tokens = {
        "SLACK_BOT_TOKEN": "xoxb-playground-oncall",
        "SLACK_APP_TOKEN": "xapp-playground-oncall",
    }
    mine = {"ONCALL_SLACK__BASE_URL": api_url, "ONCALL_WEB__PORT": "0", "PYTHONPATH": str(ROOT)}
    return kept | tokens | mine | more


@asynccontextmanager
async def serve(
    folder: Path, api_url: str, *, program: Sequence[str] = ("-m", "bot"), **more: str
) -> AsyncIterator[Serving]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, *program, "serve", "-w", str(folder), "--json",
        env=environment(api_url, **more),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        line = await asyncio.wait_for(process.stdout.readline(), 40)
        assert line, (await process.communicate())[1].decode()
        yield Serving(process, json.loads(line))
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGKILL)
            await process.communicate()


async def test_serve_starts_without_slack_answers_from_a_terminal_and_connects_when_slack_is_back(
    tmp_path: Path,
) -> None:
    demo = make_demo_workspace(tmp_path / "demo")
    impatient = with_periods("bot.slack.link", TRY_SECONDS=0.5)
    async with local_slack() as running:
        held = running.playground
        held.faults.add(fault("auth.test"))
        async with serve(demo.root, running.api_url, program=impatient) as it:
            assert it.told["slack_team"] is None
            told = await it.ready()
            assert told["status"] == "not ready"
            assert "Slack does not answer" in told["reason"]
            asked = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "bot", "ask", demo.question, "--server", it.told["ask"],
                "--now", demo.asked_at.isoformat(),
                env=environment(running.api_url),
                stdout=subprocess.PIPE,
                cwd=tmp_path,
            )  # fmt: skip
            out, _ = await asyncio.wait_for(asked.communicate(), 40)
            assert asked.returncode == 0
            assert "payments-api deploy 4471" in out.decode()
            assert not (tmp_path / ".oncall").exists()
            held.faults.clear()
            await until(held.sockets.all, 30)
            message, _ = held.people.post("maya", INC, Draft(text=f"<@{BOT}> {demo.question}"))
            await until(lambda: held.world.replies(INC, message.ts), 30)
            assert (await it.ready()) == {"status": "ready"}
            it.process.send_signal(signal.SIGTERM)
            _, err = await asyncio.wait_for(it.process.communicate(), 20)
            assert it.process.returncode == 0
            assert b"Traceback" not in err


def fault(method: str) -> Any:
    return FaultRule.model_validate(
        {"method": method, "times": None, "fault": {"kind": "server_error"}}
    )


@pytest.mark.parametrize("name", ["SLACK_BOT_TOKEN", "SLACK_APP_TOKEN"])
async def test_serve_ends_at_once_with_a_wrong_token_and_names_it(
    tmp_path: Path, name: str
) -> None:
    demo = make_demo_workspace(tmp_path / "demo")
    wrong = {"SLACK_BOT_TOKEN": "xoxb-wrong", "SLACK_APP_TOKEN": "xapp-wrong"}[name]
    async with local_slack() as running:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "bot", "serve", "-w", str(demo.root),
            env=environment(running.api_url, **{name: wrong}),
            stderr=subprocess.PIPE,
        )  # fmt: skip
        _, err = await asyncio.wait_for(process.communicate(), 40)
    assert process.returncode == 2
    assert b"Slack refuses the" in err
    assert b"Traceback" not in err


async def test_sigterm_with_a_question_at_work_posts_its_failure_and_then_ends(
    tmp_path: Path,
) -> None:
    demo = make_demo_workspace(tmp_path / "demo")
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    began = tmp_path / "began"
    (bin_ / "git").write_text(f'#!/bin/sh\ntouch "{began}"\nexec sleep 600\n')
    (bin_ / "git").chmod(0o755)
    path = f"{bin_}:{os.environ['PATH']}"
    async with local_slack() as running:
        world, people = running.playground.world, running.playground.people
        more = {"PATH": path, "ONCALL_RUNS__DRAIN_SECONDS": "0.2"}
        async with serve(demo.root, running.api_url, **more) as it:
            message, _ = people.post("maya", INC, Draft(text=f"<@{BOT}> {demo.question}"))
            calls = running.playground.calls
            await until(lambda: any(c.method == "reactions.add" for c in calls.calls()), 20)
            await until(began.exists, 20)
            it.process.send_signal(signal.SIGTERM)
            _, err = await asyncio.wait_for(it.process.communicate(), 20)
            assert it.process.returncode == 0
            assert b"Traceback" not in err
        (reply,) = world.replies(INC, message.ts)
        assert is_reply(reply)
        assert reply.text.startswith("No answer. ")


async def test_a_question_of_a_killed_process_is_answered_as_soon_as_the_next_is_in_slack(
    tmp_path: Path,
) -> None:
    demo = make_demo_workspace(tmp_path / "demo")
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    (bin_ / "git").write_text("#!/bin/sh\nexec sleep 8\n")
    (bin_ / "git").chmod(0o755)
    async with local_slack() as running:
        world, people = running.playground.world, running.playground.people
        slow = {"PATH": f"{bin_}:{os.environ['PATH']}"}
        async with serve(demo.root, running.api_url, **slow) as it:
            message, _ = people.post("maya", INC, Draft(text=f"<@{BOT}> {demo.question}"))
            calls = running.playground.calls
            await until(lambda: any(c.method == "reactions.add" for c in calls.calls()), 20)
            it.process.send_signal(signal.SIGKILL)
            await it.process.communicate()
        async with serve(demo.root, running.api_url):
            await until(lambda: world.replies(INC, message.ts), LOOK_AGAIN_SECONDS / 2)
        (reply,) = world.replies(INC, message.ts)
        assert "payments-api" in reply.text


async def test_a_wrong_token_found_out_late_ends_it_too(running: Running, tmp_path: Path) -> None:
    """Slack was down at the start, and refuses the bot once it answers."""
    async with bot_in(running, tmp_path) as bench:
        bench.fault("auth.test", {"kind": "server_error"}, times=7)
        bench.fault("auth.test", {"kind": "api_error", "error": "token_revoked"})
        slept: list[float] = []

        async def sleep(seconds: float) -> None:
            slept.append(seconds)
            await bench.pg.clock.advance(seconds)

        link = SlackLink(
            settings_for(running),
            Links("k" * 40, "http://b"),
            Requests(),
            clock=bench.slack._web.clock,
            sleep=sleep,
        )
        with pytest.raises(SlackSetupError, match="refuses the bot token"):
            await link.connect(bench.service)
        assert link.tried.is_set()
        assert sum(slept) > 4
        assert "does not answer" in await link.trouble()
        await link.close()
