"""The words that ask whether one deploy is live somewhere, and whom to ask about a service.

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
