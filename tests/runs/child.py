"""A bot process that a test kills: ``python child.py DATABASE SIDE_EFFECTS MODE KEY``.

Its model looks at apples, then at pears, then answers. Its tool writes each beginning and each end to
the side effects file; the pears never end in MODE ``stuck``. MODE ``post`` never ends the post.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

from bot.loop.wire import Request, Turn
from bot.runs.records import Ask, RunRecord
from bot.runs.service import Accepted
from runs.bench import Channel, serving
from support.scripted import NOW, Lookup, answer, called, forever, found, turn

WANTED = ("apples", "pears")


class Methodical:
    """Asks for what it has not seen; so a resumed run goes on where it was."""

    name = "methodical"

    async def complete(self, request: Request) -> Turn:
        number = len(request.seen)
        if number < len(WANTED):
            return turn(called("lookup", {"what": WANTED[number]}))
        return turn(answer("apples was found", ("pears was found", ["o2"])))


def note(file: Path, line: str) -> None:
    with file.open("a", encoding="utf-8") as out:
        out.write(f"{line}\n")
        out.flush()
        os.fsync(out.fileno())


async def main(database: Path, effects: Path, mode: str, key: str) -> None:
    async def look(arguments: Any, context: Any) -> Any:
        note(effects, f"began {arguments.what}")
        if mode == "stuck" and arguments.what == "pears":
            await forever()
        note(effects, f"ended {arguments.what}")
        return found(f"{arguments.what} was found")

    async def post(run: RunRecord) -> None:
        note(effects, f"posting intended={run.reply.intent_at if run.reply else None}")
        if mode == "post":
            await forever()

    channel = Channel(before_reply=post)
    async with serving(database, channel, Lookup(look), model=Methodical) as service:
        for left in await service.resume_unfinished():
            await service.wait(left.id)
        taken = await service.accept(
            Ask(origin_key=key, surface="channel", text="What was found?", asked_at=NOW, address={})
        )
        if isinstance(taken, Accepted):
            await service.wait(taken.run.id)
        for run, outcome in channel.replies:
            note(effects, f"replied {run.origin_key} {outcome.kind}")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], sys.argv[4]))
