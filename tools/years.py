"""The years that are worked with: a time outside of them is refused where it enters.

Pure; knows nothing else. From no time within them does a span that somebody names lead out of the
calendar, which Python's dates answer with an exception.
"""

from __future__ import annotations

from datetime import UTC, datetime

FIRST_YEAR, LAST_YEAR = 1970, 2999
FIRST = datetime(FIRST_YEAR, 1, 1, tzinfo=UTC)
LAST = datetime(LAST_YEAR, 12, 31, 23, 59, 59, tzinfo=UTC)


def utc(when: datetime) -> datetime:
    """An aware time in UTC. Raises ``ValueError``, in words, outside of the years worked with."""
    if not FIRST <= when <= LAST:
        raise ValueError(f"is outside of the years {FIRST_YEAR} to {LAST_YEAR}")
    return when.astimezone(UTC)


def nearest(when: datetime) -> datetime:
    """An aware time in UTC: of one out of range, the end of the range that is nearer to it."""
    return min(max(when, FIRST), LAST).astimezone(UTC)
