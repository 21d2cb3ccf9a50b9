from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.base import CallContext, ToolError, paged
from tools.read_result import ReadResult, ReadResultArguments
from tools.records import PageRead

NOW = datetime(2026, 11, 29, 2, 14, tzinfo=UTC)
LONG = "".join(f"line {number} of the diff\n" for number in range(1000))


async def _read(observation: str, page: int = 1) -> PageRead:
    context = CallContext(NOW, {"o1": "short", "o2": LONG}, page_characters=3_500)
    arguments = ReadResultArguments(observation=observation, page=page)
    value = (await ReadResult().run(arguments, context)).value
    assert isinstance(value, PageRead)
    return value


async def test_pages_are_cut_at_line_ends_and_hold_everything() -> None:
    first = await _read("O2")
    assert first.observation == "o2"
    texts = [(await _read("o2", page)).text for page in range(1, first.pages + 1)]
    assert "".join(texts) == LONG
    assert all(text.endswith("\n") and len(text) <= 3_500 for text in texts)


async def test_an_unknown_observation_is_answered_with_those_that_exist() -> None:
    with pytest.raises(ToolError, match=r"no observation 'o9'; there are: o1, o2"):
        await _read("o9")


async def test_a_page_too_far_names_the_last_one() -> None:
    with pytest.raises(ToolError, match="has 1 pages"):
        await _read("o1", 2)


@given(st.text(), st.integers(min_value=1, max_value=20))
def test_pages_joined_are_the_text(text: str, size: int) -> None:
    pages = paged(text, size)
    assert "".join(pages) == text
    assert all(len(page) <= size for page in pages)
