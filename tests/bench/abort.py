"""From the abort to the run's return, with something in flight."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from pathlib import Path
from typing import ClassVar

from bot.loop.engine import run
from bot.loop.journal import MemoryJournal
from bot.loop.limits import Limits, StopReason
from bot.loop.outcome import Failure
from bot.loop.question import parse
from bot.loop.stopping import Clock, Stop
from bot.loop.toolbox import Toolbox
from bot.loop.wire import Model
from bot.redact import Redactor
from tools.base import CallContext, Tool, ToolResult
from tools.http import HttpClient

from .server import serving
from .table import Row, p95
from .world import CATALOG, Lookup, LookupArguments, model


class Waits(Lookup):
    """Waits for ever, and says when it begins."""

    def __init__(self, began: asyncio.Event) -> None:
        super().__init__([])
        self._began = began

    async def run(self, arguments: LookupArguments, context: CallContext) -> ToolResult:
        self._began.set()
        await asyncio.Event().wait()
        raise AssertionError


class Process(Waits):
    """Waits for a real process with a child of its own, and kills the whole group when cancelled."""

    groups: ClassVar[list[int]] = []

    async def run(self, arguments: LookupArguments, context: CallContext) -> ToolResult:
        process = await asyncio.create_subprocess_exec(
            "sh", "-c", "sleep 600 & sleep 600", start_new_session=True
        )
        self.groups.append(process.pid)
        self._began.set()
        try:
            await process.wait()
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
        raise AssertionError


async def rows(aborts: int) -> list[Row]:
    """At least two aborts of each kind."""
    found = []
    async with serving() as url, HttpClient() as client:
        for what, name, tool in (
            ("a model call", "hang", Waits),
            ("a tool", "steps-3", Waits),
            ("a subprocess", "steps-3", Process),
        ):
            seconds = [await _one(url, client, name, tool) for _ in range(aborts)]
            told = f"abort to return, {what} in flight, 95th percentile"
            found.append(Row(told, p95(seconds) * 1e3, "ms", 250, f"{aborts} aborts"))
    left = [group for group in Process.groups if _lives(group)]
    found.append(Row("process groups left after the aborts", len(left), "groups", 0))
    return found


async def _one(url: str, client: HttpClient, name: str, tool: type[Waits]) -> float:
    """Seconds from one abort to the return."""
    began = asyncio.Event()
    clock = Clock()
    stop = Stop(clock, clock.monotonic() + 60)
    tools: list[Tool[LookupArguments]] = [tool(began)]
    asked: Model = model(url, client, name)
    question = parse("What was found?", clock.now(), CATALOG)
    journal = MemoryJournal()
    work = asyncio.create_task(
        run(question, asked, Toolbox(tools, Redactor()), Limits(), journal, stop)
    )
    if name == "hang":
        while not journal.events:
            await asyncio.sleep(0)
        await asyncio.sleep(0.02)  # the request is on its way
    else:
        await began.wait()
    aborted = time.perf_counter()
    stop.abort("@maya")
    outcome = await work
    seconds = time.perf_counter() - aborted
    if not isinstance(outcome, Failure) or outcome.reason is not StopReason.ABORTED:
        raise RuntimeError(f"the run was not stopped: {outcome!r}")
    return seconds


def _lives(group: int) -> bool:
    """Whether a process of the group still runs; one that is dead and not yet reaped does not."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, leader = stat.read_text().rpartition(")")[2].split()[:3]
            if int(leader) == group and state != "Z":
                return True
    return False
