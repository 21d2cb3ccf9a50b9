"""A gate may be too wide and never too narrow: it opens for whatever a finder would find."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.redact import Redactor, places, shapes
from bot.redact.gate import Gate, widened
from bot.redact.names import STEMS
from bot.redact.settings import SIGNS


@pytest.mark.parametrize("shape", shapes.SHAPES, ids=lambda shape: shape.pattern.pattern[:30])
def test_what_a_provider_issues_always_gets_through_the_gate(shape: shapes.Shape) -> None:
    gate = Gate([shapes.SIGNS[shapes.SHAPES.index(shape)]])

    @settings(max_examples=15, deadline=None)
    @given(st.from_regex(shape.pattern))
    def opens(text: str) -> None:
        assert gate.opens(text)

    opens()


@pytest.mark.parametrize("place", places._PLACES, ids=lambda place: place.pattern.pattern[:30])
def test_what_the_syntax_tells_always_gets_through_the_gate(place: places.Place) -> None:
    gate = Gate(places.SIGNS)

    @settings(max_examples=15, deadline=None)
    @given(st.from_regex(place.pattern))
    def opens(text: str) -> None:
        assert gate.opens(text)

    opens()


def test_a_name_gets_through_the_gate_in_any_letters_that_fold_to_it() -> None:
    """Over all of Unicode: what Python folds to a letter of a stem, the gate takes for it too."""
    stems = "".join(STEMS)
    for code in (*range(0xD800), *range(0xE000, 0x110000)):
        folded = chr(code).replace("İ", "I").lower()
        if len(folded) == 1 and folded in stems and chr(code) not in stems:
            written = STEMS[0].replace(folded, chr(code)) if folded in STEMS[0] else None
            for stem in (written, *(each.replace(folded, chr(code)) for each in STEMS)):
                assert stem is None or Gate(SIGNS).opens(stem), (hex(code), stem)


def test_half_of_a_surrogate_pair_does_not_close_the_gate() -> None:
    token = "ghp_" + "a1B2" * 9
    assert Redactor().text(f"\ud83d {token} \ud83d") == "\ud83d [redacted: github token] \ud83d"


def test_widening_a_pattern_only_takes_conditions_away() -> None:
    assert widened(r"s\.(?<![\w.]s\.)(?P<secret>[a-z]{2,9})(?![\w.(])") == r"s\.(?:[a-z]{2,})"
