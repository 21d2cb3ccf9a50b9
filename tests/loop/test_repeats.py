from __future__ import annotations

from datetime import date

import pytest
from pydantic import Field

from bot.loop.repeats import canonical, in_cycle
from support.scripted import LookupArguments
from tools.base import Arguments


@pytest.mark.parametrize(
    "spelling",
    [
        {"what": "apples"},
        {"what": " apples "},
        {"what": "apples", "limit": 5},
        {"limit": "5", "what": "APPLES"},
        {"what": "apples\n"},
    ],
)
def test_every_spelling_of_a_call_is_the_same_call(spelling: dict[str, object]) -> None:
    folded = frozenset({"what"})
    same = canonical("lookup", LookupArguments(what="apples"), folded)
    assert canonical("lookup", LookupArguments.model_validate(spelling), folded) == same


class Search(Arguments):
    service: str | None = None
    since: str = ""


def test_a_field_left_blank_is_one_left_open() -> None:
    open_ = canonical("t", Search())
    for left in ({"service": ""}, {"service": None}, {"service": " ", "since": "  "}):
        assert canonical("t", Search.model_validate(left)) == open_, left
    assert canonical("t", Search(service="web")) != open_


class Nested(Arguments):
    """Arguments of every shape that a tool may have."""

    names: tuple[str, ...] = ()
    by: dict[str, str] = Field(default_factory=dict)
    day: date = date(2026, 11, 29)


def test_blanks_inside_and_case_are_folded_in_lists_and_by_name_as_well() -> None:
    folded = frozenset({"names", "by"})
    one = Nested(names=("Web  API", "b"), by={"Team": " SRE\t1 "})
    other = Nested(names=(" web api", "B "), by={"Team": "sre 1"})
    assert canonical("t", one, folded) == canonical("t", other, folded)
    assert canonical("t", one) != canonical("t", other)
    assert canonical("t", one, folded) == (
        "t {'by': {'Team': 'sre 1'}, 'day': '2026-11-29', 'names': ['web api', 'b']}"
    )


def test_a_word_more_is_another_call_also_inside_of_a_list() -> None:
    assert canonical("t", Nested(names=("web",))) != canonical("t", Nested(names=("web api",)))
    assert canonical("t", Nested(by={"a": "b"})) != canonical("t", Nested(by={"a": "c"}))


def test_case_counts_unless_the_tool_says_otherwise() -> None:
    assert canonical("t", LookupArguments(what="A")) != canonical("t", LookupArguments(what="a"))


def test_other_tools_and_other_values_are_other_calls() -> None:
    assert canonical("t", LookupArguments(limit=4)) != canonical("t", LookupArguments(limit=5))
    assert canonical("t", LookupArguments()) != canonical("u", LookupArguments())


@pytest.mark.parametrize(
    ("turns", "cycle"),
    [
        ("", False),
        ("ab", False),
        ("aba", False),
        ("abab", True),
        ("xabab", True),
        ("ababx", False),
        ("abcabc", True),
        ("abcdabcd", True),
        ("abba", False),
        ("aaaa", False),
        ("abcabd", False),
    ],
)
def test_a_cycle_of_any_period_is_found_when_it_has_gone_round_twice(
    turns: str, *, cycle: bool
) -> None:
    assert in_cycle([frozenset({t}) for t in turns]) is cycle


def test_turns_without_calls_are_no_cycle() -> None:
    assert not in_cycle([frozenset(), frozenset(), frozenset(), frozenset()])
