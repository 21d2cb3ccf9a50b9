"""Whether a text can hold any of many things, told in one pass.

Python's engine tries every alternative at every place. Rust's, which pydantic carries, makes one
automaton of them all and fails within microseconds. It says yes or no, not where: what it lets
through is searched as before, so that a gate which is too wide costs time and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from pydantic_core import SchemaValidator, core_schema

_LOOKAROUND = re.compile(r"\(\?<?[=!](?:\[[^\]]*\]|\([^()]*\)|[^()\[\]])*\)")
_NAMED_GROUP = re.compile(r"\(\?P<\w+>")
_AT_MOST = re.compile(r"\{(\d+),\d+\}")


class Gate:
    """``opens`` tells whether one of the patterns, in Rust's syntax, matches somewhere in a text.

    The text must be valid Unicode: halves of surrogate pairs are for no pattern.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        joined = "|".join(f"(?:{pattern})" for pattern in patterns)
        schema = core_schema.str_schema(pattern=joined, regex_engine="rust-regex")
        self.opens = SchemaValidator(schema).isinstance_python


def literally(hints: Iterable[str]) -> str:
    """Return the pattern of a gate that opens for any of these texts."""
    return "|".join(map(re.escape, hints))


def widened(pattern: str) -> str:
    """Return ``pattern`` without what only looks around, which Rust's engine has not, and without
    what would only make the automaton larger: letters of all scripts, the most of a repetition.
    """
    anywhere = _NAMED_GROUP.sub("(?:", _LOOKAROUND.sub("", pattern))
    anywhere = anywhere.replace(r"\w", "[0-9A-Za-z_]").replace(r"\d", "[0-9]")
    # For Rust a no-break space is white space, for Python's ASCII patterns it is not.
    anywhere = anywhere.replace(r"\s", r"[\t-\r ]").replace(r"\S", r"[^\t-\r ]")
    return _AT_MOST.sub(r"{\1,}", anywhere)
