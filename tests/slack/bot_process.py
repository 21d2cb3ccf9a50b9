"""A bot process that a test kills: ``python bot_process.py FOLDER API_URL [COMMIT]``.

Its tool does not come back while FOLDER/hold exists; it says ``ready`` once it is connected. With
COMMIT it kills itself right before that commit of its store, the first being 1.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import sqlite3
import sys
from pathlib import Path
from typing import Any

from bot.loop.limits import Limits
from bot.loop.stopping import Clock
from bot.runs.dispatch import QueueLimits
from bot.runs.links import Links
from bot.runs.migrate import prepare
from bot.runs.owner import Owner
from bot.runs.service import RunService, Workbench
from bot.runs.store import Store
from bot.slack.app import create_slack
from bot.slack.settings import SlackSettings
from support.scripted import CATALOG, Lookup, NoRedaction, answer, called, found, toolbox, turn


class Methodical:
    """Looks, then answers; so a resumed run goes on where it was."""

    name = "methodical"

    async def complete(self, request: Any) -> Any:
        if not request.seen:
            return turn(called("lookup", {"what": "apples"}))
        return turn(answer("apples was found", ("apples was found", ["o1"])))


def die_before(commit: int) -> None:
    """``kill -9`` of this process when SQLite is told to commit for that time."""
    left = itertools.count(commit, -1)
    connect = sqlite3.connect

    def watch(statement: str) -> None:
        if statement == "COMMIT" and next(left) == 1:
            os.kill(os.getpid(), signal.SIGKILL)

    def watched(*args: Any, **more: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*args, **more)
        connection.set_trace_callback(watch)
        return connection

    sqlite3.connect = watched  # type: ignore[assignment]


async def main(folder: Path, api_url: str, commit: int | None) -> None:
    hold = folder / "hold"

    async def look(arguments: Any, context: Any) -> Any:
        while hold.exists():
            await asyncio.sleep(0.01)
        return found(f"{arguments.what} was found")

    prepare(folder / "oncall.db")
    if commit is not None:
        die_before(commit)
    store = Store.open(folder / "oncall.db")
    settings = SlackSettings(
        bot_token="xoxb-playground-oncall", app_token="xapp-playground-oncall", base_url=api_url
    )
    slack = await create_slack(settings, Links("k" * 40, "http://127.0.0.1:8410"))
    service = RunService(
        store=store,
        owner=Owner(folder / "owners"),
        surfaces=(slack.surface,),
        model=Methodical,
        workbench=lambda _: Workbench(toolbox(Lookup(look)), CATALOG),
        redactor=NoRedaction,
        workspace="demo",
        limits=Limits(),
        queue=QueueLimits(waiting=1_000),
        clock=Clock(),
    )
    await slack.start(service)
    await service.resume_unfinished()
    print("ready", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    dies_at = int(sys.argv[3]) if len(sys.argv) > 3 else None
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], dies_at))
