"""CPU a step of the engine, against a bare httpx loop that plays the same trajectory.

The bare loop does what a page of code would: it posts all messages, reads the call, runs the tool,
appends its text. No journal, no checks, no redaction, no limits. It is also played through the
engine's own HTTP transport, to tell what of the difference is only HTTP.
"""

from __future__ import annotations

import gc
import json
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Awaitable, Sequence
from contextlib import closing
from dataclasses import dataclass
from enum import Enum
from itertools import permutations
from pathlib import Path
from typing import assert_never

import httpx

from bot.loop.journal import Journal, MemoryJournal
from bot.loop.prompt import SYSTEM
from bot.loop.toolbox import Toolbox
from bot.models.encoding import slim
from bot.redact import Redactor
from bot.runs.migrate import prepare
from bot.runs.store import Store
from tools.http import CONNECT_SECONDS, HttpClient, _AiohttpTransport

from .server import serving
from .table import Row, middle_half
from .world import (
    KB,
    Lookup,
    Payload,
    answered,
    model,
    observations,
    question_text,
    stored,
)


class Way(Enum):
    BARE = "bare httpx loop"
    TRANSPORT = "bare loop on the engine's HTTP transport"
    MEMORY = "engine, journal in memory"
    SQLITE = "engine, durable SQLite journal"


class Said(Enum):
    """What is answered in the end: the value begins the name of the model that does."""

    ONE_FACT = "plain"
    MANY_FACTS = "steps"

    @property
    def told(self) -> str:
        return "one fact answered" if self is Said.ONE_FACT else "twelve facts answered"


ORDERS = tuple(permutations(Way))
"""Who plays after whom: each order once in as many rounds, so that none is favoured."""
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


@dataclass(frozen=True)
class Trajectory:
    """``runs`` questions a round, each of ``steps`` steps with observations of ``size`` characters;
    the targets are ratios to the bare loop.
    """

    steps: int
    size: int
    runs: int
    said: Said
    targets: dict[Way, float]

    @property
    def told(self) -> str:
        return f"{self.steps} steps, {self.size // KB} KB observations, {self.said.told}"


async def rows(rounds: int, short_runs: int, long_runs: int) -> list[Row]:
    """Trajectories of 3 and of 20 steps, so many runs of each a round; at least two rounds."""
    short = {Way.MEMORY: 1.2, Way.SQLITE: 2.0}
    trajectories = (
        Trajectory(3, 1 * KB, short_runs, Said.ONE_FACT, short),
        Trajectory(3, 1 * KB, short_runs, Said.MANY_FACTS, short),
        Trajectory(20, 8 * KB, long_runs, Said.MANY_FACTS, {Way.MEMORY: 1.0, Way.SQLITE: 1.5}),
    )
    found: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "bench.db"
        prepare(database)
        store = Store.open(database)
        transport = _AiohttpTransport(CONNECT_SECONDS)
        try:
            async with (
                serving() as url,
                httpx.AsyncClient() as client,
                httpx.AsyncClient(transport=transport) as same_transport,
                HttpClient() as own,
            ):
                gc.collect()
                gc.freeze()  # so that to collect between two measurements is quick
                bench = _Bench(url, client, same_transport, own, store, database)
                for trajectory in trajectories:
                    found += await bench.side_by_side(trajectory, rounds)
        finally:
            gc.unfreeze()
            await store.close()
    return found


@dataclass(frozen=True)
class _Bench:
    url: str
    client: httpx.AsyncClient
    same_transport: httpx.AsyncClient
    own: HttpClient
    store: Store
    database: Path

    async def side_by_side(self, played: Trajectory, rounds: int) -> list[Row]:
        """In each round every way plays as many questions, one way after the other."""
        spent: dict[Way, list[float]] = {way: [] for way in Way}
        for turn in range(-1, rounds):
            for way in ORDERS[turn % len(ORDERS)]:
                seconds = await self._cpu(way, played, turn)
                if turn >= 0:  # before that: warm-up
                    spent[way].append(seconds / played.steps / played.runs * 1e3)
        base = spent[Way.BARE]
        low, high = middle_half(base)
        note = f"half of {rounds} rounds: {low:.2f} to {high:.2f}"
        what = f"{Way.BARE.value}, {played.told}: CPU a step"
        found = [Row(what, statistics.median(base), "ms", note=note)]
        for way in (Way.TRANSPORT, Way.MEMORY, Way.SQLITE):
            ratios = [a / b for a, b in zip(spent[way], base, strict=True)]
            low, high = middle_half(ratios)
            note = (
                f"half of {rounds} rounds: {low:.2f} to {high:.2f}; "
                f"{statistics.median(spent[way]):.2f} ms a step"
            )
            target = played.targets.get(way)
            found.append(
                Row(f"{way.value}, {played.told}", statistics.median(ratios), "×", target, note)
            )
        return found

    async def _cpu(self, way: Way, played: Trajectory, turn: int) -> float:
        """Seconds of CPU of the process, with texts that no way and no round saw before."""
        place = list(Way).index(way)
        first = played.steps * 1_000_000 + list(Said).index(played.said) * 100_000
        seeds = [first + turn * 1_000 + place * 100 + run for run in range(played.runs)]
        texts = [observations(seed, played.steps, played.size) for seed in seeds]
        name = f"{played.said.value}-{played.steps}"

        async def bare_by(client: httpx.AsyncClient) -> None:
            for seed, results in zip(seeds, texts, strict=True):
                await bare(self.url, client, name, question_text(seed), results)

        async def engine_with(kept: Sequence[Journal]) -> None:
            for seed, results, journal in zip(seeds, texts, kept, strict=True):
                asked = model(self.url, self.own, name)
                await answered(seed, played.steps, results, asked, journal)

        match way:
            case Way.BARE:
                return await _spent(bare_by(self.client))
            case Way.TRANSPORT:
                return await _spent(bare_by(self.same_transport))
            case Way.MEMORY:
                return await _spent(engine_with([MemoryJournal() for _ in seeds]))
            case Way.SQLITE:
                kept = [await stored(self.store) for _ in seeds]
                return await _spent(self._to_the_file(engine_with(kept)))
            case _:
                assert_never(way)

    async def _to_the_file(self, play: Awaitable[object]) -> None:
        """Also bring the journals' pages into the database's file, which the store's next commits
        would do after the measurement.
        """
        await play
        with closing(sqlite3.connect(self.database)) as connection:
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)")


async def _spent(play: Awaitable[object]) -> float:
    """Seconds of CPU of the process, all threads. Others' garbage is collected before; a way's own
    is collected as in any process.
    """
    gc.collect()
    began = time.process_time()
    await play
    return time.process_time() - began
