"""What changed in code of other languages, by line rules: JavaScript, TypeScript, Go and their kin.

Looks only for what one line shows for certain: a constant, a function's parameters, an exported
name, an exception. A name that occurs twice on one side is ambiguous and left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from tools.highlights.found import Found, Sort

_LONGEST: Final = 300
_LITERAL: Final = r"-?[\d][\w.]*(?:\s*\*\s*[\w.]+)?|\"[^\"\\]*\"|'[^'\\]*'|true|false|null|nil"
_CONSTANT: Final = re.compile(
    r"^\s*(?P<words>(?:[A-Za-z_#][\w<>\[\]]*\s+){0,6})(?P<name>[A-Za-z_]\w*)"
    r"(?:\s*:\s*[\w<>\[\]&' ]+?)?\s*(?::=|=|:)\s*(?P<value>"
    + _LITERAL
    + r")\s*[,;]?\s*(?://.*|#.*)?$"
)
_FUNCTION: Final = re.compile(
    r"^(?:export\s+)?(?:default\s+)?(?:async\s+)?function\s*\*?\s*(\w+)\s*\(([^)]*)\)"
    r"|^(?:export\s+)?(?:const|let|var)\s+(\w+)\s*=\s*(?:async\s*)?\(([^)]*)\)[^=]{0,60}=>"
    r"|^func\s+(?:\([^)]*\)\s*)?(\w+)\(([^)]*)\)"
    r"|^\s+(?:(?:public|private|protected|static|async)\s+)*(\w+)\(([^)]*)\)[^;{(]{0,60}\{\s*$"
)
_EXPORT: Final = re.compile(
    r"^export\s+(?:default\s+)?(?:abstract\s+|async\s+)?(?:const|let|var|function\*?|class"
    r"|interface|type|enum)\s+(\w+)|^(?:module\.)?exports\.(\w+)\s*=|^func\s+([A-Z]\w*)\("
)
_THROW: Final = re.compile(
    r"\bthrow\s+(?:new\s+)?([A-Z]\w*)\s*\(\s*([^,)]{0,120})|\braise\s+([A-Z][\w:]*)[\s,(]*([^)]{0,120})"
    r"|\b(errors\.New|fmt\.Errorf)\(([^,)]{0,120})|\b(panic)!?\(([^,)]{0,120})"
)
_STATEMENTS: Final = frozenset({"if", "for", "while", "switch", "catch", "function", "return"})
_CONST_WORDS: Final = frozenset({"const", "final", "static", "#define", "val", "define"})


@dataclass
class _Source:
    constants: dict[str, list[str]] = field(default_factory=dict)
    functions: dict[str, list[dict[str, str]]] = field(default_factory=dict)
    exports: set[str] = field(default_factory=set)
    throws: list[tuple[str, str]] = field(default_factory=list)


def compare_code(before: str, after: str) -> Iterator[Found]:
    """Yield what changed between two versions of a file."""
    old, new = _read(before), _read(after)
    for name, values in old.constants.items():
        now = new.constants.get(name, [])
        if len(values) == len(now) == 1 and values != now:
            yield Found(Sort.CONSTANT_CHANGED, name, values[0], now[0])
    for name, versions in old.functions.items():
        later = new.functions.get(name, [])
        if len(versions) == len(later) == 1:
            yield from _parameters(name, versions[0], later[0])
    for name in sorted(old.exports - new.exports):
        yield Found(Sort.DEFINITION_REMOVED, name, "exported", None, name)
    for name in sorted(new.exports - old.exports):
        yield Found(Sort.DEFINITION_ADDED, name, None, "exported", name)
    was, now_thrown = Counter(old.throws), Counter(new.throws)
    for kind, message in (now_thrown - was).keys() - was.keys():
        yield Found(Sort.RAISE_ADDED, f"throws {kind}", None, message)


def _parameters(name: str, was: Mapping[str, str], now: Mapping[str, str]) -> Iterator[Found]:
    for parameter in dict.fromkeys((*was, *now)):
        key = f"{name}({parameter})"
        if parameter not in now:
            yield Found(Sort.PARAMETER_REMOVED, key, was[parameter], None)
        elif parameter not in was:
            yield Found(Sort.PARAMETER_ADDED, key, None, now[parameter])
        elif was[parameter] != now[parameter] and "=" in was[parameter] + now[parameter]:
            yield Found(Sort.DEFAULT_CHANGED, key, was[parameter], now[parameter])


def _read(text: str) -> _Source:
    source = _Source()
    for line in text.split("\n"):
        if len(line) > _LONGEST or not line.strip():
            continue
        constant, function, export = (
            _CONSTANT.match(line),
            _FUNCTION.match(line),
            _EXPORT.match(line),
        )
        if constant and _is_constant(constant["name"], constant["words"].split()):
            source.constants.setdefault(constant["name"], []).append(constant["value"])
        if function:
            name, parameters = (part for part in function.groups() if part is not None)
            if name not in _STATEMENTS:
                source.functions.setdefault(name, []).append(_split(parameters))
        if export:
            source.exports.add(next(part for part in export.groups() if part))
        for thrown in _THROW.finditer(line):
            kind, message = (part for part in thrown.groups() if part is not None)
            source.throws.append((kind, message.strip()))
    return source


def _is_constant(name: str, words: list[str]) -> bool:
    """Tell a constant or a named option from an assignment in passing."""
    return not _STATEMENTS & set(words) and (
        name.isupper() or not words or bool(_CONST_WORDS & set(words))
    )


def _split(parameters: str) -> dict[str, str]:
    """Split at the commas; what stands after the name (type, default) is the value."""
    found = {}
    for part in parameters.split(","):
        match = re.match(r"\s*(?:\.\.\.)?([A-Za-z_$]\w*)\??\s*:?\s*(.*)$", part)
        if match:
            found[match[1]] = match[2].strip() or "required"
    return found
