"""How a run grows: bytes sent a step, and bytes stored a run."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

from sqlalchemy import func, select

from bot.runs.migrate import prepare
from bot.runs.schema import BLOBS, EVENTS
from bot.runs.store import Store
from tools.http import HttpClient, HttpReply

from .server import serving
from .table import Row
from .world import KB, answered, limits, model, observations, stored


class Counting(HttpClient):
    def __init__(self) -> None:
        super().__init__()
        self.sent: list[int] = []

    async def post(
        self, url: str, headers: Mapping[str, str], body: bytes, *, max_bytes: int
    ) -> HttpReply:
        self.sent.append(len(body))
        return await super().post(url, headers, body, max_bytes=max_bytes)


async def rows(fewest: int) -> list[Row]:
    """``fewest`` steps, and twice, four times, and eight times as many."""
    lengths = [fewest * times for times in (1, 2, 4, 8)]
    cap = limits(20).observation_chars
    found: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "bench.db"
        prepare(database)
        store = Store.open(database)
        try:
            async with serving() as url:
                kept: dict[int, float] = {}
                for steps in lengths:
                    async with Counting() as client:
                        journal = await stored(store)
                        texts = observations(steps, steps, 20 * KB)
                        await answered(
                            steps, steps, texts, model(url, client, f"steps-{steps}"), journal
                        )
                        kept[steps] = await _bytes(store) - sum(kept.values())
                        most = max(after - before for before, after in pairwise(client.sent))
                what = "bytes sent: most that one step of 20 KB adds beyond the cap"
                found.append(Row(what, most - cap, "bytes", 400, f"{lengths[-1]} steps"))
        finally:
            await store.close()
    for few, many in pairwise(lengths):
        what = f"bytes stored: {many} steps against {few} steps, each of 20 KB"
        found.append(Row(what, kept[many] / kept[few], "×", 2.3, f"{kept[many] / KB:,.0f} KB"))
    return found


async def _bytes(store: Store) -> float:
    async with store.transaction() as connection:
        events = await connection.scalar(select(func.sum(func.length(EVENTS.c.body))))
        blobs = await connection.scalar(select(func.sum(func.length(BLOBS.c.body))))
    return float((events or 0) + (blobs or 0))
