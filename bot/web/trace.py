"""A run's journal as the trace page shows it: a list of steps, each with its calls.

Owns turning events and blobs into plain values for a template. Knows no HTTP and no markup; every
text in it is other people's and is escaped by the template.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise
from typing import assert_never

from pydantic import JsonValue, ValidationError

from bot.loop.contradictions import Contradiction, contradictions
from bot.loop.journal import (
    Appended,
    Decided,
    Event,
    ModelCalled,
    ModelFailed,
    ModelReturned,
    RunEnded,
    RunStarted,
    ToolCalled,
    ToolReturned,
    WasCut,
)
from bot.loop.limits import Limits
from bot.loop.outcome import ANSWER, Answer, Failure, Outcome, Proposal
from bot.loop.state import State
from bot.loop.wire import Turn
from bot.models.prices import paid_for
from bot.models.settings import ModelSettings
from bot.runs.feedback import Feedback
from bot.runs.records import RunRecord
from bot.runs.reply_text import ReplyText, mark, reply_text
from bot.web.postmortem import postmortem
from tools.base import ToolResult

NO_FEEDBACK = Feedback()
NO_MODEL = ModelSettings()
_RELOADS = ((timedelta(seconds=5), 1), (timedelta(seconds=30), 2))
_SELDOM = 5
"""Seconds between two looks at a run at work, by its age: whole ones, as HTML takes no others."""
SHOWN_CHARS = 2_000
"""Of an observation, before the rest is folded away."""


@dataclass
class CallView:
    """One call: its arguments and, once it returned, what it returned."""

    mark: str
    tool: str
    arguments: tuple[tuple[str, str], ...]
    status: str = "running"
    summary: str = ""
    seconds: float | None = None
    shown: str = ""
    whole: str = ""
    value: str = ""
    observation: str = ""
    result: ToolResult | None = None

    @property
    def is_answer(self) -> bool:
        return self.tool == ANSWER


@dataclass
class StepView:
    """One turn: THINK, then ACT and OBSERVE or a notice. ``cost`` is empty where nobody is paid."""

    number: int
    model: str = ""
    turn: Turn | None = None
    cost: str = ""
    thought: str = ""
    finish: str = ""
    seconds: float | None = None
    request_size: int | None = None
    decision: str = ""
    said: str = ""
    notice: str = ""
    failed_calls: list[str] = field(default_factory=list)
    cut: str = ""
    request: list[str] = field(default_factory=list)
    flags: tuple[Contradiction, ...] = ()
    calls: list[CallView] = field(default_factory=list)
    appended: list[str] = field(default_factory=list)
    path: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class TraceView:
    """``postmortem`` is empty, and ``reload_seconds`` counts, while the run is at work."""

    run: RunRecord
    reply: ReplyText | None
    answered: bool
    steps: tuple[StepView, ...]
    limits: tuple[tuple[str, str], ...]
    postmortem: str
    reload_seconds: int
    feedback: Feedback
    shown_at: datetime
    cost: str
    cached_tokens: int
    cache_written_tokens: int


def trace_view(
    run: RunRecord,
    events: Sequence[Event],
    blobs: Mapping[str, str],
    link: str,
    now: datetime,
    feedback: Feedback = NO_FEEDBACK,
    model: ModelSettings = NO_MODEL,
) -> TraceView:
    """All that the page shows of one run. ``link`` is the page's own address; ``model`` has the
    prices.
    """
    steps: dict[int, StepView] = {}
    limits: tuple[tuple[str, str], ...] = ()
    for event in events:
        match event:
            case RunStarted():
                limits = _limits(event.limits)
            case RunEnded():
                if steps:
                    _pass(steps[max(steps)], _end(event.outcome))
            case _:
                _add(steps.setdefault(event.step, StepView(event.step)), event, blobs)
    ordered = tuple(steps[number] for number in sorted(steps))
    for step in ordered:
        if step.turn and (cost := paid_for((step.turn,), model.prices)):
            step.cost = cost.of_one_call(model.currency)
    for before, step in pairwise(ordered):
        step.flags = contradictions(step.thought, _results(before))
    found = [(c.observation, c.tool, c.result) for s in ordered for c in s.calls if c.result]
    turns = [step.turn for step in ordered if step.turn]
    paid = paid_for(turns, model.prices)
    return TraceView(
        run=run,
        reply=reply_text(run.outcome, run.seconds) if run.outcome else None,
        answered=run.outcome is not None and run.outcome.kind != "failure",
        steps=ordered,
        limits=limits,
        postmortem=postmortem(run, [one for one in found if one[1] != ANSWER], link)
        if run.outcome
        else "",
        reload_seconds=_reload_seconds(now - run.accepted_at),
        feedback=feedback,
        shown_at=now,
        cost=paid.text(model.currency) if paid else "",
        cached_tokens=sum(turn.usage.cached_tokens or 0 for turn in turns),
        cache_written_tokens=sum(turn.usage.cache_written_tokens or 0 for turn in turns),
    )


def _reload_seconds(age: timedelta) -> int:
    """Soon while the run is young, as most end then."""
    return next((each for before, each in _RELOADS if age < before), _SELDOM)


def _end(outcome: Outcome) -> str:
    """The last state of a run as people call it: it always stops, and only a failure reads as that."""
    match outcome:
        case Answer():
            return "answered"
        case Proposal():
            return "proposed"
        case Failure():
            return State.STOPPED.value
        case _:
            assert_never(outcome)


def _results(step: StepView) -> list[tuple[str, ToolResult]]:
    """What the step's tools returned, for the thought that came after."""
    return [(c.observation, c.result) for c in step.calls if c.result and not c.is_answer]


def _add(
    step: StepView,
    event: ModelCalled
    | ModelReturned
    | ModelFailed
    | Decided
    | ToolCalled
    | ToolReturned
    | Appended
    | WasCut,
    blobs: Mapping[str, str],
) -> None:
    match event:
        case ModelCalled():
            step.model, step.request_size = event.model, event.size
            step.request += [_readable(blobs[one]) for one in event.added if one in blobs]
            _pass(step, event.state.value)
        case ModelReturned(turn=turn):
            step.model, step.seconds = turn.model, event.seconds
            step.finish = turn.finish.value
            step.turn = turn
        case ModelFailed():
            step.failed_calls.append(_failed(event))
        case Decided():
            step.decision, step.thought = event.decision, event.thought
            step.said = event.text if event.decision != "notice" else ""
            if event.stop is not None:
                step.said = f"{event.stop.value} {event.text}".strip()
                _pass(step, "stopped")
        case ToolCalled():
            _pass(step, event.state.value)
            step.calls.append(
                CallView(mark(event.observation), event.tool, _arguments(event.arguments))
            )
        case ToolReturned():
            _returned(step, event, blobs)
        case Appended():
            _pass(step, event.state.value)
            step.notice = event.notice
            for shown in event.observations:
                _call(step, shown.observation, shown.tool, shown.status.value, shown.summary)
                number = mark(shown.observation)
                step.appended.append(f"[{number}] {shown.shown:,} of {shown.of:,} characters")
        case WasCut():
            by = f" by {event.by}" if event.by else ""
            step.cut = f"cut in {event.phase.value}: {event.reason.value}{by}"
        case _:
            assert_never(event)


def _failed(event: ModelFailed) -> str:
    again = ""
    if event.handed_to:
        again = f"; {event.handed_to} is asked from here on"
    elif event.again_in is not None:
        again = f"; tried again in {event.again_in:.1f} s"
    return (
        f"call {event.attempt} failed after {event.seconds:.2f} s "
        f"({event.error.value}): {event.message.rstrip('.')}{again}"
    )


def _returned(step: StepView, event: ToolReturned, blobs: Mapping[str, str]) -> None:
    _call(step, event.observation, event.tool, event.status.value, event.summary)
    view = _of(step, event.observation)
    view.seconds = event.seconds
    try:
        result = ToolResult.model_validate_json(blobs[event.result])
    except (KeyError, ValidationError):
        view.shown = "The recorded result cannot be read by this version of the bot."
        return
    view.observation, view.result = event.observation, result
    view.whole = result.text
    view.shown = _beginning(result.text)
    if result.value is not None:
        view.value = json.dumps(result.value.model_dump(mode="json"), indent=2, ensure_ascii=False)


def _call(step: StepView, observation: str, tool: str, status: str, summary: str) -> None:
    """The call's status; a call that was refused has no event of its own before this."""
    number = mark(observation)
    if all(view.mark != number for view in step.calls):
        step.calls.append(CallView(number, tool, ()))
    view = _of(step, observation)
    view.status, view.summary = status, summary


def _of(step: StepView, observation: str) -> CallView:
    return next(view for view in step.calls if view.mark == mark(observation))


def _readable(message: str) -> str:
    """A message of the request as it was sent, in readable lines."""
    return json.dumps(json.loads(message), indent=2, ensure_ascii=False)


def _pass(step: StepView, state: str) -> None:
    if step.path[-1:] != [state]:
        step.path.append(state)


def _beginning(text: str) -> str:
    """Whole lines up to the bound, or the text itself."""
    if len(text) <= SHOWN_CHARS:
        return text
    cut = text.rfind("\n", 0, SHOWN_CHARS)
    return text[: cut if cut > 0 else SHOWN_CHARS]


def _arguments(arguments: Mapping[str, JsonValue]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (key, value if isinstance(value, str) else json.dumps(value, indent=1, ensure_ascii=False))
        for key, value in arguments.items()
    )


def _limits(limits: Limits) -> tuple[tuple[str, str], ...]:
    """Each limit by its name, as it is written in oncall.toml."""
    return tuple((name, f"{value:,}".removesuffix(".0")) for name, value in limits)
