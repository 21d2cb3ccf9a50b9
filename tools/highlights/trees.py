"""Compares two nested settings, whatever format they were written in.

A ``Tree`` is a mapping, a list of scalars or one scalar as text. Lists of mappings become mappings
by each item's name, so that a reordered list is no change and a container keeps its key.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from tools.highlights.found import Found, Sort

Tree = dict[str, "Tree"] | tuple[str, ...] | str
_NODES: Final = 60_000
_DEPTH: Final = 60
_NAMES: Final = ("name", "id", "key", "alias", "path", "host")


class TooDeepError(ValueError):
    """A document that is nested or repeated beyond reason (aliases can make one of a few bytes)."""


def tree_of(value: object) -> Tree:
    """Turn what a parser returned into a ``Tree``. Raises ``TooDeepError``."""
    return _Builder().build(value, 0)


class _Builder:
    def __init__(self) -> None:
        self._left = _NODES

    def build(self, value: object, depth: int) -> Tree:
        self._left -= 1
        if self._left < 0 or depth > _DEPTH:
            raise TooDeepError("the document is nested or repeated beyond reason")
        if isinstance(value, Mapping):
            return {str(key): self.build(item, depth + 1) for key, item in value.items()}
        if isinstance(value, list | tuple):
            if not any(isinstance(item, Mapping | list | tuple) for item in value):
                self._left -= len(value)
                return tuple(_scalar(item) for item in value)
            named: dict[str, Tree] = {}
            for at, item in enumerate(value):
                label = _label(item, at)
                named[label if label not in named else f"[{at}]"] = self.build(item, depth + 1)
            return named
        return _scalar(value)


def _label(item: object, at: int) -> str:
    if isinstance(item, Mapping):
        for name in _NAMES:
            if isinstance(item.get(name), str):
                return f"[{item[name]}]"
    return f"[{at}]"


def _scalar(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def joined(prefix: str, key: str) -> str:
    """Join a dotted path; an item of a list needs no dot."""
    return key if not prefix else f"{prefix}{key}" if key.startswith("[") else f"{prefix}.{key}"


def compare(before: Tree, after: Tree, prefix: str = "") -> Iterator[Found]:
    """Yield each difference once, at the highest key that is wholly new or gone."""
    if before == after:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys((*before, *after)):
            path = joined(prefix, key)
            if key not in before:
                yield Found(Sort.SETTING_ADDED, path, None, shown(after[key]))
            elif key not in after:
                yield Found(Sort.SETTING_REMOVED, path, shown(before[key]), None)
            else:
                yield from compare(before[key], after[key], path)
    elif isinstance(before, tuple) and isinstance(after, tuple):
        yield from _compare_lists(before, after, prefix)
    else:
        yield Found(Sort.SETTING_CHANGED, prefix, shown(before), shown(after))


def _compare_lists(before: tuple[str, ...], after: tuple[str, ...], prefix: str) -> Iterator[Found]:
    """Name an option of a command line (``args[--timeout]``); other items just come and go."""
    old, new = _options(before), _options(after)
    named = [name for name in old if name in new and old[name] != new[name]]
    for name in named:
        yield Found(Sort.SETTING_CHANGED, f"{prefix}[{name}]", old[name], new[name])
    gone = list((Counter(_rest(before, named)) - Counter(_rest(after, named))).elements())
    come = list((Counter(_rest(after, named)) - Counter(_rest(before, named))).elements())
    if len(gone) == len(come) == 1:
        yield Found(Sort.SETTING_CHANGED, f"{prefix}[]", gone[0], come[0])
        return
    if gone:
        yield Found(Sort.SETTING_REMOVED, f"{prefix}[]", ", ".join(gone), None)
    if come:
        yield Found(Sort.SETTING_ADDED, f"{prefix}[]", None, ", ".join(come))


def _options(items: tuple[str, ...]) -> dict[str, str]:
    """Name the values of ``--a=1`` and of ``--a 1``."""
    found = {}
    for at, item in enumerate(items):
        name, equals, value = item.partition("=")
        if not item.startswith("-"):
            continue
        if equals:
            found[name] = value
        elif at + 1 < len(items) and not items[at + 1].startswith("-"):
            found[name] = items[at + 1]
    return found


def _rest(items: tuple[str, ...], named: list[str]) -> Iterator[str]:
    """Leave out the named options and the values that follow them."""
    skip = False
    for item in items:
        name, equals, _ = item.partition("=")
        if name in named and not skip:
            skip = not equals
        elif skip:
            skip = False
        else:
            yield item


def shown(tree: Tree) -> str:
    """Render a value briefly. Only the beginning is rendered: the rest would be cut anyway."""
    if isinstance(tree, str):
        return tree
    if isinstance(tree, tuple):
        more = ", …" if len(tree) > 12 else ""
        return "[" + ", ".join(tree[:12]) + more + "]"
    parts = [f"{key}: {shown(value)}" for key, value in list(tree.items())[:8]]
    return "{" + ", ".join(parts) + (", …}" if len(tree) > 8 else "}")
