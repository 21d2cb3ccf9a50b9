"""What counts as the same call, and when calls go in circles (M9).

Pure, over canonical arguments: validated, defaults filled in, keys sorted, whitespace folded, and
case folded where the tool says that case does not matter.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pydantic import BaseModel, JsonValue

_SPACES = re.compile(r"\s+")


def canonical(
    tool: str, arguments: BaseModel, case_insensitive: frozenset[str] = frozenset()
) -> str:
    """One string for every spelling of one call."""
    values = arguments.model_dump(mode="json")
    folded = {
        key: _fold(values[key], lower=key in case_insensitive)
        for key in sorted(values)
        if values[key] not in (None, "")  # a field left open and one left blank ask the same
    }
    return f"{tool} {folded}"


def _fold(value: JsonValue, *, lower: bool) -> JsonValue:
    match value:
        case str():
            text = _SPACES.sub(" ", value).strip()
            return text.lower() if lower else text
        case list():
            return [_fold(item, lower=lower) for item in value]
        case dict():
            return {key: _fold(value[key], lower=lower) for key in sorted(value)}
        case _:
            return value


def in_cycle(turns: Sequence[frozenset[str]]) -> bool:
    """Whether the newest turns repeat the ones before them, with any period of two or more.

    A turn is the set of canonical calls that it asked for; turns without calls break a cycle.
    """
    for period in range(2, len(turns) // 2 + 1):
        if turns[-1] != turns[-1 - period]:
            continue
        newest, before = turns[-period:], turns[-2 * period : -period]
        if all(newest) and list(newest) == list(before) and len(set(newest)) > 1:
            return True
    return False
