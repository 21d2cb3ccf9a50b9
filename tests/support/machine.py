"""Scripts of everything that a model, its tools, the clock and people can do, and the world in which
the real loop plays them, in virtual time.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import structlog
from hypothesis import strategies as st

from bot.loop.engine import run
from bot.loop.journal import (
    Event,
    MemoryJournal,
    ModelFailed,
    ModelReturned,
    ToolCalled,
    ToolReturned,
)
from bot.loop.limits import Limits
from bot.loop.outcome import ANSWER, Outcome
from bot.loop.stopping import Clock, Stop
from bot.loop.wire import Finish, ModelError, ModelErrorKind, Request, ToolCall, Turn
from support.scripted import (
    NOW,
    Canned,
    Lookup,
    LookupArguments,
    Restart,
    RestartArguments,
    answer,
    asked,
    called,
    found,
    nothing,
    ranking,
    toolbox,
    turn,
)
from support.virtual_loop import VirtualLoop
from tools.base import CallContext, Status, ToolError, ToolResult

DEADLINE = 60.0

# --- the script -----------------------------------------------------------------------------------

LOOKUPS = (
    "apples", " APPLES ", "pears", "plums", "empty", "huge", "blank", "error", "bug", "flaky",
    "slow", "slower", "hang", "deaf", "cancels", "none", "half",
)  # fmt: skip
RAW = (
    "", "null", "[1]", '{"what": "app', '{"what": 7}', '{"wat": 1}', '{"limit": 1000000}',
    '{"limit": NaN}', '{"limit": %s}' % ("1" * 5_000), "[" * 3_000, '{"what": "\\ud83d"}',
    '{"limit": "5", "what": "apples"}',
)  # fmt: skip
WRITE = called("restart", {"service": "web"})
RIGHT = answer("apples was found", ("apples was found", ["o1"]))
ANSWERS = (
    RIGHT,
    answer("pears was found", ("pears was found", ["o2"]), ("apples was found", ["o1"])),
    answer("deploy 9999 did it", ("Deploy 9999 broke it", ["o1"])),
    answer("apples was found", ("apples was found", ["o77"])),
    answer("nothing", unknowns=["everything"], confidence="none"),
    answer("nothing at all"),
    called(ANSWER, '{"headline": ""}'),
    called(ANSWER, "{"),
)
CALLS: tuple[ToolCall, ...] = (
    *(called("lookup", {"what": what}, id=f"c{i}") for i, what in enumerate(LOOKUPS)),
    *(called("lookup", raw) for raw in RAW),
    called("search_deploy", id=""),
    called("serch"),
    called(""),
    called("half\ud83d"),
    WRITE,
    called("restart", {"service": 7}),
    *ANSWERS,
)
FINISHES = (Finish.TOOL_USE, Finish.STOP, Finish.OTHER, Finish.LENGTH, Finish.REFUSAL)


@dataclass(frozen=True)
class Fails:
    """``how`` is the error's kind, or how the call breaks: see ``_break``."""

    how: ModelErrorKind | str
    retry_after: float | None = None


@dataclass(frozen=True)
class Play:
    """A turn, after some seconds of thought; or no turn at all."""

    calls: tuple[ToolCall, ...] = ()
    text: str = ""
    finish: Finish = Finish.TOOL_USE
    tokens: int | None = 10
    after: float = 0.0
    fault: Fails | None = None


@dataclass(frozen=True)
class Script:
    """``cut`` is the event, modulo their number, at which the run's process dies."""

    plays: tuple[Play, ...]
    limits: Limits = field(default_factory=Limits)
    abort_turn: int | None = None
    abort_after: float | None = None
    cut: int = 0


def mostly(usual: Any, *rare: Any, share: int = 12) -> st.SearchStrategy[Any]:
    """The usual value ``share`` times as often as any rare one."""
    return st.sampled_from((*[usual] * share, *rare))


FAULTS = (
    *(Fails(kind) for kind in ModelErrorKind),
    *(Fails(ModelErrorKind.OVERLOADED, after) for after in (0.0, 2.0, 3_600.0)),
    *(Fails(how) for how in ("hang", "deaf", "cancels")),
)
READS = st.sampled_from(CALLS[: len(LOOKUPS)])
PLAYS = st.builds(
    Play,
    st.lists(READS, min_size=1, max_size=3).map(tuple)
    | st.lists(st.sampled_from(CALLS), max_size=10).map(tuple)
    | st.sampled_from((*CALLS, *[RIGHT] * 15, *[WRITE] * 4)).map(lambda one: (one,)),
    mostly("thinking", "", " ", "half \ud83d", share=6),
    mostly(*FINISHES, share=40),
    mostly(10, None, 3_000),
    mostly(0.0, 1.0, 15.0, 21.0, share=20),
    mostly(None, *FAULTS, share=120),
)
LIMITS = st.sampled_from(
    [
        Limits(),
        Limits(max_steps=1),
        Limits(max_steps=3, calls_per_turn=2, parallel_reads=1),
        Limits(max_steps=12, tool_errors=20, repeated_turns=9, ignored_refusals=9, model_retries=0),
        Limits(observation_chars=400, run_tokens=6_000, request_tokens=6_000, rejected_answers=1),
        Limits(max_steps=5, failed_call_retries=0, parallel_reads=2, tool_call_seconds=2.0),
        Limits(max_steps=20, tool_errors=50, repeated_turns=20, ignored_refusals=20),
    ]
)
SCRIPTS = st.builds(
    Script,
    st.lists(PLAYS, min_size=1, max_size=9).map(tuple),
    LIMITS,
    mostly(None, *range(1, 60), share=120),
    mostly(None, 0.0, 0.5, 1.0, 5.0, 10.0, 20.0, share=18),
    st.integers(0, 60),
)

# --- the world that it is played in ---------------------------------------------------------------


@dataclass
class World:
    """One life of a run: a model and tools that play the script from where the journal stands."""

    script: Script
    journal: MemoryJournal
    stop: Stop
    requests: list[Request] = field(default_factory=list)
    ran: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)
    name: str = "scripted"

    def __post_init__(self) -> None:
        calls = {
            (e.step, e.observation): e for e in self.journal.events if isinstance(e, ToolCalled)
        }
        self.asked = sum(isinstance(e, ModelReturned | ModelFailed) for e in self.journal.events)
        self.ran.update(
            str(calls[e.step, e.observation].arguments.get("what", "thing"))
            for e in self.journal.events
            if isinstance(e, ToolReturned) and e.tool == "lookup"
        )
        self.lookup = _Lookup(self)
        self.restart = _Restart(self)
        self.tools = toolbox(self.lookup, Canned("search_deploy", ranking()), self.restart)

    def starts(self, what: str) -> None:
        if self.stop.cut is not None:
            self.broken.append(f"{what} started after the stop")

    async def complete(self, request: Request) -> Turn:
        self.starts("a model call")
        self.requests.append(request)
        play = self.script.plays[self.asked % len(self.script.plays)]
        self.asked += 1
        if play.fault is None:
            await asyncio.sleep(play.after)
            calls = tuple(_right(request) if call is RIGHT else call for call in play.calls)
            return turn(*calls, text=play.text, finish=play.finish, tokens=play.tokens)
        if isinstance(play.fault.how, ModelErrorKind):
            raise ModelError(play.fault.how, "it fails", retry_after=play.fault.retry_after)
        return await _break(play.fault.how)


def _right(request: Request) -> ToolCall:
    """An answer that holds, where one is possible."""
    for seen in request.seen:
        if seen.tool == "lookup" and seen.status is Status.OK:
            said = f"{seen.arguments.get('what', 'thing')} was found"
            return answer(said, (said, [seen.id]))
    return RIGHT


class _Restart(Restart):
    def __init__(self, world: World) -> None:
        self._world = world

    async def run(self, arguments: RestartArguments, context: CallContext) -> ToolResult:
        self._world.broken.append("a write ran")
        return found("restarted")


class _Lookup(Lookup):
    def __init__(self, world: World) -> None:
        super().__init__()
        self._world = world

    async def run(self, arguments: LookupArguments, context: CallContext) -> ToolResult:
        world, what = self._world, arguments.what
        world.starts(what)
        if LookupArguments.model_validate(arguments.model_dump()) != arguments:
            world.broken.append(f"{arguments!r} ran")
        world.ran[what] += 1
        match what:
            case "empty":
                return nothing("nothing was found")
            case "huge":
                return found("huge was found\n" + "a line of it\n" * 2_000)
            case "blank":
                return ToolResult(status=Status.OK, summary="blank " * 2_000, text="")
            case "error":
                raise ToolError("there is no such thing: ask for another")
            case "bug":
                raise KeyError(what)
            case "flaky" if world.ran[what] == 1:
                raise ToolError("try again")
            case "slow" | "slower":
                await asyncio.sleep(1.0 if what == "slow" else 4.0)
            case "hang" | "deaf" | "cancels":
                await _break(what)
            case "none":
                return None  # type: ignore[return-value]
            case "half":
                return found("half \ud83d")
        return found(f"{what} was found")


async def _break(how: str) -> NoReturn:
    match how:
        case "hang":
            await asyncio.Event().wait()
            raise AssertionError("nobody sets it")
        case "deaf":
            try:
                await asyncio.Event().wait()
            finally:
                await asyncio.sleep(3.0)
                raise OSError("the connection was lost while closing")
        case _:
            raise asyncio.CancelledError


class SlowJournal(MemoryJournal):
    """Gives the loop a turn before and after each append, as a database does."""

    async def append(self, events: Sequence[Event], blobs: Mapping[str, str]) -> None:
        await asyncio.sleep(0)
        await super().append(events, blobs)
        await asyncio.sleep(0)


@dataclass(frozen=True)
class Life:
    """How one life of a run went."""

    world: World
    outcome: Outcome
    seconds: float


def live(script: Script, loop: VirtualLoop, journal: MemoryJournal | None = None) -> Life:
    """Play it, from the beginning or from where its journal was cut off."""
    first = journal is None or not journal.events
    journal = journal if journal is not None else SlowJournal()
    began = loop.time()
    clock = Clock(monotonic=loop.time, now=lambda: NOW)
    world = World(script, journal, Stop(clock, began + DEADLINE))
    abort = world.stop.abort
    if first and script.abort_turn is not None:
        loop.at_turn(script.abort_turn, lambda: abort("@maya"))
    timer = None
    if first and script.abort_after is not None:
        timer = loop.call_later(script.abort_after, abort, "@noor")
    with structlog.testing.capture_logs():
        outcome = loop.play(run(asked(), world, world.tools, script.limits, journal, world.stop))
    ended = loop.time()
    if timer is not None:
        timer.cancel()
    loop.cancel_rest()
    return Life(world, outcome, ended - began)
