from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from bot.playground.incident import DemoError, make_demo_workspace
from bot.playground.seed import DEFAULT_SEED


def _deploys(root: Path) -> dict[int, dict[str, str]]:
    lines = (root / "deploys.jsonl").read_text().splitlines()
    return {record["number"]: record for record in map(json.loads, lines)}


def _git(root: Path, service: str, *argv: str) -> list[str]:
    done = subprocess.run(
        ["git", "-C", str(root / "repos" / service), *argv],
        capture_output=True,
        check=True,
        text=True,
    )
    return done.stdout.splitlines()


def test_deploy_4471_changed_twelve_files_and_cut_the_retry_budget(tmp_path: Path) -> None:
    demo = make_demo_workspace(tmp_path / "demo")
    deploys = _deploys(demo.root)
    before, after = deploys[4467]["sha"], deploys[4471]["sha"]
    assert len(_git(demo.root, "payments-api", "diff", "--name-only", before, after)) == 12
    patch = _git(demo.root, "payments-api", "diff", "-U1", before, after, "--", "config/retry.yaml")
    assert {" retry:", "-  budget: 5s", "+  budget: 1s"} <= set(patch)


def test_the_decoys_are_what_they_are_said_to_be(tmp_path: Path) -> None:
    demo = make_demo_workspace(tmp_path / "demo")
    deploys = _deploys(demo.root)
    assert sorted(deploys) == list(range(4465, 4474))
    files = _git(
        demo.root, "checkout", "diff", "--name-only", deploys[4468]["sha"], deploys[4472]["sha"]
    )
    assert files == ["README.md", "docs/runbook.md"]
    assert deploys[4470]["finished_at"] == "2026-11-29T01:05:00Z"
    assert deploys[4471]["finished_at"] == "2026-11-29T01:44:00Z"
    assert deploys[4473]["finished_at"] == "2026-11-29T02:10:00Z"


def test_every_making_gives_the_same_commits_whatever_the_users_git_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = make_demo_workspace(tmp_path / "one")
    (tmp_path / "gitconfig").write_text("[commit]\ngpgsign = true\n[user]\nname = Someone\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    second = make_demo_workspace(tmp_path / "two")
    assert (first.root / "deploys.jsonl").read_bytes() == (
        second.root / "deploys.jsonl"
    ).read_bytes()


def test_the_repositories_are_clean_and_have_several_authors_and_a_merge(tmp_path: Path) -> None:
    demo = make_demo_workspace(tmp_path / "demo")
    for service in ("web", "checkout", "payments-api", "ledger"):
        assert _git(demo.root, service, "status", "--porcelain") == []
        assert _git(demo.root, service, "fsck", "--strict") == []
    assert len(set(_git(demo.root, "payments-api", "log", "--format=%an"))) >= 3
    assert len(_git(demo.root, "payments-api", "log", "--merges", "--format=%h")) == 1


def test_a_folder_with_other_things_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(DemoError, match="is not empty: name a folder that is new or empty"):
        make_demo_workspace(tmp_path)
    with pytest.raises(DemoError, match="is a file"):
        make_demo_workspace(tmp_path / "notes.txt")
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_demo_workspace_is_reused_and_a_broken_one_is_made_anew(tmp_path: Path) -> None:
    root = make_demo_workspace(tmp_path / "demo").root
    (root / ".oncall").mkdir()
    (root / ".oncall" / "runs.db").write_text("kept")
    with (root / "oncall.toml").open("a") as file:
        file.write("# my own note\n")
    make_demo_workspace(root)
    assert (root / "oncall.toml").read_text().endswith("# my own note\n")
    (root / "deploys.jsonl").unlink()
    make_demo_workspace(root)
    assert (root / "deploys.jsonl").is_file()
    assert (root / ".oncall" / "runs.db").read_text() == "kept"


def test_everybody_in_the_demo_tells_the_same_size_of_the_failure(tmp_path: Path) -> None:
    root = make_demo_workspace(tmp_path / "demo").root
    told = f"{(root / 'incidents.jsonl').read_text()} {DEFAULT_SEED.read_text()}"
    assert set(re.findall(r"(?:error rate|Error rate\", \"value\": \")\W*(\d+) %", told)) == {"14"}
    sizes = re.findall(r"one (?:order )?in (\w+)|a (third|half|quarter)", told)
    assert sizes == [("seven", ""), ("seven", "")], "and 14 % is one in seven"


def test_a_folder_with_only_the_bots_own_state_counts_as_empty(tmp_path: Path) -> None:
    (tmp_path / ".oncall").mkdir()
    assert make_demo_workspace(tmp_path).root == tmp_path.resolve()
