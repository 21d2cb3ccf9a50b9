"""What a part of a question can ask for, and the words by which it is told.

Pure data and one function. Knows no service, no clock and no answer.
"""

from __future__ import annotations

import re
from enum import StrEnum


class PartKind(StrEnum):
    """What a part of a question asks for."""

    CAUSE = "cause"
    CHANGES = "changes"
    WHO_WHEN = "who_when"
    LISTING = "listing"
    WAS_IT = "was_it"
    FIX = "fix"
    SHIPPED = "shipped"
    BEFORE_ONSET = "before_onset"
    MOVED = "moved"
    SETTING = "setting"
    ROLLBACK = "rollback"


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


SHIP = (
    r"(?:deploy|ship|releas|push|roll(?:ed|s)?\s+(?:it |that |this )?out|went\s+out|go(?:es)?\s+out"
    r"|put\s+(?:it |that |this )?out)"
)
_HARM = r"(?:broke|break|broken|cause[sd]?|kill(?:ed)?|do (?:it|this|that))\b"

_SPECIAL: tuple[tuple[PartKind, re.Pattern[str]], ...] = (
    (
        PartKind.CAUSE,
        _pattern(
            r"\b(?:did|have|has) (?:we|i|an?|any|some|our|one of|something|someone|anyone)\b[^?]*"
            rf"\b{_HARM}|\b(?:is|was) (?:this|it|that) (?:on )?(?:ours?|us|our fault)\b"
        ),
    ),
    (
        PartKind.MOVED,
        _pattern(
            r"\bwhere (?:was|were|did|had)\b.*\b(?:before|come from|previously|used to)\b"
            r"|\b(?:renamed|moved) from (?:where|what)\b"
        ),
    ),
    (
        PartKind.SETTING,
        _pattern(
            r"\b(?:which|what|is there an?)\b.{0,30}\b(?:settings?|options?|flags?|switch|variables?"
            r"|env(?:ironment)? var\w*|config\w*|parameters?|knobs?)\b.*\b(?:back|restor\w+|old"
            r"|former|previous|off|disabl\w+|revert\w*|opt out|undo\w*)\b"
        ),
    ),
    (
        PartKind.ROLLBACK,
        _pattern(
            r"\b(?:safe|safely|risky|dangerous|okay?)\b.*\b(?:roll\w*[ -]?back|rolled|revert\w*)\b"
            r"|\b(?:can|may|should|could) (?:we|i) (?:safely |just )?(?:roll|revert)\b"
            r"|\bwhat\b.{0,20}\broll[ -]?back\b(?! (?:deploy|release))|\bis (?:it|that|this) safe\b"
            r"|\bwhat\b.*\broll(?:ing)?(?: it| that)?[ -]?back\b.*\b(?:take|lose|undo|remove|cost)\w*"
            r"|\bwhat (?:would|do|will) we lose\b|\bhow (?:do|can|should) (?:i|we) roll\b"
        ),
    ),
    (
        PartKind.BEFORE_ONSET,
        _pattern(
            r"\b(?:last|latest|newest|nearest|closest)\s+(?:deploy\w*|release|change)\b.*\bbefore\b"
            r".*\b(?:it|they|began|start\w*|onset|incident|outage|broke|fail\w*)\b"
            r"|\bhow long before\b"
        ),
    ),
    (
        PartKind.WAS_IT,
        _pattern(
            r"\b(?:was|is|could|might|may) (?:it|this|that)(?: be| have been)?(?: really)?"
            r" (?:that|this) (?:one|deploy|release|change)\b"
            r"|\bwhy not\b(?! ?\?? ?(?:roll|revert))"
            r"|\bwhy (?:isn.?t|wasn.?t|is it not|was it not)\b"
            r"|\b(?:was|is) (?:that|this)(?: one)? (?:it|the (?:cause|culprit|one))\b"
            r"|\bdid (?:that|this|deploy|release|#?\d|[\w-]+ v?\d)[\w. #-]*\b(?:cause|break|do it)\b"
            r"|\bdid (?!(?:we|i|you|it|they|an?|any\w*|some\w*|our|one|the last|the latest)\b)"
            rf"[\w./-]+ {_HARM}"
            r"|\bcould (?:that|this|deploy|release|#?\d{4}|[\w-]+ v?\d)[\w. #-]*\b(?:be|have)\b"
            r"|\b(?:was|is) it (?:deploy |release )?(?:[\w-]+ )?v?#?\d[\d.]*"
            r"|^\W*(?:is|was) (?!it\b|this\b|that\b)[\w./-]+(?: v?\d[\w.]*)? (?:to blame|at fault"
            r"|guilty|involved|behind|responsible|the (?:cause|culprit|problem|reason))\b"
            r"|^\W*(?:is|was) (?:[\w-]+ )?(?:deploy|release) #?\d+\b.*"
            r"\b(?:cause|culprit|behind|responsible|to blame|guilty)\b"
        ),
    ),
    (
        PartKind.FIX,
        _pattern(
            r"\b(?:which|what|did|does|has|have|is|was|were|any)\b.*\b(?:fix(?:es|ed)?|mend(?:s|ed)?"
            r"|repair(?:s|ed)?|resolve[sd]?|settle[sd]?|sort(?:s|ed)?|cure[sd]?|help(?:s|ed)?"
            r"|(?:work|pass|run|start|build)\w* again|recover(?:s|ed)?|heal(?:s|ed)?"
            r"|(?:bring|brought|got|gave|put)s?\b.{0,50}\bback|rolled back|reverted|undone|undid)\b"
        ),
    ),
    (
        PartKind.SHIPPED,
        _pattern(
            r"^\W*(?:was|were|has|have|had|did|any|anything|something|nothing)\b.*\b(?:deployed|shipped"
            r"|released|changed?|pushed|touched|updated|upgraded|bumped|rolled out|go out|gone out"
            r"|went out|go live|ship|deploy|release)\b"
        ),
    ),
)
"""Asked in this order; the first that fits a clause is all that it asks."""

_PLAIN: tuple[tuple[PartKind, re.Pattern[str]], ...] = (
    (
        PartKind.CAUSE,
        _pattern(
            r"\b(?:which|what|who)\b.*\b(?:caus\w+|broke|breaks?|responsible|behind|culprit|blame"
            r"|guilty|trigger\w*|introduced|at fault|fault)\b"
            r"|\broot cause\b|\bwhy\b"
            r"|\bwhich\b.*\b(?:deploy\w*|service|change|release|one)\b[^?]*"
            r"\b(?:is it|did (?:it|this|that)|roll(?:ed)? back|revert)\b"
            r"|\b(?:is|was) it (?:a|the|our|some) (?:deploy|release|change)\b"
            r"|\bwhich (?:deploy|release|change|service)(?: is it| was it)?\s*\??$"
            r"|\b(?:which|what)\b.*\b(?:change|deploy\w*|release|one)\b.*\bdid (?:it|this|that)\b"
            r"|\bwhich of\b.*\b(?:deploys|deployments|releases|changes)\W*$"
            r"|\bwhose\b.*\b(?:deploy\w*|release|change|fault)\b|^\W*(?:the )?(?:cause|culprit)\W*$"
            r"|\bwhat(?:'?s| is| has)? (?:happened|going on|wrong)\b"
        ),
    ),
    (
        PartKind.CHANGES,
        _pattern(
            r"\bwhat\b(?!.{0,20}\bdeployed\b).*\b(?:chang\w*|modif\w+|touch\w*|differen\w+|diff"
            r"|contain\w*|includ\w+)\b"
            r"|\b(?:which|what) (?:files?|settings?|lines?|commits?)\b.*\b(?:in|of|chang\w*)\b"
            r"|\b(?:show|see|give)\b.*\bdiff\b"
            r"|\bwhat(?:'?s| is| was) (?:in )?(?:(?:deploy|release) #?\d|#?\d{4,8}\W*$)"
            r"|\b(?:tell|show|give) me (?:more )?(?:about )?(?:(?:deploy|release) #?\d|#?\d{4,8}\W*$)"
            r"|^\s*(?:(?:deploy|release) #?\d+|#?\d{4,8})[\s?!.]*$"
            r"|\bdiff(?:erence)? (?:of|for|in|between)\b"
            r"|\bwhat(?:'s| is| was| went)? (?:new )?in(?:to)?\b"
            r"(?=.*\b(?:deploy|release)\b)"
        ),
    ),
    (
        PartKind.WHO_WHEN,
        _pattern(
            rf"\bwho\b.*{SHIP}|\bwhen\b.*(?:{SHIP}|\blive\b|\bfinish)"
            r"|\bby whom\b|\b(?:last|latest) (?:deploy|release)\b(?=[^?]*\?)"
            r"|\bwho did (?:it|that|this)\b"
            r"|\b(?:version|release|deploy|one) (?:right |just )?before (?:that|this|it)\b"
            r"|\bprevious (?:good )?version\b|\b(?:ran|was running) before\b"
        ),
    ),
    (
        PartKind.LISTING,
        _pattern(
            rf"\bwhat\b.*(?:{SHIP}(?:e?d|t|ped)|went out|go out)\b|\bwhat (?:else )?(?:went|shipped)\b"
            r"|\b(?:list|show)\b.*\b(?:deploys|deployments|releases)\b"
            r"|\b(?:which|what|how many|any|all)\b(?: \w+){0,2} (?:deploys|deployments|releases)\b"
        ),
    ),
)


def kinds_of(clause: str) -> list[PartKind]:
    """What one clause asks for; empty when nothing is recognised."""
    special = next((kind for kind, pattern in _SPECIAL if pattern.search(clause)), None)
    if special is not None:
        return [special]
    kinds = [kind for kind, pattern in _PLAIN if pattern.search(clause)]
    if PartKind.CAUSE in kinds:
        return [PartKind.CAUSE]
    if PartKind.CHANGES in kinds:
        asks_who = re.search(r"\b(?:who|when)\b", clause, re.IGNORECASE)
        return [k for k in kinds if k is not PartKind.LISTING] if asks_who else [PartKind.CHANGES]
    return [PartKind.WHO_WHEN] if PartKind.WHO_WHEN in kinds else kinds
