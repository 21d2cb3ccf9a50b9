"""What one check of an answer may look at: the bounds are exact, and what was not seen is said."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bot.loop.rows import LINES_A_CHUNK, LINES_AN_ANSWER, READ_AN_ANSWER, ROWS_AN_ANSWER, Reading


def lines(reading: Reading, count: int) -> bool:
    """Whether every one of so many lines may be looked at."""
    return all(reading.may_look() for _ in range(count))


@pytest.mark.parametrize(
    ("may", "most"),
    [
        (lines, LINES_A_CHUNK),
        (Reading.may_look_through, ROWS_AN_ANSWER),
        (lambda reading, count: reading.may_read("x" * count), READ_AN_ANSWER),
    ],
    ids=["lines of a chunk", "rows of an answer", "characters of an answer"],
)
def test_all_of_a_bound_may_be_looked_at_and_nothing_beyond_it(
    may: Callable[[Reading, int], bool], most: int
) -> None:
    reading = Reading()
    assert reading.spent is False
    assert may(reading, most) is True
    assert reading.spent is False
    assert may(reading, 1) is False
    assert reading.spent is True
    assert may(Reading(), most + 1) is False


def test_what_was_looked_at_in_several_goes_counts_together() -> None:
    reading = Reading()
    assert reading.may_look_through(ROWS_AN_ANSWER // 2)
    assert reading.may_look_through(ROWS_AN_ANSWER - ROWS_AN_ANSWER // 2)
    assert not reading.may_look_through(1)
    assert reading.may_read("x" * (READ_AN_ANSWER // 2))
    assert reading.may_read("x" * (READ_AN_ANSWER - READ_AN_ANSWER // 2))
    assert not reading.may_read("x")


def test_a_chunk_has_its_own_lines_out_of_those_of_the_answer() -> None:
    reading = Reading()
    seen = 0
    while reading.may_look():
        seen += 1
        if seen % LINES_A_CHUNK == 0:
            reading.begin_chunk()
            assert reading.spent is False
    assert seen == LINES_AN_ANSWER
    assert reading.spent is True


def test_once_rows_are_over_it_stays_said_for_the_chunk() -> None:
    reading = Reading()
    assert not reading.may_look_through(ROWS_AN_ANSWER + 1)
    assert reading.may_read("a line")
    assert reading.spent is True
