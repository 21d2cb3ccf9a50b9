r"""Secrets that fill several lines: private keys in PEM or PuTTY form, and Kubernetes Secrets.

A block may stand plainly, indented, behind the signs of a diff, with CRLF, or within one line of
JSON as ``\n`` escapes, and either of its ends may be cut off. In a diff every run of lines with one
sign is a span of its own, so that a changed key is still seen to have changed. Public certificates
and public keys are no secrets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.redact.spans import Span

_LABEL = r"(?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?"
_BEGIN = re.compile(rf"-----BEGIN {_LABEL}-----|---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----")
_END = re.compile(rf"-----END {_LABEL}-----|---- END SSH2 ENCRYPTED PRIVATE KEY ----")
# What may stand within a block: base64, escapes, the quotes and joints of a string in code, header
# lines such as "Proc-Type: 4,ENCRYPTED", and after a line break the sign of a diff.
_BODY = re.compile(
    r"(?:(?:Proc-Type|DEK-Info|Comment|Version|Subject|x-[\w-]{1,20})[:] [^\n\\]{0,120}+"
    r"|[A-Za-z0-9/=]++|\\+[nrt\"']|[ \t\"',+\\]|\r?\n[ \t]*+[-+>|#*]?+(?!-))*+"
)
_TO_END = re.compile(r"(?:\r?\n)?[ \t]*+[-+]?(?=-----END |---- END )")
# Lines of a block whose beginning is cut off: full ones, and the last.
_TAIL_LINE = re.compile(r"[-+ >|]?[ \t]*[\"']?[A-Za-z0-9+/]{40,76}={0,2}(?:\\n|[\"'+, \\\r])*")
_LAST_LINE = re.compile(r"[-+ >|]?[ \t]*[\"']?[A-Za-z0-9+/]{2,76}={0,2}(?:\\n|[\"'+, \\\r])*")
_LEAD = re.compile(r"[-+ >|\t\"']*")
# The end of what is there of a block whose end is cut off.
_CUT_BODY = re.compile(
    r"(?:.*[A-Za-z0-9+/=]{16,})?(?:\s+[-+]?[ \t]*[A-Za-z0-9+/]{1,76}={1,2})?", re.DOTALL
)
_PUTTY = re.compile(
    r"PuTTY-User-Key-File-\d:(?:[^\n]*\n){1,400}?[-+ ]?Private-MAC: ?[0-9a-f]{0,128}"
    r"|PuTTY-User-Key-File-\d:[^\n]*(?:\n[-+ ]?[\w+/=-]+(?:: ?[^\n]*)?){0,400}"
)
_KIND = "private key"

SIGNS = ("PRIVATE KEY", "PuTTY-User-Key-File-", "Secret")
"""Patterns of gates: a text in which something is found has one of them."""


def private_keys(text: str) -> Iterator[Span]:
    """Yield private keys, whole, or as much of them as the text holds."""
    if "PRIVATE KEY" in text:
        closed, whole = 0, set[int]()
        for begin in _BEGIN.finditer(text):
            if begin.start() < closed:
                continue
            closed = _end_of_key(text, begin.end())
            whole.add(closed)
            if closed > begin.end():
                yield from _by_sign(text, begin.start(), closed)
            else:
                closed = begin.end()
        yield from _tails(text, whole)
    if "PuTTY-User-Key-File-" in text:
        for found in _PUTTY.finditer(text):
            yield Span(found.start(), found.end(), _KIND)


def _end_of_key(text: str, start: int) -> int:
    """Return where the key that begins before ``start`` ends; ``start`` if no key follows."""
    body = _BODY.match(text, start)
    at = body.end() if body else start
    closing = _TO_END.match(text, at)
    end = _END.match(text, closing.end()) if closing else None
    if end and re.search(r"[A-Za-z0-9]", text[start:at]):
        return end.end()
    there = _CUT_BODY.match(text, start, at)
    return there.end() if there else start


def _by_sign(text: str, start: int, end: int) -> Iterator[Span]:
    """Split a block where the sign of its lines changes; without signs it is one span."""
    line_start = text.rfind("\n", 0, start) + 1
    sign = text[line_start] if text[line_start] in "+- " else ""
    if text.startswith("-----", line_start):
        sign = ""
    since, at = start, text.find("\n", start, end)
    while at != -1 and sign:
        here = text[at + 1 : at + 2]
        if here in ("+", "-", " ") and here != sign:
            yield Span(since, at, _KIND)
            since, sign = at + 2, here
        at = text.find("\n", at + 1, end)
    yield Span(since, end, _KIND)


def _tails(text: str, whole: set[int]) -> Iterator[Span]:
    """Yield the last lines of keys whose beginning is not in the text."""
    for end in _END.finditer(text):
        start = text.rfind("\n", 0, end.start()) + 1
        if end.end() in whole or not _LEAD.fullmatch(text, start, end.start()):
            continue
        first, line = end.start(), _LAST_LINE
        while start:
            above = text.rfind("\n", 0, start - 1) + 1
            if not line.fullmatch(text, above, start - 1):
                break
            start, line = above, _TAIL_LINE
            first = start + (text[start] in "+- ")
        if line is _TAIL_LINE and first < end.start():
            yield from _by_sign(text, first, end.end())


# --- Kubernetes --------------------------------------------------------------------------------

_SECRET_DOCUMENT = re.compile(r"kind\"?:[ \t]*\"?Secret\b\"?[ \t]*,?\r?$", re.MULTILINE)
_DOCUMENT_EDGE = re.compile(r"^(?:[-+ ]?---[ \t]*$|\+\+\+ |--- |diff --git )", re.MULTILINE)
_DATA = re.compile(
    r"^(?P<sign>[-+ ]?)(?P<indent>[ \t]*)\"?(?:data|stringData)\"?:[ \t]*(?P<json>\{)?[ \t]*\r?$",
    re.MULTILINE,
)
_ENTRY = re.compile(
    r"[-+ ]?(?P<indent>[ \t]*)(?P<name>\"[^\"\n]{1,253}\"|[\w.-]{1,253}):[ \t]+\"?"
    r"(?P<value>[^\s\"][^\n\"]*?)\"?[ \t]*,?\r?$"
)
_EMPTY = frozenset({"|", "|-", "|+", ">", ">-", ">+", "{}", "null", "~"})


def kubernetes_secrets(text: str) -> Iterator[Span]:
    """Yield the values below ``data`` and ``stringData`` of every Secret that says that it is one."""
    if "Secret" not in text:
        return
    done = 0
    for kind in _SECRET_DOCUMENT.finditer(text):
        if kind.start() < done:
            continue
        start = done
        for edge in _DOCUMENT_EDGE.finditer(text, done, kind.start()):
            start = edge.end()
        after = _DOCUMENT_EDGE.search(text, kind.end())
        done = after.start() if after else len(text)
        for data in _DATA.finditer(text, start, done):
            yield from _entries(text, data, done)


def _entries(text: str, data: re.Match[str], end: int) -> Iterator[Span]:
    at = data.end() + 1
    depth = len(data["indent"])
    while at < end:
        stop = text.find("\n", at, end)
        stop = end if stop == -1 else stop
        line = text[at:stop]
        bare = line[1:] if line[:1] in ("+", "-") or (data["sign"] and line[:1] == " ") else line
        inner = bare.lstrip(" \t")
        if inner.strip() and len(bare) - len(inner) <= depth:
            break
        entry = _ENTRY.match(line)
        if entry and entry["value"] not in _EMPTY and "{{" not in entry["value"]:
            yield Span(at + entry.start("value"), at + entry.end("value"), "kubernetes secret")
        at = stop + 1
