"""Alembic's entry: runs the migrations over one connection to ``attributes["url"]``."""

from __future__ import annotations

from alembic import context
from sqlalchemy import create_engine

from bot.runs.schema import METADATA

_ENGINE = create_engine(context.config.attributes["url"])
with _ENGINE.begin() as connection:
    context.configure(connection=connection, target_metadata=METADATA, render_as_batch=True)
    with context.begin_transaction():
        context.run_migrations()
_ENGINE.dispose()
