"""A cheap look never hides what the pattern behind it would have found."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.loop import (
    blame,
    claims,
    clauses,
    entities,
    grounds,
    live_words,
    part_kinds,
    question,
    refs,
    times,
    unread,
)
from bot.loop.guard import Guarded, folded, guarded, holds, in_folded

MODULES = (
    *(blame, claims, clauses, entities, grounds, live_words, part_kinds, question, refs, times),
    unread,
)
WINDOWS = ("_NOON", "_MIDNIGHT", "_AM_PM", "_DAY_MONTH", "_WEEKDAY", "_ON_DAY", "_AGO", "_EDGE")


def guards() -> Iterator[tuple[str, Guarded]]:
    """Every pattern with a look before it."""
    for module in MODULES:
        for name, value in vars(module).items():
            match value:
                case Guarded():
                    yield f"{module.__name__}.{name}", value
                case (Guarded(), *_):
                    yield from (
                        (f"{module.__name__}.{name}.{n}", one) for n, one in enumerate(value)
                    )
                case ((_, Guarded()), *_):
                    for place, (kind, one) in enumerate(value):
                        yield f"{module.__name__}.{name}.{place}-{kind}", one
                case _:
                    pass


GUARDED = dict(guards())
FEW = settings(
    max_examples=20, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow]
)


def ignoring_case(pattern: re.Pattern[str]) -> st.SearchStrategy[str]:
    return st.from_regex(re.compile(pattern.pattern, re.IGNORECASE))


@pytest.mark.parametrize("name", GUARDED)
@FEW
@given(data=st.data())
def test_whatever_a_pattern_finds_its_look_lets_through(name: str, data: st.DataObject) -> None:
    one = GUARDED[name]
    low = folded(data.draw(ignoring_case(one.pattern)))
    assert one.lets_by(low)
    assert one.find(low)


@pytest.mark.parametrize("name", [*WINDOWS, "_MONTH", "_BARE_DAY"])
@FEW
@given(data=st.data())
def test_whatever_names_a_time_is_looked_at(name: str, data: st.DataObject) -> None:
    assert times.timely(folded(data.draw(ignoring_case(vars(times)[name].pattern))))


@pytest.mark.parametrize("pattern", [entities._SHA, entities._TAG])
@FEW
@given(data=st.data())
def test_every_sha_and_tag_has_a_digit_beside_a_letter_or_dash(
    pattern: re.Pattern[str], data: st.DataObject
) -> None:
    assert entities._MIXED.search(folded(data.draw(st.from_regex(pattern))))


@pytest.mark.parametrize(
    "piece",
    [*"abcdefghijklmnopqrstuvwxyz", "[a-z]", "[a-z0-9]", "[^?.!]", r"\w", r"\d", r"\s", r"\b."],
)
def test_small_letters_find_in_folded_text_what_ignoring_case_finds(piece: str) -> None:
    written = "\n".join(map(chr, range(0x20000)))  # no letter beyond has another case
    low = folded(written)
    assert len(low) == len(written)
    expected = [found.span() for found in re.finditer(piece, written, re.IGNORECASE)]
    assert [found.span() for found in re.finditer(piece, low)] == expected


@pytest.mark.parametrize(
    "text",
    [
        *(
            "deploys of the last \u017fix hours",
            "deploys since 3 \u017fep",
            "deploys on \u017funday",
        ),
        *("deploys of augu\u017ft", "what shipped in the \u017fix hours before it began"),
    ],
)
def test_a_time_in_letters_that_only_look_like_ours_is_read(text: str) -> None:
    plain = text.replace("\u017f", "s")
    now = datetime(2026, 11, 29, 2, 14, tzinfo=UTC)
    assert times.window(text, now) == times.window(plain, now)
    assert times.onset_window(text) == times.onset_window(plain)
    assert times.window(text, now) or times.onset_window(text)


# --- one look -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "low"),
    [
        ("DEPLOY 12", "deploy 12"),
        ("\u0130NC\u0130DENT", "incident"),
        ("\u0131nc\u0131dent", "incident"),
        ("\u017fervice\u017f", "services"),
        ("\u212aafka", "kafka"),
        ("\u00c4ra", "\u00e4ra"),
    ],
)
def test_folded_text_is_small_letter_for_letter(written: str, low: str) -> None:
    assert folded(written) == low


@pytest.mark.parametrize(
    ("low", "look", "found"),
    [
        ("which deploy", ("change", "deploy"), True),
        ("which deploy", ("deploy", "change"), True),
        ("which deploy", ("change", "release"), False),
        ("which deploy", ("",), True),
        ("", ("change",), False),
    ],
)
def test_one_word_of_a_look_is_enough_and_none_is_not(
    low: str, look: tuple[str, ...], *, found: bool
) -> None:
    assert holds(low, look) is found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("What was deployed of it", "deployed of"),
        ("What was RELEASED FOR it", "RELEASED FOR"),
        ("what was deployed", None),
        ("of what is it", None),
        ("deploy|release of|for", None),
    ],
)
def test_a_pattern_is_asked_where_a_word_of_both_looks_stands(text: str, found: str | None) -> None:
    pattern = r"(?:deploy|releas)ed (?:of|for)"
    one = guarded("deploy|release", pattern, also="of|for")
    assert one == Guarded(("deploy", "release"), ("of", "for"), re.compile(pattern, re.IGNORECASE))
    match = one.search(text)
    assert (match and match[0]) == found
    assert [each[0] for each in one.finditer(text)] == ([found] if found else [])
    assert one.sub("-", text) == (text.replace(found, "-") if found else text)


@pytest.mark.parametrize(("look", "also"), [("change", ""), ("", "change"), ("break", "change")])
def test_a_pattern_is_spared_where_a_word_of_its_look_is_missing(look: str, also: str) -> None:
    one = guarded(look, "broke", also)
    assert one.pattern.search("it broke")
    assert not one.lets_by("it broke")
    assert one.search("it broke") is None
    assert one.find("it broke") is None
    assert list(one.finditer("it broke")) == []
    assert one.sub("-", "it broke") == "it broke"


def test_a_pattern_with_one_look_needs_no_second_one() -> None:
    one, low = guarded("broke", "it broke"), in_folded("broke", "it broke")
    assert one.search("It BROKE")
    assert low.find("it broke")
    assert one.also == low.also == ("",)


def test_a_pattern_for_folded_text_is_of_small_letters_alone() -> None:
    one = in_folded("broke|broken", "it broke", also="it|is")
    assert one == Guarded(("broke", "broken"), ("it", "is"), re.compile("it broke"))
    assert one.find("it broke")
    assert one.find("IT broke") is None
