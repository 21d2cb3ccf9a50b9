"""One line of deploys.jsonl, changes.jsonl and incidents.jsonl: its keys, their types and words.

Owns what a value may look like and how it is made harmless. Other names of a key are
``tools.sources.keys``'; files are ``tools.sources.local``'s.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, Final

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from tools.records import ChangeKind, DeployStatus, IncidentStatus, UtcTime
from tools.wording import clean

NAME_KEPT, PERSON_KEPT, PROSE_KEPT = 300, 60, 4_000
"""Characters of a name, of who did it, and of a summary, that are kept. All text enters as one
harmless line.
"""
_NO_MARKS = str.maketrans("“”`", 3 * "'") | {ord('"'): "'"}
"""A person's name may be quoted, so it holds no marks of its own."""
_UNSET = "0001-01-01T00:00:00"
_EPOCH_UNITS: Final = {10: timedelta(seconds=1), 13: timedelta(milliseconds=1)}
"""What a number of so many digits counts since 1970."""
_LONGEST_NUMBER: Final = 20
"""Characters; all longer ones are out of range alike."""

_STATUS_WORDS = {
    "succeeded": DeployStatus.SUCCESS,
    "successful": DeployStatus.SUCCESS,
    "ok": DeployStatus.SUCCESS,
    "inactive": DeployStatus.SUCCESS,
    "failed": DeployStatus.FAILURE,
    "error": DeployStatus.FAILURE,
    "running": DeployStatus.IN_PROGRESS,
    "pending": DeployStatus.IN_PROGRESS,
    "canceled": DeployStatus.CANCELLED,
    "aborted": DeployStatus.CANCELLED,
}
_INCIDENT_WORDS = {
    "triggered": IncidentStatus.OPEN,
    "acknowledged": IncidentStatus.OPEN,
    "investigating": IncidentStatus.OPEN,
    "active": IncidentStatus.OPEN,
    "firing": IncidentStatus.OPEN,
    "closed": IncidentStatus.RESOLVED,
}


def _text(value: object) -> object:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _deploy_status(value: object) -> object:
    if not isinstance(value, str):
        return DeployStatus.SUCCESS if value is None else value
    word = value.strip().lower().replace("-", "_").replace(" ", "_")
    if word in list(DeployStatus):
        return DeployStatus(word)
    return _STATUS_WORDS.get(word, DeployStatus.UNKNOWN)


def _incident_status(value: object) -> object:
    if not isinstance(value, str):
        return IncidentStatus.UNKNOWN if value is None else value
    word = value.strip().lower()
    if word in list(IncidentStatus):
        return IncidentStatus(word)
    return _INCIDENT_WORDS.get(word, IncidentStatus.UNKNOWN)


def _change_kind(value: object) -> object:
    if not isinstance(value, str):
        return ChangeKind.OTHER if value is None else value
    word = value.strip().lower()
    return ChangeKind(word) if word in list(ChangeKind) else ChangeKind.OTHER


def _time(value: object) -> object:
    """Programs that know no "unset" write year 1 or 0. The unit of a number is never guessed: whole
    seconds have 10 digits, milliseconds 13.
    """
    if isinstance(value, str):
        if value.startswith(_UNSET):
            return None
        if not value.strip().lstrip("-").isdecimal():
            return value
        value = int(value.strip()[:_LONGEST_NUMBER])
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    if value == 0:
        return None
    for digits, unit in _EPOCH_UNITS.items():
        if 10 ** (digits - 1) <= value < 10**digits:
            return datetime.fromtimestamp(0, UTC) + value * unit
    raise PydanticCustomError(
        "time_number", "is a number of neither 10 digits (seconds) nor 13 (milliseconds)"
    )


def _several(value: object) -> object:
    return (value,) if isinstance(value, str) else value


def _not_empty(value: str) -> str:
    if not value:
        raise PydanticCustomError("string_too_short", "is empty")
    return value


def _name(value: str) -> str:
    return clean(value, NAME_KEPT)


def _person(value: str) -> str:
    return clean(value, PERSON_KEPT).translate(_NO_MARKS)


def _prose(value: str) -> str:
    return clean(value, PROSE_KEPT)


Name = Annotated[str, BeforeValidator(_text), AfterValidator(_name)]
Word = Annotated[Name, AfterValidator(_not_empty)]
Person = Annotated[str, BeforeValidator(_text), AfterValidator(_person)]
Prose = Annotated[str, AfterValidator(_prose)]
Time = Annotated[UtcTime | None, BeforeValidator(_time)]


class Line(BaseModel):
    """One line as it stands in the file. Keys that nobody asked for are no error in data; they are
    kept, to be held against the names that people use instead of ours.
    """

    model_config = ConfigDict(frozen=True, extra="allow", str_strip_whitespace=True)


class DeployLine(Line):
    number: Annotated[int, Field(ge=0)] | None = None
    id: Name | None = None
    service: Word
    environment: Name | None = None
    sha: Name | None = None
    ref: Name | None = None
    status: Annotated[DeployStatus, BeforeValidator(_deploy_status)] = DeployStatus.SUCCESS
    actor: Person | None = None
    started_at: Time = None
    finished_at: Time = None
    url: Name | None = None
    title: Name | None = None
    kind: Annotated[ChangeKind, BeforeValidator(_change_kind)] | None = None


class IncidentLine(Line):
    id: Word
    title: Name
    summary: Prose | None = None
    services: Annotated[tuple[Name, ...] | None, BeforeValidator(_several)] = None
    severity: Name | None = None
    status: Annotated[IncidentStatus, BeforeValidator(_incident_status)] = IncidentStatus.UNKNOWN
    environment: Name | None = None
    started_at: Time = None
    detected_at: Time = None
    resolved_at: Time = None
    created_at: Time = None
    url: Name | None = None
