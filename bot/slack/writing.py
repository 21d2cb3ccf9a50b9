"""Text that others wrote, made safe to be shown in Slack: no live mention, no hidden order, no link.

Owns cleaning, escaping and cutting, for the two dialects that the bot writes: the ``markdown``
block, which still reads ``<!here>``, and the ``text`` of a message, which is mrkdwn. Pure.
"""

from __future__ import annotations

import re
import unicodedata

FENCE = "```"

_HIDDEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e"
    r"\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    r"\U000e0000-\U000e0fff\ud800-\udfff]"
)
"""Controls, bidirectional marks, zero-width and other characters that nobody sees."""
_BROADCAST = re.compile(r"@(?=(?:here|channel|everyone|group)\b)", re.IGNORECASE)
_SCHEME = re.compile(r"(?<=[A-Za-z])://")
_WWW = re.compile(r"\bwww\.(?=\w)", re.IGNORECASE)
_MASKED_LINK = re.compile(r"\](?=[(\[:])")
_SPACES = re.compile(r"\s+")
_HALF_ENTITY = re.compile(r"(?:&[a-z]{0,3}|\\)\Z")


def clean(text: str) -> str:
    """Only what can be seen. Line breaks and tabs stay; emoji lose their variation marks."""
    return _HIDDEN.sub("", unicodedata.normalize("NFC", text))


def one_line(text: str) -> str:
    return _SPACES.sub(" ", clean(text)).strip()


def for_markdown(text: str) -> str:
    """Cleaned text for a ``markdown`` block: ``<`` and ``>`` escaped, ``&`` not (it breaks links).

    ``[a](b)`` stays readable and is no link: links are made by code.
    """
    safe = text.replace("<", "&lt;").replace(">", "&gt;")
    return _MASKED_LINK.sub("] ", _dead(safe))


def for_mrkdwn(text: str) -> str:
    """Cleaned text for a message's ``text``: the three characters that Slack reads, escaped."""
    safe = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _dead(safe)


def _dead(text: str) -> str:
    """What Slack would bring to life, taken apart: ``@here`` reaches nobody, and an address in other
    people's words is read as ``https[:]//…`` and is no link: links are made by code (M22).
    """
    return _WWW.sub("www[.]", _SCHEME.sub("[:]//", _BROADCAST.sub("@ ", text)))


def cut(text: str, limit: int) -> str:
    """At most so many characters, marked where it was cut. Never half an escape."""
    if len(text) <= limit:
        return text
    return _HALF_ENTITY.sub("", text[: max(limit - 1, 0)]).rstrip() + "…"


def url(link: str) -> str:
    """A link of our own for both dialects: what would end it early is percent-encoded."""
    return re.sub(r"[\s<>()|\[\]]", lambda match: f"%{ord(match[0]):02X}", link)
