"""How a reply looks, and that no reply breaks a limit, a fence or a promise."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.loop.limits import StopReason
from bot.loop.outcome import Answer, Cited, Claim, Established, Failure, Outcome, Proposal
from bot.loop.state import Phase
from bot.playground.blocks import check_blocks
from bot.slack.rendering import MAX_MARKDOWN, MAX_PLAIN, Message, notice, render
from tools.records import Confidence

TRACE = "http://127.0.0.1:8410/t/IjAx.x_-y"


def answer_of(**more: Any) -> Answer:
    base: dict[str, Any] = {
        "headline": "payments-api deploy 4471 caused the checkout incident: `retry.budget: 5s → 1s`",
        "claims": (
            Claim(text="Deploy 4471 finished 01:44 UTC, 22 min before onset", evidence=("o1",)),
            Claim(text="It changed 12 files; `retry.budget: 5s → 1s`", evidence=("o1", "o2")),
            Claim(text="Runner-up: web 4470, 01:05 UTC", evidence=("o1",)),
        ),
        "not_checked": ("feature flags",),
        "confidence": Confidence.HIGH,
        "cited": (
            Cited(observation="o1", tool="search_deploy"),
            Cited(observation="o2", tool="get_diff"),
        ),
        "steps": 3,
        "model": "rules",
    }
    return Answer(**(base | more))


def test_an_answer_looks_as_designed() -> None:
    message = render(answer_of(), 8.2, TRACE, outsiders=False)
    assert message.markdown == (
        "**payments-api** deploy 4471 caused the checkout incident (confidence: high): "
        "`retry.budget: 5s → 1s`\n\n"
        "- Deploy 4471 finished 01:44 UTC, 22 min before onset [1]\n"
        "- It changed 12 files; `retry.budget: 5s → 1s` [1][2]\n"
        "- Runner-up: web 4470, 01:05 UTC [1]\n\n"
        "Not checked: feature flags.\n\n"
        "[1] search_deploy [2] get_diff · 3 steps · 8.2 s · answered by rules, no language model "
        f"· [Trace]({TRACE})"
    )
    assert message.text.startswith(
        "*payments-api* deploy 4471 caused the checkout incident (confidence: high): "
    )
    assert message.text.endswith(f"<{TRACE}|Trace>")


def test_the_notification_names_suspect_and_confidence_first() -> None:
    message = render(answer_of(), 8.2, TRACE, outsiders=False)
    assert "payments-api" in message.text[:120]
    assert "confidence: high" in message.text[:120]


def test_a_proposal_says_that_nothing_was_done() -> None:
    proposal = Proposal(
        tool="restart",
        arguments={"service": "checkout"},
        reason="It hangs.",
        key="k",
        steps=2,
        model="m",
    )
    shown = render(proposal, 1.0, TRACE, outsiders=False).markdown
    assert shown.startswith('Proposed, not done: restart(service="checkout")')
    assert "A person has to approve it." in shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("see [this](http://evil.test)", "see [this] (http[:]//evil.test)"),
        ("# not a heading", "\\# not a heading"),
        ("a\u202eb\u200bc\u2066d", "abcd"),
        ("an `open tick", "an 'open tick"),
        ("<!here> & <b>", "&lt;!here&gt; & &lt;b&gt;"),
        ("two\nlines", "two lines"),
    ],
)
def test_text_of_others_is_shown_as_text(text: str, shown: str) -> None:
    claim = Claim(text=text, evidence=("o1",))
    message = render(answer_of(claims=(claim,)), None, TRACE, outsiders=False)
    assert f"- {shown} [1]" in message.markdown


def test_code_stays_in_whole_fences_when_it_is_cut() -> None:
    code = "before ```sql\n" + "SELECT 1;\n" * 2_000 + "``` after"
    claim = Claim.model_construct(text=code, evidence=("o1",))
    message = render(answer_of(claims=(claim,) * 12), None, TRACE, outsiders=False)
    assert_sound(message)
    assert "```\nSELECT 1;" in message.markdown
    assert "Shortened by " in message.markdown


# --- properties ----------------------------------------------------------------------------------

NASTY = st.sampled_from(
    [
        "<!channel>",
        "<!here|x>",
        "<@U0JONAS>",
        "<#C0GENERAL>",
        "<!subteam^S1>",
        "@here",
        "@channel",
        "@everyone",
        "```",
        "```py\n",
        "`",
        "``",
        "[a](http://evil.test)",
        "[a][b]",
        "\n[b]: http://evil.test",
        "| a | b |\n|---|---|\n",
        "\u202e",
        "\u200b",
        "\ud83d",
        "🛑",
        "👩‍💻",
        "שלום",
        "مرحبا",
        "&lt;!here&gt;",
        "&",
        "\\",
        "**",
        "\n\n# ",
        "> ",
        "x" * 3_000,
        "<" * 2_000,
        "word " * 500,
    ]
)
TEXT = st.lists(NASTY | st.text(max_size=60), max_size=25).map("".join)
MARKS = st.lists(st.integers(1, 40).map(lambda n: f"o{n}"), max_size=12).map(tuple)
CLAIM = st.builds(
    lambda text, evidence: Claim.model_construct(text=text, evidence=evidence), TEXT, MARKS
)


def many(texts: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(texts, max_size=14).map(tuple)


OUTCOME: st.SearchStrategy[Outcome] = st.one_of(
    st.builds(
        Answer.model_construct,
        kind=st.just("answer"),
        headline=TEXT,
        claims=many(CLAIM),
        unknowns=many(TEXT),
        not_checked=many(TEXT),
        confidence=st.sampled_from(list(Confidence)),
        cited=many(
            st.builds(Cited, observation=MARKS.map(lambda m: m[0] if m else "o1"), tool=TEXT)
        ),
        steps=st.integers(1, 50),
        model=st.sampled_from(["rules", "m"]),
    ),
    st.builds(
        Failure,
        reason=st.sampled_from(list(StopReason)),
        phase=st.sampled_from(list(Phase)),
        detail=TEXT,
        established=many(st.builds(Established, text=TEXT, observation=st.just("o1"))),
        missing=many(TEXT),
        next_check=TEXT,
        steps=st.integers(0, 50),
        model=st.just("m"),
    ),
    st.builds(
        Proposal,
        tool=TEXT,
        arguments=st.dictionaries(TEXT, TEXT, max_size=3),
        reason=TEXT,
        key=st.just("k"),
        steps=st.integers(1, 9),
        model=st.just("m"),
    ),
)

LIVE = re.compile(r"<[!@#]|@(?:here|channel|everyone)\b", re.IGNORECASE)
HIDDEN = re.compile(r"[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")


def assert_sound(message: Message, trace: str = TRACE) -> None:
    check_blocks([{"type": "markdown", "text": message.markdown}])
    assert len(message.markdown) <= MAX_MARKDOWN
    assert len(message.markdown) + len(message.text) <= 13_000
    assert len(message.plain) <= MAX_PLAIN
    assert len(message.brief) <= MAX_PLAIN
    for text in (message.markdown, message.text, message.plain, message.brief):
        assert text.strip()
        assert text.count("```") % 2 == 0
        assert not LIVE.search(text)
        assert not HIDDEN.search(text)
        text.encode()
        if trace:
            assert trace in text
    assert not re.search(r"\]\((?!http://127)", message.markdown), "a link that code did not make"
    for text in (message.text, message.plain, message.brief):
        outside = text.replace(f"<{trace}|Trace>", "") if trace else text
        assert "<" not in outside
        assert ">" not in outside
        assert not re.search(r"&(?!amp;|lt;|gt;)", outside)


@settings(deadline=None, max_examples=120)
@given(OUTCOME, st.none() | st.floats(0, 1e6))
def test_whatever_is_answered_the_reply_is_within_limits_safe_and_linked(
    outcome: Outcome, seconds: float | None
) -> None:
    assert_sound(render(outcome, seconds, TRACE, outsiders=False))


@settings(deadline=None, max_examples=80)
@given(OUTCOME)
def test_for_outsiders_there_is_never_code_or_a_link(outcome: Outcome) -> None:
    message = render(outcome, 1.0, TRACE, outsiders=True)
    assert_sound(message, trace="")
    for text in (message.markdown, message.text, message.plain, message.brief):
        assert "```" not in text
        assert "/t/" not in text


@settings(deadline=None)
@given(TEXT)
def test_a_notice_is_safe_as_well(words: str) -> None:
    message = notice(f"No: {words}")
    for text in (message.markdown, message.text):
        assert not LIVE.search(text)
        assert text.count("```") % 2 == 0
