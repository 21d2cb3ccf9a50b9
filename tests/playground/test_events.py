"""What apps hear of, and in what shape."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.playground import Playground
from playground.harness import Control, Json

BOT = "U0ONCALL"
Events = Callable[[], list[Json]]


@pytest.fixture
def events(pg: Playground) -> Events:
    """The inner events put on their way so far, with their envelopes."""
    return lambda: [d.payload["event"] for d in pg.outbox.deliveries()]


async def test_a_mention_is_an_app_mention(
    control: Control, events: Events, pg: Playground
) -> None:
    answer = await control("post", user="maya", channel="inc-checkout", typed="@oncall why?")
    (event,) = events()
    assert event["type"] == "app_mention"
    assert event["user"] == "U0MAYA"
    assert event["text"] == f"<@{BOT}> why?"
    assert (event["ts"], event["event_ts"]) == (answer["ts"], answer["ts"])
    assert event["channel"] == "C0INCCHECK"
    assert event["team"] == "T0NORDSHOP"
    assert event["client_msg_id"]
    assert event["blocks"][0]["elements"][0]["elements"] == [
        {"type": "user", "user_id": BOT},
        {"type": "text", "text": " why?"},
    ]
    assert not {"thread_ts", "edited", "bot_id", "channel_type"} & set(event)
    envelope = pg.outbox.deliveries()[0].payload
    assert envelope["type"] == "event_callback"
    assert envelope["team_id"] == "T0NORDSHOP"
    assert envelope["api_app_id"] == "A0ONCALL"
    assert envelope["event_time"] == int(float(answer["ts"]))
    assert envelope["authorizations"][0]["user_id"] == BOT
    assert envelope["authorizations"][0]["is_bot"] is True
    assert envelope["is_ext_shared_channel"] is False


async def test_a_mention_in_a_thread_names_the_root(control: Control, events: Events) -> None:
    root = await control.ask("no mention")
    await control.ask(thread_ts=root)
    (event,) = events()
    assert event["thread_ts"] == root
    assert event["parent_user_id"] == "U0MAYA"


async def test_a_message_without_mention_is_not_heard_of(control: Control, events: Events) -> None:
    await control.ask("just talking")
    assert events() == []


async def test_one_text_is_two_events_where_messages_are_subscribed(
    control: Control, events: Events, pg: Playground
) -> None:
    await control("app", events=["app_mention", "message.channels"])
    ts = await control.ask()
    assert [(e["type"], e["ts"]) for e in events()] == [("message", ts), ("app_mention", ts)]
    ids = {d.payload["event_id"] for d in pg.outbox.deliveries()}
    assert len(ids) == 2
    assert events()[0]["channel_type"] == "channel"


async def test_an_event_is_replayed_under_its_own_id_or_another(
    control: Control, pg: Playground
) -> None:
    await control.ask()
    event_id = pg.outbox.deliveries()[0].payload["event_id"]
    await control("replay", id=event_id)
    await control("replay", id=event_id, new_event_id=True)
    first, same, other = pg.outbox.deliveries()
    assert same.payload == first.payload
    assert other.payload["event"] == first.payload["event"]
    assert other.payload["event_id"] != event_id


async def test_an_edited_mention_is_an_app_mention_with_edited(
    control: Control, events: Events
) -> None:
    ts = await control.ask("quiet")
    await control("edit", user="maya", channel="inc-checkout", ts=ts, typed="@oncall now?")
    (event,) = events()
    assert event["type"] == "app_mention"
    assert event["ts"] == ts
    assert event["edited"]["user"] == "U0MAYA"
    assert event["event_ts"] == event["edited"]["ts"] > ts


async def test_changes_and_deletions_are_heard_of_only_where_subscribed(
    control: Control, events: Events
) -> None:
    ts = await control.ask("quiet")
    await control("edit", user="maya", channel="inc-checkout", ts=ts, typed="louder")
    await control("delete", user="maya", channel="inc-checkout", ts=ts)
    assert events() == []
    await control("app", events=["message.channels"])
    ts = await control.ask("again")
    await control("edit", user="maya", channel="inc-checkout", ts=ts, typed="changed")
    await control("delete", user="maya", channel="inc-checkout", ts=ts)
    posted, changed, deleted = events()
    assert posted["text"] == "again"
    assert (changed["subtype"], changed["message"]["text"]) == ("message_changed", "changed")
    assert changed["previous_message"]["text"] == "again"
    assert (deleted["subtype"], deleted["deleted_ts"]) == ("message_deleted", ts)


async def test_a_bot_s_mention_has_its_bot_id(control: Control, events: Events) -> None:
    await control("post", user="alertmanager", channel="inc-checkout", text=f"<@{BOT}> look")
    (event,) = events()
    assert event["bot_id"] == "B0ALERTS"
    assert event["type"] == "app_mention"


async def test_the_app_s_own_mention_of_itself_is_heard_of(
    slack: AsyncWebClient, events: Events
) -> None:
    await slack.chat_postMessage(channel="C0INCCHECK", text=f"<@{BOT}> I")
    (event,) = events()
    assert (event["type"], event["user"], event["bot_id"]) == ("app_mention", BOT, "B0ONCALL")


async def test_an_outsider_s_mention_names_their_team(
    control: Control, events: Events, pg: Playground
) -> None:
    text = f"<@{BOT}> why?"
    await control("post", user="oskar", channel="inc-fjordpay-shared", text=text)
    (event,) = events()
    assert event["user_team"] == event["source_team"] == "T0FJORDPAY"
    assert event["team"] == "T0NORDSHOP"
    assert pg.outbox.deliveries()[0].payload["is_ext_shared_channel"] is True


async def test_outside_the_app_s_channels_a_mention_is_not_heard_of(
    control: Control, events: Events
) -> None:
    await control("post", user="maya", channel="general", text=f"<@{BOT}> why?")
    assert events() == []


async def test_a_direct_message_is_message_im_and_never_app_mention(
    control: Control, events: Events
) -> None:
    channel = (await control("direct", user="maya", other="oncall"))["channel"]
    await control("post", user="maya", channel=channel, text=f"<@{BOT}> why?")
    (event,) = events()
    assert (event["type"], event["channel_type"]) == ("message", "im")


async def test_reactions_are_heard_of_by_item_and_without_thread(
    control: Control, events: Events
) -> None:
    root = await control.ask("root")
    reply = await control.ask("reply", thread_ts=root)
    where = {"user": "jonas", "channel": "inc-checkout", "ts": reply}
    await control("react", name="octagonal_sign::skin-tone-2", **where)
    await control("unreact", name="octagonal_sign::skin-tone-2", **where)
    (event,) = events()
    assert event["type"] == "reaction_added", "reaction_removed is not subscribed"
    assert event["reaction"] == "octagonal_sign::skin-tone-2"
    assert event["user"] == "U0JONAS"
    assert event["item"] == {"type": "message", "channel": "C0INCCHECK", "ts": reply}
    assert event["item_user"] == "U0MAYA"
    assert "thread_ts" not in event


async def test_item_user_may_be_absent(control: Control, events: Events) -> None:
    ts = await control.ask("root")
    await control("react", user="maya", channel="inc-checkout", ts=ts, name="eyes", item_user=False)
    assert "item_user" not in events()[0]


async def test_the_app_s_own_reaction_is_heard_of(
    slack: AsyncWebClient, control: Control, events: Events
) -> None:
    ts = await control.ask("root")
    await slack.reactions_add(channel="C0INCCHECK", timestamp=ts, name="eyes")
    assert events()[0]["user"] == BOT


async def test_a_removed_reaction_is_heard_of_where_subscribed(
    control: Control, events: Events
) -> None:
    await control("app", events=["reaction_removed"])
    ts = await control.ask("root")
    where = {"user": "maya", "channel": "inc-checkout", "ts": ts, "name": "eyes"}
    await control("react", **where)
    await control("unreact", **where)
    assert [e["type"] for e in events()] == ["reaction_removed"]


async def test_a_new_channel_and_the_app_s_invitation_are_heard_of(
    control: Control, events: Events
) -> None:
    created = await control("channels", user="maya", name="inc-search", members=["jonas"])
    await control("invite", user="oncall", channel="inc-search", inviter="maya")
    await control.ask()
    first, second, _ = events()
    assert (first["type"], first["channel"]["name"]) == ("channel_created", "inc-search")
    assert second["type"] == "member_joined_channel"
    assert second["channel"] == created["channel"]["id"]
    assert (second["user"], second["inviter"]) == (BOT, "U0MAYA")


async def test_opening_the_app_s_messages_is_heard_of(control: Control, events: Events) -> None:
    await control("open_home", user="maya", tab="messages")
    (event,) = events()
    assert (event["type"], event["tab"], event["user"]) == (
        "app_home_opened",
        "messages",
        "U0MAYA",
    )


async def test_slack_s_own_stop_button_is_there_while_the_agent_works(
    slack: AsyncWebClient, control: Control, events: Events
) -> None:
    ts = await control.ask()
    where = {"user": "maya", "channel": "inc-checkout", "thread_ts": ts}
    await control.refused("stop_session", **where)
    await slack.api_call(
        "agents.sessions.setStatus",
        json={"channel_id": "C0INCCHECK", "thread_ts": ts, "status": "processing"},
    )
    await control("stop_session", **where)
    stopped = events()[-1]
    assert stopped["type"] == "agent_session_stopped"
    assert (stopped["channel"], stopped["thread_ts"]) == ("C0INCCHECK", ts)
