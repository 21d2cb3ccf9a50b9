"""The journal: the one record that is trace, checkpoint and replay (M16, M17).

Owns the closed union of events and the ``Journal`` protocol. An event is written before the next
thing happens. Knows no database: ``bot.runs.store`` keeps it durably, ``MemoryJournal`` in a list.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from bot.loop.limits import Limits, StopReason
from bot.loop.outcome import Outcome
from bot.loop.question import Question
from bot.loop.state import Phase, State
from bot.loop.wire import Finish, ModelErrorKind, Parsed, Turn
from tools.base import Status

JOURNAL_VERSION = 1
"""Raised when an older journal can no longer be replayed by this code."""


class FencedError(Exception):
    """Another owner has taken this run: the only exception that leaves ``engine.run``."""


class OtherVersionError(Exception):
    """A journal that this code cannot parse. ``version`` is the one that it names."""

    def __init__(self, message: str, version: int) -> None:
        super().__init__(message)
        self.version = version


class Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    @property
    def key(self) -> tuple[str, int, str]:
        """What makes it the same event in a resumed or replayed run."""
        # Two events have no step; pydantic takes ten times as long to say so of an attribute.
        return (type(self).__name__, self.__dict__.get("step", 0), self.part)

    @property
    def part(self) -> str:
        return ""


class RunStarted(Entry):
    """The exact inputs. ``prompt`` and ``tools`` are hashes of what the model is told."""

    kind: Literal["run_started"] = "run_started"
    version: int = JOURNAL_VERSION
    question: Question
    limits: Limits
    model: str
    prompt: str
    tools: str


class ModelCalled(Entry):
    """ASSEMBLE is done, CALL begins. ``kept`` messages are as before, ``added`` are new blobs.

    ``cut`` counts the oldest observations that are shown by one line only.
    """

    kind: Literal["model_called"] = "model_called"
    step: int
    state: State = State.THINK
    phase: Phase = Phase.CALL
    model: str
    kept: int
    added: tuple[str, ...]
    size: int
    cut: int = 0

    @property
    def part(self) -> str:
        return f"cut {self.cut}" if self.cut else ""


class ModelReturned(Entry):
    kind: Literal["model_returned"] = "model_returned"
    step: int
    state: State = State.THINK
    phase: Phase = Phase.CALL
    turn: Turn
    seconds: float


class ModelFailed(Entry):
    """One try of ``model`` that brought no turn. ``again_in`` is the wait before the next, if there
    is one; ``handed_to`` is the model that is asked from then on, if it is another.
    """

    kind: Literal["model_failed"] = "model_failed"
    step: int
    state: State = State.THINK
    phase: Phase = Phase.CALL
    attempt: int
    error: ModelErrorKind
    message: str
    again_in: float | None
    seconds: float
    model: str = ""
    handed_to: str = ""

    @property
    def part(self) -> str:
        return str(self.attempt)


class Decided(Entry):
    """DECIDE. ``decision`` is act, notice or stop; ``text`` what a person needs to follow it."""

    kind: Literal["decided"] = "decided"
    step: int
    state: State = State.THINK
    phase: Phase = Phase.DECIDE
    decision: Literal["act", "notice", "stop"]
    text: str
    thought: str = ""
    finish: Finish | None = None
    stop: StopReason | None = None


class ToolCalled(Entry):
    """EXECUTE begins one call. ``observation`` is the id that its result will have."""

    kind: Literal["tool_called"] = "tool_called"
    step: int
    state: State = State.ACT
    phase: Phase = Phase.EXECUTE
    observation: str
    tool: str
    arguments: dict[str, Parsed]

    @property
    def part(self) -> str:
        return self.observation


class ToolReturned(Entry):
    """One call is over. ``result`` is the hash of the whole redacted result, kept as a blob."""

    kind: Literal["tool_returned"] = "tool_returned"
    step: int
    state: State = State.ACT
    phase: Phase = Phase.EXECUTE
    observation: str
    tool: str
    status: Status
    summary: str
    result: str
    size: int
    seconds: float

    @property
    def part(self) -> str:
        return self.observation


class CallShown(BaseModel):
    """One observation as it was appended: how much of it the model sees."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    observation: str
    tool: str
    status: Status
    summary: str
    shown: int
    of: int


class Appended(Entry):
    """APPEND. What the model will see of this step, in call order."""

    kind: Literal["appended"] = "appended"
    step: int
    state: State = State.OBSERVE
    phase: Phase = Phase.APPEND
    observations: tuple[CallShown, ...] = ()
    notice: str = ""


class WasCut(Entry):
    """The abort or the deadline cut this phase of this step."""

    kind: Literal["was_cut"] = "was_cut"
    step: int
    phase: Phase
    reason: StopReason
    by: str = ""

    @property
    def part(self) -> str:
        return self.phase.value


class RunEnded(Entry):
    """The terminal event: what comes later hears "already finished"."""

    kind: Literal["run_ended"] = "run_ended"
    state: State = State.STOPPED
    outcome: Outcome


Event = Annotated[
    RunStarted
    | ModelCalled
    | ModelReturned
    | ModelFailed
    | Decided
    | ToolCalled
    | ToolReturned
    | Appended
    | WasCut
    | RunEnded,
    Field(discriminator="kind"),
]
EVENT: TypeAdapter[Event] = TypeAdapter(Event, config=ConfigDict(defer_build=True))


def blob_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Journal(Protocol):
    """An append-only record of one run."""

    async def append(self, events: Sequence[Event], blobs: Mapping[str, str]) -> None:
        """Store the events and the blobs that they name, in one transaction.

        Raises ``FencedError`` when another owner has the run.
        """
        ...

    async def read(self) -> tuple[Event, ...]:
        """All events so far, in order. Raises ``OtherVersionError``."""
        ...

    async def blob(self, digest: str) -> str:
        """The text of one blob. Raises ``KeyError``."""
        ...


class MemoryJournal:
    """A journal in memory: for tests and for runs that nobody will open again."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.blobs: dict[str, str] = {}

    async def append(self, events: Sequence[Event], blobs: Mapping[str, str]) -> None:
        self.events += events
        self.blobs |= blobs

    async def read(self) -> tuple[Event, ...]:
        return tuple(self.events)

    async def blob(self, digest: str) -> str:
        return self.blobs[digest]
