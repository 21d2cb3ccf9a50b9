"""``oncall-bot runs`` and ``oncall-bot show``: what the store holds, in a terminal or as JSON."""

from __future__ import annotations

import json
import re
import sys
from datetime import datetime
from pathlib import Path

from bot.asking import as_json as run_as_json
from bot.config import load
from bot.costs import cost_of_run
from bot.loop.journal import EVENT
from bot.runs.errors import NoRunError
from bot.runs.journal import StoreJournal
from bot.runs.records import RunRecord
from bot.runs.reply_text import reply_text
from bot.runs.store import Store
from bot.telemetry import TurnLines
from bot.terminal import clean, how_it_ended, reply_lines, say, styled
from bot.wiring import links, open_store

MOST_NAMED = 5
"""Runs that an ambiguous name is said to mean."""
_QUESTION_CHARS = 60
_PART = re.compile(r"[0-9A-Z]{4,25}")
"""Of an id: a few characters of its beginning, or of its end, as a serving bot's log shows them."""


async def list_runs(root: Path, limit: int, *, as_json: bool) -> int:
    """Print the newest runs; the exit code."""
    settings = load(root)
    made = links(root, settings)
    async with open_store(root, settings) as store:
        found = await store.recent(limit)
        costs = [await cost_of_run(store, run, settings.model) for run in found]
    for run, cost in zip(found, costs, strict=True):
        if as_json:
            told = json.loads(run_as_json(run, run.outcome, made.trace(run.id)))
            told["cost"] = cost.text(settings.model.currency) if cost else None
            say(json.dumps(told, ensure_ascii=False))
        else:
            say(_line(run, cost.text(settings.model.currency) if cost else ""))
    if not found and not as_json:
        say('No questions yet. Ask one: oncall-bot ask "Which deploy broke checkout?"')
    return 0


async def show_run(root: Path, wanted: str, *, as_json: bool) -> int:
    """Print one run; the exit code. Raises ``NoRunError``."""
    settings = load(root)
    link = links(root, settings)
    async with open_store(root, settings) as store:
        run = await find_run(store, wanted)
        events = await StoreJournal(store, run.id, run.epoch, _no_clock).read()
        cost = await cost_of_run(store, run, settings.model)
    if as_json:
        told = json.loads(run_as_json(run, run.outcome, link.trace(run.id)))
        told["events"] = [EVENT.dump_python(event, mode="json") for event in events]
        say(json.dumps(told, ensure_ascii=False))
        return 0
    bold = styled(sys.stdout)
    say(bold(clean(run.question)))
    say(f"asked {run.asked_at:%Y-%m-%d %H:%M} UTC · {how_it_ended(run)} · run {run.id}\n")
    lines = TurnLines()
    for event in events:
        for line in lines.of(event):
            say(clean(line))
    if run.outcome is not None:
        say()
        for line in reply_lines(reply_text(run.outcome, run.seconds), bold):
            say(line)
    if cost is not None:
        say(f"Cost: {cost.text(settings.model.currency)}")
    say(f"Trace: {link.trace(run.id)}")
    return 0


async def find_run(store: Store, wanted: str) -> RunRecord:
    """By its id, its beginning or its end, or the newest for ``last``. Raises ``NoRunError``."""
    name = wanted.strip().upper() if wanted.isascii() else ""
    if name == "LAST":
        newest = await store.recent(1)
        if not newest:
            raise NoRunError('there is no run yet: ask something with `oncall-bot ask "…"`')
        return newest[0]
    ids: tuple[str, ...] = (name,)
    if _PART.fullmatch(name):
        ids = await store.ids_like(name, MOST_NAMED + 1)
    if len(ids) > 1:
        shown = ", ".join(ids[:MOST_NAMED]) + (", …" if len(ids) > MOST_NAMED else "")
        raise NoRunError(
            f"several runs are called {clean(wanted)!r}: {shown}. Write more of the id"
        )
    found = await store.run(ids[0]) if ids else None
    if found is None:
        raise NoRunError(f"there is no run {clean(wanted)[:60]!r}: `oncall-bot runs` lists them")
    return found


def _line(run: RunRecord, cost: str) -> str:
    text = " ".join(clean(run.question).split())
    if len(text) > _QUESTION_CHARS:
        text = f"{text[: _QUESTION_CHARS - 1]}…"
    took = f"{run.seconds:.1f} s" if run.seconds is not None else ""
    when = f"{run.asked_at:%Y-%m-%d %H:%M}"
    paid = f"  ({cost})" if cost else ""
    return f"{run.id}  {when}  {how_it_ended(run):<24} {took:>7}  {text}{paid}"


def _no_clock() -> datetime:
    raise AssertionError("a run that is only shown is not written to")
