"""Alembic migrations of the store; ``schema.HEAD`` names the newest."""
