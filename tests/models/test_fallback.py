"""When a model is down: who answers, how long it takes, and what the next question pays."""

from __future__ import annotations

import time
from typing import Any

import pytest

from bot.loop.engine import run
from bot.loop.journal import MemoryJournal, ModelFailed, ModelReturned
from bot.loop.limits import Limits, StopReason
from bot.loop.outcome import Answer, Failure
from bot.loop.question import parse
from bot.loop.replay import Same, replay
from bot.loop.stopping import Clock
from bot.loop.toolbox import Toolbox
from bot.loop.wire import Finish, Model, ModelError, ModelErrorKind, Request, Turn
from bot.models.fallback import FIRST_SECONDS, PROBE_SECONDS, Breaker, FallbackModel
from bot.models.make import make_model
from bot.models.rules import RulesModel
from bot.models.settings import EndpointSettings, ModelSettings
from bot.playground.incident import DemoIncident, make_demo_workspace
from models.model_server import Hangs, ModelServer, Play, Resets, Says, Status, model_server
from models.script import ANSWER, DIFF, GOOD, SEARCH
from models.wires import MESSAGES, TEXT, TOOLS, Fallback, Wire, ask, canned
from support.scripted import FakeTime, NoRedaction, ScriptedModel, called, stop_after, turn
from tools.http import HttpClient
from tools.workspace import open_workspace, read_tools

DOWN = "http://127.0.0.1:9"


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> DemoIncident:
    return make_demo_workspace(tmp_path_factory.mktemp("demo") / "workspace")


async def ask_demo(demo: DemoIncident, model: Model, limits: Limits) -> Answer:
    workspace = open_workspace(demo.root)
    outcome = await run(
        parse(demo.question, demo.asked_at, workspace.catalog.words(), ()),
        model,
        Toolbox(read_tools(workspace), NoRedaction()),
        limits,
        MemoryJournal(),
        stop_after(limits.deadline_seconds - limits.reserve_seconds),
    )
    assert isinstance(outcome, Answer), outcome
    return outcome


async def test_with_the_first_model_dead_the_demo_is_answered_in_time_and_the_second_question_does_not_wait(
    demo: DemoIncident, fallback: Fallback
) -> None:
    limits = Limits(model_call_seconds=0.5, deadline_seconds=30)
    async with model_server(Hangs()) as dead:
        first = TOOLS.settings(dead, name="dead")
        began = time.monotonic()
        answer = await ask_demo(demo, fallback(first), limits)
        cost = time.monotonic() - began
        assert answer.model == "rules"
        assert "4471" in answer.headline
        assert 0.5 <= cost < 10
        again = await ask_demo(demo, fallback(first), limits)
        assert again.model == "rules"
    assert len(dead.asked) == 1, "one timeout, not one a run"


async def test_the_next_language_model_answers_and_is_named(fallback: Fallback) -> None:
    async with model_server(Hangs()) as dead, model_server(*GOOD, *GOOD) as alive:
        asked = (TOOLS.settings(dead, name="dead"), MESSAGES.settings(alive, name="spare"))
        limits = Limits(model_call_seconds=0.3)
        for _ in range(2):
            outcome = await ask(fallback(*asked), limits=limits)
            assert isinstance(outcome, Answer), outcome
            assert outcome.model == "spare"
    assert len(dead.asked) == 1


@pytest.mark.parametrize(
    ("plays", "asked"),
    [
        ((Status(429, headers=(("retry-after", "3600"),)),), 1),
        ((Status(429, headers=(("retry-after", "Wed, 21 Oct 2099 07:28:00 GMT"),)),), 1),
        ((Status(529), Status(529)), 2),
        ((Resets(), Resets()), 2),
        ((Status(401),), 1),
        ((Status(404),), 1),
        ((Status(504),), 1),
    ],
    ids=str,
)
async def test_an_outage_in_the_middle_of_a_run_is_taken_over_with_all_that_was_found(
    plays: tuple[Play, ...], asked: int, wire: Wire, fallback: Fallback
) -> None:
    journal = MemoryJournal()
    async with model_server(SEARCH, *plays) as first, model_server(DIFF, ANSWER) as second:
        model = fallback(wire.settings(first, name="a"), TEXT.settings(second, name="b"))
        outcome = await ask(model, journal=journal)
    assert isinstance(outcome, Answer), outcome
    assert outcome.model == "b"
    assert outcome.steps == 3
    assert len(first.asked) == 1 + asked
    failed = [event for event in journal.events if isinstance(event, ModelFailed)]
    assert len(failed) == asked
    assert failed[-1].again_in == 0, "the next model was asked at once"
    assert isinstance(await replay(journal, canned()), Same), "and it replays"
    assert "payments-api 4471" in second.asked[0].raw.decode()


async def test_a_resumed_run_goes_on_with_the_model_that_it_had_switched_to(
    wire: Wire, client: HttpClient
) -> None:
    def model(first: ModelServer, second: ModelServer) -> Model:
        """As a new process makes it: nothing is known of what is down."""
        asked = wire.settings(first, name="a"), MESSAGES.settings(second, name="b")
        settings = ModelSettings.model_validate({**_fields(asked[0]), "then": [_fields(asked[1])]})
        return make_model(settings, client, Breaker(Clock().monotonic), Clock())

    whole = MemoryJournal()
    async with (
        model_server(SEARCH, Status(529), Status(529)) as dead,
        model_server(DIFF, ANSWER) as alive,
    ):
        outcome = await ask(model(dead, alive), journal=whole)
    assert outcome.model == "b"
    assert outcome.instead_of == "a"
    failed = [e for e in whole.events if isinstance(e, ModelFailed)]
    assert [(e.model, e.handed_to) for e in failed] == [("a", ""), ("a", "b")]
    switched = next(
        n for n, e in enumerate(whole.events) if isinstance(e, ModelFailed) and e.handed_to
    )
    for events in range(switched + 1, len(whole.events)):
        half = MemoryJournal()
        half.events, half.blobs = list(whole.events[:events]), dict(whole.blobs)
        turns = sum(isinstance(e, ModelReturned) for e in half.events)
        async with model_server() as dead, model_server(*(DIFF, ANSWER)[turns - 1 :]) as alive:
            assert await ask(model(dead, alive), journal=half) == outcome, f"after {events} events"
        assert not dead.asked
        assert not alive.plays
        assert isinstance(await replay(half, canned()), Same)


def _fields(settings: EndpointSettings) -> dict[str, Any]:
    return {name: getattr(settings, name) for name in EndpointSettings.model_fields}


async def test_a_short_retry_after_is_waited_for_and_the_first_model_answers(
    fallback: Fallback,
) -> None:
    busy = Status(429, headers=(("retry-after", "0.02"),))
    async with model_server(busy, *GOOD) as first:
        outcome = await ask(fallback(TOOLS.settings(first)))
    assert isinstance(outcome, Answer)
    assert outcome.model == "m-1"


async def test_bad_answers_and_refusals_stay_with_the_model_that_gave_them(
    fallback: Fallback,
) -> None:
    prose = Says(text="It was 4471.")
    for plays, reason in (
        ((prose, prose), StopReason.SILENT_FINISH),
        ((Says(text="No.", finish="content_filter"),), StopReason.REFUSED),
        (
            (Status(400, b'{"error": {"code": "content_filter", "message": "no"}}'),),
            StopReason.REFUSED,
        ),
    ):
        async with model_server(*plays) as server:
            outcome = await ask(fallback(TOOLS.settings(server)))
        assert isinstance(outcome, Failure)
        assert outcome.reason is reason
        assert outcome.model == "m-1"


async def test_three_hanging_models_leave_time_for_the_rules(fallback: Fallback) -> None:
    async with model_server(Hangs(), Hangs(), Hangs()) as dead:
        model = fallback(*(TOOLS.settings(dead, name=name) for name in "abc"))
        outcome = await ask(model, limits=Limits(model_call_seconds=20), stop=stop_after(2))
    assert outcome.model == "rules"
    assert not isinstance(outcome, Failure) or outcome.reason is not StopReason.DEADLINE


async def test_nothing_listens_there_and_the_rules_model_answers(fallback: Fallback) -> None:
    began = time.monotonic()
    outcome = await ask(fallback(TOOLS.settings(DOWN)))
    assert outcome.model == "rules"
    assert time.monotonic() - began < 5


# --- the breaker -------------------------------------------------------------------------------


def test_a_dead_model_is_left_alone_then_tried_by_one_run_only() -> None:
    clock = FakeTime()
    breaker = Breaker(lambda: clock.seconds)
    one, two = object(), object()
    assert breaker.admits("m", one)
    breaker.failed("m", None)
    assert not breaker.admits("m", one)
    clock.seconds = FIRST_SECONDS
    assert breaker.admits("m", one)
    assert breaker.admits("m", one), "the run that tries may go on trying"
    assert not breaker.admits("m", two)
    breaker.succeeded("m")
    assert breaker.admits("m", two)


def test_a_run_that_was_aborted_while_it_tried_does_not_block_the_model_for_ever() -> None:
    clock = FakeTime()
    breaker = Breaker(lambda: clock.seconds)
    breaker.failed("m", None)
    clock.seconds = FIRST_SECONDS
    assert breaker.admits("m", object())
    clock.seconds += PROBE_SECONDS
    assert breaker.admits("m", object())


def test_the_pause_doubles_to_its_limit_and_a_retry_after_is_kept() -> None:
    clock = FakeTime()
    breaker = Breaker(lambda: clock.seconds)
    pauses = []
    for _ in range(6):
        breaker.failed("m", None)
        began = clock.seconds
        while not breaker.admits("m", object()):
            clock.seconds += 10
        pauses.append(clock.seconds - began)
    assert pauses == [30, 60, 120, 240, 300, 300]
    breaker.failed("m", 7.0)
    clock.seconds += 6.9
    assert not breaker.admits("m", object())
    clock.seconds += 0.2
    assert breaker.admits("m", object())


def _request() -> Request:
    when = FakeTime().clock().now()
    return Request(system="", tools=(), messages=(), question=parse("x", when, {}, ()), seen=())


async def test_a_run_never_goes_back_and_the_next_run_begins_with_what_works() -> None:
    clock = FakeTime()
    breaker = Breaker(lambda: clock.seconds)
    first, spare = Named("first"), Named("spare")
    model = FallbackModel([first, spare, RulesModel()], breaker)
    assert (await model.complete(_request())).model == "first"
    assert model.hand_over(ModelError(ModelErrorKind.TIMEOUT, "late"))
    assert (await model.complete(_request())).model == "spare"
    clock.seconds = FIRST_SECONDS
    assert (await model.complete(_request())).model == "spare"
    assert FallbackModel([first, spare], breaker).name == "first"


def test_the_last_model_is_asked_whatever_happened_to_it() -> None:
    breaker = Breaker(lambda: 0.0)
    breaker.failed("only", None)
    model = FallbackModel([Named("only")], breaker)
    assert model.name == "only"
    assert not model.hand_over(ModelError(ModelErrorKind.TIMEOUT, "late"))


class Named(ScriptedModel):
    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    async def complete(self, request: Request) -> Turn:
        made = turn(called("x"), finish=Finish.TOOL_USE)
        return made.model_copy(update={"model": self.name})
