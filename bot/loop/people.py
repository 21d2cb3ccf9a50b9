"""The names of people in a claim: one who deploys may be called by a URL, or by a number.

Pure. Knows neither facts nor rows. What such a name holds reads as a fact, a denial or a cause, and is
none: so the name is held against its row as one quotation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_PLAIN = re.compile(r"[^\W\d_]+(?:[ .'’-][^\W\d_]+){0,3}")
_SAYS = re.compile(
    r"\b(?:no|not|none|never|neither|nor|nothing|without|cannot|and|but|while|whereas|over|since|than"
    r"|against|caus\w+|broke|due|because)\b",
    re.IGNORECASE,
)


def with_names_quoted(text: str, people: Iterable[str]) -> str:
    """The claim with these names in quotation marks after "by" and in brackets, but for plain ones:
    ``by https://ci.example/9`` as ``by “https://ci.example/9”``.
    """
    for name in sorted((one for one in people if len(one) > 1), key=len, reverse=True):
        if name not in text or (_PLAIN.fullmatch(name) and not _SAYS.search(name)):
            continue
        said = re.compile(rf"(?<=\bby ){re.escape(name)}(?!\w)|(?<=\(){re.escape(name)}(?=\))")
        text = said.sub(lambda found: f"“{found[0]}”", text)
    return text
