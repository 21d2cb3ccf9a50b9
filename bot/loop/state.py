"""The states of a run, the table of legal transitions, and the one function that moves (M1).

Also the names of the five phases of a turn (M2), so that a fault can be named by its phase. Knows
nothing of what happens in a state.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType


class State(StrEnum):
    THINK = "think"
    ACT = "act"
    OBSERVE = "observe"
    STOPPED = "stopped"


class Phase(StrEnum):
    """One turn: build the messages, call the model, decide, run the tools, write back."""

    ASSEMBLE = "assemble"
    CALL = "call"
    DECIDE = "decide"
    EXECUTE = "execute"
    APPEND = "append"


LEGAL: Mapping[State, frozenset[State]] = MappingProxyType(
    {
        State.THINK: frozenset({State.ACT, State.OBSERVE, State.STOPPED}),
        State.ACT: frozenset({State.OBSERVE}),
        State.OBSERVE: frozenset({State.THINK, State.STOPPED}),
        State.STOPPED: frozenset(),
    }
)


class IllegalTransitionError(AssertionError):
    """The loop tried to move along an edge that the table does not hold: a bug, no outcome."""


def move(current: State, to: State) -> State:
    """The state after the move. Raises ``IllegalTransitionError`` if the table forbids it."""
    if to not in LEGAL[current]:
        raise IllegalTransitionError(f"{current} → {to} is not a legal transition")
    return to
