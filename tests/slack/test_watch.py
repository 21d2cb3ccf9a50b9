"""The doctor again and again: what broke is told once in the debug channel, and so is its mending."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from bot.loop.stopping import Clock
from bot.playground import Running
from bot.playground.model import Message
from bot.runs.links import Links
from bot.slack.doctor import Check, Finding, examine
from bot.slack.watch import EVERY_SECONDS, Watch, told_as
from bot.web.app import create_app
from bot.web.server import WebServer, listen
from support.slack_bench import DEBUG, INC, Bench, bot_in, settings_for

FINE = Finding(Check.SCOPES, "all there")
BROKEN = Finding(Check.SCOPES, "missing: <im:read>", "add it")
OFF = Finding(Check.CLOCK, "61 s behind Slack's", "synchronise it")


class Board:
    """A debug channel that takes messages or does not."""

    def __init__(self, *looks: Sequence[Finding]) -> None:
        self.looks = list(looks)
        self.posted: list[str] = []
        self.takes = True

    async def examine(self) -> Sequence[Finding]:
        return self.looks.pop(0)

    async def post(self, text: str) -> bool:
        if self.takes:
            self.posted.append(text)
        return self.takes


async def test_a_change_is_told_once_and_sameness_never() -> None:
    later = Finding(Check.CLOCK, "63 s behind Slack's", "synchronise it")
    board = Board([FINE], [BROKEN], [BROKEN], [BROKEN, OFF], [BROKEN, later], [FINE], [FINE])
    watch = Watch(board.examine, board.post)
    for _ in range(7):
        await watch.look()
    first, second, third = board.posted
    assert "scopes: missing: &lt;im:read&gt;" in first
    assert "→ add it" in first
    assert "synchronise it" in second
    assert third == "All is well again (clock, scopes)."


async def test_what_could_not_be_posted_is_told_with_the_next_look() -> None:
    board = Board([BROKEN], [BROKEN], [BROKEN])
    watch = Watch(board.examine, board.post)
    board.takes = False
    await watch.look()
    board.takes = True
    await watch.look()
    await watch.look()
    assert board.posted == [told_as([BROKEN], ())]


async def test_a_scope_that_is_taken_away_is_told_in_the_debug_channel_within_five_minutes(
    bench: Bench,
) -> None:
    async def look_until(holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(10):
            while not holds():
                await bench.pg.clock.advance(EVERY_SECONDS)
                await asyncio.sleep(0.05)

    def told(words: str) -> list[Message]:
        return [m for m in bench.posts(DEBUG) if words in m.text]

    bench.slack.watch("")
    bench.fault("auth.test", {"kind": "api_error", "error": "token_expired"}, skip=1, times=3)
    await look_until(lambda: bool(told("bot token")))
    assert "reinstall the app" in told("bot token")[0].text
    await look_until(lambda: "bot token" not in bench.posts(DEBUG)[-1].text)
    assert len(told("• bot token")) == 1, "three looks, told once"
    assert bench.posts(INC) == []


async def test_two_environments_on_one_app_token_are_found_out(
    running: Running, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    async with bot_in(running, tmp_path) as first:
        assert await first.slack.connections() == 1
        async with bot_in(running, tmp_path / "other") as second:
            count = await second.slack.connections()
            assert count == 2
            found = await examine(settings_for(running), connections=count)
            (finding,) = [f for f in found if f.check is Check.CONNECTIONS]
            assert "2 processes" in finding.what
            assert "an app of its own for each environment" in finding.fix
        assert await first.slack.connections() == 1
        await first.reply(first.say().ts)


async def test_a_count_that_still_holds_a_lost_socket_is_made_again_before_it_is_believed(
    bench: Bench,
) -> None:
    socket = bench.slack._socket
    assert socket is not None
    await socket._count(socket._client, {"type": "hello", "num_connections": 2}, None)
    assert await bench.slack.connections() == 1


@pytest.mark.parametrize(
    ("path", "what"), [("", "leads to the pages"), ("/elsewhere", "HTTP 404"), (":1", "reached")]
)
async def test_a_public_url_that_does_not_lead_to_the_pages_is_named(
    running: Running, tmp_path: Path, path: str, what: str
) -> None:
    async with bot_in(running, tmp_path) as bench:
        at = listen("127.0.0.1", 0)
        server = WebServer(create_app(bench.store, Links("k" * 40, "http://b"), Clock()), at)
        await server.start()
        base = "http://127.0.0.1" if path == ":1" else f"http://127.0.0.1:{at.getsockname()[1]}"
        found = await examine(settings_for(running), public_url=base + path)
        await server.stop()
    (finding,) = [f for f in found if f.check is Check.PUBLIC_URL]
    assert what in finding.what
    assert finding.is_well == (path == "")
    if not finding.is_well:
        assert "[web] public_url" in finding.fix
