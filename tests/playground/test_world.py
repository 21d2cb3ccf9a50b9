"""The world's rules without a server: threads, rates, text and time, whatever is done to them."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.playground import RealClock, VirtualClock, build_world, read_seed
from bot.playground.model import Message
from bot.playground.rates import PerChannel, PerMinute, Rates
from bot.playground.text import escape, from_typed, mentioned, rich_text, unescape
from bot.playground.world import World

INC = "C0INCCHECK"
START = 1_764_382_440.0


def fresh() -> World:
    return build_world(read_seed())


ACTS = st.lists(st.tuples(st.sampled_from(["post", "reply", "delete"]), st.integers(0, 30)))


@given(ACTS)
def test_no_reply_is_ever_without_its_root(acts: list[tuple[str, int]]) -> None:
    world, stamps = fresh(), ["1.0"]
    for number, (act, choice) in enumerate(acts):
        chosen = stamps[choice % len(stamps)]
        message = world.message(INC, chosen)
        match act:
            case "post":
                thread = None
            case "reply":
                thread = chosen
            case _:
                if message is not None and not message.is_tombstone:
                    world.delete(message)
                continue
        ts = world.new_ts(START + number)
        stamps.append(world.add(Message(INC, ts, "x", user="U0MAYA", thread_ts=thread)).ts)
        if thread is not None and message is None:
            assert not world.messages[INC][ts].is_reply
    for message in world.messages[INC].values():
        if message.is_reply:
            root = world.message(INC, message.thread_ts or "")
            assert root is not None
            assert not root.is_reply
            assert root.thread_ts == root.ts
        if message.is_tombstone:
            assert world.replies(INC, message.ts)


@given(st.lists(st.floats(0, 90), max_size=300).map(sorted))
def test_no_minute_has_more_calls_than_the_rate(times: list[float]) -> None:
    rates, passed = Rates(), []
    for at in times:
        wait = rates.take(PerMinute(20), app="A", method="m", channel="", now=START + at)
        if wait is None:
            passed.append(START + at)
        else:
            assert 1 <= wait <= 60
    for first, later in zip(passed, passed[20:], strict=False):
        assert later - first >= 60


@given(st.lists(st.floats(0, 30), max_size=200).map(sorted))
def test_no_channel_has_more_messages_than_its_seconds_and_a_burst(times: list[float]) -> None:
    rates, passed = Rates(), []
    for at in times:
        rate = PerChannel(per_second=1.0, burst=3)
        if rates.take(rate, app="A", method="m", channel="C", now=START + at) is None:
            passed.append(at)
    for place, first in enumerate(passed):
        for count, later in enumerate(passed[place:], start=1):
            assert count <= later - first + 3 + 1e-3


@given(st.text())
def test_escaped_text_is_read_back(text: str) -> None:
    assert unescape(escape(text)) == text
    assert "<" not in escape(text)


@given(st.text())
def test_typed_text_mentions_nobody_who_is_not_there(text: str) -> None:
    world = fresh()
    sent = from_typed(text, world)
    assert set(mentioned(sent)) <= set(world.users)
    assert rich_text(sent, "b")["type"] == "rich_text"


def test_times_are_not_emoji() -> None:
    (section,) = rich_text("at 02:14:00 :eyes:", "b")["elements"]
    assert section["elements"] == [
        {"type": "text", "text": "at 02:14:00 "},
        {"type": "emoji", "name": "eyes"},
    ]


def test_a_seed_that_names_a_stranger_says_so() -> None:
    seed = read_seed().model_copy(update={"you": "nobody"})
    with pytest.raises(ValueError, match="'nobody', who is not among its users"):
        build_world(seed)


async def test_a_virtual_clock_wakes_sleepers_in_their_order_and_only_then() -> None:
    clock, woken = VirtualClock(START), []

    async def sleeper(name: str, seconds: float) -> None:
        await clock.sleep(seconds)
        woken.append((name, clock.now() - START))
        await clock.sleep(seconds)
        woken.append((name, clock.now() - START))

    tasks = [asyncio.ensure_future(sleeper("late", 5)), asyncio.ensure_future(sleeper("soon", 2))]
    await clock.advance(1.9)
    assert woken == []
    await clock.advance(8.1)
    assert woken == [("soon", 2), ("soon", 4), ("late", 5), ("late", 10)]
    await asyncio.gather(*tasks)


async def test_a_real_clock_can_be_moved_and_wakes_those_who_sleep() -> None:
    clock = RealClock(START)
    sleeping = asyncio.ensure_future(clock.sleep(3_600))
    await asyncio.sleep(0)
    await clock.advance(3_600)
    async with asyncio.timeout(5):
        await sleeping
    assert clock.now() >= START + 3_600
