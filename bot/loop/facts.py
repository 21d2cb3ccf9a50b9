"""Facts in text and in results, by value and not by spelling: what the goal check compares (M20).

``5 s`` is ``5s`` is ``5000ms``; 02:14 UTC is 03:14+01:00; a short SHA is the long one it begins.
Pure. Knows neither claims nor the loop's state.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache
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


# A pattern begins with its first character wherever one is known, and looks back over it for what
# may not stand before: so a search leaps from digit to digit, and tries no other place.
_URL = re.compile(r"(?:[hH](?i:ttps?)://|[fF](?i:tp)://|[wW](?<!\w.)(?i:ww)\.)[^\s<>\"'`)\]]+")
_ISO = re.compile(
    r"(\d(?<!\w.)\d{3}-\d{2}-\d{2})[T ](\d{1,2}):(\d{2})(?::(\d{2}))?(?:\.\d+)?"
    r"\s?(Z|UTC|GMT|[+-]\d{2}:?\d{2})?",
)
_CLOCK = re.compile(
    r"(\d(?<![\d:.-].)(?:(?<=[01])\d|(?<=2)[0-3])?):([0-5]\d)(?::([0-5]\d))?\s?(Z\b|UTC\b|GMT\b|[+-]\d{2}:?\d{2}\b)?"
)
_DATE = re.compile(r"(\d(?<!\w.)\d{3}-\d{2}-\d{2})\b")
_DURATION = re.compile(
    r"(\d(?<![\w.].)\d{0,11}(?:\.\d{1,6})?)\s?"
    r"(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)\b"
)
_COMPOUND = re.compile(
    r"(\d(?<![\w.].)\d{0,4})\s?(d|h|m)(?:ays?|ours?|rs?|in|ins|inutes?)?"
    r"\s(\d{1,2})\s?(h|m|s)(?:ours?|rs?|in|ins|inutes?|ecs?)?\b"
)
_INCIDENT = re.compile(r"[A-Z](?<!\w.)[A-Z0-9]{1,9}-\d{1,8}\b")
_SECONDS = {"ms": 0.001, "mi": 60.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_SHA = re.compile(
    r"[0-9a-fA-F](?<![\w-].)(?:(?<=\d)(?=\d*[a-fA-F])|(?<=\D)(?=[a-fA-F]*\d))[0-9a-fA-F]{6,39}(?![\w-])"
)
_DEPLOY = re.compile(r"[dDrR](?<!\w.)(?i:(?<=d)eploy(?:s|ments?)?|(?<=r)eleases?)\s+#?(\d{1,40})\b")
_HASHED = re.compile(r"(?<![\w&])#(\d{1,10})\b")
_VERSION = re.compile(
    r"[v\d](?<![\w.].)(?:(?<=v)\d+|(?<=\d)\d*)(?:\.\d+)+(?:[-+.]?[0-9A-Za-z]+)*(?!\w)"
)
_FILE_ENDING = re.compile(
    r"\.(?:ya?ml|toml|json|py|js|ts|go|rs|java|rb|md|rst|txt|cfg|ini|env|tf|hcl|lock|sql|sh|properties"
    r"|c|h|cpp|kt|cs|php|html)"
)
_PATH = re.compile(
    r"(?<![\w@/])(?:(?<!:)(?<![\w.@+-][.@+-])(?=[\w.@+-]++/)"
    r"(?:(?:[\w.@+-]++/)+[\w@+-]*(?:\.[\w@+-]+)+|(?:[\w.@+-]++/){2,}[\w@+-]+)"
    rf"|(?<!\.)(?<![\w-]-)[\w-]++(?:\.[\w-]+)*{_FILE_ENDING.pattern}\b)"
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
    r"|runner-up|likely|one|two|all|both|any|named|commit|which|when|while|since|python|node)(?![\w-]))"
)
_NAMED = re.compile(
    r"(?<![\w-])(?:(?=[a-z][\w-]++\s++(?:(?:deploy|release)\s+#?\d|depends\s+on\b"
    r"|v?\d+\.\d+(?:\.\d+)?\b(?!\s?(?:%|ms|s|min|h)\b)))"
    rf"{_NO_NAMES}(?P<before>[a-z][\w-]+)\s+"
    rf"|(?:deploy|release)\s+#?\d+\s+\({_NO_NAMES}(?P<inside>[a-z][\w-]+)(?=[,)])"
    rf"|depends\s+on\s+{_NO_NAMES}(?P<used>[a-z][\w-]+))",
    re.IGNORECASE,
)
"""What stands before a deploy, a version or "depends on" is a name, whether or not it is known. The
words that are none are looked at last: it is the dearest look.
"""
_PERCENT = re.compile(r"(\d(?<![\w.].)\d*(?:\.\d+)?)\s?%")
_NUMBER = re.compile(r"(\d(?<![\w.].)(?:\d{0,2}(?:,\d{3})+|\d*(?:\.\d+)?))(?![\w%]|\.\d)")
_AMOUNT = re.compile(
    r"(\d(?<![\w.].)(?<!\d,.)\d*+(?:[.,]\d++)*+)(?:([kKMGT]i?[bB]?|[x×])|\s([kKMGT]i?[bB]))(?![\w%])"
)
"""A number with its unit grown on: ``10k``, ``512MB``, ``3x``."""
_CODE = re.compile(r"`([^`\n]+)`")
_QUOTE = re.compile(r"“([^“”]{2,})”|\"([^\"\n]{2,})\"")
_PERSON = re.compile(
    r"\bby\s+(?!(?:default|design|hand|then|now|far|itself|deploy|the|a|an)\b)"
    r"(@?[A-Z][\w'’-]*(?:\s[A-Z][\w'’-]*){0,3}|@?[a-z]\w*[.-][\w.-]*\w|@\w+"
    r"|(?<=deployed by )\w+|(?<=shipped by )\w+|(?<=released by )\w+|(?<=authored by )\w+)"
    r"|(@(?<![\w.@/].)[A-Za-z](?:[\w.-]*\w)?)(?![\w/])"
)


def _duration_value(match: re.Match[str]) -> str:
    unit = match[2].lower()
    milli = unit == "ms" or unit.startswith("milli")
    return f"{float(match[1]) * (0.001 if milli else _SECONDS[unit[0]]):g}"


def _compound_value(match: re.Match[str]) -> str:
    return f"{int(match[1]) * _SECONDS[match[2]] + int(match[3]) * _SECONDS[match[4]]:g}"


def _number_value(match: re.Match[str]) -> str:
    """Whole numbers to the last digit: an id or a time in milliseconds is another one nearby."""
    digits = match[1].replace(",", "")
    return f"{float(digits):.12g}" if "." in digits else digits.lstrip("0") or "0"


def _amount_value(match: re.Match[str]) -> str:
    return f"{match[1]}{match[2] or match[3]}".lower()


def _person_value(match: re.Match[str]) -> str:
    return (match[1] or match[2]).lower()


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
    marks = _marks(text)
    shapes = _shapes(marks)
    rest = _taken(shapes.quoted, text, found)
    if "`" in marks:
        found += [Fact(FactKind.CODE, folded(m[1]), m[0]) for m in _CODE.finditer(rest)]
        rest = _CODE.sub(lambda m: _opened(m[0]), rest)
    rest = _taken(shapes.people, rest, found)
    if ":" in marks:
        for match in _ISO.finditer(rest):
            if at := _iso_time(match):
                found.append(Fact(FactKind.DATE, at.date().isoformat(), match[0]))
                found.append(Fact(FactKind.TIME, f"{at:%H:%M}", match[0]))
        rest = _ISO.sub(lambda m: " " * len(m[0]), rest)
    rest = _taken(shapes.measures, rest, found)
    services = find_services(rest, catalog)
    found += [Fact(FactKind.SERVICE, name, name) for name in services]
    for match in _NAMED.finditer(rest) if marks & _NAMING else ():
        name = next(group for group in match.groups() if group)
        if catalog.get(name.lower()) not in services and "." not in name:
            found.append(Fact(FactKind.NAME, name.lower(), name))
    _taken(shapes.numbers, rest, found)
    return tuple(dict.fromkeys(found))


def _marks(text: str) -> frozenset[str]:
    """What of a text tells, at a glance, which shapes it cannot hold. All of it, if the text has
    letters or digits beyond ASCII, since patterns take some of those for others.
    """
    there = set(text)
    if any(map(str.isalnum, there - _ASCII)):
        return _MARKS
    lowered = text.lower()
    words = [word for word in _WORDS if word in lowered]
    if not there.isdisjoint(_DIGITS):
        words.append(_DIGIT)
    if "." in there and _FILE_ENDING.search(text):
        words.append(_ENDING)
    return frozenset([*(there & _SIGNS), *words])


def _taken(shapes: Sequence[_Shape], text: str, found: list[Fact]) -> str:
    """The text with blanks for what these shapes took; the facts are added to ``found``."""
    for _, pattern, kind, value in shapes:
        for match in list(pattern.finditer(text)):
            said = match[0]
            found.append(Fact(kind, value(match), said.strip()))
            text = f"{text[: match.start()]}{' ' * len(said)}{text[match.end() :]}"
    return text


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


class _Shape(NamedTuple):
    """``needs``: a text with none of these marks is not searched."""

    needs: frozenset[str]
    pattern: re.Pattern[str]
    kind: FactKind
    value: Callable[[re.Match[str]], str]


class _Shapes(NamedTuple):
    """In the order in which they take from a text; between them stand those with rules of their own."""

    quoted: tuple[_Shape, ...]
    people: tuple[_Shape, ...]
    measures: tuple[_Shape, ...]
    numbers: tuple[_Shape, ...]


_DIGITS = frozenset("0123456789")
_ASCII = frozenset(map(chr, range(128)))

_DIGIT = "0"
"""The mark of any digit."""
_ENDING = ".x"
"""The mark of a file's name."""
_COLON = frozenset(":")
_DASH = frozenset("-")
_DOT = frozenset(".")
_NUMBERED = frozenset({_DIGIT})
_COUNTING = frozenset({"file", "commit", "line", "addition", "deletion", "+", "−"})
_DEPLOYING = frozenset({"deploy", "release"})
_FILING = frozenset({"/", _ENDING})
_NAMING = frozenset({"deploy", "release", "depends", "."})
_COMMITTING = frozenset({"commit", "sha", "revision"})
_EVERY = _Shapes(
    quoted=(
        _Shape(frozenset('“"'), _QUOTE, FactKind.QUOTE, lambda m: folded(m[1] or m[2])),
        _Shape(frozenset({":", "www."}), _URL, FactKind.URL, lambda m: m[0].rstrip(".,;:")),
    ),
    people=(
        _Shape(_DASH, _INCIDENT, FactKind.INCIDENT, lambda m: m[0].lower()),
        _Shape(frozenset({"by", "@"}), _PERSON, FactKind.PERSON, _person_value),
    ),
    measures=(
        _Shape(_COMMITTING, _NAMED_SHA, FactKind.SHA, lambda m: m[1].lower()),
        _Shape(_DASH, _DATE, FactKind.DATE, lambda m: m[1]),
        _Shape(_COLON, _CLOCK, FactKind.TIME, _clock_value),
        _Shape(_NUMBERED, _COMPOUND, FactKind.DURATION, _compound_value),
        _Shape(_NUMBERED, _DURATION, FactKind.DURATION, _duration_value),
        _Shape(frozenset("%"), _PERCENT, FactKind.PERCENT, lambda m: f"{float(m[1]):g}"),
        _Shape(_FILING, _PATH, FactKind.PATH, lambda m: m[0]),
    ),
    numbers=(
        _Shape(_NUMBERED, _AMOUNT, FactKind.NUMBER, _amount_value),
        _Shape(_COUNTING, _COUNTED, FactKind.COUNT, _count_value),
        _Shape(_NUMBERED, _SHA, FactKind.SHA, lambda m: m[0].lower()),
        _Shape(_DEPLOYING, _DEPLOY, FactKind.DEPLOY, lambda m: m[1]),
        _Shape(frozenset("#"), _HASHED, FactKind.DEPLOY, lambda m: m[1]),
        _Shape(_DOT, _VERSION, FactKind.VERSION, lambda m: m[0].lower().lstrip("v")),
        _Shape(_NUMBERED, _NUMBER, FactKind.NUMBER, _number_value),
    ),
)
_MARKS = _NAMING.union("`", *(shape.needs for group in _EVERY for shape in group))
_SIGNS = frozenset(mark for mark in _MARKS if len(mark) == 1 and mark != _DIGIT)
_WORDS = tuple(sorted(mark for mark in _MARKS if len(mark) > 1 and mark != _ENDING))


@lru_cache
def _shapes(marks: frozenset[str]) -> _Shapes:
    """Those that a text with these marks can hold."""
    return _Shapes(
        *(tuple(one for one in group if not one.needs.isdisjoint(marks)) for group in _EVERY)
    )
