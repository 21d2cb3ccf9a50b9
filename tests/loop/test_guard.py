"""A cheap look never hides what the pattern behind it would have found."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.loop import claims, clauses, entities, grounds, part_kinds, question, refs, times
from bot.loop.guard import Guarded, folded, holds

TIMELY = (times._NOON, times._MIDNIGHT, times._AM_PM, times._DAY_MONTH, times._WEEKDAY)
WINDOWS = (times._ON_DAY, times._AGO, times._EDGE, times._MONTH, times._BARE_DAY)


def looks() -> Iterator[tuple[str, tuple[str, ...], re.Pattern[str]]]:
    """Every look with the pattern behind it."""
    for module in (claims, clauses, entities, grounds, part_kinds, question, refs, times):
        for name, value in vars(module).items():
            match value:
                case Guarded(look=look, pattern=pattern):
                    yield f"{module.__name__}.{name}", look, pattern
                case ((_, Guarded()), *_):
                    for place, (kind, one) in enumerate(value):
                        yield f"{module.__name__}.{name}.{place}-{kind}", one.look, one.pattern
                case _:
                    pass
    for pattern in (*TIMELY, *WINDOWS):
        yield f"window: {pattern.pattern[:30]}", times._TIMELY, pattern


GUARDED = {name: (look, pattern) for name, look, pattern in looks()}


@pytest.mark.parametrize("name", GUARDED)
@settings(
    max_examples=20, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow]
)
@given(data=st.data())
def test_whatever_a_pattern_finds_its_look_lets_through(name: str, data: st.DataObject) -> None:
    look, pattern = GUARDED[name]
    assert holds(folded(data.draw(st.from_regex(pattern))), look)
