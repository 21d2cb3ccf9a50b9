"""Whatever a model, its tools, the clock and people do: the loop keeps its promises.

Hypothesis writes the script (turns, failures, hangs, an abort at any await), the real loop plays it in
virtual time, and the whole record is held against the promises: live, replayed, and cut at any event
and resumed. ``ONCALL_TEST_EXAMPLES`` sets the number of examples.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from bot.loop.journal import (
    EVENT,
    Event,
    FencedError,
    RunEnded,
    ToolCalled,
    ToolReturned,
    WasCut,
)
from bot.loop.limits import Limits
from bot.loop.outcome import ANSWER, Answer, Failure, Proposal
from bot.loop.prompt import BUDGET_LOW, LAST_STEP
from bot.loop.replay import Same, replay
from bot.loop.stopping import GRACE_SECONDS
from bot.loop.wire import (
    AssistantMessage,
    Finish,
    ModelErrorKind,
    Request,
    ResultMessage,
    UserMessage,
)
from support.machine import (
    DEADLINE,
    RAW,
    SCRIPTS,
    Fails,
    Life,
    Play,
    Script,
    SlowJournal,
    live,
)
from support.scripted import called
from support.virtual_loop import VirtualLoop
from tools.base import Status

EXAMPLES = int(os.environ.get("ONCALL_TEST_EXAMPLES", "2000"))

# --- the promises ---------------------------------------------------------------------------------


def keeps_its_promises(life: Life, limits: Limits) -> None:
    world, events = life.world, life.world.journal.events
    assert isinstance(life.outcome, Answer | Failure | Proposal)
    assert life.outcome.steps <= limits.max_steps
    assert life.seconds <= DEADLINE + GRACE_SECONDS + 0.01
    shorter = 1  # a request that the provider finds too long is asked once more, cut
    tries = 1 + max(limits.model_retries, shorter)
    assert len(world.requests) <= limits.max_steps * tries
    assert world.broken == []
    assert [e for e in events if isinstance(e, RunEnded)] == [events[-1]]
    assert events[-1] == RunEnded(outcome=life.outcome)
    for event in events:
        assert EVENT.validate_json(EVENT.dump_json(event)) is not None
    assert len({e.key for e in events}) == len(events)
    no_success_is_run_again(events)
    for request in world.requests:
        every_echoed_call_has_one_result(request)
        no_observation_is_over_the_cap(request, limits)
    for before, after in zip(world.requests, world.requests[1:], strict=False):
        assert (before.system, before.tools) == (after.system, after.tools)
        if after.kept == 1 and after.messages[1:2] and len(before.messages) > 1:
            assert after.messages[:1] == before.messages[:1], "a context cut"
            continue
        assert after.messages[: len(before.messages)] == before.messages
        retried = after.messages == before.messages
        assert after.kept == (before.kept if retried else len(before.messages))


def no_success_is_run_again(events: Sequence[Event]) -> None:
    names: dict[str, str] = {}
    succeeded: set[str] = set()
    for event in events:
        match event:
            case ToolCalled(tool=tool, arguments=arguments, observation=observation):
                what = str(arguments.get("what", "thing")).strip().lower()
                names[observation] = f"{tool} {what} {arguments.get('limit', 5)}"
                assert names[observation] not in succeeded
            case ToolReturned(tool=tool, status=status, observation=observation):
                if tool != ANSWER and status is not Status.ERROR:
                    assert names[observation] not in succeeded
                    succeeded.add(names[observation])


def every_echoed_call_has_one_result(request: Request) -> None:
    owed: list[str] = []
    for message in request.messages:
        match message:
            case ResultMessage(call_id=call_id):
                assert owed.pop(0) == call_id
            case AssistantMessage(turn=said):
                assert owed == []
                assert said.finish is not Finish.LENGTH
                owed = [call.id for call in said.calls]
            case UserMessage():
                assert owed == []
    assert owed == []


def no_observation_is_over_the_cap(request: Request, limits: Limits) -> None:
    for message in request.messages:
        if isinstance(message, ResultMessage):
            told = message.text.removesuffix(f"\n\n{LAST_STEP}").removesuffix(f"\n\n{BUDGET_LOW}")
            assert len(told) <= limits.observation_chars


def replays_to_the_same(life: Life, loop: VirtualLoop) -> None:
    world = life.world
    asked_before, ran_before = world.asked, world.ran.copy()
    replayed = loop.play(replay(world.journal, world.tools))
    assert replayed == Same(tuple(world.journal.events), life.outcome)
    assert (world.asked, world.ran) == (asked_before, ran_before)


def resumes_to_the_same(life: Life, script: Script, loop: VirtualLoop) -> None:
    """Cut its journal at an event, and take the run up from there.

    A stop that the cut-off journal does not hold did not happen for the run that is taken up.
    """
    events = life.world.journal.events
    past = SlowJournal()
    past.events = events[: script.cut % len(events)]
    past.blobs = dict(life.world.journal.blobs)
    stopped = [e for e in events if isinstance(e, WasCut)]
    known = [e for e in past.events if isinstance(e, WasCut)]
    finished = Counter(e.observation for e in past.events if isinstance(e, ToolReturned))
    before = len(past.events)
    again = live(script, loop, past)
    keeps_its_promises(again, script.limits)
    replays_to_the_same(again, loop)
    news = again.world.journal.events[before:]
    assert not finished & Counter(e.observation for e in news if isinstance(e, ToolReturned))
    if known or (not stopped and life.seconds < DEADLINE / 2):
        assert again.outcome == life.outcome
        assert {e.key for e in again.world.journal.events} == {e.key for e in events}


PROFILE = settings(
    deadline=None,
    database=None,
    phases=(Phase.explicit, Phase.generate, *([Phase.shrink] if EXAMPLES >= 1_000 else [])),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def loops() -> Iterator[VirtualLoop]:
    loop = VirtualLoop()
    asyncio.set_event_loop(loop)
    try:
        yield loop
    finally:
        asyncio.set_event_loop(None)
        loop.close()


def play_out(script: Script) -> None:
    for loop in loops():
        life = live(script, loop)
        keeps_its_promises(life, script.limits)
        replays_to_the_same(life, loop)
        resumes_to_the_same(life, script, loop)
        assert loop.unheard == []


@given(SCRIPTS)
@settings(PROFILE, max_examples=EXAMPLES)
def test_whatever_happens_a_run_keeps_its_promises(script: Script) -> None:
    play_out(script)


def look(what: str) -> Play:
    return Play((called("lookup", {"what": what}),))


TOO_LONG = Fails(ModelErrorKind.CONTEXT_TOO_LONG)
KNOWN = {
    "a tool returns nothing": Script((look("none"),)),
    "a tool returns half of a surrogate pair": Script((look("half"),)),
    "a model writes half of a surrogate pair": Script((Play(text="half \ud83d"), look("apples"))),
    "a tool is cancelled from inside": Script((look("cancels"), look("apples"))),
    "a model call is cancelled from inside": Script((Play(fault=Fails("cancels")),)),
    "a long summary stands in for an empty text": Script((look("blank"), look("apples"))),
    "an argument is an endless number": Script((Play((called("lookup", RAW[8]),)),)),
    "dies after the model was given up": Script(
        (Play(fault=Fails(ModelErrorKind.AUTH)), look("apples")), cut=3
    ),
    "the last of its steps is too long for the model": Script(
        (*(look(f"apple {n}") for n in range(11)), Play(fault=TOO_LONG)),
        Limits(max_steps=12, model_retries=0),
    ),
    "fails deaf and late": Script((look("deaf"),), abort_after=1.0),
    **{
        f"aborted at turn {n}": Script((look("slow"), look("pears")), abort_turn=n)
        for n in range(25)
    },
    **{
        f"dies at event {n} after an abort": Script(
            (Play((*look("hang").calls, *look("slow").calls)),), abort_after=2.0, cut=n
        )
        for n in range(12)
    },
}


@pytest.mark.parametrize("name", KNOWN)
def test_what_once_broke_a_promise_keeps_it(name: str) -> None:
    play_out(KNOWN[name])


class Taken(SlowJournal):
    """Another owner takes the run at the n-th append."""

    def __init__(self, at: int) -> None:
        super().__init__()
        self.left = at

    async def append(self, events: Sequence[Event], blobs: Mapping[str, str]) -> None:
        self.left -= 1
        if self.left < 0:
            raise FencedError("another owner has this run")
        await super().append(events, blobs)


@given(SCRIPTS, st.integers(0, 12))
@settings(PROFILE, max_examples=max(EXAMPLES // 10, 10))
def test_a_fenced_off_owner_hears_just_that_and_starts_nothing_more(
    script: Script, at: int
) -> None:
    for loop in loops():
        try:
            life = live(script, loop, Taken(at))
        except FencedError:
            loop.cancel_rest()
        else:
            keeps_its_promises(life, script.limits)
        assert loop.unheard == []
