"""The postmortem that a trace page offers, and the flags on thoughts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import MappingProxyType

import pytest

from bot.loop.engine import run
from bot.loop.journal import MemoryJournal
from bot.loop.limits import Limits, StopReason
from bot.loop.outcome import Failure, Outcome
from bot.loop.state import Phase
from bot.runs.records import RunRecord, RunState
from bot.web.postmortem import postmortem
from bot.web.trace import trace_view
from support.scripted import (
    INCIDENT,
    NOW,
    Canned,
    ScriptedModel,
    answer,
    asked,
    called,
    diff,
    found,
    ranking,
    stop_after,
    toolbox,
    turn,
)
from tools.records import Deploy, DiffShown, LaterDeploy, Mending, SuspectsRanked

QUESTION = "Which service caused the checkout incident, and what changed in deploy 4471?"
LINK = "https://bot.example/t/abc"
INCIDENT_AT = datetime(2026, 11, 29, 2, 6, tzinfo=UTC)


def record(outcome: Outcome | None) -> RunRecord:
    return RunRecord(
        id="r1",
        origin_key="k",
        surface="terminal",
        address=MappingProxyType({}),
        workspace="w",
        question=QUESTION,
        thread=(),
        asked_at=NOW,
        accepted_at=NOW,
        state=RunState.ENDED,
        epoch=1,
        outcome=outcome,
        ended_at=NOW + timedelta(seconds=2),
    )


async def test_a_trace_offers_a_postmortem_and_flags_a_thought_that_its_result_contradicts() -> (
    None
):
    journal = MemoryJournal()
    model = ScriptedModel(
        turn(called("search_deploy"), text="Looking."),
        turn(called("get_diff"), text="The search found nothing, so I read the diff."),
        turn(
            answer(
                "payments-api deploy 4471 caused the checkout incident",
                ("Deploy 4471 finished 01:44 UTC", ["o1"]),
                ("It changed 12 files; `retry.budget: 5s → 1s` in config/retry.yaml", ["o2"]),
            ),
            text="That are 13 files.",
        ),
    )
    tools = toolbox(Canned("search_deploy", ranking()), Canned("get_diff", diff()))
    limits = Limits(run_tokens=12_345_678, deadline_seconds=62.5)
    outcome = await run(asked(QUESTION), model, tools, limits, journal, stop_after())
    view = trace_view(record(outcome), journal.events, journal.blobs, LINK, NOW)

    assert [len(step.flags) for step in view.steps] == [0, 1, 1]
    assert view.steps[1].flags[0].observation == "o1"
    assert view.steps[2].flags[0].said == "13 files"
    shown = dict(view.limits)
    assert (shown["run_tokens"], shown["deadline_seconds"]) == ("12,345,678", "62.5")
    assert (shown["max_steps"], shown["tool_call_seconds"]) == ("8", "10")
    assert any(QUESTION in message for message in view.steps[0].request)

    text = view.postmortem
    assert text.startswith("# Postmortem: Checkout errors (INC-7)")
    for line in (
        "- 2026-11-29 02:06 INC-7: impact began",
        "- 2026-11-29 01:44 payments-api deploy 4471 finished, by maya",
        "1. payments-api 4471: checkout depends on payments-api",
        "  - `retry.budget: 5s → 1s` in `config/retry.yaml`",
        "- not checked: feature flags",
        f"- Trace: {LINK}",
    ):
        assert line in text.splitlines()
    times = [line[2:18] for line in text.splitlines() if line.startswith("- 2026-")]
    assert times == sorted(times)


def test_words_of_others_bring_no_heading_link_or_second_line_into_the_postmortem() -> None:
    hostile = "x](http://evil)\n# Heading <!channel> ![img](y)"
    value = ranking().value.model_copy(  # type: ignore[union-attr]
        update={"incident": INCIDENT.model_copy(update={"title": hostile})}
    )
    text = postmortem(record(None), [("o1", "search_deploy", found("s", value))], LINK)
    first = text.splitlines()[0]
    assert "\\]\\(" in first or "\\](" in first
    assert "\\# Heading" in first
    assert "![img]" not in text
    assert "<!channel>" not in text.replace("\\<!channel\\>", "")


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("a ` [x](http://evil)", r"a \` \[x\](http://evil)"),
        ("` ![i](http://evil/i.png) ``", r"\` !\[i\](http://evil/i.png) \`\`"),
        ("` a `` b `[x](http://evil)` c `", r"\` a \`\` b `[x](http://evil)` c \`"),
        ("set `retry[0] = *` to `<1s>` here*", r"set `retry[0] = *` to `<1s>` here\*"),
        ("~~~ swallows the rest", r"\~\~\~ swallows the rest"),
        ("- [ ] a task", r"\- \[ \] a task"),
        ("1. first", r"1\. first"),
        ("2.3.1 is out", "2.3.1 is out"),
        ("no\u202e txet\u202c \x1b[31mred\x00", r"no txet \[31mred"),
    ],
)
def test_what_stands_in_a_headline_is_markup_in_a_pair_of_backticks_alone(
    words: str, line: str
) -> None:
    failure = Failure(
        reason=StopReason.STEP_CAP,
        phase=Phase.DECIDE,
        missing=(words,),
        next_check=words,
        steps=1,
        model="rules",
    )
    lines = postmortem(record(failure), [], LINK).splitlines()
    assert f"- {line}" in lines
    assert f"- check next: {line}" in lines


def test_the_names_that_a_source_gives_bring_no_markup_into_the_postmortem() -> None:
    hostile = "x](http://evil)*"
    ranked = ranking().value
    assert isinstance(ranked, SuspectsRanked)
    suspects = tuple(
        each.model_copy(
            update={"deploy": each.deploy.model_copy(update={"service": hostile, "actor": hostile})}
        )
        for each in ranked.suspects
    )
    incident = INCIDENT.model_copy(update={"id": hostile, "severity": hostile})
    value = ranked.model_copy(update={"incident": incident, "suspects": suspects})
    text = postmortem(record(None), [("o1", "search_deploy", found("s", value))], LINK)
    assert text.count(r"x\](http://evil)\*") > 4
    assert hostile not in text


@pytest.mark.parametrize(
    ("words", "span"),
    [
        ("with_retries(on_retry): now passed", "`with_retries(on_retry): now passed`"),
        ("x` [a](http://evil) `y", "``x` [a](http://evil) `y``"),
        ("`` ![i](http://evil/i.png)", "``` `` ![i](http://evil/i.png) ```"),
        ("```", "```` ``` ````"),
        ("\\` <b> \\``", "``` \\` <b> \\`` ```"),
        ("one\n\n# two\u202e", "`one # two`"),
    ],
)
def test_what_a_diff_shows_is_one_span_of_code_whatever_backticks_it_holds(
    words: str, span: str
) -> None:
    shown = diff().value
    assert isinstance(shown, DiffShown)
    (first, *_) = shown.highlights
    hostile = first.model_copy(update={"text": words, "path": words})
    value = shown.model_copy(update={"highlights": (hostile,)})
    lines = postmortem(record(None), [("o1", "get_diff", found("s", value))], LINK).splitlines()
    assert f"  - {span} in {span}" in lines


def test_the_timeline_has_every_deploy_that_was_seen_not_only_the_suspects() -> None:
    ranked, shown = ranking().value, diff().value
    assert isinstance(ranked, SuspectsRanked)
    assert isinstance(shown, DiffShown)
    suspect = ranked.suspects[0].deploy

    def other(number: int, minutes: int) -> Deploy:
        at = INCIDENT_AT + timedelta(minutes=minutes)
        return suspect.model_copy(
            update={"id": str(number), "number": number, "finished_at": at, "started_at": None}
        )

    later = LaterDeploy(
        deploy=other(4480, 5),
        after_onset=timedelta(minutes=5),
        mending=Mending.NOTHING,
        mended=False,
        text="leaves it",
    )
    docs = "checkout deploy 4472 finished 13 min before onset but changes documentation only"
    text = postmortem(
        record(None),
        [
            (
                "o1",
                "search_deploy",
                found("s", ranked.model_copy(update={"later": (later,), "ruled_out": (docs,)})),
            ),
            ("o2", "get_diff", found("s", shown.model_copy(update={"base": other(4467, -60)}))),
        ],
        LINK,
    )
    timeline = text.split("## Timeline (UTC)\n")[1].split("\n\n")[0].splitlines()
    assert "- 2026-11-29 01:06 payments-api deploy 4467 finished, by maya" in timeline
    assert "- 2026-11-29 02:11 payments-api deploy 4480 finished, by maya" in timeline
    assert timeline[-1] == f"- ruled out: {docs}"


def test_a_run_without_an_incident_still_makes_a_document_to_fill_in() -> None:
    text = postmortem(record(None), [], LINK)
    assert text.startswith("# Postmortem: (fill in the incident)")
    assert "The run has not ended yet." in text
