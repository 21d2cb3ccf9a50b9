"""One model call: how long it is waited for, when it is tried again, and who is asked next."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from bot.loop.engine import run
from bot.loop.journal import (
    Event,
    MemoryJournal,
    ModelCalled,
    ModelFailed,
    ModelReturned,
    RunStarted,
    WasCut,
)
from bot.loop.limits import Limits, StopReason
from bot.loop.outcome import Answer, Failure, Outcome
from bot.loop.state import Phase
from bot.loop.stopping import Clock, Stop
from bot.loop.wire import Model, ModelError, ModelErrorKind, Request, Turn
from support.scripted import NOW, Lookup, Play, ScriptedModel, answer, asked, called, toolbox, turn
from support.virtual_loop import VirtualLoop

READ = turn(called("lookup", {"what": "apples"}))
DONE = turn(answer("apples was found", ("apples was found", ["o1"])))
DEADLINE = 60.0


@pytest.fixture
def loop() -> Iterator[VirtualLoop]:
    loop = VirtualLoop()
    asyncio.set_event_loop(loop)
    yield loop
    asyncio.set_event_loop(None)
    loop.close()


def ask(
    loop: VirtualLoop,
    model: Model,
    journal: MemoryJournal | None = None,
    limits: Limits | None = None,
    then: Callable[[Stop], object] = lambda stop: None,
) -> tuple[Outcome, list[Event]]:
    """Run one question in virtual time; ``then`` may plan an abort."""
    journal = journal or MemoryJournal()
    clock = Clock(monotonic=loop.time, now=lambda: NOW)
    stop = Stop(clock, loop.time() + DEADLINE)
    then(stop)
    tools = toolbox(Lookup())
    work = run(asked(), model, tools, limits or Limits(), journal, stop)
    return loop.play(work), journal.events


def failed(events: list[Event]) -> list[ModelFailed]:
    return [event for event in events if isinstance(event, ModelFailed)]


def busy(retry_after: float | None = None) -> ModelError:
    return ModelError(ModelErrorKind.OVERLOADED, "busy", retry_after=retry_after)


def after(seconds: float, end: Turn | ModelError) -> Callable[[Request], Any]:
    async def answers(request: Request) -> Turn:
        await asyncio.sleep(seconds)
        if isinstance(end, ModelError):
            raise end
        return end.model_copy(update={"model": "scripted"})

    return answers


class Chain:
    """Two models, one behind the other."""

    def __init__(self, one: ScriptedModel, two: ScriptedModel) -> None:
        self._models = [one, two]
        self.heard: list[ModelError] = []
        for model, name in zip(self._models, ("one", "two"), strict=True):
            model.name = name

    @property
    def name(self) -> str:
        return self._models[0].name

    first = "one"

    @property
    def has_next(self) -> bool:
        return len(self._models) > 1

    def hand_over(self, error: ModelError) -> bool:
        self.heard.append(error)
        if not self.has_next:
            return False
        self._models.pop(0)
        return True

    def go_on_with(self, name: str) -> None:
        while any(model.name == name for model in self._models[1:]):
            self._models.pop(0)

    async def complete(self, request: Request) -> Turn:
        return await self._models[0].complete(request)


def test_the_waits_before_retries_double_and_each_try_is_in_the_trace(loop: VirtualLoop) -> None:
    model = ScriptedModel(busy(), busy(), busy())
    outcome, events = ask(loop, model)
    assert isinstance(outcome, Failure)
    assert outcome.reason is StopReason.MODEL_UNAVAILABLE
    assert outcome.detail == "busy"
    assert [(e.attempt, e.again_in) for e in failed(events)] == [(1, 0.5), (2, 1.0), (3, None)]
    assert loop.time() == 1.5


def test_a_third_retry_would_wait_two_seconds(loop: VirtualLoop) -> None:
    model = ScriptedModel(busy(), busy(), busy(), READ, DONE)
    outcome, _ = ask(loop, model, limits=Limits(model_retries=3))
    assert isinstance(outcome, Answer)
    assert loop.time() == 3.5


@pytest.mark.parametrize(("wait", "waited"), [(59.0, True), (60.0, False), (61.0, False)])
def test_the_wait_that_a_provider_names_is_kept_if_it_fits_the_deadline(
    loop: VirtualLoop, wait: float, *, waited: bool
) -> None:
    outcome, events = ask(loop, ScriptedModel(busy(wait), READ, DONE))
    assert isinstance(outcome, Answer) is waited
    assert failed(events)[0].again_in == (wait if waited else None)
    assert loop.time() == (wait if waited else 0.0)


def test_a_stop_while_waiting_for_a_retry_ends_it_at_once_and_names_who(loop: VirtualLoop) -> None:
    model = ScriptedModel(busy(30.0))
    outcome, events = ask(loop, model, then=lambda stop: loop.call_later(2, stop.abort, "@maya"))
    assert isinstance(outcome, Failure)
    assert outcome.reason is StopReason.ABORTED
    assert outcome.detail == "Stopped by @maya."
    (cut,) = [e for e in events if isinstance(e, WasCut)]
    assert cut == WasCut(step=1, phase=Phase.CALL, reason=StopReason.ABORTED, by="@maya")
    assert loop.time() == 2.0


def test_the_trace_says_how_long_a_failed_call_took(loop: VirtualLoop) -> None:
    async def breaks(request: Request) -> Turn:
        await asyncio.sleep(3)
        raise asyncio.CancelledError

    loop.play(asyncio.sleep(100))  # a clock starts anywhere
    model = ScriptedModel(READ, after(4, busy(0.0)), breaks, after(2, DONE))
    outcome, events = ask(loop, model)
    assert isinstance(outcome, Answer)
    tries = failed(events)
    assert [(e.error, e.seconds) for e in tries] == [
        (ModelErrorKind.OVERLOADED, 4.0),
        (ModelErrorKind.NETWORK, 3.0),
    ]
    assert tries[1].message == "the call of scripted broke off"
    assert [e.seconds for e in events if isinstance(e, ModelReturned)] == [0.0, 2.0]


def test_a_model_that_is_late_is_told_with_its_time(loop: VirtualLoop) -> None:
    outcome, events = ask(loop, ScriptedModel(after(21, READ)))
    assert isinstance(outcome, Failure)
    assert outcome.detail == "scripted did not answer within 20 s"
    assert [(e.error, e.seconds, e.again_in) for e in failed(events)] == [
        (ModelErrorKind.TIMEOUT, 20.0, None)
    ]


def test_with_another_model_behind_it_one_call_takes_at_most_half_of_the_time_left(
    loop: VirtualLoop,
) -> None:
    loop.play(asyncio.sleep(100))  # a clock starts anywhere
    model = Chain(ScriptedModel(after(50, READ)), ScriptedModel(READ, DONE))
    outcome, events = ask(loop, model, limits=Limits(model_call_seconds=50))
    assert isinstance(outcome, Answer)
    assert [(e.error, e.seconds) for e in failed(events)] == [(ModelErrorKind.TIMEOUT, 30.0)]
    assert [e.kind for e in model.heard] == [ModelErrorKind.TIMEOUT]


def test_the_limit_of_a_call_holds_with_another_model_behind_it_as_well(loop: VirtualLoop) -> None:
    model = Chain(ScriptedModel(after(50, READ)), ScriptedModel(READ, DONE))
    _, events = ask(loop, model)
    assert [e.seconds for e in failed(events)] == [20.0]


def test_the_last_model_may_take_all_the_time_that_is_left(loop: VirtualLoop) -> None:
    model = Chain(ScriptedModel(after(50, READ)), ScriptedModel(after(25, READ), DONE))
    outcome, _ = ask(loop, model, limits=Limits(model_call_seconds=50))
    assert isinstance(outcome, Answer)
    assert loop.time() == 55.0


def test_a_busy_model_is_tried_once_more_and_then_the_next_with_tries_of_its_own(
    loop: VirtualLoop,
) -> None:
    model = Chain(ScriptedModel(busy(), busy(7.0)), ScriptedModel(busy(), busy(), READ, DONE))
    outcome, events = ask(loop, model)
    assert isinstance(outcome, Answer)
    assert outcome.model == "two"
    assert [(e.attempt, e.again_in) for e in failed(events)] == [
        (1, 0.5),
        (2, 0.0),
        (3, 0.5),
        (4, 1.0),
    ]
    assert [(e.kind, e.message, e.retry_after) for e in model.heard] == [
        (ModelErrorKind.OVERLOADED, "busy", 7.0)
    ]
    assert loop.time() == 2.0
    assert [(e.model, e.handed_to) for e in failed(events)] == [
        ("one", ""),
        ("one", "two"),
        ("two", ""),
        ("two", ""),
    ]
    assert outcome.instead_of == "one"
    assert next(e.model for e in events if isinstance(e, RunStarted)) == "one"


def test_a_run_that_begins_with_the_second_model_says_which_one_it_stands_in_for(
    loop: VirtualLoop,
) -> None:
    model = Chain(ScriptedModel(), ScriptedModel(READ, DONE))
    model.hand_over(busy())
    outcome, _ = ask(loop, model)
    assert (outcome.model, outcome.instead_of) == ("two", "one")


def test_an_answer_of_the_first_model_stands_in_for_no_other(loop: VirtualLoop) -> None:
    outcome, _ = ask(loop, Chain(ScriptedModel(READ, DONE), ScriptedModel()))
    assert (outcome.model, outcome.instead_of) == ("one", "")
    last, _ = ask(loop, ScriptedModel(turn(text="hm")), limits=Limits(max_steps=1))
    assert (last.model, last.instead_of) == ("scripted", "")


def test_a_run_that_died_after_a_handover_goes_on_with_the_model_that_it_had_got_to(
    loop: VirtualLoop,
) -> None:
    journal = MemoryJournal()
    model = Chain(ScriptedModel(busy(), busy()), ScriptedModel(busy(), busy(), READ, DONE))
    whole, _ = ask(loop, model, journal)
    ends = [i for i, e in enumerate(journal.events) if isinstance(e, ModelFailed | ModelReturned)]
    left: tuple[list[Play], ...] = ([busy(), busy(), READ], [busy(), READ], [READ], [])
    for at, plays in zip(ends[1:5], left, strict=True):
        half = MemoryJournal()
        half.events, half.blobs = journal.events[: at + 1], dict(journal.blobs)
        rest = Chain(ScriptedModel(), ScriptedModel(*plays, DONE))
        again, events = ask(loop, rest, half)
        assert again == whole
        assert [(e.attempt, e.again_in) for e in failed(events)] == [
            (1, 0.5),
            (2, 0.0),
            (3, 0.5),
            (4, 1.0),
        ]


@pytest.mark.parametrize(("wait", "waited"), [(11.0, True), (12.0, False), (13.0, False)])
def test_no_wait_eats_the_time_that_the_next_model_needs(
    loop: VirtualLoop, wait: float, *, waited: bool
) -> None:
    one = ScriptedModel(busy(wait), READ, DONE)
    model = Chain(one, ScriptedModel(READ, DONE))
    outcome, _ = ask(loop, model)
    assert outcome.model == ("one" if waited else "two")
    assert loop.time() == (wait if waited else 0.0)


def test_without_retries_the_next_model_is_asked_at_once(loop: VirtualLoop) -> None:
    model = Chain(ScriptedModel(busy()), ScriptedModel(READ, DONE))
    outcome, _ = ask(loop, model, limits=Limits(model_retries=0))
    assert outcome.model == "two"
    assert loop.time() == 0.0


def test_when_the_last_model_fails_the_run_says_why(loop: VirtualLoop) -> None:
    bad = ModelError(ModelErrorKind.AUTH, "the key was refused")
    model = Chain(ScriptedModel(bad), ScriptedModel(bad))
    outcome, _ = ask(loop, model)
    assert isinstance(outcome, Failure)
    assert (outcome.reason, outcome.detail) == (
        StopReason.MODEL_UNAVAILABLE,
        "the key was refused",
    )


TOO_LONG = ModelError(ModelErrorKind.CONTEXT_TOO_LONG, "too many tokens")
READS = [turn(called("lookup", {"what": what})) for what in ("apples", "pears")]


def test_a_request_that_is_too_long_is_sent_again_shorter_and_the_trace_counts_what_was_cut(
    loop: VirtualLoop,
) -> None:
    outcome, events = ask(loop, ScriptedModel(*READS, TOO_LONG, DONE))
    assert isinstance(outcome, Answer)
    calls = [e for e in events if isinstance(e, ModelCalled)]
    assert [(e.step, e.cut) for e in calls] == [(1, 0), (2, 0), (3, 0), (3, 1)]
    assert [(e.attempt, e.error, e.again_in, e.handed_to) for e in failed(events)] == [
        (1, ModelErrorKind.CONTEXT_TOO_LONG, 0.0, "")
    ]


def test_a_request_that_stays_too_long_fails_with_what_was_found(loop: VirtualLoop) -> None:
    outcome, events = ask(loop, ScriptedModel(*READS, TOO_LONG, TOO_LONG))
    assert isinstance(outcome, Failure)
    assert (outcome.reason, outcome.detail) == (StopReason.MODEL_UNAVAILABLE, "too many tokens")
    assert [e.text for e in outcome.established] == ["apples was found", "pears was found"]
    assert [(e.attempt, e.again_in) for e in failed(events)] == [(1, 0.0), (2, None)]


def test_a_run_that_died_after_a_context_cut_does_not_send_the_long_request_again(
    loop: VirtualLoop,
) -> None:
    journal = MemoryJournal()
    ask(loop, ScriptedModel(*READS, TOO_LONG, DONE), journal)
    at = next(i for i, e in enumerate(journal.events) if isinstance(e, ModelFailed))
    journal.events = journal.events[: at + 1]
    model = ScriptedModel(DONE)
    outcome, events = ask(loop, model, journal)
    assert isinstance(outcome, Answer)
    assert [e.cut for e in events if isinstance(e, ModelCalled)] == [0, 0, 0, 1]
    assert len(model.requests) == 1


def test_tries_that_failed_before_a_restart_are_not_tried_anew(loop: VirtualLoop) -> None:
    journal = MemoryJournal()
    ask(loop, ScriptedModel(busy(), busy(), busy()), journal)
    journal.events = journal.events[:4]
    assert [e.kind for e in journal.events][-2:] == ["model_failed", "model_failed"]
    outcome, events = ask(loop, ScriptedModel(busy()), journal)
    assert isinstance(outcome, Failure)
    assert [(e.attempt, e.again_in) for e in failed(events)] == [(1, 0.5), (2, 1.0), (3, None)]
