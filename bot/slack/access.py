"""Who may ask and where: a pure decision over typed facts (M26). In doubt it refuses.

Owns the rules and the sentences of a refusal. Where the facts come from is ``people.py``'s and
``channels.py``'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import TypeAlias, assert_never

from bot.slack.channels import Channel
from bot.slack.people import Person


class Why(StrEnum):
    GUEST = "guest"
    OUTSIDER = "outsider"
    STRANGE = "unknown_person"
    CHANNEL = "channel"
    DIRECT = "direct_messages"
    UNNAMED = "unknown_channel"


@dataclass(frozen=True)
class Allowed:
    person: Person


@dataclass(frozen=True)
class Denied:
    """Told once, in the thread."""

    why: Why


@dataclass(frozen=True)
class Ignored:
    """Not even told: bots would talk to each other."""


Verdict: TypeAlias = Allowed | Denied | Ignored


def may_ask(homes: frozenset[str], teams: Sequence[str], person: Person | None) -> Verdict:
    """``homes`` are our own ids (T…, E…), ``teams`` what Slack named as the author's with the event.

    ``person`` is ``None`` where Slack did not say who it is.
    """
    if any(team not in homes for team in teams):
        return Denied(Why.OUTSIDER)
    if person is None or person.is_deleted:
        return Denied(Why.STRANGE)
    if person.is_bot:
        return Ignored()
    if person.is_stranger or not homes & {person.team, person.enterprise}:
        return Denied(Why.OUTSIDER)
    if person.is_guest:
        return Denied(Why.GUEST)
    return Allowed(person)


def is_ours(homes: frozenset[str], person: Person | None) -> bool:
    """Whether somebody who reads a channel may read all there is: a member, or a bot.

    Nobody reads with an account that was closed. ``person`` is ``None`` where Slack did not say.
    """
    if person is not None and person.is_deleted:
        return True
    return isinstance(may_ask(homes, (), person), Allowed | Ignored)


def may_ask_here(allowed: Sequence[str], channel: str, name: str | None) -> bool:
    """By id or by name pattern. An empty list allows every channel that the bot was invited to."""
    return not allowed or any(
        rule == channel or (name is not None and fnmatchcase(name, rule)) for rule in allowed
    )


def may_be_shown(channel: Channel | None, *, debug: Channel) -> bool:
    """Whether what is thought about a question in ``channel`` may be read in ``debug`` (M24)."""
    if debug.is_shared:
        return False
    return debug.is_private or (channel is not None and not channel.is_private)


def sentence(why: Why) -> str:
    """The refusal, for the one who asked."""
    match why:
        case Why.GUEST:
            return (
                "I answer members of this workspace only, and you are a guest in it. "
                "Ask a member to ask me."
            )
        case Why.OUTSIDER:
            return (
                "I answer members of this workspace only, not people of other organisations. "
                "Ask a member to ask me."
            )
        case Why.STRANGE:
            return (
                "I could not find out whether you are a member of this workspace, "
                "so I do not answer. Ask again in a few minutes."
            )
        case Why.CHANNEL:
            return (
                "I am not set up to answer in this channel. "
                "Ask in an incident channel, or have this one added to [slack] channels."
            )
        case Why.DIRECT:
            return "I am not set up to answer direct messages. Ask in an incident channel."
        case Why.UNNAMED:
            return (
                "I could not find out which channel this is, so I do not know what I may look at "
                "here. Ask again in a few minutes."
            )
        case _:
            assert_never(why)
