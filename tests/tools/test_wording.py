from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.wording import clean, clock, listed, moment, plural, span

NOW = datetime(2026, 11, 29, 2, 14, tzinfo=UTC)  # a Sunday


def test_text_of_others_becomes_one_harmless_line() -> None:
    hostile = "roll\u202eback\u200b now\r\n<!channel>\x1b[31m\x00 \ufeffdone"
    assert clean(hostile) == "rollback now <!channel> done"
    assert clean(None) == ""
    assert clean("x" * 1_000_000, 10) == "x" * 9 + "…"


@given(st.text(), st.integers(min_value=2, max_value=50))
def test_cleaned_text_never_grows_breaks_a_line_or_hides_a_character(text: str, limit: int) -> None:
    shown = clean(text, limit)
    assert len(shown) <= limit
    assert all(char.isprintable() for char in shown)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2h", "2026-11-29T00:14"),
        ("last 90 minutes", "2026-11-29T00:44"),
        ("3 days ago", "2026-11-26T02:14"),
        ("yesterday", "2026-11-28T00:00"),
        ("today", "2026-11-29T00:00"),
        ("Friday", "2026-11-27T00:00"),
        ("last saturday", "2026-11-28T00:00"),
        ("01:30 UTC", "2026-11-29T01:30"),
        ("23:50", "2026-11-28T23:50"),
        ("2026-11-27", "2026-11-27T00:00"),
        ("2026-11-29T03:00:00+02:00", "2026-11-29T01:00"),
        ("now", "2026-11-29T02:14"),
    ],
)
def test_times_are_read_as_people_type_them(text: str, expected: str) -> None:
    read = moment(text, NOW)
    assert read is not None
    assert f"{read:%Y-%m-%dT%H:%M}" == expected


@pytest.mark.parametrize("text", ["soon", "25:00", "5 parsecs", "", "2026-13-40"])
def test_what_is_no_time_is_not_guessed(text: str) -> None:
    assert moment(text, NOW) is None


@given(st.text(alphabet="0123456789hdw ago:TZ-", max_size=20))
def test_reading_a_time_never_fails(text: str) -> None:
    read = moment(text, NOW)
    assert read is None or read.tzinfo is not None


def test_spans_and_clocks_read_as_people_say_them() -> None:
    assert span(timedelta(minutes=22, seconds=50)) == "22 min"
    assert span(timedelta(hours=3, minutes=5)) == "3 h 05 min"
    assert span(timedelta(days=3, hours=4)) == "3 d 4 h"
    assert span(timedelta(seconds=-5)) == "0 s"
    assert clock(NOW, NOW) == "02:14 UTC"
    assert clock(NOW - timedelta(days=1), NOW) == "2026-11-28 02:14 UTC"
    assert plural(1, "deploy") == "1 deploy"
    assert plural(1200, "deploy") == "1,200 deploys"
    assert listed(("a", "b", "c"), 2) == "a, b and 1 more"


@pytest.mark.parametrize(
    ("text", "year"),
    [
        ("0001-01-01", 1970),
        ("0001-01-01T00:00+14:00", 1970),
        ("99999 weeks ago", 1970),
        ("9999-12-31T23:59-14:00", 2999),
        ("9999-12-31T23:59:59Z", 2999),
    ],
)
def test_a_time_far_outside_of_the_calendar_is_read_as_its_end(text: str, year: int) -> None:
    read = moment(text, NOW)
    assert read is not None
    assert read.year == year


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("\x1b[31mred\x1b[0m alert", "red alert"),
        ("\x1b[1;38;5;196mred\x1b[m", "red"),
        ("\x1b]8;;https://evil.example\x07link\x1b]8;;\x1b\\ text", "link text"),
        ("\x1b]0;a new title", ""),
        ("\x9b2Jcleared \x1bcand reset", "cleared and reset"),
        ("a [31m that somebody typed", "a [31m that somebody typed"),
    ],
)
def test_an_order_to_a_terminal_goes_whole_and_what_people_typed_stays(
    text: str, plain: str
) -> None:
    assert clean(text) == plain
