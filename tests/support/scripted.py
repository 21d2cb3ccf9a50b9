"""Scripted models, tools from literals, and a clock that tests move: for driving the real loop."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

from pydantic import Field

from bot.loop.journal import MemoryJournal
from bot.loop.limits import Limits
from bot.loop.question import Question, parse
from bot.loop.stopping import Clock, Stop
from bot.loop.toolbox import Toolbox
from bot.loop.wire import Finish, ModelError, Request, ToolCall, Turn, Usage
from tools.base import Arguments, CallContext, Effect, Status, Tool, ToolResult
from tools.records import (
    Confidence,
    Deploy,
    DeploysFound,
    DiffShown,
    Direction,
    Highlight,
    Incident,
    Reason,
    Suspect,
    SuspectsRanked,
)

NOW = datetime(2026, 11, 29, 2, 14, tzinfo=UTC)
CATALOG = {
    "checkout": "checkout",
    "payments-api": "payments-api",
    "payments": "payments-api",
    "web": "web",
    "ledger": "ledger",
}


def called(name: str, arguments: dict[str, Any] | str | None = None, *, id: str = "c") -> ToolCall:  # noqa: A002
    raw = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
    return ToolCall(id=id, name=name, arguments=raw)


def turn(
    *calls: ToolCall,
    text: str = "",
    finish: Finish = Finish.TOOL_USE,
    tokens: int | None = 10,
) -> Turn:
    return Turn(
        text=text,
        calls=calls,
        finish=finish,
        usage=Usage(input_tokens=tokens, output_tokens=0 if tokens is not None else None),
        model="scripted",
    )


def answer(
    headline: str,
    *claims: tuple[str, Sequence[str]],
    unknowns: Sequence[str] = (),
    confidence: str = "high",
) -> ToolCall:
    return called(
        "answer",
        {
            "headline": headline,
            "claims": [{"text": text, "evidence": list(ids)} for text, ids in claims],
            "unknowns": list(unknowns),
            "confidence": confidence,
        },
    )


Play = Turn | ModelError | Callable[[Request], Awaitable[Turn]]


class ScriptedModel:
    """Plays its turns in order; asking for more than it has is a failure of the test."""

    name = "scripted"

    def __init__(self, *plays: Play) -> None:
        self._plays = list(plays)
        self.requests: list[Request] = []

    async def complete(self, request: Request) -> Turn:
        self.requests.append(request)
        play = self._plays.pop(0)
        match play:
            case ModelError():
                raise play
            case Turn():
                return play.model_copy(update={"model": self.name})
            case _:
                return await play(request)

    @property
    def left(self) -> int:
        return len(self._plays)


class LookupArguments(Arguments):
    what: str = Field(default="thing", description="What to look up.")
    limit: int = Field(default=5, ge=1, le=50)


class Lookup(Tool[LookupArguments]):
    """A read whose behaviour a test gives as a function."""

    name: ClassVar[str] = "lookup"
    description: ClassVar[str] = "Look something up."
    case_insensitive: ClassVar[frozenset[str]] = frozenset({"what"})
    arguments: type[LookupArguments] = LookupArguments

    def __init__(
        self, does: Callable[[LookupArguments, CallContext], Awaitable[ToolResult]] | None = None
    ) -> None:
        self._does = does
        self.ran: list[str] = []

    async def run(self, arguments: LookupArguments, context: CallContext) -> ToolResult:
        self.ran.append(arguments.what)
        if self._does is not None:
            return await self._does(arguments, context)
        return found(f"{arguments.what} was found")


class RestartArguments(Arguments):
    service: str


class Restart(Tool[RestartArguments]):
    """A write: the loop must never run it."""

    name: ClassVar[str] = "restart"
    description: ClassVar[str] = "Restart a service."
    effect: ClassVar[Effect] = Effect.WRITE
    arguments: type[RestartArguments] = RestartArguments

    async def run(self, arguments: RestartArguments, context: CallContext) -> ToolResult:
        raise AssertionError("a write was run by the loop")


class Canned(Tool[LookupArguments]):
    """A tool of any name that returns one result."""

    description: ClassVar[str] = "Canned."
    arguments: type[LookupArguments] = LookupArguments

    def __init__(self, name: str, result: ToolResult) -> None:
        self.name = name  # type: ignore[misc]
        self._result = result

    async def run(self, arguments: LookupArguments, context: CallContext) -> ToolResult:
        return self._result


def found(text: str, value: Any = None) -> ToolResult:
    return ToolResult(status=Status.OK, summary=text[:200], text=text, value=value)


def nothing(text: str, value: Any = None) -> ToolResult:
    return ToolResult(status=Status.EMPTY, summary=text[:200], text=text, value=value)


class NoRedaction:
    """For tests whose subject is not redaction."""

    def text(self, text: str) -> str:
        return text

    def result(self, result: ToolResult) -> ToolResult:
        return result


def toolbox(*tools: Tool[Any]) -> Toolbox:
    return Toolbox(tools, NoRedaction())


class FakeTime:
    """Monotonic seconds that move only when told."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def clock(self) -> Clock:
        return Clock(
            monotonic=lambda: self.seconds, now=lambda: NOW + timedelta(seconds=self.seconds)
        )


def stop_after(seconds: float = 60.0, clock: Clock | None = None) -> Stop:
    clock = clock or Clock()
    return Stop(clock, clock.monotonic() + seconds)


def asked(text: str = "What was found?", thread: tuple[str, ...] = ()) -> Question:
    return parse(text, NOW, CATALOG, thread)


async def play(
    model: ScriptedModel,
    *tools: Tool[Any],
    question: Question | None = None,
    limits: Limits | None = None,
    journal: MemoryJournal | None = None,
    stop: Stop | None = None,
) -> Any:
    """Run the real loop and return its outcome."""
    from bot.loop.engine import run  # noqa: PLC0415 - keeps this module importable on its own

    return await run(
        question or asked(),
        model,
        toolbox(*tools),
        limits or Limits(),
        journal or MemoryJournal(),
        stop or stop_after(),
    )


async def forever(*_: object) -> Any:
    await asyncio.Event().wait()


# --- records of the 02:14 incident ----------------------------------------------------------------


def deploy(number: int = 4471, service: str = "payments-api", **fields: Any) -> Deploy:
    base: dict[str, Any] = {
        "number": number,
        "id": f"d{number}",
        "service": service,
        "sha": f"{number:x}".ljust(40, "a"),
        "ref": "v2.3.1",
        "actor": "maya",
        "started_at": datetime(2026, 11, 29, 1, 42, tzinfo=UTC),
        "finished_at": datetime(2026, 11, 29, 1, 44, tzinfo=UTC),
    }
    return Deploy(**(base | fields))


INCIDENT = Incident(
    id="INC-7",
    title="Checkout errors",
    services=("checkout",),
    started_at=datetime(2026, 11, 29, 2, 6, tzinfo=UTC),
)


def ranking(confidence: Confidence = Confidence.HIGH) -> ToolResult:
    web = deploy(4470, "web", ref="v9.0.0", finished_at=datetime(2026, 11, 29, 1, 5, tzinfo=UTC))
    value = SuspectsRanked(
        asked="checkout",
        incident=INCIDENT,
        onset=datetime(2026, 11, 29, 2, 6, tzinfo=UTC),
        suspects=(
            Suspect(
                deploy=deploy(),
                score=3.0,
                before_onset=timedelta(minutes=22),
                reasons=(
                    Reason(name="dependency", score=1, text="checkout depends on payments-api"),
                ),
            ),
            Suspect(
                deploy=web,
                score=1.0,
                before_onset=timedelta(minutes=61),
                reasons=(Reason(name="page", score=1, text="touches checkout's page only"),),
            ),
        ),
        confidence=confidence,
        considered=6,
        not_searched=("feature flags",),
    )
    text = (
        "1. payments-api 4471 finished 01:44 UTC, 22 min before onset\n"
        "2. web 4470 finished 01:05 UTC, 61 min before onset"
    )
    return found(text, value)


def diff() -> ToolResult:
    value = DiffShown(
        deploy=deploy(),
        base=deploy(4466, ref="v2.3.0"),
        base_sha="b" * 39 + "1",
        base_why="the previous successful deploy",
        direction=Direction.FORWARD,
        commits=(),
        commits_total=4,
        files=(),
        files_total=12,
        added=80,
        removed=31,
        highlights=(
            Highlight(
                path="config/retry.yaml",
                key="retry.budget",
                before="5s",
                after="1s",
                text="retry.budget: 5s → 1s",
            ),
        ),
        highlights_total=1,
    )
    return found("12 files changed\nconfig/retry.yaml  retry.budget: 5s → 1s", value)


def no_deploy(number: str = "9999") -> ToolResult:
    value = DeploysFound(
        asked=f"deploy {number}", asked_deploy=number, deploys=(), total=0, nearest=("4473",)
    )
    return nothing(f"Deploy {number} does not exist in any source. Nearest: 4473.", value)
