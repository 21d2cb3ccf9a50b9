"""What a process costs: importing the engine, one question on the demo's workspace, a server."""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx

from bot.playground.incident import make_demo_workspace

from .table import Row


@dataclass(frozen=True)
class Cost:
    wall: float
    cpu: float
    megabytes: float


@dataclass(frozen=True)
class Served:
    wall: float
    megabytes: float


async def rows(rounds: int) -> list[Row]:
    return await asyncio.to_thread(_rows, rounds)


def _rows(rounds: int) -> list[Row]:
    bare, pydantic, engine = [], [], []
    for _ in range(rounds):
        bare.append(_cost("-c", "pass"))
        pydantic.append(_cost("-c", "import pydantic; pydantic.BaseModel"))
        engine.append(_cost("-c", "import bot.loop.engine"))
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "shop"
        demo = make_demo_workspace(root)
        now = demo.asked_at.isoformat()
        argv = ("-m", "bot", "ask", demo.question, "--workspace", str(root), "--now", now, "--json")
        asked = [_cost(*argv) for _ in range(rounds)]
        served = [_served(root) for _ in range(rounds)]
    return [
        Row("import pydantic: CPU beyond an empty process", _more(pydantic, bare), "ms"),
        Row("import bot.loop.engine: CPU beyond an empty process", _more(engine, bare), "ms", 250),
        Row("oncall-bot ask on the demo, as a process", _median(asked, "wall"), "s", 1),
        Row("oncall-bot ask on the demo: CPU", _median(asked, "cpu"), "s"),
        Row("oncall-bot ask on the demo: most memory", _median(asked, "megabytes"), "MB", 80),
        Row("oncall-bot serve: until it answers", _median(served, "wall"), "s", 1.5),
        Row("oncall-bot serve: most memory", _median(served, "megabytes"), "MB", 120),
    ]


def _served(root: Path) -> Served:
    """A server from its start to its first reply. Raises ``RuntimeError`` when there is none."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "bot", "serve", "--workspace", root],
        env={**os.environ, "ONCALL_WEB__PORT": str(port)},
        stdout=subprocess.PIPE,
    )
    with process:
        try:
            line = process.stdout.readline() if process.stdout else b""
            if not line.startswith(b"Serving "):
                raise RuntimeError(f"the server did not start: {line!r}")
            httpx.get(f"http://127.0.0.1:{port}/health", trust_env=False).raise_for_status()
            wall = time.perf_counter() - began
            status = Path(f"/proc/{process.pid}/status").read_text()
        finally:
            process.terminate()
    most = re.search(r"VmHWM:\s*(\d+) kB", status)
    if most is None:
        raise RuntimeError("the system does not say how much memory a process had")
    return Served(wall, int(most[1]) / 1024)


def _cost(*argv: str) -> Cost:
    """One process from its start to its end. Raises ``CalledProcessError`` when it fails."""
    launch = Path(__file__).with_name("launch.py")
    told = subprocess.run(
        [sys.executable, "-S", launch, sys.executable, *argv], check=True, stdout=subprocess.PIPE
    )
    return Cost(**json.loads(told.stdout))


def _more(costs: list[Cost], than: list[Cost]) -> float:
    return (_median(costs, "cpu") - _median(than, "cpu")) * 1e3


def _median(costs: Sequence[Cost | Served], field: str) -> float:
    values: list[float] = [getattr(cost, field) for cost in costs]
    return statistics.median(values)
