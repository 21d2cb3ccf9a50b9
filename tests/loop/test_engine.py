"""The loop as a whole, driven by scripted models over real tools made from literals."""

from __future__ import annotations

import asyncio
import json
from typing import ClassVar

import pytest

from bot.loop.journal import MemoryJournal, ToolCalled
from bot.loop.limits import Limits, StopReason
from bot.loop.outcome import Answer, Failure, Proposal
from bot.loop.prompt import LAST_STEP, SILENT, TRUNCATED
from bot.loop.stopping import Clock, Stop
from bot.loop.wire import Finish, ModelError, ModelErrorKind, ResultMessage, Turn
from support.scripted import (
    Canned,
    Lookup,
    LookupArguments,
    Restart,
    ScriptedModel,
    answer,
    asked,
    called,
    diff,
    forever,
    found,
    no_deploy,
    play,
    ranking,
    stop_after,
    turn,
)
from tools.base import CallContext, ToolError, ToolResult

DONE = turn(answer("apples was found", ("apples was found", ["o1"])))


def texts(model: ScriptedModel, request: int) -> list[str]:
    return [m.text for m in model.requests[request].messages if isinstance(m, ResultMessage)]


async def test_a_question_takes_a_read_and_an_answer() -> None:
    model = ScriptedModel(turn(called("lookup", {"what": "apples"})), DONE)
    outcome = await play(model, Lookup())
    assert isinstance(outcome, Answer)
    assert outcome.headline == "apples was found"
    assert outcome.steps == 2
    assert model.left == 0


async def test_the_0214_question_is_answered_in_three_steps_with_the_runner_up_and_the_gaps() -> (
    None
):
    model = ScriptedModel(
        turn(called("search_deploy", {"what": "checkout"})),
        turn(called("get_diff", {"what": "4471"})),
        turn(
            answer(
                "payments-api deploy 4471 caused the checkout incident",
                ("Deploy 4471 finished 01:44 UTC, 22 min before onset", ["o1"]),
                ("It changed 12 files; `retry.budget: 5s → 1s` in config/retry.yaml", ["o2"]),
            )
        ),
    )
    outcome = await play(
        model,
        Canned("search_deploy", ranking()),
        Canned("get_diff", diff()),
        question=asked(
            "Which service caused the checkout incident, and what changed in deploy 4471?"
        ),
    )
    assert isinstance(outcome, Answer), outcome
    assert outcome.steps == 3
    assert outcome.confidence == "high"
    assert outcome.not_checked == ("feature flags",)
    assert [c.text for c in outcome.claims][-1].startswith("Runner-up: web 4470")
    assert [c.tool for c in outcome.cited] == ["search_deploy", "get_diff"]


async def test_prose_is_told_once_and_then_fails_as_a_silent_finish() -> None:
    prose = turn(text="It was 4471.", finish=Finish.STOP)
    model = ScriptedModel(prose, prose)
    outcome = await play(model)
    assert isinstance(outcome, Failure)
    assert outcome.reason is StopReason.SILENT_FINISH
    assert model.requests[1].messages[-1].model_dump()["text"] == SILENT


async def test_an_empty_completion_is_never_an_answer_and_never_echoed() -> None:
    model = ScriptedModel(turn(finish=Finish.STOP), turn(finish=Finish.STOP))
    outcome = await play(model)
    assert isinstance(outcome, Failure)
    assert outcome.reason is StopReason.SILENT_FINISH
    assert [m.role for m in model.requests[1].messages] == ["user", "user"]


async def test_a_cut_off_reply_is_asked_for_again_and_then_fails_as_truncated() -> None:
    cut = turn(answer("x", ("x", ["o1"])), text="It was", finish=Finish.LENGTH)
    model = ScriptedModel(cut, cut)
    outcome = await play(model)
    assert isinstance(outcome, Failure)
    assert outcome.reason is StopReason.TRUNCATED
    assert model.requests[1].messages[-1].model_dump()["text"] == TRUNCATED
    assert [m.role for m in model.requests[1].messages] == ["user", "user"]


async def test_a_truncated_tool_call_never_runs() -> None:
    tool = Lookup()
    cut = turn(called("lookup", '{"what": "app'), finish=Finish.LENGTH)
    await play(ScriptedModel(cut, cut), tool)
    assert tool.ran == []


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        ('{"what": "app', "not valid JSON"),
        ("[1]", "must be a JSON object"),
        ('{"what": 7}', "what: Input should be a valid string"),
        ('{"what": "a", "limit": 1000000}', "limit: Input should be less than or equal to 50"),
        ('{"wat": "a"}', "wat: Extra inputs are not permitted"),
        ("[" * 5000 + "]" * 5000, "The call was not run."),
    ],
)
async def test_malformed_arguments_never_run_a_tool_and_say_what_is_wrong(
    raw: str, says: str
) -> None:
    tool = Lookup()
    model = ScriptedModel(
        turn(called("lookup", raw)), turn(called("lookup", {"what": "apples"})), DONE_O2
    )
    outcome = await play(model, tool)
    assert tool.ran == ["apples"]
    assert says in texts(model, 1)[0]
    assert isinstance(outcome, Answer)


DONE_O2 = turn(answer("apples was found", ("apples was found", ["o2"])))


async def test_an_unknown_tool_is_an_observation_that_lists_the_tools() -> None:
    model = ScriptedModel(
        turn(called("serch", {})), turn(called("lookup", {"what": "apples"})), DONE_O2
    )
    outcome = await play(model, Lookup())
    assert "The tools are: lookup, answer." in texts(model, 1)[0]
    assert isinstance(outcome, Answer)


async def test_three_identical_calls_in_one_turn_run_once_and_all_get_a_result() -> None:
    tool = Lookup()
    one = {"what": "apples"}
    spelled = {"what": " APPLES ", "limit": 5}
    model = ScriptedModel(
        turn(
            called("lookup", one, id="a"),
            called("lookup", spelled, id="b"),
            called("lookup", one, id="c"),
        ),
        DONE,
    )
    await play(model, tool)
    assert tool.ran == ["apples"]
    assert [m.call_id for m in model.requests[1].messages if isinstance(m, ResultMessage)] == [
        "a",
        "b",
        "c",
    ]
    assert "it is o1" in texts(model, 1)[1]


async def test_a_call_that_succeeded_is_pointed_to_and_three_such_turns_end_the_run() -> None:
    tool = Lookup()
    again = turn(called("lookup", {"what": "Apples "}))
    outcome = await play(ScriptedModel(again, again, again, again), tool)
    assert tool.ran == ["Apples"]
    assert isinstance(outcome, Failure)
    assert outcome.reason is StopReason.REPEATED_CALL
    assert outcome.established[0].text == "Apples was found"


async def test_a_failed_call_may_be_tried_twice_more_and_then_is_refused() -> None:
    async def fails(arguments: LookupArguments, context: CallContext) -> ToolResult:
        raise ToolError("the source is down")

    tool = Lookup(fails)
    same = turn(called("lookup", {"what": "apples"}))
    model = ScriptedModel(same, same, same, same, same, same)
    outcome = await play(model, tool, limits=Limits(tool_errors=9))
    assert len(tool.ran) == 3
    assert isinstance(outcome, Failure)
    assert outcome.reason is StopReason.IGNORED_REFUSALS


async def test_what_was_refused_and_is_asked_for_again_ends_the_run_whatever_stands_between() -> (
    None
):
    async def fails(arguments: LookupArguments, context: CallContext) -> ToolResult:
        if arguments.what == "apples":
            raise ToolError("the source is down")
        return found(f"{arguments.what} was found")

    apples = called("lookup", {"what": "apples"})
    for beside in (True, False):
        plays: list[Turn] = []
        for n in range(20):
            other = called("lookup", {"what": f"w{n}"})
            plays += [turn(apples, other)] if beside else [turn(apples), turn(other)]
        tool = Lookup(fails)
        outcome = await play(
            ScriptedModel(*plays), tool, limits=Limits(max_steps=40, tool_errors=9)
        )
        assert isinstance(outcome, Failure)
        assert outcome.reason is StopReason.IGNORED_REFUSALS
        assert tool.ran.count("apples") == 3
        assert outcome.steps <= 14


async def test_alternating_between_two_calls_that_fail_is_a_cycle() -> None:
    async def fails(arguments: LookupArguments, context: CallContext) -> ToolResult:
        raise ToolError("nothing here")

    a, b = turn(called("lookup", {"what": "a"})), turn(called("lookup", {"what": "b"}))
    outcome = await play(ScriptedModel(a, b, a, b), Lookup(fails), limits=Limits(tool_errors=9))
    assert isinstance(outcome, Failure)
    assert outcome.reason is StopReason.CYCLE


async def test_too_many_failed_tools_end_the_run_with_what_was_found() -> None:
    async def fails(arguments: LookupArguments, context: CallContext) -> ToolResult:
        if arguments.what == "good":
            return found("good was found")
        raise ToolError("the source is down: check it")

    model = ScriptedModel(*(turn(called("lookup", {"what": w})) for w in ("good", "a", "b", "c")))
    outcome = await play(model, Lookup(fails))
    assert isinstance(outcome, Failure)
    assert outcome.reason is StopReason.ERROR_BUDGET
    assert [e.text for e in outcome.established] == ["good was found"]


async def test_a_tool_that_raises_is_an_observation_without_a_traceback() -> None:
    async def bug(arguments: LookupArguments, context: CallContext) -> ToolResult:
        raise KeyError("secret internals")

    model = ScriptedModel(
        turn(called("lookup", {"what": "apples"})),
        turn(answer("none", unknowns=["everything"], confidence="none")),
    )
    outcome = await play(model, Lookup(bug))
    assert "lookup failed inside" in texts(model, 1)[0]
    assert "secret internals" not in texts(model, 1)[0]
    assert isinstance(outcome, Answer)


async def test_the_last_step_is_announced_and_accepts_only_an_answer() -> None:
    reads = [turn(called("lookup", {"what": w})) for w in ("a", "b")]
    model = ScriptedModel(*reads, turn(called("lookup", {"what": "c"})))
    tool = Lookup()
    outcome = await play(model, tool, limits=Limits(max_steps=3))
    assert texts(model, 2)[-1].endswith(LAST_STEP)
    assert tool.ran == ["a", "b"]
    assert isinstance(outcome, Failure)
    assert outcome.reason is StopReason.STEP_CAP
    assert [e.text for e in outcome.established] == ["a was found", "b was found"]


async def test_one_step_alone_is_told_that_it_is_the_last() -> None:
    model = ScriptedModel(turn(text="hm", finish=Finish.STOP))
    outcome = await play(model, limits=Limits(max_steps=1))
    assert model.requests[0].messages[0].model_dump()["text"].endswith(LAST_STEP)
    assert isinstance(outcome, Failure)
    assert outcome.reason is StopReason.STEP_CAP


async def test_an_answer_beside_reads_waits_until_they_are_seen() -> None:
    tool = Lookup()
    both = turn(
        called("lookup", {"what": "apples"}), answer("apples was found", ("apples", ["o1"]))
    )
    model = ScriptedModel(both, DONE)
    outcome = await play(model, tool)
    assert tool.ran == ["apples"]
    assert "before their results were seen" in texts(model, 1)[1]
    assert isinstance(outcome, Answer)


async def test_an_invented_deploy_is_rejected_and_withheld() -> None:
    invented = turn(
        answer(
            "payments-api deploy 9999 caused the checkout incident",
            ("Deploy 9999 finished 01:44 UTC", ["o1"]),
            ("Trace at https://traces.example/abc", ["o1"]),
        )
    )
    model = ScriptedModel(turn(called("search_deploy")), invented, invented)
    outcome = await play(
        model,
        Canned("search_deploy", ranking()),
        question=asked("Which service caused the checkout incident?"),
    )
    assert "deploy number 'Deploy 9999' does not occur in o1" in texts(model, 2)[-1]
    assert isinstance(outcome, Failure)
    assert outcome.reason is StopReason.UNGROUNDED
    assert "9999" not in " ".join(e.text for e in outcome.established)


async def test_on_the_second_rejection_the_claims_that_hold_are_the_answer() -> None:
    half = turn(
        answer(
            "payments-api deploy 4471 most likely caused the checkout incident",
            ("Deploy 4471 finished 22 min before onset", ["o1"]),
            ("It cut the pool from 40 to 4 connections", ["o1"]),
        )
    )
    model = ScriptedModel(turn(called("search_deploy")), half, half)
    outcome = await play(
        model,
        Canned("search_deploy", ranking()),
        question=asked("Which service caused the checkout incident?"),
    )
    assert isinstance(outcome, Answer)
    assert "pool" not in " ".join(c.text for c in outcome.claims)
    assert any("withheld" in line for line in outcome.unknowns)


async def test_a_part_that_is_left_out_is_asked_for() -> None:
    cause_only = turn(
        answer(
            "payments-api deploy 4471 most likely caused it",
            ("Deploy 4471 finished 22 min before onset", ["o1"]),
        )
    )
    with_unknown = turn(
        answer(
            "payments-api deploy 4471 most likely caused it",
            ("Deploy 4471 finished 22 min before onset", ["o1"]),
            unknowns=["what changed in deploy 4471"],
        )
    )
    model = ScriptedModel(turn(called("search_deploy")), cause_only, with_unknown)
    outcome = await play(
        model,
        Canned("search_deploy", ranking()),
        question=asked(
            "Which service caused the checkout incident, and what changed in deploy 4471?"
        ),
    )
    assert "what changed in deploy 4471" in texts(model, 2)[-1]
    assert isinstance(outcome, Answer)


async def test_a_deploy_that_does_not_exist_is_an_answer() -> None:
    model = ScriptedModel(
        turn(called("get_diff")),
        turn(
            answer(
                "Deploy 9999 does not exist",
                ("There is no deploy 9999 in any source", ["o1"]),
            )
        ),
    )
    outcome = await play(
        model, Canned("get_diff", no_deploy()), question=asked("What changed in deploy 9999?")
    )
    assert isinstance(outcome, Answer), outcome


async def test_a_write_is_proposed_with_a_key_and_never_run() -> None:
    model = ScriptedModel(turn(called("restart", {"service": "web"}), text="web is stuck"))
    outcome = await play(model, Restart())
    assert isinstance(outcome, Proposal)
    assert outcome.arguments == {"service": "web"}
    assert outcome.reason == "web is stuck"
    assert outcome.key


async def test_a_write_beside_reads_is_refused() -> None:
    tool = Lookup()
    model = ScriptedModel(
        turn(called("restart", {"service": "web"}), called("lookup", {"what": "apples"})),
        turn(answer("apples was found", ("apples was found", ["o2"]))),
    )
    outcome = await play(model, tool, Restart())
    assert "stands alone" in texts(model, 1)[0]
    assert isinstance(outcome, Answer)


async def test_a_refusal_ends_the_run_as_refused() -> None:
    outcome = await play(ScriptedModel(turn(text="I can't", finish=Finish.REFUSAL)))
    assert isinstance(outcome, Failure)
    assert outcome.reason is StopReason.REFUSED


async def test_an_unknown_finish_reason_is_no_answer() -> None:
    odd = turn(text="done", finish=Finish.OTHER)
    outcome = await play(ScriptedModel(odd, odd))
    assert isinstance(outcome, Failure)
    assert outcome.reason is StopReason.SILENT_FINISH


async def test_a_model_that_is_down_fails_as_unavailable_and_bad_keys_are_not_retried() -> None:
    model = ScriptedModel(ModelError(ModelErrorKind.AUTH, "the key was refused"))
    outcome = await play(model)
    assert isinstance(outcome, Failure)
    assert outcome.reason is StopReason.MODEL_UNAVAILABLE
    assert outcome.detail == "the key was refused"


async def test_an_overloaded_model_is_tried_again_inside_the_deadline() -> None:
    busy = ModelError(ModelErrorKind.OVERLOADED, "busy", retry_after=0.0)
    model = ScriptedModel(busy, busy, turn(called("lookup", {"what": "apples"})), DONE)
    outcome = await play(model, Lookup())
    assert isinstance(outcome, Answer)


async def test_a_retry_that_does_not_fit_the_deadline_is_not_waited_for() -> None:
    busy = ModelError(ModelErrorKind.RATE_LIMIT, "slow down", retry_after=3600)
    outcome = await play(ScriptedModel(busy))
    assert isinstance(outcome, Failure)
    assert outcome.reason is StopReason.MODEL_UNAVAILABLE


async def test_an_abort_during_a_tool_keeps_what_was_found_and_starts_nothing_more() -> None:
    stop = stop_after()

    async def hangs(arguments: LookupArguments, context: CallContext) -> ToolResult:
        if arguments.what == "slow":
            stop.abort("@maya")
            await forever()
        return found("apples was found")

    tool = Lookup(hangs)
    model = ScriptedModel(
        turn(called("lookup", {"what": "apples"})), turn(called("lookup", {"what": "slow"}))
    )
    outcome = await play(model, tool, stop=stop)
    assert isinstance(outcome, Failure)
    assert outcome.reason is StopReason.ABORTED
    assert outcome.detail == "Stopped by @maya."
    assert [e.text for e in outcome.established] == ["apples was found"]
    assert model.left == 0


async def test_an_abort_during_the_model_call_cancels_it() -> None:
    stop = stop_after()
    cancelled = asyncio.Event()

    async def thinks(_: object) -> Turn:
        stop.abort()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise
        raise AssertionError

    outcome = await play(ScriptedModel(thinks), stop=stop)
    assert isinstance(outcome, Failure)
    assert outcome.reason is StopReason.ABORTED
    assert cancelled.is_set()


async def test_a_run_that_is_stopped_before_it_starts_calls_nothing() -> None:
    stop = stop_after()
    stop.abort()
    model = ScriptedModel()
    outcome = await play(model, stop=stop)
    assert isinstance(outcome, Failure)
    assert outcome.reason is StopReason.ABORTED
    assert model.requests == []


async def test_the_deadline_cuts_a_hanging_tool() -> None:
    tool = Lookup(forever)
    outcome = await play(
        ScriptedModel(turn(called("lookup"))), tool, stop=Stop(Clock(), Clock().monotonic() + 0.05)
    )
    assert isinstance(outcome, Failure)
    assert outcome.reason is StopReason.DEADLINE


async def test_a_tool_over_its_time_is_an_observation_and_may_be_tried_again() -> None:
    times = iter([forever, None])

    async def slow_once(arguments: LookupArguments, context: CallContext) -> ToolResult:
        if (wait := next(times)) is not None:
            await wait()
        return found("apples was found")

    model = ScriptedModel(
        turn(called("lookup", {"what": "apples"})),
        turn(called("lookup", {"what": "apples"})),
        DONE_O2,
    )
    outcome = await play(model, Lookup(slow_once), limits=Limits(tool_call_seconds=0.05))
    assert "did not finish within 0.05 s" in texts(model, 1)[0]
    assert isinstance(outcome, Answer)


async def test_a_model_over_its_time_is_unavailable_and_not_asked_again() -> None:
    outcome = await play(ScriptedModel(forever), limits=Limits(model_call_seconds=0.05))
    assert isinstance(outcome, Failure)
    assert outcome.reason is StopReason.MODEL_UNAVAILABLE
    assert "did not answer within 0.05 s" in outcome.detail


async def test_reads_of_one_turn_run_in_parallel_and_come_back_in_call_order() -> None:
    first_may_end = asyncio.Event()

    async def ordered(arguments: LookupArguments, context: CallContext) -> ToolResult:
        if arguments.what == "first":
            await first_may_end.wait()
        else:
            first_may_end.set()
        return found(f"{arguments.what} was found")

    journal = MemoryJournal()
    model = ScriptedModel(
        turn(called("lookup", {"what": "first"}), called("lookup", {"what": "second"})),
        turn(answer("first was found", ("first was found", ["o1"]))),
    )
    await play(model, Lookup(ordered), journal=journal)
    assert [t.splitlines()[1] for t in texts(model, 1)] == ["first was found", "second was found"]
    assert [e.observation for e in journal.events if isinstance(e, ToolCalled)] == [
        "o1",
        "o2",
        "o3",
    ]


async def test_no_more_reads_run_at_once_than_the_limit() -> None:
    running, most = 0, 0

    async def counts(arguments: LookupArguments, context: CallContext) -> ToolResult:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return found("apples was found")

    calls = [called("lookup", {"what": f"w{i}"}) for i in range(6)]
    model = ScriptedModel(
        turn(*calls), turn(answer("apples was found", ("apples was found", ["o1"])))
    )
    await play(model, Lookup(counts), limits=Limits(parallel_reads=2))
    assert most == 2


async def test_a_huge_result_is_shown_in_part_with_the_call_that_shows_the_rest() -> None:
    async def huge(arguments: LookupArguments, context: CallContext) -> ToolResult:
        return found("apples was found\n" + "line of text\n" * 40_000)

    model = ScriptedModel(turn(called("lookup", {"what": "apples"})), DONE)
    await play(model, Lookup(huge))
    shown = texts(model, 1)[0]
    assert len(shown) <= Limits().observation_chars
    assert 'read_result(observation="o1", page=2)' in shown
    assert "apples was found" in shown


async def test_each_request_begins_with_the_bytes_of_the_one_before() -> None:
    reads = [turn(called("lookup", {"what": w}), text=f"thinking of {w}") for w in "abcde"]
    model = ScriptedModel(*reads, turn(answer("a was found", ("a was found", ["o1"]))))
    await play(model, Lookup(), limits=Limits(max_steps=6))
    for before, after in zip(model.requests, model.requests[1:], strict=False):
        assert before.system == after.system
        assert before.tools == after.tools
        old = [m.model_dump_json() for m in before.messages]
        new = [m.model_dump_json() for m in after.messages]
        assert new[: len(old)] == old
        assert after.kept == len(old)


async def test_a_spent_token_budget_ends_the_run() -> None:
    reads = [turn(called("lookup", {"what": w}), tokens=5_000) for w in "abc"]
    outcome = await play(
        ScriptedModel(*reads), Lookup(), limits=Limits(request_tokens=9_000, run_tokens=10_000)
    )
    assert isinstance(outcome, Failure)
    assert outcome.reason is StopReason.TOKEN_BUDGET


async def test_tokens_are_estimated_when_the_model_reports_none() -> None:
    async def huge(arguments: LookupArguments, context: CallContext) -> ToolResult:
        return found("x" * 3_000)

    reads = [turn(called("lookup", {"what": w}), tokens=None) for w in "abcdef"]
    outcome = await play(
        ScriptedModel(*reads), Lookup(huge), limits=Limits(request_tokens=1_500, run_tokens=6_000)
    )
    assert isinstance(outcome, Failure)
    assert outcome.reason is StopReason.TOKEN_BUDGET


async def test_the_models_own_answer_arguments_can_be_wrong_without_ending_the_run() -> None:
    bad = turn(called("answer", json.dumps({"headline": "", "claims": []})))
    model = ScriptedModel(turn(called("lookup", {"what": "apples"})), bad, DONE)
    outcome = await play(model, Lookup())
    assert "headline" in texts(model, 2)[-1]
    assert isinstance(outcome, Answer)


async def test_reads_that_are_needed_together_fail_together() -> None:
    async def half(arguments: LookupArguments, context: CallContext) -> ToolResult:
        if arguments.what == "bad":
            raise ToolError("no such thing")
        return found("good was found")

    class Pair(Lookup):
        together: ClassVar[bool] = True

    both = turn(called("lookup", {"what": "good"}), called("lookup", {"what": "bad"}))
    end = turn(answer("x", unknowns=["all"], confidence="none"))
    for kind, fails in ((Lookup, False), (Pair, True)):
        model = ScriptedModel(both, end)
        await play(model, kind(half))
        assert ("only make sense together" in texts(model, 1)[0]) is fails
