"""The parts of the benchmark: how much of each makes its numbers, and how little shows that it works."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from typing import Any

from . import abort, engine, growth, slack, start
from .table import Row


@dataclass(frozen=True)
class Part:
    """``usual`` measures; ``small`` plays the same with numbers that mean nothing."""

    usual: Callable[[], Coroutine[Any, Any, list[Row]]]
    small: Callable[[], Coroutine[Any, Any, list[Row]]]


PARTS = {
    "engine": Part(
        partial(engine.rows, rounds=len(engine.ORDERS), short_runs=12, long_runs=2),
        partial(engine.rows, rounds=2, short_runs=1, long_runs=1),
    ),
    "growth": Part(partial(growth.rows, fewest=5), partial(growth.rows, fewest=2)),
    "abort": Part(partial(abort.rows, aborts=40), partial(abort.rows, aborts=2)),
    "start": Part(partial(start.rows, rounds=9), partial(start.rows, rounds=1)),
    "slack": Part(partial(slack.rows, alone=20, burst=200), partial(slack.rows, alone=2, burst=2)),
}
