"""Slack's text as a person reads it: pills, links and entities undone, blocks and alerts included.

Owns the reading direction only; what the bot writes is ``writing.py``'s. Pure, and bounded: the
text is other people's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

MAX_MESSAGE = 8_000
"""Characters of one message that are read."""
_DEPTH = 8

_PILL = re.compile(r"<([^<>]{1,3000})>")
_SPACES = re.compile(r"[ \t]{2,}")

Names = Callable[[str], str]
"""What a user or a channel of this id is called; the id itself where nobody knows."""


def plain_text(text: str, names: Names, without: str = "") -> str:
    """Slack's mrkdwn as plain text. Mentions of the user ``without`` are left out."""

    def shown(match: re.Match[str]) -> str:
        target, _, label = match[1].partition("|")
        kind, rest = target[:1], target[1:]
        match kind:
            case "@":
                return "" if rest == without else f"@{label or names(rest)}"
            case "#":
                return f"#{label or names(rest)}"
            case "!":
                return label or f"@{rest.split('^')[0]}"
            case _:
                return _link(target, label)

    read = _PILL.sub(shown, text[:MAX_MESSAGE])
    return _SPACES.sub(" ", _unescaped(read)).strip()


def _link(target: str, label: str) -> str:
    url = target.removeprefix("mailto:")
    if not label or label in url:
        return label if label and target.startswith("mailto:") else url
    return f"{label} ({url})"


def _unescaped(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def message_text(message: Mapping[str, Any]) -> str:
    """All that a message says, in mrkdwn: its text, else its blocks, and its attachments."""
    text = _string(message.get("text"))
    parts = [text] if text else list(_texts(message.get("blocks"), 0))
    for attachment in _list(message.get("attachments")):
        parts += _attachment(attachment)
    return "\n".join(part for part in parts if part)[:MAX_MESSAGE]


def _attachment(attachment: object) -> Iterator[str]:
    if not isinstance(attachment, dict):
        return
    told = [_string(attachment.get(key)) for key in ("pretext", "title", "text")]
    yield from told
    for field in _list(attachment.get("fields")):
        if isinstance(field, dict):
            yield f"{_string(field.get('title'))}: {_string(field.get('value'))}"
    blocks = [text for text in _texts(attachment.get("blocks"), 0) if text]
    yield from blocks
    if not any(told) and not blocks:
        yield _string(attachment.get("fallback"))


def _texts(blocks: object, depth: int) -> Iterator[str]:
    """The texts of blocks, a line for each section, field and list item."""
    for block in _list(blocks):
        if not isinstance(block, dict) or depth > _DEPTH:
            continue
        elements = _list(block.get("elements"))
        match block.get("type"):
            case "rich_text" | "rich_text_list":
                yield from _texts(elements, depth + 1)
            case "rich_text_section" | "rich_text_preformatted" | "rich_text_quote":
                yield "".join(map(_leaf, elements))
            case "context":
                yield " ".join(map(_leaf, elements))
            case _:
                yield _leaf(block)
                yield from map(_leaf, _list(block.get("fields")))


def _leaf(element: object) -> str:
    """One piece of a line: a text, in whichever shape, or a pill."""
    if not isinstance(element, dict):
        return ""
    match element.get("type"):
        case "user":
            return f"<@{_string(element.get('user_id'))}>"
        case "channel":
            return f"<#{_string(element.get('channel_id'))}>"
        case "link":
            return _string(element.get("text")) or _string(element.get("url"))
        case "emoji":
            return f":{_string(element.get('name'))}:"
        case _:
            text = element.get("text")
            return _string(text.get("text")) if isinstance(text, dict) else _string(text)


def _list(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else ()


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""
