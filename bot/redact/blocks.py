r"""Secrets that fill several lines: private keys in PEM or PuTTY form, and Kubernetes Secrets.

A block may stand plainly, indented, behind the signs of a diff, with CRLF, or within one line of
JSON as ``\n`` escapes, and either of its ends may be cut off. In a diff every run of lines with one
sign is a span of its own, so that a changed key is still seen to have changed. Public certificates
and public keys are no secrets.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Generator, Iterator

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
# What is there of a block whose end is cut off: to its last full line, and a last one behind it.
_CUT_LINE = re.compile(r"[A-Za-z0-9+/=]{16,}+")
_CUT_LAST = re.compile(r"\s++(?:[-+][ \t]*+)?[A-Za-z0-9+/]{1,76}={1,2}")
_LONGEST_LEAD = 512
_PUTTY = re.compile(r"PuTTY-User-Key-File-\d:")
_PUTTY_END = re.compile(r"\n[-+ ]?Private-MAC: ?[0-9a-f]{0,128}")
_PUTTY_CUT = re.compile(r"[^\n]*(?:\n[-+ ]?[\w+/=-]+(?:: ?[^\n]*)?){0,400}")
_PUTTY_LINES = 400
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
        yield from _putty_keys(text)


def _end_of_key(text: str, start: int) -> int:
    """Return where the key that begins before ``start`` ends; ``start`` if no key follows."""
    body = _BODY.match(text, start)
    at = body.end() if body else start
    closing = _TO_END.match(text, at)
    end = _END.match(text, closing.end()) if closing else None
    if end and re.search(r"[A-Za-z0-9]", text[start:at]):
        return end.end()
    there = start
    for line in _CUT_LINE.finditer(text, start, at):
        there = line.end()
    last = _CUT_LAST.match(text, there, at)
    return last.end() if last else there


def _putty_keys(text: str) -> Iterator[Span]:
    """Yield keys to the line that closes them, or else as many lines as look like one."""
    breaks = [each.start() for each in re.finditer("\n", text)]
    closings = list(_PUTTY_END.finditer(text))
    starts = [each.start() for each in closings]
    done = 0
    for begin in _PUTTY.finditer(text):
        if begin.start() < done:
            continue
        next_closing = bisect_left(starts, begin.end())
        done = _end(_PUTTY_CUT, text, begin.end())
        if next_closing < len(closings):
            closing = closings[next_closing]
            lines = bisect_right(breaks, closing.start()) - bisect_left(breaks, begin.end())
            done = closing.end() if lines <= _PUTTY_LINES else done
        yield Span(begin.start(), done, _KIND)


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


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
        least = max(0, end.start() - _LONGEST_LEAD)
        start = text.rfind("\n", least, end.start()) + 1
        if end.end() in whole or (least and not start):
            continue
        if not _LEAD.fullmatch(text, start, end.start()):
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
    r"^(?P<sign>[-+ ]?)(?P<indent>[ \t]*+)\"?(?:data|stringData)\"?:[ \t]*+(?:\{[ \t]*+)?\r?$",
    re.MULTILINE,
)
_ENTRY = re.compile(
    r"[-+ ]?(?P<indent>[ \t]*)(?P<name>\"[^\"\n]{1,253}\"|[\w.-]{1,253}):[ \t]++\"?"
    r"(?P<value>[^\s\"](?:(?!,?\r?$)[^\n\" \t]|[ \t]++(?!,?\r?$))*+)\"?[ \t]*+,?\r?$"
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
        yield from _values_of(text, start, done)


def _values_of(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield the values of one document; what stands within a mapping is read with it."""
    read: dict[bool, tuple[int, int]] = {}
    for data in _DATA.finditer(text, start, end):
        signed, depth = bool(data["sign"]), len(data["indent"])
        until, above = read.get(signed, (0, 0))
        if data.start() >= until or depth < above:
            read[signed] = ((yield from _entries(text, data, end)), depth)


def _entries(text: str, data: re.Match[str], end: int) -> Generator[Span, None, int]:
    """Yield the values below ``data``; return where the mapping ends."""
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
    return at
