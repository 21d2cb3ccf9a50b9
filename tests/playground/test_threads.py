"""Threads: roots, replies, tombstones, and replies whose root is gone."""

from __future__ import annotations

from slack_sdk.web.async_client import AsyncWebClient

from playground.harness import Control, ErrorOf

INC = "C0INCCHECK"


async def test_a_reply_to_a_reply_is_under_the_root(
    slack: AsyncWebClient, control: Control
) -> None:
    root = await control.ask("root")
    reply = await slack.chat_postMessage(channel=INC, text="one", thread_ts=root)
    nested = await slack.chat_postMessage(channel=INC, text="two", thread_ts=reply["ts"])
    assert nested["message"]["thread_ts"] == root
    thread = await slack.conversations_replies(channel=INC, ts=root)
    assert [m["text"] for m in thread["messages"]] == ["root", "one", "two"]
    assert thread["messages"][0]["reply_count"] == 2
    assert thread["messages"][0]["latest_reply"] == nested["ts"]


async def test_if_the_root_is_gone_the_reply_is_at_the_channel_s_root(
    slack: AsyncWebClient, control: Control
) -> None:
    question = await control.ask()
    await control("delete", user="maya", channel=INC, ts=question)
    answer = await slack.chat_postMessage(channel=INC, text="late", thread_ts=question)
    assert answer["ok"]
    assert "thread_ts" not in answer["message"]
    history = await slack.conversations_history(channel=INC, limit=1)
    assert history["messages"][0]["ts"] == answer["ts"]


async def test_a_deleted_root_with_replies_is_a_tombstone_that_takes_replies(
    slack: AsyncWebClient, control: Control, error_of: ErrorOf
) -> None:
    question = await control.ask()
    first = await slack.chat_postMessage(channel=INC, text="first", thread_ts=question)
    await control("delete", user="maya", channel=INC, ts=question)
    root = (await slack.conversations_replies(channel=INC, ts=question))["messages"][0]
    assert root["subtype"] == "tombstone"
    assert root["text"] == "This message was deleted."
    assert root["hidden"] is True
    assert root["user"] == "USLACKBOT"
    late = await slack.chat_postMessage(channel=INC, text="late", thread_ts=question)
    assert late["message"]["thread_ts"] == question
    for ts in (first["ts"], late["ts"]):
        await slack.chat_delete(channel=INC, ts=ts)
    gone = await error_of(slack.conversations_replies(channel=INC, ts=question))
    assert gone["error"] == "thread_not_found", "the tombstone goes with the last reply"


async def test_a_root_is_no_thread_any_more_without_its_last_reply(
    slack: AsyncWebClient, control: Control
) -> None:
    root = await control.ask("root")
    reply = await slack.chat_postMessage(channel=INC, text="one", thread_ts=root)
    await slack.chat_delete(channel=INC, ts=reply["ts"])
    history = await slack.conversations_history(channel=INC, limit=1)
    assert "thread_ts" not in history["messages"][0]


async def test_a_thread_ts_that_cannot_be_one_is_refused(
    slack: AsyncWebClient, error_of: ErrorOf
) -> None:
    for wanted in ("abc", "1.0", "9999999999.0"):
        refused = await error_of(slack.chat_postMessage(channel=INC, text="x", thread_ts=wanted))
        assert refused["error"] == "invalid_thread_ts"


async def test_the_bot_finds_its_own_post_by_metadata(
    slack: AsyncWebClient, control: Control
) -> None:
    root = await control.ask()
    marker = {"event_type": "oncall_reply", "event_payload": {"run": "r1", "epoch": 3}}
    await slack.chat_postMessage(channel=INC, text="answer", thread_ts=root, metadata=marker)
    plain = await slack.conversations_replies(channel=INC, ts=root)
    assert "metadata" not in plain["messages"][1]
    with_metadata = await slack.conversations_replies(
        channel=INC, ts=root, include_all_metadata=True
    )
    assert with_metadata["messages"][1]["metadata"] == marker


async def test_threads_are_read_in_pages_and_within_bounds(
    slack: AsyncWebClient, control: Control
) -> None:
    root = await control.ask("root")
    stamps = []
    for number in range(5):
        answer = await control("post", user="jonas", channel=INC, text=f"r{number}", thread_ts=root)
        stamps.append(answer["ts"])
    first = await slack.conversations_replies(channel=INC, ts=root, limit=4)
    assert [m["text"] for m in first["messages"]] == ["root", "r0", "r1", "r2"]
    assert first["has_more"] is True
    rest = await slack.conversations_replies(
        channel=INC, ts=root, limit=4, cursor=first["response_metadata"]["next_cursor"]
    )
    assert [m["text"] for m in rest["messages"]] == ["r3", "r4"]
    assert rest["has_more"] is False
    since = await slack.conversations_replies(channel=INC, ts=root, oldest=stamps[2])
    assert [m["text"] for m in since["messages"]] == ["root", "r3", "r4"]
    from_then = await slack.conversations_replies(
        channel=INC, ts=root, oldest=stamps[2], inclusive=True
    )
    assert [m["text"] for m in from_then["messages"]] == ["root", "r2", "r3", "r4"]


async def test_history_is_newest_first_and_forward_from_oldest(
    slack: AsyncWebClient, control: Control
) -> None:
    stamps = [await control.ask(f"m{number}") for number in range(4)]
    newest = await slack.conversations_history(channel=INC, limit=2)
    assert [m["text"] for m in newest["messages"]] == ["m3", "m2"]
    after = await slack.conversations_history(channel=INC, oldest=stamps[0], limit=2)
    assert [m["text"] for m in after["messages"]] == ["m2", "m1"]
    between = await slack.conversations_history(
        channel=INC, oldest=stamps[1], latest=stamps[1], inclusive=True
    )
    assert [m["text"] for m in between["messages"]] == ["m1"]


async def test_a_channel_s_history_has_no_replies_in_it(
    slack: AsyncWebClient, control: Control
) -> None:
    root = await control.ask("root")
    await slack.chat_postMessage(channel=INC, text="reply", thread_ts=root)
    history = await slack.conversations_history(channel=INC)
    assert "reply" not in [m["text"] for m in history["messages"]]
