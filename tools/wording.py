"""Words for people: other people's text made harmless, times, spans, and times that people type.

Knows no record, source or tool. Everything here is pure.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime, timedelta

from tools.years import FIRST, nearest

_BLANKS = re.compile(r"\s+")
_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # colours, cursor
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f]).*?(?:\x07|\x1b\\|\x9c|\Z)"  # titles, links
    r"|\x1b[ -/]*[0-~]",
    re.DOTALL,
)
"""Orders to a terminal: they go whole, or what is left of them would read as text."""
_UNIT_SECONDS = {
    "s": 1,
    "sec": 1,
    "second": 1,
    "m": 60,
    "min": 60,
    "minute": 60,
    "h": 3600,
    "hr": 3600,
    "hour": 3600,
    "d": 86_400,
    "day": 86_400,
    "w": 604_800,
    "week": 604_800,
}
_DURATION = re.compile(
    r"^(?:in\s+the\s+)?(?:last|past|since)?\s*(\d{1,5})\s*([a-z]+?)s?(?:\s+ago)?$"
)
_CLOCK = re.compile(r"^(\d{1,2}):(\d{2})(?::(\d{2}))?\s*(?:utc|z)?$")
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def without_escapes(text: str) -> str:
    """The text without orders to a terminal."""
    return _ESCAPES.sub("", text)


def clean(text: str | None, limit: int = 160) -> str:
    """Text of others as one harmless line of at most ``limit`` characters.

    Escape codes, control, bidirectional, zero-width and private-use characters go, newlines become
    blanks.
    """
    if not text:
        return ""
    text = text[: limit * 8]
    if not (text.isascii() and text.isprintable()):
        text = "".join(
            " " if char.isspace() else char
            for char in without_escapes(text)
            if char.isspace() or unicodedata.category(char)[0] != "C"
        )
    line = _BLANKS.sub(" ", text).strip()
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def clock(when: datetime, beside: datetime | None = None) -> str:
    """``01:44 UTC``, with the date in front unless ``beside`` is on the same day."""
    when = when.astimezone(UTC)
    if beside is not None and beside.astimezone(UTC).date() == when.date():
        return f"{when:%H:%M} UTC"
    return f"{when:%Y-%m-%d %H:%M} UTC"


def span(length: timedelta) -> str:
    """``22 min``, ``3 h 05 min``, ``2 d 4 h``: rounded down, never negative."""
    seconds = max(0, int(length.total_seconds()))
    if seconds < 60:
        return f"{seconds} s"
    minutes = seconds // 60
    if minutes < 60:
        return f"{minutes} min"
    if minutes < 48 * 60:
        hours, rest = divmod(minutes, 60)
        return f"{hours} h {rest:02d} min" if rest else f"{hours} h"
    days, rest = divmod(minutes // 60, 24)
    return f"{days} d {rest} h" if rest and days < 14 else f"{days} d"


def plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def listed(names: tuple[str, ...], limit: int = 8) -> str:
    """``a, b, c and 4 more``."""
    shown = ", ".join(names[:limit])
    rest = len(names) - limit
    return f"{shown} and {rest} more" if rest > 0 else shown


def moment(text: str, now: datetime) -> datetime | None:
    """A time that someone typed, read against ``now``; ``None`` if it cannot be read. One that is out
    of range is moved into it: nothing is on record beyond.

    ISO 8601 (UTC unless it names a zone), ``2h``, ``90 min ago``, ``yesterday``, ``today``,
    ``monday`` (the last one), ``01:30`` (the last one).
    """
    try:
        read = _moment(text, now)
    except OverflowError:  # 99999 weeks ago
        return FIRST
    except ValueError:
        return None
    return read and nearest(read)


def _moment(text: str, now: datetime) -> datetime | None:
    """Raises ``ValueError`` and ``OverflowError``."""
    text = _BLANKS.sub(" ", text).strip().lower()
    midnight = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    if text == "now":
        return now
    if text in {"today", "midnight", "this morning"}:
        return midnight
    if text == "yesterday":
        return midnight - timedelta(days=1)
    if text in {"last night", "tonight"}:
        return midnight - timedelta(hours=6)
    if text.removeprefix("last ") in _WEEKDAYS:
        back = (now.astimezone(UTC).weekday() - _WEEKDAYS.index(text.removeprefix("last "))) % 7
        return midnight - timedelta(days=back)
    if found := _DURATION.match(text):
        seconds = _UNIT_SECONDS.get(found[2])
        return now - timedelta(seconds=int(found[1]) * seconds) if seconds else None
    if found := _CLOCK.match(text):
        return _last_clock(int(found[1]), int(found[2]), int(found[3] or 0), now)
    read = datetime.fromisoformat(text.upper().replace(" UTC", "Z"))
    return read.replace(tzinfo=UTC) if read.tzinfo is None else read


def _last_clock(hour: int, minute: int, second: int, now: datetime) -> datetime | None:
    if hour > 23 or minute > 59 or second > 59:
        return None
    today = now.astimezone(UTC).replace(hour=hour, minute=minute, second=second, microsecond=0)
    return today if today <= now else today - timedelta(days=1)
