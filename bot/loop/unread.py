"""What of a question's part was not understood: such a part is listed as unknown, never guessed (M21).

A service that no catalog has, a time that was not read, a thing that no deploy record speaks of. Pure;
works on the words of one clause.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from bot.loop.entities import NOBODY
from bot.loop.part_kinds import PartKind

_LISTS = frozenset({PartKind.LISTING, PartKind.SHIPPED})
_ABOUT_DEPLOYS = _LISTS | {PartKind.CHANGES, PartKind.WHO_WHEN}
_OF = re.compile(
    r"\b(?:deploys?|deployments?|releases?)\s+(?:of|for)\s+(?:the\s+)?([a-z][\w-]{1,40})",
    re.IGNORECASE,
)
_SUBJECT = re.compile(
    r"^\W*(?:was|were|has|have|had|did)\s+(?:the\s+)?([a-z][\w-]{1,40})\s+(?:been\s+|get\s+)?"
    r"(?:deployed|shipped|released|rolled|pushed|go|went|changed?|deploy|ship|release)\b",
    re.IGNORECASE,
)
_OBJECT = re.compile(
    r"\b(?:anyone|someone|somebody|anybody|we|they)\s+chang\w*\s+(?:the\s+)?([^?.!]{2,60})",
    re.IGNORECASE,
)
_OTHER_DEED = re.compile(
    r"\bwho\s+(?:\w+\s+)?(approved|reviewed|merged|wrote|authored|requested|tested|signed off)\b",
    re.IGNORECASE,
)
_DID = re.compile(
    r"\bwhat did\s+(?:the\s+)?([a-z][\w-]{1,40})\s+(?:change|deploy|ship|release|push)\b",
    re.IGNORECASE,
)
_OF_STATUS = re.compile(
    r"\b(?:deploys?|deployments?|releases?)\s+(?:have\s+|has\s+|that\s+|did\s+|are\s+|is\s+)?"
    r"(fail\w*|succe\w*|pending|stuck|running|in progress)\b",
    re.IGNORECASE,
)
_BACK_TO = re.compile(
    r"\b(?:roll\w*[ -]?back|revert\w*|go(?:ing)? back)(?: [\w.#-]+){0,3}? to"
    r" (?:deploy |release |version )?#?v?\d[\w.]*",
    re.IGNORECASE,
)
_BY_DEPLOY = re.compile(
    r"\b(?:before|after|since|until)\s+(?:deploy\s+|release\s+)?#?\d{3,8}(?![\w:.%-])",
    re.IGNORECASE,
)
_TOUCHED = re.compile(r"\b(?:touch|chang|modif|edit)\w*\s+([\w./-]+\.\w{1,8})\b", re.IGNORECASE)
_IN = re.compile(
    r"\bchang\w*\s+(?:in|of|on|with|for|to)\s+(?:the\s+)?(deploy(?:ment)?\s+[a-z]+|[a-z][\w-]{1,40})",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"\b(?:tomorrow|weekend|morning|afternoon|evening|last night"
    r"|(?:this|last|next) (?:week|year|quarter)"
    r"|ago|recently|earlier|monday|tuesday|wednesday|thursday|friday|saturday|sunday"
    r"|\d{1,2}:\d{2}|\d{1,2}\s?[ap]m|noon|midnight|\d{4}-\d{2}-\d{2}"
    r"|(?:after|while|during|once|when|before|since|until)\s+(?:the|it|we|that|this)\b[^?.!]{0,40})",
    re.IGNORECASE,
)


def unread(
    kind: PartKind,
    clause: str,
    known: Collection[str],
    *,
    placed: bool,
    timed: bool,
    one_deploy: bool,
) -> str:
    """The words that could not be placed, with what is wrong with them; empty when all was read.

    ``known`` are the catalog's words, ``placed`` says that a service or a deploy was found in the
    clause, ``timed`` that a span of time was, ``one_deploy`` that a deploy is named.
    """
    if kind is PartKind.WHO_WHEN and (found := _OTHER_DEED.search(clause)):
        return f"who {found[1]} it is nothing that deploy records say"
    if kind is PartKind.SHIPPED and one_deploy:
        return (
            "of one deploy I can say what it changed, who shipped it, and whether it was the cause"
        )
    if kind is PartKind.ROLLBACK and _BACK_TO.search(clause):
        return "I can judge undoing a deploy, not going back to one: name the deploy that should go"
    if kind in _LISTS:
        if found := _OF_STATUS.search(clause):
            return f"I cannot list deploys by how they ended ({found[1]})"
        if found := _BY_DEPLOY.search(clause):
            return f"{found[0]!r}: name a time in place of the deploy, like 2026-11-28 22:00"
    if kind in _ABOUT_DEPLOYS and not placed:
        for pattern in (_OF, _SUBJECT, _IN, _DID):
            if found := pattern.search(clause):
                word = found[1].lower()
                if word.split()[0] == "nothing":
                    return "a question in the negative: ask it the other way round"
                if word not in NOBODY and word not in known:
                    return f"{found[1]!r} is no service or deploy that I know"
    if kind in _LISTS:
        if (found := _OBJECT.search(clause)) and not placed:
            return f"{found[1].strip()!r} is nothing that deploy records say"
        if found := _TOUCHED.search(clause):
            return f"I cannot list deploys by file ({found[1]})"
        if not timed and (found := _TIME.search(clause)):
            return (
                f"the time {found[0].strip()!r} was not understood: name it like 2026-11-28 22:00"
            )
    return ""
