"""Secrets in what this product says of a change: ``db: added {host: x, password: y}``.

Its values are not quoted, whatever the file did, and a new block is told whole. What stands below a
secret-like name is judged with it: ``variable.db_password: added {default: x}``.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace

from bot.redact.names import Secrecy, Trust, secrecy
from bot.redact.settings import end_of, is_secret
from bot.redact.spans import Span
from bot.redact.values import is_coined

# Names that say nothing of their own: the value is that of the name above.
VALUES = frozenset(
    {"default", "value", "values", "data", "stringdata", "content", "plaintext", "current", "text"}
    | {"secret_string", "secret_data", "literal", "raw", "string"}
)
_KUBERNETES = Secrecy("kubernetes secret", Trust.CHOSEN)
_LONGEST_KEY = 200
_LONGEST_BLOCK = 2_000

_CHANGE = re.compile(
    r": (?:(?:parameter )?(?:added |removed \(was )"
    r"|(?=[{\[])|(?=\S{1,300} → ))"
)
_VALUE = re.compile(r"[^\s,;)][^\s;]*")
_NAME = re.compile(r"[^\s:{}\[\],…][^:{}\[\],…\n]{0,160}: ")
_END = re.compile(
    r", (?=[^\s:{}\[\],…][^:{}\[\],…\n]{0,160}: |…)|[}\]](?=[}\]]{0,40}(?:, |\)|…| → | in |$))|…|\n"
)
_ITEM_END = re.compile(r", |[}\]](?=[}\]]{0,40}(?:, |\)|…| → | in |$))|…|\n")
_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4}){2,}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
_JOINT = re.compile(r"[, ]*+")
_WORDS = re.compile(r"[\w$-]+")

SIGNS = (r"stringData", r"data\.[^ \n]{1,100}: ", r"data: (?:added|removed|[{])")
"""Patterns of gates, beside those of secret-like names."""


@dataclass(frozen=True, slots=True)
class _Below:
    """How values below a name are judged: those that only say "value", and all others."""

    values: Secrecy | None = None
    others: Secrecy | None = None
    encoded: bool = False

    def below(self, name: str) -> _Below:
        """Go one name deeper."""
        if name == "stringData":
            return _Below(_KUBERNETES, _KUBERNETES)
        if name == "data" and self.values is None:
            return _Below(encoded=True)
        found = secrecy(name) or secrecy(name.removesuffix("s"))
        if found:
            return _Below(found, replace(found, trust=Trust.ISSUED))
        return self

    def kind_of(self, name: str, value: str) -> str | None:
        """Return the kind of the secret that ``value`` of ``name`` is, if it is one."""
        found = secrecy(name)
        if found is None:
            found = self.values if name.lower() in VALUES else self.others
        if found and (is_secret(value, found) or (self.values is not None and is_coined(value))):
            return found.kind
        if found and found.trust is not Trust.CHOSEN and is_coined(value):
            return found.kind
        if self.encoded and _BASE64.fullmatch(value) and not value.isalpha():
            return _KUBERNETES.kind
        return None


def find(text: str) -> Iterator[Span]:
    """Yield the secrets of every change that ``text`` tells of, in blocks and below names."""
    done = 0
    for change in _CHANGE.finditer(text):
        at = change.end()
        if change.start() < done:
            continue
        block = text[at : at + 1] in ("{", "[")
        if block and change[0] == ": " and not _changes(text, at):
            continue
        key = _key_before(text, change.start())
        while True:
            end = yield from _value(text, key, at)
            done = end
            if not text.startswith(" → ", end):
                break
            at = end + 3


def within(key: str, value: str) -> Iterator[Span]:
    """Yield the secrets of the whole ``value`` of ``key``."""
    above, name = _above(key)
    if value[:1] in ("{", "["):
        yield from _block(value, 0, len(value), above.below(name))
    elif kind := above.kind_of(name, value.strip("\"'` ")):
        start = len(value) - len(value.lstrip("\"'` "))
        yield Span(start, start + len(value.strip("\"'` ")), kind)


def _changes(text: str, at: int) -> bool:
    """Tell a changed block from code: on its line stands an arrow."""
    end = text.find("\n", at, at + _LONGEST_BLOCK)
    return text.find(" → ", at, end if end != -1 else at + _LONGEST_BLOCK) != -1


def _key_before(text: str, end: int) -> str:
    words = text[max(0, end - _LONGEST_KEY) : end].rsplit(maxsplit=1)
    return words[-1] if words else ""


def _above(key: str) -> tuple[_Below, str]:
    """Return what stands above the last part of a dotted key, and that part."""
    parts = _WORDS.findall(key) or [""]
    above = _Below()
    for part in parts[:-1]:
        above = above.below(part)
    return above, parts[-1]


def _value(text: str, key: str, at: int) -> Generator[Span, None, int]:
    """Yield the secrets of the value at ``at``; return its end."""
    above, name = _above(key)
    if text[at : at + 1] in ("{", "["):
        return (yield from _block(text, at, min(len(text), at + _LONGEST_BLOCK), above.below(name)))
    value = _VALUE.match(text, at)
    if value is None:
        return at
    written = value[0].rstrip(").,…").strip("\"'`")
    start = text.find(written, at)
    if written and (kind := above.kind_of(name, written)):
        yield Span(start, start + len(written), kind)
    return value.end()


def _block(text: str, at: int, end: int, outer: _Below) -> Generator[Span, None, int]:
    """Yield the secrets of ``{k: v, k: [v, …]}``; return where it ends."""
    levels: list[tuple[str, _Below]] = []
    name, below = "value", outer
    named: re.Match[str] | None = None
    while at < end and text[at] != "\n":
        here = text[at]
        if here in "{[":
            levels.append((here, below))
            at += 1
        elif here in "}]" and not named:
            levels.pop()
            at += 1
            if not levels:
                break
        elif here in ", …" and not named:
            at += 1
            continue
        else:
            stop = (_END if levels[-1][0] == "{" else _ITEM_END).search(text, at, end)
            last = stop.start() if stop else end
            written = text[at:last].strip("\"'` ")
            start = text.find(written, at)
            if written and (kind := levels[-1][1].kind_of(name, written)):
                yield Span(start, start + len(written), kind)
            at = last
        name, below = "value", levels[-1][1]
        at = end_of(_JOINT, text, at)
        named = _NAME.match(text, at, end) if levels[-1][0] == "{" else None
        if named:
            name = named[0][:-2].strip("\"'")
            below = levels[-1][1].below(name)
            at = named.end()
    return at
