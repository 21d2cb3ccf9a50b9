"""What somebody meant who typed a command that is not there, and how this program is called.

Owns the words that people use for our commands. Nothing that deletes is ever offered: a hint is copied
without a thought.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from typer.core import TyperGroup

from bot.cli_input import quoted

if TYPE_CHECKING:
    from typer._click import Context

_NAME = "oncall-bot"
_NEVER = frozenset({"erase"})
_HOW_TO_STOP = (
    "A question is stopped with Ctrl-C where it was asked, or with 🛑 in Slack; serve and demo with"
    " Ctrl-C."
)
_WORDS = MappingProxyType(
    {
        word: command
        for command, words in {
            "show": "trace log logs view open cat get postmortem inspect result answer reply",
            "runs": "history list ls ps queue status questions jobs",
            "ask": "run query question why what who exec",
            "serve": "start server up daemon web slack listen",
            "demo": "try tutorial quickstart example",
            "demo-workspace": "init new create setup",
            "doctor": "check health diagnose test lint verify",
            "replay": "rerun retry again fork resume",
            "compare": "diff",
            "eval": "evaluate score bench benchmark",
        }.items()
        for word in words.split()
    }
)
_STOPS = frozenset({"stop", "abort", "cancel", "kill", "down", "quit", "exit", "end", "halt"})


class Commands(TyperGroup):
    """The commands, and what is said of a word that is none."""

    def resolve_command(self, ctx: Context, args: list[str]) -> tuple[str | None, Any, list[str]]:
        word = args[0]
        if word not in self.commands and not word.startswith("-"):
            ctx.fail(f"No such command {quoted(word)}. {meant(word, self.commands)}".strip())
        return super().resolve_command(ctx, args)


def meant(word: str, commands: Iterable[str]) -> str:
    """What to write instead of a word that is no command; empty where nobody knows."""
    typed = word.lower()
    if typed in _STOPS:
        return _HOW_TO_STOP
    offered = [name for name in commands if name not in _NEVER]
    known = _WORDS.get(typed)
    near = [known] if known else get_close_matches(typed, offered)
    return f"Did you mean {' or '.join(repr(name) for name in near)}?" if near else ""


def program() -> tuple[str, ...]:
    """How the running program is called from this shell: by its name, else by its path."""
    started = Path(sys.argv[0])
    if started.name != _NAME:
        return (sys.executable, "-m", "bot")
    found = shutil.which(_NAME)
    if found is not None and Path(found).resolve() == started.resolve():
        return (_NAME,)
    return (str(started),)
