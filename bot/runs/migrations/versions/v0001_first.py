"""The first tables: runs, events, blobs, replies, intake."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def _run(*, primary_key: bool = True) -> sa.Column[str]:
    return sa.Column(
        "run",
        sa.String(26),
        sa.ForeignKey("runs.id", ondelete="CASCADE"),
        primary_key=primary_key,
        nullable=not primary_key,
    )


def upgrade() -> None:
    moment = sa.DateTime(timezone=True)
    op.create_table(
        "runs",
        sa.Column("id", sa.String(26), primary_key=True),
        sa.Column("origin_key", sa.String(300), nullable=False, unique=True),
        sa.Column("surface", sa.String(40), nullable=False),
        sa.Column("address", sa.JSON, nullable=False),
        sa.Column("workspace", sa.Text, nullable=False),
        sa.Column("question", sa.Text, nullable=False),
        sa.Column("thread", sa.JSON, nullable=False),
        sa.Column("asked_at", moment, nullable=False),
        sa.Column("accepted_at", moment, nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("owner", sa.String(200)),
        sa.Column("epoch", sa.Integer, nullable=False),
        sa.Column("length", sa.Integer, nullable=False),
        sa.Column("claimed_at", moment),
        sa.Column("deadline_at", moment),
        sa.Column("abort_requested_by", sa.Text),
        sa.Column("model", sa.String(200)),
        sa.Column("outcome", sa.Text),
        sa.Column("ended_at", moment),
        sa.Column("input_tokens", sa.Integer, nullable=False),
        sa.Column("output_tokens", sa.Integer, nullable=False),
    )
    op.create_index("runs_by_state", "runs", ["state"])
    op.create_index("runs_by_acceptance", "runs", ["accepted_at"])
    op.create_table(
        "events",
        _run(),
        sa.Column("sequence", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("epoch", sa.Integer, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
    )
    op.create_table(
        "blobs",
        _run(),
        sa.Column("hash", sa.String(64), primary_key=True),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "replies",
        _run(),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("marker", sa.String(40), nullable=False),
        sa.Column("intent_at", moment, nullable=False),
        sa.Column("reference", sa.Text),
    )
    op.create_table(
        "intake",
        sa.Column("key", sa.String(300), primary_key=True),
        sa.Column("at", moment, nullable=False),
        _run(primary_key=False),
    )
    op.create_index("intake_by_time", "intake", ["at"])
