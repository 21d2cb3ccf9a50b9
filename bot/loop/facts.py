"""Facts in text and in results, by value and not by spelling: what the goal check compares (M20).

``5 s`` is ``5s`` is ``5000ms``; 02:14 UTC is 03:14+01:00; a short SHA is the long one it begins.
Pure. Knows neither claims nor the loop's state.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import NamedTuple

from bot.loop.entities import find_services
from bot.loop.times import zone_offset


class FactKind(StrEnum):
    URL = "URL"
    TIME = "time"
    DATE = "date"
    DURATION = "duration"
    SHA = "SHA"
    DEPLOY = "deploy number"
    VERSION = "version"
    PATH = "file"
    PERCENT = "percentage"
    NUMBER = "number"
    COUNT = "count"
    NAME = "name"
    SERVICE = "service"
    CODE = "quoted code"
    QUOTE = "quotation"
    PERSON = "person"
    INCIDENT = "incident id"


class Fact(NamedTuple):
    """``value`` is normal: seconds, minutes of the UTC day, lower case. ``said`` is how it stood."""

    kind: FactKind
    value: str
    said: str


_URL = re.compile(r"https?://[^\s<>\"'`)\]]+")
_ISO = re.compile(
    r"\b(\d{4}-\d{2}-\d{2})[T ](\d{1,2}):(\d{2})(?::(\d{2}))?(?:\.\d+)?"
    r"\s?(Z|UTC|GMT|[+-]\d{2}:?\d{2})?",
)
_CLOCK = re.compile(
    r"(?<![\d:.-])([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?\s?(Z\b|UTC\b|GMT\b|[+-]\d{2}:?\d{2}\b)?"
)
_DATE = re.compile(r"\b(\d{4}-\d{2}-\d{2})\b")
_DURATION = re.compile(
    r"(?<![\w.])(\d{1,12}(?:\.\d{1,6})?)\s?"
    r"(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)\b"
)
_COMPOUND = re.compile(
    r"(?<![\w.])(\d{1,5})\s?(d|h|m)(?:ays?|ours?|rs?|in|ins|inutes?)?"
    r"\s(\d{1,2})\s?(h|m|s)(?:ours?|rs?|in|ins|inutes?|ecs?)?\b"
)
_INCIDENT = re.compile(r"\b[A-Z][A-Z0-9]{1,9}-\d{1,8}\b")
_SECONDS = {"ms": 0.001, "mi": 60.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_SHA = re.compile(r"(?<![\w-])(?=[0-9a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}(?![\w-])", re.IGNORECASE)
_DEPLOY = re.compile(
    r"\b(?:deploys?|deployments?|releases?)\s+#?(\d{1,40})\b|(?<![\w&])#(\d{1,10})\b", re.IGNORECASE
)
_VERSION = re.compile(r"(?<![\w.])v?(\d+(?:\.\d+)+(?:[-+.]?[0-9A-Za-z]+)*)(?!\w)")
_PATH = re.compile(
    r"(?<![\w@:/])(?:[\w.@+-]++/)+[\w@+-]*(?:\.[\w@+-]+)+|(?<![\w@:/])(?:[\w.@+-]++/){2,}[\w@+-]+"
    r"|(?<![\w@/.])[\w-]++(?:\.[\w-]+)*\.(?:ya?ml|toml|json|py|"
    r"js|ts|go|rs|java|rb|md|rst|txt|cfg|ini|env|tf|hcl|lock|sql|sh|properties|c|h|cpp|kt|cs|php|html)\b"
)
_NAMED_SHA = re.compile(r"\b(?:commit|sha|revision)\s+([0-9a-f]{7,40})\b", re.IGNORECASE)
_COUNTED = re.compile(
    r"(?<![\w.,])(?:(?P<n>\d[\d,]*)\s+(?:(?:changed\s+|new\s+)?(?P<what>files?|commits?)"
    r"|lines?\s+(?:were\s+)?(?P<done>added|removed|deleted)|(?P<kind>additions?|deletions?)))\b"
    r"|\b(?P<verb>added|removed|deleted)\s+(?P<m>\d[\d,]*)\s+lines?\b"
    r"|(?<![\w.])(?P<sign>[+−])(?P<k>\d[\d,]*)(?![\w.:])",
    re.IGNORECASE,
)
_COUNT_ROLES = {"d": "removed", "r": "removed", "−": "removed", "+": "added", "a": "added"}
_NO_NAMES = (
    r"(?!(?:the|a|an|this|that|its|last|latest|first|second|next|previous|no|each|every|of|in|by|for"
    r"|with|and|or|is|was|to|as|at|on|new|old|earlier|later|successful|failed|version|release|tag|from"
    r"|are|were|be|been|has|have|had|did|does|do|changed|finished|shipped|via|until|since|through"
    r"|into|over|under|about|around|between|only|also|same|then|than|production|staging|bad|good|docs|base|before|after|against|nearest"
    r"|runner-up|likely|one|two|all|both|any|named|commit|which|when|while|since|python|node)\b)"
)
_NAMED = re.compile(
    r"\b(?=[a-z][\w-]++\s++(?:(?:deploy|release)\s+#?\d|depends\s+on\b"
    r"|v?\d+\.\d+(?:\.\d+)?\b(?!\s?(?:%|ms|s|min|h)\b)))"
    rf"{_NO_NAMES}(?P<before>[a-z][\w-]+)\s+"
    rf"|\b(?:deploy|release)\s+#?\d+\s+\({_NO_NAMES}(?P<inside>[a-z][\w-]+)(?=[,)])"
    rf"|\bdepends\s+on\s+{_NO_NAMES}(?P<used>[a-z][\w-]+)",
    re.IGNORECASE,
)
"""What stands before a deploy, a version or "depends on" is a name, whether or not it is known. The
words that are none are looked at last: it is the dearest look.
"""
_PERCENT = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)\s?%")
_NUMBER = re.compile(r"(?<![\w.])(\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?)(?![\w%]|\.\d)")
_CODE = re.compile(r"`([^`\n]+)`")
_QUOTE = re.compile(r"“([^“”]{2,})”|\"([^\"\n]{2,})\"")
_PERSON = re.compile(
    r"\bby\s+(?!(?:default|design|hand|then|now|far|itself|deploy|the|a|an)\b)"
    r"(@?[A-Z][\w'’-]*(?:\s[A-Z][\w'’-]*){0,3}|@?[a-z]\w*[.-][\w.-]*\w|@\w+"
    r"|(?<=deployed by )\w+|(?<=shipped by )\w+|(?<=released by )\w+|(?<=authored by )\w+)"
)


def _duration_seconds(amount: str, unit: str) -> float:
    unit = unit.lower()
    if unit == "ms" or unit.startswith("milli"):
        return float(amount) * 0.001
    return float(amount) * _SECONDS[unit[0]]


def folded(text: str) -> str:
    """Lower case, one blank for any run of white space."""
    return " ".join(text.lower().split())


def _clock_value(match: re.Match[str]) -> str:
    hour, minute = int(match[1]), int(match[2])
    offset = zone_offset((match[4] or "").strip() or None)
    minutes = (hour * 60 + minute - int(offset.total_seconds() // 60)) % (24 * 60)
    return f"{minutes // 60:02}:{minutes % 60:02}"


def _iso_time(match: re.Match[str]) -> datetime | None:
    try:
        at = datetime.fromisoformat(f"{match[1]}T{int(match[2]):02}:{match[3]}:{match[4] or '00'}")
    except ValueError:
        return None
    return at.replace(tzinfo=UTC) - zone_offset((match[5] or "").strip() or None)


def facts_in(text: str, catalog: Mapping[str, str]) -> tuple[Fact, ...]:
    """Every fact that a sentence states, each kind by its own shape; what one kind took, no other
    takes. ``catalog`` maps words to services.
    """
    found: list[Fact] = []
    there = _characters(text)
    rest = _taken(_QUOTED, text, there, found)
    if not _TICK.isdisjoint(there):
        found += [Fact(FactKind.CODE, folded(m[1]), m[0]) for m in _CODE.finditer(rest)]
        rest = _CODE.sub(lambda m: _opened(m[0]), rest)
    rest = _taken(_PEOPLE, rest, there, found)
    if not _COLON.isdisjoint(there):
        for match in _ISO.finditer(rest):
            if at := _iso_time(match):
                found.append(Fact(FactKind.DATE, at.date().isoformat(), match[0]))
                found.append(Fact(FactKind.TIME, f"{at:%H:%M}", match[0]))
        rest = _ISO.sub(_blank, rest)
    rest = _taken(_MEASURES, rest, there, found)
    services = find_services(rest, catalog)
    found += [Fact(FactKind.SERVICE, name, name) for name in services]
    for match in _NAMED.finditer(rest):
        name = next(group for group in match.groups() if group)
        if catalog.get(name.lower()) not in services and "." not in name:
            found.append(Fact(FactKind.NAME, name.lower(), name))
    _taken(_NUMBERS, rest, there, found)
    return tuple(dict.fromkeys(found))


def _characters(text: str) -> AbstractSet[str]:
    """Those of the text; all, if it has letters or digits beyond ASCII: some are taken for others."""
    there = set(text)
    return _ALL if any(map(str.isalnum, there - _ALL)) else there


def _taken(shapes: Sequence[_Shape], text: str, there: AbstractSet[str], found: list[Fact]) -> str:
    """The text with blanks for what these shapes took; the facts are added to ``found``."""
    lowered = text.lower()
    for shape in shapes:
        if shape.may_be_in(lowered, there):
            for match in list(shape.pattern.finditer(text)):
                found.append(Fact(shape.kind, shape.value(match), match[0].strip()))
                text = f"{text[: match.start()]}{_blank(match)}{text[match.end() :]}"
    return text


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _count_value(match: re.Match[str]) -> str:
    """``files 12``, ``commits 4``, ``added 80``: the number with what it counts."""
    number = (match["n"] or match["m"] or match["k"]).replace(",", "")
    if match["what"]:
        return f"{match['what'].lower().rstrip('s')}s {number}"
    role = match["done"] or match["kind"] or match["verb"] or match["sign"]
    return f"{_COUNT_ROLES[role[0].lower()]} {number}"


def _opened(code: str) -> str:
    """A simple name in backticks is read like plain text; longer code stands for itself alone."""
    return f" {code[1:-1]} " if re.fullmatch(r"`#?[\w.+-]+`", code) else " " * len(code)


@dataclass(frozen=True)
class _Shape:
    """``needs``: characters of which a text holds at least one, or it is not searched; and one of
    the ``words``, where there are any.
    """

    kind: FactKind
    pattern: re.Pattern[str]
    needs: frozenset[str]
    value: Callable[[re.Match[str]], str]
    words: tuple[str, ...] = ()

    def may_be_in(self, lowered: str, there: AbstractSet[str]) -> bool:
        if self.needs.isdisjoint(there):
            return False
        return not self.words or there is _ALL or any(word in lowered for word in self.words)


_DIGITS = frozenset("0123456789")
_COLON = frozenset(":")
_DASH = frozenset("-")
_TICK = frozenset("`")
_ALL = frozenset(map(chr, range(128)))

_QUOTED = (
    _Shape(FactKind.QUOTE, _QUOTE, frozenset('“"'), lambda m: folded(m[1] or m[2])),
    _Shape(FactKind.URL, _URL, _COLON, lambda m: m[0].rstrip(".,;:")),
)
_PEOPLE = (
    _Shape(FactKind.INCIDENT, _INCIDENT, _DASH, lambda m: m[0].lower()),
    _Shape(FactKind.PERSON, _PERSON, frozenset("y"), lambda m: m[1].lower()),
)
_MEASURES = (
    _Shape(FactKind.SHA, _NAMED_SHA, _ALL, lambda m: m[1].lower(), ("commit", "sha", "revision")),
    _Shape(FactKind.DATE, _DATE, _DASH, lambda m: m[1]),
    _Shape(FactKind.TIME, _CLOCK, _COLON, _clock_value),
    _Shape(
        FactKind.DURATION,
        _COMPOUND,
        _DIGITS,
        lambda m: f"{int(m[1]) * _SECONDS[m[2]] + int(m[3]) * _SECONDS[m[4]]:g}",
    ),
    _Shape(FactKind.DURATION, _DURATION, _DIGITS, lambda m: f"{_duration_seconds(m[1], m[2]):g}"),
    _Shape(FactKind.PERCENT, _PERCENT, frozenset("%"), lambda m: f"{float(m[1]):g}"),
    _Shape(FactKind.PATH, _PATH, frozenset("/."), lambda m: m[0]),
)
_NUMBERS = (
    _Shape(
        FactKind.COUNT,
        _COUNTED,
        _DIGITS,
        _count_value,
        ("file", "commit", "line", "addition", "deletion", "+", "−"),
    ),
    _Shape(FactKind.SHA, _SHA, _DIGITS, lambda m: m[0].lower()),
    _Shape(FactKind.DEPLOY, _DEPLOY, _DIGITS, lambda m: m[1] or m[2], ("deploy", "release", "#")),
    _Shape(FactKind.VERSION, _VERSION, frozenset("."), lambda m: m[1].lower()),
    _Shape(
        FactKind.NUMBER,
        _NUMBER,
        _DIGITS,
        lambda m: f"{float(m[1].replace(',', '')):.12g}",
    ),
)
"""What each kind looks like, in the order in which they take from a text."""
