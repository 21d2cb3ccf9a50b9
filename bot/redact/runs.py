"""Where things end and begin in one text, remembered.

A crafted text has thousands of names whose values all run to the same end. Asked again from within,
these answer without reading it again, so that all names together cost what one does (M8).
"""

from __future__ import annotations

import re


class Run:
    """Where a run of characters ends. The pattern takes or refuses each character by itself, or by
    what follows it: from anywhere within a run its end is the same.
    """

    def __init__(self, pattern: re.Pattern[str], text: str) -> None:
        self._pattern = pattern
        self._text = text
        self._since = self._until = 0

    def end(self, at: int) -> int:
        """Return the end of the run at ``at``; ``at`` itself if none is there."""
        if not self._since <= at < self._until:
            found = self._pattern.match(self._text, at)
            self._since, self._until = at, found.end() if found else at
        return self._until


class Next:
    """Where a text stands next."""

    def __init__(self, what: str, text: str) -> None:
        self._what = what
        self._text = text
        self._since = self._found = -1

    def after(self, at: int) -> int:
        """Return its next place from ``at`` on; the text's length if there is none."""
        if not self._since <= at <= self._found:
            found = self._text.find(self._what, at)
            self._since, self._found = at, found if found != -1 else len(self._text)
        return self._found


class Line:
    """The line around a place, without its break."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._begin = self._end = -1

    def begin(self, at: int) -> int:
        self._read(at)
        return self._begin

    def end(self, at: int) -> int:
        self._read(at)
        return self._end

    def _read(self, at: int) -> None:
        if not self._begin <= at <= self._end:
            end = self._text.find("\n", at)
            self._begin = self._text.rfind("\n", 0, at) + 1
            self._end = end if end != -1 else len(self._text)
