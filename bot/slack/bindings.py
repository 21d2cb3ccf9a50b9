"""Which services and tools exist where a question was asked: a pure decision (M26).

Owns the order of the bindings and what is unknown: where a name decides and nobody knows it, nothing
is looked at. The boundary itself is the toolbox, which holds only what is allowed here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TypeAlias

from bot.runs.records import RunRecord
from bot.slack.address import SURFACE, Address
from bot.slack.settings import Binding

_ID = re.compile(r"[CGD][A-Z0-9]{5,}")


@dataclass(frozen=True)
class Everything:
    """The place is not bound."""


@dataclass(frozen=True)
class Only:
    """``None`` leaves services or tools as they are; an empty tuple leaves none."""

    services: tuple[str, ...] | None
    tools: tuple[str, ...] | None

    def sentence(self) -> str:
        """For the reply, so that nobody takes "there is no such deploy" for the whole truth."""
        parts = []
        if self.services is not None:
            parts.append(f"the services {_listed(self.services)}")
        if self.tools is not None:
            parts.append(f"the tools {_listed(self.tools)}")
        return f"Looked at here: only {' with '.join(parts)}."


@dataclass(frozen=True)
class Unsure:
    """A binding goes by name and the channel's name is unknown."""


Scope: TypeAlias = Everything | Only | Unsure

EVERYTHING = Everything()


def scope_for(run: RunRecord, bindings: Sequence[Binding]) -> Scope:
    """What a run may look at; one that was not asked in Slack is not bound."""
    if run.surface != SURFACE:
        return EVERYTHING
    return scope_of(bindings, Address.of(run))


def scope_of(bindings: Sequence[Binding], where: Address) -> Scope:
    """The first binding that fits the place."""
    for binding in bindings:
        if where.direct:
            if binding.direct_messages:
                return Only(binding.services, binding.tools)
            continue
        for rule in binding.channels:
            if rule == where.channel or (where.name and fnmatchcase(where.name, rule)):
                return Only(binding.services, binding.tools)
            if not where.name and not _ID.fullmatch(rule):
                return Unsure()
    return EVERYTHING


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) if names else "(none)"
