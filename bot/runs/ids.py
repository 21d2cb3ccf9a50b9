"""Run ids: sortable by time, with a part that nobody can guess.

A ULID: 48 bits of milliseconds and 80 random bits as 26 characters. Knows no run.
"""

from __future__ import annotations

import secrets
from datetime import datetime

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_LENGTH = 26


def new_run_id(now: datetime) -> str:
    """A fresh id. Ids of later milliseconds sort after it."""
    number = (int(now.timestamp() * 1000) << 80) | secrets.randbits(80)
    return "".join(_ALPHABET[(number >> 5 * place) & 31] for place in reversed(range(_LENGTH)))
