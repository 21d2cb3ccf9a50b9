"""Slack's text: what is typed, how it is stored, and who is mentioned in it.

Owns the composer's conversion (escapes, `@name` to `<@U…>`, `#name` to `<#C…>`, URLs to links), the
reading of mentions, and the rich_text block that Slack composes for a plain text. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.playground.model import Json
from bot.playground.world import World

_TOKEN = re.compile(r"<([^<>]+)>|(?<![\w:]):([a-z0-9_+'-]+(?:::skin-tone-[2-6])?):")
_MENTION = re.compile(r"<@([UW][A-Z0-9]+)(?:\|[^>]*)?>")
_TYPED = re.compile(
    r"(?P<url>https?://[^\s<>]+)"
    r"|(?<![\w@])@(?P<user>[a-z0-9._-]*[a-z0-9])"
    r"|(?<![\w#&])#(?P<channel>[a-z0-9][a-z0-9_-]*)"
)


def escape(text: str) -> str:
    """The three characters that Slack escapes in stored text."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def unescape(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def from_typed(typed: str, world: World) -> str:
    """What Slack's own client sends for a text that somebody typed."""
    parts: list[str] = []
    at = 0
    for found in _TYPED.finditer(typed):
        parts.append(escape(typed[at : found.start()]))
        parts.append(_typed_token(found, world))
        at = found.end()
    parts.append(escape(typed[at:]))
    return "".join(parts)


def _typed_token(found: re.Match[str], world: World) -> str:
    if found["url"]:
        return f"<{escape(found['url'])}>"
    if found["user"]:
        if found["user"] in ("here", "channel", "everyone"):
            return f"<!{found['user']}>"
        user = world.user_named(found["user"])
        return f"<@{user.id}>" if user else escape(found[0])
    channel = world.channel_named(found["channel"])
    return f"<#{channel.id}|{channel.name}>" if channel else escape(found[0])


def mentioned(text: str, blocks: tuple[Json, ...] = ()) -> list[str]:
    """The ids of the users that a message mentions, in its text or in its blocks."""
    found = _MENTION.findall(text)
    for block in blocks:
        found += [user for user in _mentioned_in(block) if user not in found]
    return list(dict.fromkeys(found))


def _mentioned_in(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        if value.get("type") == "user" and isinstance(value.get("user_id"), str):
            yield value["user_id"]
        for key, inner in value.items():
            if key == "text" and isinstance(inner, str) and value.get("type") != "plain_text":
                yield from _MENTION.findall(inner)
            else:
                yield from _mentioned_in(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _mentioned_in(inner)


def rich_text(text: str, block_id: str) -> Json:
    """The block that Slack composes for a plain text."""
    elements: list[Json] = []
    at = 0
    for found in _TOKEN.finditer(text):
        if found.start() > at:
            elements.append({"type": "text", "text": unescape(text[at : found.start()])})
        elements.append(_rich_token(found))
        at = found.end()
    if at < len(text):
        elements.append({"type": "text", "text": unescape(text[at:])})
    section = {"type": "rich_text_section", "elements": elements}
    return {"type": "rich_text", "block_id": block_id, "elements": [section]}


def _rich_token(found: re.Match[str]) -> Json:
    if found[2]:
        return {"type": "emoji", "name": found[2]}
    target, _, label = found[1].partition("|")
    match target[:1]:
        case "@":
            return {"type": "user", "user_id": target[1:]}
        case "#":
            return {"type": "channel", "channel_id": target[1:]}
        case "!":
            return {"type": "broadcast", "range": target[1:]}
        case _:
            link: Json = {"type": "link", "url": unescape(target)}
            return {**link, "text": unescape(label)} if label else link
