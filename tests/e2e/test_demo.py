"""The demo as a newcomer meets it: one command, a page, a question, a stop."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.async_api import Page, expect

from support.browser import browser_page, needs_browser

ROOT = Path(__file__).parents[2]
QUESTION = "Which service caused the checkout incident, and what changed in deploy 4471?"
SHOT = os.environ.get("ONCALL_TEST_SCREENSHOT", "")


@dataclass(frozen=True)
class Demo:
    process: asyncio.subprocess.Process
    page: str
    traces: str
    form: str
    slow: Path
    """While this file exists, every git command hangs."""
    hanging: str
    """What a hanging git command is called in the list of processes."""


@pytest.fixture
async def demo(tmp_path: Path) -> AsyncIterator[Demo]:
    slow, bin_ = tmp_path / "slow", tmp_path / "bin"
    bin_.mkdir()
    nap = f"8{os.getpid()}.{time.monotonic_ns()}"
    (bin_ / "git").write_text(
        f'#!/bin/sh\n[ -e "{slow}" ] && exec sleep {nap}\nPATH=${{PATH#*:}} exec git "$@"\n'
    )
    (bin_ / "git").chmod(0o755)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", "demo", "--json", "--port", "0",
        cwd=ROOT,
        env={**os.environ, "PATH": f"{bin_}:{os.environ['PATH']}", "ONCALL_WEB__PORT": "0"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    line = await asyncio.wait_for(process.stdout.readline(), 40)
    told = json.loads(line)
    yield Demo(process, told["page"], told["traces"], told["form"], slow, f"sleep {nap}")
    if process.returncode is None:
        process.send_signal(signal.SIGINT)
        await asyncio.wait_for(process.wait(), 20)


async def state(demo: Demo) -> Any:
    async with httpx.AsyncClient() as client:
        return (await client.get(f"{demo.page}/_control/state")).json()


async def until(condition: Any, seconds: float = 15) -> Any:
    """The first true value of the condition; polled, with a deadline."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    while not (value := await condition()):
        assert loop.time() < deadline, "gave up waiting"
        await asyncio.sleep(0.05)
    return value


async def ask(page: Page, text: str) -> None:
    composer = page.get_by_test_id("composer-channel")
    await composer.fill(f"@oncall {text}")
    await composer.press("Enter")


def message(page: Page, text: str) -> Any:
    return page.get_by_test_id("messages").get_by_test_id("message").filter(has_text=text)


def of_bot(told: Any, channel: str) -> list[Any]:
    found = next(c for c in told["channels"] if c["name"] == channel)
    return [m for m in found["messages"] if m.get("user") == "U0ONCALL"]


def running(command: str) -> bool:
    return (
        subprocess.run(["pgrep", "-f", command], capture_output=True, check=False).returncode == 0
    )


@pytest.mark.browser
@needs_browser
async def test_a_newcomer_asks_reads_the_answer_stops_a_question_and_opens_the_trace(
    demo: Demo,
) -> None:
    async with browser_page() as page:
        await page.goto(demo.page)
        await page.get_by_test_id("channel-inc-checkout").click()
        await ask(page, QUESTION)
        question = message(page, QUESTION)
        await question.get_by_test_id("reply-link").click()
        thread = page.get_by_test_id("thread-messages")
        await expect(thread).to_contain_text("payments-api deploy 4471 most likely caused")
        for fact in ("confidence: high", "12 files", "5s → 1s", "22 min before onset", "Trace"):
            await expect(thread).to_contain_text(fact)
        (reply,) = of_bot(await state(demo), "inc-checkout")
        assert reply["thread_ts"] != reply["ts"]
        assert "Ranking what could have caused it" not in json.dumps(reply)
        if SHOT:
            await page.wait_for_timeout(400)
            await page.screenshot(path=SHOT)

        async def thoughts() -> list[Any]:
            return of_bot(await state(demo), "oncall-debug")

        async def all_thoughts() -> bool:
            return "That is enough to answer" in json.dumps(await thoughts())

        await until(all_thoughts)
        roots = [m for m in await thoughts() if m.get("thread_ts", m["ts"]) == m["ts"]]
        assert len(roots) == 1

        link = re.search(rf"{re.escape(demo.traces)}/t/[\w.-]+", json.dumps(reply))
        assert link is not None
        await page.goto(link[0])
        await expect(page.locator("body")).to_contain_text(QUESTION)
        await expect(page.locator("body")).to_contain_text("search_deploy")

        await page.goto(demo.page)
        await page.get_by_test_id("channel-inc-checkout").click()
        demo.slow.touch()
        await ask(page, "Who deployed web last, and what changed in deploy 4470?")
        second = message(page, "Who deployed web last, and what changed in deploy 4470?")
        await expect(second.get_by_test_id("reaction-eyes")).to_be_visible()

        async def hangs() -> bool:
            return running(demo.hanging)

        await until(hangs)
        await second.hover()
        await second.get_by_test_id("quick-octagonal_sign").click()
        await second.get_by_test_id("reply-link").click()
        await expect(thread).to_contain_text("No answer. Stopped by Maya")
        assert not running(demo.hanging), "the tool's subprocess outlived the stop"
        for found in ("web", "v5.12.0", "01:05 UTC", "Check next", "Trace"):
            await expect(thread).to_contain_text(found)
        assert len(of_bot(await state(demo), "inc-checkout")) == 2
        shown = json.dumps(of_bot(await state(demo), "inc-checkout")[-1])
        stopped = re.search(rf"{re.escape(demo.traces)}/t/[\w.-]+", shown)
        assert stopped is not None
        async with httpx.AsyncClient() as client:
            trace = await client.get(stopped[0])
        assert trace.status_code == 200
        assert "answer(" not in trace.text
        demo.slow.unlink()

        await page.get_by_test_id("thread-close").click()
        await page.get_by_text("Gita Rao").first.click()
        await expect(page.get_by_test_id("channel-oncall-debug")).to_have_count(0)
        await ask(page, "What changed in deploy 4471, please?")
        third = message(page, "What changed in deploy 4471, please?")
        await third.get_by_test_id("reply-link").click()
        await expect(thread).to_contain_text("guest")


async def test_a_port_in_use_is_told_and_another_one_is_taken(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "bot", "demo", "--port", str(port),
            "--workspace", str(tmp_path / "kept"),
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        first = await asyncio.wait_for(process.stdout.readline(), 40)
        assert b"The demo is ready" in first
        process.send_signal(signal.SIGINT)
        rest, complaints = await asyncio.wait_for(process.communicate(), 20)
    assert process.returncode == 0
    assert f"Port {port} is in use: the local Slack takes another one." in complaints.decode()
    assert f"http://127.0.0.1:{port}\n" not in rest.decode()
    assert "Traceback" not in complaints.decode()
    assert (tmp_path / "kept" / "oncall.toml").exists()
    assert not running(str(tmp_path / "kept"))


@pytest.mark.browser
@needs_browser
async def test_a_follow_up_in_the_thread_feedback_and_the_form_for_the_day_slack_is_down(
    demo: Demo,
) -> None:
    async with browser_page() as page:
        await page.goto(demo.page)
        await page.get_by_test_id("channel-inc-checkout").click()
        await ask(page, QUESTION)
        await message(page, QUESTION).get_by_test_id("reply-link").click()
        thread = page.get_by_test_id("thread-messages")
        await expect(thread).to_contain_text("payments-api deploy 4471 most likely caused")

        composer = page.get_by_test_id("composer-thread")
        await composer.fill("@oncall and who deployed it?")
        await composer.press("Enter")
        await expect(thread).to_contain_text("by release-bot")
        first, second = of_bot(await state(demo), "inc-checkout")
        assert first["thread_ts"] == second["thread_ts"]

        await thread.get_by_role("button", name="Useful", exact=True).first.click()
        link = re.search(rf"{re.escape(demo.traces)}/t/[\w.-]+", json.dumps(first))
        assert link is not None

        async def counted() -> bool:
            async with httpx.AsyncClient() as client:
                return "1 useful" in (await client.get(link[0])).text

        await until(counted)
        if SHOT:
            await page.goto(link[0])
            await page.screenshot(path=SHOT.replace("demo.png", "trace.png"), full_page=True)

        await page.goto(demo.form)
        await page.locator("#question").fill("What changed in deploy 9999?")
        await page.get_by_role("button", name="Ask").click()
        await expect(page.locator("body")).to_contain_text("Deploy 9999 does not exist")

        recent = "What was deployed in the last hour?"
        await page.goto(demo.form)
        await page.locator("#question").fill(recent)
        await page.get_by_role("button", name="Ask").click()
        await expect(page.locator(".headline")).to_contain_text("3 deploys since 2026-11-29 01:1")
    asked = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", "ask", recent, "--server", demo.form,
        cwd=ROOT,
        stdout=subprocess.PIPE,
    )  # fmt: skip
    told, _ = await asyncio.wait_for(asked.communicate(), 20)
    assert "3 deploys since 2026-11-29 01:1" in told.decode()


@pytest.mark.browser
@needs_browser
async def test_slow_answers_leave_the_time_to_stop_one_and_its_postmortem_is_copied_with_a_tap(
    demo: Demo,
) -> None:
    async with browser_page(width=390, height=844) as page:
        await page.goto(demo.page)
        await page.get_by_label("Channels", exact=True).click()
        await page.get_by_test_id("pace").click()
        await page.get_by_test_id("channel-inc-checkout").click()
        await ask(page, QUESTION)
        question = message(page, QUESTION)
        await expect(question.get_by_test_id("reaction-eyes")).to_be_visible()
        await question.hover()
        await question.get_by_test_id("quick-octagonal_sign").click()
        await question.get_by_test_id("reply-link").click()
        thread = page.get_by_test_id("thread-messages")
        await expect(thread).to_contain_text("No answer. Stopped by Maya")

        link = await thread.get_by_role("link", name="Trace").last.get_attribute("href")
        assert link is not None
        await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        await page.goto(link)
        copy = page.get_by_role("button", name="Copy the postmortem").first
        await expect(copy).to_be_in_viewport()
        await copy.click()
        await expect(page.get_by_role("status").first).to_have_text("Copied.")
        copied = await page.evaluate("navigator.clipboard.readText()")
        assert copied == await page.locator("#postmortem-text").text_content()
        assert copied.endswith(f"- Trace: {link}\n")

        # At an address without encryption a page has no clipboard: the old way has to do.
        await page.evaluate(
            "navigator.clipboard.writeText('').then(() => delete Clipboard.prototype.writeText)"
        )
        await page.get_by_role("button", name="Copy the postmortem").last.click()
        await expect(page.locator("#postmortem-text")).to_be_visible()
        await expect(page.get_by_role("status").last).to_have_text("Copied.")
        assert "# Postmortem" in await page.evaluate("navigator.clipboard.readText()")
