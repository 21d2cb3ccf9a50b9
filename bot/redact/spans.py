"""Where a secret stands in a text: the one value that every finder yields, and how they merge."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """Characters ``start`` to ``end`` hold a secret of ``kind``. ``kind`` stands in the mask."""

    start: int
    end: int
    kind: str


def merged(spans: Iterable[Span]) -> list[Span]:
    """Return spans in order and without overlap; overlapping ones join.

    The widest names the whole; of two equals the first yielded does, so shapes come before names.
    """
    joined: list[Span] = []
    for span in sorted(spans, key=lambda each: (each.start, -each.end)):
        if joined and span.start < joined[-1].end:
            last = joined[-1]
            if span.end > last.end:
                wider = span if span.end - span.start > last.end - last.start else last
                joined[-1] = Span(last.start, span.end, wider.kind)
        else:
            joined.append(span)
    return joined
