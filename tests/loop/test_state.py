from __future__ import annotations

import itertools

import pytest

from bot.loop.state import LEGAL, IllegalTransitionError, State, move

ALLOWED = {
    ("think", "act"),
    ("think", "observe"),
    ("think", "stopped"),
    ("act", "observe"),
    ("observe", "think"),
    ("observe", "stopped"),
}


@pytest.mark.parametrize(("current", "to"), list(itertools.product(State, State)))
def test_only_the_transitions_of_the_table_are_possible(current: State, to: State) -> None:
    if (current.value, to.value) in ALLOWED:
        assert move(current, to) is to
    else:
        with pytest.raises(IllegalTransitionError, match="not a legal transition"):
            move(current, to)


def test_every_state_has_a_row_and_stopped_is_the_end() -> None:
    assert set(LEGAL) == set(State)
    assert LEGAL[State.STOPPED] == frozenset()
