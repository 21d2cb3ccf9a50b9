"""``oncall-bot serve``: Slack, the pages, the runs that were left unfinished, and an orderly end.

Owns the order of starting and ending: first no more questions, then the runs drain, then Slack and
the pages go. Knows how the parts are put together from ``wiring.py``.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bot.config import Settings, load
from bot.loop.stopping import Clock
from bot.runs.errors import StoreError
from bot.runs.links import Links, rotate_key
from bot.runs.service import RunService
from bot.slack.app import SlackApp, create_slack
from bot.telemetry import log_event, log_to
from bot.terminal import ClosedTerminal, LiveLog, say, warn
from bot.web.app import create_app
from bot.web.server import WebServer, listen
from bot.wiring import key_file, links, open_bot

LOOK_AGAIN_SECONDS = 15.0
"""Between two looks for runs of dead processes and replies that did not go out."""


async def serve(root: Path, *, rotate: bool, as_json: bool) -> int:
    """Serve until SIGINT or SIGTERM; the exit code. Raises ``SlackSetupError``."""
    settings = load(root)
    watched = sys.stderr.isatty()
    log_to(sys.stderr, verbose=not watched)
    observe = LiveLog(sys.stderr) if watched else log_event
    if rotate:
        rotate_key(key_file(root))
    at = listen(settings.web.host, settings.web.port)
    ended = _told_to_end()
    made = links(root, settings, port=at.getsockname()[1])
    async with _slack(settings, made) as slack:
        surfaces = (ClosedTerminal(), slack.surface) if slack else (ClosedTerminal(),)
        async with open_bot(root, settings, surfaces, observe) as bot:
            for note in bot.notes:
                warn(note)
            web = WebServer(create_app(bot.store, made, Clock()), at)
            await web.start()
            if slack is not None:
                await slack.start(bot.service)
            address = f"http://{settings.web.host}:{at.getsockname()[1]}"
            _tell(address, made.public_url, slack, as_json=as_json)
            looking = asyncio.create_task(_look_again(bot.service))
            await ended.wait()
            looking.cancel()
            await bot.service.close(settings.runs.drain_seconds)
            if slack is not None:
                await slack.close()
            await web.stop()
    return 0


@asynccontextmanager
async def _slack(settings: Settings, made: Links) -> AsyncIterator[SlackApp | None]:
    """The Slack app, if there are tokens for it; closed also when the start fails."""
    if settings.slack.bot_token is None:
        yield None
        return
    slack = await create_slack(settings.slack, made)
    try:
        yield slack
    finally:
        await slack.close()


def _tell(address: str, public_url: str, slack: SlackApp | None, *, as_json: bool) -> None:
    if as_json:
        team = slack.identity.team if slack else None
        say(json.dumps({"address": address, "public_url": public_url, "slack_team": team}))
        return
    say(f"Serving {address} (Ctrl-C ends it)")
    if public_url != address:
        say(f"Trace links start with {public_url}")
    if slack is not None:
        say(f"Listening in Slack as @{slack.identity.name} (team {slack.identity.team})")
    else:
        say("No Slack tokens, so only the pages: `oncall-bot manifest --link` makes the app.")


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
        try:
            await service.resume_unfinished()
        except StoreError as error:
            warn(str(error))
        await asyncio.sleep(LOOK_AGAIN_SECONDS)
