"""docs/sources.md: its examples load as they stand, and its tables name what the loader reads."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

import pytest
from pydantic import BaseModel

from tools.checkup import Check, examine
from tools.history import DeployHistory
from tools.records import ChangeKind, Deploy, Service
from tools.sources.git_tags import GitTags
from tools.sources.keys import DEPLOY_KEYS, FORMAT, INCIDENT_KEYS, Keys
from tools.workspace import LocalFile, ServiceSettings, SourceSettings, TagSettings, open_workspace


class Repository(Protocol):
    path: Path

    def commit(self) -> str: ...
    def git(self, *argv: str) -> str: ...


ROOT = Path(__file__).parents[3]
TEXT = (ROOT / FORMAT).read_text("utf-8")
NOW = datetime(2026, 11, 29, 2, 14, tzinfo=UTC)
FILES = dict(
    re.findall(r"`([\w.-]+)`[^`\n]*:\n\n```\w+\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
)


def section(title: str) -> str:
    found = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", TEXT, re.MULTILINE | re.DOTALL)
    assert found is not None, title
    return found[1]


def rows(title: str) -> dict[str, list[str]]:
    """The first column's words in code, each with its row's other cells."""
    found = re.findall(r"^\| (`.*?) \|(.*)\|$", section(title), re.MULTILINE)
    return {
        key: [cell.strip() for cell in cells.split(" | ")]
        for keys, cells in found
        for key in re.findall(r"`([^`]+)`", keys)
    }


@pytest.fixture
def workspace(tmp_path: Path, make_repo: Callable[[str], Repository]) -> Path:
    for name in ("repos/payments-api", "repos/ledger"):
        make_repo(name).commit()
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_there_is_an_example_of_every_file() -> None:
    assert set(FILES) == {
        "oncall.toml",
        "deploys.jsonl",
        "incidents.jsonl",
        "changes.jsonl",
        "tags.toml",
        "catalog-info.yaml",
    }


async def test_the_examples_together_are_a_workspace_that_the_doctor_finds_well(
    workspace: Path,
) -> None:
    opened = open_workspace(workspace)
    found = await examine(opened, NOW)
    assert [one for one in found if not one.is_well and one.check is not Check.REPOSITORIES] == []
    assert [one.what for one in found if one.check is Check.SOURCES] == [
        "deploys.jsonl: 3 records",
        "changes.jsonl: 2 records",
        "incidents.jsonl: 2 records",
    ]
    assert [one for one in found if one.check is Check.RECORDS] == []
    history = DeployHistory(opened.deploy_sources, opened.catalog)
    assert await history.notes() == ()
    assert {one.kind for one in await history.all()} == {
        ChangeKind.DEPLOY,
        ChangeKind.FLAG,
        ChangeKind.CONFIG,
    }


def test_backstage_adds_what_the_document_says(workspace: Path) -> None:
    catalog = open_workspace(workspace).catalog
    ledger, payments, receipts = map(catalog.service, ("ledger", "payments-api", "receipts"))
    assert ledger is not None
    assert ledger.owner == "ledger-team"
    assert payments is not None
    assert payments.owner == "Payments (Mara Lindqvist)"
    assert receipts is not None
    assert receipts.depends_on == ("payments-api", "ledger")


def run_the_job(checkout: Path) -> None:
    script = re.search(r"^```sh\n(.*?)^```", section("Deploys"), re.MULTILINE | re.DOTALL)
    assert script is not None
    subprocess.run(["bash", "-euo", "pipefail", "-c", script[1]], cwd=checkout, check=True)


async def test_a_job_that_runs_the_shown_command_writes_a_deploy(
    workspace: Path, make_repo: Callable[[str], Repository]
) -> None:
    repo = make_repo("job")
    sha = repo.commit()
    run_the_job(repo.path)
    (workspace / "deploys.jsonl").write_text((repo.path / "deploys.jsonl").read_text())
    (deploy,) = (await open_workspace(workspace).deploy_sources[0].deploys()).records
    assert (deploy.service, deploy.sha) == ("payments-api", sha)
    assert deploy.actor
    assert deploy.finished_at is not None


async def tagged(repo: Repository, tag: str, *patterns: re.Pattern[str]) -> tuple[Deploy, ...]:
    repo.commit()
    repo.git("tag", "-a", "-m", "x", tag)
    services = [Service(name=name, repo=str(repo.path)) for name in ("payments-api", "ledger")]
    return (await GitTags(services, patterns).deploys()).records


@pytest.mark.parametrize(
    ("tag", "number", "services"),
    [
        ("deploy-4471", 4471, {"payments-api", "ledger"}),
        ("release-2026-11-29", None, {"payments-api", "ledger"}),
        ("v2.3.1", None, {"payments-api", "ledger"}),
        ("payments-api/deploy-4471", 4471, {"payments-api"}),
    ],
)
async def test_a_tag_that_the_document_shows_is_a_deploy(
    make_repo: Callable[[str], Repository], tag: str, number: int | None, services: set[str]
) -> None:
    assert tag in rows("Git tags")
    found = await tagged(make_repo("repos/payments-api"), tag)
    assert {(one.service, one.number) for one in found} == {(name, number) for name in services}


async def test_the_example_with_patterns_reads_such_tags(
    tmp_path: Path, make_repo: Callable[[str], Repository]
) -> None:
    repo = make_repo("repos/payments-api")
    repo.commit()
    for tag in ("staging/payments-api/7", "shipped-8", "v1.0.0"):
        repo.git("tag", "-a", "-m", "x", tag)
    (tmp_path / "oncall.toml").write_text(FILES["tags.toml"])
    (source,) = open_workspace(tmp_path).deploy_sources
    records = (await source.deploys()).records
    assert {(one.environment, one.number) for one in records} == {("staging", 7), ("production", 8)}


@pytest.mark.parametrize(
    ("title", "keys"), [("Deploys", DEPLOY_KEYS), ("Incidents", INCIDENT_KEYS)]
)
def test_every_key_and_every_other_name_that_is_read_is_in_the_document(
    title: str, keys: Keys
) -> None:
    told = rows(title)
    assert set(told) == set(keys.model.model_fields)
    for key, cells in told.items():
        others = {*keys.others.items(), *keys.whenever.items()}
        assert set(re.findall(r"`(\w+)`", cells[-1])) == {
            theirs for theirs, our in others if our == key
        }
        is_needed = keys.model.model_fields[key].is_required()
        assert (cells[1] == "yes") == is_needed or key in keys.times, key


def test_every_setting_of_a_source_and_of_a_service_is_in_the_document() -> None:
    models: tuple[type[BaseModel], ...] = (LocalFile, TagSettings, ServiceSettings)
    assert set(rows("Services")) == {key for model in models for key in model.model_fields}


def test_who_sets_the_bot_up_is_led_to_the_document() -> None:
    example = (ROOT / "oncall.example.toml").read_text("utf-8")
    for text in (example, (ROOT / "README.md").read_text("utf-8")):
        assert FORMAT in text
        assert "Backstage" in text
    assert {name for name in SourceSettings.model_fields if f"[sources.{name}]" in example} == set(
        SourceSettings.model_fields
    )
