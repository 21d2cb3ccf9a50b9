"""What of a question's part was not understood: such a part is listed as unknown, never guessed (M21).

A service that no catalog has, a time that was not read, a thing that no deploy record speaks of. Pure;
works on one clause.
"""

from __future__ import annotations

import re

from bot.loop.clauses import Clause
from bot.loop.entities import NOBODY
from bot.loop.guard import guarded
from bot.loop.part_kinds import PartKind

_LISTS = frozenset({PartKind.LISTING, PartKind.SHIPPED})
_ABOUT_DEPLOYS = _LISTS | {PartKind.CHANGES, PartKind.WHO_WHEN}
_ABOUT_NAMES = _ABOUT_DEPLOYS | {PartKind.OWNER}
_OF = guarded(
    "deploy|release",
    r"\b(?:deploys?|deployments?|releases?)\s+(?:of|for)\s+(?:the\s+)?([a-z][\w-]{1,40})",
    also="of|for",
)
_SUBJECT = guarded(
    "deploy|ship|release|roll|push|go|went|chang",
    r"^\W*(?:was|were|has|have|had|did)\s+(?:the\s+)?(?!an?\b|our\b|new\b)((?:[a-z][\w-]{1,40}\s+){0,2}?"
    r"[a-z][\w-]{1,40})\s+(?:been\s+|get\s+)?(?:deployed|shipped|released|rolled|pushed|go|went|changed?|deploy|ship|release)\b",
)
_OBJECT = guarded(
    "chang",
    r"\b(?:anyone|someone|somebody|anybody|we|they)\s+chang\w*\s+(?:the\s+)?([^?.!]{2,60})",
)
_OTHER_DEED = guarded(
    "who",
    r"\bwho\s+(?:\w+\s+)?(approved|reviewed|merged|wrote|authored|requested|tested|signed off)\b",
)
_OWNED = guarded(
    "own|call|page|contact|maintain|help|ask",
    r"\b(?:owns?|owners? of|on[ -]?call for|(?:page|call|contact|ping|ask) (?:for|about)|maintains"
    r"|help with)\s+(?:the\s+)?([a-z][\w-]{1,40})",
)
_DID = guarded(
    "what did",
    r"\bwhat did\s+(?:the\s+)?([a-z][\w-]{1,40})\s+(?:change|deploy|ship|release|push)\b",
)
_OF_STATUS = guarded(
    "fail|succe|pending|stuck|running|progress",
    r"\b(?:deploys?|deployments?|releases?)\s+(?:have\s+|has\s+|that\s+|did\s+|are\s+|is\s+)?"
    r"(fail\w*|succe\w*|pending|stuck|running|in progress)\b",
    also="deploy|release",
)
_COMPARE = guarded("compare", r"^\W*(?:please |pls )?compare\b")
_BACK_TO = guarded(
    "back|revert",
    r"\b(?:roll\w*[ -]?back|revert\w*|go(?:ing)? back)(?: [\w.#-]+){0,3}? to"
    r" (?:deploy |release |version )?#?v?\d[\w.]*",
    also=" to ",
)
_BY_DEPLOY = guarded(
    "before|after|since|until",
    r"\b(?:before|after|since|until)\s+(?:deploy\s+|release\s+)?#?\d{3,8}(?![\w:.%-])",
)
_TOUCHED = guarded(
    "touch|chang|modif|edit",
    r"\b(?:touch|chang|modif|edit)\w*\s+([\w./-]+\.\w{1,8})\b",
    also=".",
)
_IN = guarded(
    "chang",
    r"\bchang\w*\s+(?:in|of|on|with|for|to)\s+(?:the\s+)?(deploy(?:ment)?\s+[a-z]+|[a-z][\w-]{1,40})",
)
_TIME = re.compile(
    r"\b(?:tomorrow|weekend|morning|afternoon|evening|last night"
    r"|(?:this|last|next) (?:week|year|quarter)"
    r"|ago|recently|earlier|monday|tuesday|wednesday|thursday|friday|saturday|sunday"
    r"|(?:after|before|since|over) (?:lunch|dinner|work|standup)"
    r"|(?:since|after|before|until|between) \d{1,2}(?![\w:.%-]| (?:h|m|d|days?|min\w*|hours?)\b)"
    r"|\d{1,2}:\d{2}|\d{1,2}\s?[ap]m|noon|midnight|\d{4}-\d{2}-\d{2}"
    r"|(?:after|while|during|once|when|before|since|until)\s+(?:the|it|we|that|this)\b[^?.!]{0,40})",
    re.IGNORECASE,
)


def unread(kind: PartKind, clause: Clause, *, placed: bool, timed: bool) -> str:
    """The words that could not be placed, with what is wrong with them; empty when all was read.

    ``placed`` says that the part has a deploy or a person, ``timed`` that it has a span of time.
    """
    text = clause.text
    if kind is PartKind.WHO_WHEN and (found := _OTHER_DEED.search(text)):
        return f"who {found[1]} it is nothing that deploy records say"
    if kind is PartKind.FORWARD:
        return "I cannot judge whether it is safe to roll forward, only what undoing would do"
    if kind is PartKind.SHIPPED and clause.deploys:
        return (
            "of one deploy I can say what it changed, who shipped it, and whether it was the cause"
        )
    if kind is PartKind.ROLLBACK and _BACK_TO.search(text):
        return "I can judge undoing a deploy, not going back to one: name the deploy that should go"
    if kind in _LISTS and (why := _no_list(text)):
        return why
    if kind in _ABOUT_NAMES and not (placed or clause.names_any):
        for pattern in (_OWNED,) if kind is PartKind.OWNER else (_OF, _SUBJECT, _IN, _DID):
            if found := pattern.search(text):
                word = found[1].lower()
                if word.split()[0] == "nothing":
                    return "a question in the negative: ask it the other way round"
                said = word.split() if pattern is _SUBJECT else (word,)
                if word not in clause.words and NOBODY.isdisjoint(said):
                    return f"{found[1]!r} is no service or deploy that I know"
    if kind in _LISTS:
        if (found := _OBJECT.search(text)) and not (placed or clause.names_any):
            return f"{found[1].strip()!r} is nothing that deploy records say"
        if found := _TOUCHED.search(text):
            return f"I cannot list deploys by file ({found[1]})"
        if not timed and (found := _TIME.search(text)):
            return (
                f"the time {found[0].strip()!r} was not understood: name it like 2026-11-28 22:00"
            )
    return ""


def _no_list(text: str) -> str:
    """Why a list of deploys is not what answers it; empty when one does."""
    if _COMPARE.search(text):
        return "I compare two deploys that are named, not all of a list"
    if found := _OF_STATUS.search(text):
        return f"I cannot list deploys by how they ended ({found[1]})"
    if found := _BY_DEPLOY.search(text):
        return f"{found[0]!r}: name a time in place of the deploy, like 2026-11-28 22:00"
    return ""
