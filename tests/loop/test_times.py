from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bot.loop.times import Window, window
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
