"""chat.*: posting, changing and deleting messages.

Owns the limits on a message's text and what posting to a thread does. Block limits are in
`blocks.py`; what a thread is, in `world.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bot.playground.blocks import BadBlocksError, check_blocks
from bot.playground.model import Edited, Json, Message
from bot.playground.webapi.args import Args
from bot.playground.webapi.errors import SlackError
from bot.playground.webapi.method import (
    Call,
    find_channel,
    find_message,
    need_membership,
    need_open,
)
from bot.playground.wire import message_json, permalink

POSTED_TEXT = 16_000
"""postMessage cuts a longer text here, silently (40,000 is documented)."""
UPDATED_TEXT = 4_000
MARKDOWN_TEXT = 12_000
MAX_ATTACHMENTS = 100
EARLIEST_THREAD = 631_152_000
THREAD_AHEAD = 3_600
_ATTACHMENT_TEXTS = ("text", "fallback", "title", "pretext", "author_name", "fields")


@dataclass(frozen=True)
class Content:
    text: str
    blocks: tuple[Json, ...]
    attachments: tuple[Json, ...]
    metadata: Json | None


def post_message(call: Call) -> Json:
    call.args.require("channel")
    channel = find_channel(call, by_name=True)
    if call.app.bot_user not in channel.members and "chat:write.public" not in call.app.scopes:
        raise SlackError("not_in_channel")
    need_open(channel)
    content = _content(call.args)
    thread = _thread_ts(call)
    app = call.app
    message = call.world.add(
        Message(
            channel=channel.id,
            ts=call.world.new_ts(call.now()),
            text=content.text[:POSTED_TEXT],
            user=app.bot_user,
            team=call.world.team.id,
            thread_ts=thread,
            blocks=content.blocks,
            attachments=content.attachments,
            metadata=content.metadata,
            bot_id=app.bot_id,
            app_id=app.id,
        )
    )
    root = message.thread_ts or message.ts
    call.playground.set_status(app.id, channel.id, root, "")
    call.playground.events.posted(message)
    shown = message_json(call.world, message, metadata=True)
    return {"channel": channel.id, "ts": message.ts, "message": shown}


def post_ephemeral(call: Call) -> Json:
    """Shown to one user; nothing is stored, so nothing can be read back."""
    call.args.require("user", "channel")
    channel = find_channel(call)
    need_membership(call, channel)
    need_open(channel)
    _content(call.args)
    if call.args.text("user") not in channel.members:
        raise SlackError("user_not_in_channel")
    return {"message_ts": call.world.new_ts(call.now())}


def update(call: Call) -> Json:
    call.args.require("channel", "ts")
    channel = find_channel(call)
    before = _own_message(call, "ts", "cant_update_message")
    need_open(channel)
    if len(call.args.text("text")) > UPDATED_TEXT:
        raise SlackError("msg_too_long")
    content = _content(call.args)
    says_text = call.args.has("text") or call.args.has("markdown_text")
    blocks = content.blocks
    if not call.args.has("blocks") and not says_text:
        blocks = before.blocks
    edited = Edited(call.app.bot_user, call.world.new_ts(call.now()))
    after = call.world.edit(
        before,
        text=content.text if says_text else before.text,
        blocks=blocks,
        attachments=content.attachments if call.args.has("attachments") else before.attachments,
        metadata=content.metadata if call.args.has("metadata") else before.metadata,
        edited=before.edited if content.blocks else edited,
    )
    call.playground.feed.touch()
    call.playground.events.changed(before, after)
    shown = message_json(call.world, after, metadata=True)
    echoed = {key: value for key, value in shown.items() if key not in ("ts", "reactions")}
    return {"channel": channel.id, "ts": after.ts, "text": after.text, "message": echoed}


def delete(call: Call) -> Json:
    call.args.require("channel", "ts")
    channel = find_channel(call)
    message = _own_message(call, "ts", "cant_delete_message")
    call.world.delete(message)
    call.playground.feed.touch()
    call.playground.events.deleted(message)
    return {"channel": channel.id, "ts": message.ts}


def get_permalink(call: Call) -> Json:
    call.args.require("channel", "message_ts")
    channel = find_channel(call)
    message = find_message(call, channel, "message_ts")
    return {"channel": channel.id, "permalink": permalink(call.world, message)}


def _own_message(call: Call, name: str, refusal: str) -> Message:
    message = find_message(call, find_channel(call), name)
    if message.is_tombstone:
        raise SlackError("message_not_found")
    if message.app_id != call.app.id:
        raise SlackError(refusal)
    return message


def _content(args: Args) -> Content:
    """What a message says. `markdown_text` stands alone; without any content it is no_text."""
    if args.text("markdown_text"):
        return _markdown_content(args)
    blocks = _blocks(args)
    attachments = tuple(a for a in args.json_list("attachments") if isinstance(a, dict))
    if len(attachments) > MAX_ATTACHMENTS:
        raise SlackError("too_many_attachments")
    text = args.text("text")
    if not text and not blocks and not any(map(_says_something, attachments)):
        raise SlackError("no_text")
    return Content(text, blocks, attachments, _metadata(args))


def _markdown_content(args: Args) -> Content:
    if args.text("text") or args.has("blocks"):
        raise SlackError("markdown_text_conflict")
    markdown = args.text("markdown_text")
    if len(markdown) > MARKDOWN_TEXT:
        raise SlackError("msg_too_long")
    block = {"type": "markdown", "text": markdown}
    return Content(markdown, (block,), (), _metadata(args))


def _blocks(args: Args) -> tuple[Json, ...]:
    if not args.has("blocks"):
        return ()
    try:
        return check_blocks(args.values["blocks"])
    except BadBlocksError as bad:
        raise SlackError(bad.error, bad.messages) from None


def _says_something(attachment: Json) -> bool:
    blocks = attachment.get("blocks")
    return any(key in attachment for key in _ATTACHMENT_TEXTS) or (
        isinstance(blocks, list) and bool(blocks)
    )


def _metadata(args: Args) -> Json | None:
    if not args.has("metadata"):
        return None
    value: Any = args.json("metadata")
    if not isinstance(value, dict):
        raise SlackError("invalid_metadata_format")
    if not value:
        return None
    if not isinstance(value.get("event_type"), str) or not isinstance(
        value.get("event_payload"), dict
    ):
        raise SlackError("invalid_metadata_schema")
    return {"event_type": value["event_type"], "event_payload": value["event_payload"]}


def _thread_ts(call: Call) -> str | None:
    """The thread to post to. A ts that names nothing is let through: it posts at the root."""
    wanted = call.args.text("thread_ts")
    if wanted in ("", "0"):
        return None
    try:
        seconds = float(wanted)
    except ValueError:
        seconds = 0.0
    if not EARLIEST_THREAD < seconds <= call.now() + THREAD_AHEAD:
        message = f"[ERROR] {int(seconds * 1e6)} is not a valid thread_ts"
        raise SlackError("invalid_thread_ts", [message])
    return wanted
