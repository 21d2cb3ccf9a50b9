from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bot.loop.times import Window, onset_window, window
from support.scripted import NOW


def at(day: int, hour: int, minute: int = 0) -> datetime:
    return datetime(2026, 11, day, hour, minute, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("since 01:00", Window(at(29, 1))),
        ("since 22:00", Window(at(28, 22))),
        ("since 01:00 UTC", Window(at(29, 1))),
        ("since 03:00 +01:00", Window(at(29, 2))),
        ("between 00:30 and 02:00", Window(at(29, 0, 30), at(29, 2))),
        ("from 2026-11-28 10:00 to 2026-11-28 12:00", Window(at(28, 10), at(28, 12))),
        ("from 2026-11-27 to 2026-11-27", Window(at(27, 0), at(28, 0))),
        ("before 02:10", Window(None, at(29, 2, 10))),
        ("in the last 2 hours", Window(at(29, 0, 14))),
        ("in the past hour", Window(at(29, 1, 14))),
        ("in the last 90 minutes", Window(at(29, 0, 44))),
        ("in the last three days", Window(at(26, 2, 14))),
        ("yesterday", Window(at(28, 0), at(29, 0))),
        ("today", Window(at(29, 0))),
        ("tonight", Window(at(28, 18))),
        ("since yesterday at 23:00", Window(at(28, 23))),
        ("nothing about time", Window()),
        ("since 2026-13-45", Window()),
    ],
)
def test_a_window_as_people_write_it(text: str, expected: Window) -> None:
    assert window(text, NOW) == expected
    assert bool(window(text, NOW)) == (expected != Window())


ONSET = datetime(2026, 11, 26, 2, 6, tzinfo=UTC)  # a Thursday


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("in the 24 hours before it began", ONSET - timedelta(hours=24), ONSET),
        ("in the hour before the outage", ONSET - timedelta(hours=1), ONSET),
        ("two days prior to it", ONSET - timedelta(days=2), ONSET),
        (
            "deployed that week",
            datetime(2026, 11, 23, tzinfo=UTC),
            datetime(2026, 11, 30, tzinfo=UTC),
        ),
        ("the same day", datetime(2026, 11, 26, tzinfo=UTC), datetime(2026, 11, 27, tzinfo=UTC)),
        ("that month", datetime(2026, 11, 1, tzinfo=UTC), datetime(2026, 12, 1, tzinfo=UTC)),
    ],
)
def test_a_span_told_by_the_onset(text: str, since: datetime, until: datetime) -> None:
    found = onset_window(text)
    assert found is not None
    assert found.bounds(ONSET) == Window(since, until)


def test_text_without_such_a_span_has_none() -> None:
    assert onset_window("it went out the evening before") is None
    assert onset_window("in the last 24 hours") is None


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("in September", (2026, 9), (2026, 10)),
        ("in December", (2025, 12), (2026, 1)),
        ("during september 2021", (2021, 9), (2021, 10)),
        ("in November", (2026, 11), (2026, 12)),
    ],
)
def test_a_month_is_the_latest_that_has_begun(
    text: str, since: tuple[int, int], until: tuple[int, int]
) -> None:
    found = window(text, datetime(2026, 11, 29, 2, 14, tzinfo=UTC))
    assert found == Window(datetime(*since, 1, tzinfo=UTC), datetime(*until, 1, tzinfo=UTC))
