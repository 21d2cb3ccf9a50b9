"""``oncall-bot erase``: one run deleted with all that is stored of it, and what was deleted said."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from bot.config import load
from bot.runs.erasing import Erased
from bot.runs.errors import NoRunError
from bot.runs.records import RunState
from bot.showing import find_run
from bot.terminal import clean, say
from bot.wiring import open_store
from tools.wording import plural

_QUESTION_CHARS = 60


async def erase_run(root: Path, wanted: str, *, as_json: bool) -> int:
    """Erase an ended run; the exit code. Raises ``NoRunError``."""
    if wanted.strip().lower() == "last":
        raise NoRunError("name the run to erase by its id: `oncall-bot runs` lists them")
    async with open_store(root, load(root)) as store:
        run = await find_run(store, wanted)
        if run.state is not RunState.ENDED:
            raise NoRunError(
                f"run {run.id} has not ended: stop it, or let `oncall-bot serve` end it, then erase it"
            )
        if run.reply is not None and not run.replied:
            raise NoRunError(
                f"the reply of run {run.id} is not posted yet: `oncall-bot serve` posts it, then"
                " erase the run"
            )
        erased = await store.erase(run.id)
        forks = await store.forks(run.id)
    if erased is None:
        raise NoRunError(f"run {run.id} was erased by somebody else just now")
    if as_json:
        told = {"run": run.id, "erased": asdict(erased), "forks": forks}
        say(json.dumps(told, ensure_ascii=False))
        return 0
    question = " ".join(clean(run.question).split())
    shown = question if len(question) <= _QUESTION_CHARS else f"{question[:_QUESTION_CHARS]}…"
    say(f'Erased run {run.id} ("{shown}"): {_parts(erased)}.')
    say("Its trace link leads nowhere now. What was posted elsewhere, as in Slack, stays.")
    if not erased.log_emptied:
        say(
            "Another process was reading the store, so parts of the run are still in the file's "
            "write-ahead log. `oncall-bot serve` tries again by itself; else erase any other run."
        )
    for fork in forks:
        say(f"A fork of it is kept, with the same steps: oncall-bot erase {fork}")
    return 0


def _parts(erased: Erased) -> str:
    parts = [
        plural(erased.events, "event"),
        plural(erased.blobs, "stored text"),
        plural(erased.replies, "reply record"),
        plural(erased.feedback, "vote"),
    ]
    return f"{', '.join(parts[:-1])} and {parts[-1]}"
