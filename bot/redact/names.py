"""Which names hold secrets, and how freely their values may be masked.

Knows names only. What decides is the last part of a dotted name and how it ends: ``db_password``
and ``authToken`` hold a secret, ``token_budget``, ``password_min_length``, ``secret_key_name``,
``primary_key`` and ``max_tokens`` do not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache


class Trust(Enum):
    """How much a name says by itself.

    CHOSEN: people make it up, so every literal counts. KEPT: mostly issued, but nothing else is
    called that, so a made-up word counts too. ISSUED: only what looks issued by a machine counts.
    """

    CHOSEN = "chosen"
    KEPT = "kept"
    ISSUED = "issued"


@dataclass(frozen=True, slots=True)
class Secrecy:
    """What a secret-like name holds: the ``kind`` for the mask, and how to judge its value."""

    kind: str
    trust: Trust


_PASSWORD = Secrecy("password", Trust.CHOSEN)

# Endings of a name with its joints taken out, the longest first; the source is common practice.
_ENDINGS: tuple[tuple[str, Secrecy], ...] = (
    ("connectionstring", Secrecy("connection string", Trust.ISSUED)),
    ("passphrase", Secrecy("passphrase", Trust.CHOSEN)),
    ("password", _PASSWORD),
    ("passwort", _PASSWORD),
    ("passcode", _PASSWORD),
    ("passwd", _PASSWORD),
    ("pwd", _PASSWORD),
    ("clientsecret", Secrecy("client secret", Trust.KEPT)),
    ("secretkeybase", Secrecy("secret", Trust.KEPT)),
    ("secret", Secrecy("secret", Trust.KEPT)),
    ("token", Secrecy("token", Trust.ISSUED)),
    ("credentials", Secrecy("credentials", Trust.KEPT)),
    ("credential", Secrecy("credentials", Trust.KEPT)),
)
# "key" is secret only after one of these.
_KEYS = re.compile(
    r"(?:api|access|secret|private|client|encrypt|encryption|decryption|sign|signing|signature"
    r"|account|master|auth|authorization|service|shared|licen[cs]e|ssh|hmac|consumer|app|application"
    r"|storage|session|crypto|aes|rsa|jwt|webhook|write|admin|integration|routing|root|deploy"
    r"|subscription|function|ingest|ingestion|db|database)key$"
)
# "pass" and "pw" count glued to one of these, too: in "bypass" and "compass" they do not.
_GLUED = re.compile(
    r"(?:db|root|user|admin|my|sql|mysql|pg|postgres|redis|mongo|rabbit|ldap|bind|smtp|mail|imap|ftp|ssh"
    r"|http|proxy|vnc|key|store|require|auth)(?:pass|pw)$"
)
# Words that count only when they stand alone at the end.
_WORDS: dict[str, Secrecy] = {
    "pass": Secrecy("password", Trust.KEPT),
    "pw": Secrecy("password", Trust.KEPT),
    "auth": Secrecy("credentials", Trust.KEPT),
    "authorization": Secrecy("authorization", Trust.ISSUED),
    "creds": Secrecy("credentials", Trust.KEPT),
    "dsn": Secrecy("connection string", Trust.ISSUED),
    "jwt": Secrecy("token", Trust.ISSUED),
    "sas": Secrecy("token", Trust.ISSUED),
}
# Endings that say which of several it is, not what it is.
_WHICH = re.compile(
    r"(?:[_-](?:prod|production|staging|stage|dev|test|old|new|current|previous|prev|primary|secondary"
    r"|value|base64|b64|live|default|\d{1,3})|\d{1,2})$",
    re.IGNORECASE,
)
# What is one although it ends with an "s".
_ONE = frozenset({"pass", "sas", "dsns", "auths", "jws", "pws"})
# Tokens of grammars, language models and pages.
_PLAIN_TOKEN = re.compile(
    r"(?:next|page|paging|pagination|continuation|cursor|eos|bos|pad|unk|sep|cls|mask|special|stop"
    r"|start|begin|end|first|last|prev|previous|marker|sync|resume|cancellation|cancel|per|design"
    r"|input|output|image)[_-]?token$",
    re.IGNORECASE,
)
_CAMEL = re.compile(r"[_\-\s]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

# What to look for in folded text; every name above holds one of them.
STEMS: tuple[str, ...] = (
    "passphrase", "password", "passwort", "passcode", "passwd", "pass", "pwd", "pw", "secret", "token",
    "credential", "creds", "auth", "dsn", "jwt", "sas", "key", "connection",
)  # fmt: skip


@lru_cache(maxsize=4096)
def secrecy(name: str) -> Secrecy | None:
    """Return what ``name`` holds; ``None`` if it holds no secret."""
    last = re.split(r"[./:\[\]\"']", name.rstrip(".:/"))[-1].strip("_- $@\\")
    last = _WHICH.sub("", last)
    if not last or _PLAIN_TOKEN.search(last):
        return None
    joined = re.sub(r"[_\- ]", "", last).lower()
    for ending, found in _ENDINGS:
        if joined.endswith(ending):
            return found
    if joined.endswith("key"):
        if _KEYS.search(joined):
            return Secrecy(_key_kind(joined), Trust.KEPT)
        return None
    if _GLUED.search(joined):
        return _WORDS["pass"]
    return _WORDS.get(_CAMEL.split(last)[-1].lower())


@lru_cache(maxsize=4096)
def secrecy_of_many(name: str) -> Secrecy | None:
    """Return what ``name`` holds several of, as ``apiKeys`` does; ``None`` of no secrets."""
    if not name.endswith(("s", "S")) or _CAMEL.split(name)[-1].lower() in _ONE:
        return None
    return secrecy(name[:-1])


def _key_kind(joined: str) -> str:
    for part in ("api", "access", "private", "encryption", "signing"):
        if joined.endswith(part + "key"):
            return part + " key"
    return "key"
