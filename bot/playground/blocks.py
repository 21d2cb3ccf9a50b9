"""What Slack takes as blocks, and what it says about the rest.

Owns the sizes and shapes of Block Kit in messages. `check_blocks` is pure: it raises `BadBlocksError`
with Slack's error name and messages that point into the JSON, or returns the blocks as given.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from bot.playground.model import Json

MAX_BLOCKS = 50
MAX_SECTION_TEXT = 3_000
MAX_SECTION_FIELDS = 10
MAX_FIELD_TEXT = 2_000
MAX_HEADER_TEXT = 150
MAX_CONTEXT_ELEMENTS = 10
MAX_ACTIONS = 25
MAX_CONTEXT_ACTIONS = 5
MAX_BUTTON_TEXT = 75
MAX_BUTTON_VALUE = 2_000
MAX_ID = 255
MAX_URL = 3_000
MAX_MARKDOWN = 12_000
MAX_MESSAGE_TEXT = 13_200
MAX_TABLE_ROWS = 100
MAX_TABLE_COLUMNS = 20
MAX_TABLE_CHARACTERS = 10_000

_TEXT_TYPES = ("mrkdwn", "plain_text")
_ACTION_TYPES = (
    "button",
    "checkboxes",
    "datepicker",
    "datetimepicker",
    "timepicker",
    "radio_buttons",
    "overflow",
    "static_select",
    "external_select",
    "users_select",
    "conversations_select",
    "channels_select",
    "multi_static_select",
    "multi_users_select",
    "multi_conversations_select",
    "multi_channels_select",
    "workflow_button",
)
_ACCESSORIES = (*_ACTION_TYPES, "image")
_CONTEXT_ACTIONS = ("feedback_buttons", "icon_button")


class BadBlocksError(ValueError):
    """The blocks are refused. `error` is Slack's word for it, `messages` point at the places."""

    def __init__(self, error: str, messages: Sequence[str] = ()) -> None:
        super().__init__(error, *messages)
        self.error = error
        self.messages = tuple(messages)


def check_blocks(raw: Any) -> tuple[Json, ...]:
    """The blocks of a message, checked. Raises BadBlocksError."""
    blocks = _as_list(raw)
    problems: list[str] = []
    if len(blocks) > MAX_BLOCKS:
        problems.append(_at("", f"no more than {MAX_BLOCKS} items allowed"))
    seen_ids: set[str] = set()
    for place, block in enumerate(blocks):
        problems += _block_problems(block, f"/{place}", seen_ids)
    problems += _tables_problems(blocks)
    if problems:
        raise BadBlocksError("invalid_blocks", problems)
    too_long = any(
        block.get("type") == "markdown" and len(block["text"]) > MAX_MARKDOWN for block in blocks
    )
    if too_long or sum(map(len, _texts(blocks))) > MAX_MESSAGE_TEXT:
        raise BadBlocksError("msg_blocks_too_long")
    return tuple(blocks)


def _as_list(raw: Any) -> list[Json]:
    if isinstance(raw, str):
        try:
            raw = json.loads(raw)
        except ValueError:
            raise BadBlocksError("invalid_blocks_format") from None
    if not isinstance(raw, list):
        raise BadBlocksError("invalid_blocks_format")
    if not all(isinstance(block, dict) for block in raw):
        raise BadBlocksError("invalid_blocks", [_at("", "must be an object")])
    return raw


def _at(pointer: str, problem: str) -> str:
    return f"[ERROR] {problem} [json-pointer:/blocks{pointer}]"


def _block_problems(block: Json, at: str, seen_ids: set[str]) -> Iterator[str]:
    kind = block.get("type")
    check = _CHECKS.get(kind) if isinstance(kind, str) else None
    if check is None:
        yield _at(f"{at}/type", f"unsupported type: {kind}")
        return
    block_id = block.get("block_id")
    if isinstance(block_id, str):
        if len(block_id) > MAX_ID:
            yield _at(f"{at}/block_id", f"must be less than {MAX_ID + 1} characters")
        if block_id in seen_ids:
            yield _at(f"{at}/block_id", f"`block_id` {json.dumps(block_id)} already exists")
        seen_ids.add(block_id)
    yield from check(block, at)


def _text_problems(
    value: Any, at: str, limit: int, kinds: Sequence[str] = _TEXT_TYPES
) -> Iterator[str]:
    if not isinstance(value, dict) or not isinstance(value.get("text"), str):
        yield _at(at, "missing required field: text")
        return
    if value.get("type") not in kinds:
        yield _at(f"{at}/type", f"unsupported type: {value.get('type')}")
    yield from _length_problems(value["text"], f"{at}/text", limit)


def _length_problems(text: Any, at: str, limit: int, least: int = 1) -> Iterator[str]:
    if not isinstance(text, str):
        yield _at(at, "must be a string")
    elif len(text) < least:
        yield _at(at, f"must be more than {least - 1} characters")
    elif len(text) > limit:
        yield _at(at, f"must be less than {limit + 1} characters")


def _section(block: Json, at: str) -> Iterator[str]:
    if "text" not in block and not block.get("fields"):
        yield _at(at, "missing required field: text or fields")
    if "text" in block:
        yield from _text_problems(block["text"], f"{at}/text", MAX_SECTION_TEXT)
    fields = block.get("fields", [])
    if not isinstance(fields, list) or len(fields) > MAX_SECTION_FIELDS:
        yield _at(f"{at}/fields", f"no more than {MAX_SECTION_FIELDS} items allowed")
        return
    for place, value in enumerate(fields):
        yield from _text_problems(value, f"{at}/fields/{place}", MAX_FIELD_TEXT)
    if "accessory" in block:
        yield from _element_problems(block["accessory"], f"{at}/accessory", _ACCESSORIES)


def _header(block: Json, at: str) -> Iterator[str]:
    yield from _text_problems(block.get("text"), f"{at}/text", MAX_HEADER_TEXT, ("plain_text",))


def _elements(block: Json, at: str, most: int) -> Iterator[tuple[str, Any] | str]:
    elements = block.get("elements")
    if not isinstance(elements, list) or not elements:
        yield _at(f"{at}/elements", "no less than 1 items allowed")
    elif len(elements) > most:
        yield _at(f"{at}/elements", f"no more than {most} items allowed")
    else:
        for place, element in enumerate(elements):
            yield f"{at}/elements/{place}", element


def _context(block: Json, at: str) -> Iterator[str]:
    for item in _elements(block, at, MAX_CONTEXT_ELEMENTS):
        if isinstance(item, str):
            yield item
        elif isinstance(item[1], dict) and item[1].get("type") == "image":
            yield from _image(item[1], item[0])
        else:
            yield from _text_problems(item[1], item[0], MAX_SECTION_TEXT)


def _actions(block: Json, at: str) -> Iterator[str]:
    yield from _interactive(block, at, MAX_ACTIONS, _ACTION_TYPES)


def _context_actions(block: Json, at: str) -> Iterator[str]:
    yield from _interactive(block, at, MAX_CONTEXT_ACTIONS, _CONTEXT_ACTIONS)


def _interactive(block: Json, at: str, most: int, kinds: Sequence[str]) -> Iterator[str]:
    seen: set[str] = set()
    for item in _elements(block, at, most):
        if isinstance(item, str):
            yield item
            continue
        pointer, element = item
        yield from _element_problems(element, pointer, kinds)
        action_id = element.get("action_id") if isinstance(element, dict) else None
        if isinstance(action_id, str):
            if action_id in seen:
                problem = f"`action_id` {json.dumps(action_id)} already exists"
                yield _at(f"{pointer}/action_id", problem)
            seen.add(action_id)


def _element_problems(element: Any, at: str, kinds: Sequence[str]) -> Iterator[str]:
    if not isinstance(element, dict) or element.get("type") not in kinds:
        kind = element.get("type") if isinstance(element, dict) else None
        yield _at(f"{at}/type", f"unsupported type: {kind}")
        return
    for key, limit in (("action_id", MAX_ID), ("value", MAX_BUTTON_VALUE), ("url", MAX_URL)):
        if key in element:
            yield from _length_problems(element[key], f"{at}/{key}", limit)
    match element["type"]:
        case "button":
            yield from _text_problems(
                element.get("text"), f"{at}/text", MAX_BUTTON_TEXT, ("plain_text",)
            )
            if element.get("style") not in (None, "primary", "danger"):
                yield _at(f"{at}/style", f"unsupported style: {element['style']}")
        case "image":
            yield from _image(element, at)


def _image(block: Json, at: str) -> Iterator[str]:
    if "slack_file" not in block:
        yield from _length_problems(block.get("image_url"), f"{at}/image_url", MAX_URL)
    yield from _length_problems(block.get("alt_text"), f"{at}/alt_text", 2_000)


def _markdown(block: Json, at: str) -> Iterator[str]:
    text = block.get("text")
    if not isinstance(text, str) or not text:
        yield _at(f"{at}/text", "must be more than 0 characters")


def _rich_text(block: Json, at: str) -> Iterator[str]:
    kinds = (
        "rich_text_section",
        "rich_text_list",
        "rich_text_preformatted",
        "rich_text_quote",
    )
    for item in _elements(block, at, 10_000):
        if isinstance(item, str):
            yield item
        elif not isinstance(item[1], dict) or item[1].get("type") not in kinds:
            yield _at(f"{item[0]}/type", "unsupported type")


def _table(block: Json, at: str) -> Iterator[str]:
    rows = block.get("rows")
    if not isinstance(rows, list) or not rows:
        yield _at(f"{at}/rows", "no less than 1 items allowed")
        return
    if len(rows) > MAX_TABLE_ROWS:
        yield _at(f"{at}/rows", f"no more than {MAX_TABLE_ROWS} items allowed")
    for place, row in enumerate(rows):
        if not isinstance(row, list):
            yield _at(f"{at}/rows/{place}", "must be an array")
        elif len(row) > MAX_TABLE_COLUMNS:
            yield _at(f"{at}/rows/{place}", f"no more than {MAX_TABLE_COLUMNS} items allowed")


def _tables_problems(blocks: Sequence[Json]) -> Iterator[str]:
    tables = [block for block in blocks if block.get("type") == "table"]
    if sum(map(len, _texts(tables))) > MAX_TABLE_CHARACTERS:
        yield _at("", f"table cells must be less than {MAX_TABLE_CHARACTERS + 1} characters")


def _anything(_block: Json, _at: str) -> Iterator[str]:
    yield from ()


_CHECKS: Mapping[str, Callable[[Json, str], Iterator[str]]] = {
    "section": _section,
    "header": _header,
    "context": _context,
    "actions": _actions,
    "context_actions": _context_actions,
    "markdown": _markdown,
    "rich_text": _rich_text,
    "table": _table,
    "image": _image,
    "divider": _anything,
    "video": _anything,
    "file": _anything,
}


def _texts(value: Any) -> Iterator[str]:
    """Every text that a reader would see, wherever it is nested."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "text" and isinstance(inner, str):
                yield inner
            else:
                yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)
