"""Keys that are not ours: read where they can mean nothing else, named where they cannot be read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from support.shop import NOW, Shop, searched, stamp
from tools.checkup import Check, Finding, examine
from tools.history import DeployHistory
from tools.incidents import IncidentIndex
from tools.records import ChangeKind, Deploy, DeploysFound, Incident
from tools.sources import local
from tools.sources.base import Fetched
from tools.sources.keys import KEYS_READ
from tools.sources.local import LocalDeploys, LocalIncidents
from tools.workspace import open_workspace

AT = datetime(2026, 11, 25, 10, 0, tzinfo=UTC)
SHA = "34c8dd2cd4181a725161517bf7776651ad6d3fd5"


async def read(path: Path, *lines: Mapping[str, object]) -> Fetched[Deploy]:
    file = path / "deploys.jsonl"
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return await LocalDeploys(file).deploys()


async def read_incident(path: Path, line: dict[str, object]) -> tuple[Incident, Fetched[Incident]]:
    file = path / "incidents.jsonl"
    file.write_text(json.dumps({"id": "INC-7", "title": "Search times out"} | line))
    fetched = await LocalIncidents(file).incidents()
    return fetched.records[0], fetched


@pytest.mark.parametrize(
    ("theirs", "ours", "value"),
    [
        ("deployed_at", "finished_at", "2026-11-25T10:00:00Z"),
        ("time", "finished_at", "2026-11-25T11:00:00+01:00"),
        ("finishedAt", "finished_at", 1_795_600_800),
        ("timestamp", "finished_at", "1795600800000"),
        ("start", "started_at", "2026-11-25T10:00:00Z"),
        ("commit", "sha", SHA),
        ("by", "actor", "ana"),
        ("env", "environment", "staging"),
        ("version", "ref", "v2.3.1"),
    ],
)
async def test_a_name_that_can_mean_one_thing_is_read_and_the_doctor_is_told(
    tmp_path: Path, theirs: str, ours: str, value: object
) -> None:
    dated: dict[str, object] = {"service": "web", "finished_at": stamp(AT)}
    line = {"service": "web"} if ours.endswith("_at") else dated
    fetched = await read(tmp_path, dated | {"number": 1}, line | {theirs: value})
    got = getattr(fetched.records[1], ours)
    assert got == (AT if ours.endswith("_at") else value)
    said = [one for one in fetched.remarks if not one.fix]
    assert [one.what for one in said] == [
        f"deploys.jsonl: `{theirs}` is read as {ours} (1 line, the first is line 2)"
    ]
    assert fetched.notes == ()


async def test_a_service_by_another_name_is_no_lost_line(tmp_path: Path) -> None:
    fetched = await read(tmp_path, {"app": "web", "at": stamp(AT)})
    assert (fetched.records[0].service, fetched.records[0].at) == ("web", AT)


@pytest.mark.parametrize(
    ("theirs", "value", "ours"),
    [
        ("author", "ana", "actor"),
        ("commit", "Make it faster", "sha"),
        ("user", {"login": "ana"}, "actor"),
        ("enviroment", 7, "environment"),
        ("build", 4471, "number"),
        ("version", 1, "ref"),
    ],
)
async def test_a_name_that_may_mean_something_else_is_not_read_but_asked_about(
    tmp_path: Path, theirs: str, value: object, ours: str
) -> None:
    line: dict[str, object] = {"service": "web", "finished_at": stamp(AT), theirs: value}
    fetched = await read(tmp_path, line, line)
    assert getattr(fetched.records[0], ours) in {None, "production"}
    (remark,) = fetched.remarks
    assert remark.what == f"deploys.jsonl: `{theirs}` is not read (2 lines, the first is line 1)"
    assert remark.fix.startswith(f"if it is the {ours}, name it {ours}")


async def test_ours_counts_before_any_other_name_of_it(tmp_path: Path) -> None:
    line: dict[str, object] = {"service": "web", "started_at": stamp(AT), "sha": SHA}
    fetched = await read(
        tmp_path, line | {"time": "2020-01-01T00:00:00Z", "commit": "f" * 40, "author": "ana"}
    )
    (deploy,) = fetched.records
    assert (deploy.at, deploy.finished_at, deploy.sha) == (AT, None, SHA)
    assert [one.what.split("`")[1] for one in fetched.remarks] == ["author"]


async def test_keys_that_are_nobody_s_are_let_be(tmp_path: Path) -> None:
    more = {"colour": "red", "pipeline": {"deep": [1]}, "duration": 12}
    fetched = await read(tmp_path, {"service": "web", "finished_at": stamp(AT)} | more)
    assert (fetched.notes, fetched.remarks) == ((), ())


@pytest.mark.parametrize("wrong", [12, 17_956_008_001, 17_956_008_000_001, -1_795_600_800, "2026"])
async def test_a_number_whose_unit_would_be_a_guess_is_named(tmp_path: Path, wrong: object) -> None:
    fetched = await read(tmp_path, {"service": "web", "finished_at": wrong})
    assert fetched.records == ()
    (note,) = fetched.notes
    assert note == (
        "deploys.jsonl line 1 has a `finished_at` that is a number of neither 10 digits (seconds) "
        "nor 13 (milliseconds): skipped"
    )


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (1_795_600_800, AT),
        (1_795_600_800.25, AT.replace(microsecond=250_000)),
        (1_795_600_800_250, AT.replace(microsecond=250_000)),
        (0, None),
        (None, None),
    ],
)
async def test_a_number_is_read_exactly_by_its_digits(
    tmp_path: Path, written: object, meant: datetime | None
) -> None:
    fetched = await read(tmp_path, {"service": "web", "finished_at": written})
    assert fetched.records[0].finished_at == meant


async def test_a_line_without_a_service_asks_for_the_key_that_may_be_it(tmp_path: Path) -> None:
    fetched = await read(tmp_path, {"project": "web", "finished_at": stamp(AT)}, {"number": 1})
    assert fetched.notes == (
        "deploys.jsonl line 1 has no `service` (is it `project`?): skipped",
        "deploys.jsonl line 2 has no `service`: skipped",
    )


async def test_the_name_of_a_key_that_is_asked_about_is_one_harmless_line(tmp_path: Path) -> None:
    fetched = await read(tmp_path, {"serv\nice": "web", "finished_at": stamp(AT)})
    assert fetched.notes == ("deploys.jsonl line 1 has no `service` (is it `serv ice`?): skipped",)


async def test_of_a_line_with_a_hundred_thousand_keys_the_first_are_held_against_ours(
    tmp_path: Path,
) -> None:
    many = {f"key{number}": number for number in range(KEYS_READ)}
    dated: dict[str, object] = {"service": "web", "finished_at": stamp(AT)}
    last = await read(tmp_path, dated | many | {"commit": SHA})
    assert (last.records[0].sha, last.remarks) == (None, ())
    first = await read(tmp_path, dated | {"commit": SHA} | many)
    assert first.records[0].sha == SHA


async def test_what_lacks_a_time_in_the_list_of_changes_is_called_a_change(tmp_path: Path) -> None:
    file = tmp_path / "changes.jsonl"
    file.write_text(json.dumps({"service": "web", "title": "on"}))
    (remark,) = (await LocalDeploys(file, ChangeKind.OTHER).deploys()).remarks
    assert remark.what == "changes.jsonl: no line has finished_at (1 change, the first in line 1)"


async def test_a_deploy_is_found_by_its_name_with_and_without_a_time(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    shop.service("web")
    shop.deploys += [{"service": "web", "number": 1}, {"service": "web", "number": 2}]
    workspace = shop.open()
    for name in ("2", "9999"):
        result = await searched(workspace, deploy=name)
        assert isinstance(result.value, DeploysFound)
        assert result.value.not_searched == ()


async def test_records_without_a_time_are_counted_with_their_unknown_keys(tmp_path: Path) -> None:
    shipped = {"service": "web", "shipped": stamp(AT), "date": "2026-11-25"}
    none = await read(tmp_path, shipped, shipped | {"sha": SHA})
    assert none.remarks[0].what == (
        "deploys.jsonl: no line has finished_at "
        "(2 deploys, the first in line 1; unknown keys: shipped, date)"
    )
    assert none.remarks[0].fix.startswith("name the time finished_at, ISO 8601 with its time zone")
    dated: dict[str, object] = {"service": "web", "finished_at": stamp(AT)}
    some = await read(tmp_path, dated, {"service": "web", "number": 2})
    assert some.remarks[0].what == (
        "deploys.jsonl: 1 of 2 deploys without a time (the first in line 2)"
    )


async def test_a_record_that_a_later_line_dates_has_a_time(tmp_path: Path) -> None:
    begun: dict[str, object] = {"id": "d-1", "service": "web", "status": "pending"}
    fetched = await read(tmp_path, begun, begun | {"finished_at": stamp(AT)})
    assert (len(fetched.records), fetched.remarks) == (1, ())


async def test_an_incident_s_other_names_are_read(tmp_path: Path) -> None:
    incident, fetched = await read_incident(tmp_path, {"service": "web", "start": stamp(AT)})
    assert (incident.services, incident.started_at) == (("web",), AT)
    assert {one.what.split("`")[1] for one in fetched.remarks} == {"service", "start"}
    weak, _ = await read_incident(tmp_path, {"services": "web", "time": stamp(AT)})
    assert (weak.services, weak.started_at, weak.created_at) == (("web",), None, AT)


async def test_of_a_very_large_file_the_newest_are_kept_by_their_other_names_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "LARGE_FILE", 10)
    monkeypatch.setattr(local, "NEWEST_KEPT", 2)
    lines: list[dict[str, object]] = [
        {"service": "web", "number": day, "deployedAt": f"2026-11-{day:02}T00:00:00Z"}
        for day in (9, 1, 8, 2)
    ]
    fetched = await read(tmp_path, *lines)
    assert sorted(one.number or 0 for one in fetched.records) == [8, 9]


async def test_a_reply_about_a_time_says_what_it_could_not_search(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    shop.deploys += [{"number": 1, "service": "web", "shipped": stamp(NOW)}, {"service": "web"}]
    shop.changes.append({"kind": "flag", "service": "web", "title": "on"})
    shop.incident(started_at=None)
    workspace = shop.open()
    result = await searched(workspace, since="24h", service="web")
    assert isinstance(result.value, DeploysFound)
    assert result.value.deploys == ()
    assert result.value.not_searched == (
        "1 change without a time (changes.jsonl)",
        "2 deploys without a time (deploys.jsonl)",
    )
    incidents = IncidentIndex(workspace.incident_sources, workspace.catalog)
    await incidents.search("", NOW)
    assert not incidents.notes
    await incidents.search("", NOW, since=AT)
    assert incidents.notes == ("1 incident without a time (incidents.jsonl)",)


async def test_who_may_ask_of_one_service_hears_nothing_of_another_s_deploys(
    tmp_path: Path,
) -> None:
    shop = Shop(tmp_path)
    shop.service("web")
    shop.deploys += [{"service": "web"}, {"service": "secret"}]
    workspace = shop.open().scoped({"web"})
    history = DeployHistory(workspace.deploy_sources, workspace.catalog)
    assert await history.notes() == ("1 deploy without a time (deploys.jsonl)",)


async def told(shop: Shop) -> list[Finding]:
    return [one for one in await examine(shop.open(), NOW) if not one.is_well]


async def test_the_doctor_names_what_is_not_read_and_what_is_read_by_another_name(
    tmp_path: Path,
) -> None:
    shop = Shop(tmp_path)
    shop.service("web")
    shop.deploys.append({"service": "web", "shipped": stamp(NOW), "commit": SHA})
    shop.incident(services=["web"])
    found = [one for one in await examine(shop.open(), NOW) if one.check is Check.RECORDS]
    assert [one.is_well for one in found] == [False, True]
    assert "no line has finished_at" in found[0].what
    assert "docs/sources.md" in found[0].fix
    assert "`commit` is read as sha" in found[1].what


async def test_the_doctor_says_where_to_create_a_file_that_is_missing(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    shop.service("web")
    shop.release("web", 1, NOW - AT, {"a": "1"})
    (missing,) = await told(shop)
    assert (
        missing.fix
        == f"create {tmp_path}/incidents.jsonl, one incident a line as in docs/sources.md"
    )
    (tmp_path / "deploys.jsonl").unlink()
    shop.deploys.clear()
    (tags, *_) = await told(shop)
    assert "looks like a deploy" in tags.what
    assert "deploys.jsonl beside oncall.toml" in tags.fix


async def test_the_doctor_says_where_to_create_a_file_that_oncall_toml_names(
    tmp_path: Path,
) -> None:
    config = '[sources.deploys]\nkind = "local"\nfile = "gone.jsonl"\n'
    (tmp_path / "oncall.toml").write_text(config)
    (found,) = [
        one
        for one in await examine(open_workspace(tmp_path), NOW)
        if one.check is Check.SOURCES and not one.is_well
    ]
    assert found.what == f"{tmp_path}/gone.jsonl does not exist"
    assert found.fix.startswith("create it, one deploy a line as in docs/sources.md")


async def test_keys_that_are_data_cost_no_memory(tmp_path: Path) -> None:
    line = {"service": "web"} | {f"{number}{'x' * 10_000}": 1 for number in range(40)}
    fetched = await read(tmp_path, *[line] * 3)
    (remark,) = fetched.remarks
    assert "unknown keys: 0xxx" in remark.what
    assert len(remark.what) < 500
