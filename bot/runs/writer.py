"""The fast way into a SQLite store, for what a run does twice a step: append to its journal.

One connection in one thread of its own, so that a transaction changes threads once and not twice a
statement, and never blocks the event loop. Statements are SQLAlchemy's, compiled once. A commit is
in the file system when it returns, so no death of the process loses it; it is on the disk, with all
before it, after the next commit of ``Store.transaction``, which comes before every reply.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from sqlalchemy.dialects import sqlite
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.expression import ClauseElement

from bot.runs.errors import StoreError, in_words
from bot.runs.migrate import BUSY_SECONDS

T = TypeVar("T")
Values = Mapping[str, object]


class Prepared:
    """A statement as SQLite's own SQL. ``columns`` are those that an insert is given."""

    def __init__(self, statement: ClauseElement, columns: Sequence[str] | None = None) -> None:
        dialect = sqlite.dialect(paramstyle="named")
        compiled = statement.compile(dialect=dialect, column_keys=columns)
        if not isinstance(compiled, SQLCompiler):
            raise TypeError(f"not a statement that is run: {statement}")
        self.sql = str(compiled)
        given = {} if columns else compiled.params
        self._fixed = {name: value for name, value in given.items() if value is not None}
        self._written_as = {
            name: written_as
            for name, bound in compiled.binds.items()
            if (written_as := bound.type.bind_processor(dialect))
        }

    def bound(self, values: Values) -> Values:
        """The values as the driver takes them, with those that stand in the statement itself."""
        for name, written_as in self._written_as.items():
            values = {**values, name: written_as(values[name])}
        return {**self._fixed, **values} if self._fixed else values


class Cursor:
    """What a transaction's work runs its statements with."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def rows(self, statement: Prepared, values: Values) -> list[tuple[object, ...]]:
        return self._connection.execute(statement.sql, statement.bound(values)).fetchall()

    def each(self, statement: Prepared, values: Sequence[Values]) -> None:
        self._connection.executemany(statement.sql, [statement.bound(each) for each in values])


class Writer:
    """Opened on first use. Raises ``StoreError`` when the database does not do what it should."""

    def __init__(self, database: Path) -> None:
        self._database = database
        self._connection: sqlite3.Connection | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="journal")

    def close(self) -> None:
        """What was begun is done first."""
        self._thread.submit(self._close)
        self._thread.shutdown()

    async def transaction(self, work: Callable[[Cursor], T]) -> T:
        """Run ``work`` in the thread, as one transaction. A caller that is cancelled is not told
        whether it was committed.
        """
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, self._run, work)
        except sqlite3.Error as error:
            raise StoreError(in_words(error, str(self._database))) from error

    def _run(self, work: Callable[[Cursor], T]) -> T:
        connection = self._connection or self._open()
        connection.execute("BEGIN IMMEDIATE")
        try:
            done = work(Cursor(connection))
        except BaseException:
            connection.rollback()
            raise
        connection.commit()
        return done

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._database, timeout=BUSY_SECONDS, isolation_level=None)
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute("PRAGMA synchronous=NORMAL")
        self._connection = connection
        return connection

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
