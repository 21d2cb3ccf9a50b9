"""What the demo incident's story is made of: commits, releases and the people who made them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class StoryCommit:
    """One commit. ``files`` holds whole contents; ``merged`` puts it on a branch that is merged."""

    at: str
    author: str
    subject: str
    files: dict[str, str]
    merged: str | None = None


@dataclass(frozen=True)
class Release:
    """A deployed version: its commits, oldest first, and the deploy's own record."""

    number: int
    ref: str
    started_at: str
    finished_at: str
    commits: tuple[StoryCommit, ...]
    actor: str = "release-bot"


MARA, TOMASZ, IMANI, JUN, REBECCA = (
    "Mara Lindqvist",
    "Tomasz Wolski",
    "Imani Okafor",
    "Jun Takeda",
    "Rebecca Stone",
)
