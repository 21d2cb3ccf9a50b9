"""What is told of a run while it goes on: structured events for logs, four lines a turn for people.

One event per phase of each step (M16), made from the journal's events, which are redacted already.
Owns the fields' names and the lines' form; knows no store and no surface.
"""

from __future__ import annotations

import contextlib
import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO, assert_never

from bot.loop.journal import (
    Appended,
    CallShown,
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
from bot.loop.limits import StopReason
from bot.loop.outcome import ANSWER, Answer, Failure, Outcome, Proposal
from tools.base import Status

MAX_ARGUMENT = 80
"""Characters of one argument in a debug line."""


def stop_reason_of(outcome: Outcome) -> StopReason:
    """The one reason of a run's end (M7)."""
    match outcome:
        case Answer():
            return StopReason.ANSWERED
        case Failure(reason=reason):
            return reason
        case Proposal():
            return StopReason.PROPOSED
        case _:
            assert_never(outcome)


# --- logs --------------------------------------------------------------------------------------


class _Sink:
    """Where log lines go: a file, made when needed, or a stream. A log that fails fails nobody."""

    def __init__(self, target: Path | TextIO) -> None:
        self._target = target

    def write(self, text: str) -> int:
        with contextlib.suppress(OSError, ValueError):
            if isinstance(self._target, Path):
                with self._target.open("a", encoding="utf-8") as file:
                    file.write(text)
            else:
                self._target.write(text)
        return len(text)

    def flush(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            if not isinstance(self._target, Path):
                self._target.flush()


def log_to(target: Path | TextIO, *, verbose: bool) -> None:
    """Send the bot's logs, one JSON object a line, to a file or a stream.

    ``verbose`` sends every event of every run, else only what went wrong.
    """
    import structlog  # noqa: PLC0415 - not every command logs

    level = logging.INFO if verbose else logging.WARNING
    sink: Any = _Sink(target)
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(ensure_ascii=False, default=str),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(sink),
        cache_logger_on_first_use=False,
    )


def log_event(run: str, event: Event) -> None:
    """One structured event of the run of this id."""
    import structlog  # noqa: PLC0415 - as above

    structlog.get_logger("run").info(event.kind, run=run, **fields(event))


def fields(event: Event) -> Mapping[str, object]:
    """What a log says of one event: values, no text of messages."""
    match event:
        case RunStarted(model=model, version=version):
            return {"model": model, "journal_version": version}
        case ModelCalled():
            return {**_where(event), "model": event.model, "size": event.size}
        case ModelReturned(turn=turn):
            return {
                **_where(event),
                "model": turn.model,
                "latency": round(event.seconds, 3),
                "input_tokens": turn.usage.input_tokens,
                "output_tokens": turn.usage.output_tokens,
                "cached_tokens": turn.usage.cached_tokens,
                "cache_written_tokens": turn.usage.cache_written_tokens,
                "finish": turn.finish.value,
            }
        case ModelFailed():
            return {
                **_where(event),
                "model": event.model,
                "attempt": event.attempt,
                "error": event.error.value,
                "message": event.message,
                "again_in": event.again_in,
                "handed_to": event.handed_to,
                "latency": round(event.seconds, 3),
            }
        case Decided():
            return {
                **_where(event),
                "decision": event.decision,
                "text": event.text,
                "thought": event.thought,
                "stop": event.stop.value if event.stop else None,
            }
        case ToolCalled():
            return {
                **_where(event),
                "call": event.observation,
                "tool": event.tool,
                "arguments": event.arguments,
            }
        case ToolReturned():
            return {
                **_where(event),
                "call": event.observation,
                "tool": event.tool,
                "ok": event.status is not Status.ERROR,
                "status": event.status.value,
                "size": event.size,
                "latency": round(event.seconds, 3),
            }
        case Appended():
            calls = [shown.observation for shown in event.observations]
            return {**_where(event), "calls": calls, "notice": event.notice}
        case WasCut():
            return {
                "step": event.step,
                "phase": event.phase.value,
                "stop": event.reason.value,
                "by": event.by,
            }
        case RunEnded(outcome=outcome):
            return {
                "state": event.state.value,
                "stop": stop_reason_of(outcome).value,
                "steps": outcome.steps,
            }
        case _:
            assert_never(event)


def _where(
    event: ModelCalled
    | ModelReturned
    | ModelFailed
    | Decided
    | ToolCalled
    | ToolReturned
    | Appended,
) -> dict[str, object]:
    return {"step": event.step, "state": event.state.value, "phase": event.phase.value}


# --- four lines a turn -------------------------------------------------------------------------


class TurnLines:
    """Events in, lines out: a turn, its calls, what they returned, how long it took."""

    def __init__(self) -> None:
        self._model_seconds = 0.0
        self._tool_seconds = 0.0

    def of(self, event: Event) -> tuple[str, ...]:
        match event:
            case ModelReturned():
                self._model_seconds += event.seconds
                return (_turn_line(event),)
            case ModelFailed():
                self._model_seconds += event.seconds
                again = f", again in {event.again_in:.1f} s" if event.again_in is not None else ""
                again = f", {event.handed_to} goes on" if event.handed_to else again
                return (f"turn {event.step}  {event.error.value}: {event.message}{again}",)
            case Decided(decision="stop", stop=stop, text=text):
                return (f"  stop: {stop.value if stop else ''} {text}".rstrip(),)
            case ToolCalled():
                return (f"  -> {call_text(event.tool, event.arguments)}",)
            case ToolReturned():
                self._tool_seconds += event.seconds
                return ()
            case Appended():
                return self._appended(event)
            case WasCut():
                by = f" by {event.by}" if event.by else ""
                return (f"  cut in {event.phase.value}: {event.reason.value}{by}",)
            case RunStarted() | ModelCalled() | Decided() | RunEnded():
                return ()
            case _:
                assert_never(event)

    def _appended(self, event: Appended) -> tuple[str, ...]:
        lines = [_shown_line(shown) for shown in event.observations]
        if event.notice:
            lines.append(f"  !! {event.notice}")
        model, tool = self._model_seconds, self._tool_seconds
        lines.append(f"  elapsed {model + tool:.2f} s  model {model:.2f} s  tool {tool:.2f} s")
        self._model_seconds = self._tool_seconds = 0.0
        return tuple(lines)


def call_text(tool: str, arguments: Mapping[str, Any]) -> str:
    """A call as code: ``get_diff(deploy="4471")``; an answer's arguments are the reply's."""
    if tool == ANSWER:
        return f"{ANSWER}(…)"
    parts = (f"{key}={_short(value)}" for key, value in arguments.items() if value is not None)
    return f"{tool}({', '.join(parts)})"


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_ARGUMENT else f"{text[: MAX_ARGUMENT - 1]}…"


def _turn_line(event: ModelReturned) -> str:
    usage = event.turn.usage
    parts = [f"turn {event.step}"]
    if usage.input_tokens is not None:
        parts.append(f"in {usage.input_tokens:,} tok")
    if usage.output_tokens is not None:
        parts.append(f"out {usage.output_tokens:,} tok")
    parts.append(f"stop {event.turn.finish.value}")
    if usage.cached_tokens is not None:
        parts.append(f"cached {usage.cached_tokens:,}")
    return "  ".join(parts)


def _shown_line(shown: CallShown) -> str:
    size = f", {shown.shown:,} of {shown.of:,} chars" if shown.of else ""
    return f"  <- {shown.status.value} {shown.summary}{size} ({shown.observation})"
