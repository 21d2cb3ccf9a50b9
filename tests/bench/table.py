"""Rows of the benchmark's table, and how they are printed."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """``target`` is the most that is allowed, in the unit of ``value``, or ``None``."""

    what: str
    value: float
    unit: str
    target: float | None = None
    note: str = ""


def p95(values: Sequence[float]) -> float:
    """The 95th percentile of at least two values."""
    return statistics.quantiles(values, n=20, method="inclusive")[-1]


def middle_half(values: Sequence[float]) -> tuple[float, float]:
    """The first and the third quartile: half of the values are between them. At least two values."""
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, high


def lines(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the table as Markdown."""
    yield "| what | measured | target | |"
    yield "|---|---:|---:|---|"
    for row in rows:
        target = f"≤ {row.target:,g} {row.unit}" if row.target is not None else ""
        met = "" if row.target is None else "met" if row.value <= row.target else "**missed**"
        said = ", ".join(filter(None, (met, row.note)))
        yield f"| {row.what} | {row.value:,.2f} {row.unit} | {target} | {said} |"
