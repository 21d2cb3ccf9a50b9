"""What a text names: services, deploys by number, SHA, tag or version, an environment.

Pure; the catalog's words are given. Knows no question and no part of one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from pydantic import BaseModel, ConfigDict

from bot.loop.guard import folded, guarded, has_digit, in_folded


class DeployRef(BaseModel):
    """A deploy as people name it: ``asked`` (number, SHA, tag), else the last one of a service.

    ``ordinal`` 1 is the last deploy of ``service``, 2 the one before. With ``before_cause``
    it is counted from the first suspect, if that is of the same service (or no service is told):
    0 is it, 1 the one before. ``before`` names the deploy that it came before.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    asked: str | None = None
    service: str | None = None
    ordinal: int = 1
    before_cause: int | None = None
    before: str | None = None

    @property
    def words(self) -> str:
        if self.asked is not None:
            return f"deploy {self.asked}"
        if self.before is not None:
            return f"the deploy of {self.service} before {self.before}"
        if self.service is None:
            return "the first suspect" if self.before_cause == 0 else "the deploy before it"
        which = "last deploy" if self.ordinal == 1 else f"deploy {self.ordinal} back"
        return f"{which} of {self.service}"


_NUMBERED = in_folded(
    "deploy|release|rollout|build|run",
    r"\b(?:deploy(?:ment)?|release|rollout|build|run)s?\s+(?:nos?\.?\s*|numbers?\s+)?"
    r"((?:#?\d{1,40}(?![\d.:]*[.:]\d))(?:\s*(?:,|and|or|&|vs\.?|to)\s*#?\d{1,40}(?![\d.:]*[.:]\d))*)",
)
_HASHED = in_folded("#", r"#(?<![\w/&]#)(\d{1,10})\b")
_SHA = re.compile(r"(?<![\w-])(?=[0-9a-f]*\d)(?=\d*[a-f])([0-9a-f]{7,40})(?![\w-])")
_NAMED_SHA = in_folded("sha|commit|revision", r"\b(?:sha|commit|revision)\s+([0-9a-f]{7,40})\b")
_DIGITS = re.compile(r"\d+")
_TAG = re.compile(
    r"(?<![\w.])(v\d+(?:\.\d+){1,3}(?:[-+.][0-9A-Za-z.]+)?|(?:deploy|release)[-_]\d[\w.-]*\d"
    r"|(?:deploy|release)[-_]\d)(?![\w])"
)
_MIXED = re.compile(r"\d(?:[a-f]|(?<=[a-fv_-]\d))")
"""What every SHA and every tag holds, in small letters."""
VERSION = re.compile(r"(?<=\s)(\d+(?:\.\d+)+[\w.+-]*\w|\d+(?:\.\d+)+)(?![\w:])")
_NUMBER = re.compile(r"\s#?(\d{4,8})(?![\w:.%-])")
"""After a service's name a deploy's number; three digits would be an HTTP status."""
BARE = re.compile(r"\b(?:was|is) it #?(\d{3,8})(?![\w:.%-])", re.IGNORECASE)
ACTED_ON = re.compile(
    r"\b(?:deployed|shipped|released|pushed|reverted|revert(?:ing)?|undo(?:ing)?|(?:roll-?)?back|blame"
    r"|did|does|could|might|may|is|was|were|has|had|about|than|why not)"
    r"\s+(?P<numbers>(?:#?\d{4,8}(?:\s*,\s*|\s+(?:and|or)\s+))*#?\d{4,8})(?![\w:.%-])"
    r"(?!\s+(?:m?s|sec\w*|min\w*|hours?|days?|percent|times?|users?|customers?|errors?|requests?"
    r"|orders?|people|rows?|lines?|files?|pods?|hosts?|retries|attempts)\b)"
)
"""Deploys by bare numbers: ``who deployed 4470 and 4471``. Three digits would be an HTTP status.
For folded text.
"""
IN_NUMBER = re.compile(
    r"(?:\b(?:in|of|about|show me|give me)\s+|^\s*)#?(\d{3,8})(?![\w:.%-])", re.IGNORECASE
)
BARE_VERSION = re.compile(
    r"\b(?:did|does|do|in|of|was|is|has|version|release)\s+(v?\d+(?:\.\d+)+[\w+-]*)"
    r"(?![\w:])(?!\s*(?:m?s|sec\w*|min\w*|hours?|days?|%|percent|[kmg]b)\b)",
    re.IGNORECASE,
)
_BY = guarded(
    "deploy|ship|releas|push",
    r"\bwhat (?:else )?(?:did|has|have) (?:the )?@?(?P<did>[a-z][\w.-]*)"
    r" (?:been )?(?:deploy|ship|releas|push)(?:p?ed|e|p?ing)?\b"
    r"|\b(?:deploys?|deployments?|deployed|shipped|releases?d?|pushed) by @?(?P<by>[a-z][\w.-]*\w)",
)
_JOINS = re.compile(r"\s*(?:,|/|&|,?\s*\b(?:and|or)\b)\s*(?:the\s+)?", re.IGNORECASE)
NOBODY = frozenset(
    {
        *("anything", "something", "any", "it", "that", "this", "these", "those", "everything"),
        *("anyone", "someone", "somebody", "anybody", "one", "there", "else", "we", "they", "you"),
        *("production", "prod", "staging", "stage", "canary", "dev", "development", "qa", "test"),
        *("all", "which", "what", "deploy", "deploys", "release", "releases", "incident", "outage"),
        *("alert", "change", "changes", "last", "latest", "previous", "newest", "current", "first"),
        *("second", "next", "same", "question", "thread", "channel", "case", "general", "detail"),
        *("code", "config", "configuration", "total"),
    }
)
"""Words that stand where a service or a person would, and are none."""
_NO_PERSON = NOBODY | {
    *("i", "he", "she", "us", "me", "him", "her", "them", "whom", "who", "hand", "default", "now"),
    *("mistake", "accident", "noon", "midnight", "today", "yesterday", "monday", "tuesday", "been"),
    *("wednesday", "thursday", "friday", "saturday", "sunday", "the", "a", "an", "file", "team"),
    *("time", "environment", "service", "author", "version"),
}
_ENVIRONMENT = in_folded(
    "prod|stag|canary|dev|qa|test",
    r"\b(production|prod|staging|stage|canary|preprod|pre-production|development|dev|qa|test)\b"
    r"(?=\s*(?:environment|env|cluster)?\b)",
)
_ENVIRONMENTS = {"prod": "production", "stage": "staging", "dev": "development"}


def find_services(text: str, words: Mapping[str, str]) -> tuple[str, ...]:
    """The catalog's services that the text names, by name or alias, in order of their place.

    The longest name wins where several overlap; ``payments api`` names ``payments-api``.
    """
    return tuple(dict.fromkeys([name for _, _, name in service_places(text, words)]))


def joined_services(text: str, words: Mapping[str, str]) -> tuple[str, ...]:
    """The first service that the text names, and those that "and", "or" or a comma joins to it."""
    joined: list[str] = []
    end = 0
    for start, stop, name in service_places(text, words):
        if joined and not _JOINS.fullmatch(text, end, start):
            break
        joined.append(name)
        end = stop
    return tuple(dict.fromkeys(joined))


def service_places(text: str, words: Mapping[str, str]) -> list[tuple[int, int, str]]:
    """Where services stand in a text, as (start, end, service)."""
    lowered = text.lower()
    likely = [one for one in _patterns(tuple(words)) if one[1] in lowered]
    if not likely:
        return []
    taken = bytearray(len(lowered))
    found: list[tuple[int, int, str]] = []
    for word, _, pattern in likely:
        for match in pattern.finditer(lowered):
            start, end = match.span()
            if taken.find(1, start, end) < 0:
                taken[start:end] = b"\1" * (end - start)
                found.append((start, end, words[word]))
    return sorted(found)


@lru_cache(maxsize=64)
def _patterns(words: tuple[str, ...]) -> tuple[tuple[str, str, re.Pattern[str]], ...]:
    """Each word with its longest piece, which is looked for first, and with what finds it, the
    longest word first. Kept, because a catalog is asked again and again. A pattern that begins with
    the word itself, and then looks back at what stands before it, is found faster.
    """
    found = []
    for word in sorted(words, key=len, reverse=True):
        pieces = re.split(r"[-_ ]", word.lower())
        whole = r"[-_ ]".join(map(re.escape, pieces))
        before = f"(?s:.{{{len(word.lower())}}})"
        pattern = re.compile(rf"{whole}(?![\w-])(?<![\w-]{before})(?<!\w\.{before})")
        found.append((word, max(pieces, key=len), pattern))
    return tuple(found)


def find_deploys(text: str) -> tuple[str, ...]:
    """Numbers, SHAs and tags of deploys that the text names, in order, each once."""
    low = folded(text)
    found = [(m.start(1), m[1]) for m in _NAMED_SHA.finditer(low)]
    if has_digit(low):
        for match in _NUMBERED.finditer(low):
            found += [(match.start(1), number) for number in _DIGITS.findall(match[1])]
        found += [(m.start(1), m[1]) for m in _HASHED.finditer(low)]
        if _MIXED.search(low):
            found += [(m.start(1), m[1]) for m in _SHA.finditer(low)]
            found += [(m.start(1), m[1]) for m in _TAG.finditer(text)]
    return tuple(dict.fromkeys(name for _, name in sorted(found)))


def find_versions(text: str, words: Mapping[str, str]) -> tuple[DeployRef, ...]:
    """Deploys named by service and version or number: ``httpx 0.28.0``, ``web 4470``."""
    if not has_digit(text):
        return ()
    versions = VERSION.finditer(text) if "." in text else ()
    refs = []
    for match in (*versions, *_NUMBER.finditer(text)):
        before = text[: match.start(1)].removesuffix("#")
        name = before.rstrip().lower()
        ends = [word for word in words if name.endswith(word.lower())]
        last = find_services(before[-80:], words)[-1:] if ends else ()
        if any(words[word] in last for word in ends):
            refs.append(DeployRef(asked=match[1], service=last[0]))
    return tuple(dict.fromkeys(refs))


def find_environment(text: str) -> str | None:
    match = _ENVIRONMENT.find(folded(text))
    return _ENVIRONMENTS.get(match[1], match[1]) if match else None


def find_person(text: str, words: Mapping[str, str]) -> str | None:
    """Whose deploys the text asks for, in lower case: ``what did imani deploy?``."""
    if (found := _BY.search(text)) is None:
        return None
    name = (found["did"] or found["by"]).lower()
    return None if name in _NO_PERSON or name in words else name
