"""What a user gets, whatever the model's server does: the real loop over real HTTP."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot.loop.journal import MemoryJournal, ModelFailed, ModelReturned, ToolReturned
from bot.loop.limits import Limits, StopReason
from bot.loop.outcome import Failure, Outcome, plain
from bot.loop.wire import Finish, ModelErrorKind
from bot.runs.reply_text import reply_text
from bot.terminal import reply_lines
from models.model_server import (
    Drips,
    Hangs,
    Play,
    Resets,
    Says,
    Sent,
    Status,
    model_server,
)
from models.script import ANSWER, DIFF, GOOD, HEADLINE, SEARCH
from models.wires import KEY, MESSAGES, TOOLS, Alone, Wire, ask

LIMITS = Limits(model_retries=1)
QUICK = Limits(model_call_seconds=0.3, model_retries=1)
"""For a model that answers too late."""


async def test_the_0214_question_is_answered_in_three_turns(wire: Wire, alone: Alone) -> None:
    async with model_server(*GOOD) as server:
        outcome = await ask(alone(wire, server))
    _answers(outcome)
    assert outcome.steps == 3
    assert server.connections == 1, "the connection is kept"


async def test_parallel_calls_run_together_and_are_answered_in_order(
    calling: Wire, alone: Alone
) -> None:
    both = Says((*SEARCH.calls, *DIFF.calls))
    async with model_server(both, ANSWER) as server:
        outcome = await ask(alone(calling, server))
    _answers(outcome)
    assert outcome.steps == 2
    sent = server.asked[1].body["messages"]
    if calling == TOOLS:
        made = [call["id"] for call in sent[-3]["tool_calls"]]
        assert [message["tool_call_id"] for message in sent[-2:]] == made
    else:
        made = [block["id"] for block in sent[-2]["content"]]
        assert [block["tool_use_id"] for block in sent[-1]["content"]] == made


async def test_bad_json_never_runs_and_the_model_may_correct_it(alone: Alone) -> None:
    journal = MemoryJournal()
    broken = Says((("search_deploy", '{"what": "chec'),))
    async with model_server(broken, *_shifted(GOOD)) as server:
        outcome = await ask(alone(TOOLS, server), journal=journal)
    _answers(outcome)
    ran = [e.tool for e in journal.events if isinstance(e, ToolReturned)]
    assert ran == ["search_deploy", "get_diff", "answer"]
    told = server.asked[1].body["messages"]
    assert "not valid JSON" in told[-1]["content"]
    again = json.loads(told[-2]["tool_calls"][0]["function"]["arguments"])
    assert again == {"not_json": '{"what": "chec'}, "servers that parse it again are not broken"


async def test_text_that_is_no_action_is_told_once_and_then_a_silent_finish(alone: Alone) -> None:
    wire = Wire("openai", "text")
    async with model_server(Says(text='{"thought": "x", "act'), Says(text="4471!")) as server:
        outcome = await ask(alone(wire, server))
    _fails(outcome, StopReason.SILENT_FINISH)


async def test_an_unknown_tool_is_answered_with_the_tools_there_are(
    wire: Wire, alone: Alone
) -> None:
    unknown = Says((("kubectl", {"get": "pods"}),))
    async with model_server(unknown, *_shifted(GOOD)) as server:
        outcome = await ask(alone(wire, server))
    _answers(outcome)
    assert "The tools are: search_deploy, get_diff, answer" in json.dumps(server.asked[1].body)


async def test_an_empty_reply_is_a_silent_finish_and_never_echoed(wire: Wire, alone: Alone) -> None:
    async with model_server(Says(), Says()) as server:
        outcome = await ask(alone(wire, server))
    _fails(outcome, StopReason.SILENT_FINISH)
    said = [m["content"] for m in server.asked[1].body["messages"] if m["role"] == "assistant"]
    assert said in ([], ["(cut off)"])


@pytest.mark.parametrize(
    ("wire", "play"),
    [
        (TOOLS, Says(text="No.", finish="content_filter")),
        (
            TOOLS,
            Sent(
                b'{"choices": [{"finish_reason": "stop", "message": '
                b'{"content": null, "refusal": "I cannot help with that."}}]}'
            ),
        ),
        (MESSAGES, Says(text="No.", finish="refusal")),
        (
            TOOLS,
            Status(400, b'{"error": {"code": "content_filter", "message": "filtered"}}'),
        ),
    ],
)
async def test_a_refusal_is_said_to_be_one(wire: Wire, play: Play, alone: Alone) -> None:
    async with model_server(play) as server:
        outcome = await ask(alone(wire, server))
    _fails(outcome, StopReason.REFUSED)


@pytest.mark.parametrize("calls", [(), SEARCH.calls])
async def test_a_cut_off_reply_is_tried_with_more_room_then_fails_as_truncated(
    calls: tuple[Any, ...], calling: Wire, alone: Alone
) -> None:
    finish = "length" if calling == TOOLS else "max_tokens"
    cut = Says(calls, text="It was", finish=finish)
    journal = MemoryJournal()
    async with model_server(cut, cut) as server:
        outcome = await ask(alone(calling, server), journal=journal)
    _fails(outcome, StopReason.TRUNCATED)
    assert not [e for e in journal.events if isinstance(e, ToolReturned)]
    first, second = (asked.body["max_tokens"] for asked in server.asked)
    assert second == 2 * first
    assert "assistant" not in [m["role"] for m in server.asked[1].body["messages"]]


async def test_a_reply_that_was_cut_off_once_does_not_cost_the_answer(
    wire: Wire, alone: Alone
) -> None:
    cut = Says(text="It was", finish="length" if wire.kind == "openai" else "max_tokens")
    async with model_server(cut, *GOOD) as server:
        outcome = await ask(alone(wire, server))
    _answers(outcome)
    rooms = [asked.body["max_tokens"] for asked in server.asked]
    assert rooms == [4096, 8192, 4096, 4096]
    if wire.mode == "text":
        roles = [m["role"] for m in server.asked[1].body["messages"][1:]]
        assert roles == ["user", "assistant", "user"], "turns alternate for strict templates"


async def test_an_unknown_finish_reason_is_not_taken_for_a_stop(wire: Wire, alone: Alone) -> None:
    odd = Says(text="hm", finish="galaxy_end")
    journal = MemoryJournal()
    async with model_server(odd, odd) as server:
        outcome = await ask(alone(wire, server), journal=journal)
    _fails(outcome, StopReason.SILENT_FINISH)
    turns = [e.turn.finish for e in journal.events if isinstance(e, ModelReturned)]
    assert turns == [Finish.OTHER, Finish.OTHER]


def _nested(levels: int) -> bytes:
    """A reply on either wire that a journal could not keep so that it can be read again."""
    deep = b"[" * levels + b"]" * levels
    return (
        b'{"choices": [{"message": {"content": "x", "more": '
        + deep
        + b'}, "finish_reason": "stop"}],'
        b'"content": [{"type": "text", "text": "x", "more": '
        + deep
        + b'}], "stop_reason": "end_turn"}'
    )


@pytest.mark.parametrize(
    "busy",
    [
        Status(429, headers=(("retry-after", "0.05"),)),
        Status(429, headers=(("retry-after-ms", "50"),)),
        Status(429),
        Status(500),
        Status(502, b"<html>Bad Gateway</html>"),
        Status(529, b'{"type": "error", "error": {"type": "overloaded_error", "message": "x"}}'),
        Resets(),
        Sent(b'{"choices": [{"index"'),
        Sent(b"<html><body>Sign in</body></html>", "text/html"),
        Sent(b'{"choices": []}'),
        Sent(b'{"choices": [{"message": 7}]}'),
        Sent(b'{"error": {"code": 503, "message": "no provider"}}'),
        Sent(b""),
        Sent(b"[]"),
        Sent(b'{"choices": NaN}'),
        Sent(b"[" * 100_000),
        Sent(_nested(150)),
        Sent(_nested(190)),
        Sent(_nested(240)),
    ],
    ids=str,
)
async def test_a_passing_outage_does_not_cost_the_answer(
    busy: Play, wire: Wire, alone: Alone
) -> None:
    async with model_server(SEARCH, busy, DIFF, ANSWER) as server:
        outcome = await ask(alone(wire, server))
    _answers(outcome)


@pytest.mark.parametrize(
    ("play", "kind"),
    [
        (Hangs(), ModelErrorKind.TIMEOUT),
        (Drips(), ModelErrorKind.TIMEOUT),
        (Status(504, b"<html>Gateway Time-out</html>"), ModelErrorKind.TIMEOUT),
        (
            Status(401, f'{{"error": {{"message": "bad key {KEY}"}}}}'.encode()),
            ModelErrorKind.AUTH,
        ),
        (Status(403, b"<html>forbidden</html>"), ModelErrorKind.AUTH),
        (Status(404, b"<html>not found</html>"), ModelErrorKind.BAD_REQUEST),
        (Status(301, b"", (("location", "http://127.0.0.1:1/"),)), ModelErrorKind.BAD_REQUEST),
        (
            Status(400, b'{"error": {"code": "context_length_exceeded", "message": "long"}}'),
            ModelErrorKind.CONTEXT_TOO_LONG,
        ),
        (
            Status(
                400,
                b'{"type": "error", "error": {"type": "invalid_request_error", '
                b'"message": "prompt is too long: 210000 tokens > 200000 maximum"}}',
            ),
            ModelErrorKind.CONTEXT_TOO_LONG,
        ),
        (Status(413, b""), ModelErrorKind.CONTEXT_TOO_LONG),
        (
            Status(429, b'{"error": {"type": "insufficient_quota", "message": "pay"}}'),
            ModelErrorKind.AUTH,
        ),
    ],
    ids=str,
)
async def test_what_no_retry_can_mend_fails_at_once_in_plain_words_with_what_was_found(
    play: Play, kind: ModelErrorKind, wire: Wire, alone: Alone
) -> None:
    journal = MemoryJournal()
    async with model_server(SEARCH, play) as server:
        limits = QUICK if kind is ModelErrorKind.TIMEOUT else LIMITS
        outcome = await ask(alone(wire, server), limits=limits, journal=journal)
    failure = _fails(outcome, StopReason.MODEL_UNAVAILABLE)
    assert [e.error for e in journal.events if isinstance(e, ModelFailed)] == [kind]
    assert failure.established[0].text.startswith("1. payments-api 4471")
    assert (
        failure.detail.startswith("m-1 ")
        or failure.detail.endswith("m-1.")
        or ("context of m-1" in failure.detail)
    )
    assert "<html" not in failure.detail


@pytest.mark.parametrize("status", [401, 400, 429, 500])
async def test_a_key_never_shows_whatever_the_server_says_of_it(
    status: int, wire: Wire, alone: Alone
) -> None:
    body = json.dumps({"error": {"message": f"Incorrect API key: {KEY}, of Bearer {KEY}."}})
    journal = MemoryJournal()
    async with model_server(Status(status, body.encode())) as server:
        limits = Limits(model_retries=0)
        outcome = await ask(alone(wire, server), limits=limits, journal=journal)
    assert isinstance(outcome, Failure)
    everything = outcome.model_dump_json() + "".join(e.model_dump_json() for e in journal.events)
    assert KEY not in everything
    assert KEY in " ".join(server.asked[0].headers.values()), "but it was sent"


async def test_a_reply_of_endless_bytes_is_not_read_to_its_end(wire: Wire, alone: Alone) -> None:
    async with model_server(Sent(b'{"choices": "' + b"x" * 5_000_000 + b'"}')) as server:
        outcome = await ask(alone(wire, server), limits=Limits(model_retries=0))
    failure = _fails(outcome, StopReason.MODEL_UNAVAILABLE)
    assert "more than 4,000,000 bytes" in failure.detail


def _shifted(plays: tuple[Says, ...]) -> tuple[Says, ...]:
    """The same script after one refused call: its observations are numbered one higher."""
    raw = json.dumps(plays[-1].calls[0][1]).replace('"o2"', '"o3"').replace('"o1"', '"o2"')
    return (*plays[:-1], Says((("answer", json.loads(raw)),)))


def _fails(outcome: Outcome, reason: StopReason) -> Failure:
    assert isinstance(outcome, Failure), outcome
    assert outcome.reason is reason, outcome
    headline, *rest = _reply(outcome)
    assert headline.startswith(f"No answer. {plain(reason)}")
    assert any(line.startswith("Check next: ") for line in rest)
    return outcome


def _answers(outcome: Outcome) -> None:
    headline, *rest = _reply(outcome)
    assert headline == f"{HEADLINE} (confidence: high)"
    assert rest[0].startswith("• Deploy 4471 finished 01:44 UTC, 22 min before onset [")
    assert "search_deploy  [" in rest[-1]


def _reply(outcome: Outcome) -> list[str]:
    """The reply that a user gets."""
    return list(reply_lines(reply_text(outcome, 1.0), str))
