"""Times as people write them, read against a clock: windows of a question.

Pure. All results are UTC. Knows no question and no claim.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from bot.loop.guard import folded, has_digit, holds, in_folded

_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_AGO = in_folded(
    "last|past|previous|within",
    r"\b(?:last|past|previous|within)\s+(?:the\s+)?(?:(\d{1,4}|an?|two|three|six|twelve)\s*)?"
    r"(minutes?|mins?|m|hours?|hrs?|h|days?|d|weeks?|w)\b",
)
_WORD_NUMBERS = {"a": 1, "an": 1, "two": 2, "three": 3, "six": 6, "twelve": 12, "twenty-four": 24}
_MOMENT = (
    r"(?:(?P<day>\d{4}-\d{2}-\d{2}|yesterday|today)[ t]*(?:at\s+)?)?"
    r"(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)(?::[0-5]\d)?"
    r"\s*(?P<zone>z|utc|gmt|[+-]\d{2}:?\d{2}|cest|cet|bst|e[sd]t|c[sd]t|m[sd]t|p[sd]t)?"
)
_DAY_ONLY = r"(?P<only>\d{4}-\d{2}-\d{2}|yesterday|today)"
_EDGE = in_folded(
    "day|:|-",
    rf"\b(?P<edge>since|after|from|between|until|till|before|to|and)\s+(?:{_MOMENT}|{_DAY_ONLY})",
)
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_MONTH = in_folded(
    "|".join(_MONTHS),
    rf"\b(?:in|during|of|this|last)\s+(?P<month>{'|'.join(_MONTHS)})(?:\s+(?P<year>\d{{4}}))?\b",
)
_AHEAD = in_folded(
    "before|prior|ahead|leading",
    r"\b(?:(\d{1,4}|an?|two|three|six|twelve|twenty-four)\s*)?(minutes?|mins?|m|hours?|hrs?|h|days?|d"
    r"|weeks?|w)\s+(?:before|prior to|ahead of|leading up to)\b",
)
_SAME = in_folded("that |same ", r"\b(?:that|the same) (day|week|month)\b", also="day|week|month")
_SINCE_ONSET = in_folded(
    "since|after",
    r"\b(?:since (?:then|onset|it|this|that|they|the (?:incident|outage|alert|kills?|errors?))"
    r"(?: (?:began|started|broke|fired))?|after (?:onset|(?:it|this|that|they) (?:began|started|broke))"
    r")\W*$",
)
_ZONES = {
    "CET": 1,
    "CEST": 2,
    "BST": 1,
    "EST": -5,
    "EDT": -4,
    "CST": -6,
    "CDT": -5,
    "MST": -7,
    "MDT": -6,
    "PST": -8,
    "PDT": -7,
}
"""Hours east of UTC, for those names that mean one zone where people are on call together."""
_BARE_DAY = in_folded("day|night", r"\b(yesterday|today|tonight)\b")


_NOON = in_folded("noon", r"\bnoon\b")
_MIDNIGHT = in_folded("midnight", r"\bmidnight\b")
_AM_PM = in_folded("am|pm", r"\b(1[0-2]|0?[1-9])(?::([0-5]\d))?\s?(am|pm)\b")
_SHORT_MONTHS = tuple(name[:3] for name in _MONTHS)
_MONTH_WORD = "|".join(f"{name[:3]}(?:{name[3:]})?" for name in _MONTHS)
_DAY_MONTH = in_folded(
    "|".join(_SHORT_MONTHS),
    rf"\b(?:(?P<d1>[0-3]?\d)(?:st|nd|rd|th)?\s+(?P<m1>{_MONTH_WORD})"
    rf"|(?P<m2>{_MONTH_WORD})\.?\s+(?P<d2>[0-3]?\d)(?:st|nd|rd|th)?)"
    r"(?!\w)(?:,?\s+(?P<year>20\d\d))?",
)
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_WEEKDAY = in_folded("day", rf"\b(?:last\s+)?({'|'.join(_WEEKDAYS)})\b")
_TIMELY = ("day", "night", "last", "past", "previous", "within", "noon", *_SHORT_MONTHS)
_TIMELY_BY_DIGIT = (":", "-", "am", "pm")
_ON_DAY = in_folded("-", r"\b(?:on|for|during)\s+(\d{4}-\d{2}-\d{2})\b(?![ t]*\d{1,2}:)")


@dataclass(frozen=True)
class Window:
    """A span of time; an open end is ``None``."""

    since: datetime | None = None
    until: datetime | None = None

    def __bool__(self) -> bool:
        return self.since is not None or self.until is not None


@dataclass(frozen=True)
class OnsetWindow:
    """A span told by an incident's onset: so long before it, the day, week or month around it, or
    all ``since`` it.
    """

    before: timedelta | None = None
    same: str | None = None

    def bounds(self, onset: datetime) -> Window:
        """The span in UTC; that of a day, week or month begins and ends at midnight."""
        if self.before is not None:
            return Window(onset - self.before, onset)
        day = _midnight(onset.astimezone(UTC))
        match self.same:
            case "since":
                return Window(onset, None)
            case "week":
                monday = day - timedelta(days=day.weekday())
                return Window(monday, monday + timedelta(days=7))
            case "month":
                return Window(day.replace(day=1), _next_month(day))
            case _:
                return Window(day, day + timedelta(days=1))


def onset_window(text: str) -> OnsetWindow | None:
    """``in the 24 hours before it began``, ``that week``; ``None`` when the text names no such span."""
    low = folded(text)
    if ahead := _AHEAD.find(low):
        count = ahead[1] or "1"
        number = _WORD_NUMBERS.get(count) or int(count)
        return OnsetWindow(before=timedelta(**{_UNITS[ahead[2][0]]: number}))
    if same := _SAME.find(low):
        return OnsetWindow(same=same[1])
    return OnsetWindow(same="since") if _SINCE_ONSET.find(low) else None


def _next_month(day: datetime) -> datetime:
    return (day.replace(day=28) + timedelta(days=4)).replace(day=1)


def _month(match: re.Match[str], now: datetime) -> Window:
    """The month that is named; without a year the latest that has begun by ``now``."""
    number = _MONTHS.index(match["month"]) + 1
    first = _midnight(now).replace(day=1, month=number)
    if match["year"]:
        first = first.replace(year=max(1, int(match["year"])))
    elif first > now:
        first = first.replace(year=first.year - 1)
    return Window(first, _next_month(first))


def zone_offset(zone: str | None) -> timedelta:
    """The offset east of UTC that ``+01:00``, ``CEST``, ``Z``, ``UTC`` or nothing stands for."""
    if not zone or zone.upper() in {"Z", "UTC", "GMT"}:
        return timedelta()
    if zone.upper() in _ZONES:
        return timedelta(hours=_ZONES[zone.upper()])
    digits = zone[1:].replace(":", "")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return -offset if zone[0] == "-" else offset


def _midnight(now: datetime) -> datetime:
    return now.replace(hour=0, minute=0, second=0, microsecond=0)


def _day(word: str, now: datetime) -> datetime | None:
    match word:
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


def _plain_times(low: str, now: datetime) -> str:
    """The text with ``10pm``, ``noon``, ``28 November`` and ``Friday`` as clock times and ISO days."""
    low = _NOON.sub("12:00", low)
    low = _MIDNIGHT.sub("00:00", low)
    low = _AM_PM.sub(_as_clock, low)
    low = _DAY_MONTH.sub(lambda m: _as_day(m, now) or m[0], low)
    return _WEEKDAY.sub(lambda m: f"{_last_weekday(m[1], now):%Y-%m-%d}", low)


def _as_clock(match: re.Match[str]) -> str:
    hour = int(match[1]) % 12 + (12 if match[3] == "pm" else 0)
    return f"{hour:02}:{match[2] or '00'}"


def _as_day(match: re.Match[str], now: datetime) -> str | None:
    """The latest such day that is not after ``now``; ``None`` for the 31st of a short month."""
    short = (match["m1"] or match["m2"])[:3]
    month = next(n for n, name in enumerate(_MONTHS, 1) if name.startswith(short))
    year = int(match["year"] or now.year)
    try:
        day = datetime(year, month, int(match["d1"] or match["d2"]), tzinfo=UTC)
        if day > now and not match["year"]:
            day = day.replace(year=year - 1)
    except ValueError:
        return None
    return f"{day:%Y-%m-%d}"


def _last_weekday(name: str, now: datetime) -> datetime:
    """The latest such day, today included."""
    back = (now.weekday() - _WEEKDAYS.index(name)) % 7
    return _midnight(now) - timedelta(days=back)


def timely(low: str) -> bool:
    """Whether a folded text may name a window: it needs one of the words, or a digit and a sign."""
    return holds(low, _TIMELY) or (holds(low, _TIMELY_BY_DIGIT) and has_digit(low))


def window(text: str, now: datetime) -> Window:
    """The window that the text names, read against ``now``; empty when it names none."""
    low = folded(text)
    if not timely(low):
        return Window()
    try:
        return _window(low, now.astimezone(UTC))
    except OverflowError:  # "on 9999-12-31": it leads out of the calendar
        return Window()


def _window(low: str, now: datetime) -> Window:
    low = _plain_times(low, now)
    if day := _ON_DAY.find(low):
        begins = _day(day[1], now)
        return Window(begins, begins + timedelta(days=1)) if begins else Window()
    since: datetime | None = None
    until: datetime | None = None
    if ago := _AGO.find(low):
        count = ago[1] or "1"
        number = _WORD_NUMBERS.get(count) or int(count)
        since = now - timedelta(**{_UNITS[ago[2][0]]: number})
    for edge in _EDGE.finditer(low):
        at = _moment(edge, now)
        if at is None:
            continue
        match edge["edge"]:
            case "since" | "after" | "from" | "between":
                since = at
            case "to" | "and" if since is None:
                continue
            case _:
                until = at + timedelta(days=1) if edge["only"] and edge["edge"] == "to" else at
    if since is None and until is None and (month := _MONTH.find(low)):
        return _month(month, now)
    if since is None and until is None and (bare := _BARE_DAY.find(low)):
        word = bare[1]
        if word == "yesterday":
            since = _midnight(now) - timedelta(days=1)
            until = _midnight(now)
        elif word == "today":
            since = _midnight(now)
        else:  # tonight began the evening before, when it is still dark
            since = _midnight(now) - timedelta(hours=6)
    return Window(since, until)
