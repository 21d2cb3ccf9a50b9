"""What a process costs: importing the engine, and one question on the demo's workspace."""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bot.playground.incident import make_demo_workspace
from tests.bench.table import Row

ROUNDS = 9


@dataclass(frozen=True)
class Cost:
    wall: float
    cpu: float
    megabytes: float


async def rows() -> list[Row]:
    return await asyncio.to_thread(_rows)


def _rows() -> list[Row]:
    bare, pydantic, engine = [], [], []
    for _ in range(ROUNDS):
        bare.append(_cost("-c", "pass"))
        pydantic.append(_cost("-c", "import pydantic; pydantic.BaseModel"))
        engine.append(_cost("-c", "import bot.loop.engine"))
    found = [
        Row("import pydantic: CPU beyond an empty process", _more(pydantic, bare), "ms"),
        Row("import bot.loop.engine: CPU beyond an empty process", _more(engine, bare), "ms"),
    ]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "shop"
        demo = make_demo_workspace(root)
        now = demo.asked_at.isoformat()
        argv = ("-m", "bot", "ask", demo.question, "--workspace", str(root), "--now", now, "--json")
        asked = [_cost(*argv) for _ in range(ROUNDS)]
    found += [
        Row("oncall-bot ask on the demo, as a process", _median(asked, "wall"), "s"),
        Row("oncall-bot ask on the demo: CPU", _median(asked, "cpu"), "s"),
        Row("oncall-bot ask on the demo: most memory", _median(asked, "megabytes"), "MB"),
    ]
    return found


def _cost(*argv: str) -> Cost:
    """One process from its start to its end. Raises ``CalledProcessError`` when it fails."""
    launch = Path(__file__).with_name("launch.py")
    told = subprocess.run(
        [sys.executable, "-S", launch, sys.executable, *argv], check=True, stdout=subprocess.PIPE
    )
    return Cost(**json.loads(told.stdout))


def _more(costs: list[Cost], than: list[Cost]) -> float:
    return (_median(costs, "cpu") - _median(than, "cpu")) * 1e3


def _median(costs: list[Cost], field: str) -> float:
    return statistics.median(getattr(cost, field) for cost in costs)
