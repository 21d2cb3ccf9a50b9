"""What was typed on the command line, read into values; what cannot be used is refused in words.

Owns the exit code of bad use and where its words go. Knows no command.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import NoReturn

import typer

BAD_USE = 2
LONGEST_THREAD = 4_000_000
"""Bytes of a thread's file. The service keeps the newest messages and bounds each."""
_SHOWN = 80


def tell(message: str) -> None:
    """A line for the person at the terminal, beside the output."""
    typer.echo(f"oncall-bot: {message}", err=True)


def refuse(message: str) -> NoReturn:
    """Say what is wrong and end with the exit code of bad use."""
    tell(message)
    raise typer.Exit(BAD_USE)


def quoted(text: str) -> str:
    """What was typed, as it is shown in a complaint: bounded, and harmless to a terminal."""
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")


def folder(typed: Path) -> Path:
    """The folder that was named, absolute; ``~`` is a home."""
    try:
        return typed.expanduser().absolute()
    except RuntimeError:
        refuse(f"{quoted(str(typed))} begins in the home of a user who does not exist here")


def moment(text: str) -> datetime:
    """The time that was typed; without one, now."""
    if not text:
        return datetime.now(UTC)
    from tools.years import utc  # noqa: PLC0415 - most commands read no time

    try:
        at = datetime.fromisoformat(text.strip())
    except ValueError:
        refuse(f"--now {quoted(text)} is no time: write it like 2026-11-29T02:14Z")
    try:
        return utc(at if at.tzinfo else at.replace(tzinfo=UTC))
    except ValueError as error:
        refuse(f"--now {quoted(text)} {error}: write it like 2026-11-29T02:14Z")


def messages(file: Path) -> tuple[str, ...]:
    """The messages of a thread, one a line."""
    try:
        with file.open("rb") as opened:
            raw = opened.read(LONGEST_THREAD + 1)
    except OSError as error:
        refuse(f"--thread {quoted(str(file))} cannot be read: {error.strerror}")
    if len(raw) > LONGEST_THREAD:
        refuse(
            f"--thread {quoted(str(file))} has more than {LONGEST_THREAD // 1_000_000} MB:"
            " keep the newest messages"
        )
    lines = raw.decode("utf-8-sig", "replace").splitlines()
    return tuple(line.strip() for line in lines if line.strip())
