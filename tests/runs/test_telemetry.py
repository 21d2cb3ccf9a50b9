"""What logs and terminals say of a run: one structured event a phase, four lines a turn."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog

from bot.loop.journal import Event
from bot.loop.limits import Limits
from bot.loop.wire import ModelError, ModelErrorKind, Usage
from bot.runs.records import RunRecord
from bot.runs.service import Accepted, Workbench
from bot.telemetry import TurnLines, fields, log_event, log_to
from bot.terminal import LiveLog, clean
from runs.bench import LOOK_THEN_ANSWER, Channel, ask, serving
from support.scripted import Lookup, ScriptedModel, called, found, turn


@pytest.fixture(autouse=True)
def fresh_logging() -> Iterator[None]:
    yield
    structlog.reset_defaults()


async def events_of(database: Path, *plays: Any, **more: Any) -> list[Event]:
    channel = Channel()
    async with serving(
        database, channel, Lookup(), model=lambda: ScriptedModel(*plays), **more
    ) as service:
        taken = await service.accept(ask())
        assert isinstance(taken, Accepted)
        await service.wait(taken.run.id)
    return channel.events


async def test_a_log_has_one_json_object_for_every_phase_of_every_step(database: Path) -> None:
    out = io.StringIO()
    log_to(out, verbose=True)
    events = await events_of(database, *LOOK_THEN_ANSWER)
    for event in events:
        log_event("01ABC", event)
    told = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [one["event"] for one in told] == [event.kind for event in events]
    assert {one["run"] for one in told} == {"01ABC"}
    first = {one["phase"]: one for one in told if one.get("step") == 1}
    assert set(first) == {"call", "decide", "execute", "append"}
    by_kind = {one["event"]: one for one in told if one.get("step") == 1}
    assert by_kind["model_returned"]["input_tokens"] == 10
    assert by_kind["model_returned"]["finish"] == "tool_use"
    assert by_kind["decided"]["thought"] == "Look first."
    assert by_kind["tool_called"]["arguments"] == {"what": "apples"}
    assert by_kind["tool_returned"]["ok"] is True
    assert by_kind["tool_returned"]["call"] == "o1"
    assert told[-1]["stop"] == "answered"


async def test_a_quiet_log_keeps_only_what_went_wrong_in_a_file_made_when_needed(
    database: Path, tmp_path: Path
) -> None:
    def broken(run: RunRecord) -> Workbench:
        raise KeyError("the reason")

    log = tmp_path / "oncall.log"
    log_to(log, verbose=False)
    await events_of(database, *LOOK_THEN_ANSWER)
    assert not log.exists()
    async with serving(database, Channel(), workbench=broken) as service:
        taken = await service.accept(ask("m2"))
        assert isinstance(taken, Accepted)
        await service.wait(taken.run.id)
    (line,) = log.read_text().splitlines()
    assert json.loads(line)["event"] == "job_fault"
    assert "KeyError: 'the reason'" in json.loads(line)["exception"]


def test_a_log_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    log_to(tmp_path / "nowhere" / "oncall.log", verbose=False)
    structlog.get_logger().error("lost")
    closed = io.StringIO()
    closed.close()
    log_to(closed, verbose=False)
    structlog.get_logger().error("lost too")


async def test_a_turn_reads_as_four_lines(database: Path) -> None:
    usage = Usage(input_tokens=1_804, output_tokens=61, cached_tokens=1_512)
    first = LOOK_THEN_ANSWER[0].model_copy(update={"usage": usage})
    lines = TurnLines()
    said = [
        line
        for event in await events_of(database, first, LOOK_THEN_ANSWER[1])
        for line in lines.of(event)
    ]
    assert said[:3] == [
        "turn 1  in 1,804 tok  out 61 tok  stop tool_use  cached 1,512",
        '  -> lookup(what="apples")',
        "  <- ok apples was found, 16 of 16 chars (o1)",
    ]
    assert said[3].startswith("  elapsed ")
    assert len(said) == 8


async def test_outages_cuts_and_stops_have_their_lines(database: Path) -> None:
    lines = TurnLines()
    events = await events_of(
        database,
        ModelError(ModelErrorKind.OVERLOADED, "529", retry_after=0.0),
        ModelError(ModelErrorKind.AUTH, "401"),
        limits=Limits(model_retries=1),
    )
    said = [line for event in events for line in lines.of(event)]
    assert said == [
        "turn 1  overloaded: 529, again in 0.0 s",
        "turn 1  auth: 401",
        "  stop: model_unavailable 401",
    ]
    assert all(fields(event) for event in events)


async def test_a_long_argument_is_shortened_and_a_notice_is_shown(database: Path) -> None:
    script = (
        turn(called("lookup", {"what": "x" * 500})),
        turn(text="I think it was apples.", finish=LOOK_THEN_ANSWER[0].finish),
        LOOK_THEN_ANSWER[1],
        LOOK_THEN_ANSWER[1],
    )
    lines = TurnLines()
    said = [line for event in await events_of(database, *script) for line in lines.of(event)]
    assert all(len(line) < 400 for line in said[:3])
    assert any(line.startswith("  !! ") for line in said)


async def test_a_served_run_is_followed_in_a_terminal_by_the_end_of_its_id(database: Path) -> None:
    out = io.StringIO()
    log = LiveLog(out)
    for event in await events_of(database, *LOOK_THEN_ANSWER):
        log("01ABCDWXYZ", event)
    said = out.getvalue().splitlines()
    assert said[0].startswith("WXYZ  turn 1")
    assert said[-1] == "WXYZ  ended: answered"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[2Jb", "a\ufffd[2Jb"),
        ("ok\nTrace: http://evil", "ok Trace: http://evil"),
        ("abc\u202edcba", "abc\ufffddcba"),
        ("5s → 1s", "5s → 1s"),
    ],
)
def test_text_of_others_cannot_drive_the_terminal(text: str, shown: str) -> None:
    assert clean(text) == shown
    assert found(shown).text == shown
