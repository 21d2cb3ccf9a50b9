"""``oncall-bot manifest``, ``demo-workspace`` and ``migrate``: what is made before anybody asks.

Owns the printing and what the manifest is made for. The manifest itself is ``bot.slack.manifest``'s.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.cli_input import quoted
from bot.cli_words import program
from bot.config import ConfigError, Settings, load
from bot.playground.incident import make_demo_workspace
from bot.runs.migrate import prepare
from bot.slack.manifest import (
    EVENTS_PATH,
    JOIN_SCOPE,
    OverHttp,
    OverSocket,
    Transport,
    manifest,
    manifest_json,
    manifest_link,
)
from bot.terminal import say
from bot.wiring import database, state_folder

_ADDRESS = re.compile(r"(?i:https)://[A-Za-z0-9.-]+(:[0-9]{1,5})?(/[!-~]*)?")
_NO_PART = frozenset("?#@")
"""Of an address that Slack posts to."""


@dataclass(frozen=True)
class App:
    """What the Slack app is made for."""

    over: Transport
    more_scopes: tuple[str, ...]


def app_of(root: Path | None, http: str, more_scopes: Sequence[str]) -> App:
    """The app that a workspace's settings need, and what the command line adds.

    ``http`` is the bot's public address, or empty. Raises ``ConfigError``.
    """
    made = _configured(load(root), http) if root is not None else App(OverSocket(), ())
    over = OverHttp(_events_url(http)) if http else made.over
    return App(over, (*made.more_scopes, *more_scopes))


def _configured(settings: Settings, http: str) -> App:
    slack = settings.slack
    scopes = (JOIN_SCOPE,) if slack.join_channels else ()
    if slack.transport == "socket" or http:
        return App(OverSocket(), scopes)
    if not settings.web.public_url:
        raise ConfigError(
            '[slack] transport is "http", and Slack needs an address to post to: '
            "set [web] public_url, or name it with --http https://HOST."
        )
    return App(OverHttp(_events_url(settings.web.public_url, "[web] public_url")), scopes)


def _events_url(address: str, named: str = "--http") -> str:
    """Raises ``ConfigError``."""
    if address.lower().startswith("http://"):
        raise ConfigError(
            f"{named} {quoted(address)} is not encrypted, and Slack posts to https:// only: put a"
            " proxy with a certificate before the bot, or use Socket Mode, which needs no address."
        )
    if not _ADDRESS.fullmatch(address) or not _NO_PART.isdisjoint(address):
        raise ConfigError(
            f"{named} {quoted(address)} is no address that Slack can post to: write it like"
            " https://bot.example.com"
        )
    return address.rstrip("/").removesuffix(EVENTS_PATH) + EVENTS_PATH


def print_manifest(app: App, *, as_json: bool) -> None:
    """As YAML, which Slack's pages take as well."""
    if as_json:
        say(manifest_json(app.over, app.more_scopes))
        return
    import yaml  # noqa: PLC0415 - not for JSON, not for the link

    made = manifest(app.over, app.more_scopes)
    say(yaml.safe_dump(made, sort_keys=False, allow_unicode=True).rstrip())


def print_link(app: App, *, as_json: bool) -> None:
    link = manifest_link(app.over, app.more_scopes)
    say(json.dumps({"link": link}) if as_json else link)


def make_demo(folder: Path, *, as_json: bool) -> None:
    """Make the demo's workspace and say what to ask. Raises ``DemoError``."""
    demo = make_demo_workspace(folder)
    at = demo.asked_at.strftime("%Y-%m-%dT%H:%M:%SZ")
    command = shlex.join(
        [*program(), "ask", demo.question, "--workspace", str(demo.root), "--now", at]
    )
    if as_json:
        told = {"workspace": str(demo.root), "question": demo.question, "asked_at": at}
        say(json.dumps({**told, "command": command}, ensure_ascii=False))
        return
    say(f"Made {demo.root}: four services with their repositories, nine deploys and an")
    say("incident in checkout. It is 02:14 UTC. Ask:\n")
    say(command)


async def migrate(root: Path, *, as_json: bool) -> int:
    """Bring the store up to date and say so; the exit code. Raises ``StoreError``."""
    settings = load(root)
    state_folder(root)
    done = prepare(database(root, settings))
    say(json.dumps({"done": done}, ensure_ascii=False) if as_json else done)
    return 0
