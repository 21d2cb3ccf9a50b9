"""Settings that a change brings with it: their names, variables, defaults and other values.

Owns reading them from added lines of code: an environment variable that stands quoted beside the
setting's name and its default, or else a new option or parameter whose name says that it allows,
skips or keeps something. Says only what the lines show. Knows no deploy.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tools.evidence import ChangeText
from tools.records import Switch

MOST = 4
READ = 200_000
"""Characters of added lines that are looked at."""
_NEAR = 220
"""Characters around a variable in which its name and its default stand."""

_VARIABLE = re.compile(r"[\"']([A-Z][A-Z0-9]{1,30}(?:_[A-Z0-9]{1,30}){1,8})[\"']")
_STRING = re.compile(r"[\"']([A-Za-z][\w.-]{1,60})[\"']")
_LIST = re.compile(r"[\[({]((?:\s*[\"'][\w.-]{1,60}[\"']\s*,?){2,8})\s*[\])}]")


_OPTION = re.compile(r"\b(?:options?|opts|config|settings|params)\.(?P<name>[A-Za-z]\w{3,50})\b")
_PARAMETER = re.compile(
    r"(?<![\w.])(?P<name>[A-Za-z]\w{3,50})\s*(?::\s*[\w\[\]. |]{1,30})?=\s*"
    r"(?P<default>True|False|true|false)\b"
)
_WAYS = re.compile(
    r"(?:allow|enable|disable|legacy|ignore|skip|keep|force|permit|strict|check|test|no|use|with)"
    r"(?:_|[A-Z])"
)
"""How the names of options begin that turn a behaviour on or off."""


def find_switches(text: ChangeText | None) -> tuple[Switch, ...]:
    """The settings that the added lines define, each once, those with other values first."""
    if text is None:
        return ()
    added = text.added.text[:READ]
    lists = [tuple(_STRING.findall(found[1])) for found in _LIST.finditer(added)]
    found = {switch.variable: switch for switch in _switches(added, lists)}
    if not found:
        return tuple(_options(added, text))[:MOST]
    return tuple(sorted(found.values(), key=lambda one: not one.others))[:MOST]


def _options(added: str, text: ChangeText) -> list[Switch]:
    """New options and parameters that turn something on or off; the documented ones first."""
    old = f"{text.removed.text}\n{text.near.text}"
    found: dict[str, Switch] = {}
    for option in (*_OPTION.finditer(added), *_PARAMETER.finditer(added)):
        name, default = option["name"], option.groupdict().get("default", "")
        if _WAYS.match(name) and not re.search(rf"\b{name}\b", old):
            found.setdefault(name, Switch(name=name, default=default))
    said = text.inert.text
    return sorted(found.values(), key=lambda one: (one.name not in said, not one.default))


def _switches(added: str, lists: list[tuple[str, ...]]) -> Iterator[Switch]:
    for found in _VARIABLE.finditer(added):
        variable = found[1]
        before = _STRING.findall(added[max(0, found.start() - _NEAR) : found.start()])
        name = next((one for one in reversed(before) if _names(one, variable)), None)
        after = _STRING.search(added[found.end() : found.end() + _NEAR])
        if name is None or after is None or _VARIABLE.match(f'"{after[1]}"'):
            continue
        default = after[1]
        others = next((one for one in lists if default in one and name not in one), ())
        yield Switch(
            name=name,
            variable=variable,
            default=default,
            others=tuple(dict.fromkeys(value for value in others if value != default)),
        )


def _names(setting: str, variable: str) -> bool:
    """Whether a variable is this setting's: ``AWS_REGION_NAME`` is that of ``region_name``."""
    plain = re.sub(r"[^a-z0-9]", "_", setting.lower())
    return len(plain) >= 4 and setting != variable and variable.lower().endswith(plain)
