"""What the trace of a run says, event by event."""

from __future__ import annotations

import pytest

from bot.loop.engine import run
from bot.loop.journal import (
    Appended,
    CallShown,
    Decided,
    Event,
    MemoryJournal,
    ModelCalled,
    RunEnded,
    RunStarted,
    ToolCalled,
    ToolReturned,
    WasCut,
)
from bot.loop.limits import Limits, StopReason
from bot.loop.outcome import Answer, Failure
from bot.loop.prompt import BUDGET_LOW, LAST_STEP, SILENT, TRUNCATED
from bot.loop.state import Phase, State
from bot.loop.toolbox import Toolbox
from bot.loop.wire import Finish, ModelError, ModelErrorKind
from bot.redact import Redactor
from support.scripted import (
    Lookup,
    LookupArguments,
    Play,
    ScriptedModel,
    answer,
    asked,
    called,
    found,
    play,
    stop_after,
    turn,
)
from tools.base import CallContext, Status, ToolError, ToolResult

DONE = turn(answer("apples was found", ("apples was found", ["o1"])), text=" That is it.\n")

UNKNOWN = turn(answer("none", unknowns=["all"], confidence="none"))


async def traced(*plays: Play, limits: Limits | None = None) -> tuple[list[Event], object]:
    journal = MemoryJournal()
    outcome = await play(ScriptedModel(*plays), Lookup(), journal=journal, limits=limits)
    return journal.events, outcome


def decided(events: list[Event]) -> list[Decided]:
    return [event for event in events if isinstance(event, Decided)]


def notices(events: list[Event]) -> list[str]:
    return [event.notice for event in events if isinstance(event, Appended)]


async def test_each_decision_is_told_with_its_thought_and_its_finish_reason() -> None:
    both = turn(
        called("lookup", {"what": "apples"}), called("lookup", {"what": "pears"}), text=" Both. "
    )
    events, outcome = await traced(turn(text="Hm.", finish=Finish.OTHER), both, DONE)
    assert isinstance(outcome, Answer)
    assert decided(events) == [
        Decided(step=1, decision="notice", text=SILENT, thought="Hm.", finish=Finish.OTHER),
        Decided(
            step=2,
            decision="act",
            text="lookup (o1), lookup (o2)",
            thought="Both.",
            finish=Finish.TOOL_USE,
        ),
        Decided(
            step=3,
            decision="act",
            text="answer (o3)",
            thought="That is it.",
            finish=Finish.TOOL_USE,
        ),
    ]


async def test_a_refusal_is_told_as_the_decision_of_that_turn() -> None:
    events, outcome = await traced(turn(text="I will not.", finish=Finish.REFUSAL))
    assert decided(events) == [
        Decided(
            step=1,
            decision="stop",
            text="",
            thought="I will not.",
            finish=Finish.REFUSAL,
            stop=StopReason.REFUSED,
        )
    ]
    assert isinstance(outcome, Failure)
    assert outcome.phase is Phase.DECIDE


async def test_an_outage_is_told_as_a_stop_in_the_call_and_has_no_thought() -> None:
    events, outcome = await traced(ModelError(ModelErrorKind.AUTH, "the key was refused"))
    assert decided(events) == [
        Decided(
            step=1,
            decision="stop",
            text="the key was refused",
            stop=StopReason.MODEL_UNAVAILABLE,
        )
    ]
    assert isinstance(outcome, Failure)
    assert outcome.phase is Phase.CALL


async def test_each_call_is_told_before_and_after_it_ran_and_as_it_was_shown() -> None:
    async def huge(arguments: LookupArguments, context: CallContext) -> ToolResult:
        if arguments.what == "bad":
            raise ToolError("no such thing")
        return found("apples was found\n" + "a line\n" * 200)

    journal = MemoryJournal()
    reads = turn(
        called("lookup", {"what": "apples", "limit": 5}),
        called("lookup", {"what": "bad", "limit": 7}),
    )
    await play(
        ScriptedModel(reads, DONE),
        Lookup(huge),
        journal=journal,
        limits=Limits(observation_chars=400),
    )
    called_events = [e for e in journal.events if isinstance(e, ToolCalled)]
    assert [(e.step, e.observation, e.tool, e.arguments) for e in called_events[:2]] == [
        (1, "o1", "lookup", {"what": "apples"}),
        (1, "o2", "lookup", {"what": "bad", "limit": 7}),
    ]
    returned = [e for e in journal.events if isinstance(e, ToolReturned)]
    text = "apples was found\n" + "a line\n" * 200
    assert [(e.observation, e.tool, e.status, e.summary, e.size) for e in returned] == [
        ("o1", "lookup", Status.OK, text[:200], len(text)),
        ("o2", "lookup", Status.ERROR, "no such thing", 13),
        ("o3", "answer", Status.OK, "the answer holds", 9),
    ]
    for event, whole in zip(returned, (text, "no such thing", "Accepted."), strict=True):
        assert ToolResult.model_validate_json(await journal.blob(event.result)).text == whole
    first = next(e for e in journal.events if isinstance(e, Appended))
    assert first == Appended(
        step=1,
        observations=(
            CallShown(
                observation="o1",
                tool="lookup",
                status=Status.OK,
                summary=text[:200],
                shown=first.observations[0].shown,
                of=len(text),
            ),
            CallShown(
                observation="o2",
                tool="lookup",
                status=Status.ERROR,
                summary="no such thing",
                shown=13,
                of=13,
            ),
        ),
    )
    assert 200 < first.observations[0].shown <= 400


async def test_the_states_and_phases_of_one_turn_are_told_in_their_order() -> None:
    events, _ = await traced(turn(called("lookup", {"what": "apples"})), DONE)
    walked = [
        (e.kind, e.state.value, e.phase.value)
        for e in events
        if not isinstance(e, RunStarted | WasCut | RunEnded) and e.step == 1
    ]
    assert walked == [
        ("model_called", "think", "call"),
        ("model_returned", "think", "call"),
        ("decided", "think", "decide"),
        ("tool_called", "act", "execute"),
        ("tool_returned", "act", "execute"),
        ("appended", "observe", "append"),
    ]
    last = events[-1]
    assert isinstance(last, RunEnded)
    assert last.state is State.STOPPED


async def test_new_messages_are_kept_as_blobs_and_their_bytes_are_counted() -> None:
    journal = MemoryJournal()
    model = ScriptedModel(turn(called("lookup", {"what": "apples"}), text="hm"), DONE)
    await play(model, Lookup(), journal=journal)
    calls = [e for e in journal.events if isinstance(e, ModelCalled)]
    assert [(e.kept, len(e.added)) for e in calls] == [(0, 1), (1, 2)]
    for event, request in zip(calls, model.requests, strict=True):
        texts = [journal.blobs[digest] for digest in event.added]
        assert texts == [m.model_dump_json() for m in request.messages[event.kept :]]
        assert event.size == sum(len(text) for text in texts)


# --- notices --------------------------------------------------------------------------------------


async def test_the_last_step_is_announced_behind_another_notice() -> None:
    cut = turn(text="It w", finish=Finish.LENGTH)
    events, _ = await traced(cut, UNKNOWN, limits=Limits(max_steps=2))
    assert notices(events)[0] == f"{TRUNCATED}\n\n{LAST_STEP}"


@pytest.mark.parametrize(
    ("tokens", "told"), [(8_499, ""), (8_500, BUDGET_LOW), (9_999, BUDGET_LOW)]
)
async def test_a_budget_that_is_nearly_spent_is_told(tokens: int, told: str) -> None:
    limits = Limits(request_tokens=9_000, run_tokens=10_000)
    read = turn(called("lookup", {"what": "apples"}), tokens=tokens)
    events, _ = await traced(read, DONE, limits=limits)
    assert notices(events)[0] == told


async def test_the_tokens_of_all_turns_count_towards_the_budget() -> None:
    limits = Limits(request_tokens=9_000, run_tokens=10_000)
    reads = [turn(called("lookup", {"what": w}), tokens=4_250) for w in ("apples", "pears")]
    events, _ = await traced(*reads, DONE, limits=limits)
    assert notices(events)[:2] == ["", BUDGET_LOW]


async def test_the_notice_of_a_low_budget_stands_behind_the_one_for_prose() -> None:
    limits = Limits(request_tokens=9_000, run_tokens=10_000)
    events, _ = await traced(turn(text="hm", tokens=9_000), UNKNOWN, limits=limits)
    assert notices(events)[0] == f"{SILENT}\n\n{BUDGET_LOW}"


async def test_a_turn_of_prose_is_estimated_by_what_was_sent_for_it() -> None:
    journal = MemoryJournal()
    model = ScriptedModel(turn(text="hm", tokens=None), UNKNOWN)
    question = asked("What was found?" + " please" * 320)
    limits = Limits(request_tokens=1_000, run_tokens=1_000)
    await play(model, Lookup(), question=question, journal=journal, limits=limits)
    sent = model.requests[0].size / 3.5
    assert 850 < sent < 1_000
    assert BUDGET_LOW in notices(journal.events)[0]


# --- what counts against the budget of errors -----------------------------------------------------


@pytest.mark.parametrize("bad", [called("lookup", "{"), called("serch"), called("answer", "{")])
async def test_calls_that_cannot_run_count_as_errors(bad: object) -> None:
    calls = [turn(bad.model_copy(update={"id": str(n)})) for n in range(3)]  # type: ignore[attr-defined]
    _, outcome = await traced(*calls, limits=Limits(ignored_refusals=9))
    assert isinstance(outcome, Failure)
    assert outcome.reason is StopReason.ERROR_BUDGET
    assert outcome.steps == 3


async def test_a_model_that_ignores_three_refusals_in_a_row_is_stopped() -> None:
    refused = turn(called("serch"))
    _, outcome = await traced(*[refused] * 3, limits=Limits(tool_errors=9))
    assert isinstance(outcome, Failure)
    assert outcome.reason is StopReason.IGNORED_REFUSALS
    assert outcome.steps == 3


async def test_calls_that_differ_in_blanks_and_case_only_end_the_run_with_what_was_found() -> None:
    spelled = ("apples", "pears", " Apples", "PEARS ", "apples\n", "pears")
    tool = Lookup()
    plays = [turn(called("lookup", {"what": what})) for what in spelled]
    outcome = await play(ScriptedModel(*plays), tool)
    assert isinstance(outcome, Failure)
    assert outcome.reason is StopReason.CYCLE
    assert outcome.steps == 4
    assert tool.ran == ["apples", "pears"]
    assert [e.text for e in outcome.established] == ["apples was found", "pears was found"]


async def test_a_read_between_refusals_starts_their_count_again() -> None:
    refused = turn(called("serch"))
    read = turn(called("lookup", {"what": "apples"}))
    done = turn(answer("apples was found", ("apples was found", ["o3"])))
    _, outcome = await traced(
        refused, refused, read, refused, refused, done, limits=Limits(tool_errors=9)
    )
    assert isinstance(outcome, Answer)


async def test_a_stopped_run_says_who_stopped_it() -> None:
    journal, stop = MemoryJournal(), stop_after()
    stop.abort("@maya")
    stop.abort("@noor")
    outcome = await play(ScriptedModel(), journal=journal, stop=stop)
    assert isinstance(outcome, Failure)
    assert outcome.detail == "Stopped by @maya."


# --- secrets --------------------------------------------------------------------------------------

SECRET = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"


@pytest.mark.parametrize("fails", [False, True])
async def test_a_secret_of_a_tool_reaches_neither_model_nor_trace_nor_answer(
    *, fails: bool
) -> None:
    async def leaks(arguments: LookupArguments, context: CallContext) -> ToolResult:
        if fails and arguments.what == "pears":
            raise ToolError(f"denied for token {SECRET}")
        return found(f"apples was found\nexport GITHUB_TOKEN={SECRET}")

    reads = [called("lookup", {"what": what}) for what in ("apples", "pears")]
    model, journal = ScriptedModel(turn(*reads), DONE), MemoryJournal()
    tools = Toolbox([Lookup(leaks)], Redactor())
    outcome = await run(asked(), model, tools, Limits(), journal, stop_after())
    assert isinstance(outcome, Answer)
    told = "".join(message.model_dump_json() for message in model.requests[1].messages)
    kept = "".join(journal.blobs.values()) + "".join(map(repr, journal.events))
    assert "GITHUB_TOKEN" in told, "the name stays"
    assert "[redacted: " in told
    for text in (told, repr(model.requests[1].seen), kept, outcome.model_dump_json()):
        assert SECRET not in text
