"""Text mode: for servers without tool calls. One JSON action a turn, held to a schema by the server.

Owns how tools are told in the prompt and how an action is written and read. An action becomes the
same ``ToolCall`` as everywhere, so the same loop and the same checks follow.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, JsonValue, ValidationError

from bot.loop.wire import (
    AssistantMessage,
    Request,
    ResultMessage,
    ToolCall,
    ToolSpec,
    Turn,
    UserMessage,
)
from bot.models.encoding import Exchange, Json, as_json_object, as_object, bare, dumps, loads, slim
from bot.models.openai import Said

HOW = """\
How to call a tool
Reply with one JSON object and nothing else, one tool a turn:
{"thought": "why", "action": {"tool": "its name", "arguments": {…}}}
The result comes as the next message. `answer` is called the same way.

Tools, with the schema of their arguments
"""

PAUSE = "(cut off)"
"""Stands for a reply that was not kept: many chat templates demand that turns alternate."""


_THOUGHT = re.compile("</think>")


class _Action(BaseModel):
    tool: str
    arguments: str | dict[str, JsonValue] = {}


class _Thought(BaseModel):
    thought: str = ""
    action: _Action


class TextDialect:
    def opening(self, request: Request) -> Json:
        actions: list[JsonValue] = [_shape(spec) for spec in request.tools]
        schema: Json = {
            "type": "object",
            "properties": {"thought": {"type": "string"}, "action": {"anyOf": actions}},
            "required": ["thought", "action"],
            "additionalProperties": False,
        }
        return {
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "turn", "schema": schema},
            }
        }

    def system(self, request: Request) -> str:
        told = [
            f"- {spec.name}: {spec.description}\n  {dumps(slim(spec.parameters))}"
            for spec in request.tools
        ]
        return f"{request.system}\n{HOW}" + "\n".join(told)

    def messages(self, exchange: Exchange, own: JsonValue) -> Iterator[Json]:
        match exchange.messages[0]:
            case UserMessage(text=text):
                if exchange.after_user:
                    yield {"role": "assistant", "content": PAUSE}
                yield {"role": "user", "content": text}
            case AssistantMessage(turn=turn):
                yield as_json_object(own) if own is not None else _neutral(turn)
                if exchange.results:
                    yield {"role": "user", "content": _results(turn, exchange.results)}
            case ResultMessage() as alone:
                yield {"role": "user", "content": alone.text}

    def read(self, message: Json, text: str, calls: tuple[ToolCall, ...], place: int) -> Said:
        """The action in the text. A server that makes tool calls all the same is understood."""
        if calls:
            only = tuple(calls)
            return Said(text, only, {"content": _neutral_text(text, only)})
        found = parse_action(text)
        if found is None:
            return Said(text, (), message)
        thought, tool, arguments = found
        return Said(
            thought, (ToolCall(id=f"text-{place}", name=tool, arguments=arguments),), message
        )


def parse_action(text: str) -> tuple[str, str, str] | None:
    """Thought, tool and raw arguments, or ``None``: it is prose.

    What stands around the object (a fence, a word before it, a reasoning model's thinking) is left
    out. Arguments are not looked into: DECIDE does that.
    """
    ends = [mark.end() for mark in _THOUGHT.finditer(text)]
    for begin in (0, *ends[:1], *ends[-1:]):
        found = _turn_in(text, begin)
        if found is not None and (not ends or found[1] > ends[-1]):  # else it is in the thinking
            break
    else:
        return None
    turn = found[0]
    match turn.action.arguments:
        case str(raw):
            return turn.thought, turn.action.tool, raw
        case values:
            return turn.thought, turn.action.tool, dumps(values)


def _turn_in(text: str, begin: int) -> tuple[_Thought, int] | None:
    """The first object from there on, if it is an action, and where it ends."""
    start = text.find("{", begin)
    if start < 0:
        return None
    try:
        value, end = json.JSONDecoder().raw_decode(text, start)
        return _Thought.model_validate(value), end
    except (ValueError, ValidationError, RecursionError):
        return None


def _shape(spec: ToolSpec) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            "tool": {"type": "string", "enum": [spec.name]},
            "arguments": bare(slim(spec.parameters)),
        },
        "required": ["tool", "arguments"],
        "additionalProperties": False,
    }


def _neutral(turn: Turn) -> Json:
    return {"role": "assistant", "content": _neutral_text(turn.text, turn.calls)}


def _neutral_text(thought: str, calls: tuple[ToolCall, ...]) -> str:
    """A turn of another model in this mode's own form, one object a call."""
    lines = [
        dumps(
            {
                "thought": thought if index == 0 else "",
                "action": {"tool": call.name, "arguments": loads(as_object(call.arguments))},
            }
        )
        for index, call in enumerate(calls)
    ]
    return "\n".join(lines) or thought


def _results(turn: Turn, results: tuple[ResultMessage, ...]) -> str:
    tools = {call.id: call.name for call in turn.calls}
    return "\n\n".join(
        f"Result of {tools.get(result.call_id, 'the call')}:\n{result.text}" for result in results
    )
