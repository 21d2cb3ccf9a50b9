"""Facts in text and in results, by value and not by spelling: what the goal check compares (M20).

``5 s`` is ``5s`` is ``5000ms``; 02:14 UTC is 03:14+01:00; a short SHA is the long one it begins.
Pure. Knows neither claims nor the loop's state.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from functools import partial
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
_FILE_ENDING = (
    r"\.(?:ya?ml|toml|json|py|js|ts|go|rs|java|rb|md|rst|txt|cfg|ini|env|tf|hcl|lock|sql|sh|properties"
    r"|c|h|cpp|kt|cs|php|html)"
)
_PATH = re.compile(
    r"[\w.@+-](?<![\w@/].)(?:(?<!:.)(?<![\w.@+-][.@+-].)[\w.@+-]*+/"
    r"(?:(?:[\w.@+-]++/)*[\w@+-]*(?:\.[\w@+-]+)+|(?:[\w.@+-]++/)+[\w@+-]+)"
    rf"|(?<=[\w-])(?<!\..)(?<![\w-]-.)[\w-]*+(?:\.[\w-]+)*{_FILE_ENDING}\b)"
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
    r"|runner-up|likely|one|two|all|both|any|named|commit|which|when|while|since|python|node|caused|triggered|broken|blame|it)(?![\w-]))"
)
_NAMED = re.compile(
    r"\b(?<!-)(?:(?=[a-z][\w-]++\s++(?:(?:deploy|release)\s+#?\d|depends\s+on\b"
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
_SIMPLE = re.compile(r"`#?[\w.+-]+`")
_QUOTE = re.compile(r"“([^“”]{2,})”|\"([^\"\n]{2,})\"")
_PERSON = re.compile(
    r"\bby\s+(?!(?:default|design|hand|then|now|far|itself|deploy|the|a|an)\b)"
    r"(@?[A-Z][\w'’-]*(?:\s[A-Z][\w'’-]*){0,3}|@?[a-z]\w*[.-][\w.-]*\w|@\w+"
    r"|(?<=deployed by )\w+|(?<=shipped by )\w+|(?<=released by )\w+|(?<=authored by )\w+)"
    r"|(@(?<![\w.@/].)[A-Za-z](?:[\w.-]*\w)?)(?![\w/])"
)


def _duration_value(match: re.Match[str]) -> str:
    unit = match[2]
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
    """In UTC; ``None`` when the calendar has no such moment."""
    try:
        at = datetime.fromisoformat(f"{match[1]}T{int(match[2]):02}:{match[3]}:{match[4] or '00'}")
        return at - zone_offset(match[5])
    except (ValueError, OverflowError):
        return None


def facts_in(text: str, catalog: Mapping[str, str]) -> tuple[Fact, ...]:
    """Every fact that a sentence states, each kind by its own shape; what one kind took, no other
    takes. ``catalog`` maps words to services.
    """
    rest = _Rest(text)
    rest.take(_QUOTED)
    rest.take_codes()
    rest.take(_PEOPLE)
    rest.take_times()
    rest.take(_MEASURES)
    services = find_services(rest.text, catalog)
    found = rest.facts
    found += [Fact(FactKind.SERVICE, name, name) for name in services]
    for match in rest.names():
        name = match["before"] or match["inside"] or match["used"]
        if catalog.get(name.lower()) not in services and "." not in name:
            found.append(Fact(FactKind.NAME, name.lower(), name))
    rest.take(_NUMBERS)
    return tuple(dict.fromkeys(found))


class FactReader:
    """Reads the texts of one check, each once: a page repeats lines, a row what the last one says."""

    def __init__(self, catalog: Mapping[str, str]) -> None:
        self.catalog = catalog
        self._read: dict[str, tuple[Fact, ...]] = {}

    def __call__(self, text: str) -> tuple[Fact, ...]:
        if (read := self._read.get(text)) is None:
            read = self._read[text] = facts_in(text, self.catalog)
        return read


class _Rest:
    """A text with blanks for what was taken from it, and the facts that were.

    Its outline tells at a glance which shapes it cannot hold, but where letters, digits or spaces
    beyond ASCII stand: patterns take some of those for others.
    """

    def __init__(self, text: str) -> None:
        self.facts: list[Fact] = []
        self.text = text
        self._outline = _outline(text)
        self._foreign = not text.isascii() and _FOREIGN.search(text)

    def take(self, shapes: Sequence[_Shape]) -> None:
        foreign = self._foreign
        for look, pattern, kind, value in shapes:
            if foreign or look(self._outline):
                self._take(pattern, partial(self._fact, kind, value))

    def take_codes(self) -> None:
        """The code in backticks; what may be a plain name stays to be read."""
        if "`" in self.text:
            self._take(_CODE, self._code)

    def take_times(self) -> None:
        """The times with a date, each as both."""
        if self._foreign or "-00-00" in self._outline:
            self._take(_ISO, self._time)

    def names(self) -> Iterable[re.Match[str]]:
        """What stands where a name does. It stays to be read."""
        return _NAMED.finditer(self.text) if self._foreign or _names(self._outline) else ()

    def _take(self, pattern: re.Pattern[str], taken: Callable[[re.Match[str]], str]) -> None:
        self.text, count = pattern.subn(taken, self.text)
        if count:
            self._outline = _outline(self.text)

    def _fact(self, kind: FactKind, value: _Value, match: re.Match[str]) -> str:
        said = match[0]
        self.facts.append(Fact(kind, value(match), said.strip()))
        return " " * len(said)

    def _code(self, match: re.Match[str]) -> str:
        said = match[0]
        self.facts.append(Fact(FactKind.CODE, folded(match[1]), said))
        return f" {match[1]} " if _SIMPLE.fullmatch(said) else " " * len(said)

    def _time(self, match: re.Match[str]) -> str:
        said = match[0]
        if at := _iso_time(match):
            day, time = at.isoformat().split("T")
            self.facts.append(Fact(FactKind.DATE, day, said))
            self.facts.append(Fact(FactKind.TIME, time[:5], said))
        return " " * len(said)


def _outline(text: str) -> str:
    """The text in lower case, with a 0 for any digit, a blank for any white space, and no more of
    what is beyond ASCII than the signs that a shape may need, as like ones.
    """
    if not text.isascii():
        for sign, like in _SIGNS:
            text = text.replace(sign, like)
    return text.encode("ascii", "replace").translate(_PLAIN).decode()


def _count_value(match: re.Match[str]) -> str:
    """``files 12``, ``commits 4``, ``added 80``: the number with what it counts."""
    number = (match["n"] or match["m"] or match["k"]).replace(",", "")
    if match["what"]:
        return f"{match['what'].lower().rstrip('s')}s {number}"
    role = match["done"] or match["kind"] or match["verb"] or match["sign"]
    return f"{_COUNT_ROLES[role[0].lower()]} {number}"


_Value = Callable[[re.Match[str]], str]


class _Shape(NamedTuple):
    """``look`` says of an outline whether ``pattern`` may find something in its text: at a tenth of
    the cost.
    """

    look: Callable[[str], object]
    pattern: re.Pattern[str]
    kind: FactKind
    value: _Value


def _names(outline: str) -> bool:
    after = " deploy " in outline or " release " in outline or "0.0" in outline
    return after or " (" in outline or "depends " in outline


def _counts(outline: str) -> bool:
    files = "file" in outline or "commit" in outline or "line" in outline
    return files or "+0" in outline or "addition" in outline or "deletion" in outline


_FOREIGN = re.compile(r"[^\x00-\x7f](?<=[\w\s])")
_SIGNS = (("“", '"'), ("−", "+"), ("×", "x"))
_PLAIN = bytes(
    ord("0" if char.isdigit() else " " if char.isspace() else char.lower())
    for char in map(chr, range(256))
)
_ENDS = re.compile(r"\.[yptjgrmceihlsk]")
# In the order in which they take from a text; between them stand those with rules of their own.
_QUOTED = (
    _Shape(lambda o: '"' in o, _QUOTE, FactKind.QUOTE, lambda m: folded(m[1] or m[2])),
    _Shape(lambda o: "://" in o or "www." in o, _URL, FactKind.URL, lambda m: m[0].rstrip(".,;:")),
)
_PEOPLE = (
    _Shape(lambda o: "-0" in o, _INCIDENT, FactKind.INCIDENT, lambda m: m[0].lower()),
    _Shape(lambda o: "by " in o or "@" in o, _PERSON, FactKind.PERSON, _person_value),
)
_MEASURES = (
    _Shape(
        lambda o: "commit " in o or "sha " in o or "revision " in o,
        _NAMED_SHA,
        FactKind.SHA,
        lambda m: m[1].lower(),
    ),
    _Shape(lambda o: "-00-00" in o, _DATE, FactKind.DATE, lambda m: m[1]),
    _Shape(lambda o: "0:00" in o, _CLOCK, FactKind.TIME, _clock_value),
    _Shape(re.compile("0 ?[dhm][a-z]* 0").search, _COMPOUND, FactKind.DURATION, _compound_value),
    _Shape(re.compile("0 ?[mshdw]").search, _DURATION, FactKind.DURATION, _duration_value),
    _Shape(lambda o: "%" in o, _PERCENT, FactKind.PERCENT, lambda m: f"{float(m[1]):g}"),
    _Shape(lambda o: "/" in o or _ENDS.search(o), _PATH, FactKind.PATH, lambda m: m[0]),
)
_NUMBERS = (
    _Shape(re.compile("0 ?[kmgtx]").search, _AMOUNT, FactKind.NUMBER, _amount_value),
    _Shape(_counts, _COUNTED, FactKind.COUNT, _count_value),
    _Shape(re.compile("0(?:[a-f]|(?<=[a-f]0))").search, _SHA, FactKind.SHA, lambda m: m[0].lower()),
    _Shape(lambda o: "deploy" in o or "release" in o, _DEPLOY, FactKind.DEPLOY, lambda m: m[1]),
    _Shape(lambda o: "#0" in o, _HASHED, FactKind.DEPLOY, lambda m: m[1]),
    _Shape(lambda o: "0.0" in o, _VERSION, FactKind.VERSION, lambda m: m[0].lower().lstrip("v")),
    _Shape(lambda o: "0" in o, _NUMBER, FactKind.NUMBER, _number_value),
)
