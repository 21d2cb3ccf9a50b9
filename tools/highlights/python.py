"""What changed in a Python file for those who call it or run it, from both versions' syntax trees.

Constants and class attributes, parameters and their defaults, public names, decorators, exceptions
that are raised, and what is passed to calls.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from tools.highlights.found import Found, Sort
from tools.highlights.python_module import PythonModule, read_modules, requirements
from tools.highlights.trees import compare

_PLAIN_DECORATORS: Final = frozenset(
    {"property", "staticmethod", "classmethod", "overload", "abstractmethod", "override", "final"}
)
_SORT_OF_SETTING: Final = {
    Sort.SETTING_CHANGED: Sort.CONSTANT_CHANGED,
    Sort.SETTING_REMOVED: Sort.CONSTANT_REMOVED,
    Sort.SETTING_ADDED: Sort.CONSTANT_ADDED,
}


def compare_python(name: str, before: str, after: str) -> Iterator[Found]:
    """Yield what changed; nothing where one of the two cannot be parsed."""
    modules = read_modules(before, after)
    if modules is None:
        return
    old, new = modules
    setup = name.rsplit("/", 1)[-1] == "setup.py"
    if setup:
        yield from _requirements(requirements(before), requirements(after))
    for found in compare(dict(old.constants), dict(new.constants)):
        if not (setup and "require" in found.key):
            yield replace(found, sort=_SORT_OF_SETTING[found.sort])
    yield from _grouped(_parameters(old, new))
    yield from _definitions(old, new)
    yield from _decorators(old, new)
    yield from _raises(old, new)
    yield from _arguments(old, new)
    yield from _own_calls(old, new)


def _requirements(old: dict[str, str], new: dict[str, str]) -> Iterator[Found]:
    """Compare the requirements among the strings of a setup.py."""
    for package in dict.fromkeys((*old, *new)):
        if old.get(package) != new.get(package):
            sort = Sort.DEPENDENCY_CHANGED
            if package not in old:
                sort = Sort.DEPENDENCY_ADDED
            elif package not in new:
                sort = Sort.DEPENDENCY_REMOVED
            yield Found(sort, package, old.get(package), new.get(package))


def _parameters(old: PythonModule, new: PythonModule) -> Iterator[Found]:
    for function, was in old.parameters.items():
        now = new.parameters.get(function)
        if now is None:
            continue
        for name in dict.fromkeys((*was, *now)):
            key = f"{function}({name})"
            if name not in now:
                yield Found(Sort.PARAMETER_REMOVED, key, was[name], None, name)
            elif name not in was:
                yield Found(Sort.PARAMETER_ADDED, key, None, now[name], name)
            elif _default(was[name]) != _default(now[name]):
                before, after = _default(was[name]), _default(now[name])
                yield Found(Sort.DEFAULT_CHANGED, key, before, after, name)


def _grouped(found: Iterator[Found]) -> Iterator[Found]:
    """Join what happened to one parameter in several functions; public ones are named first."""
    groups: dict[tuple[object, ...], list[Found]] = defaultdict(list)
    for one in found:
        detail = (one.before, one.after) if one.sort is Sort.DEFAULT_CHANGED else ()
        groups[one.sort, one.name, *detail].append(one)
    for members in groups.values():
        members.sort(key=lambda one: (_is_private(one.key.split("(")[0]), len(one.key)))
        first = replace(members[0], name="")
        if len(members) == 1:
            yield first
            continue
        others = [one.key.split("(")[0] for one in members[1:3]]
        more = "" if len(members) < 4 else f" and {len(members) - 3} more"
        yield replace(first, key=f"{first.key}, {', '.join(others)}{more}")


def _arguments(old: PythonModule, new: PythonModule) -> Iterator[Found]:
    """Compare what a function passes to what it calls, where it calls it before and after."""
    for key, passed in old.arguments.items():
        passes = new.arguments.get(key, [])
        if len(passed) == len(passes) == 1 and passed != passes:
            yield Found(Sort.ARGUMENT_CHANGED, key, passed[0], passes[0])
    yield from _grouped(_passed(old, new))


def _passed(old: PythonModule, new: PythonModule) -> Iterator[Found]:
    """Compare which arguments are passed by name; those of a parameter that is gone say no more."""
    gone = {name for was in old.parameters.values() for name in was} - {
        name for now in new.parameters.values() for name in now
    }
    for call, names in old.passed.items():
        later = new.passed.get(call, names)
        for name in sorted(names - later - gone):
            yield Found(Sort.ARGUMENT_REMOVED, f"{call}({name})", "", None, name)
        for name in sorted(later - names):
            yield Found(Sort.ARGUMENT_ADDED, f"{call}({name})", None, "", name)


def _own_calls(old: PythonModule, new: PythonModule) -> Iterator[Found]:
    """Report that a method calls another method of its object instead: overrides are passed by."""
    for function in old.own_calls.keys() & new.own_calls.keys():
        gone = sorted(old.own_calls[function] - new.own_calls[function])
        come = sorted(new.own_calls[function] - old.own_calls[function])
        if len(gone) == len(come) == 1:
            yield Found(Sort.CALL_CHANGED, f"{function} calls", gone[0], come[0])


def _definitions(old: PythonModule, new: PythonModule) -> Iterator[Found]:
    was, now = old.functions.keys() | old.classes, new.functions.keys() | new.classes
    gone_classes, new_classes = old.classes - new.classes, new.classes - old.classes
    for name in sorted(was - now - new.names - new.assigned.keys()):
        if not _is_private(name) and name.rpartition(".")[0] not in gone_classes:
            yield Found(Sort.DEFINITION_REMOVED, name, old.signature(name), None, name)
    for name in sorted(now - was - old.names - old.assigned.keys()):
        if name.rpartition(".")[0] not in new_classes:
            yield Found(Sort.DEFINITION_ADDED, name, None, new.signature(name), name)


def _decorators(old: PythonModule, new: PythonModule) -> Iterator[Found]:
    for function, now in new.decorators.items():
        was = old.decorators.get(function, ())
        for added in now:
            if added not in was and added.split("(")[0] not in _PLAIN_DECORATORS:
                yield Found(Sort.DECORATOR_CHANGED, f"@{added} on {function}", None, "")
        for removed in was:
            if removed not in now and removed.split("(")[0] not in _PLAIN_DECORATORS:
                yield Found(Sort.DECORATOR_CHANGED, f"@{removed} on {function}", "", None)


def _raises(old: PythonModule, new: PythonModule) -> Iterator[Found]:
    """Report an exception where the whole file raises it more often, or less, than before."""
    was, now = _raise_counts(old), _raise_counts(new)
    for (function, kind), messages in new.raises.items():
        before = old.raises.get((function, kind), [])
        if now[kind] > was[kind] and len(messages) > len(before):
            fresh = [text for text in messages if text not in before]
            yield Found(
                Sort.RAISE_ADDED,
                f"{function or 'module'} raises {kind}",
                None,
                fresh[0] if fresh else "",
            )
    for (function, kind), messages in old.raises.items():
        if now[kind] < was[kind] and len(messages) > len(new.raises.get((function, kind), [])):
            yield Found(
                Sort.RAISE_REMOVED, f"{function or 'module'} raises {kind}", messages[0], None
            )


def _raise_counts(module: PythonModule) -> Counter[str]:
    counts: Counter[str] = Counter()
    for (_, kind), messages in module.raises.items():
        counts[kind] += len(messages)
    return counts


def _default(parameter: str) -> str:
    return parameter.rpartition("= ")[2] if "= " in parameter else "required"


def _is_private(name: str) -> bool:
    return any(p.startswith("_") and not p.startswith("__") for p in name.split("."))
