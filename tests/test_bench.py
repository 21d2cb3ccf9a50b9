"""The benchmarks still play: what breaks one is seen here, not on the day when its numbers are wanted."""

from __future__ import annotations

import asyncio
import math

from bench.parts import PARTS
from bench.table import lines

# The most that is allowed, row by row; None where a row is there to be compared with.
TARGETS = {
    "engine": [*([None, None, 1.2, 2.0] * 2), None, None, 1.0, 1.5],
    "growth": [400, 2.3, 2.3, 2.3],
    "abort": [250, 250, 250, 0],
    "start": [None, 250, 1, None, 80, 1.5, 120],
    "slack": [500, 250, 1_000, 100, 500],
}


async def test_a_small_round_of_every_benchmark_gives_all_rows_with_their_targets() -> None:
    async with asyncio.TaskGroup() as group:
        played = {name: group.create_task(part.small()) for name, part in PARTS.items()}
    for name, task in played.items():
        rows = task.result()
        assert [row.target for row in rows] == TARGETS[name], name
        assert all(math.isfinite(row.value) for row in rows), rows
        assert len({row.what for row in rows}) == len(rows)
        assert len(list(lines(rows))) == len(rows) + 2
