"""What goes over the wire: bytes that only grow, echoes, sizes, and the official SDKs' own types."""

from __future__ import annotations

import importlib.util
import itertools
import json
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from pydantic import TypeAdapter

from bot.loop.outcome import Answer
from bot.loop.prompt import SYSTEM, opening
from bot.loop.question import parse
from bot.loop.stopping import Clock
from bot.loop.toolbox import Toolbox
from bot.loop.wire import (
    AssistantMessage,
    Finish,
    Message,
    Request,
    ResultMessage,
    ToolCall,
    Turn,
    UserMessage,
)
from bot.models.make import adapter
from bot.playground.incident import DemoIncident, make_demo_workspace
from models.model_server import ModelServer, Says, Sent, model_server, stable
from models.script import ANSWER, DIFF, GOOD, SEARCH, SILENT
from models.wires import MESSAGES, TEXT, TOOLS, Alone, Wire, ask
from support.scripted import NoRedaction, called, turn
from tools.http import HttpClient
from tools.workspace import open_workspace, read_tools

DOWN = "http://127.0.0.1:9"
SCRIPTS: tuple[tuple[Says, ...], ...] = (
    GOOD,
    (Says((*SEARCH.calls, *DIFF.calls), text="Both at once."), *SILENT),
    SILENT,
    (Says(), *GOOD),
    (Says((("kubectl", {}),)), SEARCH, SEARCH, *SILENT),
    tuple(Says((("get_diff", {"what": str(n)}),), thinking="so?") for n in range(8)),
)


async def played(wire: Wire, script: Sequence[Says], alone: Alone, **more: Any) -> ModelServer:
    async with model_server(*script) as server:
        await ask(alone(wire, server, **more))
    return server


# --- bytes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("script", SCRIPTS, ids=range(len(SCRIPTS)))
async def test_each_request_begins_with_the_bytes_of_the_one_before(
    script: tuple[Says, ...], wire: Wire, alone: Alone
) -> None:
    if wire.mode == "text":
        script = tuple(s for s in script if len(s.calls) < 2)
    server = await played(wire, script, alone)
    sent = [stable(asked) for asked in server.asked]
    assert len(sent) > 1
    for before, after in itertools.pairwise(sent):
        assert after.startswith(before)
        assert len(after) > len(before)


async def test_two_runs_of_one_configuration_begin_with_the_same_bytes_up_to_the_question(
    wire: Wire, alone: Alone
) -> None:
    async with model_server(*SILENT, *SILENT) as server:
        await ask(alone(wire, server))
        await ask(alone(wire, server), question="What changed in deploy 4470?")
    first, other = server.asked[0].raw, server.asked[2].raw
    upto = first.index(b"Question: ")
    assert first[:upto] == other[:upto]


async def test_cache_breakpoints_stand_on_tools_system_and_the_newest_message(
    alone: Alone,
) -> None:
    server = await played(MESSAGES, GOOD, alone)
    mark = {"type": "ephemeral"}
    for asked in server.asked:
        assert asked.body["tools"][-1]["cache_control"] == mark
        assert asked.body["system"][-1]["cache_control"] == mark
        assert asked.body["cache_control"] == mark
    without = await played(MESSAGES, GOOD, alone, caching=False)
    assert b"cache_control" not in without.asked[0].raw


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> DemoIncident:
    return make_demo_workspace(tmp_path_factory.mktemp("demo") / "workspace")


def first_request(demo: DemoIncident) -> Request:
    workspace = open_workspace(demo.root)
    question = parse(demo.question, demo.asked_at, workspace.catalog.words(), ())
    return Request(
        system=SYSTEM,
        tools=Toolbox(read_tools(workspace), NoRedaction()).specs,
        messages=(UserMessage(text=opening(question)),),
        question=question,
        seen=(),
    )


async def test_the_first_request_of_the_demo_question_is_at_most_6_kb(
    demo: DemoIncident, calling: Wire, alone: Alone
) -> None:
    request = first_request(demo)
    async with model_server(SEARCH) as server:
        await alone(calling, server).complete(request)
    size = len(server.asked[0].raw)
    print(f"first request, {calling.kind}, {len(request.tools)} tools: {size:,} bytes")
    assert size <= 6_000


async def test_the_adapter_takes_at_most_2_ms_a_step_at_20_steps_of_8_kb(
    demo: DemoIncident, wire: Wire, client: HttpClient
) -> None:
    model: Any = adapter(wire.settings(DOWN), client, Clock())
    request = first_request(demo)
    messages: list[Message] = list(request.messages)
    spent = []
    for step in range(20):
        asked = replace(request, messages=tuple(messages))
        began = time.process_time()
        body = model._body(asked)
        spent.append(time.process_time() - began)
        assert len(body) > step * 8_000
        call = ToolCall(id=f"c{step}", name="get_diff", arguments='{"deploy": "4471"}')
        told = turn(call, text="Reading.", finish=Finish.TOOL_USE)
        messages += [
            AssistantMessage(turn=told),
            ResultMessage(call_id=call.id, text=f"[o{step}] ok\n" + "+ retry.budget: 1s\n" * 420),
        ]
    mean = sum(spent) / len(spent) * 1000
    print(f"{wire.kind} {wire.mode}: {mean:.3f} ms a step, {max(spent) * 1000:.3f} at most")
    assert mean <= 2


# --- echoes ------------------------------------------------------------------------------------


async def test_thinking_is_sent_back_unchanged_with_its_signature(alone: Alone) -> None:
    thinks = Says(SEARCH.calls, text="Looking.", thinking="Deep — thought")
    extra = {"thinking": {"type": "enabled", "budget_tokens": 1024}}
    server = await played(MESSAGES, (thinks, DIFF, ANSWER), alone, extra_body=extra)
    echoed = server.asked[2].body["messages"][1]
    assert [block["type"] for block in echoed["content"]] == ["thinking", "text", "tool_use"]
    assert echoed["content"][0]["signature"] == "c2lnbmVk=="
    assert server.asked[2].body["thinking"] == extra["thinking"]


async def test_an_echo_keeps_what_only_its_provider_understands(
    client: HttpClient, demo: DemoIncident
) -> None:
    told = {"content": None, "reasoning_details": [{"data": "x"}], "role": "assistant"}
    turn_of = Turn(
        text="",
        calls=(called("get_diff", "{}", id="k1"),),
        finish=Finish.TOOL_USE,
        model="m-1",
    )
    model: Any = adapter(TOOLS.settings(DOWN), client, Clock())
    own = turn_of.model_copy(update={"echo": {"by": model._by, "message": told}})
    other = turn_of.model_copy(update={"echo": {"by": "someone else", "message": told}})
    result = ResultMessage(call_id="k1", text="[o1] ok")
    base = first_request(demo)
    for made, expected in ((own, told), (other, None)):
        messages = (*base.messages, AssistantMessage(turn=made), result)
        sent = json.loads(model._body(replace(base, messages=messages)))["messages"]
        if expected is not None:
            assert sent[2] == expected
            assert sent[3]["tool_call_id"] == "k1"
        else:
            assert "reasoning_details" not in sent[2]
            assert sent[3]["tool_call_id"] == sent[2]["tool_calls"][0]["id"] != "k1"


async def test_a_run_that_changes_provider_in_the_middle_is_told_neutrally(
    wire: Wire, alone: Alone, client: HttpClient
) -> None:
    other = MESSAGES if wire != MESSAGES else TOOLS
    thinks = Says((*SEARCH.calls, *DIFF.calls), text="Both.", thinking="secret thought")
    extra = {"thinking": {"type": "enabled", "budget_tokens": 1024}}
    async with model_server(thinks, ANSWER) as server:
        first = adapter(other.settings(server), client, Clock())
        more = {"extra_body": extra} if wire == MESSAGES else {}
        second = adapter(wire.settings(server, **more), client, Clock())

        class Handed:
            name = "handed"

            async def complete(self, request: Request) -> Turn:
                return await (first if len(request.messages) == 1 else second).complete(request)

        outcome = await ask(Handed())
    assert isinstance(outcome, Answer), outcome
    raw = server.asked[1].raw.decode()
    assert "secret thought" not in raw
    assert "Both." in raw
    assert "toolu_" not in raw, "another provider's ids are not every provider's"
    assert "thinking" not in server.asked[1].body, "refused beside calls made without it"


async def test_calls_without_an_id_of_their_own_get_one_and_it_is_echoed(alone: Alone) -> None:
    message = {
        "role": "assistant",
        "content": "",
        "tool_calls": [
            {"id": "", "type": "function", "function": {"name": n, "arguments": {"what": "x"}}}
            for n in ("search_deploy", "get_diff")
        ],
    }
    reply = {"choices": [{"message": message, "finish_reason": "stop"}]}
    async with model_server(Sent(json.dumps(reply).encode()), ANSWER) as server:
        outcome = await ask(alone(TOOLS, server))
    assert isinstance(outcome, Answer), outcome
    sent = server.asked[1].body["messages"]
    ids = [call["id"] for call in sent[2]["tool_calls"]]
    assert len(set(ids)) == 2
    assert all(ids)
    assert [m["tool_call_id"] for m in sent[3:]] == ids


# --- the SDKs' types -----------------------------------------------------------------------------


def _sdk(package: str) -> None:
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"the {package} SDK is not installed: it is a development-only oracle")


@pytest.mark.parametrize("script", SCRIPTS, ids=range(len(SCRIPTS)))
@pytest.mark.parametrize("wire", [TOOLS, TEXT], ids=["tools", "text"])
async def test_requests_are_what_the_openai_sdk_would_send(
    script: tuple[Says, ...], wire: Wire, alone: Alone
) -> None:
    _sdk("openai")
    from openai.types.chat.completion_create_params import (  # noqa: PLC0415
        CompletionCreateParamsNonStreaming,
    )

    adapted = TypeAdapter(CompletionCreateParamsNonStreaming)
    if wire.mode == "text":
        script = tuple(s for s in script if len(s.calls) < 2)
    for asked in (await played(wire, script, alone, extra_body={"temperature": 0})).asked:
        _whole(adapted.validate_python(asked.body), asked.body)


@pytest.mark.parametrize("script", SCRIPTS, ids=range(len(SCRIPTS)))
async def test_requests_are_what_the_anthropic_sdk_would_send(
    script: tuple[Says, ...], alone: Alone
) -> None:
    _sdk("anthropic")
    from anthropic.types.message_create_params import (  # noqa: PLC0415
        MessageCreateParamsNonStreaming,
    )

    adapted = TypeAdapter(MessageCreateParamsNonStreaming)
    for asked in (await played(MESSAGES, script, alone, extra_body={"service_tier": "auto"})).asked:
        _whole(adapted.validate_python(asked.body), asked.body)


def _whole(validated: Any, sent: dict[str, Any]) -> None:
    """The SDK knows every member of the request, and everything in it is what its types say."""
    assert set(validated) == set(sent)
    _read(validated)


def _read(value: Any) -> None:
    """To the end: pydantic checks an iterable's items as they are read."""
    match value:
        case dict():
            for inner in value.values():
                _read(inner)
        case str() | int() | float() | None:
            pass
        case _:
            for inner in value:
                _read(inner)
