"""Raw arguments to checked ones, and what the model hears of those that do not fit."""

from __future__ import annotations

import json

import pytest
from pydantic import Field

from bot.loop.outcome import AnswerArguments
from bot.loop.toolbox import BadCall, parse_arguments
from support.scripted import Canned, Lookup, LookupArguments, found, toolbox
from tools.base import Arguments


class Piece(Arguments):
    size: int


class Nested(Arguments):
    pieces: list[Piece] = Field(default_factory=list)


def bad(raw: str, wanted: type[Arguments] = LookupArguments) -> str:
    parsed = parse_arguments(raw, wanted)
    assert isinstance(parsed, BadCall)
    return parsed.message


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (
            '{"what": "app',
            (
                "The arguments are not valid JSON (Unterminated string starting at at character 9). "
                "The call was not run. Send it again with complete JSON."
            ),
        ),
        (
            "",
            (
                "The arguments are not valid JSON (Expecting value at character 0). "
                "The call was not run. Send it again with complete JSON."
            ),
        ),
        (
            '{"limit": %s}' % ("1" * 5_000),
            "The arguments hold a number that is too long. The call was not run.",
        ),
        (
            "[" * 100_000,
            "The arguments are nested too deeply. The call was not run.",
        ),
        ("[1]", "The arguments must be a JSON object. The call was not run."),
        ("null", "The arguments must be a JSON object. The call was not run."),
        (
            '{"what": 7, "wat": 1}',
            (
                "The arguments do not fit. The call was not run.\n"
                "- what: Input should be a valid string\n"
                "- wat: Extra inputs are not permitted\n"
                "The fields are: what, limit."
            ),
        ),
    ],
)
def test_arguments_that_cannot_run_are_told_with_what_to_do(raw: str, message: str) -> None:
    assert bad(raw) == message


def test_a_wrong_value_inside_of_another_is_told_by_its_place() -> None:
    assert "- pieces.1.size: Input should be" in bad(
        '{"pieces": [{"size": 1}, {"size": "x"}]}', Nested
    )


def test_of_many_wrong_values_the_first_six_are_told() -> None:
    many = json.dumps({f"x{n}": 1 for n in range(9)})
    assert bad(many).count("Extra inputs") == 6


def test_what_is_told_repeats_neither_the_input_nor_a_link() -> None:
    message = bad('{"what": 31337}')
    assert "31337" not in message
    assert "http" not in message


def test_whole_numbers_may_be_written_as_text() -> None:
    assert parse_arguments('{"limit": "7"}', LookupArguments) == LookupArguments(limit=7)


def test_two_tools_of_one_name_and_one_named_answer_are_refused() -> None:
    refused = "tool names must differ from each other and from 'answer'"
    with pytest.raises(ValueError, match=refused):
        toolbox(Lookup(), Lookup())
    with pytest.raises(ValueError, match=refused):
        toolbox(Lookup(), Canned("answer", found("x")))


def test_the_model_is_told_each_tool_and_how_to_answer() -> None:
    box = toolbox(Lookup())
    assert [(spec.name, spec.description) for spec in box.specs] == [
        ("lookup", "Look something up."),
        ("answer", "Hand in the answer. This ends the run; prose does not."),
    ]
    assert box.specs[0].parameters == LookupArguments.model_json_schema()
    assert box.specs[1].parameters == AnswerArguments.model_json_schema()
    assert json.loads(box.told) == [spec.model_dump(mode="json") for spec in box.specs]
    assert box.names == ("lookup", "answer")
    assert box.get("lookup") is not None
    assert box.get("answer") is None
