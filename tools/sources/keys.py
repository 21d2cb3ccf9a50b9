"""What people call the keys of a line, and what to tell them of it.

Owns the table of other names: one that can mean nothing else, with a value of the right type, is
read as ours; one that might mean something else is only named. Knows no file.
"""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final

from pydantic import BaseModel, TypeAdapter, ValidationError

from tools.sources.base import Remark
from tools.sources.lines import DeployLine, IncidentLine, Time
from tools.wording import clean, listed, plural

FORMAT: Final = "docs/sources.md"
"""Where the format is written down, for people."""
WRITE_TIME: Final = "ISO 8601 with its time zone (2026-11-29T01:44:00Z)"
KEYS_NAMED: Final = 6
LONGEST_KEY: Final = 60
"""Characters. A longer key is data, and no name."""
KEYS_READ: Final = 200
"""So many keys of a line are held against other names: a long one has a hundred thousand."""
KEYS_COUNTED: Final = 200
"""So many other names, and so many lines with unknown ones, are remembered of a file."""
_NEAR: Final = 0.84
"""How alike a misspelled key is to ours, as difflib counts; ``environment`` and ``enviroment``."""

_TIME: Final[TypeAdapter[object]] = TypeAdapter(Time)
_SHA: Final = re.compile(r"[0-9a-fA-F]{7,64}")
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@dataclass(frozen=True)
class Reading:
    """A line under our names. ``taken`` and ``left`` map its own keys to ours: those that were read
    as ours, and those that may have been meant. ``unknown`` are all that were not read.
    """

    line: Mapping[str, object]
    taken: Mapping[str, str]
    left: Mapping[str, str]
    unknown: tuple[str, ...]

    @property
    def instead(self) -> Mapping[str, str]:
        """Our keys, each with the line's own that may have been meant for it."""
        return {ours: theirs for theirs, ours in self.left.items()}


@dataclass(frozen=True, eq=False)
class Keys:
    """The names of one kind of line. Of ``others``, the first of a line that fits is taken.

    ``whenever`` are names for a time that do not say of what: they are read where the line has no
    other of its ``times``. ``asked`` may mean something else, so they are never taken.
    """

    noun: str
    model: type[BaseModel]
    times: tuple[str, ...]
    others: Mapping[str, str]
    whenever: Mapping[str, str]
    asked: Mapping[str, str]

    def concerns(self, theirs: str) -> bool:
        """Whether a key that is not ours may be one of ours by another name."""
        return len(theirs) <= LONGEST_KEY and _meant(self, theirs) is not None

    def reading(self, read: Mapping[str, object]) -> Reading:
        """The line with every name that can be taken under ours. Values are left as they are."""
        line = {key: value for key, value in read.items() if key in self.model.model_fields}
        others = [key for key in islice(read, KEYS_READ) if key not in line]
        unread = {_plain(key): key for key in others if len(key) <= LONGEST_KEY}
        taken: dict[str, str] = {}
        own = {name: name for name in self.model.model_fields}
        for table in (own, self.others, self.whenever):
            if table is self.whenever and any(line.get(time) for time in self.times):
                break
            for name, known in table.items():
                if name not in unread or line.get(known) is not None:
                    continue
                if _fits(known, read[unread[name]]):
                    theirs = unread.pop(name)
                    line[known] = read[theirs]
                    taken[theirs] = known
        dated = any(line.get(time) for time in self.times)
        left = {
            theirs: ours
            for name, theirs in unread.items()
            if (ours := _meant(self, theirs)) is not None
            and line.get(ours) is None
            and not (dated and ours in self.times and self._is_vague(name))
        }
        return Reading(line, taken, left, tuple(key for key in others if key not in taken))

    def _is_vague(self, name: str) -> bool:
        """Whether it says too little for people to be asked, where the line has a better one."""
        return name in self.whenever or name in self.asked


@functools.lru_cache(maxsize=4_096)
def _meant(keys: Keys, theirs: str) -> str | None:
    """Our key that an unknown one may stand for."""
    name = _plain(theirs)
    for table in (keys.others, keys.whenever, keys.asked):
        if name in table:
            return table[name]
    near = difflib.get_close_matches(name, keys.model.model_fields, n=1, cutoff=_NEAR)
    return near[0] if near else None


def _plain(key: str) -> str:
    """``finishedAt`` and ``Finished-At`` are ``finished_at``."""
    return re.sub(r"[\s-]+", "_", _HUMP.sub("_", key.strip())).lower()


def _fits(ours: str, value: object) -> bool:
    """Whether the value of another key can be one of ours: what it is called is not enough."""
    match ours:
        case "finished_at" | "started_at" | "detected_at" | "resolved_at" | "created_at":
            return _is_time(value)
        case "sha":
            return isinstance(value, str) and _SHA.fullmatch(value.strip()) is not None
        case "number":
            return isinstance(value, int) and not isinstance(value, bool) and value >= 0
        case "services":
            names = value if isinstance(value, list) else [value]
            return all(isinstance(name, str) for name in names)
        case "id":
            return _is_text(value) or (isinstance(value, int) and not isinstance(value, bool))
        case _:
            return _is_text(value)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_time(value: object) -> bool:
    try:
        return _TIME.validate_python(value) is not None
    except ValidationError:
        return False


@dataclass
class _Seen:
    first: int
    count: int = 0

    def __str__(self) -> str:
        return f"{plural(self.count, 'line')}, the first is line {self.first}"


@dataclass
class KeyTally:
    """How often each other name stood in one file, and which of its records have no time."""

    name: str
    keys: Keys
    _taken: dict[tuple[str, str], _Seen] = field(default_factory=dict)
    _left: dict[tuple[str, str], _Seen] = field(default_factory=dict)
    _undated: dict[tuple[object, ...], int] = field(default_factory=dict)
    _unknown: dict[int, tuple[str, ...]] = field(default_factory=dict)

    def read(self, reading: Reading, number: int) -> None:
        """A line that had keys which are not ours."""
        for pair in reading.taken.items():
            _count(self._taken, pair, number)
        for pair in reading.left.items():
            _count(self._left, pair, number)
        self.ignored(reading.unknown, number)

    def ignored(self, unknown: tuple[str, ...], number: int) -> None:
        """Keys of a line that were not read."""
        if len(self._unknown) < KEYS_COUNTED:
            self._unknown[number] = tuple(clean(key, 40) for key in unknown[:KEYS_COUNTED])

    def dated(self, key: tuple[object, ...], number: int, line: BaseModel) -> None:
        """Every line: the later one of a record says whether it has a time."""
        if any(getattr(line, time) is not None for time in self.keys.times):
            self._undated.pop(key, None)
        else:
            self._undated[key] = number

    def remarks(self, records: int) -> tuple[Remark, ...]:
        """What to say of the file; ``records`` is how many it has."""
        undated = (self._no_time(records),) if self._undated else ()
        return (*undated, *self._meant(), *self._read_as())

    def _read_as(self) -> list[Remark]:
        return [
            Remark(f"{self.name}: `{clean(theirs, 40)}` is read as {ours} ({seen})")
            for (theirs, ours), seen in self._taken.items()
        ]

    def _meant(self) -> list[Remark]:
        return [
            Remark(
                f"{self.name}: `{clean(theirs, 40)}` is not read ({seen})",
                f"if it is the {ours}, name it {ours}{_how(ours)}; the format is in {FORMAT}",
            )
            for (theirs, ours), seen in self._left.items()
            if not (self._undated and ours in self.keys.times)
        ]

    def _no_time(self, records: int) -> Remark:
        wanted, count = self.keys.times[0], len(self._undated)
        first = min(self._undated.values())
        lines = set(self._undated.values())
        unknown = dict.fromkeys(
            key for at, keys in self._unknown.items() if at in lines for key in keys
        )
        which = f"; unknown keys: {listed(tuple(unknown), KEYS_NAMED)}" if unknown else ""
        if count == records:
            what = (
                f"no line has {wanted} ({plural(count, self.keys.noun)}, the first in line {first}"
            )
            what += f"{which})"
        else:
            what = (
                f"{count:,} of {plural(records, self.keys.noun)} without a time (the first in line "
            )
            what += f"{first}{which})"
        return Remark(
            f"{self.name}: {what}",
            f"name the time {wanted}, {WRITE_TIME}; the format is in {FORMAT}",
        )


def _how(ours: str) -> str:
    if ours == "sha":
        return ", the commit's hexadecimal id"
    return f", {WRITE_TIME}" if ours.endswith("_at") else ""


def _count(seen: dict[tuple[str, str], _Seen], pair: tuple[str, str], number: int) -> None:
    if pair in seen or len(seen) < KEYS_COUNTED:
        seen.setdefault(pair, _Seen(number)).count += 1


_FINISHED: Final = (
    "deployed_at", "completed_at", "ended_at", "released_at", "finished", "finish", "finish_time",
    "end", "end_time", "deploy_time", "deployed",
)  # fmt: skip
_WHENEVER: Final = ("time", "timestamp", "at", "date", "datetime", "ts", "when")
_STARTED: Final = ("start", "started", "start_time", "began_at", "begin", "start_at")

DEPLOY_KEYS: Final = Keys(
    noun="deploy",
    model=DeployLine,
    times=("finished_at", "started_at"),
    others={
        **dict.fromkeys(_FINISHED, "finished_at"),
        **dict.fromkeys(_STARTED, "started_at"),
        **dict.fromkeys(("commit", "commit_sha", "git_sha", "revision", "commit_id"), "sha"),
        **dict.fromkeys(("by", "user", "deployed_by", "deployer", "triggered_by"), "actor"),
        "env": "environment",
        **dict.fromkeys(("service_name", "app", "application"), "service"),
        **dict.fromkeys(("tag", "version"), "ref"),
        "deploy_number": "number",
        "deploy_id": "id",
        "state": "status",
    },
    whenever=dict.fromkeys(_WHENEVER, "finished_at"),
    asked={
        "author": "actor",
        "stage": "environment",
        **dict.fromkeys(("project", "component", "name"), "service"),
        **dict.fromkeys(("build", "build_number", "run_number"), "number"),
        "release": "ref",
        **dict.fromkeys(("result", "outcome", "conclusion"), "status"),
        **dict.fromkeys(("created_at", "updated_at"), "finished_at"),
    },
)
CHANGE_KEYS: Final = replace(DEPLOY_KEYS, noun="change")
INCIDENT_KEYS: Final = Keys(
    noun="incident",
    model=IncidentLine,
    times=("started_at", "detected_at", "created_at"),
    others={
        **dict.fromkeys((*_STARTED, "impact_start"), "started_at"),
        **dict.fromkeys(("triggered_at", "alerted_at"), "detected_at"),
        **dict.fromkeys(("opened_at", "reported_at"), "created_at"),
        **dict.fromkeys(
            ("resolved", "closed_at", "ended_at", "end", "end_time", "resolved_time"),
            "resolved_at",
        ),
        **dict.fromkeys(("service", "service_name", "affected_services", "app"), "services"),
        "env": "environment",
        "incident_id": "id",
        "sev": "severity",
        "state": "status",
        "description": "summary",
        "name": "title",
    },
    whenever=dict.fromkeys(_WHENEVER, "created_at"),
    asked={
        "priority": "severity",
        **dict.fromkeys(("key", "number"), "id"),
        **dict.fromkeys(("components", "component", "application", "affected"), "services"),
    },
)
