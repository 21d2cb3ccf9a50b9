"""A cheap look never hides what the pattern behind it would have found."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.loop import claims, clauses, entities, grounds, part_kinds, question, refs, times, unread
from bot.loop.guard import Guarded, folded

MODULES = (claims, clauses, entities, grounds, part_kinds, question, refs, times, unread)
WINDOWS = ("_NOON", "_MIDNIGHT", "_AM_PM", "_DAY_MONTH", "_WEEKDAY", "_ON_DAY", "_AGO", "_EDGE")


def guards() -> Iterator[tuple[str, Guarded]]:
    """Every pattern with a look before it."""
    for module in MODULES:
        for name, value in vars(module).items():
            match value:
                case Guarded():
                    yield f"{module.__name__}.{name}", value
                case (Guarded(), *_):
                    yield from (
                        (f"{module.__name__}.{name}.{n}", one) for n, one in enumerate(value)
                    )
                case ((_, Guarded()), *_):
                    for place, (kind, one) in enumerate(value):
                        yield f"{module.__name__}.{name}.{place}-{kind}", one
                case _:
                    pass


GUARDED = dict(guards())
FEW = settings(
    max_examples=20, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow]
)


def ignoring_case(pattern: re.Pattern[str]) -> st.SearchStrategy[str]:
    return st.from_regex(re.compile(pattern.pattern, re.IGNORECASE))


@pytest.mark.parametrize("name", GUARDED)
@FEW
@given(data=st.data())
def test_whatever_a_pattern_finds_its_look_lets_through(name: str, data: st.DataObject) -> None:
    one = GUARDED[name]
    low = folded(data.draw(ignoring_case(one.pattern)))
    assert one.lets_by(low)
    assert one.find(low)


@pytest.mark.parametrize("name", [*WINDOWS, "_MONTH", "_BARE_DAY"])
@FEW
@given(data=st.data())
def test_whatever_names_a_time_is_looked_at(name: str, data: st.DataObject) -> None:
    assert times.timely(folded(data.draw(ignoring_case(vars(times)[name].pattern))))


@pytest.mark.parametrize("pattern", [entities._SHA, entities._TAG])
@FEW
@given(data=st.data())
def test_every_sha_and_tag_has_a_digit_beside_a_letter_or_dash(
    pattern: re.Pattern[str], data: st.DataObject
) -> None:
    assert entities._MIXED.search(folded(data.draw(st.from_regex(pattern))))


@pytest.mark.parametrize(
    "piece",
    [*"abcdefghijklmnopqrstuvwxyz", "[a-z]", "[a-z0-9]", "[^?.!]", r"\w", r"\d", r"\s", r"\b."],
)
def test_small_letters_find_in_folded_text_what_ignoring_case_finds(piece: str) -> None:
    written = "\n".join(map(chr, range(0x20000)))  # no letter beyond has another case
    low = folded(written)
    assert len(low) == len(written)
    expected = [found.span() for found in re.finditer(piece, written, re.IGNORECASE)]
    assert [found.span() for found in re.finditer(piece, low)] == expected


@pytest.mark.parametrize(
    "text",
    [
        *(
            "deploys of the last \u017fix hours",
            "deploys since 3 \u017fep",
            "deploys on \u017funday",
        ),
        *("deploys of augu\u017ft", "what shipped in the \u017fix hours before it began"),
    ],
)
def test_a_time_in_letters_that_only_look_like_ours_is_read(text: str) -> None:
    plain = text.replace("\u017f", "s")
    now = datetime(2026, 11, 29, 2, 14, tzinfo=UTC)
    assert times.window(text, now) == times.window(plain, now)
    assert times.onset_window(text) == times.onset_window(plain)
    assert times.window(text, now) or times.onset_window(text)
