"""``oncall-bot replay`` and ``compare``: recorded runs driven again, forked, and held side by side.

Owns finding the runs and printing. The driving is ``bot.loop.replay``'s, the comparing
``bot.loop.compare``'s. A fork is kept as a run of its own, once it has ended.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from bot.cli_input import BAD_USE
from bot.config import Settings, load
from bot.loop import compare as comparing
from bot.loop.journal import Event, MemoryJournal
from bot.loop.outcome import Outcome
from bot.loop.replay import Drifted, NeedsVersion, Same, fork, replay, told
from bot.loop.stopping import Clock, Stop
from bot.loop.wire import Model
from bot.models.make import adapter
from bot.models.rules import NAME as RULES
from bot.models.rules import RulesModel
from bot.runs.errors import StoreError
from bot.runs.ids import new_run_id
from bot.runs.journal import StoreJournal
from bot.runs.records import ReplyState, RunRecord, RunState
from bot.runs.reply_text import reply_text
from bot.runs.store import Store
from bot.showing import find_run
from bot.slack.bindings import scope_for
from bot.terminal import exit_code, reply_lines, say, warn
from bot.wiring import http_client, links, open_store, workbench


async def replay_run(root: Path, wanted: str, *, as_json: bool) -> int:
    """Drive a run again, offline; 0 when every event came out the same, 1 when one differs."""
    settings = load(root)
    async with open_store(root, settings) as store:
        run = await find_run(store, wanted)
        scope = scope_for(run, settings.slack.bindings)
        done = await replay(_journal(store, run), workbench(root, scope).tools)
    lines = told(done)
    if as_json:
        say(json.dumps({"run": run.id, "same": isinstance(done, Same), "told": lines}))
    else:
        for line in lines:
            say(line)
    match done:
        case Same():
            return 0
        case Drifted() | NeedsVersion():
            return 1


async def fork_run(root: Path, wanted: str, step: int, model: str, *, as_json: bool) -> int:
    """Keep a run's steps before ``step`` and go on live with another model; the exit code."""
    settings = load(root)
    clock = Clock()
    async with open_store(root, settings) as store, http_client(settings.model) as client:
        run = await find_run(store, wanted)
        named = {e.shown: e for e in settings.model.endpoints}
        if model == RULES:
            chosen: Model = RulesModel()
        elif model in named and client is not None:
            chosen = adapter(named[model], client, clock)
        else:
            warn(f"there is no model {model!r}; there are: {', '.join([*named, RULES])}")
            return BAD_USE
        journal = MemoryJournal()
        stop = Stop(clock, clock.monotonic() + settings.limits.deadline_seconds)
        try:
            outcome = await fork(
                _journal(store, run),
                step,
                chosen,
                workbench(root, scope_for(run, settings.slack.bindings)).tools,
                settings.limits,
                journal,
                stop,
            )
        except ValueError as error:
            warn(str(error))
            return BAD_USE
        kept = await _keep(store, run, journal, settings)
        link = links(root, settings).trace(kept.id)
    _show(kept, outcome, link, as_json=as_json)
    return exit_code(outcome)


async def compare_runs(root: Path, first: str, second: str, *, as_json: bool) -> int:
    """Print the first difference of two runs; 0 when there is none."""
    settings = load(root)
    async with open_store(root, settings) as store:
        events: list[tuple[Event, ...]] = []
        for wanted in (first, second):
            run = await find_run(store, wanted)
            events.append(await _journal(store, run).read())
    compared = comparing.compare(events[0], events[1])
    lines = comparing.told(compared)
    if as_json:
        say(json.dumps({"same": compared.first is None, "told": lines}))
    else:
        for line in lines:
            say(line)
    return 0 if compared.first is None else 1


async def _keep(
    store: Store, run: RunRecord, journal: MemoryJournal, settings: Settings
) -> RunRecord:
    """The fork as a run that has ended and replied, with its whole journal."""
    now = Clock().now()
    made = replace(
        run,
        id=new_run_id(now),
        origin_key=f"fork:{run.id}:{secrets.token_hex(4)}",
        surface="terminal",
        address={},
        accepted_at=now,
        state=RunState.ACCEPTED,
        outcome=None,
        ended_at=None,
    )
    await store.accept(made, ())
    fresh = await store.run(made.id)
    deadline = now + timedelta(seconds=settings.limits.deadline_seconds)
    taken = await store.claim(fresh, "fork", now, deadline) if fresh else None
    if taken is None:
        raise StoreError(f"The fork of {run.id} could not be stored: try again.")
    await StoreJournal(store, taken.id, taken.epoch, Clock().now).append(
        journal.events, journal.blobs
    )
    await store.intend_reply(taken, "fork", now)
    await store.settle_reply(taken.id, ReplyState.POSTED, None)
    return await store.run(taken.id) or taken


def _show(run: RunRecord, outcome: Outcome, link: str, *, as_json: bool) -> None:
    if as_json:
        told_of = {"run": run.id, "trace": link, "outcome": outcome.model_dump(mode="json")}
        say(json.dumps(told_of, ensure_ascii=False))
        return
    for line in reply_lines(reply_text(outcome, None), str):
        say(line)
    say(f"Kept as run {run.id}. Trace: {link}")


def _journal(store: Store, run: RunRecord) -> StoreJournal:
    return StoreJournal(store, run.id, run.epoch, Clock().now)
