"""Socket Mode: envelopes, acknowledgements, retries, reconnects, the ten connections."""

from __future__ import annotations

import asyncio

import aiohttp
import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.playground import Playground, Running
from bot.playground.sockets import CONNECTION_SECONDS, WARNING_SECONDS
from playground.harness import Control, Eventually, OpenSocket

APP = "A0ONCALL"


async def test_hello_says_how_many_connections_there_are(open_socket: OpenSocket) -> None:
    first, second = await open_socket(), await open_socket()
    assert first.hello["type"] == "hello"
    assert first.hello["num_connections"] == 1
    assert second.hello["num_connections"] == 2
    assert first.hello["connection_info"] == {"app_id": APP}
    assert first.hello["debug_info"]["approximate_connection_time"] == CONNECTION_SECONDS


async def test_the_first_delivery_has_retry_attempt_zero(
    open_socket: OpenSocket, control: Control
) -> None:
    socket = await open_socket()
    await control.ask()
    envelope = await socket.receive()
    assert envelope["type"] == "events_api"
    assert envelope["accepts_response_payload"] is False
    assert envelope["retry_attempt"] == 0
    assert envelope["retry_reason"] == ""
    assert envelope["payload"]["event"]["type"] == "app_mention"


async def test_an_acknowledged_event_is_not_sent_again(
    open_socket: OpenSocket, control: Control, pg: Playground, eventually: Eventually
) -> None:
    socket = await open_socket()
    await control.ask()
    await socket.ack(await socket.receive())
    await eventually(lambda: pg.outbox.deliveries()[0].state == "acked")
    await control("advance", seconds=3600)
    assert [a.outcome for a in pg.outbox.deliveries()[0].attempts] == ["acked"]


async def test_an_event_without_acknowledgement_comes_again_at_0_60_and_300_seconds(
    open_socket: OpenSocket, control: Control, pg: Playground, eventually: Eventually
) -> None:
    socket = await open_socket()
    began = pg.clock.now()
    await control.ask()
    envelopes = [await socket.receive()]
    for seconds in (3, 63, 303):
        await control("advance", seconds=seconds)
        envelopes.append(await socket.receive())
    assert [e["retry_attempt"] for e in envelopes] == [0, 1, 2, 3]
    assert [e["retry_reason"] for e in envelopes] == ["", "timeout", "timeout", "timeout"]
    assert len({e["envelope_id"] for e in envelopes}) == 4
    assert len({e["payload"]["event_id"] for e in envelopes}) == 1
    await control("advance", seconds=3)
    (delivery,) = pg.outbox.deliveries()
    assert [round(a.at - began) for a in delivery.attempts] == [0, 3, 66, 369]
    await eventually(lambda: pg.outbox.deliveries()[0].state == "gave_up")


async def test_a_late_acknowledgement_does_not_count(
    open_socket: OpenSocket, control: Control
) -> None:
    socket = await open_socket()
    await control.ask()
    first = await socket.receive()
    await control("advance", seconds=3)
    second = await socket.receive()
    await socket.ack(first)
    await control("advance", seconds=63)
    third = await socket.receive()
    assert [second["retry_attempt"], third["retry_attempt"]] == [1, 2]


async def test_an_event_is_sent_again_at_once_after_a_reconnect(
    open_socket: OpenSocket, control: Control, pg: Playground, eventually: Eventually
) -> None:
    socket = await open_socket()
    await control.ask()
    first = await socket.receive()
    await socket.ws.close()
    await eventually(lambda: not pg.sockets.all())
    second = await (await open_socket()).receive()
    assert second["payload"] == first["payload"]
    assert (second["retry_attempt"], second["retry_reason"]) == (1, "connection_lost")


async def test_a_reconnect_ends_the_wait_for_a_retry(
    open_socket: OpenSocket, control: Control, pg: Playground, eventually: Eventually
) -> None:
    socket = await open_socket()
    await control.ask()
    await socket.receive()
    await control("advance", seconds=3)
    await socket.receive()
    await control("advance", seconds=3)  # the second try is over too: the next is a minute away
    await control("disconnect", reason="drop")
    await eventually(lambda: not pg.sockets.all())
    assert (await (await open_socket()).receive())["retry_attempt"] == 2


async def test_an_event_waits_for_an_app_that_is_not_connected(
    open_socket: OpenSocket, control: Control
) -> None:
    await control.ask()
    await control("advance", seconds=368)
    envelope = await (await open_socket()).receive()
    assert envelope["retry_attempt"] == 0, "nothing was delivered before"


async def test_each_payload_goes_to_any_one_connection(
    open_socket: OpenSocket, control: Control, pg: Playground
) -> None:
    sockets = [await open_socket() for _ in range(3)]
    for _ in range(6):
        await control.ask()
    seen = [a.via for d in pg.outbox.deliveries() for a in d.attempts]
    assert len(seen) == 6
    assert len(set(seen)) == 3
    for socket in sockets:
        for _ in range(2):
            await socket.receive()


async def test_the_eleventh_connection_is_turned_away(open_socket: OpenSocket) -> None:
    for _ in range(10):
        await open_socket()
    eleventh = await open_socket()
    assert eleventh.hello["type"] == "disconnect"
    assert eleventh.hello["reason"] == "too_many_websockets"
    await eleventh.closed()


async def test_a_connection_is_warned_and_then_refreshed(
    open_socket: OpenSocket, control: Control
) -> None:
    socket = await open_socket()
    await control("advance", seconds=CONNECTION_SECONDS - WARNING_SECONDS)
    warning = await socket.receive()
    assert (warning["type"], warning["reason"]) == ("disconnect", "warning")
    await control.ask()
    assert (await socket.receive())["type"] == "events_api", "it is usable after a warning"
    await control("advance", seconds=WARNING_SECONDS)
    frames = [await socket.receive()]
    while frames[-1]["type"] != "disconnect":
        frames.append(await socket.receive())
    assert frames[-1]["reason"] == "refresh_requested"
    await socket.closed()


@pytest.mark.parametrize("reason", ["refresh_requested", "too_many_websockets", "link_disabled"])
async def test_a_disconnect_frame_names_its_reason(
    open_socket: OpenSocket, control: Control, reason: str
) -> None:
    socket = await open_socket()
    await control("disconnect", reason=reason)
    assert (await socket.receive())["reason"] == reason
    await socket.closed()


async def test_a_dropped_connection_gets_no_frame(
    open_socket: OpenSocket, control: Control
) -> None:
    socket = await open_socket()
    await control("disconnect", reason="drop")
    message = await asyncio.wait_for(socket.ws.receive(), 5)
    assert message.type in (aiohttp.WSMsgType.CLOSED, aiohttp.WSMsgType.ERROR)


async def test_a_ping_is_answered_with_its_own_bytes(
    running: Running, session: aiohttp.ClientSession, open_socket: OpenSocket
) -> None:
    socket = await open_socket()
    async with session.post(
        running.api_url + "apps.connections.open",
        headers={"authorization": "Bearer xapp-playground-oncall"},
    ) as response:
        address = (await response.json())["url"]
    async with session.ws_connect(address, autoping=False) as ws:
        await ws.receive()
        await ws.ping(b"sdk-ping-pong:1")
        pong = await asyncio.wait_for(ws.receive(), 5)
    assert (pong.type, pong.data) == (aiohttp.WSMsgType.PONG, b"sdk-ping-pong:1")
    assert socket.hello["type"] == "hello"


async def test_a_ticket_works_once_and_not_after_half_a_minute(
    running: Running, session: aiohttp.ClientSession, control: Control
) -> None:
    headers = {"authorization": "Bearer xapp-playground-oncall"}

    async def ticket() -> str:
        url = running.api_url + "apps.connections.open"
        async with session.post(url, headers=headers) as response:
            return str((await response.json())["url"])

    used, stale = await ticket(), await ticket()
    async with session.ws_connect(used):
        pass
    await control("advance", seconds=31)
    for address in (used, stale):
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await session.ws_connect(address)


async def test_a_click_is_sent_once_and_takes_an_answer(
    open_socket: OpenSocket,
    control: Control,
    slack: AsyncWebClient,
    pg: Playground,
    eventually: Eventually,
) -> None:
    socket = await open_socket()
    blocks = [
        {
            "type": "actions",
            "block_id": "stops",
            "elements": [
                {
                    "type": "button",
                    "text": {"type": "plain_text", "text": "Approve"},
                    "action_id": "approve",
                    "value": "run-1",
                }
            ],
        }
    ]
    ts = (await slack.chat_postMessage(channel="C0INCCHECK", text="ok?", blocks=blocks))["ts"]
    await control("click", user="maya", channel="inc-checkout", ts=ts, action_id="approve")
    envelope = await socket.receive()
    assert envelope["type"] == "interactive"
    assert envelope["accepts_response_payload"] is True
    assert "retry_attempt" not in envelope
    payload = envelope["payload"]
    assert payload["type"] == "block_actions"
    assert payload["user"]["id"] == "U0MAYA"
    assert payload["container"]["message_ts"] == ts
    assert payload["actions"][0]["action_id"] == "approve"
    assert payload["actions"][0]["block_id"] == "stops"
    assert payload["actions"][0]["value"] == "run-1"
    await socket.ack(envelope, {"text": "thanks"})
    await eventually(lambda: pg.outbox.deliveries()[-1].state == "acked")
    assert pg.outbox.deliveries()[-1].attempts[-1].answer == {"text": "thanks"}


async def test_a_click_that_nobody_acknowledges_is_not_repeated(
    open_socket: OpenSocket, control: Control, slack: AsyncWebClient, pg: Playground
) -> None:
    socket = await open_socket()
    await control.ask()
    await socket.ack(await socket.receive())
    ts = await control.ask("plain")
    await control("shortcut", user="maya", channel="inc-checkout", ts=ts, callback_id="explain")
    envelope = await socket.receive()
    assert envelope["payload"]["type"] == "message_action"
    assert envelope["payload"]["callback_id"] == "explain"
    assert envelope["payload"]["message"]["ts"] == ts
    await control("advance", seconds=600)
    assert len(pg.outbox.deliveries()[-1].attempts) == 1
