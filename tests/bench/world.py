"""What the benchmarks run: the real engine with the real adapter, redactor and journals, over one
tool whose results are made beforehand.
"""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field

from bot.loop.journal import Journal
from bot.loop.limits import Limits
from bot.loop.outcome import Answer, Outcome
from bot.loop.question import parse
from bot.loop.stopping import Clock, Stop
from bot.loop.toolbox import Toolbox
from bot.loop.wire import Model
from bot.models.make import adapter
from bot.models.settings import EndpointSettings
from bot.redact import Redactor
from bot.runs.ids import new_run_id
from bot.runs.journal import StoreJournal
from bot.runs.records import RunRecord, RunState
from bot.runs.store import Store
from tools.base import Arguments, CallContext, Status, Tool, ToolResult
from tools.http import HttpClient

CATALOG = {"checkout": "checkout", "payments-api": "payments-api", "payments": "payments-api"}
KB = 1024


class LookupArguments(Arguments):
    what: str = Field(default="thing", description="What to look up.")
    limit: int = Field(default=5, ge=1, le=50, description="How many rows at most.")


class Lookup(Tool[LookupArguments]):
    """Returns the prepared texts in order."""

    name: ClassVar[str] = "lookup"
    description: ClassVar[str] = "Look something up in the deploys and the incidents."
    arguments: type[LookupArguments] = LookupArguments

    def __init__(self, texts: list[str]) -> None:
        self._texts = iter(texts)

    async def run(self, arguments: LookupArguments, context: CallContext) -> ToolResult:
        text = next(self._texts)
        return ToolResult(status=Status.OK, summary=f"{arguments.what} was found", text=text)


def observations(seed: int, steps: int, size: int) -> list[str]:
    """Texts of about ``size`` characters that look like deploys; none is like another. Each holds
    the deploy that the question of this seed names.
    """
    dice = random.Random(seed)
    texts = []
    for step in range(1, steps):
        asked = f"deploy {seed + 1}  payments-api  production  v2.3.1  success"
        rows = [f"{asked}  2026-11-29T01:44:00Z  config/retry.yaml retry.budget: 5s → 1s"]
        while sum(map(len, rows)) + len(rows) < size:
            sha = f"{dice.getrandbits(160):040x}"
            number, minute = dice.randrange(1_000, 9_999), dice.randrange(60)
            rows.append(
                f"{number}  payments-api  production  v2.{minute}.{step}  {sha[:12]}  success  "
                f"2026-11-29T01:{minute:02d}:00Z  config/retry.yaml retry.budget: {minute}s → 1s"
            )
        texts.append("\n".join(rows)[:size])
    return texts


def question_text(seed: int) -> str:
    return f"Which service caused checkout incident {seed}, and what changed in deploy {seed + 1}?"


def model(url: str, client: HttpClient, name: str) -> Model:
    return adapter(_endpoint(url, name), client, Clock())


@lru_cache
def _endpoint(url: str, name: str) -> EndpointSettings:
    """Settings are read once a process."""
    return EndpointSettings(kind="openai", model=name, base_url=url)


@lru_cache
def limits(steps: int) -> Limits:
    return Limits(
        max_steps=max(steps, 2),
        observation_chars=9 * KB,
        request_tokens=1_000_000,
        run_tokens=10_000_000,
        deadline_seconds=300,
    )


async def answered(
    seed: int, steps: int, texts: list[str], asked: Model, journal: Journal
) -> Outcome:
    """One whole run of the engine, as the service makes it."""
    from bot.loop.engine import run  # noqa: PLC0415 - the start of a process is measured elsewhere

    clock = Clock()
    now = datetime(2026, 11, 29, 2, 14, tzinfo=UTC)
    outcome = await run(
        parse(question_text(seed), now, CATALOG),
        asked,
        Toolbox([Lookup(texts)], Redactor()),
        limits(steps),
        journal,
        Stop(clock, clock.monotonic() + 300),
    )
    if not isinstance(outcome, Answer) or outcome.steps != steps:
        raise RuntimeError(f"the trajectory was not played: {outcome!r}")
    return outcome


async def stored(store: Store) -> StoreJournal:
    """The journal of a new run in the store, claimed."""
    now = datetime.now(UTC)
    run = RunRecord(
        id=new_run_id(now),
        origin_key=f"bench:{random.getrandbits(64)}",
        surface="bench",
        address={},
        workspace=str(Path.cwd()),
        question="What was found?",
        thread=(),
        asked_at=now,
        accepted_at=now,
        state=RunState.ACCEPTED,
        epoch=0,
        owner="bench",
    )
    await store.accept(run, ())
    claimed = await store.claim(run, "bench", now, now + timedelta(minutes=5))
    if claimed is None:
        raise RuntimeError("the run could not be claimed")
    return StoreJournal(store, claimed.id, claimed.epoch, lambda: datetime.now(UTC))


Payload = dict[str, Any]
