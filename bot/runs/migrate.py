"""Brings a database to the schema that this code needs, before anything else opens it.

The usual case, a database that is up to date, costs one plain SQL query: SQLAlchemy's tables are
only used to make a new one, and Alembic is only imported to change an old one. A file lock keeps
two processes that start together apart.
"""

from __future__ import annotations

import fcntl
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from sqlalchemy import URL, create_engine, text
from sqlalchemy.exc import SQLAlchemyError

from bot.runs.errors import StoreError, in_words
from bot.runs.schema import HEAD, METADATA, REVISIONS

BUSY_SECONDS = 5.0
"""How long a statement waits for another process's transaction."""

_SCHEME = "sqlite:///"


def sqlite_file(url: str, base: Path) -> Path:
    """The file that a ``sqlite:///`` URL names; a relative one is looked for in ``base``."""
    path = Path(url.removeprefix(_SCHEME))
    if not url.startswith(_SCHEME) or not path.name:
        raise StoreError(
            f"store.url {url!r} is not supported: write sqlite:///FILE, with FILE relative to the "
            "workspace, or sqlite:////ABSOLUTE/FILE."
        )
    return base / path.expanduser()


def prepare(database: Path) -> str:
    """Create or upgrade the database and return what was done, in words.

    Raises ``StoreError`` when it cannot be used, among others when a newer version made it.
    """
    try:
        database.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _only_one(database):
            return _prepare(database)
    except (sqlite3.Error, SQLAlchemyError) as error:
        raise StoreError(in_words(error, str(database))) from error
    except OSError as error:
        raise StoreError(
            f"{database} cannot be used ({error.strerror}): check the folder and its permissions."
        ) from error


def _prepare(database: Path) -> str:
    with closing(sqlite3.connect(database, timeout=BUSY_SECONDS)) as connection:
        version = _version(connection, database)
        if version == HEAD:
            connection.execute("BEGIN IMMEDIATE")  # says now, not later, if it cannot be written
            connection.rollback()
            return f"{database} is up to date (version {HEAD})."
        connection.execute("PRAGMA journal_mode=WAL")
    if version is None:
        _create(database)
        return f"{database} was made (version {HEAD})."
    _upgrade(database)
    return f"{database} was brought from version {version} to {HEAD}."


def _version(connection: sqlite3.Connection, database: Path) -> str | None:
    names = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
    if not names:
        return None
    if "alembic_version" not in names:
        raise StoreError(
            f"{database} holds tables of another program: set another store.url, or move it away."
        )
    row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    version = str(row[0]) if row else ""
    if version not in REVISIONS:
        raise StoreError(
            f"{database} is from a newer version of this bot (schema {version or 'unknown'}): "
            "install that version, or set another store.url."
        )
    return version


def _create(database: Path) -> None:
    """A fresh database in one transaction, stamped as if every migration had run."""
    engine = create_engine(URL.create("sqlite", database=str(database)))
    try:
        with engine.begin() as connection:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            METADATA.create_all(connection)
            connection.execute(
                text(
                    "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL, "
                    "CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))"
                )
            )
            connection.execute(
                text("INSERT INTO alembic_version VALUES (:version)"), {"version": HEAD}
            )
    finally:
        engine.dispose()


def _upgrade(database: Path) -> None:
    from alembic import command  # noqa: PLC0415 - slow to import, and seldom needed
    from alembic.config import Config  # noqa: PLC0415 - as above

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["url"] = URL.create("sqlite", database=str(database))
    command.upgrade(config, "head")


@contextmanager
def _only_one(database: Path) -> Iterator[None]:
    with database.with_name(f"{database.name}.lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
