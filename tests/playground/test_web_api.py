"""The Web API's doors: tokens, bodies, scopes, membership; and the smaller methods."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.playground import Playground, Running
from playground.harness import Control, ErrorOf, Json

INC, GENERAL, DEBUG = "C0INCCHECK", "C0GENERAL", "C0DEBUG"
Raw = Callable[..., Awaitable[Json]]
BEARER = {"authorization": "Bearer xoxb-playground-oncall"}


@pytest.fixture
def raw(running: Running, session: aiohttp.ClientSession) -> Raw:
    async def request(method: str, verb: str = "POST", **kwargs: Any) -> Json:
        async with session.request(verb, running.api_url + method, **kwargs) as response:
            assert response.status == 200
            answer: Json = await response.json()
            return answer

    return request


async def test_tokens_are_taken_from_the_header_or_the_form_and_nowhere_else(raw: Raw) -> None:
    token = "xoxb-playground-oncall"
    assert (await raw("auth.test", headers=BEARER))["ok"]
    assert (await raw("auth.test", data={"token": token}))["ok"]
    assert (await raw("auth.test"))["error"] == "not_authed"
    assert (await raw("auth.test", json={"token": token}))["error"] == "not_authed"
    assert (await raw("auth.test", params={"token": token}))["error"] == "invalid_auth"
    for header in ("Bearer xoxb-other", "bearer " + token, "Basic abc"):
        answer = await raw("auth.test", headers={"authorization": header})
        assert answer["error"] == ("invalid_auth" if "other" in header else "not_authed")


async def test_an_unknown_method_is_named_so(raw: Raw) -> None:
    assert (await raw("chat.shout", headers=BEARER))["error"] == "unknown_method"


async def test_bodies_are_json_or_forms_and_reads_take_no_json(raw: Raw) -> None:
    body = {"channel": INC, "text": "x"}
    assert (await raw("chat.postMessage", json=body, headers=BEARER))["ok"]
    assert (await raw("chat.postMessage", data=body, headers=BEARER))["ok"]
    assert (await raw("conversations.info", "GET", params={"channel": INC}, headers=BEARER))["ok"]
    ignored = await raw("conversations.info", json={"channel": INC}, headers=BEARER)
    assert ignored["error"] == "invalid_arguments"
    assert ignored["response_metadata"]["messages"] == ["[ERROR] missing required field: channel"]
    broken = {**BEARER, "content-type": "application/json"}
    assert (await raw("auth.test", data="{", headers=broken))["error"] == "invalid_json"
    xml = {**BEARER, "content-type": "text/xml"}
    assert (await raw("auth.test", data="<a/>", headers=xml))["error"] == "invalid_post_type"


async def test_granted_scopes_are_in_a_header(slack: AsyncWebClient, control: Control) -> None:
    answer = await slack.auth_test()
    assert "chat:write" in answer.headers["x-oauth-scopes"].split(",")
    await control("app", scopes=["chat:write", "users:read"])
    assert (await slack.auth_test()).headers["x-oauth-scopes"] == "chat:write,users:read"


@pytest.mark.parametrize(
    ("method", "args", "needed"),
    [
        ("chat.postMessage", {"channel": INC, "text": "x"}, "chat:write"),
        ("reactions.add", {"channel": INC, "timestamp": "1.0", "name": "eyes"}, "reactions:write"),
        ("conversations.history", {"channel": INC}, "channels:history"),
        ("conversations.replies", {"channel": INC, "ts": "1.0"}, "channels:history"),
        ("conversations.info", {"channel": INC}, "channels:read"),
        ("users.info", {"user": "U0MAYA"}, "users:read"),
        ("usergroups.users.list", {"usergroup": "S0ONCALL"}, "usergroups:read"),
        ("conversations.join", {"channel": GENERAL}, "channels:join"),
    ],
)
async def test_a_missing_scope_is_named_with_those_provided(
    raw: Raw, control: Control, method: str, args: dict[str, str], needed: str
) -> None:
    await control("app", scopes=["team:read"])
    answer = await raw(method, data=args, headers=BEARER)
    assert answer["error"] == "missing_scope"
    assert answer["needed"] == needed
    assert answer["provided"] == "team:read"


async def test_private_channels_need_the_scopes_of_groups(
    slack: AsyncWebClient, control: Control, error_of: ErrorOf
) -> None:
    created = await control(
        "channels", user="maya", name="inc-secret", private=True, members=["oncall"]
    )
    channel = created["channel"]["id"]
    scopes = ["channels:history", "channels:read", "groups:read"]
    await control("app", scopes=scopes)
    assert (await slack.conversations_info(channel=channel))["channel"]["is_private"]
    refused = await error_of(slack.conversations_history(channel=channel))
    assert (refused["error"], refused["needed"]) == ("missing_scope", "groups:history")


async def test_a_private_channel_without_the_app_does_not_exist_for_it(
    slack: AsyncWebClient, control: Control, error_of: ErrorOf
) -> None:
    created = await control("channels", user="maya", name="inc-secret", private=True)
    channel = created["channel"]["id"]
    for call in (
        slack.conversations_info(channel=channel),
        slack.chat_postMessage(channel=channel, text="x"),
        slack.conversations_history(channel=channel),
    ):
        assert (await error_of(call))["error"] == "channel_not_found"


async def test_a_public_channel_without_the_app_is_seen_but_not_read_or_written(
    slack: AsyncWebClient, error_of: ErrorOf
) -> None:
    assert (await slack.conversations_info(channel=GENERAL))["channel"]["is_member"] is False
    for call in (
        slack.chat_postMessage(channel=GENERAL, text="x"),
        slack.conversations_history(channel=GENERAL),
        slack.conversations_replies(channel=GENERAL, ts="1.0"),
    ):
        assert (await error_of(call))["error"] == "not_in_channel"
    for call in (
        slack.chat_postMessage(channel="C0NOWHERE", text="x"),
        slack.conversations_info(channel="C0NOWHERE"),
    ):
        assert (await error_of(call))["error"] == "channel_not_found"


async def test_an_archived_channel_takes_nothing(
    slack: AsyncWebClient, control: Control, error_of: ErrorOf
) -> None:
    ts = await control.ask("x")
    await control("archive", channel="inc-checkout")
    refused = await error_of(slack.chat_postMessage(channel=INC, text="x"))
    assert refused["error"] == "is_archived"
    refused = await error_of(slack.reactions_add(channel=INC, timestamp=ts, name="eyes"))
    assert refused["error"] == "is_archived"


async def test_only_own_messages_are_changed_or_deleted(
    slack: AsyncWebClient, control: Control, error_of: ErrorOf
) -> None:
    ts = await control.ask("x")
    refused = await error_of(slack.chat_update(channel=INC, ts=ts, text="y"))
    assert refused["error"] == "cant_update_message"
    assert (await error_of(slack.chat_delete(channel=INC, ts=ts)))["error"] == "cant_delete_message"
    gone = await error_of(slack.chat_update(channel=INC, ts="1.0", text="y"))
    assert gone["error"] == "message_not_found"


async def test_an_update_with_text_alone_takes_the_blocks_away(slack: AsyncWebClient) -> None:
    blocks = [{"type": "section", "text": {"type": "mrkdwn", "text": "thinking"}}]
    ts = (await slack.chat_postMessage(channel=INC, text="t", blocks=blocks))["ts"]
    updated = await slack.chat_update(channel=INC, ts=ts, text="done")
    assert updated["message"]["blocks"][0]["type"] == "rich_text"
    assert updated["message"]["edited"]["user"] == "U0ONCALL"


async def test_without_text_blocks_or_attachments_it_is_no_text(
    slack: AsyncWebClient, error_of: ErrorOf
) -> None:
    refused = await error_of(slack.api_call("chat.postMessage", json={"channel": INC}))
    assert refused["error"] == "no_text"
    alert = [{"text": "only here"}]
    assert (await slack.api_call("chat.postMessage", json={"channel": INC, "attachments": alert}))[
        "ok"
    ]


async def test_reactions_are_one_a_person_and_emoji(
    slack: AsyncWebClient, control: Control, error_of: ErrorOf
) -> None:
    ts = await control.ask("x")
    target: Json = {"channel": INC, "timestamp": ts}
    await slack.reactions_add(name="eyes", **target)
    again = await error_of(slack.reactions_add(name="eyes", **target))
    assert again["error"] == "already_reacted"
    await control("react", user="maya", channel=INC, ts=ts, name="eyes")
    message = (await slack.reactions_get(**target))["message"]
    assert message["reactions"] == [{"name": "eyes", "users": ["U0ONCALL", "U0MAYA"], "count": 2}]
    await slack.reactions_remove(name="eyes", **target)
    none = await error_of(slack.reactions_remove(name="eyes", **target))
    assert none["error"] == "no_reaction"
    for bad in (":eyes:", "EYES", "two words"):
        assert (await error_of(slack.reactions_add(name=bad, **target)))["error"] == "invalid_name"
    lost = await error_of(slack.reactions_add(channel=INC, timestamp="1.0", name="eyes"))
    assert lost["error"] == "message_not_found"


async def test_one_user_s_reactions_on_a_message_have_a_ceiling(
    slack: AsyncWebClient, control: Control, error_of: ErrorOf
) -> None:
    ts = await control.ask("x")
    for number in range(23):
        await slack.reactions_add(channel=INC, timestamp=ts, name=f"e{number}")
    refused = await error_of(slack.reactions_add(channel=INC, timestamp=ts, name="more"))
    assert refused["error"] == "too_many_reactions"


async def test_people_are_members_guests_strangers_or_bots(
    slack: AsyncWebClient, control: Control, error_of: ErrorOf
) -> None:
    async def user(key: str) -> Json:
        found: Json = (await slack.users_info(user=key))["user"]
        return found

    assert (await user("U0MAYA"))["is_restricted"] is False
    guest = await user("U0GUEST")
    assert (guest["is_restricted"], guest["is_ultra_restricted"]) == (True, False)
    await control("user", user="gita", role="single_channel_guest")
    assert (await user("U0GUEST"))["is_ultra_restricted"] is True
    outsider = await user("U0OUTSIDE")
    assert (outsider["team_id"], outsider["is_stranger"]) == ("T0FJORDPAY", True)
    assert (await user("U0ALERTS"))["is_bot"] is True
    assert (await error_of(slack.users_info(user="U0NOBODY")))["error"] == "user_not_found"


async def test_conversations_are_listed_by_kind(slack: AsyncWebClient, control: Control) -> None:
    await control("channels", user="maya", name="inc-secret", private=True, members=["oncall"])
    public = await slack.conversations_list()
    assert {c["name"] for c in public["channels"]} == {
        "general",
        "inc-checkout",
        "inc-fjordpay-shared",
        "oncall-debug",
    }
    shared = next(c for c in public["channels"] if c["name"] == "inc-fjordpay-shared")
    assert shared["is_ext_shared"] is True
    mine = await slack.users_conversations(types="public_channel,private_channel")
    assert "inc-secret" in {c["name"] for c in mine["channels"]}
    assert "general" not in {c["name"] for c in mine["channels"]}
    first = await slack.conversations_members(channel=INC, limit=2)
    assert first["members"] == ["U0MAYA", "U0JONAS"]
    rest = await slack.conversations_members(
        channel=INC, limit=10, cursor=first["response_metadata"]["next_cursor"]
    )
    assert rest["members"] == ["U0GUEST", "U0ALERTS", "U0ONCALL"]


async def test_joining_opening_and_links(slack: AsyncWebClient, control: Control) -> None:
    await control("app", scopes=["channels:join", "chat:write", "im:write", "im:history"])
    assert (await slack.conversations_join(channel=GENERAL))["channel"]["is_member"] is True
    again = await slack.conversations_join(channel=GENERAL)
    assert again["warning"] == "already_in_channel"
    direct = (await slack.conversations_open(users="U0MAYA"))["channel"]["id"]
    assert direct.startswith("D")
    sent = await slack.chat_postMessage(channel=direct, text="hello")
    link = await slack.chat_getPermalink(channel=direct, message_ts=sent["ts"])
    assert link["permalink"].endswith(f"/archives/{direct}/p{sent['ts'].replace('.', '')}")


async def test_the_app_token_opens_connections_and_nothing_else(
    running: Running, slack: AsyncWebClient, error_of: ErrorOf
) -> None:
    app = AsyncWebClient(token="xapp-playground-oncall", base_url=running.api_url)
    assert (await error_of(app.chat_postMessage(channel=INC, text="x")))["error"] == (
        "not_allowed_token_type"
    )
    refused = await error_of(slack.apps_connections_open(app_token="xoxb-playground-oncall"))
    assert refused["error"] == "not_allowed_token_type"


async def test_a_thread_s_status_goes_with_a_reply_or_after_two_minutes(
    slack: AsyncWebClient, control: Control, pg: Playground
) -> None:
    ts = await control.ask()
    where: Json = {"channel_id": INC, "thread_ts": ts}
    await slack.assistant_threads_setStatus(status="is reading deploy 4471…", **where)
    assert pg.statuses()[INC, ts].text == "is reading deploy 4471…"
    await slack.chat_postMessage(channel=INC, text="answer", thread_ts=ts)
    assert pg.statuses() == {}
    await slack.assistant_threads_setStatus(status="is thinking…", **where)
    await control("advance", seconds=120)
    assert pg.statuses() == {}


async def test_an_app_that_is_no_agent_has_no_sessions(
    slack: AsyncWebClient, control: Control, error_of: ErrorOf
) -> None:
    ts = await control.ask()
    await control("app", is_agent=False)
    body = {"channel_id": INC, "thread_ts": ts, "status": "processing"}
    assert (await error_of(slack.api_call("agents.sessions.setStatus", json=body)))["error"]


async def test_the_usergroup_s_members_and_the_home_view(
    slack: AsyncWebClient, error_of: ErrorOf
) -> None:
    group = await slack.usergroups_users_list(usergroup="S0ONCALL")
    assert group["users"] == ["U0MAYA", "U0JONAS"]
    unknown = await error_of(slack.usergroups_users_list(usergroup="S0OTHER"))
    assert unknown["error"] == "no_such_subteam"
    view = {"type": "home", "blocks": []}
    assert (await slack.views_publish(user_id="U0MAYA", view=view))["view"]["type"] == "home"


async def test_an_ephemeral_message_is_not_stored(slack: AsyncWebClient, error_of: ErrorOf) -> None:
    assert (await slack.chat_postEphemeral(channel=INC, user="U0MAYA", text="psst"))["message_ts"]
    history = await slack.conversations_history(channel=INC)
    assert "psst" not in [m["text"] for m in history["messages"]]
    refused = await error_of(slack.chat_postEphemeral(channel=INC, user="U0OUTSIDE", text="x"))
    assert refused["error"] == "user_not_in_channel"
