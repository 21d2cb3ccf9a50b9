"""Replay and fork: the real loop over what a journal recorded (M17).

A replay is a resumed run whose past holds only what came from outside (the model's turns, failures,
cuts, the tools' results) and whose stop is set before it starts, so that nothing live can begin.
What the loop makes of that past is held against the record, event by event. Knows no concrete model
and no concrete tool; comparing two runs is ``compare.py``'s.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pydantic import BaseModel

from bot.loop.engine import run
from bot.loop.journal import (
    JOURNAL_VERSION,
    Appended,
    Event,
    FencedError,
    Journal,
    ModelCalled,
    ModelFailed,
    ModelReturned,
    OtherVersionError,
    RunEnded,
    RunStarted,
    ToolReturned,
    WasCut,
)
from bot.loop.limits import Limits, StopReason
from bot.loop.outcome import ANSWER, Failure, Outcome
from bot.loop.stopping import Clock, Stop
from bot.loop.toolbox import Toolbox
from bot.loop.wire import Model, Request, Turn


class Drift(StrEnum):
    """What differs. PROMPT is what the model is told, in bytes; the rest is what the loop did."""

    PROMPT = "prompt"
    DECISION = "decision"
    CHECK = "check"
    NOTICE = "notice"
    OUTCOME = "outcome"


@dataclass(frozen=True)
class Same:
    """Every event came out as recorded. ``outcome`` is ``None`` where the record has no end."""

    events: tuple[Event, ...]
    outcome: Outcome | None


@dataclass(frozen=True)
class Drifted:
    """The first event that differs; ``at`` counts the journal's events from 0."""

    at: int
    expected: Event
    got: Event
    kind: Drift


@dataclass(frozen=True)
class NeedsVersion:
    """Only code that writes this version of the journal can replay it."""

    version: int


Replayed = Same | Drifted | NeedsVersion


async def replay(journal: Journal, tools: Toolbox) -> Replayed:
    """Drive the loop again over a run's journal, offline, up to the first event that differs.

    ``tools`` are asked for their names, arguments and effects; none of them runs, and no model is
    asked. Times are not compared. Raises ``KeyError`` when a recorded result's blob is gone.
    """
    try:
        events = await journal.read()
    except OtherVersionError as error:
        return NeedsVersion(error.version)
    started = next((event for event in events if isinstance(event, RunStarted)), None)
    if started is None:
        return Same(events, None)
    if started.version != JOURNAL_VERSION:
        return NeedsVersion(started.version)
    record = _Record(journal, events)
    stop = Stop(Clock(), 0.0)
    stop.abort()
    try:
        outcome = await run(
            started.question, _Absent(started.model), tools, started.limits, record, stop
        )
    except _DiffersError as differs:
        return differs.drifted
    except _RecordEndsError:
        last = events[-1]
        return Same(events, last.outcome if isinstance(last, RunEnded) else None)
    return Same(events, outcome)


async def fork(
    journal: Journal,
    step: int,
    model: Model,
    tools: Toolbox,
    limits: Limits,
    new_journal: Journal,
    stop: Stop,
) -> Outcome:
    """Keep a run's steps before ``step``, and go on live from there, with another model.

    Raises ``ValueError`` for a step that the run did not reach or that ``limits`` do not allow, and
    ``FencedError`` as ``run`` does.
    """
    events = await journal.read()
    started = next((event for event in events if isinstance(event, RunStarted)), None)
    reached = max((event.step for event in events if isinstance(event, ModelCalled)), default=0)
    most = min(reached, limits.max_steps)
    if started is None or not most:
        raise ValueError("the run cannot be forked: it never asked its model")
    if not 1 <= step <= most:
        raise ValueError(f"the run cannot be forked at step {step}: choose one from 1 to {most}")
    kept = [event for event in events if _is_before(event, step)]
    blobs = {digest: await journal.blob(digest) for event in kept for digest in _named(event)}
    start = started.model_copy(update={"model": model.name, "limits": limits})
    await new_journal.append([start, *kept], blobs)
    return await run(started.question, model, tools, limits, new_journal, stop)


def told(replayed: Replayed) -> list[str]:
    """The result of a replay as plain lines for a terminal."""
    match replayed:
        case Same(events=events, outcome=None):
            return [f"same: all {len(events)} events, up to where the record stops without an end"]
        case Same(events=events):
            return [f"same: all {len(events)} events"]
        case NeedsVersion(version=version):
            needs = f"not replayed: the journal is of version {version}"
            return [f"{needs}, and this bot replays version {JOURNAL_VERSION}"]
        case Drifted(at=at, expected=expected, got=got, kind=kind):
            where = f"step {expected.step}, " if not isinstance(expected, _WITHOUT_STEP) else ""
            return [
                f"drifted: {_WORDS[kind]} ({where}event {at + 1}, {expected.kind})",
                *_differing(expected, got),
            ]


_WITHOUT_STEP = (RunStarted, RunEnded)
_WORDS: Mapping[Drift, str] = {
    Drift.PROMPT: "the model is told something else; what it said then is not in question",
    Drift.DECISION: "the loop decides otherwise on the same turn",
    Drift.CHECK: "the goal check judges the same answer otherwise",
    Drift.NOTICE: "the same step is written back otherwise",
    Drift.OUTCOME: "the run ends otherwise",
}


def _differing(expected: Event, got: Event) -> Iterator[str]:
    """One line a field that differs."""
    if type(expected) is not type(got):
        yield f"  recorded {expected.kind}, now {got.kind}"
        return
    for name, before, after in _fields(_timeless(expected), _timeless(got)):
        yield f"  {name}: recorded {_short(before)}, now {_short(after)}"


def _fields(
    before: Mapping[str, object], after: Mapping[str, object]
) -> Iterator[tuple[str, object, object]]:
    """Yield the fields that differ, those of a value within a value by their own names."""
    for name, old in before.items():
        new = after[name]
        if isinstance(old, BaseModel) and isinstance(new, BaseModel) and type(old) is type(new):
            yield from _fields(dict(old), dict(new))
        elif old != new:
            yield name, old, new


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:199]}…"


# --- the record -----------------------------------------------------------------------------------


class _RecordEndsError(FencedError):
    """The loop went beyond what it recorded."""


class _DiffersError(FencedError):
    """The loop came to another event than the recorded one."""

    def __init__(self, drifted: Drifted) -> None:
        super().__init__(f"event {drifted.at} differs")
        self.drifted = drifted


class _Record:
    """The journal of a replay: hands out what came from outside, and checks what is made of it.

    It fences the run off at the first event that differs, which is how every journal stops a run.
    """

    def __init__(self, journal: Journal, events: Sequence[Event]) -> None:
        self._journal = journal
        self._given = tuple(event for event in events if _from_outside(event))
        self._expected = deque(
            (at, event) for at, event in enumerate(events) if not _from_outside(event)
        )

    async def append(self, events: Sequence[Event], blobs: Mapping[str, str]) -> None:
        del blobs
        for got in events:
            if not self._expected:
                raise _RecordEndsError
            at, expected = self._expected.popleft()
            if _closed_from_outside(expected) and not isinstance(got, RunEnded):
                raise _RecordEndsError
            if type(got) is not type(expected) or _timeless(got) != _timeless(expected):
                raise _DiffersError(Drifted(at, expected, got, _kind(expected, got)))

    async def read(self) -> tuple[Event, ...]:
        return self._given

    async def blob(self, digest: str) -> str:
        return await self._journal.blob(digest)


def _from_outside(event: Event) -> bool:
    """Whether the event says what a model, a tool, a clock or a person did.

    The result of ``answer`` is the goal check's own, so it is made again and compared.
    """
    match event:
        case ModelReturned() | ModelFailed() | WasCut():
            return True
        case ToolReturned(tool=tool):
            return tool != ANSWER
        case _:
            return False


def _closed_from_outside(event: Event) -> bool:
    """Whether the run may have been ended by its service, after a fault or a restart."""
    match event:
        case RunEnded(outcome=Failure(reason=StopReason.INTERRUPTED)):
            return True
        case _:
            return False


def _timeless(event: Event) -> dict[str, object]:
    """The event's fields but for its latency and the name of the model that was asked."""
    return {name: value for name, value in event if name != "seconds" and not _asks(event, name)}


def _asks(event: Event, name: str) -> bool:
    """A fork, and a run taken up with other settings, go on with another model than they began."""
    return isinstance(event, ModelCalled) and name == "model"


def _kind(expected: Event, got: Event) -> Drift:
    if type(expected) is not type(got):
        return Drift.DECISION
    match expected:
        case RunStarted() | ModelCalled():
            return Drift.PROMPT
        case ToolReturned():
            return Drift.CHECK
        case Appended():
            return Drift.NOTICE
        case RunEnded():
            return Drift.OUTCOME
        case _:
            return Drift.DECISION


class _Absent:
    """Stands where the model stood. The stop of a replay is set, so that it is never asked."""

    def __init__(self, name: str) -> None:
        self.name = name

    async def complete(self, request: Request) -> Turn:
        raise NotImplementedError


# --- the copied part of a fork --------------------------------------------------------------------


def _is_before(event: Event, step: int) -> bool:
    """Whether a fork keeps the event. What was written back last is written again: its notice
    depends on the limits that the fork goes on with.
    """
    match event:
        case RunStarted() | RunEnded():
            return False
        case Appended():
            return event.step < step - 1
        case _:
            return event.step < step


def _named(event: Event) -> tuple[str, ...]:
    """The blobs that the event names."""
    match event:
        case ModelCalled(added=added):
            return added
        case ToolReturned(result=digest):
            return (digest,)
        case _:
            return ()
