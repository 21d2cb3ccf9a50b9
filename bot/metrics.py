"""Numbers for Prometheus: what runs, models, tools and replies did, and how busy the bot is.

Owns the names and the labels. Counts come from the journal's events, as the log's do, so that the two
say the same; what is so just now (queue, replies, Slack) is asked for when somebody looks. A label has
few values and never a text of people: no channel, no question, no user. Imported by ``serve`` alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import assert_never, cast

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
)
from prometheus_client.exposition import choose_encoder

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
from bot.loop.wire import Turn
from bot.models.prices import FREE, cost_of, tokens_of
from bot.models.settings import ModelSettings
from bot.runs.dispatch import Load
from bot.runs.records import ReplyState
from bot.telemetry import stop_reason_of

LONGEST_RUN_SECONDS = 3_600.0
"""A run that began here and did not end by then was taken over by another process."""

_without_created = cast("Callable[[], None]", disable_created_metrics)  # it has no types
_RUN_SECONDS = (0.1, 0.5, 1, 2, 5, 10, 20, 30, 45, 60, 120, 300)
_CALL_SECONDS = (0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 60)
_TOOL_SECONDS = (0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
_STEPS = (1, 2, 3, 4, 5, 6, 8, 12, 20, 50)


@dataclass(frozen=True)
class Now:
    """What is so when somebody looks. ``replies`` is ``None`` while the store does not answer,
    ``slack_up`` for a bot that is not in Slack.
    """

    load: Load
    replies: Mapping[ReplyState, int] | None
    slack_up: bool | None


class Metrics:
    """Counts of this process since it began. ``monotonic`` is in seconds."""

    def __init__(self, model: ModelSettings, monotonic: Callable[[], float]) -> None:
        _without_created()  # when a series began: nobody asks, and it doubles the page
        self._prices = model.prices
        self._currency = model.currency
        self._monotonic = monotonic
        self._begun: dict[str, float] = {}
        self._registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        self._runs = Counter(
            "oncall_runs",
            "Runs that ended, by outcome and by the reason to stop.",
            ("outcome", "stop"),
            registry=registry,
        )
        self._run_seconds = Histogram(
            "oncall_run_seconds",
            "From a run's first step to its outcome, for runs that began in this process.",
            registry=registry,
            buckets=_RUN_SECONDS,
        )
        self._steps = Histogram(
            "oncall_run_steps", "Steps of a run.", registry=registry, buckets=_STEPS
        )
        self._tokens = Counter(
            "oncall_model_tokens",
            "Tokens, each once: input, cached (read from a cache), cache_write, output.",
            ("model", "direction"),
            registry=registry,
        )
        self._money = Counter(
            "oncall_model_cost",
            "Money by the prices in the settings; see oncall_model_unpriced_calls.",
            ("model", "currency"),
            registry=registry,
        )
        self._unpriced = Counter(
            "oncall_model_unpriced_calls",
            "Calls that are not in oncall_model_cost: no price is set, or no usage was reported.",
            ("model", "why"),
            registry=registry,
        )
        self._call_seconds = Histogram(
            "oncall_model_call_seconds",
            "Of one model call, whether it brought a turn or failed.",
            ("model",),
            registry=registry,
            buckets=_CALL_SECONDS,
        )
        self._call_errors = Counter(
            "oncall_model_call_errors",
            "Model calls that brought no turn.",
            ("model", "kind"),
            registry=registry,
        )
        self._tool_seconds = Histogram(
            "oncall_tool_call_seconds",
            "Of one tool call; `answer` is the check of an answer.",
            ("tool",),
            registry=registry,
            buckets=_TOOL_SECONDS,
        )
        self._tool_calls = Counter(
            "oncall_tool_calls",
            "Tool calls by what came back: ok, empty, error.",
            ("tool", "status"),
            registry=registry,
        )
        self._cuts = Counter(
            "oncall_cuts",
            "Phases that the deadline or an abort cut short.",
            ("phase", "reason"),
            registry=registry,
        )
        self._active = Gauge("oncall_runs_active", "Runs at work.", registry=registry)
        self._waiting = Gauge(
            "oncall_runs_waiting", "Questions that wait for their turn.", registry=registry
        )
        self._replies = Gauge(
            "oncall_replies", "Replies in the store, by state.", ("state",), registry=registry
        )
        self._store_up = Gauge(
            "oncall_store_up", "1 while the store answers, 0 while not.", registry=registry
        )
        self._slack_up = Gauge(
            "oncall_slack_up",
            "1 while questions from Slack reach the bot, 0 while not, NaN without Slack.",
            registry=registry,
        )

    def saw(self, run: str, event: Event) -> None:
        """Count one event of the run of this id."""
        match event:
            case RunStarted():
                self._began(run)
            case ModelReturned(turn=turn, seconds=seconds):
                self._call_seconds.labels(turn.model).observe(seconds)
                self._spent(turn)
            case ModelFailed(model=model, error=error, seconds=seconds):
                self._call_seconds.labels(model).observe(seconds)
                self._call_errors.labels(model, error.value).inc()
            case ToolReturned(tool=tool, status=status, seconds=seconds):
                self._tool_seconds.labels(tool).observe(seconds)
                self._tool_calls.labels(tool, status.value).inc()
            case WasCut(phase=phase, reason=reason):
                self._cuts.labels(phase.value, reason.value).inc()
            case RunEnded(outcome=outcome):
                self._runs.labels(outcome.kind, stop_reason_of(outcome).value).inc()
                self._steps.observe(outcome.steps)
                if (began := self._begun.pop(run, None)) is not None:
                    self._run_seconds.observe(self._monotonic() - began)
            case ModelCalled() | Decided() | ToolCalled() | Appended():
                pass
            case _:
                assert_never(event)

    def page(self, accept: str, now: Now) -> tuple[bytes, str]:
        """The numbers in the form that ``accept`` asks for, and its content type."""
        self._active.set(now.load.running)
        self._waiting.set(now.load.waiting)
        self._store_up.set(now.replies is not None)
        self._replies.clear()
        for state, number in (now.replies or {}).items():
            self._replies.labels(state.value).set(number)
        self._slack_up.set(float("nan") if now.slack_up is None else now.slack_up)
        encode, kind = choose_encoder(accept)
        return encode(self._registry), kind

    def _began(self, run: str) -> None:
        now = self._monotonic()
        self._begun = {r: at for r, at in self._begun.items() if now - at < LONGEST_RUN_SECONDS}
        self._begun[run] = now

    def _spent(self, turn: Turn) -> None:
        tokens = tokens_of(turn.usage)
        if tokens is not None:
            for direction, number in (
                ("input", tokens.input),
                ("cached", tokens.cached),
                ("cache_write", tokens.cache_write),
                ("output", tokens.output),
            ):
                self._tokens.labels(turn.model, direction).inc(number)
        if turn.model in FREE:
            return
        cost = cost_of((turn,), self._prices)
        if cost.whole:
            self._money.labels(turn.model, self._currency).inc(cost.amount)
        else:
            why = "no_price" if cost.unpriced else "no_usage"
            self._unpriced.labels(turn.model, why).inc()
