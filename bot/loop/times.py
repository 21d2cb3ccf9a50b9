"""Times as people write them, read against a clock: windows of a question.

Pure. All results are UTC. Knows no question and no claim.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_AGO = re.compile(
    r"\b(?:last|past|previous|within)\s+(?:the\s+)?(?:(\d{1,4}|an?|two|three|six|twelve)\s*)?"
    r"(minutes?|mins?|m|hours?|hrs?|h|days?|d|weeks?|w)\b",
    re.IGNORECASE,
)
_WORD_NUMBERS = {"a": 1, "an": 1, "two": 2, "three": 3, "six": 6, "twelve": 12}
_MOMENT = (
    r"(?:(?P<day>\d{4}-\d{2}-\d{2}|yesterday|today)[ T]*(?:at\s+)?)?"
    r"(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)(?::[0-5]\d)?"
    r"\s*(?P<zone>Z|UTC|GMT|[+-]\d{2}:?\d{2})?"
)
_DAY_ONLY = r"(?P<only>\d{4}-\d{2}-\d{2}|yesterday|today)"
_EDGE = re.compile(
    rf"\b(?P<edge>since|after|from|between|until|till|before|to|and)\s+(?:{_MOMENT}|{_DAY_ONLY})",
    re.IGNORECASE,
)
_BARE_DAY = re.compile(r"\b(yesterday|today|tonight)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Window:
    """A span of time; an open end is ``None``."""

    since: datetime | None = None
    until: datetime | None = None

    def __bool__(self) -> bool:
        return self.since is not None or self.until is not None


def zone_offset(zone: str | None) -> timedelta:
    """The offset east of UTC that ``+01:00``, ``Z``, ``UTC`` or nothing stands for."""
    if not zone or zone.upper() in {"Z", "UTC", "GMT"}:
        return timedelta()
    digits = zone[1:].replace(":", "")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return -offset if zone[0] == "-" else offset


def _midnight(now: datetime) -> datetime:
    return now.replace(hour=0, minute=0, second=0, microsecond=0)


def _day(word: str, now: datetime) -> datetime | None:
    match word.lower():
        case "today":
            return _midnight(now)
        case "yesterday":
            return _midnight(now) - timedelta(days=1)
        case iso:
            try:
                return datetime.fromisoformat(iso).replace(tzinfo=UTC)
            except ValueError:
                return None


def _moment(match: re.Match[str], now: datetime) -> datetime | None:
    if only := match["only"]:
        return _day(only, now)
    day = _day(match["day"], now) if match["day"] else _midnight(now)
    if day is None:
        return None
    at = day + timedelta(hours=int(match["hour"]), minutes=int(match["minute"]))
    at -= zone_offset(match["zone"])
    if not match["day"] and at > now:  # "since 22:00", asked at 02:14: the evening before
        at -= timedelta(days=1)
    return at


def window(text: str, now: datetime) -> Window:
    """The window that the text names, read against ``now``; empty when it names none."""
    now = now.astimezone(UTC)
    since: datetime | None = None
    until: datetime | None = None
    if ago := _AGO.search(text):
        count = ago[1] or "1"
        number = _WORD_NUMBERS.get(count.lower()) or int(count)
        since = now - timedelta(**{_UNITS[ago[2][0].lower()]: number})
    for edge in _EDGE.finditer(text):
        at = _moment(edge, now)
        if at is None:
            continue
        match edge["edge"].lower():
            case "since" | "after" | "from" | "between":
                since = at
            case "to" | "and" if since is None:
                continue
            case _:
                until = at + timedelta(days=1) if edge["only"] and edge["edge"] == "to" else at
    if since is None and until is None and (bare := _BARE_DAY.search(text)):
        word = bare[1].lower()
        if word == "yesterday":
            since = _midnight(now) - timedelta(days=1)
            until = _midnight(now)
        elif word == "today":
            since = _midnight(now)
        else:  # tonight began the evening before, when it is still dark
            since = _midnight(now) - timedelta(hours=6)
    return Window(since, until)
