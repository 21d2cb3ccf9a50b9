"""Making and upgrading the database, and what a person reads when it cannot be used."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import URL, create_engine, inspect

from bot.runs import migrate
from bot.runs.errors import StoreError, in_words
from bot.runs.migrate import prepare, sqlite_file
from bot.runs.schema import HEAD, REVISIONS
from runs.bench import new_run, opened

ROOT = Path(__file__).parent.parent.parent


def described(database: Path) -> dict[str, object]:
    engine = create_engine(URL.create("sqlite", database=str(database)))
    try:
        seen = inspect(engine)
        return {
            table: (
                [(c["name"], str(c["type"]), c["nullable"]) for c in seen.get_columns(table)],
                seen.get_pk_constraint(table)["constrained_columns"],
                sorted(
                    (i["name"] or "", tuple(i["column_names"])) for i in seen.get_indexes(table)
                ),
                [tuple(u["column_names"]) for u in seen.get_unique_constraints(table)],
                [(k["referred_table"], k["options"]) for k in seen.get_foreign_keys(table)],
            )
            for table in seen.get_table_names()
        }
    finally:
        engine.dispose()


def test_a_new_database_is_what_all_migrations_together_make(tmp_path: Path) -> None:
    fresh, migrated = tmp_path / "fresh.db", tmp_path / "migrated.db"
    prepare(fresh)
    migrate._upgrade(migrated)
    assert described(fresh) == described(migrated)
    assert "up to date" in prepare(migrated)


@pytest.mark.parametrize("version", REVISIONS[:-1])
async def test_a_database_of_an_older_version_is_brought_up_and_keeps_its_runs(
    tmp_path: Path, version: str
) -> None:
    old, fresh = tmp_path / "old.db", tmp_path / "fresh.db"
    older = Config()
    older.set_main_option("script_location", str(Path(migrate.__file__).parent / "migrations"))
    older.attributes["url"] = URL.create("sqlite", database=str(old))
    command.upgrade(older, version)
    run = new_run()
    async with opened(fresh) as store:
        await store.accept(run, ("event-1",))
    with closing(sqlite3.connect(old, isolation_level=None)) as connection:
        connection.execute("ATTACH ? AS fresh", (str(fresh),))
        connection.execute("INSERT INTO runs SELECT * FROM fresh.runs")
        connection.execute("INSERT INTO intake SELECT * FROM fresh.intake")
    assert f"from version {version} to {HEAD}" in prepare(old)
    assert described(old) == described(fresh)
    async with opened(old) as store:
        assert await store.find("event-1") == run


def test_a_new_database_is_in_wal_mode_and_stamped(tmp_path: Path) -> None:
    assert "was made" in prepare(tmp_path / "new" / "oncall.db")
    with closing(sqlite3.connect(tmp_path / "new" / "oncall.db")) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("SELECT * FROM alembic_version").fetchall() == [(HEAD,)]


def test_an_up_to_date_database_needs_no_alembic(tmp_path: Path) -> None:
    prepare(tmp_path / "oncall.db")
    code = (
        "import sys; from pathlib import Path; from bot.runs.migrate import prepare;"
        f"print(prepare(Path({str(tmp_path / 'oncall.db')!r}))); assert 'alembic' not in sys.modules"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "up to date" in done.stdout


def test_processes_that_start_together_make_one_database(tmp_path: Path) -> None:
    code = (
        "from pathlib import Path; from bot.runs.migrate import prepare;"
        f"print(prepare(Path({str(tmp_path / 'oncall.db')!r})))"
    )
    started = [
        subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    said = [process.communicate(timeout=30)[0] for process in started]
    assert [process.returncode for process in started] == [0, 0, 0, 0]
    assert sum("was made" in line for line in said) == 1


def test_a_file_that_is_no_database_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "oncall.db"
    file.write_text("shopping list: eggs, milk, and much more than fits a header" * 30)
    before = file.read_bytes()
    with pytest.raises(StoreError, match="is not a database of this bot: move it away"):
        prepare(file)
    assert file.read_bytes() == before


def test_another_programs_database_is_refused(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "other.db")) as connection:
        connection.execute("CREATE TABLE photos (id INTEGER)")
    with pytest.raises(StoreError, match="tables of another program"):
        prepare(tmp_path / "other.db")


def test_a_database_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    prepare(tmp_path / "oncall.db")
    with closing(sqlite3.connect(tmp_path / "oncall.db")) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0999'")
        connection.commit()
    with pytest.raises(StoreError, match=r"newer version of this bot \(schema 0999\)"):
        prepare(tmp_path / "oncall.db")


def test_a_folder_in_place_of_the_file_is_said(tmp_path: Path) -> None:
    (tmp_path / "oncall.db").mkdir()
    with pytest.raises(StoreError, match="cannot be opened: check"):
        prepare(tmp_path / "oncall.db")


def test_a_locked_database_is_said_at_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrate, "BUSY_SECONDS", 0.05)
    prepare(tmp_path / "oncall.db")
    with closing(sqlite3.connect(tmp_path / "oncall.db")) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="locked by another process"):
            prepare(tmp_path / "oncall.db")


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("attempt to write a readonly database", "cannot be written: give this user"),
        ("database or disk is full", "full: free some space"),
        ("database disk image is malformed", "damaged: restore a copy"),
        ("no such table: runs", "does not work: no such table"),
    ],
)
def test_errors_of_sqlite_become_what_to_do(said: str, words: str) -> None:
    assert words in in_words(sqlite3.OperationalError(said), "/x/oncall.db")


@pytest.mark.parametrize("url", ["postgresql://db/oncall", "oncall.db", "sqlite:///"])
def test_a_store_url_that_is_not_supported_says_what_is(url: str) -> None:
    with pytest.raises(StoreError, match="write sqlite:///FILE"):
        sqlite_file(url, Path("/shop"))


def test_a_store_url_is_relative_to_the_workspace_or_absolute() -> None:
    assert sqlite_file("sqlite:///.oncall/oncall.db", Path("/shop")) == Path(
        "/shop/.oncall/oncall.db"
    )
    assert sqlite_file("sqlite:////var/lib/o.db", Path("/shop")) == Path("/var/lib/o.db")
