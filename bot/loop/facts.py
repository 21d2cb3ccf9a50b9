"""Facts in text and in results, by value and not by spelling: what the goal check compares (M20).

``5 s`` is ``5s`` is ``5000ms``; 02:14 UTC is 03:14+01:00; a short SHA is the long one it begins.
Pure. Knows neither claims nor the loop's state.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum

from pydantic import BaseModel

from bot.loop.question import find_services
from bot.loop.times import zone_offset
from tools.records import Record


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
    SERVICE = "service"
    CODE = "quoted code"
    INCIDENT = "incident id"


@dataclass(frozen=True)
class Fact:
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
    r"\b(?:deploys?|deployments?|releases?)\s+#?(\d{1,10})\b|(?<![\w&])#(\d{1,10})\b", re.IGNORECASE
)
_VERSION = re.compile(r"(?<![\w.])v?(\d+(?:\.\d+)+(?:[-+.]?[0-9A-Za-z]+)*)(?!\w)")
_PATH = re.compile(
    r"(?<![\w@:/])(?:[\w.@+-]+/)+[\w.@+-]*[\w]|(?<![\w@/.])[\w-]+(?:\.[\w-]+)*\.(?:ya?ml|toml|json|py|"
    r"js|ts|go|rs|java|rb|md|rst|txt|cfg|ini|env|tf|hcl|lock|sql|sh|properties|c|h|cpp|kt|cs|php|html)\b"
)
_PERCENT = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)\s?%")
_NUMBER = re.compile(r"(?<![\w.])(\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?)(?![\w%]|\.\d)")
_CODE = re.compile(r"`([^`\n]+)`")


def _duration_seconds(amount: str, unit: str) -> float:
    unit = unit.lower()
    if unit == "ms" or unit.startswith("milli"):
        return float(amount) * 0.001
    return float(amount) * _SECONDS[unit[0]]


def _clock_fact(match: re.Match[str], first: int) -> str:
    hour, minute = int(match[first]), int(match[first + 1])
    offset = zone_offset((match[first + 3] or "").strip() or None)
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
    rest = text

    def take(
        pattern: re.Pattern[str], kind: FactKind, value: Callable[[re.Match[str]], str]
    ) -> None:
        nonlocal rest
        for match in pattern.finditer(rest):
            found.append(Fact(kind, value(match), match[0].strip()))
        rest = pattern.sub(lambda m: " " * len(m[0]), rest)

    found += [Fact(FactKind.CODE, _folded(code[1]), code[0]) for code in _CODE.finditer(text)]
    found += [Fact(FactKind.SERVICE, name, name) for name in find_services(text, catalog)]
    take(_URL, FactKind.URL, lambda m: m[0].rstrip(".,;:"))
    take(_INCIDENT, FactKind.INCIDENT, lambda m: m[0].lower())
    for match in _ISO.finditer(rest):
        if at := _iso_time(match):
            found.append(Fact(FactKind.DATE, at.date().isoformat(), match[0]))
            found.append(Fact(FactKind.TIME, f"{at:%H:%M}", match[0]))
    rest = _ISO.sub(lambda m: " " * len(m[0]), rest)
    take(_DATE, FactKind.DATE, lambda m: m[1])
    take(_CLOCK, FactKind.TIME, lambda m: _clock_fact(m, 1))
    take(
        _COMPOUND,
        FactKind.DURATION,
        lambda m: f"{int(m[1]) * _SECONDS[m[2]] + int(m[3]) * _SECONDS[m[4]]:g}",
    )
    take(_DURATION, FactKind.DURATION, lambda m: f"{_duration_seconds(m[1], m[2]):g}")
    take(_PERCENT, FactKind.PERCENT, lambda m: f"{float(m[1]):g}")
    take(_PATH, FactKind.PATH, lambda m: m[0])
    take(_SHA, FactKind.SHA, lambda m: m[0].lower())
    take(_DEPLOY, FactKind.DEPLOY, lambda m: m[1] or m[2])
    take(_VERSION, FactKind.VERSION, lambda m: m[1].lower())
    take(_NUMBER, FactKind.NUMBER, lambda m: f"{float(m[1].replace(',', '')):g}")
    return tuple(dict.fromkeys(found))


def _folded(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip().lower()


@dataclass
class Ground:
    """What one observation can support: its values by kind, and its words."""

    values: set[tuple[FactKind, str]] = field(default_factory=set)
    shas: set[str] = field(default_factory=set)
    paths: set[str] = field(default_factory=set)
    words: str = ""

    def holds(self, fact: Fact) -> bool:
        match fact.kind:
            case FactKind.SHA:
                return any(sha.startswith(fact.value) for sha in self.shas)
            case FactKind.PATH:
                return any(
                    path == fact.value or path.endswith(f"/{fact.value}") for path in self.paths
                )
            case FactKind.CODE | FactKind.INCIDENT:
                return fact.value in self.words
            case FactKind.NUMBER:
                pair = (FactKind.DEPLOY, fact.value)
                return (fact.kind, fact.value) in self.values or pair in self.values
            case _:
                return (fact.kind, fact.value) in self.values


def ground(value: BaseModel | None, text: str, catalog: Mapping[str, str]) -> Ground:
    """What a result supports: its typed value without echoes, and what its rendering adds."""
    made = Ground(words=_folded(text))
    echoed: set[str] = set()
    if isinstance(value, Record):
        _walk(value, made, catalog, echoed)
    for fact in facts_in(text, catalog):
        if fact.value not in echoed or (fact.kind, fact.value) in made.values:
            _put(fact, made)
    return made


def _put(fact: Fact, made: Ground) -> None:
    match fact.kind:
        case FactKind.SHA:
            made.shas.add(fact.value)
        case FactKind.PATH:
            made.paths.add(fact.value)
        case FactKind.CODE | FactKind.INCIDENT:
            pass  # the words hold it
        case _:
            made.values.add((fact.kind, fact.value))


def _walk(record: Record, made: Ground, catalog: Mapping[str, str], echoed: set[str]) -> None:
    for name in type(record).model_fields:
        for item in _flat(getattr(record, name)):
            if name in record.echoes:
                echoed.update(f.value for f in facts_in(f"deploy {item} {item}", catalog))
            elif isinstance(item, Record):
                _walk(item, made, catalog, echoed)
            else:
                _leaf(name, item, made, catalog)


def _flat(item: object) -> Iterator[object]:
    if isinstance(item, Iterable) and not isinstance(item, str | BaseModel):
        for one in item:
            yield from _flat(one)
    elif item is not None:
        yield item


def _leaf(name: str, item: object, made: Ground, catalog: Mapping[str, str]) -> None:
    match item:
        case datetime():
            made.values.add((FactKind.DATE, item.date().isoformat()))
            made.values.add((FactKind.TIME, f"{item:%H:%M}"))
        case date() | bool():
            pass
        case timedelta():
            seconds = item.total_seconds()
            for unit in (1.0, 60.0, 3600.0, 86400.0):
                made.values.add((FactKind.DURATION, f"{seconds // unit * unit:g}"))
                made.values.add((FactKind.DURATION, f"{round(seconds / unit) * unit:g}"))
        case int() | float():
            kind = FactKind.DEPLOY if name == "number" else FactKind.NUMBER
            made.values.add((kind, f"{item:g}" if isinstance(item, float) else str(item)))
        case str():
            if name in {"sha", "base_sha"}:
                made.shas.add(item.lower())
            if name in {"path", "previous_path"}:
                made.paths.add(item)
            if name in {"service", "services"}:
                made.values.add((FactKind.SERVICE, catalog.get(item.lower(), item)))
            if name == "ref":
                made.values.add((FactKind.VERSION, item.lower().removeprefix("v")))
            made.words += " " + _folded(item)
            for fact in facts_in(item, catalog):
                _put(fact, made)
        case _:
            pass
