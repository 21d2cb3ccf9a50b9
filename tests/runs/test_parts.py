"""The small parts of a run's life: owners, links, the dispatcher, the words of a reply."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
import structlog

from bot.loop.limits import StopReason
from bot.loop.outcome import Answer, Cited, Claim, Established, Failure, Proposal
from bot.loop.state import Phase
from bot.runs.dispatch import LocalDispatcher, QueueLimits
from bot.runs.errors import StoreError
from bot.runs.links import Links, rotate_key, signing_key
from bot.runs.owner import Owner
from bot.runs.reply_text import Point, Source, reply_text
from bot.telemetry import log_to
from tools.records import Confidence

ROOT = Path(__file__).parent.parent.parent
KEY = "k" * 40

# --- owners -------------------------------------------------------------------------------------


def test_an_owner_lives_until_it_closes(tmp_path: Path) -> None:
    with Owner(tmp_path) as me:
        with Owner(tmp_path) as other:
            assert me.lives(other.name)
            assert me.lives(me.name)
        assert not me.lives(other.name)
        assert not me.lives(None)
        assert not me.lives("host_1_never")


def test_an_owner_that_was_killed_is_dead_though_its_file_stays(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from bot.runs.owner import Owner;"
        f"owner = Owner(Path({str(tmp_path)!r})); print(owner.name, flush=True); sys.stdin.read()"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with child, Owner(tmp_path) as me:
        assert child.stdout is not None
        name = child.stdout.readline().strip()
        assert me.lives(name)
        child.kill()
        child.wait()
        assert not me.lives(name)
        assert len(list(tmp_path.glob("*.lock"))) == 2


def test_files_of_owners_long_dead_are_swept_and_living_ones_are_not(tmp_path: Path) -> None:
    long_ago = time.time() - 200_000
    dead = tmp_path / "host.1.dead.lock"
    dead.touch()
    with Owner(tmp_path) as living:
        for file in tmp_path.glob("*.lock"):
            os.utime(file, (long_ago, long_ago))
        with Owner(tmp_path) as me:
            assert not dead.exists()
            assert me.lives(living.name)


# --- links --------------------------------------------------------------------------------------


def test_a_link_leads_to_its_run_and_no_other_token_does() -> None:
    links = Links(KEY, "https://oncall.example/")
    link = links.trace("01ABC")
    assert link.startswith("https://oncall.example/t/")
    token = link.rsplit("/", 1)[1]
    assert links.run_of(token) == "01ABC"
    for wrong in (token[:-1], token + "x", "01ABC", "", "é", Links("o" * 40, "").trace("01ABC")):
        assert links.run_of(wrong) is None


def test_the_key_is_made_once_for_its_user_only_and_can_be_rotated(tmp_path: Path) -> None:
    file = tmp_path / ".oncall" / "signing.key"
    first = signing_key(file)
    assert signing_key(file) == first
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    rotate_key(file)
    assert signing_key(file) != first
    assert list(file.parent.iterdir()) == [file]


def test_a_key_that_is_too_short_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "signing.key"
    file.write_text("short")
    with pytest.raises(StoreError, match="too short: remove the file"):
        signing_key(file)


# --- the dispatcher -----------------------------------------------------------------------------


async def test_so_many_jobs_run_at_once_and_the_next_one_takes_the_free_place() -> None:
    dispatcher = LocalDispatcher(QueueLimits(running=2, waiting=2))
    gates = {name: asyncio.Event() for name in "abcd"}
    at_work: list[str] = []

    async def job(name: str) -> None:
        at_work.append(name)
        await gates[name].wait()

    for name in "abcd":
        assert dispatcher.reserve()
        dispatcher.start(name, lambda name=name: job(name))  # type: ignore[misc]
        dispatcher.release()
    assert not dispatcher.reserve()
    await asyncio.sleep(0)
    assert at_work == ["a", "b"]
    gates["b"].set()
    await dispatcher.wait("b")
    await asyncio.sleep(0)
    assert at_work == ["a", "b", "c"]
    dispatcher.hurry("d")
    await asyncio.sleep(0)
    assert at_work == ["a", "b", "c", "d"]
    for gate in gates.values():
        gate.set()
    assert await dispatcher.drain(1)
    assert dispatcher.reserve()


async def test_a_job_that_fails_tells_who_waits_and_frees_its_place() -> None:
    dispatcher = LocalDispatcher(QueueLimits(running=1, waiting=0))

    async def fail() -> None:
        raise StoreError("the disk is full")

    dispatcher.start("a", fail)
    with pytest.raises(StoreError, match="disk is full"):
        await dispatcher.wait("a")
    assert not dispatcher.has("a")
    assert dispatcher.reserve()


async def test_the_log_says_where_a_job_failed(tmp_path: Path) -> None:
    dispatcher = LocalDispatcher(QueueLimits())

    async def fail() -> None:
        raise StoreError("the disk is full")

    log_to(tmp_path / "log", verbose=False)
    try:
        dispatcher.start("a", fail)
        with pytest.raises(StoreError):
            await dispatcher.wait("a")
        await asyncio.sleep(0)
    finally:
        structlog.reset_defaults()
    (line,) = (tmp_path / "log").read_text("utf-8").splitlines()
    told = json.loads(line)
    assert (told["event"], told["run"]) == ("job_failed", "a")
    assert "StoreError: the disk is full" in told["exception"]
    assert "in fail" in told["exception"]


async def test_jobs_that_wait_when_all_is_cut_never_run() -> None:
    dispatcher = LocalDispatcher(QueueLimits(running=1, waiting=5))
    ran: list[str] = []

    async def job() -> None:
        ran.append("a")
        await asyncio.Event().wait()

    async def never() -> None:
        ran.append("b")

    dispatcher.start("a", job)
    dispatcher.start("b", never)
    await asyncio.sleep(0)
    assert not await dispatcher.drain(0)
    await dispatcher.cancel()
    assert ran == ["a"]


# --- the words of a reply -----------------------------------------------------------------------

ANSWER = Answer(
    headline="payments-api deploy 4471 most likely caused it",
    claims=(Claim(text="It cut retry.budget: 5s → 1s", evidence=("o1", "o2")),),
    unknowns=("who deployed it.",),
    not_checked=("feature flags", "configuration"),
    confidence=Confidence.MEDIUM,
    cited=(Cited(observation="o1", tool="search_deploy"), Cited(observation="o2", tool="get_diff")),
    steps=3,
    model="rules",
)
FAILURE = Failure(
    reason=StopReason.ABORTED,
    phase=Phase.EXECUTE,
    detail="Stopped by ada.",
    established=(Established(text="deploy 4471 finished 01:44", observation="o1"),),
    missing=("what changed in deploy 4471",),
    next_check="Look at payments-api deploy 4471.",
    steps=1,
    model="rules",
)


def test_an_answer_shows_confidence_marks_unknowns_and_what_was_not_checked() -> None:
    reply = reply_text(ANSWER, 8.24)
    assert reply.headline.endswith("caused it (confidence: medium)")
    assert reply.points == (Point("It cut retry.budget: 5s → 1s", ("1", "2")),)
    assert reply.notes == (
        "Not known: who deployed it.",
        "Not checked: feature flags; configuration.",
    )
    assert reply.sources == (Source("1", "search_deploy"), Source("2", "get_diff"))
    assert reply.facts == ("3 steps", "8.2 s", "answered by rules, no language model")


def test_an_answer_that_says_its_confidence_does_not_say_it_twice() -> None:
    said = ANSWER.model_copy(update={"headline": "It was 4471 (confidence: medium): 5s → 1s."})
    assert reply_text(said, None).headline == said.headline


def test_a_failure_says_why_what_was_established_what_is_missing_and_what_to_check() -> None:
    reply = reply_text(FAILURE, 1.0)
    assert reply.headline == "No answer. Stopped by ada."
    assert reply.points == (Point("deploy 4471 finished 01:44", ("1",)),)
    assert reply.notes == (
        "Missing: what changed in deploy 4471.",
        "Check next: Look at payments-api deploy 4471.",
    )
    assert reply.facts == ("1 step", "1.0 s")


def test_a_failure_without_a_detail_says_its_reason_in_plain_words() -> None:
    late = FAILURE.model_copy(
        update={"reason": StopReason.DEADLINE, "detail": "", "established": (), "missing": ()}
    )
    reply = reply_text(late, None)
    assert reply.headline == "No answer. The time for this question ran out."
    assert reply.notes[0] == "Nothing was established."


def test_a_proposal_is_said_to_be_undone_and_to_wait_for_a_person() -> None:
    proposal = Proposal(
        tool="rollback",
        arguments={"deploy": "4471"},
        reason="It cut the budget.",
        key="k",
        steps=2,
        model="x",
    )
    reply = reply_text(proposal, None)
    assert reply.headline == 'Proposed, not done: rollback(deploy="4471")'
    assert reply.notes == ("A person has to approve it.",)


@pytest.mark.parametrize(
    ("headline", "starts"),
    [
        ("web deploy 7 most likely caused it: `a: b`", "web deploy 7 most likely caused it (confidence: medium): "),
        ("web deploy 7 caused it", "web deploy 7 caused it (confidence: medium)"),
        ("web deploy 7 changed `a: b`", "web deploy 7 changed `a: b` (confidence: medium)"),
        (f"web deploy 7 caused {'x' * 120}", "Confidence medium: web deploy 7 caused xxx"),
    ],
)  # fmt: skip
def test_a_notification_holds_the_suspect_and_the_confidence(headline: str, starts: str) -> None:
    shown = reply_text(ANSWER.model_copy(update={"headline": headline}), None).headline
    assert shown.startswith(starts)
    assert "onfidence" in shown[:120]
    assert "medium" in shown[:120]
