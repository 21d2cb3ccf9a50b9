"""The words that ask what is live where, whether to go forward, and whom to ask about a service.

Pure data, for ``part_kinds.py``. Knows no service and no answer.
"""

from __future__ import annotations

from bot.loop.guard import in_folded

_REF = (
    r"(?:v\d[\w.+-]*|\d+(?:\.\d+)+[\w.+-]*|#?\d{3,8}|(?:deploy|release) #?\d{1,8}"
    r"|(?=[a-f]*\d)[0-9a-f]{7,40})"
)
PLACE = r"(?:prod|production|staging|stage|canary|preprod|dev|development|qa|test)"
_WHERE = r"(?:prod|production|staging|stage)"
_STILL = r"(?: (?:still|already|now|even|actually|been|currently|ever))*"
_THERE = (
    r"(?:live|out|running|deployed|rolled out|reached"
    rf"|(?:in|on) {_WHERE}|(?:gone|made it) (?:live|out|to {_WHERE}))\b"
)

LIVE = in_folded(
    "live| prod| stag|running|deployed| out| reach|make it| on ",
    rf"^\W*(?:is|are|has|have)(?: the)?(?: [\w@/-]+){{0,3}}? {_REF}{_STILL} {_THERE}"
    r"|^\W*(?!who|wer|when|why|was|were|did)(?:[a-z][\w@/-]* ){0,2}(?=v\d|\d+\.|#?\d{4})"
    rf"{_REF}{_STILL} {_THERE}(?: yet| now| already| still)?\W*$"
    rf"|^\W*did(?: the)?(?: [\w@/-]+){{0,3}}? {_REF}{_STILL} (?:make it|reach|go live)\b"
    r"|^\W*(?:is|are) (?:[\w@/-]+ ){1,3}?(?:on|running) (?:version |deploy |release )?"
    rf"{_REF}(?: (?:in|on) {_WHERE})?(?: yet| now| already)?\W*$"
    rf"|^\W*(?:is|has) (?:it|this|that){_STILL} (?:live|(?:in|on) {_WHERE}"
    rf"|(?:gone|made it) (?:live|to {_WHERE}))\b"
    rf"|^\W*did (?:it|this|that){_STILL} (?:make it to|reach|go live)\b",
)
WHICH_IS = (
    r"\b(?:what|which) (?:version|release|deploy|build|tag|commit|sha|revision)s?\b"
    r"(?: of [\w ,-]{2,60}?)? (?:is|are)(?: [\w-]+){0,2}"
)
_PLACES = rf"{PLACE} (?:and|vs\.?|versus|to|with|from|or|as) (?:the |in |on )*{PLACE}\b"
THERE = in_folded(
    " on|prod|stag|canary| dev| qa| test",
    r"\bwhat(?:'?s| is)(?: currently| now| actually)? (?:deployed )?(?:in|on) (?:prod|staging)"
    rf"|{WHICH_IS} (?:on\W*$|(?:in|on) {PLACE}\b)"
    rf"|\b(?:differ\w*|diff|compar\w+|same|identical|match\w*)\b.* {_PLACES}"
    rf"|\b{_PLACES}.*\b(?:differ\w*|same|identical|match\w*)\b"
    rf"|\bchang\w* between (?:the )?{_PLACES}"
    r"|\b(?:same|identical)(?: (?:version|release|build|deploy|one|thing|code))?"
    rf"(?: as| to| in| on)(?: in| on| the| what is)* {PLACE}\b"
    rf"|\bdiffer\w* (?:from|to|than)(?: in| on| the)* {PLACE}\b",
    also="what|which |differ|same|compar|match|identical|diff|chang",
)
"""What is in one environment, or how two of them differ."""
_GO = (
    r"(?:roll[ -]?(?:(?:it|this|that|#?v?\d[\w.]*) )?(?:forward|out)|deploy|ship|release|push|promote"
    r"|upgrade|go (?:live|ahead|forward))\b"
)
FORWARD = in_folded(
    "safe|forward| we | i |ok",
    r"\b(?:safe|safely|ok|okay)(?: for us)? to (?:just |now )?"
    rf"{_GO}"
    r"|\b(?:can|may|should|could|shall) (?:we|i) (?:safely |just |now |already |better )*"
    rf"{_GO}"
    r"|\b(?:deploying|shipping|releasing|pushing|promoting|rolling (?:it |this |that )?forward)\b"
    r".*\b(?:safe|ok|okay)\b"
    r"|^\W*(?:please |pls |just |or |and )*roll[ -]?(?:(?:it|this|that|#?v?\d[\w.]*) )?forward\b"
    r"|\b(?:should|can|could|may|shall|safe|ok|okay|better)\b.*\broll\w*[ -]?forward\b",
    also="deploy|ship|releas|push|promot|upgrade|forward|out|go ",
)
"""Going forward: a question of its own, which a rollback's safety does not answer."""
OR_BACK = in_folded("back|revert", r"\broll\w*[ -]?back\b|\bor (?:go |roll )?back\b|\brevert\b")
OWNER = in_folded(
    "who|owner|call|team",
    r"\bwho(?:'?s| is| are)(?: currently| now| the| tonight)* on[ -]?call\b"
    r"|\bwho (?:owns|maintains)\b"
    r"|\bwho(?:'?s| is) (?:the |our )?(?:[\w-]+ )?(?:owner|maintainer|contact|in charge)\b"
    r"|\bwho(?:m)? (?:do|should|can|could|to|must|shall|else)\b.{0,16}\b(?:page|call|ask"
    r"|contact|ping|wake|escalate|talk|help|turn)\b"
    r"|^\W*(?:the )?(?:owners?|on[ -]?call)\b(?: of| for|\W*$)"
    r"|\b(?:which|what) team\b.*\b(?:owns?|maintains?)\b",
)
