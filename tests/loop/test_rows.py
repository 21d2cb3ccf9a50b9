"""What one observation can support: which facts stand together, and where they stand."""

from __future__ import annotations

from datetime import timedelta
from itertools import takewhile

import pytest

from bot.loop.claims import claim_problems
from bot.loop.facts import Fact, FactKind
from bot.loop.grounds import Grounds
from bot.loop.rows import (
    LINES_A_CHUNK,
    LINES_AN_ANSWER,
    READ_AN_ANSWER,
    ROWS_AN_ANSWER,
    Reading,
    Row,
    holds,
    names_of,
)
from support.pads import pad
from support.scripted import INCIDENT, NOW, deploy, diff, found, ranking
from tools.base import ToolResult
from tools.records import (
    Commit,
    DiffShown,
    FileChange,
    FileKind,
    FileStatus,
    Highlight,
    PageRead,
    SuspectsRanked,
    TextRead,
)


def backed(text: str, *results: ToolResult) -> bool:
    cited = [f"o{n}" for n in range(1, len(results) + 1)]
    return claim_problems(text, cited, Grounds(pad(*results))) == []


def differing(**fields: object) -> ToolResult:
    result = diff()
    assert isinstance(result.value, DiffShown)
    return result.model_copy(update={"value": result.value.model_copy(update=fields)})


def suspected(**fields: object) -> ToolResult:
    """A ranking whose first suspect has these fields."""
    result = ranking()
    assert isinstance(result.value, SuspectsRanked)
    first, *rest = result.value.suspects
    suspects = (first.model_copy(update=fields), *rest)
    return result.model_copy(
        update={"value": result.value.model_copy(update={"suspects": suspects})}
    )


def test_a_deploy_goes_by_its_number_its_version_its_commit_and_its_id() -> None:
    assert names_of(deploy(12, id="D-12", ref="V2.3-RC", sha="ABC1234")) == {
        "12",
        "d-12",
        "2.3-rc",
        "abc1234",
    }
    assert names_of(
        deploy(12, id="D-12", ref=None, sha=None).model_copy(update={"number": None})
    ) == {"d-12"}


@pytest.mark.parametrize(
    ("needle", "stands"),
    [
        ("retry.budget", True),
        ("budget", True),
        ("udget", False),
        ("retry.bud", False),
        ("pool", True),
        ("pool_size", True),
        ("pool_siz", False),
        ("size", False),
        ("5s", True),
        ("s", False),
        (": 5s", True),
        (": 5", False),
        ("é", False),
        ("pool x", False),
    ],
)
def test_words_stand_where_nothing_grows_on_at_either_end(needle: str, *, stands: bool) -> None:
    row = Row(words=["apool pool_size caféx retry.budget: 5s pool"])
    assert holds([row], Fact(FactKind.CODE, needle, needle), quotations=False) is stands


def test_words_that_overlap_themselves_are_found_behind_their_first_trace() -> None:
    row = Row(words=["xaa aa.aab"])
    assert holds([row], Fact(FactKind.CODE, "aa", "aa"), quotations=False)
    again = Row(words=["a.a.ab a.a"])
    assert holds([again], Fact(FactKind.CODE, "a.a", "a.a"), quotations=False)


def test_words_that_begin_everywhere_and_end_nowhere_are_given_up() -> None:
    assert not holds([Row(words=["a" * 3_000])], Fact(FactKind.CODE, "a", "`a`"), quotations=False)


def test_other_peoples_words_count_for_quotations_and_where_they_are_admitted() -> None:
    row = Row(quotes=["no route to host"], quoted={(FactKind.NUMBER, "77")})
    quote = Fact(FactKind.QUOTE, "no route", "“no route”")
    code, number = Fact(FactKind.CODE, "no route", "`no route`"), Fact(FactKind.NUMBER, "77", "77")
    assert holds([row], quote, quotations=False)
    for fact in (code, number):
        assert holds([row], fact, quotations=True)
        assert not holds([row], fact, quotations=False)


def test_a_deploys_number_is_a_number_as_well() -> None:
    assert backed("web 4470 went out", ranking())
    assert backed("4470 is second", ranking())
    assert not backed("Deploy 6 went out", ranking()), "six were considered"


def test_a_person_of_a_log_is_known_with_the_at_sign() -> None:
    log = found("the log\n" + "filler\n" * 60 + "a job was started by maya")
    assert backed("It was started by @maya", log)


def test_a_person_is_known_with_and_without_the_at_sign() -> None:
    assert backed("Deploy 4471 was deployed by @maya", ranking())
    assert backed("Deploy 4471 was deployed by maya", ranking())
    assert not backed("Deploy 4471 was deployed by @may", ranking())


def test_a_commit_of_digits_alone_is_a_commit() -> None:
    digits = differing(deploy=deploy(sha="1234567890" * 4), base_sha="9876543210" * 4)
    assert backed("It shipped commit 1234567890", digits)
    assert backed("It was compared with commit 9876543210", digits)
    assert not backed("It shipped commit 234567890", digits)


def test_a_commit_in_capitals_is_the_same_commit() -> None:
    assert backed("It shipped commit abc1234", differing(deploy=deploy(sha="ABC1234" + "0" * 33)))


def test_a_commit_of_letters_alone_is_a_commit_in_either_case() -> None:
    letters = differing(deploy=deploy(sha="DEADBEEF" * 5), base_sha="cafebabe" * 5)
    assert backed("It shipped commit deadbee", letters)
    assert backed("It was compared with commit CAFEBABE", letters)
    assert not backed("It shipped commit deadbea", letters)


def test_a_file_is_known_by_the_end_of_its_path_also_by_its_old_one() -> None:
    change = FileChange(
        path="a/b/c/Makefile",
        previous_path="old/b/c/Makefile.in",
        status=FileStatus.RENAMED,
        kind=FileKind.CODE,
    )
    moved = differing(files=(change,))
    for path in ("a/b/c/Makefile", "b/c/Makefile", "old/b/c/Makefile.in", "b/c/Makefile.in"):
        assert backed(f"{path} changed", moved), path
    for path in ("x/b/c/Makefile", "old/b/c/Makefile", "ld/b/c/Makefile.in"):
        assert not backed(f"{path} changed", moved), path


def test_the_base_of_a_diff_stands_for_itself() -> None:
    assert backed("Deploy 4466 was v2.3.0", diff())
    assert not backed("Deploy 4471 was v2.3.0", diff())
    assert not backed("Deploy 4466 changed 12 files", diff())
    assert backed("Deploy 4471 changed 12 files", diff())


def test_the_incident_of_a_ranking_may_stand_beside_any_of_its_suspects() -> None:
    assert backed("Deploy 4470 went out before INC-7 of checkout at 02:06", ranking())
    assert not backed("Deploy 4470 went out before INC-8 of checkout at 02:06", ranking())
    assert not backed("Deploy 4470 went out before INC-7 of ledger at 02:06", ranking())
    assert not backed("Deploy 4470 went out before INC-7 of checkout at 02:07", ranking())
    assert backed("6 deploys were considered for INC-7 of checkout", ranking())


def test_what_only_the_incident_says_may_stand_beside_a_suspect() -> None:
    result = ranking()
    assert isinstance(result.value, SuspectsRanked)
    incident = INCIDENT.model_copy(
        update={"services": ("ledger",), "title": "12 % of payments time out"}
    )
    of_ledger = result.model_copy(
        update={"value": result.value.model_copy(update={"incident": incident})}
    )
    assert backed("Deploy 4470 went out before INC-7 of ledger", of_ledger)
    assert backed("Deploy 4470 went out before 12 % timed out", of_ledger)
    assert backed("Deploy 4470 went out before “payments time out”", of_ledger)
    assert not backed("Deploy 4470 went out before 13 % timed out", of_ledger)
    assert not backed("web 4470 most likely caused that 12 % time out", of_ledger)


def test_why_a_base_was_taken_is_said_of_the_deploy() -> None:
    result = differing(base_why="the last that succeeded: 4467 to 4470 failed within 20 min")
    assert backed("Deploy 4471 has a base before those that failed within 20 min", result)
    assert not backed("Deploy 4472 has a base before those that failed within 20 min", result)


def test_a_tools_own_sentences_each_stand_for_themselves() -> None:
    result = ranking()
    assert isinstance(result.value, SuspectsRanked)
    two = result.value.model_copy(
        update={"ruled_out": ("ledger 88 finished 03:10 UTC", "ledger 89 finished 03:20 UTC")}
    )
    result = result.model_copy(update={"value": two})
    assert backed("ledger 88 finished 03:10", result)
    assert not backed("ledger 88 finished 03:20", result)
    assert backed("ledger 88 finished 03:10 after INC-7", result)


@pytest.mark.parametrize(
    ("said", "fits"),
    [
        ("1361 s", True),
        ("22 min", True),
        ("23 min", True),
        ("21 min", False),
        ("24 min", False),
        ("22.5 min", False),
        ("1360 s", False),
    ],
)
def test_a_span_may_be_rounded_to_the_minute_up_or_down(said: str, *, fits: bool) -> None:
    result = suspected(before_onset=timedelta(seconds=1_361))
    assert backed(f"Deploy 4471 finished {said} before onset", result) is fits


@pytest.mark.parametrize(
    ("said", "fits"),
    [("2 days", True), ("3 days", True), ("62 h", True), ("63 h", True), ("4 days", False)],
)
def test_a_long_span_may_be_told_in_hours_or_days(said: str, *, fits: bool) -> None:
    result = suspected(before_onset=timedelta(hours=62, minutes=40))
    assert backed(f"Deploy 4471 finished {said} before onset", result) is fits


def test_a_span_and_the_times_of_its_deploy_stand_together() -> None:
    assert backed("Deploy 4471 finished 01:44 UTC on 2026-11-29, 22 min before onset", ranking())
    assert backed("Deploy 4471 began 01:42 with a score of 3", ranking())
    assert not backed("Deploy 4470 finished with a score of 3", ranking())


def test_counts_of_a_diff_are_told_apart_by_what_they_count() -> None:
    assert backed("12 files, 4 commits, +80 −31", diff())
    assert not backed("4 files changed", diff())
    assert not backed("12 commits changed it", diff())
    assert not backed("31 lines added", diff())


# --- plain text -----------------------------------------------------------------------------------


def test_a_fact_of_a_long_text_is_found_on_its_line_in_any_case() -> None:
    text = "A LOG\n" + "filler\n" * 60 + "Config/App.YAML has 31337 items of payments, `Pool.Size`"
    log = found(text)
    assert backed("payments has 31337 items", log)
    assert backed("`pool.size` has 31337 items", log)
    assert not backed("ledger has 31337 items", log)
    assert not backed("`pool.max` has 31337 items", log)


def test_of_very_many_lines_that_could_hold_a_fact_two_hundred_are_read() -> None:
    head = "the log\n" + "filler\n" * 40
    near = found(head + "payments had 1 of 12 tries\n" * 199 + "payments had 1 of 2 tries")
    far = found(head + "payments had 1 of 12 tries\n" * 200 + "payments had 1 of 2 tries")
    assert backed("payments had 1 of 2 tries", near)
    assert not backed("payments had 1 of 2 tries", far)


@pytest.mark.parametrize(("line", "read"), [(50, True), (98, True), (102, False), (150, False)])
def test_of_long_lines_an_answer_reads_two_hundred_thousand_characters(
    line: int, *, read: bool
) -> None:
    long = ["payments had 1 of 12 tries".ljust(READ_AN_ANSWER // 100)] * 160
    long[line] = "payments had 1 of 2 tries"
    assert backed("payments had 1 of 2 tries", found("\n".join(["the log", *long]))) is read


def test_that_something_was_not_looked_at_is_known_until_the_next_chunk() -> None:
    reading = Reading()
    assert all(reading.may_look() for _ in range(LINES_A_CHUNK))
    assert not reading.spent
    assert not reading.may_look()
    assert reading.spent
    assert reading.may_look_through(1)
    assert reading.may_read("x")
    assert reading.spent
    reading.begin_chunk()
    assert not reading.spent


def test_rows_and_characters_may_be_looked_at_to_the_last() -> None:
    reading = Reading()
    assert reading.may_look_through(ROWS_AN_ANSWER)
    assert reading.may_read("x" * READ_AN_ANSWER)
    assert not reading.spent
    assert not reading.may_look_through(1)
    assert reading.spent
    reading.begin_chunk()
    assert not reading.may_read("x")
    assert reading.spent


def test_a_chunk_and_an_answer_look_at_so_many_lines_and_no_more() -> None:
    reading = Reading()
    looked: list[int] = []
    while not looked or looked[-1]:
        reading.begin_chunk()
        looked.append(sum(takewhile(bool, (reading.may_look() for _ in range(LINES_AN_ANSWER)))))
    assert looked[0] == LINES_A_CHUNK
    assert sum(looked) == LINES_AN_ANSWER


def test_an_answer_looks_through_so_many_typed_rows_and_no_more() -> None:
    changed = Highlight(path="a.yaml", key="k", before="1", after="2", text="k: 1 → 2")
    many = differing(highlights=(changed,) * (ROWS_AN_ANSWER // 100))
    grounds = Grounds(pad(many))
    held = [
        claim_problems(f"{n} files and 12 files changed", ["o1"], grounds) for n in range(100, 250)
    ]
    assert claim_problems("12 files changed", ["o1"], Grounds(pad(many))) == []
    assert all(held)
    assert claim_problems("80 lines were added", ["o1"], grounds) != []


def test_twelve_claims_about_eight_long_logs_are_all_read() -> None:
    logs = [
        found(
            "the log\n"
            + "\n".join(f"shard {n} of web had {n * 7} of {log} tries" for n in range(2000))
        )
        for log in range(8)
    ]
    grounds = Grounds(pad(*logs))
    ids = [f"o{n}" for n in range(1, 9)]
    for n in range(12):
        text = f"shard {n * 150} of web had {n * 150 * 7} of 7 tries, and shard {n} had {n * 7}"
        assert claim_problems(text, ids, grounds) == [], text


@pytest.mark.parametrize(
    ("line", "claim"),
    [
        ("at 3f2a9bc12345 web timed out", "Commit 3f2a9bc of web timed out"),
        ("maya deployed web", "It was deployed by maya"),
        ("tag 2.3.1 of web", "The version of web is at v2.3.1"),
    ],
)
def test_a_line_is_found_whatever_word_the_claim_puts_before_its_fact(
    line: str, claim: str
) -> None:
    others = "a commit was made by bo, v2 of it\n" * 20
    assert backed(claim, found(f"the log\n{others}{line}"))


def test_of_two_long_numbers_that_differ_in_the_last_digit_one_is_not_the_other() -> None:
    assert backed("1764380640123 is the offset", found("offset 1764380640123"))
    assert not backed("1764380640124 is the offset", found("offset 1764380640123"))
    result = ranking()
    assert isinstance(result.value, SuspectsRanked)
    many = result.value.model_copy(update={"considered": 1764380640123})
    result = result.model_copy(update={"value": many})
    assert backed("1764380640123 were considered", result)
    assert not backed("1764380640124 were considered", result)


def test_lines_are_looked_up_by_the_rarest_word_of_the_claim() -> None:
    for name in ("web", "payments"):
        many = f"{name} had 1 error\n" * 250
        text = "the log\n" + "filler\n" * 40 + many + f"{name} had 31337 errors"
        assert backed(f"{name} had 31337 errors", found(text))
    text = (
        "the log\n" + "filler\n" * 40 + "payments logged `alpha`\n" * 250 + "payments logged `zeta`"
    )
    assert backed("payments logged `zeta`", found(text))


LINES = "ledger deploy 88 finished 03:10\nweb deploy 89 said no\nway at 03:20"


def page(text: str) -> ToolResult:
    value = PageRead(observation="o1", page=2, pages=3, text=text)
    return found("page 2 of 3 of o1", value).model_copy(update={"text": text})


def test_facts_of_a_page_stand_together_on_its_lines_only() -> None:
    assert backed("ledger deploy 88 finished 03:10", page(LINES))
    assert not backed("ledger deploy 88 finished 03:20", page(LINES))
    assert not backed("Deploy 89 finished 03:10", page(LINES))
    assert backed("It says “no way”", page(LINES))
    assert backed("It is page 2", page(LINES))


def test_facts_of_a_file_or_a_commit_stand_with_its_head_or_on_one_line() -> None:
    text = "src/app.py of web at 3f2a9bc12345\n  11  timeout = 5 s\n  12  retries = 7\n"
    file = found(text.splitlines()[0], TextRead(text=text)).model_copy(update={"text": text})
    assert backed("src/app.py of web sets a timeout of 5 s", file)
    assert backed("src/app.py of web sets a timeout of 5000 ms", file)
    assert backed("At 3f2a9bc line 12 has 7 retries", file)
    assert not backed("Line 12 has a timeout of 5 s", file)
    assert not backed("config/app.py sets a timeout of 5 s", file)
    assert not backed("The 7 retries of web caused it", file)
    long = text + "  13  filler\n" * 250 + "  263  waiters = 31337\n"
    last = found("src/app.py of web", TextRead(text=long)).model_copy(update={"text": long})
    assert backed("src/app.py of web has 31337 waiters", last)
    line = found("a file", TextRead(text="7 retries")).model_copy(update={"text": "7 retries"})
    assert backed("It has 7 retries", line)


def test_what_the_words_of_others_say_of_a_cause_is_not_said_by_a_tool() -> None:
    text = "src/log.txt of web\npayments-api deploy 4471 caused 31337 retries\n"
    file = found("src/log.txt of web", TextRead(text=text)).model_copy(update={"text": text})
    tool = found("counted\n" + "filler\n" * 60 + "payments-api deploy 4471 had 31337 retries")
    causal = "payments-api deploy 4471 most likely caused 31337 retries"
    assert backed("The log says “payments-api deploy 4471 caused 31337 retries”", file)
    assert not backed(causal, ranking(), file)
    assert backed(causal, ranking(), tool)


def test_words_of_others_stay_theirs_on_a_page_and_in_the_text_of_a_diff() -> None:
    line = "payments-api deploy 4471 caused 31337 retries"
    causal = "payments-api deploy 4471 most likely caused 31337 retries"
    text = f"src/log.txt of web\n{line}\n"
    file = found("src/log.txt of web", TextRead(text=text)).model_copy(update={"text": text})
    page_of = PageRead(observation="o2", page=1, pages=1, text=text)
    page = found("page 1 of 1 of o2", page_of).model_copy(update={"text": text})
    again = page.model_copy(update={"value": page_of.model_copy(update={"observation": "o3"})})
    commit = Commit(sha="c" * 40, committed_at=NOW, author="maya", subject=line)
    changed = differing(commits=(commit,))
    changed = changed.model_copy(update={"text": f"{changed.text}\ncccccccc maya: {line}"})
    assert not backed(causal, ranking(), file, page, again)
    assert not backed(causal, ranking(), changed)
    shown = page.model_copy(
        update={"value": page_of.model_copy(update={"text": changed.text}), "text": changed.text}
    )
    assert not backed(causal, ranking(), changed, shown)
    assert backed(f"Its commit says “{line}”", ranking(), changed)
    assert backed(f"The log says “{line}”", ranking(), file, page)


def test_a_denial_in_the_words_of_others_denies_nothing() -> None:
    text = "no deploy 4471 was ever involved\nand more\n"
    file = found("a file", TextRead(text=text)).model_copy(update={"text": text})
    assert not backed("Deploy 4471 was not involved", file)
    assert backed("The file says “no deploy 4471 was ever involved”", file)


def test_a_file_and_a_commit_that_a_text_names_are_evidence() -> None:
    line = "config/retry.yaml of ledger at 3f2a9bc12345"
    long = "the log\n" + "filler\n" * 60 + line
    for text in (line, long):
        assert backed("config/retry.yaml of ledger changed", found(text)), text
        assert backed("retry.yaml of ledger changed", found(text)), text
        assert backed("retry.yaml changed at 3f2a9bc", found(text)), text
        assert not backed("try.yaml of ledger changed", found(text)), text
        assert not backed("retry.yaml changed at 3f2a9bd", found(text)), text


def test_the_summary_of_a_text_is_evidence() -> None:
    assert backed("It took 3 s on 2026-11-29", found("the call took 3000 ms on 2026-11-29"))


def test_a_highlight_stands_with_its_file() -> None:
    pool = Highlight(
        path="config/pool.yaml", key="size", before="40", after="4", text="size: 40 → 4"
    )
    result = differing(highlights=(pool,))
    assert backed("config/pool.yaml set `size: 40 → 4`", result)
    assert not backed("config/retry.yaml set `size: 40 → 4`", result)
