"""A model that follows the calls that its observations name reads every character of a result."""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.loop.limits import Limits
from bot.loop.scratchpad import page_characters, show
from support.scripted import found
from tools.base import CallContext
from tools.read_result import ReadResult, ReadResultArguments

NOW = datetime(2026, 11, 29, 2, 14, tzinfo=UTC)
CALL = re.compile(
    r"\n… (?:[\d,]+ of [\d,]+ characters left out|page \d+ of \d+): "
    r'read_result\(observation="(o\d+)", page=(\d+)\) shows more\.\Z'
)
LEAST = Limits.model_fields["observation_chars"].metadata[0].ge

lines = st.text(st.sampled_from("ab \n…é😀"), max_size=60)
texts = st.builds(
    lambda piece, times, tail: piece * times + tail, lines, st.integers(1, 200), lines
)


async def read(text: str, cap: int, number: int) -> str:
    """What stands in the views of a text, from the first on, in the order of the calls named."""
    whole = [f"o{number}"]
    earlier = {whole[0]: text}
    shown = show(whole[0], found(text), cap)
    pieces = []
    while True:
        assert len(shown) <= cap
        head, _, body = shown.partition("\n")
        assert head == f"[{whole[-1]}] ok"
        named = CALL.search(body)
        pieces.append(body[: named.start()] if named else body)
        if named is None:
            return "\n".join(pieces)
        context = CallContext(NOW, earlier, page_characters(cap))
        wanted = ReadResultArguments(observation=named[1], page=int(named[2]))
        result = await ReadResult().run(wanted, context)
        whole.append(f"o{number + len(whole)}")
        earlier[whole[-1]] = result.text
        shown = show(whole[-1], result, cap)


def without_breaks(text: str) -> str:
    """Between two views a line may begin that is none of the text's."""
    return re.sub(r"\s", "", text)


@given(
    texts,
    st.one_of(st.integers(LEAST, LEAST + 20), st.integers(LEAST, 9_000)),
    st.integers(1, 1_600),
)
@example("x" * 30_000, LEAST, 1_600)
@example("\n".join(f"line {n}" for n in range(2_000)), 3_670, 1)
@example("a\n" * 200 + "b" * 4_000 + "\n" * 900 + "c", 4_000, 1)
def test_what_a_view_leaves_out_is_shown_by_the_calls_that_it_names(
    text: str, cap: int, number: int
) -> None:
    text = text.strip() or "x"
    seen = asyncio.run(read(text, cap, number))
    assert without_breaks(seen) == without_breaks(text)


@pytest.mark.parametrize("cap", [LEAST, 1_000, 3_600, 4_000, 9_216])
def test_lines_come_back_whole_and_in_order(cap: int) -> None:
    text = "\n".join(f"{number:04} of the diff" for number in range(3_000))
    assert asyncio.run(read(text, cap, 1)) == text
