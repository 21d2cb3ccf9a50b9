"""``oncall-bot ask``: one question from a terminal, from the first byte to the exit code.

Owns what is said around the reply (notes, the link and how to open it) and Ctrl-C. Knows how a
reply looks from ``terminal.py`` and puts the bot together through ``wiring.py``.
"""

from __future__ import annotations

import asyncio
import json
import re
import secrets
import shlex
import signal
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit

from bot.cli_input import quoted
from bot.cli_words import program
from bot.config import STATE_FOLDER, load
from bot.loop.outcome import Outcome
from bot.loop.question import MAX_QUESTION
from bot.loop.stopping import Clock
from bot.runs.errors import StoreError
from bot.runs.links import Links, signing_key
from bot.runs.records import Ask, RunRecord
from bot.runs.reply_text import reply_text
from bot.runs.service import Accepted, RunService
from bot.telemetry import log_event, log_to
from bot.terminal import (
    SURFACE,
    TerminalSurface,
    answers_at,
    exit_code,
    reply_lines,
    say,
    styled,
    warn,
)
from bot.web.errors import ServerError
from bot.wiring import KEY_NAME, links, open_bot, state_folder

_LINK = re.compile(r"[!-~]+")
"""Printable ASCII: what a link is made of."""
DRAIN_SECONDS = 5.0
"""How long older runs, taken over on the way, may keep the terminal after the reply."""


@dataclass(frozen=True)
class Asked:
    """What the command line was given. ``asked_at`` is the clock that windows are read against; without
    one, it is the bot's own.
    """

    text: str
    root: Path
    asked_at: datetime | None
    thread: tuple[str, ...]
    as_json: bool
    debug: bool


class _Printer:
    """Prints the reply of the own run, and one line for each older one."""

    def __init__(self, asked: Asked, links: Links) -> None:
        self._asked = asked
        self._links = links
        self.code: int | None = None

    def reply(self, run: RunRecord, outcome: Outcome) -> None:
        link = self._links.trace(run.id)
        if self._asked.as_json:
            say(as_json(run, outcome, link))
        else:
            for line in reply_lines(reply_text(outcome, run.seconds), styled(sys.stdout)):
                say(line)
            say(f"Trace: {link}")
            self._hint()
        self.code = exit_code(outcome)

    def older(self, run: RunRecord, outcome: Outcome) -> None:
        del outcome
        text = " ".join(run.question.split())[:60]
        warn(f'an earlier question was interrupted and is closed now: "{text}"')
        warn(f"its trace: {self._links.trace(run.id)}")

    def _hint(self) -> None:
        if not answers_at(self._links.public_url):
            folder = shlex.quote(str(self._asked.root))
            say(f"(open it with: {shlex.join(program())} serve --workspace {folder})")


def as_json(run: RunRecord, outcome: Outcome | None, link: str) -> str:
    """A run for a program to read."""
    told = {
        "run": run.id,
        "question": run.question,
        "asked_at": run.asked_at.isoformat(),
        "state": run.state.value,
        "seconds": run.seconds,
        "input_tokens": run.input_tokens,
        "output_tokens": run.output_tokens,
        "trace": link,
        "outcome": outcome.model_dump(mode="json") if outcome else None,
    }
    return json.dumps(told, ensure_ascii=False)


async def ask(asked: Asked) -> int:
    """Ask and print; the exit code. Raises the errors that the command line puts in words."""
    settings = load(asked.root)
    log_to(state_folder(asked.root) / "oncall.log", verbose=False)
    own = f"{SURFACE}:{secrets.token_hex(8)}"
    printer = _Printer(asked, links(asked.root, settings))
    surface = TerminalSurface(
        own, printer.reply, printer.older, sys.stderr if asked.debug else None
    )
    async with open_bot(asked.root, settings, (surface,), log_event) as bot:
        for note in bot.notes:
            warn(note)
        if len(asked.text) > MAX_QUESTION:
            warn(
                f"the question has {len(asked.text):,} characters: "
                f"the first {MAX_QUESTION:,} are read"
            )
        await bot.service.resume_unfinished()
        taken = await bot.service.accept(
            Ask(
                origin_key=own,
                surface=SURFACE,
                text=asked.text,
                asked_at=asked.asked_at or Clock().now(),
                address={},
                thread=asked.thread,
            )
        )
        if not isinstance(taken, Accepted):
            warn("too many questions are at work in this workspace: try again in a minute")
            return 2
        _abort_on_interrupt(bot.service, taken.run.id)
        await bot.service.wait(taken.run.id)
        await bot.service.close(DRAIN_SECONDS)
    if printer.code is None:
        warn(f"the reply could not be shown: see `oncall-bot show {taken.run.id}`")
    return 2 if printer.code is None else printer.code


async def ask_server(asked: Asked, server: str) -> int:
    """Ask a bot that runs elsewhere, by its ask link. Raises ``ServerError`` and ``StoreError``."""
    from bot.web.client import BotAt  # noqa: PLC0415 - `ask` without a server loads no HTTP
    from tools.http import HttpClient  # noqa: PLC0415 - as above

    async with HttpClient() as http:
        there = BotAt(http, _ask_link(asked.root, server))
        run = await there.ask(
            {
                "question": asked.text,
                "key": secrets.token_urlsafe(12),
                "asked_at": asked.asked_at.isoformat() if asked.asked_at else None,
                "thread": asked.thread,
            }
        )
        _on_interrupt(lambda: there.stop(run))
        run = await there.ended(run)
    if asked.as_json:
        say(run.model_dump_json())
    elif run.outcome is not None:
        for line in reply_lines(reply_text(run.outcome, run.seconds), styled(sys.stdout)):
            say(line)
        say(f"Trace: {run.trace}")
    return exit_code(run.outcome) if run.outcome is not None else 2


def _ask_link(root: Path, server: str) -> str:
    """The link as given; for an address alone, the link under the key of the workspace here.

    Raises ``ServerError`` for what is no address.
    """
    link = server.rstrip("/")
    parts = urlsplit(link if _LINK.fullmatch(link) and _has_port(link) else "")
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ServerError(
            f"--server {quoted(server)} is no address: pass the ask link that"
            " `oncall-bot serve` prints, https://HOST/ask/…"
        )
    key = root / STATE_FOLDER / KEY_NAME
    if "/ask/" in parts.path or not key.exists():
        return link
    return Links(signing_key(key), link).ask()


def _has_port(link: str) -> bool:
    """Whether the link's port is one, where it names any."""
    try:
        return urlsplit(link).port != 0
    except ValueError:
        return False


def _abort_on_interrupt(service: RunService, run: str) -> None:
    async def abort() -> None:
        await service.abort(run, "Ctrl-C")

    _on_interrupt(abort)


def _on_interrupt(stop_run: Callable[[], Awaitable[None]]) -> None:
    """The first Ctrl-C stops the run, which then says what it found; the second one exits."""
    loop = asyncio.get_running_loop()
    kept: list[asyncio.Task[None]] = []

    async def abort() -> None:
        try:
            await stop_run()
        except (StoreError, ServerError) as error:
            warn(str(error))

    def stop() -> None:
        loop.remove_signal_handler(signal.SIGINT)
        warn("stopping; press Ctrl-C again to leave at once")
        kept.append(loop.create_task(abort()))

    loop.add_signal_handler(signal.SIGINT, stop)
