"""A run that died is taken up where its journal ends: nothing that finished is done again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from bot.loop.journal import (
    EVENT,
    Event,
    FencedError,
    MemoryJournal,
    OtherVersionError,
    RunEnded,
    ToolReturned,
    blob_hash,
)
from bot.loop.limits import StopReason
from bot.loop.outcome import Answer, Failure
from bot.loop.replay import Same, replay
from bot.loop.wire import Finish, ModelError, ModelErrorKind
from support.scripted import (
    Lookup,
    LookupArguments,
    Play,
    Restart,
    ScriptedModel,
    answer,
    called,
    found,
    play,
    stop_after,
    toolbox,
    turn,
)
from tools.base import CallContext, ToolError, ToolResult

SCRIPT = (
    turn(called("lookup", {"what": "apples"}), called("lookup", {"what": "pears"})),
    turn(called("lookup", {"what": "plums"})),
    turn(answer("apples was found", ("apples was found", ["o1"]), ("plums was found", ["o3"]))),
)


async def whole() -> tuple[MemoryJournal, Answer]:
    journal = MemoryJournal()
    outcome = await play(ScriptedModel(*SCRIPT), Lookup(), journal=journal)
    assert isinstance(outcome, Answer)
    return journal, outcome


def cut_after(journal: MemoryJournal, events: int) -> MemoryJournal:
    copy = MemoryJournal()
    copy.events = list(journal.events[:events])
    copy.blobs = dict(journal.blobs)
    return copy


def finished_tools(journal: MemoryJournal) -> set[str]:
    return {e.observation for e in journal.events if isinstance(e, ToolReturned)}


async def test_from_every_point_of_its_journal_a_run_ends_the_same_and_repeats_nothing() -> None:
    full, outcome = await whole()
    for events in range(len(full.events) + 1):
        half = cut_after(full, events)
        turns = sum(e.kind == "model_returned" for e in half.events)
        done = finished_tools(half) & {"o1", "o2", "o3"}
        tool, model = Lookup(), ScriptedModel(*SCRIPT[turns:])
        resumed = await play(model, tool, journal=half)
        assert resumed == outcome, f"cut after {events} events"
        assert model.left == 0
        assert len(tool.ran) == 3 - len(done)
        assert {e.key for e in half.events} == {e.key for e in full.events}
        assert len(half.events) == len(full.events)


DONE = turn(answer("apples was found", ("apples was found", ["o1"])))
APPLES = turn(called("lookup", {"what": "apples"}))
PEARS = turn(called("lookup", {"what": "pears"}))
INVENTED = turn(answer("apples was found", ("apples was found", ["o1"]), ("9999", ["o1"])))
BUSY = ModelError(ModelErrorKind.OVERLOADED, "busy", retry_after=0.0)
TOO_LONG = ModelError(ModelErrorKind.CONTEXT_TOO_LONG, "too many tokens")


@pytest.mark.parametrize(
    "script",
    [
        pytest.param((APPLES, INVENTED, DONE), id="an answer that is mended"),
        pytest.param((APPLES, INVENTED, INVENTED), id="what holds of an answer"),
        pytest.param((turn(text="hm"), APPLES, DONE), id="prose"),
        pytest.param((turn(text="hm", finish=Finish.LENGTH), APPLES, DONE), id="a cut-off reply"),
        pytest.param((turn(called("serch")), APPLES, PEARS, turn(text="x")) * 2, id="no answer"),
        pytest.param((APPLES, APPLES, turn(*PEARS.calls, *PEARS.calls), DONE), id="repeats"),
        pytest.param((turn(called("lookup", {"what": "bad"}), *APPLES.calls),) * 3, id="errors"),
        pytest.param((APPLES, turn(called("restart", {"service": "web"}), text="x")), id="a write"),
        pytest.param((BUSY, APPLES, BUSY, BUSY, DONE), id="a busy model"),
        pytest.param((APPLES, ModelError(ModelErrorKind.REFUSED, "no")), id="a refusal"),
        pytest.param((APPLES, ModelError(ModelErrorKind.AUTH, "no key")), id="no model"),
        pytest.param((APPLES, PEARS, TOO_LONG, DONE), id="a request that is shortened"),
        pytest.param((APPLES, PEARS, TOO_LONG, TOO_LONG), id="a request that stays too long"),
    ],
)
async def test_however_a_run_goes_it_ends_the_same_from_every_point_and_replays(
    script: tuple[Play, ...],
) -> None:
    async def does(arguments: LookupArguments, context: CallContext) -> ToolResult:
        if arguments.what == "bad":
            raise ToolError("the source is down")
        return found(f"{arguments.what} was found")

    full = MemoryJournal()
    outcome = await play(ScriptedModel(*script), Lookup(does), Restart(), journal=full)
    for events in range(len(full.events) + 1):
        half = cut_after(full, events)
        spent = sum(e.kind in {"model_returned", "model_failed"} for e in half.events)
        resumed = await play(ScriptedModel(*script[spent:]), Lookup(does), Restart(), journal=half)
        assert resumed == outcome, f"cut after {events} events"
        assert {e.key for e in half.events} == {e.key for e in full.events}
        assert len(half.events) == len(full.events)
        assert await replay(half, toolbox(Lookup(), Restart())) == Same(tuple(half.events), outcome)


async def test_a_run_that_another_model_takes_up_says_which_one_should_have_been_asked() -> None:
    full, _ = await whole()
    model = ScriptedModel(*SCRIPT)
    model.name = "other"
    outcome = await play(model, Lookup(), journal=cut_after(full, 1))
    assert (outcome.model, outcome.instead_of) == ("other", "scripted")


async def test_a_run_that_has_ended_hands_back_its_outcome_and_calls_nothing() -> None:
    full, outcome = await whole()
    model = ScriptedModel()
    assert await play(model, Lookup(), journal=full) == outcome
    assert sum(isinstance(e, RunEnded) for e in full.events) == 1


async def test_a_recorded_abort_is_met_again() -> None:
    journal = MemoryJournal()
    stop = stop_after()
    stop.abort("@maya")
    first = await play(ScriptedModel(), journal=journal, stop=stop)
    journal.events = [e for e in journal.events if not isinstance(e, RunEnded)]
    again = await play(ScriptedModel(), journal=journal)
    assert isinstance(again, Failure)
    assert again == first
    assert again.reason is StopReason.ABORTED


async def test_failed_attempts_count_over_a_restart() -> None:
    busy = ModelError(ModelErrorKind.OVERLOADED, "busy", retry_after=0.0)
    journal = MemoryJournal()
    await play(ScriptedModel(busy, busy, busy), journal=journal)
    journal.events = [e for e in journal.events if e.kind not in {"run_ended", "decided"}]
    model = ScriptedModel()
    outcome = await play(model, journal=journal)
    assert isinstance(outcome, Failure)
    assert outcome.reason is StopReason.MODEL_UNAVAILABLE


async def test_a_stale_owner_is_fenced_off() -> None:
    class Taken(MemoryJournal):
        async def append(self, events: object, blobs: object) -> None:
            raise FencedError("another owner has this run")

    with pytest.raises(FencedError):
        await play(ScriptedModel(), journal=Taken())


@pytest.mark.parametrize("at", [{"o1", "o2"}, {"o1"}, {"o2"}])
async def test_an_owner_that_is_fenced_off_while_tools_run_hears_just_that(at: set[str]) -> None:
    class TakenLater(MemoryJournal):
        async def append(self, events: Sequence[Event], blobs: Mapping[str, str]) -> None:
            if any(isinstance(e, ToolReturned) and e.observation in at for e in events):
                raise FencedError("another owner has this run")
            await super().append(events, blobs)

    with pytest.raises(FencedError):
        await play(ScriptedModel(*SCRIPT), Lookup(), journal=TakenLater())


async def test_every_event_survives_its_json() -> None:
    full, _ = await whole()
    for event in full.events:
        assert EVENT.validate_json(EVENT.dump_json(event)) == event


def test_a_blob_of_half_a_surrogate_pair_has_a_hash_of_its_own() -> None:
    assert blob_hash("half \ud83d") != blob_hash("half \ud83e")


def test_a_journal_of_another_version_says_which_and_why() -> None:
    error = OtherVersionError("cannot be read", 7)
    assert (str(error), error.version) == ("cannot be read", 7)
