"""The same calls to the playground and to `backlot`, an emulator that others measured on slack.com.

Each scenario is run against both, and what a bot would branch on has to be the same: ok, the error,
Slack's messages about it, the keys of the answer and of its message. Where the two differ on
purpose, `KNOWN` says so with the reason.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import aiohttp
import backlot
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.playground import Running
from playground.harness import Control

CORPUS = [
    {
        "source_type": "slack",
        "channel": "inc-checkout",
        "author_email": "maya@nordshop.example",
        "created": "2026-02-10T18:00:00Z",
        "content": "not the bot's message",
    }
]

KNOWN: dict[str, str] = {
    "bot_profile": "backlot models no apps; Slack sends it, and app_id, with a bot's messages",
    "app_id": "as bot_profile",
    "attachments": "backlot looks whether attachments say something, and does not keep them",
}
"""Keys that may be in one answer and not in the other, and why."""

IN_ECHO: dict[str, str] = {
    "parent_user_id": "backlot sends it on replies that are read, not in the echo of a post",
}

Caller = Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]


Both = tuple[Caller, Caller, str, str, str, str]


@pytest.fixture(scope="module")
def emulator() -> Iterator[backlot.Server]:
    with backlot.serve(CORPUS, telemetry=False) as server:
        yield server


@pytest.fixture
async def both(running: Running, control: Control, emulator: backlot.Server) -> Both:
    """Callers of the playground and of backlot, and in each a channel and another's message."""
    ours = AsyncWebClient(
        token="xoxb-playground-oncall", base_url=running.api_url, retry_handlers=[]
    )
    theirs = AsyncWebClient(
        token=emulator.token, base_url=f"{emulator.base_url}/slack/api/", retry_handlers=[]
    )
    channel = (await theirs.conversations_list())["channels"][0]["id"]
    foreign = (await theirs.conversations_history(channel=channel))["messages"][-1]["ts"]
    own_foreign = await control.ask("not the bot's message")

    def caller(client: AsyncWebClient) -> Caller:
        async def call(method: str, args: dict[str, Any]) -> dict[str, Any]:
            if client is ours:
                await control("advance", seconds=2)
            try:
                answer = (await client.api_call(method, data=args)).data
            except SlackApiError as refused:
                answer = refused.response.data
            assert isinstance(answer, dict)
            return answer

        return call

    return caller(ours), caller(theirs), "C0INCCHECK", channel, own_foreign, foreign


def shape(answer: dict[str, Any]) -> dict[str, Any]:
    """What a bot can branch on: no ids, no times, no texts of ours."""
    seen: dict[str, Any] = {
        "ok": answer["ok"],
        "error": answer.get("error"),
        "metadata": (answer.get("response_metadata") or {}).get("messages"),
        "keys": keys(answer),
    }
    if isinstance(answer.get("message"), dict):
        seen["message"] = message_shape(answer["message"])
        seen["message"]["keys"] -= set(IN_ECHO)
    if "messages" in answer:
        seen["messages"] = [message_shape(m) for m in answer["messages"]]
    return seen


def keys(value: dict[str, Any]) -> set[str]:
    return set(value) - set(KNOWN)


def message_shape(message: dict[str, Any]) -> dict[str, Any]:
    return {
        "keys": keys(message),
        "text": message["text"],
        "subtype": message.get("subtype"),
        "in_thread": "thread_ts" in message,
        "is_root": message.get("thread_ts") == message.get("ts"),
        "replies": message.get("reply_count"),
        "reactions": [(r["name"], r["count"]) for r in message.get("reactions", [])],
    }


Step = tuple[str, dict[str, Any]]


async def answers(
    call: Caller, channel: str, foreign: str, steps: list[Step]
) -> list[dict[str, Any]]:
    """Run a scenario. `$N` stands for the ts of the answer of step N, `$other` for another's."""
    stamps: dict[str, str] = {"$other": foreign}
    seen = []
    for place, (method, args) in enumerate(steps):
        filled = {key: stamps.get(value, value) for key, value in args.items()}
        answer = await call(method, {"channel": channel, **filled})
        stamps[f"${place}"] = str(answer.get("ts"))
        seen.append(answer)
    return seen


POST = "chat.postMessage"

SCENARIOS: dict[str, list[Step]] = {
    "post": [
        (POST, {"text": "one"}),
        (POST, {"text": ""}),
        (POST, {}),
        (POST, {"text": " "}),
        (POST, {"text": "x", "blocks": "abc"}),
        (POST, {"text": "x", "blocks": "{}"}),
        (POST, {"blocks": "[]"}),
        (POST, {"attachments": '[{"text": "only here"}]'}),
        (POST, {"attachments": '[{"color": "good"}]'}),
        (POST, {"channel": "C0NOWHERE", "text": "x"}),
        (POST, {"channel": "#inc-checkout", "text": "by name"}),
        (POST, {"channel": "", "text": "x"}),
    ],
    "update": [
        (POST, {"text": "one"}),
        ("chat.update", {"ts": "$0", "text": "two"}),
        ("chat.update", {"ts": "$0", "text": ""}),
        ("chat.update", {"ts": "1700000000.000001", "text": "x"}),
        ("chat.update", {"ts": "$other", "text": "x"}),
        ("chat.update", {"text": "x"}),
        ("chat.update", {"channel": "inc-checkout", "ts": "$0", "text": "x"}),
        ("conversations.replies", {"ts": "$0"}),
    ],
    "delete": [
        (POST, {"text": "one"}),
        ("chat.delete", {"ts": "$0"}),
        ("chat.delete", {"ts": "$0"}),
        ("chat.delete", {"ts": "$other"}),
        ("chat.delete", {}),
        ("conversations.replies", {"ts": "$0"}),
    ],
    "reactions": [
        (POST, {"text": "one"}),
        ("reactions.add", {"timestamp": "$0", "name": "eyes"}),
        ("reactions.add", {"timestamp": "$0", "name": "eyes"}),
        ("reactions.get", {"timestamp": "$0"}),
        ("reactions.remove", {"timestamp": "$0", "name": "eyes"}),
        ("reactions.remove", {"timestamp": "$0", "name": "eyes"}),
        ("reactions.get", {"timestamp": "$0"}),
        ("reactions.add", {"timestamp": "1700000000.000001", "name": "eyes"}),
        ("reactions.add", {"timestamp": "0", "name": "eyes"}),
        ("reactions.add", {"timestamp": "$0"}),
        ("reactions.add", {"timestamp": "$0", "name": ""}),
        ("reactions.remove", {"timestamp": "$0"}),
        ("reactions.get", {"timestamp": "0"}),
        ("reactions.add", {"channel": "C0NOWHERE", "timestamp": "$0", "name": "eyes"}),
    ],
    "replies": [
        (POST, {"text": "root"}),
        (POST, {"text": "first", "thread_ts": "$0"}),
        (POST, {"text": "to the reply", "thread_ts": "$1"}),
        ("conversations.replies", {"ts": "$0"}),
        ("conversations.replies", {"ts": "$1"}),
        ("conversations.replies", {"ts": "1700000000.000001"}),
        ("conversations.replies", {"ts": ""}),
        ("conversations.replies", {}),
        ("conversations.replies", {"channel": "C0NOWHERE", "ts": "$0"}),
    ],
    "orphan threads": [
        (POST, {"text": "question"}),
        ("chat.delete", {"ts": "$0"}),
        (POST, {"text": "late answer", "thread_ts": "$0"}),
        (POST, {"text": "x", "thread_ts": "abc"}),
        (POST, {"text": "x", "thread_ts": "9999999999.0"}),
        (POST, {"text": "x", "thread_ts": ""}),
    ],
    "tombstones": [
        (POST, {"text": "question"}),
        (POST, {"text": "answer", "thread_ts": "$0"}),
        ("chat.delete", {"ts": "$0"}),
        ("conversations.replies", {"ts": "$0"}),
        (POST, {"text": "second", "thread_ts": "$0"}),
        ("chat.update", {"ts": "$0", "text": "x"}),
        ("chat.delete", {"ts": "$0"}),
        ("chat.delete", {"ts": "$1"}),
        ("chat.delete", {"ts": "$4"}),
        ("conversations.replies", {"ts": "$0"}),
    ],
}


@pytest.mark.parametrize("name", SCENARIOS)
async def test_the_same_calls_give_the_same_answers(both: Both, name: str) -> None:
    call_ours, call_theirs, channel, their_channel, foreign, their_foreign = both
    ours = await answers(call_ours, channel, foreign, SCENARIOS[name])
    theirs = await answers(call_theirs, their_channel, their_foreign, SCENARIOS[name])
    for step, our, their in zip(SCENARIOS[name], ours, theirs, strict=True):
        assert shape(our) == shape(their), step


@pytest.mark.parametrize("token", [None, "", "xoxb-wrong", "nonsense"])
@pytest.mark.parametrize("verb", ["GET", "POST"])
async def test_the_same_bad_tokens_are_refused_the_same_way(
    running: Running,
    emulator: backlot.Server,
    session: aiohttp.ClientSession,
    token: str | None,
    verb: str,
) -> None:
    seen = []
    for base in (running.api_url, f"{emulator.base_url}/slack/api/"):
        for method in ("auth.test", POST, "conversations.history", "reactions.add"):
            headers = {} if token is None else {"authorization": f"Bearer {token}"}
            async with session.request(verb, base + method, headers=headers) as response:
                answer = await response.json()
                seen.append((response.status, answer["ok"], answer["error"]))
    assert seen[:4] == seen[4:]


async def test_where_slack_s_limits_are_known_the_playground_is_stricter(both: Both) -> None:
    """backlot says itself that it models no text limits and no block limits."""
    call_ours, call_theirs, channel, their_channel, *_ = both
    header = '[{"type": "header", "text": {"type": "plain_text", "text": "%s"}}]' % ("x" * 151)
    steps: list[Step] = [
        (POST, {"text": "x" * 20_000}),
        ("chat.update", {"ts": "$0", "text": "x" * 4_001}),
        (POST, {"text": "x", "blocks": header}),
    ]
    ours = await answers(call_ours, channel, "", steps)
    theirs = await answers(call_theirs, their_channel, "", steps)
    assert [a["ok"] for a in theirs] == [True, True, True]
    assert [a.get("error") for a in ours] == [None, "msg_too_long", "invalid_blocks"]
    assert (len(ours[0]["message"]["text"]), len(theirs[0]["message"]["text"])) == (16_000, 20_000)
