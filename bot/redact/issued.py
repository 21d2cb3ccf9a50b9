"""Secrets that neither shape nor name alone gives away: a vendor's name with a value of its length.

``cl_key`` followed by 64 hexadecimal digits is a Cloudant password; either half alone is nothing.
Sources: the providers' formats as detect-secrets (Apache-2.0) and gitleaks (MIT) record them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from bot.redact.spans import Span

# Every way in which a name takes a value in these rules, a plain space among them.
_VALUE = re.compile(
    r"\\{0,3}[\"']?\]?[ ]{0,8}(?::=|=>|::|=|:|[ ])[ ]{0,8}\\{0,3}[\"']?"
    r"(?P<value>[A-Za-z0-9_+-]{20,64})(?![\w+/-])"
)


@dataclass(frozen=True, slots=True)
class _Issue:
    """A vendor's names, matched at the end of a name, and its values."""

    kind: str
    name: re.Pattern[str]
    value: re.Pattern[str]


def _issue(kind: str, name: str, value: str) -> _Issue:
    return _Issue(kind, re.compile(rf"(?:^|[^a-z0-9_])(?:{name})$"), re.compile(value))


_ISSUES: tuple[_Issue, ...] = (
    _issue(
        "cloudant key",
        r"(?:\w*_)?(?:cloudant|clou|cl)[_-]?(?:api)?[_-]?(?:key|pwd|pw|password|pass|token)",
        r"[0-9a-fA-F]{64}|[a-z]{24}|[A-Z]{24}",
    ),
    _issue(
        "softlayer key",
        r"(?:\w*_)?(?:softlayer|sl)[_-]?(?:api)?[_-]?(?:key|pwd|password|pass|token)",
        r"[A-Za-z0-9]{64}",
    ),
    _issue(
        "ibm cos key",
        r"(?:ibm)?[_-]?(?:cos)?[_-]?(?:hmac)?[_-]?secret[_-]?(?:access)?[_-]?key",
        r"[A-Fa-f0-9]{48}",
    ),
    # Any key or token of 44 characters, but no words with joints: they are never mixed so.
    _issue(
        "ibm cloud key",
        r"(?:ibm|cloud|iam|api|[_-])*+(?:key|pwd|password|pass|token)",
        r"(?=[A-Za-z_-]*[0-9])(?=[a-z0-9_-]*[A-Z])(?=[A-Z0-9_-]*[a-z])[A-Za-z0-9_-]{44}",
    ),
    # docs.datadoghq.com/account_management/api-app-keys
    _issue(
        "datadog key",
        r"(?:\w*_)?(?:datadog|dd)[_-]?(?:api|app|application|client)?[_-]?(?:key|token)",
        r"[a-f0-9]{32}|[a-f0-9]{40}",
    ),
    # support.pagerduty.com: integration keys, and API keys of 20 characters
    _issue(
        "pagerduty key",
        r"(?:\w*_)?(?:pagerduty|pd)[_-]?(?:api|service|integration|routing)?[_-]?(?:key|token)"
        r"|(?:integration|routing|service)[_-]?key",
        r"[a-f0-9]{32}|R[A-Z0-9]{31}|[yu]\+?[A-Za-z0-9_+-]{18,19}",
    ),
)
_ENDS = ("key", "pwd", "pw", "password", "pass", "token")


def after(text: str, name: str, end: int) -> Span | None:
    """Return the value behind ``name``, folded, that ends at ``end``, if a vendor issued it."""
    if not name.endswith(_ENDS):
        return None
    found = _VALUE.match(text, end)
    if found is None:
        return None
    for issue in _ISSUES:
        if issue.value.fullmatch(found["value"]) and issue.name.search(name):
            return Span(found.start("value"), found.end("value"), issue.kind)
    return None
