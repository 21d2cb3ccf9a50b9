"""When a run no longer fits: the oldest observations shrink to a line, and nothing is forgotten."""

from __future__ import annotations

import json

import pytest

from bot.loop.journal import MemoryJournal, ModelCalled, ModelFailed, ToolReturned
from bot.loop.limits import Limits
from bot.loop.outcome import Answer, Failure
from bot.loop.replay import Same, replay
from bot.loop.toolbox import Toolbox
from models.model_server import Says, Status, model_server
from models.script import HEADLINE
from models.wires import Alone, Fallback, Wire, ask
from support.scripted import Canned, NoRedaction, diff, found, ranking
from tools.base import ToolResult
from tools.read_result import ReadResult

TOO_LONG = Status(400, b'{"error": {"code": "context_length_exceeded", "message": "too long"}}')
SAID = {
    "openai": TOO_LONG,
    "anthropic": Status(
        400,
        b'{"type": "error", "error": {"type": "invalid_request_error", '
        b'"message": "prompt is too long: 210000 tokens > 200000 maximum"}}',
    ),
    "llama.cpp": Status(
        400,
        b'{"error": {"code": 400, "type": "exceed_context_size_error", '
        b'"message": "the request exceeds the available context size, try increasing it"}}',
    ),
    "vllm": Status(
        400,
        b'{"object": "error", "type": "BadRequestError", "code": 400, '
        b'"message": "This model\'s maximum context length is 4096 tokens."}',
    ),
    "proxy": Status(413, b"<html>Request Entity Too Large</html>"),
}
CLAIMS = [
    {"text": "Deploy 4471 finished 01:44 UTC, 22 min before onset", "evidence": ["o1"]},
    {
        "text": "It changed 12 files; `retry.budget: 5s → 1s` in config/retry.yaml",
        "evidence": ["o2"],
    },
]
ANSWER = Says(
    (
        (
            "answer",
            {"headline": HEADLINE, "claims": CLAIMS, "unknowns": [], "confidence": "high"},
        ),
    )
)
SEARCH = Says((("search_deploy", {"what": "checkout"}),))
DIFF = Says((("get_diff", {"what": "4471"}),))
LONG = Says((("long", {}),))
AGAIN = Says((("read_result", {"observation": "o1"}),))


def padded(result: ToolResult) -> ToolResult:
    return result.model_copy(update={"text": result.text + "\nfiller" * 300})


def tools() -> Toolbox:
    return Toolbox(
        [
            Canned("search_deploy", padded(ranking())),
            Canned("get_diff", padded(diff())),
            Canned("long", found("x" * 3000)),
            ReadResult(),
        ],
        NoRedaction(),
    )


def cuts(journal: MemoryJournal) -> list[int]:
    return [event.cut for event in journal.events if isinstance(event, ModelCalled)]


@pytest.mark.parametrize("too_long", SAID.values(), ids=SAID.keys())
async def test_a_context_that_is_too_long_is_cut_once_and_the_answer_still_holds(
    too_long: Status, wire: Wire, alone: Alone
) -> None:
    journal = MemoryJournal()
    async with model_server(SEARCH, DIFF, too_long, AGAIN, ANSWER) as server:
        outcome = await ask(alone(wire, server), journal=journal, tools=tools())
    assert isinstance(outcome, Answer), outcome
    assert len(server.asked[3].raw) < len(server.asked[2].raw)
    cut = json.dumps(server.asked[3].body["messages"], ensure_ascii=False)
    assert "shortened; read_result(observation=" in cut
    assert cut.count("filler") == 300, "the newest observation stays whole"
    assert cuts(journal) == [0, 0, 0, 1, 1]
    before, after = (json.dumps(server.asked[n].body["messages"])[:-1] for n in (3, 4))
    assert after.startswith(before), "only a cut changes what was sent"
    again = json.dumps(server.asked[4].body["messages"][-1], ensure_ascii=False)
    assert "finished 01:44 UTC, 22 min before onset" in again, "what was cut can be read again"
    assert isinstance(await replay(journal, tools()), Same), "the cut is recorded"


async def test_what_was_cut_is_not_looked_up_again(wire: Wire, alone: Alone) -> None:
    journal = MemoryJournal()
    async with model_server(SEARCH, DIFF, TOO_LONG, SEARCH, ANSWER) as server:
        outcome = await ask(alone(wire, server), journal=journal, tools=tools())
    assert isinstance(outcome, Answer), outcome
    ran = [event.tool for event in journal.events if isinstance(event, ToolReturned)]
    assert ran == ["search_deploy", "get_diff", "answer"]
    told = json.dumps(server.asked[4].body["messages"][-1])
    assert "o1" in told
    assert isinstance(await replay(journal, tools()), Same)


async def test_a_request_is_cut_before_it_is_sent_where_it_would_pass_its_limit(
    wire: Wire, alone: Alone
) -> None:
    journal = MemoryJournal()
    limits = Limits(request_tokens=1800)
    async with model_server(SEARCH, DIFF, LONG, ANSWER) as server:
        outcome = await ask(alone(wire, server), journal=journal, tools=tools(), limits=limits)
    assert isinstance(outcome, Answer), outcome
    assert cuts(journal)[0] == 0
    assert cuts(journal)[-1] == 2
    assert isinstance(await replay(journal, tools()), Same)


async def test_a_cut_run_resumes_with_the_same_bytes(wire: Wire, alone: Alone) -> None:
    journal = MemoryJournal()
    async with model_server(SEARCH, DIFF, TOO_LONG, AGAIN, ANSWER, ANSWER) as server:
        await ask(alone(wire, server), journal=journal, tools=tools())
        ends = [n for n, e in enumerate(journal.events) if isinstance(e, ModelCalled)][-1]
        journal.events = journal.events[: ends + 1]
        outcome = await ask(alone(wire, server), journal=journal, tools=tools())
    assert isinstance(outcome, Answer), outcome
    assert server.asked[-1].raw == server.asked[-2].raw


async def test_what_does_not_fit_at_all_goes_to_the_next_model(fallback: Fallback) -> None:
    journal = MemoryJournal()
    async with model_server(TOO_LONG) as server:
        outcome = await ask(fallback(Wire("openai", "tools").settings(server)), journal=journal)
    assert outcome.model == "rules"
    assert not isinstance(outcome, Failure) or outcome.steps > 0
    assert len([e for e in journal.events if isinstance(e, ModelFailed)]) == 1
