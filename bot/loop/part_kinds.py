"""What a part of a question can ask for, and the words by which it is told.

Pure data and one function. Knows no service, no clock and no answer.
"""

from __future__ import annotations

import re
from enum import StrEnum

from bot.loop.guard import Guarded, folded, in_folded
from bot.loop.live_words import FORWARD, LIVE, OR_BACK, OWNER, THERE, WHICH_IS


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
    LIVE = "live"
    OWNER = "owner"
    FORWARD = "forward"


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
        in_folded(
            "did |have |has ",
            r"\b(?:did|have|has) (?:we|i|an?|any|some|our|one of|something|someone|anyone)\b[^?]*"
            rf"\b{_HARM}",
            also="brok|break|caus|kill|do ",
        ),
    ),
    (
        PartKind.CAUSE,
        in_folded(
            " our| us",
            r"\b(?:is|was) (?:this|it|that) (?:on )?(?:ours?|us|our fault)\b",
            also="is |was ",
        ),
    ),
    (
        PartKind.MOVED,
        in_folded(
            "where |moved from |renamed from ",
            r"\bwhere (?:was|were|did|had)\b.*\b(?:before|come from|previously|used to)\b"
            r"|\b(?:renamed|moved) from (?:where|what)\b",
        ),
    ),
    (
        PartKind.INCIDENTS,
        in_folded(
            "incidents|outages|s there a",
            r"\b(?:what|which|any|how many|all|list|show|are there)"
            rf"(?: (?:me|any|all|are|the|our|were))*(?: {_OPEN})* (?:incidents|outages)\b"
            r"(?!.*\b(?:did|caus\w*|broke|deploy\w*|release)\b)"
            rf"|\b(?:is|was) there (?:an|any)(?: {_OPEN})* (?:incident|outage)\b"
            rf"|^\W*{_OPEN} incidents\W*$",
        ),
    ),
    (
        PartKind.INCIDENT,
        in_folded(
            "when did |when was |when were |how long ",
            rf"\bwhen did (?:it|this|that|they|{_THE_INCIDENT}) (?:all )?(?:start|begin|end|stop|happen"
            r"|occur|fire|open|close|resolve)\b(?! (?:deploy|roll))"
            rf"|\bwhen (?:was|were) (?:{_THE_INCIDENT} (?:\w+ly )?(?:resolved|fixed|over|mitigated)"
            rf"|(?:it|this|that|{_THE_INCIDENT}) (?:first )?(?:detected|noticed|closed|opened"
            r"|declared))\b"
            rf"|\bhow long (?:did|has|was|is) (?:it|this|that|{_THE_INCIDENT})"
            r" (?:last|been|go on|going|open|take)\b",
        ),
    ),
    (
        PartKind.INCIDENT,
        in_folded(
            "is |was |has ",
            rf"\b(?:is|was|has) (?:it|this|that|{_THE_INCIDENT}) (?:still |already |now |been |all )*"
            r"(?:over|open|closed|ongoing|active|mitigated|going on|happening)"
            r"(?: now| yet| already)?\W*$"
            rf"|\b(?:is|was|has) {_THE_INCIDENT} (?:still |already |now |been )*(?:resolved|fixed)\b",
            also="over|open|closed|ongoing|active|mitigated|going on|happening|resolved|fixed",
        ),
    ),
    (
        PartKind.INCIDENT,
        in_folded(
            "status|severity",
            rf"\bstatus of {_THE_INCIDENT}|\b(?:incident|outage) status\b"
            r"|^\W*(?:what(?:'?s| is) the )?(?:current )?status\W*$"
            rf"|\bseverity\b.*\b(?:it|{_THE_INCIDENT})\W*$",
        ),
    ),
    (
        PartKind.INCIDENT,
        in_folded(
            "how bad|impact|affected|resolved|are we ",
            r"\bhow bad (?:is|was)\b|\bwhat(?:'?s| is| was) the (?:\w+ )?"
            r"impact"
            r"|\b(?:which|what|who)\b.*\b(?:is|are|was|were) (?:affected|impacted)\b"
            r"|^\W*(?:(?:already )?resolved(?: yet| now)?|are we (?:good|ok|okay|back|fine)(?: again"
            r"| now| yet)?)\W*$",
        ),
    ),
    (
        PartKind.COMMIT,
        in_folded(
            "commit|sha|revision|hash",
            r"\b(?:what|which)(?:'?s| is| was)?(?: the)? (?:git )?(?:commit|sha|revision|hash)"
            r"(?: id| hash)? (?:is|was|does|did|has|of|for|went)\b"
            r"(?!.*\b(?:caus\w*|br[eo]\w*|introduc\w*|blame|culprit|chang\w*|revert\w*|fix\w*|live"
            r"|running)\b)"
            r"|\b(?:show|give|tell)(?: me)? the (?:commit|sha|revision|hash) (?:of|for)\b"
            r"|\b(?:from|at) (?:what|which) (?:commit|sha|revision)\b",
        ),
    ),
    (PartKind.LIVE, LIVE),
    (PartKind.OWNER, OWNER),
    (
        PartKind.RUNNING,
        in_folded(
            "running|live|deployed|current|active",
            r"\bwhat(?:'?s| is)(?: currently| now| actually)? (?:running|live)\b(?!.* before\b)"
            rf"|{WHICH_IS} (?:running|live|deployed|current|active)"
            r"|\bwhat (?:is|are) (?:the )?[\w-]+ running\b"
            r"|^\W*(?:(?:what|which|show)\b.*)?\b(?:current|running|live) (?:version|release|build)"
            r" (?:of|in|on)\b",
        ),
    ),
    (PartKind.RUNNING, THERE),
    (PartKind.FORWARD, FORWARD),
    (
        PartKind.SETTING,
        in_folded(
            "setting|option|flag|switch|variable|env|config|parameter|knob",
            r"\b(?:which|what|is there an?)\b.{0,30}\b(?:settings?|options?|flags?|switch|variables?"
            r"|env(?:ironment)? var\w*|config\w*|parameters?|knobs?)\b.*\b(?:back|restor\w+|old"
            r"|former|previous|off|disabl\w+|revert\w*|opt out|undo\w*)\b",
            also="back|restor|old|former|previous|off|disabl|revert|opt out|undo",
        ),
    ),
    (
        PartKind.ROLLBACK,
        in_folded(
            "next step|what now|i do|we do|best do|mitigat",
            r"^\W*(?:what(?:'?s| are| is)? (?:the |my |our )?)?next steps?\b|^\W*what now\b"
            r"|\b(?:what|wat) (?:should|do|can|could) (?:i|we) (?:best )?do\b"
            r"|\bhow (?:do|can|should|could) (?:i|we) mitigate\b",
        ),
    ),
    (
        PartKind.ROLLBACK,
        in_folded(
            "roll|revert|undo|safe|lose",
            r"\b(?:safe|safely|risky|dangerous|ok|okay)\b.*\b(?:roll\w*[ -]?back|rolled|revert\w*)\b"
            r"|\b(?:can|may|should|could) (?:we|i) (?:safely |just )?(?:roll|revert|undo)\b"
            r"|\bwhat\b.{0,20}\broll[ -]?back\b(?! (?:deploy|release))"
            r"|\bis (?:it|that|this) safe\b(?! (?:to|for|if|when)\b)"
            r"|\bwhat\b.{0,300}\broll(?:ing)?(?: it| that)?[ -]?back\b.{0,300}"
            r"\b(?:take|lose|undo|remove|cost)\w*"
            r"|\bwhat (?:would|do|will) we lose\b"
            r"|\bhow (?:do|can|should) (?:i|we) (?:roll|revert|undo)\b"
            r"|^\W*(?:please |pls |just )?(?:roll[ -]?back|revert|undo)(?: (?:it|that|this|the|to"
            r"|deploy|release|version|#?v?\d[\w.-]*|now|please|pls))*[.!? ]*$",
        ),
    ),
    (
        PartKind.BEFORE_ONSET,
        in_folded(
            "before",
            r"\b(?:last|latest|newest|nearest|closest)\s+(?:deploy\w*|release|change)\b.{0,300}\bbefore\b"
            r".{0,300}\b(?:it|they|began|start\w*|onset|incident|outage|broke|fail\w*)\b"
            r"|\bhow long before\b",
            also="last|latest|newest|nearest|closest|how long",
        ),
    ),
    (
        PartKind.WAS_IT,
        in_folded(
            "it |this |that ",
            r"\b(?:was|is|could|might|may) (?:it|this|that)(?: be| have been)?(?: really)?"
            r" (?:that|this) (?:one|deploy|release|change)\b"
            r"|\b(?:was|is) (?:that|this)(?: one)? (?:it|the (?:cause|culprit|one))\b"
            r"|\b(?:was|is) it (?:the )?(?:deploy |release )?(?:[\w-]+ (?:deploy |release )?)?"
            r"v?#?\d[\d.]*",
            also="was it|was th|is it|is th|could |might |may ",
        ),
    ),
    (
        PartKind.WAS_IT,
        in_folded(
            "why ",
            r"\bwhy not\b(?! ?\?? ?(?:roll|revert))"
            r"|\bwhy (?:isn.?t|wasn.?t|is it not|was it not)\b",
        ),
    ),
    (
        PartKind.WAS_IT,
        in_folded(
            "did ",
            r"\bdid (?:that|this|deploy|release|#?\d|[\w-]+ (?:deploy |release )?#?v?\d)[\w. #-]*"
            r"\b(?:cause|break|do it)\b"
            r"|\bdid (?!(?:we|i|you|it|they|an?|any\w*|some\w*|our|one|the last|the latest)\b)"
            rf"[\w./-]+ {_HARM}",
            also="caus|brok|break|kill|do ",
        ),
    ),
    (
        PartKind.WAS_IT,
        in_folded(
            "could ",
            r"\bcould (?:that|this|deploy|release|#?\d{4}|[\w-]+ (?:deploy |release )?#?v?\d)"
            r"[\w. #-]*\b(?:be|have)\b",
        ),
    ),
    (
        PartKind.WAS_IT,
        in_folded(
            "blame|fault|guilty|involved|relat|behind|responsible|cause|culprit|problem|reason",
            r"^\W*(?:is|was) (?!it\b|this\b|that\b)[\w./-]+(?: v?\d[\w.]*)? (?:to blame|at fault"
            r"|guilty|involved|related|behind|responsible|the (?:cause|culprit|problem|reason))\b"
            r"|^\W*(?:is|was) (?:[\w-]+ )?(?:deploy|release) #?\d+\b.*"
            r"\b(?:cause|culprit|behind|responsible|to blame|guilty|involved|related)\b",
            also="is |was ",
        ),
    ),
    (
        PartKind.FIX,
        in_folded(
            "fix|mend|repair|solve|settle|sort|cure|help|again|cover|heal|back|revert|und|roll",
            r"\b(?:which|what|did|does|has|have|is|was|were|any)\b.*\b(?:fix(?:es|ed)?|mend(?:s|ed)?"
            r"|repair(?:s|ed)?|resolve[sd]?|settle[sd]?|sort(?:s|ed)?|cure[sd]?|help(?:s|ed)?"
            r"|(?:work|pass|run|start|build)\w* again|recover(?:s|ed)?|heal(?:s|ed)?"
            r"|(?:bring|brought|got|gave|put)s?\b.{0,50}\bback|rolled back|reverted|undone|undid)\b"
            r"|\bdid (?:we|you|they|some\w*|any\w*)(?: \w+)? (?:roll|revert)\b",
        ),
    ),
    (
        PartKind.SHIPPED,
        in_folded(
            "was|were|has|have|had|did|any|thing",
            r"^\W*(?:was|were|has|have|had|did|any|anything|something|nothing)\b(?! it the )"
            r"(?:.*\b(?:deployed|shipped|released|changed?|pushed|touch(?:ed)?|updated|upgraded|bumped"
            r"|rolled out|go out|gone out|went out|go live|ship|deploy|release)\b"
            r"|(?<=thing) (?:else )?(?:since|after|before|between|in the last)\b)",
            also="deploy|ship|releas|chang|push|touch|updat|upgrad|bump|out|live|thing ",
        ),
    ),
)
"""Asked in this order; the first that fits a clause is all that it asks."""

_CAUSE = (
    in_folded(
        "caus|broke|break|responsible|behind|culprit|blame|guilty|trigger|introduced|fault|why|whose",
        r"\b(?:which|what|who)\b.*\b(?:caus\w+|broke|breaks?|responsible|behind|culprit|blame"
        r"|guilty|trigger\w*|introduced|at fault|fault)\b"
        r"|\broot cause\b|\bwhy\b|^\W*(?:the )?(?:cause|culprit)\W*$"
        r"|\bwhose\b.*\b(?:deploy\w*|release|change|fault)\b",
    ),
    in_folded(
        "is it|did |roll|revert",
        r"\bwhich\b.{0,300}\b(?:deploy\w*|service|change|release|one)\b[^?]{0,300}"
        r"\b(?:is it|did (?:it|this|that)|roll(?:ed)? back|revert)\b"
        r"|\b(?:which|what)\b.{0,300}\b(?:change|deploy\w*|release|one)\b.{0,300}"
        r"\bdid (?:it|this|that)\b",
        also="which|what",
    ),
    in_folded(
        "is it |was it |happen|going on|wrong",
        r"\b(?:is|was) it (?:a|the|our|some) (?:deploy|release|change)\b"
        r"|\bwhat(?:'?s| is| has)? (?:happene?d|going on|wrong)\b",
    ),
    in_folded(
        "tl;|tldr|summary|any idea|wtf|sure",
        r"^\W*(?:tl;(?:dr)?|tldr|(?:quick |short )?summary)(?: please| pls)?\W*$"
        r"|\bany ideas?\b|\bwtf\b|\bhow sure\b|^\W*(?:are you )?sure\W*$",
    ),
    in_folded(
        "which ",
        r"\bwhich (?:deploy|release|change|service)(?: is it| was it)?\s*\??$"
        r"|\bwhich of\b.*\b(?:deploys|deployments|releases|changes)\W*$",
        also="deploy|release|change|service",
    ),
)
_CHANGES = (
    in_folded(
        "what",
        r"\bwhat\b(?!.{0,20}\bdeployed\b).*\b(?:chang\w*|modif\w+|touch\w*|differen\w+|diff"
        r"|contain\w*|includ\w+)\b",
        also="chang|modif|touch|diff|contain|includ",
    ),
    in_folded(
        "which |what ",
        r"\b(?:which|what) (?:files?|settings?|lines?|commits?)\b.*\b(?:in|of|chang\w*)\b",
        also="file|setting|line|commit",
    ),
    in_folded("who ", r"\bwho (?:wrote|authored|coded|committed)\b"),
    in_folded("compare", r"^\W*(?:please |pls )?compare\b"),
    in_folded(
        "diff",
        r"\b(?:show|see|give)\b.*\bdiff\b|\bdiff(?: please| pls)?\W*$"
        r"|\bdiff(?:erence)? (?:of|for|in|between)\b",
    ),
    in_folded(
        "what's |whats |what | me ",
        r"\bwhat(?:'?s| is| was) (?:in )?(?:(?:deploy|release) #?\d|#?\d{4,8}\W*$)"
        r"|\b(?:tell|show|give) me (?:more )?(?:about )?(?:(?:deploy|release) #?\d|#?\d{4,8}\W*$)",
    ),
    in_folded(
        " in",
        r"\bwhat(?:'s| is| was| went)? (?:new )?in(?:to)?\b(?=.*\b(?:deploy|release)\b)",
        also="deploy|release",
    ),
)
_ALONE = re.compile(r"\s*(?:(?:deploy|release) #?\d+|#?\d{4,8})[\s?!.]*$")
"""A deploy and no more, for the start of a clause."""
_WHO_WHEN = in_folded(
    "who|when|last |latest |newest |before|previous|status of ",
    rf"\bwho\b.*{SHIP}|\bwhen\b.*(?:{SHIP}|\blive\b|\bfinish)"
    r"|\bby whom\b|\b(?:last|latest) (?:deploy|release)\b(?=[^?]*\?)"
    r"|^\W*(?:what(?:'?s| is| was) )?(?:the |our )?(?:last|latest|newest) (?:deploy|release)"
    r"(?: (?:of|to|for|in)\b|\W*$)"
    r"|\bwho (?:approved|reviewed|merged|tested|requested|signed off)\b"
    r"|\bwho did (?:it|that|this)\b|\bstatus of (?:deploy|release)\b"
    r"|\b(?:version|release|deploy|one) (?:right |just )?before (?:that|this|it)\b"
    r"|\bprevious (?:good )?version\b|\b(?:ran|was running) before\b"
    r"|\bwho is (?:(?:deploy|release) )?#?v?\d[\w.]* by\b",
)
_WHO_SHIPPED = in_folded(
    "who ", r"\bwho (?:the \w+ )?(?:deployed|shipped|released|pushed|rolled out)\b"
)
_ASKS_WHO = in_folded("who|when", r"\b(?:who|when)\b")
_LISTING = (
    in_folded("new", r"^\W*what(?:'?s| is) new\b(?! (?:in|with) (?:the )?(?:deploy|release))"),
    in_folded(
        "what",
        rf"\bwhat\b.*(?:{SHIP}(?:e?d|t|ped)|went out|go out|rolled out)\b"
        r"|\bwhat (?:else )?(?:went|shipped)\b"
        r"|\bwhat (?:else )?did @?[a-z][\w.-]* (?:deploy|ship|release|push)\b",
        also="deploy|ship|releas|push|out|went",
    ),
    in_folded(
        "deploys|deployments|releases",
        r"\b(?:deploys|deployments|releases) by\b|^\W*(?:deploys|deployments|releases)\b"
        r"|\b(?:list|show)\b.*\b(?:deploys|deployments|releases)\b"
        r"|\b(?:which|what|how many|any|all)\b(?: \w+){0,2} (?:deploys|deployments|releases)\b",
    ),
)


def kinds_of(clause: str) -> list[PartKind]:
    """What one clause asks for; empty when nothing is recognised."""
    low = folded(clause).replace("rollout", "deploy")
    for kind, pattern in _SPECIAL:
        if pattern.find(low):
            both = kind is PartKind.FORWARD and OR_BACK.find(low)
            return [PartKind.ROLLBACK, kind] if both else [kind]
    if _any(_CAUSE, low):
        asks_who = _WHO_SHIPPED.find(low)
        return [PartKind.CAUSE, PartKind.WHO_WHEN] if asks_who else [PartKind.CAUSE]
    if _any(_CHANGES, low) or _ALONE.match(low):
        asks_who = _ASKS_WHO.find(low) and _WHO_WHEN.find(low)
        return [PartKind.CHANGES, PartKind.WHO_WHEN] if asks_who else [PartKind.CHANGES]
    if _WHO_WHEN.find(low):
        return [PartKind.WHO_WHEN]
    return [PartKind.LISTING] if _any(_LISTING, low) else []


def _any(patterns: tuple[Guarded, ...], low: str) -> bool:
    for pattern in patterns:  # noqa: SIM110 - any() takes longer than most looks
        if pattern.find(low):
            return True
    return False
