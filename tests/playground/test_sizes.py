"""Slack's sizes, over HTTP with Slack's own client."""

from __future__ import annotations

from typing import Any

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from playground.harness import Control, ErrorOf, Json

INC = "C0INCCHECK"


def section(text: str) -> Json:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


def button(number: int) -> Json:
    return {
        "type": "button",
        "text": {"type": "plain_text", "text": "go"},
        "action_id": f"a{number}",
    }


async def test_a_posted_text_is_cut_silently_at_sixteen_thousand(slack: AsyncWebClient) -> None:
    answer = await slack.chat_postMessage(channel=INC, text="x" * 40_000)
    assert answer["ok"]
    assert len(answer["message"]["text"]) == 16_000
    history = await slack.conversations_history(channel=INC, limit=1)
    assert len(history["messages"][0]["text"]) == 16_000


async def test_an_update_over_four_thousand_is_refused(
    slack: AsyncWebClient, error_of: ErrorOf
) -> None:
    ts = (await slack.chat_postMessage(channel=INC, text="x"))["ts"]
    assert (await slack.chat_update(channel=INC, ts=ts, text="y" * 4_000))["ok"]
    refused = await error_of(slack.chat_update(channel=INC, ts=ts, text="y" * 4_001))
    assert refused["error"] == "msg_too_long"


@pytest.mark.parametrize(
    ("fits", "breaks", "pointer"),
    [
        ([section("x" * 3_000)], [section("x" * 3_001)], "/blocks/0/text/text"),
        ([{"type": "divider"}] * 50, [{"type": "divider"}] * 51, "/blocks"),
        (
            [{"type": "header", "text": {"type": "plain_text", "text": "x" * 150}}],
            [{"type": "header", "text": {"type": "plain_text", "text": "x" * 151}}],
            "/blocks/0/text/text",
        ),
        (
            [{"type": "context", "elements": [{"type": "mrkdwn", "text": "x"}] * 10}],
            [{"type": "context", "elements": [{"type": "mrkdwn", "text": "x"}] * 11}],
            "/blocks/0/elements",
        ),
        (
            [{"type": "actions", "elements": [button(n) for n in range(25)]}],
            [{"type": "actions", "elements": [button(n) for n in range(26)]}],
            "/blocks/0/elements",
        ),
        (
            [{"type": "context_actions", "elements": [{"type": "icon_button"}] * 5}],
            [{"type": "context_actions", "elements": [{"type": "icon_button"}] * 6}],
            "/blocks/0/elements",
        ),
        (
            [{"type": "table", "rows": [[{"type": "raw_text", "text": "x"}]] * 100}],
            [{"type": "table", "rows": [[{"type": "raw_text", "text": "x"}]] * 101}],
            "/blocks/0/rows",
        ),
        (
            [{"type": "table", "rows": [[{"type": "raw_text", "text": "x"}] * 20]}],
            [{"type": "table", "rows": [[{"type": "raw_text", "text": "x"}] * 21]}],
            "/blocks/0/rows/0",
        ),
        (
            [{"type": "table", "rows": [[{"type": "raw_text", "text": "x" * 10_000}]]}],
            [{"type": "table", "rows": [[{"type": "raw_text", "text": "x" * 10_001}]]}],
            "/blocks",
        ),
    ],
    ids=[
        "section",
        "blocks",
        "header",
        "context",
        "actions",
        "context_actions",
        "table rows",
        "table columns",
        "table characters",
    ],
)
async def test_blocks_over_a_limit_are_invalid_and_the_place_is_named(
    slack: AsyncWebClient, error_of: ErrorOf, fits: list[Json], breaks: list[Json], pointer: str
) -> None:
    assert (await slack.chat_postMessage(channel=INC, text="x", blocks=fits))["ok"]
    refused = await error_of(slack.chat_postMessage(channel=INC, text="x", blocks=breaks))
    assert refused["error"] == "invalid_blocks"
    assert f"[json-pointer:{pointer}]" in refused["response_metadata"]["messages"][0]


async def test_a_message_s_markdown_is_limited_each_and_in_all(
    slack: AsyncWebClient, control: Control, error_of: ErrorOf
) -> None:
    def blocks(*sizes: int) -> list[Json]:
        return [{"type": "markdown", "text": "x" * size} for size in sizes]

    assert (await slack.chat_postMessage(channel=INC, text="x", blocks=blocks(12_000)))["ok"]
    assert (await slack.chat_postMessage(channel=INC, text="x", blocks=blocks(6_600, 6_600)))["ok"]
    for sizes in ((12_001,), (6_600, 6_601)):
        await control("advance", seconds=5)
        refused = await error_of(
            slack.chat_postMessage(channel=INC, text="x", blocks=blocks(*sizes))
        )
        assert refused["error"] == "msg_blocks_too_long"


async def test_markdown_text_stands_alone(
    slack: AsyncWebClient, control: Control, error_of: ErrorOf
) -> None:
    assert (await slack.chat_postMessage(channel=INC, markdown_text="**yes**"))["ok"]
    refused = await error_of(slack.chat_postMessage(channel=INC, markdown_text="a", text="b"))
    assert refused["error"] == "markdown_text_conflict"
    refused = await error_of(
        slack.chat_postMessage(channel=INC, markdown_text="a", blocks=[{"type": "divider"}])
    )
    assert refused["error"] == "markdown_text_conflict"
    await control("advance", seconds=5)
    refused = await error_of(slack.chat_postMessage(channel=INC, markdown_text="x" * 12_001))
    assert refused["error"] == "msg_too_long"


@pytest.mark.parametrize(
    ("blocks", "error"),
    [
        ("not json", "invalid_blocks_format"),
        ({"type": "divider"}, "invalid_blocks_format"),
        ([{"type": "fancy"}], "invalid_blocks"),
        ([{"type": "section"}], "invalid_blocks"),
        ([section("")], "invalid_blocks"),
        ([{"type": "actions", "elements": [button(1), button(1)]}], "invalid_blocks"),
        ([{"type": "markdown", "text": ""}], "invalid_blocks"),
        (["text"], "invalid_blocks"),
    ],
)
async def test_malformed_blocks_are_refused(
    slack: AsyncWebClient, error_of: ErrorOf, blocks: Any, error: str
) -> None:
    call = slack.api_call("chat.postMessage", json={"channel": INC, "text": "x", "blocks": blocks})
    assert (await error_of(call))["error"] == error
