"""``oncall-bot serve``: Slack, the pages, the runs that were left unfinished, and an orderly end.

Owns the order of starting and ending: the pages come first, also while Slack is down; at the end
first no more questions, then the runs drain, then Slack and the pages go. Knows how the parts are
put together from ``wiring.py``.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from starlette.routing import Route

from bot.config import Settings, load
from bot.demo_pace import paced_by
from bot.examining import warn_of_the_worst
from bot.loop.journal import Event
from bot.loop.stopping import Clock
from bot.metrics import Metrics, Now
from bot.runs.counts import reply_counts
from bot.runs.errors import StoreError
from bot.runs.links import Links, rotate_key
from bot.runs.service import RunService
from bot.slack.http import PATH, Requests
from bot.slack.link import SlackLink
from bot.telemetry import log_event, log_to
from bot.terminal import ClosedTerminal, LiveLog, say, warn
from bot.web.app import create_app
from bot.web.asking import AskPages, WebSurface
from bot.web.metrics import metrics_route
from bot.web.server import WebServer, listen
from bot.wiring import Bot, key_file, links, open_bot

LOOK_AGAIN_SECONDS = 15.0
"""Between two looks for runs of dead processes and replies that did not go out."""


async def serve(
    root: Path,
    *,
    rotate: bool,
    as_json: bool,
    now: datetime | None = None,
    pace: Path | None = None,
) -> int:
    """Serve until SIGINT or SIGTERM; the exit code. Raises ``SlackSetupError``.

    ``now`` is what time it is for those who ask without Slack; ``pace`` is the demo's file.
    """
    settings = load(root)
    watched = sys.stderr.isatty()
    log_to(sys.stderr, verbose=not watched)
    log = LiveLog(sys.stderr) if watched else log_event
    metrics = Metrics(settings.model, Clock().monotonic)

    def observe(run: str, event: Event) -> None:
        metrics.saw(run, event)
        log(run, event)

    if rotate:
        rotate_key(key_file(root))
    at = listen(settings.web.host, settings.web.port)
    ended = _told_to_end()
    made = links(root, settings, port=at.getsockname()[1])
    requests = Requests()
    link = SlackLink(settings.slack, made, requests)
    surfaces = (ClosedTerminal(), WebSurface())
    async with open_bot(root, settings, surfaces, observe, paced_by(pace)) as bot:
        for note in bot.notes:
            warn(note)
        asking = AskPages(bot.service, made, _clock(now)).routes()
        more = [Route(PATH, requests.take, methods=["POST"]), *asking]
        if settings.web.metrics:

            async def exposed(accept: str) -> tuple[bytes, str]:
                return metrics.page(accept, await _now(bot, link))

            more.append(metrics_route(exposed))
        pages = create_app(
            bot.store, made, Clock(), more=more, trouble=link.trouble, model=settings.model
        )
        web = WebServer(pages, at)
        await web.start()
        address = f"http://{settings.web.host}:{at.getsockname()[1]}"
        checking = asyncio.create_task(warn_of_the_worst(root, bot.notes, Clock().now()))
        try:
            await _work(
                settings, link, bot.service, ended, _Addresses(address, made), as_json=as_json
            )
        finally:
            checking.cancel()
            await bot.service.close(settings.runs.drain_seconds)
            await link.close()
            await web.stop()
    return 0


def _clock(now: datetime | None) -> Callable[[], datetime]:
    """The clock, or one that goes on from another time."""
    clock = Clock()
    if now is None:
        return clock.now
    ahead = now - clock.now()
    return lambda: clock.now() + ahead


async def _now(bot: Bot, link: SlackLink) -> Now:
    """What the metrics say beside the counts."""
    try:
        replies = await reply_counts(bot.store)
    except StoreError:
        replies = None
    slack_up = not await link.trouble() if link.is_wanted else None
    return Now(bot.service.load, replies, slack_up)


@dataclass(frozen=True)
class _Addresses:
    """Where the pages are served, and the links that people get."""

    local: str
    links: Links


async def _work(
    settings: Settings,
    link: SlackLink,
    service: RunService,
    ended: asyncio.Event,
    at: _Addresses,
    *,
    as_json: bool,
) -> None:
    """Until the end is wanted. Raises ``SlackSetupError`` if Slack refuses the bot."""
    connecting = asyncio.create_task(_connect(link, service, settings.web.public_url))
    looking = asyncio.create_task(_look_again(service))
    try:
        await _until_any((link.tried, ended), connecting)
        if not ended.is_set():
            await _tell(link, at, as_json=as_json)
        await _until_any((ended,), connecting)
    finally:
        looking.cancel()
        connecting.cancel()


async def _connect(link: SlackLink, service: RunService, public_url: str) -> None:
    await link.connect(service)
    if link.app is not None:
        await _resume(service)  # the first look came before Slack: its runs were not taken over
        link.app.watch(public_url)


async def _until_any(events: Sequence[asyncio.Event], beside: asyncio.Task[None]) -> None:
    """Until one of them is set. Raises what ``beside`` raises before."""
    waits = [asyncio.create_task(event.wait()) for event in events]
    try:
        await asyncio.wait({*waits, beside}, return_when=asyncio.FIRST_COMPLETED)
        if beside.done():
            beside.result()
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()


async def _tell(link: SlackLink, at: _Addresses, *, as_json: bool) -> None:
    address, public_url = at.local, at.links.public_url
    if as_json:
        told = {
            "address": address,
            "public_url": public_url,
            "ask": at.links.ask(),
            "slack_team": link.app.identity.team if link.app else None,
        }
        say(json.dumps(told))
        return
    lines = [f"Serving {address} (Ctrl-C ends it)"]
    if public_url != address:
        lines.append(f"Trace links start with {public_url}")
    lines.append(f"Without Slack, ask at {at.links.ask()} (whoever has this link can)")
    if link.app is not None:
        identity = link.app.identity
        lines.append(f"Listening in Slack as @{identity.name} (team {identity.team})")
    elif link.is_wanted:
        lines.append(f"Not in Slack yet, and trying on. {await link.trouble()}")
    else:
        lines.append(
            "No Slack tokens, so only the pages: `oncall-bot manifest --link` makes the app."
        )
    say("\n".join(lines))


def _told_to_end() -> asyncio.Event:
    """Set by the first SIGINT or SIGTERM; a second one ends the process the usual way."""
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()

    def end(number: signal.Signals) -> None:
        loop.remove_signal_handler(number)
        ended.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, end, number)
    return ended


async def _look_again(service: RunService) -> None:
    while True:
        await _resume(service)
        await asyncio.sleep(LOOK_AGAIN_SECONDS)


async def _resume(service: RunService) -> None:
    try:
        await service.resume_unfinished()
    except StoreError as error:
        warn(str(error))
