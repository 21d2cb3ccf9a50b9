"""CPU a step of the engine, against a bare httpx loop that plays the same trajectory.

The bare loop does what a page of code would: it posts all messages, reads the call, runs the tool,
appends its text. No journal, no checks, no redaction, no limits.
"""

from __future__ import annotations

import gc
import json
import statistics
import tempfile
import time
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx

from bot.loop.journal import Journal, MemoryJournal
from bot.loop.prompt import SYSTEM
from bot.loop.toolbox import Toolbox
from bot.models.encoding import slim
from bot.redact import Redactor
from bot.runs.migrate import prepare
from bot.runs.store import Store
from tests.bench.server import serving
from tests.bench.table import Row
from tests.bench.world import (
    KB,
    Lookup,
    Payload,
    answered,
    model,
    observations,
    question_text,
    stored,
)
from tools.http import HttpClient

ROUNDS = 15
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": spec.name,
            "description": spec.description,
            "parameters": slim(spec.parameters),
        },
    }
    for spec in Toolbox([Lookup([])], Redactor()).specs
]


async def bare(url: str, client: httpx.AsyncClient, name: str, asked: str, texts: list[str]) -> str:
    results = iter(texts)
    messages: list[Payload] = [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": asked},
    ]
    while True:
        reply = await client.post(
            f"{url}/chat/completions",
            json={"model": name, "tools": TOOLS, "messages": messages, "tool_choice": "auto"},
        )
        message = reply.json()["choices"][0]["message"]
        messages.append(message)
        for call in message["tool_calls"]:
            arguments = json.loads(call["function"]["arguments"])
            if call["function"]["name"] == "answer":
                return str(arguments["headline"])
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": next(results)})


async def rows() -> list[Row]:
    found: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "bench.db"
        prepare(database)
        store = Store.open(database)
        try:
            async with serving() as url, httpx.AsyncClient() as client, HttpClient() as own:
                bench = _Bench(url, client, own, store)
                found += await bench.side_by_side(3, 1 * KB, 12, (1.2, 2.0))
                found += await bench.side_by_side(20, 8 * KB, 2, (1.0, 1.5))
        finally:
            await store.close()
    return found


@dataclass(frozen=True)
class _Bench:
    url: str
    client: httpx.AsyncClient
    own: HttpClient
    store: Store

    async def side_by_side(
        self, steps: int, size: int, runs: int, targets: tuple[float, float]
    ) -> list[Row]:
        """In each round every way plays ``runs`` questions, with texts that no round saw before."""
        spent: dict[str, list[float]] = {"bare": [], "memory": [], "sqlite": []}
        for turn in range(-1, ROUNDS):
            for way, seconds in (await self._round(turn, steps, size, runs)).items():
                if turn >= 0:  # before that: warm-up
                    spent[way].append(seconds / steps / runs)
        base = spent["bare"]
        what = f"{steps} steps, {size // KB} KB observations"
        found = [Row(f"bare httpx loop, {what}: CPU a step", statistics.median(base) * 1e3, "ms")]
        for way, told, target in (
            ("memory", "engine, journal in memory", targets[0]),
            ("sqlite", "engine, durable SQLite journal", targets[1]),
        ):
            ratio = statistics.median(a / b for a, b in zip(spent[way], base, strict=True))
            note = f"{statistics.median(spent[way]) * 1e3:.2f} ms a step"
            found.append(Row(f"{told}, {what}", ratio, "×", target, note))
        return found

    async def _round(self, turn: int, steps: int, size: int, runs: int) -> dict[str, float]:
        name = f"steps-{steps}"
        seeds = [steps * 100_000 + turn * 100 + run for run in range(runs)]
        texts = [observations(seed, steps, size) for seed in seeds]
        journals = [await stored(self.store) for _ in seeds]

        async def plainly() -> None:
            for seed, results in zip(seeds, texts, strict=True):
                await bare(self.url, self.client, name, question_text(seed), results)

        async def with_engine(kept: Sequence[Journal]) -> None:
            for seed, results, journal in zip(seeds, texts, kept, strict=True):
                await answered(seed, steps, results, model(self.url, self.own, name), journal)

        return {
            "bare": await _cpu(plainly()),
            "memory": await _cpu(with_engine([MemoryJournal() for _ in seeds])),
            "sqlite": await _cpu(with_engine(journals)),
        }


async def _cpu(play: Awaitable[object]) -> float:
    """Seconds of CPU of the process. Garbage is collected before, not within."""
    gc.collect()
    gc.disable()
    try:
        began = time.process_time()
        await play
        return time.process_time() - began
    finally:
        gc.enable()
