"""What Prometheus is told: the real service's events, read by Prometheus' own parser."""

from __future__ import annotations

import asyncio
import json
import math
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from bot.loop.journal import Event
from bot.loop.limits import Limits
from bot.loop.stopping import Clock
from bot.loop.wire import ModelError, ModelErrorKind, Usage
from bot.metrics import LONGEST_RUN_SECONDS, Metrics, Now
from bot.models.settings import ModelSettings
from bot.playground.incident import make_demo_workspace
from bot.runs.counts import reply_counts
from bot.runs.dispatch import Load
from bot.runs.links import Links
from bot.runs.records import ReplyState
from bot.web.app import create_app
from bot.web.client import BotAt
from bot.web.metrics import metrics_route
from bot.web.server import WebServer, listen
from runs.bench import LOOK_THEN_ANSWER, Channel, accepted, opened, serving
from support.scripted import FakeTime, Lookup, ScriptedModel, called, turn
from tools.base import ToolError
from tools.http import HttpClient

ROOT = Path(__file__).parent.parent
QUIET = Now(Load(0, 0), None, None)
SECRETIVE = "Did <user@example.com> in #inc-checkout break it?"
PRICED = ModelSettings.model_validate(
    {
        "kind": "anthropic",
        "model": "scripted",
        "currency": "EUR",
        "prices": {"scripted": {"input": 4.0, "cached": 0.4, "output": 20.0}},
    }
)

Value = Callable[..., float]


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "oncall.db"


def read(metrics: Metrics, now: Now = QUIET) -> Value:
    body, _ = metrics.page("", now)
    return values_in(body.decode())


def values_in(text: str) -> Value:
    """The value of a series by its name and all its labels."""
    found = {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }

    def value(name: str, **labels: str) -> float:
        return found[name, tuple(sorted(labels.items()))]

    return value


async def events_of(
    database: Path, plays: Sequence[Any], tool: Lookup | None = None, **more: Any
) -> list[Event]:
    channel = Channel()
    async with serving(
        database, channel, tool or Lookup(), model=lambda: ScriptedModel(*plays), **more
    ) as service:
        await service.wait((await accepted(service, text=SECRETIVE)).id)
    return channel.events


async def counted(metrics: Metrics, database: Path, plays: Sequence[Any], **more: Any) -> None:
    for event in await events_of(database, plays, **more):
        metrics.saw("01ABC", event)


def metrics_of(settings: ModelSettings = PRICED) -> Metrics:
    return Metrics(settings, FakeTime().clock().monotonic)


async def test_an_answered_run_counts_once_with_its_steps_and_calls(database: Path) -> None:
    metrics = metrics_of()
    await counted(metrics, database, LOOK_THEN_ANSWER)
    value = read(metrics)
    assert value("oncall_runs_total", outcome="answer", stop="answered") == 1
    assert value("oncall_run_steps_sum") == 2
    assert value("oncall_run_steps_count") == 1
    assert value("oncall_run_seconds_count") == 1
    assert value("oncall_model_call_seconds_count", model="scripted") == 2
    assert value("oncall_tool_calls_total", tool="lookup", status="ok") == 1
    assert value("oncall_tool_calls_total", tool="answer", status="ok") == 1
    assert value("oncall_tool_call_seconds_count", tool="lookup") == 1


async def test_tokens_are_counted_once_each_and_cost_what_their_kind_costs(database: Path) -> None:
    usage = Usage(input_tokens=1_000, output_tokens=50, cached_tokens=700, cache_written_tokens=200)
    first = LOOK_THEN_ANSWER[0].model_copy(update={"usage": usage})
    metrics = metrics_of()
    await counted(metrics, database, (first, LOOK_THEN_ANSWER[1]))
    value = read(metrics)
    tokens = {
        direction: value("oncall_model_tokens_total", model="scripted", direction=direction)
        for direction in ("input", "cached", "cache_write", "output")
    }
    assert tokens == {"input": 100 + 10, "cached": 700, "cache_write": 200, "output": 50}
    cost = (110 * 4.0 + 700 * 0.4 + 200 * 5.0 + 50 * 20.0) / 1e6
    money = value("oncall_model_cost_total", model="scripted", currency="EUR")
    assert money == pytest.approx(cost)


async def test_a_call_without_a_price_is_said_and_not_taken_for_free(database: Path) -> None:
    metrics = metrics_of(ModelSettings())
    await counted(metrics, database, LOOK_THEN_ANSWER)
    value = read(metrics)
    assert value("oncall_model_unpriced_calls_total", model="scripted", why="no_price") == 2
    with pytest.raises(KeyError):
        value("oncall_model_cost_total", model="scripted", currency="USD")


async def test_a_call_without_usage_is_said(database: Path) -> None:
    metrics = metrics_of()
    silent = [one.model_copy(update={"usage": Usage()}) for one in LOOK_THEN_ANSWER]
    await counted(metrics, database, silent)
    value = read(metrics)
    assert value("oncall_model_unpriced_calls_total", model="scripted", why="no_usage") == 2


async def test_failed_calls_and_broken_tools_are_counted_by_kind(database: Path) -> None:
    async def broken(*_: object) -> Any:
        raise ToolError("no")

    metrics = metrics_of()
    await counted(
        metrics,
        database,
        (
            turn(called("lookup", {"what": "apples"})),
            ModelError(ModelErrorKind.OVERLOADED, "529", retry_after=0.0),
            ModelError(ModelErrorKind.AUTH, "401"),
        ),
        tool=Lookup(broken),
        limits=Limits(model_retries=1),
    )
    value = read(metrics)
    assert value("oncall_runs_total", outcome="failure", stop="model_unavailable") == 1
    assert value("oncall_model_call_errors_total", model="scripted", kind="overloaded") == 1
    assert value("oncall_model_call_errors_total", model="scripted", kind="auth") == 1
    assert value("oncall_model_call_seconds_count", model="scripted") == 3
    assert value("oncall_tool_calls_total", tool="lookup", status="error") == 1


async def test_no_text_of_people_and_no_run_becomes_a_label(database: Path) -> None:
    metrics = metrics_of()
    await counted(metrics, database, LOOK_THEN_ANSWER)
    body, _ = metrics.page("", QUIET)
    labels = {
        label
        for family in text_string_to_metric_families(body.decode())
        for sample in family.samples
        for label in sample.labels
    }
    assert labels <= {
        *("outcome", "stop", "model", "direction", "currency", "why", "kind", "tool", "status"),
        *("phase", "reason", "state", "le"),
    }
    for text in (b"01ABC", b"apples", b"inc-checkout", b"example.com"):
        assert text not in body


async def test_a_run_that_another_process_took_over_is_forgotten(database: Path) -> None:
    time = FakeTime()
    metrics = Metrics(PRICED, time.clock().monotonic)
    started = (await events_of(database, LOOK_THEN_ANSWER))[0]
    metrics.saw("01LOST", started)
    time.seconds += LONGEST_RUN_SECONDS
    metrics.saw("01NEXT", started)
    assert metrics._begun.keys() == {"01NEXT"}


def test_what_is_so_just_now_is_told_and_what_is_unknown_is_not_made_up() -> None:
    metrics = metrics_of()
    replies = {ReplyState.POSTED: 5, ReplyState.INTENDED: 1, ReplyState.GONE: 0}
    value = read(metrics, Now(Load(2, 3), replies, slack_up=False))
    assert value("oncall_runs_active") == 2
    assert value("oncall_runs_waiting") == 3
    assert value("oncall_replies", state="posted") == 5
    assert value("oncall_replies", state="gone") == 0
    assert value("oncall_store_up") == 1
    assert value("oncall_slack_up") == 0
    down = read(metrics, QUIET)
    assert down("oncall_store_up") == 0
    assert math.isnan(down("oncall_slack_up"))
    with pytest.raises(KeyError):
        down("oncall_replies", state="posted")


@pytest.fixture
async def address(database: Path) -> AsyncIterator[str]:
    """The pages with the metrics of a bot that answered once, on a real port."""
    metrics = metrics_of()
    await counted(metrics, database, LOOK_THEN_ANSWER)
    async with opened(database) as store:

        async def exposed(accept: str) -> tuple[bytes, str]:
            return metrics.page(accept, Now(Load(0, 0), await reply_counts(store), slack_up=True))

        at = listen("127.0.0.1", 0)
        links = Links("k" * 40, "http://bot.test")
        web = WebServer(create_app(store, links, Clock(), more=(metrics_route(exposed),)), at)
        await web.start()
        yield f"http://127.0.0.1:{at.getsockname()[1]}"
        await web.stop()


async def test_prometheus_reads_them_beside_the_pages_in_both_of_its_forms(address: str) -> None:
    async with httpx.AsyncClient(trust_env=False) as client:
        plain = await client.get(f"{address}/metrics")
        newer = await client.get(
            f"{address}/metrics", headers={"accept": "application/openmetrics-text"}
        )
    assert plain.status_code == newer.status_code == 200
    assert plain.headers["content-type"].startswith("text/plain; version=")
    assert plain.headers["cache-control"] == "no-store"
    value = values_in(plain.text)
    assert value("oncall_replies", state="posted") == 1
    assert value("oncall_runs_total", outcome="answer", stop="answered") == 1
    assert value("process_resident_memory_bytes") > 0
    assert newer.headers["content-type"].startswith("application/openmetrics-text")
    assert newer.text.endswith("# EOF\n")
    assert "_created" not in plain.text + newer.text


def test_the_documentation_names_every_metric_and_no_other() -> None:
    body, _ = metrics_of().page("", QUIET)
    made = {
        f"{family.name}{'_total' if family.type == 'counter' else ''}"
        for family in text_string_to_metric_families(body.decode())
        if family.name.startswith("oncall_")
    }
    told = set(re.findall(r"`(oncall_\w+)`", (ROOT / "docs" / "metrics.md").read_text("utf-8")))
    assert told == made


def test_a_question_from_a_terminal_loads_no_metrics() -> None:
    code = "import sys, bot.cli, bot.asking; print('prometheus_client' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize(("wanted", "status"), [("true", 200), ("false", 404)])
async def test_a_served_bot_counts_what_it_was_asked_unless_metrics_are_off(
    wanted: str, status: int, tmp_path: Path
) -> None:
    root = make_demo_workspace(tmp_path / "workspace").root
    kept = {n: v for n, v in os.environ.items() if not n.startswith(("ONCALL_", "SLACK_"))}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot", "serve", "--json", "--workspace", str(root)),
        cwd=ROOT,
        env=kept | {"ONCALL_WEB__PORT": "0", "ONCALL_WEB__METRICS": wanted},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert process.stdout is not None
        told = json.loads(await asyncio.wait_for(process.stdout.readline(), 40))
        async with HttpClient() as http, httpx.AsyncClient(trust_env=False) as client:
            there = BotAt(http, told["ask"])
            await there.ended(
                await there.ask({"question": "What changed in deploy 4471?", "key": "asked-once"})
            )
            page = await client.get(f"{told['address']}/metrics")
    finally:
        process.send_signal(signal.SIGINT)
        await asyncio.wait_for(process.wait(), 20)
    assert page.status_code == status
    if status == 200:
        value = values_in(page.text)
        assert value("oncall_run_steps_count") == 1
        assert value("oncall_runs_active") == 0
        assert value("oncall_replies", state="posted") == 1
        assert math.isnan(value("oncall_slack_up"))
