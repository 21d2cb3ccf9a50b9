"""Secrets as people write of them: "the password is now x", "token x was leaked", "Invalid API key: x".

Knows what may stand between a name and its value in words. In words a name is also called by, so that
only what can be nothing but a token counts: ``auth 9f8e7d6c5b4a`` is a version of a service.
"""

from __future__ import annotations

import re
from dataclasses import replace

from bot.redact.names import Secrecy, Trust, secrecy
from bot.redact.spans import Span
from bot.redact.values import is_issued

TOLD = re.compile(
    r"[ \t]{1,4}(?:(?:is|was)(?:[ \t]now)?:?[ \t]{1,4}[\"'`]?|provided:[ \t]{1,4}|[\"'`])"
)
"""What stands between a name and an argument that is its value."""
_GIVEN = re.compile(r"[\"']?[ \t]{1,8}(?P<value>[A-Za-z0-9][\w+/=.~-]{5,512}+)(?=[\s,;]|\Z)")
_KIND_OF_KEY = re.compile(r"[A-Za-z]{2,16}[ ]\Z")
# Kinds whose names services and fields have, too.
_TITLES = frozenset({"credentials", "authorization", "connection string"})


def given(text: str, end: int, found: Secrecy) -> Span | None:
    """Return the word behind a name that ends at ``end``, if it is a token."""
    word = _GIVEN.match(text, end)
    if word is None or found.kind in _TITLES or not is_issued(word["value"]):
        return None
    return Span(*word.span("value"), found.kind)


def key_in_words(text: str, start: int) -> Secrecy | None:
    """Return what the "key" at ``start`` holds by the word before it: an "API key"."""
    if text[start - 1 : start] != " " or not text[start - 2 : start - 1].isalpha():
        return None
    kind = _KIND_OF_KEY.search(text, max(0, start - 17), start)
    found = secrecy(kind[0] + "key") if kind else None
    return replace(found, trust=Trust.ISSUED) if found else None
