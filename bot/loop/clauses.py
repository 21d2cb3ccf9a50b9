"""A question's clauses, and what each of them names: looked for once, and only when it is asked for.

Pure; the catalog's words are given. Knows no part of a question.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from bot.loop.entities import (
    ACTED_ON,
    DeployRef,
    find_deploys,
    find_environment,
    find_person,
    find_services,
    find_versions,
    joined_services,
)
from bot.loop.guard import folded, guarded, has_digit
from bot.loop.times import OnsetWindow, Window, onset_window, window

_URL = re.compile(r"https?://[^\s<>|]*[^\s<>|.,;:!?)\]'\"]", re.IGNORECASE)
_IN_URL = re.compile(
    r"/(?P<kind>commit|deploy|deployment|release)s?/(?:tag/)?(?P<name>[\w.-]*\d[\w.-]*)",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"\([^()]*\)")
_BREAK = re.compile(
    r"\.(?<=[a-z)\"']\.)\s+|\s(?<!\s\s)\s*and\s+(?=(?:what|which|who|when|where|how|why|did|was|were|is"
    r"|can|should|show|list|compare)\b)|,\s+(?:and\s+(?=(?:what|which|who|when|where|how|why|did|was|were"
    r"|is|can|should|show|list|compare)\b)"
    r"|(?=(?:what|which|who|when|why)\b)|in\s+(?=which\b))|(?P<mark>[?!;\n])\s*"
)
"""Where a folded text breaks; a mark stays with what it ends."""
_RUN_TOGETHER = guarded("whats|whos|whens|wheres|hows", r"\b(what|who|when|where|how)s\b")
"""``whats``, as it is typed at night."""
_MISTYPED = guarded(
    "aht|wich|hcih|epoly|eplyo",
    r"\b(?:(?P<what>waht)|(?P<which>wich|whcih)|(?P<deploy>depoly|deplyo))",
)
"""Letters swapped or lost in the words that questions are made of, as they are typed at night."""
_INCIDENT = re.compile(r"\b(?!UTC-|SHA-|UTF-|ISO-|CVE-)[A-Z][A-Z0-9]{1,9}-\d{1,8}\b")
_FILE = re.compile(r"(?<![\w@:/.+-])(?:[\w.@+-]++/)*[\w@+-][\w.@+-]*\.[A-Za-z]\w{0,7}(?![\w/])")

_PLACED = re.compile(
    r"(?:\b(?:in|on|and|or|vs\.?|versus|between|from|as|to|with|than|is|compare)\s+(?:the\s+)?|^\W*)"
    r"([a-z-]+)\b"
)
"""A word that stands where an environment would."""
_ASKING = re.compile(
    r"^\W*(?:(?:and|or|also|but|so|then|please|pls)\b\W*)*(?:what|which|who|whom|whose|when|where|why"
    r"|how|is|are|was|were|did|do|does|has|have|had|can|could|should|would|will|compare|list|show"
    r"|tell|explain|give|find)\b",
    re.IGNORECASE,
)
_TO_ANYBODY = re.compile(
    r"\b(?:can|could|would|will) (?:you|u|someone|somebody|anyone|anybody)\b.{0,20}"
    r"\b(?:help|look|check|explain|investigate|see|tell|assist)\b",
    re.IGNORECASE,
)
_FEWEST = 3
"""Words of a clause that asks something by itself."""


def asks(text: str) -> bool:
    """Whether a clause asks for anything, as far as its form tells; a call for help asks nothing."""
    if len(text.split()) < _FEWEST or _TO_ANYBODY.search(text):
        return False
    return _ASKING.match(text) is not None


@dataclass(frozen=True)
class Clause:
    """A piece of text with what it names. ``words`` maps the catalog's names and aliases to service
    names; times are read against ``now``, which is UTC.
    """

    text: str
    words: Mapping[str, str]
    now: datetime

    @cached_property
    def services(self) -> tuple[str, ...]:
        return find_services(self.text, self.words)

    @cached_property
    def subjects(self) -> tuple[str, ...]:
        """The services that are asked about together: ``web and ledger``."""
        if len(self.services) < 2:
            return self.services
        return joined_services(self.text, self.words)

    @property
    def person(self) -> str | None:
        return find_person(self.text, self.words)

    @property
    def service(self) -> str | None:
        return self.services[0] if self.services else None

    @property
    def has_digit(self) -> bool:
        """Without one no deploy is named by its number or version."""
        return has_digit(self.text)

    @cached_property
    def deploys(self) -> tuple[str, ...]:
        return find_deploys(self.text)

    @cached_property
    def versions(self) -> tuple[DeployRef, ...]:
        return find_versions(self.text, self.words)

    @cached_property
    def acted_on(self) -> tuple[str, ...]:
        """Deploys by their bare numbers: ``who deployed 4471``."""
        if not self.has_digit:
            return ()
        lists = (re.findall(r"\d+", one["numbers"]) for one in ACTED_ON.finditer(folded(self.text)))
        return tuple(dict.fromkeys(number for numbers in lists for number in numbers))

    @property
    def names_any(self) -> bool:
        """Whether any service or deploy is named, by whatever name."""
        return bool(self.services or self.deploys or self.versions or self.acted_on)

    @property
    def named(self) -> tuple[DeployRef, ...]:
        """Every deploy that is named as one."""
        return (*(DeployRef(asked=asked) for asked in self.deploys), *self.versions)

    @cached_property
    def meant(self) -> tuple[DeployRef, ...]:
        """What "it" can mean after this text: the one deploy that its first line is about, else all
        that it names. What stands in brackets is mostly another name of the same.
        """
        if not self.named:
            return ()
        plain = _ASIDE.sub(" ", self.text).strip()
        first = self._named_once(plain.split("\n", 1)[0])
        if len(first) == 1:
            return first
        return self._named_once(plain) or self._named_once(self.text)

    def _named_once(self, text: str) -> tuple[DeployRef, ...]:
        named = self.named if text == self.text else Clause(text, self.words, self.now).named
        return tuple({ref.asked: ref for ref in reversed(named)}.values())[::-1]

    @cached_property
    def span(self) -> Window:
        return window(self.text, self.now)

    @property
    def around(self) -> OnsetWindow | None:
        return onset_window(self.text)

    @property
    def incident(self) -> str | None:
        found = _INCIDENT.search(self.text) if "-" in self.text else None
        return found[0] if found else None

    @property
    def environment(self) -> str | None:
        return find_environment(self.text)

    @property
    def environments(self) -> tuple[str, ...]:
        """Those that are asked about together: ``between staging and production``."""
        named = (find_environment(one[1]) for one in _PLACED.finditer(folded(self.text)))
        return tuple(dict.fromkeys(one for one in named if one))

    @property
    def path(self) -> str | None:
        found = _FILE.search(self.text) if "." in self.text else None
        return found[0] if found else None


def readable(text: str) -> str:
    """The text without its URLs (of one that leads to a commit, a deploy or a release that remains),
    and with common slips of the keyboard mended.
    """
    text = _URL.sub(_name_in, text) if "://" in text else text
    if _MISTYPED.lets_by(text):
        text = _MISTYPED.pattern.sub(lambda found: found.lastgroup or found[0], text)
    return text


def _name_in(url: re.Match[str]) -> str:
    found = _IN_URL.search(url[0])
    return f" {found['kind']} {found['name']} " if found else " "


def clauses_of(whole: Clause) -> Iterator[Clause]:
    """The clauses of a text; the text itself where it is one."""
    start = 0
    for at in (*_BREAK.finditer(folded(whole.text)), None):
        piece = whole.text[start : max(at.start(), at.end("mark")) if at else None]
        start = at.end() if at else 0
        if not piece or piece.isspace():
            continue
        text = _RUN_TOGETHER.sub(r"\1 is", piece)
        yield whole if text == whole.text else Clause(text, whole.words, whole.now)
