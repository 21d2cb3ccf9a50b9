"""What a part of a question can ask for, and the words by which it is told.

Pure data and one function. Knows no service, no clock and no answer.
"""

from __future__ import annotations

import re
from enum import StrEnum

from bot.loop.guard import DIGITS, Guarded, folded, guarded


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
    INCIDENTS = "incidents"
    INCIDENT = "incident"
    RUNNING = "running"
    COMMIT = "commit"


SHIP = (
    r"(?:deploy|ship|releas|push|roll(?:ed|s)?\s+(?:it |that |this )?out|went\s+out|go(?:es)?\s+out"
    r"|put\s+(?:it |that |this )?out)"
)
_THE_INCIDENT = (
    r"(?:(?:the|this|that|our)\s+(?:[\w-]+\s+){0,3}"
    r"(?:incident|outage|alert|errors?|problems?|failures?)|[a-z][a-z0-9]{1,9}-\d{1,8}"
    r"|(?:incident|outage)(?: [a-z][a-z0-9]{1,9}-\d{1,8})?)"
)
_OPEN = r"(?:open|current|ongoing|active|unresolved|live|recent|latest|other|more|sev-?\d)"
_HARM = r"(?:broke|break|broken|cause[sd]?|kill(?:ed)?|do (?:it|this|that))\b"

_SPECIAL: tuple[tuple[PartKind, Guarded], ...] = (
    (
        PartKind.CAUSE,
        guarded(
            "brok|break|caus|kill|do |our| us",
            r"\b(?:did|have|has) (?:we|i|an?|any|some|our|one of|something|someone|anyone)\b[^?]*"
            rf"\b{_HARM}|\b(?:is|was) (?:this|it|that) (?:on )?(?:ours?|us|our fault)\b",
        ),
    ),
    (
        PartKind.MOVED,
        guarded(
            "where|moved|renamed",
            r"\bwhere (?:was|were|did|had)\b.*\b(?:before|come from|previously|used to)\b"
            r"|\b(?:renamed|moved) from (?:where|what)\b",
        ),
    ),
    (
        PartKind.INCIDENTS,
        guarded(
            "incident|outage",
            r"\b(?:what|which|any|how many|all|list|show|are there)"
            rf"(?: (?:me|any|all|are|the|our|were))*(?: {_OPEN})* (?:incidents|outages)\b"
            r"(?!.*\b(?:did|caus\w*|broke|deploy\w*|release)\b)"
            rf"|\bis there (?:an|any)(?: {_OPEN})* (?:incident|outage)\b|^\W*{_OPEN} incidents\W*$",
        ),
    ),
    (
        PartKind.INCIDENT,
        guarded(
            "when|how long|is |was |has |status|severity",
            rf"\bwhen did (?:it|this|that|they|{_THE_INCIDENT}) (?:all )?(?:start|begin|end|stop|happen"
            r"|occur|fire|open|close|resolve)\b(?! (?:deploy|roll))"
            rf"|\bwhen (?:was|were) (?:{_THE_INCIDENT} (?:\w+ly )?(?:resolved|fixed|over|mitigated)"
            rf"|(?:it|this|that|{_THE_INCIDENT}) (?:first )?(?:detected|noticed|closed|opened"
            r"|declared))\b"
            rf"|\bhow long (?:did|has|was|is) (?:it|this|that|{_THE_INCIDENT})"
            r" (?:last|been|go on|going|open|take)\b"
            rf"|\b(?:is|was|has) (?:it|this|that|{_THE_INCIDENT}) (?:still |already |now |been |all )*"
            r"(?:over|open|closed|ongoing|active|mitigated|going on|happening)"
            r"(?: now| yet| already)?\W*$"
            rf"|\b(?:is|was|has) {_THE_INCIDENT} (?:still |already |now |been )*(?:resolved|fixed)\b"
            rf"|\bstatus of {_THE_INCIDENT}|\b(?:incident|outage) status\b"
            r"|^\W*(?:what(?:'?s| is) the )?(?:current )?status\W*$"
            rf"|\bseverity\b.*\b(?:it|{_THE_INCIDENT})\W*$",
        ),
    ),
    (
        PartKind.COMMIT,
        guarded(
            "commit|sha|revision|hash",
            r"\b(?:what|which)(?:'?s| is| was)?(?: the)? (?:git )?(?:commit|sha|revision|hash)"
            r"(?: id| hash)? (?:is|was|does|did|has|of|for|went)\b"
            r"(?!.*\b(?:caus\w*|br[eo]\w*|introduc\w*|blame|culprit|chang\w*|revert\w*|fix\w*|live"
            r"|running)\b)"
            r"|\b(?:show|give|tell)(?: me)? the (?:commit|sha|revision|hash) (?:of|for)\b"
            r"|\b(?:from|at) (?:what|which) (?:commit|sha|revision)\b",
        ),
    ),
    (
        PartKind.RUNNING,
        guarded(
            "running|live|deployed|current|version|in prod|on prod",
            r"\bwhat(?:'?s| is)(?: currently| now| actually)? (?:running|live)\b(?!.* before\b)"
            r"|\bwhat(?:'?s| is)(?: currently| now| actually)? (?:deployed )?(?:in|on) (?:prod|staging)"
            r"|\b(?:what|which) (?:version|release|deploy|build|tag|commit|sha|revision)s?\b"
            r"(?: of [\w ,-]{2,60}?)? (?:is|are)(?: [\w-]+){0,2}"
            r" (?:running|live|deployed|current|active|on\W*$|in prod\w*)"
            r"|\bwhat (?:is|are) (?:the )?[\w-]+ running\b"
            r"|^\W*(?:(?:what|which|show)\b.*)?\b(?:current|running|live) (?:version|release|build)"
            r" (?:of|in|on)\b",
        ),
    ),
    (
        PartKind.SETTING,
        guarded(
            "setting|option|flag|switch|variable|env|config|parameter|knob",
            r"\b(?:which|what|is there an?)\b.{0,30}\b(?:settings?|options?|flags?|switch|variables?"
            r"|env(?:ironment)? var\w*|config\w*|parameters?|knobs?)\b.*\b(?:back|restor\w+|old"
            r"|former|previous|off|disabl\w+|revert\w*|opt out|undo\w*)\b",
        ),
    ),
    (
        PartKind.ROLLBACK,
        guarded(
            "roll|revert|undo|safe|lose",
            r"\b(?:safe|safely|risky|dangerous|okay?)\b.*\b(?:roll\w*[ -]?back|rolled|revert\w*)\b"
            r"|\b(?:can|may|should|could) (?:we|i) (?:safely |just )?(?:roll|revert)\b"
            r"|\bwhat\b.{0,20}\broll[ -]?back\b(?! (?:deploy|release))|\bis (?:it|that|this) safe\b"
            r"|\bwhat\b.*\broll(?:ing)?(?: it| that)?[ -]?back\b.*\b(?:take|lose|undo|remove|cost)\w*"
            r"|\bwhat (?:would|do|will) we lose\b"
            r"|\bhow (?:do|can|should) (?:i|we) (?:roll|revert|undo)\b"
            r"|^\W*(?:please |pls |just )?(?:roll[ -]?back|revert|undo)(?: (?:it|that|this|the|to"
            r"|deploy|release|version|#?v?\d[\w.-]*|now|please|pls))*[.! ]*$",
        ),
    ),
    (
        PartKind.BEFORE_ONSET,
        guarded(
            "before",
            r"\b(?:last|latest|newest|nearest|closest)\s+(?:deploy\w*|release|change)\b.*\bbefore\b"
            r".*\b(?:it|they|began|start\w*|onset|incident|outage|broke|fail\w*)\b"
            r"|\bhow long before\b",
        ),
    ),
    (
        PartKind.WAS_IT,
        guarded(
            "was |is |could |might |may |why |did ",
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
            r"\b(?:cause|culprit|behind|responsible|to blame|guilty)\b",
        ),
    ),
    (
        PartKind.FIX,
        guarded(
            "fix|mend|repair|resolve|settle|sort|cure|help|again|recover|heal|back|revert|undone|undid",
            r"\b(?:which|what|did|does|has|have|is|was|were|any)\b.*\b(?:fix(?:es|ed)?|mend(?:s|ed)?"
            r"|repair(?:s|ed)?|resolve[sd]?|settle[sd]?|sort(?:s|ed)?|cure[sd]?|help(?:s|ed)?"
            r"|(?:work|pass|run|start|build)\w* again|recover(?:s|ed)?|heal(?:s|ed)?"
            r"|(?:bring|brought|got|gave|put)s?\b.{0,50}\bback|rolled back|reverted|undone|undid)\b",
        ),
    ),
    (
        PartKind.SHIPPED,
        guarded(
            "deploy|ship|releas|chang|push|touch|updat|upgrad|bump|out|live",
            r"^\W*(?:was|were|has|have|had|did|any|anything|something|nothing)\b.*\b(?:deployed|shipped"
            r"|released|changed?|pushed|touched|updated|upgraded|bumped|rolled out|go out|gone out"
            r"|went out|go live|ship|deploy|release)\b",
        ),
    ),
)
"""Asked in this order; the first that fits a clause is all that it asks."""

_PLAIN: tuple[tuple[PartKind, Guarded], ...] = (
    (
        PartKind.CAUSE,
        guarded(
            "caus|broke|break|responsible|behind|culprit|blame|guilty|trigger|introduced|fault|why|who",
            r"\b(?:which|what|who)\b.*\b(?:caus\w+|broke|breaks?|responsible|behind|culprit|blame"
            r"|guilty|trigger\w*|introduced|at fault|fault)\b"
            r"|\broot cause\b|\bwhy\b|^\W*(?:the )?(?:cause|culprit)\W*$"
            r"|\bwhose\b.*\b(?:deploy\w*|release|change|fault)\b",
        ),
    ),
    (
        PartKind.CAUSE,
        guarded(
            "which| it |did |happened|going on|wrong",
            r"\bwhich\b.*\b(?:deploy\w*|service|change|release|one)\b[^?]*"
            r"\b(?:is it|did (?:it|this|that)|roll(?:ed)? back|revert)\b"
            r"|\b(?:is|was) it (?:a|the|our|some) (?:deploy|release|change)\b"
            r"|\bwhich (?:deploy|release|change|service)(?: is it| was it)?\s*\??$"
            r"|\b(?:which|what)\b.*\b(?:change|deploy\w*|release|one)\b.*\bdid (?:it|this|that)\b"
            r"|\bwhich of\b.*\b(?:deploys|deployments|releases|changes)\W*$"
            r"|\bwhat(?:'?s| is| has)? (?:happened|going on|wrong)\b",
        ),
    ),
    (
        PartKind.CHANGES,
        guarded(
            f"chang|modif|touch|diff|contain|includ|file|setting|line|commit|deploy|release|{DIGITS}",
            r"\bwhat\b(?!.{0,20}\bdeployed\b).*\b(?:chang\w*|modif\w+|touch\w*|differen\w+|diff"
            r"|contain\w*|includ\w+)\b"
            r"|\b(?:which|what) (?:files?|settings?|lines?|commits?)\b.*\b(?:in|of|chang\w*)\b"
            r"|\b(?:show|see|give)\b.*\bdiff\b"
            r"|\bwhat(?:'?s| is| was) (?:in )?(?:(?:deploy|release) #?\d|#?\d{4,8}\W*$)"
            r"|\b(?:tell|show|give) me (?:more )?(?:about )?(?:(?:deploy|release) #?\d|#?\d{4,8}\W*$)"
            r"|^\s*(?:(?:deploy|release) #?\d+|#?\d{4,8})[\s?!.]*$"
            r"|\bdiff(?:erence)? (?:of|for|in|between)\b"
            r"|\bwhat(?:'s| is| was| went)? (?:new )?in(?:to)?\b"
            r"(?=.*\b(?:deploy|release)\b)",
        ),
    ),
    (
        PartKind.WHO_WHEN,
        guarded(
            "who|when|last|latest|before|previous|status",
            rf"\bwho\b.*{SHIP}|\bwhen\b.*(?:{SHIP}|\blive\b|\bfinish)"
            r"|\bby whom\b|\b(?:last|latest) (?:deploy|release)\b(?=[^?]*\?)"
            r"|\bwho did (?:it|that|this)\b|\bstatus of (?:deploy|release)\b"
            r"|\b(?:version|release|deploy|one) (?:right |just )?before (?:that|this|it)\b"
            r"|\bprevious (?:good )?version\b|\b(?:ran|was running) before\b",
        ),
    ),
    (
        PartKind.LISTING,
        guarded(
            "deploy|ship|releas|push|out|went",
            rf"\bwhat\b.*(?:{SHIP}(?:e?d|t|ped)|went out|go out)\b|\bwhat (?:else )?(?:went|shipped)\b"
            r"|\bwhat (?:else )?did @?[a-z][\w.-]* (?:deploy|ship|release|push)\b"
            r"|\b(?:deploys|deployments|releases) by\b"
            r"|\b(?:list|show)\b.*\b(?:deploys|deployments|releases)\b"
            r"|\b(?:which|what|how many|any|all)\b(?: \w+){0,2} (?:deploys|deployments|releases)\b",
        ),
    ),
)


def kinds_of(clause: str) -> list[PartKind]:
    """What one clause asks for; empty when nothing is recognised."""
    low = folded(clause)
    special = next((kind for kind, pattern in _SPECIAL if pattern.fits(clause, low)), None)
    if special is not None:
        return [special]
    kinds = [kind for kind, pattern in _PLAIN if pattern.fits(clause, low)]
    if PartKind.CAUSE in kinds:
        return [PartKind.CAUSE]
    if PartKind.CHANGES in kinds:
        asks_who = re.search(r"\b(?:who|when)\b", clause, re.IGNORECASE)
        return [k for k in kinds if k is not PartKind.LISTING] if asks_who else [PartKind.CHANGES]
    return [PartKind.WHO_WHEN] if PartKind.WHO_WHEN in kinds else kinds
