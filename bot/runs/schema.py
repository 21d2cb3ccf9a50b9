"""The tables of the store, as data, and the version of the schema that this code needs.

Owns columns and types only: statements are ``store.py``'s, changing an older database is
``migrate.py``'s. Portable: SQLite now, PostgreSQL as well.
"""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    DateTime,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
)
from sqlalchemy.engine import Dialect

REVISIONS = ("0001", "0002", "0003", "0004")
"""Every revision in ``migrations/versions``, oldest first."""
HEAD = REVISIONS[-1]


class UtcDateTime(TypeDecorator[datetime]):
    """An aware datetime. SQLite drops the zone, so it is stored as UTC and given back as UTC."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        del dialect
        return value.astimezone(UTC) if value is not None else None

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        del dialect
        if value is None:
            return None
        return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)


METADATA = MetaData()


def _of_a_run(*, primary_key: bool = True) -> Column[str]:
    """The run a row belongs to; erasing the run erases the row."""
    return Column(
        "run",
        String(26),
        ForeignKey("runs.id", ondelete="CASCADE"),
        primary_key=primary_key,
        nullable=not primary_key,
    )


RUNS = Table(
    "runs",
    METADATA,
    Column("id", String(26), primary_key=True),
    Column("origin_key", String(300), nullable=False, unique=True),
    Column("surface", String(40), nullable=False),
    Column("address", JSON, nullable=False),
    Column("workspace", Text, nullable=False),
    Column("question", Text, nullable=False),
    Column("thread", JSON, nullable=False),
    Column("asked_at", UtcDateTime, nullable=False),
    Column("accepted_at", UtcDateTime, nullable=False),
    Column("state", String(20), nullable=False),
    Column("owner", String(200)),
    Column("epoch", Integer, nullable=False),
    Column("length", Integer, nullable=False),
    Column("claimed_at", UtcDateTime),
    Column("deadline_at", UtcDateTime),
    Column("abort_requested_by", Text),
    Column("model", String(200)),
    Column("outcome", Text),
    Column("ended_at", UtcDateTime),
    Column("input_tokens", Integer, nullable=False),
    Column("output_tokens", Integer, nullable=False),
    Index("runs_by_state", "state"),
    Index("runs_by_acceptance", "accepted_at"),
)

EVENTS = Table(
    "events",
    METADATA,
    _of_a_run(),
    Column("sequence", Integer, primary_key=True, autoincrement=False),
    Column("epoch", Integer, nullable=False),
    Column("body", Text, nullable=False),
)

BLOBS = Table(
    "blobs",
    METADATA,
    _of_a_run(),
    Column("hash", String(64), primary_key=True),
    Column("body", LargeBinary, nullable=False),
)

REPLIES = Table(
    "replies",
    METADATA,
    _of_a_run(),
    Column("state", String(20), nullable=False),
    Column("marker", String(40), nullable=False),
    Column("intent_at", UtcDateTime, nullable=False),
    Column("reference", Text),
)

INTAKE = Table(
    "intake",
    METADATA,
    Column("key", String(300), primary_key=True),
    Column("at", UtcDateTime, nullable=False),
    _of_a_run(primary_key=False),
    Index("intake_by_time", "at"),
)

FEEDBACK = Table(
    "feedback",
    METADATA,
    _of_a_run(),
    Column("by", String(100), primary_key=True),
    Column("useful", Boolean, nullable=False),
    Column("at", UtcDateTime, nullable=False),
)

EARLY_STOPS = Table(
    "early_stops",
    METADATA,
    Column("key", String(300), primary_key=True),
    Column("by", String(100), primary_key=True),
    Column("name", Text, nullable=False),
    Column("of_all", Boolean, nullable=False),
    Column("at", UtcDateTime, nullable=False),
    Index("early_stops_by_time", "at"),
)

NOTICES = Table(
    "notices",
    METADATA,
    Column("key", String(300), primary_key=True),
    Column("surface", String(40), nullable=False),
    Column("address", JSON, nullable=False),
    Column("body", JSON, nullable=False),
    Column("owner", String(200), nullable=False),
    Column("at", UtcDateTime, nullable=False),
)
