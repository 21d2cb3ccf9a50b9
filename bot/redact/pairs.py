"""A name and its value under names of their own: ``name: DB_PASSWORD`` beside ``value: x``.

As Kubernetes, ECS, CloudFormation and XML have it, in either order, on one line or two, also in a diff.
Knows the syntax of the pair, not what is a secret.
"""

from __future__ import annotations

import re

_NAME = re.compile(r"(?:name|Name|key|Key)\\{0,3}[\"']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,3}[\"']?\Z")
VALUE_BEHIND = re.compile(
    r"\\{0,3}[\"']?[ \t]{0,4},?[ \t]{0,4}(?:\r?\n[-+ ]?[ \t]{0,40})?\\{0,3}[\"']?"
    r"(?:[A-Z][a-z]{1,20})?[vV]alue\\{0,3}[\"']?[ \t]{0,4}[:=][ \t]{0,4}"
)
"""From the end of the name to its value."""
# A dash before the name begins another item, whose value stands elsewhere.
_VALUE_BEFORE = re.compile(
    r"[vV]alue\\{0,3}[\"']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,3}[\"']?"
    r"(?P<value>[^\s\"',{}\\]{3,512})\\{0,3}[\"']?[ \t]{0,4},?[ \t]{0,4}(?:\r?\n[+ ]?[ \t]{0,40})?"
    r"\\{0,3}[\"']?(?:[A-Z][a-z]{1,20})?(?:name|Name|key|Key)\\{0,3}[\"']?[ \t]{0,4}[:=]"
    r"[ \t]{0,4}\\{0,3}[\"']?\Z"
)
_LONGEST = 700


def is_value(text: str, start: int) -> bool:
    """Tell whether the name at ``start`` is itself the value of a ``name`` or a ``key``."""
    return bool(_NAME.search(text, max(0, start - 40), start))


def value_before(text: str, start: int) -> tuple[int, int] | None:
    """Return where the value stands that comes before the name at ``start``."""
    found = _VALUE_BEFORE.search(text, max(0, start - _LONGEST), start)
    return found.span("value") if found else None
