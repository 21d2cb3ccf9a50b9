"""Whatever bytes a server sends, there is a turn or a typed error; schemas stay schemas."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.loop.stopping import Clock
from bot.loop.wire import Finish, ModelError, Turn, Usage
from bot.models.encoding import as_object, bare, encoded, loads, slim
from bot.models.make import adapter
from bot.models.replies import retry_after, said
from bot.models.text_mode import parse_action
from models.wires import MESSAGES, TEXT, TOOLS, Wire
from tools.http import HttpClient

NOW = datetime(2026, 11, 29, 2, 14, tzinfo=UTC)

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def near(*keys: str) -> st.SearchStrategy[Any]:
    """JSON that uses the format's own keys in the wrong places."""
    return st.recursive(
        JSON,
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(keys), inner, max_size=len(keys))
        ),
        max_leaves=20,
    )


CHAT = near(
    "choices", "message", "content", "tool_calls", "function", "name", "arguments", "id", "usage"
)
BLOCKS = near("content", "type", "text", "tool_use", "id", "name", "input", "usage", "stop_reason")


@pytest.mark.parametrize("wire", [TOOLS, TEXT, MESSAGES], ids=["openai", "text", "anthropic"])
@given(data=st.data())
def test_any_reply_is_a_turn_or_a_model_error(wire: Wire, data: st.DataObject) -> None:
    payload = data.draw(
        st.dictionaries(st.text(), CHAT)
        | st.fixed_dictionaries(
            {"choices": st.lists(st.fixed_dictionaries({"message": CHAT}), max_size=2)}
        )
        | st.fixed_dictionaries({"content": st.lists(BLOCKS, max_size=3)})
    )
    model: Any = adapter(wire.settings("http://127.0.0.1:9"), HttpClient(), Clock())
    try:
        turn = model._turn(payload, 1) if wire.kind == "openai" else model._turn(payload)
    except ModelError:
        return
    assert Turn.model_validate_json(turn.model_dump_json()) == turn
    assert len({call.id for call in turn.calls}) == len(turn.calls)


@pytest.mark.parametrize(
    ("wire", "reason", "finish"),
    [
        (TOOLS, "stop", Finish.STOP),
        (TOOLS, "tool_calls", Finish.TOOL_USE),
        (TOOLS, "function_call", Finish.TOOL_USE),
        (TOOLS, "length", Finish.LENGTH),
        (TOOLS, "content_filter", Finish.REFUSAL),
        (TOOLS, "eos", Finish.OTHER),
        (TOOLS, None, Finish.OTHER),
        (MESSAGES, "end_turn", Finish.STOP),
        (MESSAGES, "stop_sequence", Finish.STOP),
        (MESSAGES, "tool_use", Finish.TOOL_USE),
        (MESSAGES, "max_tokens", Finish.LENGTH),
        (MESSAGES, "model_context_window_exceeded", Finish.LENGTH),
        (MESSAGES, "refusal", Finish.REFUSAL),
        (MESSAGES, "pause_turn", Finish.OTHER),
        (MESSAGES, "compaction", Finish.OTHER),
        (MESSAGES, None, Finish.OTHER),
    ],
)
def test_every_finish_reason_has_its_meaning(
    wire: Wire, reason: str | None, finish: Finish
) -> None:
    model: Any = adapter(wire.settings("http://127.0.0.1:9"), HttpClient(), Clock())
    if wire == MESSAGES:
        turn = model._turn(
            {
                "content": [{"type": "text", "text": "x"}],
                "stop_reason": reason,
                "usage": {
                    "input_tokens": 1,
                    "cache_read_input_tokens": 2,
                    "cache_creation_input_tokens": 4,
                    "output_tokens": 8,
                },
            }
        )
        assert turn.usage == Usage(
            input_tokens=7, output_tokens=8, cached_tokens=2, cache_written_tokens=4
        )
    else:
        message = {"role": "assistant", "content": "x"}
        turn = model._turn({"choices": [{"message": message, "finish_reason": reason}]}, 1)
        assert turn.usage == Usage()
    assert turn.finish is finish


# --- text mode ---------------------------------------------------------------------------------

FRAME = "<think>Should I {answer}?</think>\nHere:\n```json\n{}\n```"
ARGUMENTS = st.dictionaries(st.text(), JSON, max_size=4)


@given(
    thought=st.text(),
    tool=st.text(min_size=1),
    arguments=ARGUMENTS,
    frame=st.sampled_from(("{}", FRAME)),
)
def test_an_action_is_read_whatever_stands_around_it(
    thought: str, tool: str, arguments: dict[str, Any], frame: str
) -> None:
    text = json.dumps({"thought": thought, "action": {"tool": tool, "arguments": arguments}})
    found = parse_action(frame.replace("{}", text))
    assert found is not None
    assert (found[0], found[1], json.loads(found[2])) == (thought, tool, arguments)


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ('{"thought": "", "action": {"tool": "</think>"}}', "</think>"),
        ('Hm {"a": 1}.</think>{"thought": "</think>", "action": {"tool": "answer"}}', "answer"),
        ('I could {"thought": "", "action": {"tool": "answer"}}</think>No.', None),
    ],
)
def test_an_action_is_told_from_what_was_only_thought_of(text: str, tool: str | None) -> None:
    found = parse_action(text)
    assert (found[1] if found else None) == tool


@given(st.text())
def test_any_text_is_an_action_or_prose(text: str) -> None:
    parse_action(text)
    parse_action("{" + text)
    parse_action('{"action": ' + text)


def test_a_text_nested_without_end_is_prose() -> None:
    assert parse_action('{"action": ' + "[" * 100_000) is None


def test_arguments_that_are_text_stay_as_they_are_for_decide() -> None:
    assert parse_action('{"action": {"tool": "x", "arguments": "{oops"}}') == ("", "x", "{oops")


# --- small parts -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "9", "retry-after-ms": "250"}, 0.25),
        ({"retry-after": "9", "retry-after-ms": "x"}, 9.0),
        ({"retry-after": "Sun, 29 Nov 2026 02:14:30 GMT"}, 30.0),
        ({"retry-after": "Sun, 29 Nov 2026 02:14:30 -0000"}, 30.0),
        ({"retry-after": "Sun, 29 Nov 2026 02:13:00 GMT"}, 0.0),
    ],
)
def test_retry_after_is_read_in_all_its_forms(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert retry_after(headers, NOW) == seconds


@given(st.text())
def test_any_retry_after_is_seconds_or_nothing(value: str) -> None:
    found = retry_after({"retry-after": value, "retry-after-ms": value}, NOW)
    assert found is None or found >= 0


@given(before=st.text(), after=st.text(), secret=st.text(alphabet="abc123-_", min_size=6))
def test_no_secret_is_repeated(before: str, after: str, secret: str) -> None:
    assert secret not in said(f"{before}{secret}{after}", (secret,)).replace("[key]", "")


@given(st.text())
def test_arguments_always_become_an_object_that_strict_parsers_read(raw: str) -> None:
    assert isinstance(loads(as_object(raw)), dict)
    assert isinstance(loads(encoded({"x": raw})), dict)


@given(JSON)
def test_what_is_encoded_is_utf_8_and_the_same_when_read(value: Any) -> None:
    assert json.loads(encoded(value).decode("utf-8")) == value


def test_a_lone_surrogate_does_not_stop_a_request() -> None:
    assert encoded("a\ud800b") == b'"a?b"'


def test_a_slim_schema_keeps_fields_that_are_named_like_keywords_and_maps() -> None:
    told = slim(
        {
            "title": "Args",
            "description": "A docstring.",
            "$defs": {
                "Node": {
                    "description": "For programmers.",
                    "type": "object",
                    "title": "Node",
                    "properties": {"next": {"$ref": "#/$defs/Node"}, "v": {"type": "integer"}},
                }
            },
            "type": "object",
            "properties": {
                "title": {"type": "string", "title": "Title", "default": ""},
                "default": {"anyOf": [{"type": "integer"}, {"type": "null"}], "description": "D"},
                "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                "either": {"anyOf": [{"type": "integer"}, {"type": "string", "title": "S"}]},
                "node": {"$ref": "#/$defs/Node", "description": "Where."},
            },
            "required": ["title"],
            "additionalProperties": False,
        }
    )
    assert told == {
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "default": {"type": "integer", "description": "D"},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            "either": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
            "node": {
                "type": "object",
                "properties": {"next": {}, "v": {"type": "integer"}},
                "description": "Where.",
            },
        },
        "required": ["title"],
    }
    closed = bare(told)
    assert closed["additionalProperties"] is False
    assert "description" not in json.dumps(closed)
