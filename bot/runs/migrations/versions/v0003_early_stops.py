"""Stops that are handled before the question that they stop."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "early_stops",
        sa.Column("key", sa.String(300), primary_key=True),
        sa.Column("by", sa.String(100), primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("of_all", sa.Boolean, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("early_stops_by_time", "early_stops", ["at"])
