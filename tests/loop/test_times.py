from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone

import pytest

from bot.loop.question import parse
from bot.loop.times import OnsetWindow, Window, onset_window, timely, window, zone_offset
from support.scripted import CATALOG, NOW


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
        ("in June 0001", (1, 6), (1, 7)),
        ("in June 0000", (1, 6), (1, 7)),
        ("in February 30", (2026, 2), (2026, 3)),
    ],
)
def test_a_month_is_the_latest_that_has_begun(
    text: str, since: tuple[int, int], until: tuple[int, int]
) -> None:
    found = window(text, datetime(2026, 11, 29, 2, 14, tzinfo=UTC))
    assert found == Window(datetime(*since, 1, tzinfo=UTC), datetime(*until, 1, tzinfo=UTC))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("since noon", Window(at(28, 12))),
        ("since MIDNIGHT", Window(at(29, 0))),
        ("since Noon", Window(at(28, 12))),
        ("since 1am", Window(at(29, 1))),
        ("since 12 am", Window(at(29, 0))),
        ("since 12PM", Window(at(28, 12))),
        ("since 10:30 pm", Window(at(28, 22, 30))),
        ("after 01:00", Window(at(29, 1))),
        ("since 28 November", Window(at(28, 0))),
        ("since November 28th", Window(at(28, 0))),
        ("since 28 Nov 2025", Window(datetime(2025, 11, 28, tzinfo=UTC))),
        ("since 1st Dec", Window(datetime(2025, 12, 1, tzinfo=UTC))),
        ("since 29 November", Window(at(29, 0))),
        ("since 30 November", Window(datetime(2025, 11, 30, tzinfo=UTC))),
        ("since 30 November 2026", Window(at(30, 0))),
        ("since 31 November", Window()),
        ("since JANUARY 2", Window(datetime(2026, 1, 2, tzinfo=UTC))),
        ("since June 3", Window(datetime(2026, 6, 3, tzinfo=UTC))),
        ("since July 3", Window(datetime(2026, 7, 3, tzinfo=UTC))),
        ("since Friday", Window(at(27, 0))),
        ("since SUNDAY", Window(at(29, 0))),
        ("since Monday", Window(at(23, 0))),
        ("since last Saturday", Window(at(28, 0))),
        ("on 2026-11-27", Window(at(27, 0), at(28, 0))),
        ("during 2026-11-27", Window(at(27, 0), at(28, 0))),
        ("on 2026-13-45", Window()),
        ("on Friday", Window(at(27, 0), at(28, 0))),
        ("since today", Window(at(29, 0))),
        ("since yesterday", Window(at(28, 0))),
        ("from yesterday to today", Window(at(28, 0), at(30, 0))),
        ("to 01:00 and from 00:30", Window(at(29, 0, 30))),
        ("and 01:00", Window()),
        ("to 01:00", Window()),
        ("since 2026-13-45 until 01:00", Window(None, at(29, 1))),
        ("till 2026-11-28 10:00", Window(None, at(28, 10))),
        ("since 03:00 CET", Window(at(29, 2))),
        ("since 21:00 EST", Window(at(29, 2))),
        ("since 01:30 gmt", Window(at(29, 1, 30))),
        ("since 2026-11-28 05:45 +05:45", Window(at(28, 0))),
        ("since 2026-11-28 00:00 -0230", Window(at(28, 2, 30))),
        ("since 02:14", Window(at(29, 2, 14))),
        ("since 02:15", Window(at(28, 2, 15))),
    ],
)
def test_a_time_in_words_is_the_latest_that_it_can_mean(text: str, expected: Window) -> None:
    assert window(text, NOW) == expected


def test_a_question_from_elsewhere_is_read_in_utc() -> None:
    east = NOW.astimezone(timezone(timedelta(hours=9)))
    assert window("today", east) == Window(at(29, 0))
    assert window("today", NOW.replace(second=59, microsecond=7)) == Window(at(29, 0))


def test_a_month_that_begins_this_very_moment_has_begun() -> None:
    now = datetime(2026, 12, 1, tzinfo=UTC)
    assert window("in December", now) == Window(now, datetime(2027, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize("month", range(1, 13))
def test_every_month_ends_where_the_next_one_begins(month: int) -> None:
    onset = datetime(2027, month, 1, 5, tzinfo=UTC)
    after = (
        datetime(2028, 1, 1, tzinfo=UTC)
        if month == 12
        else datetime(2027, month + 1, 1, tzinfo=UTC)
    )
    assert OnsetWindow(same="month").bounds(onset) == Window(onset.replace(hour=0), after)


@pytest.mark.parametrize(
    "text",
    ["what went out since the incident?", "since it began", "since onset", "after it started"],
)
def test_since_it_began_is_told_by_the_onset(text: str) -> None:
    assert onset_window(text) == OnsetWindow(same="since")
    assert OnsetWindow(same="since").bounds(ONSET) == Window(ONSET, None)


def test_the_day_of_an_onset_is_that_day_in_utc() -> None:
    east = ONSET.astimezone(timezone(timedelta(hours=-9)))
    assert OnsetWindow(same="day").bounds(east) == Window(at(26, 0), at(27, 0))


@pytest.mark.parametrize(
    ("zone", "minutes"),
    [
        (None, 0),
        ("", 0),
        ("z", 0),
        ("utc", 0),
        ("GMT", 0),
        ("+01:30", 90),
        ("-0130", -90),
        ("cest", 120),
    ],
)
def test_a_zone_is_an_offset_east_of_utc(zone: str | None, minutes: int) -> None:
    assert zone_offset(zone) == timedelta(minutes=minutes)


@pytest.mark.parametrize(
    ("word", "day"),
    [
        *(("Monday", 23), ("Tuesday", 24), ("Wednesday", 25), ("Thursday", 19)),
        *(("Friday", 20), ("Saturday", 21), ("Sunday", 22)),
    ],
)
def test_a_weekday_is_the_latest_one_on_any_day_of_the_week(word: str, day: int) -> None:
    wednesday = at(25, 2, 14)
    assert window(f"since {word}", wednesday) == Window(at(day, 0))


def test_a_day_that_begins_this_very_moment_has_begun() -> None:
    assert window("since 29 November", at(29, 0)) == Window(at(29, 0))


def test_a_number_alone_is_no_time() -> None:
    assert not timely("what changed in deploy 4471")
    assert not timely("deploy#4471")
    assert timely("since 01:00")


@pytest.fixture
def _nine_hours_ahead(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine whose own clock runs nine hours ahead."""
    with monkeypatch.context() as own:
        own.setenv("TZ", "JST-9")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("_nine_hours_ahead")
def test_times_are_read_in_utc_wherever_the_bot_runs() -> None:
    assert NOW.astimezone().utcoffset() == timedelta(hours=9)
    late = at(28, 23, 30)
    assert window("today", late) == Window(at(28, 0))
    assert OnsetWindow(same="day").bounds(late) == Window(at(28, 0), at(29, 0))
    question = parse("what was deployed today?", late, CATALOG)
    assert question.asked_at.utcoffset() == timedelta()
    assert question.parts[0].since == at(28, 0)
