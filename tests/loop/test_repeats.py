from __future__ import annotations

import pytest

from bot.loop.repeats import canonical, in_cycle
from support.scripted import LookupArguments


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
