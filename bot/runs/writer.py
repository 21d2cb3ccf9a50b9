"""The short way into a SQLite store, for what a run does twice a step: append to its journal.

One connection, used on the event loop itself: a transaction takes a tenth of a millisecond, and a
thread to do it in takes longer. It never waits there. Where another process writes, it is tried
again later; a commit is in the file system when it returns, so that no death of the process loses
it, but nothing is synced: the next commit of ``Store.transaction``, and there is one before every
reply, brings it to the disk with all before it, and does the checkpoints.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TypeVar

from sqlalchemy.dialects import sqlite
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.expression import ClauseElement

from bot.runs.errors import StoreError, in_words
from bot.runs.migrate import BUSY_SECONDS

AGAIN_SECONDS = 0.005
"""Before a transaction is tried again that met another process's."""

T = TypeVar("T")
Values = Mapping[str, object]


class Prepared:
    """A statement as SQLite's own SQL. ``columns`` are those that an insert is given."""

    def __init__(self, statement: ClauseElement, columns: Sequence[str] | None = None) -> None:
        dialect = sqlite.dialect(paramstyle="named")
        compiled = statement.compile(dialect=dialect, column_keys=columns)
        if not isinstance(compiled, SQLCompiler):
            raise TypeError(f"not a statement with values: {statement}")
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
        if values:
            self._connection.executemany(statement.sql, map(statement.bound, values))


def _is_busy(error: sqlite3.Error) -> bool:
    """Tell that another process writes; the low byte of SQLite's codes is their kind."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY


class Writer:
    """Opened on first use. Raises ``StoreError`` when the database does not do what it should."""

    def __init__(self, database: Path) -> None:
        self._database = database
        self._connection: sqlite3.Connection | None = None

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()

    async def transaction(self, work: Callable[[Cursor], T]) -> T:
        """Run ``work`` as one transaction, from its beginning each time until it gets through."""
        clock = asyncio.get_running_loop().time
        patience = clock() + BUSY_SECONDS
        while True:
            try:
                return self._run(work)
            except sqlite3.Error as error:
                if not _is_busy(error) or clock() > patience:
                    raise StoreError(in_words(error, str(self._database))) from error
            await asyncio.sleep(AGAIN_SECONDS)

    def _run(self, work: Callable[[Cursor], T]) -> T:
        connection = self._connection or self._open()
        connection.execute("BEGIN")
        with ExitStack() as unless_done:
            unless_done.callback(connection.rollback)
            done = work(Cursor(connection))
            connection.commit()
            unless_done.pop_all()
        return done

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._database, timeout=0, isolation_level=None)
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA wal_autocheckpoint=0")
        self._connection = connection
        return connection
