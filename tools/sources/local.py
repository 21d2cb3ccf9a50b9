"""Deploys, other changes and incidents from JSON Lines files in the workspace.

Owns the files and their losses: a line that cannot be used is named by its number and left out.
What a line may hold is ``tools.sources.lines``', what else its keys may be called
``tools.sources.keys``'. A file is parsed again only when its time or size changed, in slices, so
that a million lines neither block the event loop nor outlive a cancelled call; of so many, the
newest are kept.
"""

from __future__ import annotations

import asyncio
import heapq
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Generic, TypeVar

from pydantic import ValidationError
from pydantic_core import from_json

from tools.records import ChangeKind, Deploy, Incident
from tools.sources.base import Fetched, RecordT, SourceError
from tools.sources.keys import (
    CHANGE_KEYS,
    DEPLOY_KEYS,
    FORMAT,
    INCIDENT_KEYS,
    KEYS_READ,
    Keys,
    KeyTally,
)
from tools.sources.lines import DeployLine, IncidentLine
from tools.wording import clean

NOTED_LINES = 3
"""So many broken lines are named one by one; the rest are counted."""
LONGEST_LINE = 1_000_000
"""Bytes. A longer line is no record but an accident."""
SLICE_LINES = 500
LARGE_FILE = 16_000_000
"""Bytes. Of a larger file only the newest records are kept, found without parsing every line."""
NEWEST_KEPT = 50_000

LineT = TypeVar("LineT", DeployLine, IncidentLine)


@dataclass(frozen=True)
class _Parsed(Generic[RecordT]):
    stamp: tuple[int, int]
    fetched: Fetched[RecordT]


class JsonLinesFile(ABC, Generic[LineT, RecordT]):
    """A JSON Lines file, kept parsed until it changes."""

    line_model: type[LineT]
    keys: Keys

    def __init__(self, path: Path) -> None:
        self._path = path
        self._parsed: _Parsed[RecordT] | None = None
        self._lock = asyncio.Lock()

    @property
    def name(self) -> str:
        return self._path.name

    @abstractmethod
    def key(self, line: LineT) -> tuple[object, ...]:
        """What makes two lines the same record: the later line of the two counts."""

    @abstractmethod
    def record(self, line: LineT) -> RecordT: ...

    async def read(self) -> Fetched[RecordT]:
        """The records of the file as it is now. Raises ``SourceError``."""
        async with self._lock:
            stamp = self._stamp()
            if self._parsed is None or self._parsed.stamp != stamp:
                self._parsed = _Parsed(stamp, await self._parse())
            return self._parsed.fetched

    def _stamp(self) -> tuple[int, int]:
        try:
            status = self._path.stat()
        except FileNotFoundError:
            raise SourceError(
                f"{self._path} does not exist",
                f"create it, one {self.keys.noun} a line as in {FORMAT}, or correct `file` in "
                "oncall.toml",
            ) from None
        except OSError as error:
            raise SourceError(f"{self._path} cannot be read: {error.strerror}") from None
        return status.st_mtime_ns, status.st_size

    def _lines(self) -> Iterator[bytes]:
        try:
            with self._path.open("rb") as file:
                yield from file
        except OSError as error:
            raise SourceError(f"{self._path} cannot be read: {error.strerror}") from None

    async def _parse(self) -> Fetched[RecordT]:
        records: dict[tuple[object, ...], RecordT] = {}
        losses: list[str] = []
        lost = unread = 0
        tally = KeyTally(self.name, self.keys)
        oldest = await self._oldest_kept()
        for number, raw in enumerate(self._lines(), start=1):
            if number % SLICE_LINES == 0:
                await asyncio.sleep(0)
            if oldest and (_age_mark(raw), number) < oldest:
                unread += 1
                continue
            text = raw.strip() if number > 1 else raw.removeprefix(b"\xef\xbb\xbf").strip()
            if not text:
                continue
            try:
                line = self._line(text, number, tally)
            except _BrokenLineError as broken:
                lost += 1
                if lost <= NOTED_LINES:
                    losses.append(f"{self.name} line {number} {broken}: skipped")
                continue
            key = self.key(line)
            tally.dated(key, number, line)
            records[key] = self.record(line)
        if lost > NOTED_LINES:
            losses.append(f"{self.name}: {lost - NOTED_LINES:,} more lines were skipped")
        if unread:
            losses.append(
                f"{self.name} is very large: its {unread:,} oldest lines were left out, "
                f"the newest {NEWEST_KEPT:,} were read"
            )
        return Fetched(tuple(records.values()), tuple(losses), tally.remarks(len(records)))

    async def _oldest_kept(self) -> tuple[bytes, int] | None:
        """Time and number of the oldest line to keep; ``None`` where all lines are kept."""
        if self._stamp()[1] <= LARGE_FILE:
            return None
        newest: list[tuple[bytes, int]] = []
        for number, raw in enumerate(self._lines(), start=1):
            if number % SLICE_LINES == 0:
                await asyncio.sleep(0)
            mark = (_age_mark(raw), number)
            if len(newest) < NEWEST_KEPT:
                heapq.heappush(newest, mark)
            elif mark > newest[0]:
                heapq.heapreplace(newest, mark)
        return newest[0] if newest else None

    def _line(self, text: bytes, number: int, tally: KeyTally) -> LineT:
        if len(text) > LONGEST_LINE:
            raise _BrokenLineError(f"is longer than {LONGEST_LINE:,} bytes")
        line: LineT | None = None
        try:
            line = self.line_model.model_validate_json(text)
        except ValidationError as error:
            if all(one["type"] != "missing" for one in error.errors(include_url=False)):
                raise _BrokenLineError(_why(error)) from None
        else:
            extra = tuple(islice(line.model_extra or {}, KEYS_READ))
            if not any(map(self.keys.concerns, extra)):
                if extra:
                    tally.ignored(extra, number)
                return line
        reading = self.keys.reading(from_json(text))
        try:
            if line is None or reading.taken:
                line = self.line_model.model_validate(reading.line)
        except ValidationError as error:
            raise _BrokenLineError(_why(error, reading.instead)) from None
        tally.read(reading, number)
        return line


_MARK = re.compile(
    rb'"(?:(?:finished|started|detected|created|deployed|completed)(?:_a|A)t|time(?:stamp)?)"'
    rb'\s*:\s*"?([^",}]{10,40})'
)


def _age_mark(raw: bytes) -> bytes:
    """The line's first time as it is written: good enough to tell old lines from new ones."""
    found = _MARK.search(raw)
    return found[1] if found else b""


class _BrokenLineError(Exception):
    """Says in the words after "line 17" what is wrong with it."""


_WHYS = {
    "missing": "has no `{key}`",
    "timezone_aware": "has a `{key}` without a time zone (write 2026-11-29T01:44:00Z)",
    "string_too_short": "has an empty `{key}`",
}


def _why(error: ValidationError, instead: Mapping[str, str] = MappingProxyType({})) -> str:
    """``instead`` are the keys that may have been meant for those that are missing."""
    first = error.errors(include_url=False)[0]
    key = ".".join(str(part) for part in first["loc"])
    kind = first["type"]
    if kind == "json_invalid":
        return "is not JSON"
    if not key:
        return "is not a JSON object"
    if kind == "missing" and key in instead:
        return f"has no `{key}` (is it `{clean(instead[key], 40)}`?)"
    if kind in {"time_range", "time_number"}:
        return f"has a `{key}` that {first['msg']}"
    if kind.startswith(("datetime", "timezone_naive")):
        return f"has a `{key}` that is no time (write 2026-11-29T01:44:00Z)"
    return _WHYS.get(kind, "has a `{key}` that cannot be used").format(key=key)


def _identity(line: DeployLine) -> str:
    """The record's own id, else what it can be told by."""
    if line.id:
        return line.id
    if line.number is not None:
        return str(line.number)
    if line.ref or line.sha:
        return line.ref or (line.sha or "")[:12]
    when = line.finished_at or line.started_at
    return f"{line.service} {when:%Y-%m-%dT%H:%M:%SZ}" if when else line.service


class LocalDeploys(JsonLinesFile[DeployLine, Deploy]):
    """``deploys.jsonl``, or ``changes.jsonl`` with ``default_kind`` OTHER."""

    line_model: type[DeployLine] = DeployLine
    keys: Keys = DEPLOY_KEYS

    def __init__(self, path: Path, default_kind: ChangeKind = ChangeKind.DEPLOY) -> None:
        super().__init__(path)
        self._default_kind = default_kind
        if default_kind is not ChangeKind.DEPLOY:
            self.keys = CHANGE_KEYS

    async def deploys(self) -> Fetched[Deploy]:
        return await self.read()

    def key(self, line: DeployLine) -> tuple[object, ...]:
        if line.id:
            return line.id, line.service, line.environment
        return (
            line.number,
            line.service,
            line.environment,
            line.sha,
            line.ref,
            line.started_at or line.finished_at,
            line.title,
        )

    def record(self, line: DeployLine) -> Deploy:
        return Deploy.model_construct(
            number=line.number,
            id=_identity(line),
            service=line.service,
            environment=line.environment or "production",
            sha=line.sha.lower() if line.sha else None,
            ref=line.ref or None,
            status=line.status,
            actor=line.actor or None,
            started_at=line.started_at,
            finished_at=line.finished_at,
            url=line.url or None,
            kind=line.kind or self._default_kind,
            title=line.title or None,
            source=self.name,
        )


class LocalIncidents(JsonLinesFile[IncidentLine, Incident]):
    """``incidents.jsonl``."""

    line_model: type[IncidentLine] = IncidentLine
    keys: Keys = INCIDENT_KEYS

    async def incidents(self) -> Fetched[Incident]:
        return await self.read()

    def key(self, line: IncidentLine) -> tuple[object, ...]:
        return (line.id,)

    def record(self, line: IncidentLine) -> Incident:
        return Incident.model_construct(
            id=line.id,
            title=line.title,
            summary=line.summary or "",
            services=tuple(name for name in line.services or () if name),
            severity=line.severity or None,
            status=line.status,
            environment=line.environment or None,
            started_at=line.started_at,
            detected_at=line.detected_at,
            resolved_at=line.resolved_at,
            created_at=line.created_at,
            url=line.url or None,
            source=self.name,
        )
