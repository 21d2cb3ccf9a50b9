"""How far one version is from the one before it. Pure."""

from __future__ import annotations

import re

_VERSION = re.compile(r"(?:^|[^\d.])v?(\d{1,3})\.(\d{1,5})(?:\.\d{1,5})?(?![\d.]*\d)")
"""``2.31.0``, ``v1.4``, ``release-2.0.0-rc1``; no date, address or bare number."""


def version_step(before: str | None, after: str | None) -> str | None:
    """``major`` or ``minor`` where the version grew by more than a patch, else ``None``.

    Both are names of releases as people give them; where one holds no version nothing is said.
    """
    old, new = _numbers(before), _numbers(after)
    if old is None or new is None:
        return None
    if new[0] > old[0]:
        return "major"
    return "minor" if new[0] == old[0] and new[1] > old[1] else None


def _numbers(ref: str | None) -> tuple[int, int] | None:
    found = _VERSION.search(ref or "")
    return (int(found[1]), int(found[2])) if found else None
