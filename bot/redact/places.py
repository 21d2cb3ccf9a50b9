"""Secrets that can be told by the syntax around them: URLs, headers, query strings, command lines.

One table of patterns. The group ``secret`` is masked, everything else stays. Each pattern fails
within a bounded number of characters. A gate tells first whether a text can hold any of them, the
``hints`` of each, where it has some, whether it can hold that one.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from bot.redact.gate import Gate, literally, widened
from bot.redact.spans import Span
from bot.redact.values import is_literal, is_opaque


@dataclass(frozen=True, slots=True)
class Place:
    """Where a secret stands. ``judge`` says of the text found whether it is one."""

    kind: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    judge: Callable[[str], bool]


def _place(kind: str, hints: str, pattern: str, judge: Callable[[str], bool]) -> Place:
    return Place(kind, tuple(hints.split()), re.compile(pattern, re.ASCII), judge)


def _is_basic(value: str) -> bool:
    """Tell ``user:password`` in base64 (RFC 7617) from a word after "Basic"."""
    try:
        plain = base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except binascii.Error:
        return False
    return b":" in plain and all(each >= 0x20 for each in plain)


def _in_query(value: str) -> bool:
    return is_opaque(unquote(value))


def _in_url(value: str) -> bool:
    return is_literal(value) and not value.isdigit()


_PLACES: tuple[Place, ...] = (
    _place(
        "url token",
        "",
        r"[?&;](?i:(?:[\w.-]{0,40}[_.-])?(?:key|sig|signature|token|secret|password|passwd|pwd|code"
        r"|auth|credential|apikey|jwt))="
        r"(?P<secret>[\w.~%+/:=*!-]{6,4096})",
        _in_query,
    ),
    # RFC 6750, RFC 7235: the scheme names what follows
    _place(
        "bearer token",
        "earer",
        r"earer[ \t]{1,4}(?P<secret>[A-Za-z0-9._~+/-]{8,4096}={0,2})",
        is_opaque,
    ),
    _place(
        "basic credentials",
        "asic",
        r"asic[ \t]{1,4}(?P<secret>[A-Za-z0-9+/_-]{6,2048}={0,2})",
        _is_basic,
    ),
    _place(
        "authorization",
        "uthorization UTHORIZATION",
        r"(?:uthorization|UTHORIZATION)\\{0,3}[\"']?\]?[ \t]{0,4}[:=,][ \t]{0,4}\\{0,3}[\"'`]?"
        r"(?:(?i:bearer|basic|token|apikey|negotiate|splunk|genie-?key|bot)[ \t]{1,4})?"
        r"(?P<secret>[A-Za-z0-9._~+/:-]{8,4096}={0,2})",
        is_opaque,
    ),
    # docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-signing-elements.html
    _place("aws signature", "Signature=", r"Signature=(?P<secret>[a-f0-9]{64})", is_opaque),
    # docs.npmjs.com/cli/configuring-npm/npmrc: also where a comment in code shows it
    _place(
        "npm token",
        ":_auth",
        r":_auth(?:Token)?[ \t]{0,4}=[ \t]{0,4}[\"']?(?P<secret>[\w.+/=-]{8,512})",
        is_opaque,
    ),
    # .netrc
    _place(
        "password",
        "login ",
        r"login[ \t]{1,4}\S{1,128}\s{1,16}password[ \t]{1,4}(?P<secret>[^\s\"']{1,256})",
        is_literal,
    ),
    # command lines
    _place(
        "password",
        "",
        r"-u(?<![\w]-u)(?:ser)?[ =]{0,2}[\"']?[\w.@\\+-]{1,128}:(?P<secret>[^\s\"'`]{1,256})",
        _in_url,
    ),
    # several flags in one, and other users than that of the host
    _place(
        "password",
        "curl",
        r"curl(?:[ \t]{1,4}[^\s|;&]{1,200}){0,20}?[ \t]{1,4}(?:-[a-zA-Z]{1,9}u|--proxy-user)[ =]{0,2}"
        r"[\"']?[\w.@\\+-]{1,128}:(?P<secret>[^\s\"'`]{1,256})",
        _in_url,
    ),
    _place(
        "password",
        "mongo ldap sqlcmd",
        r"(?:mongo|ldap|sqlcmd)\w{0,8}(?:[ \t]{1,4}[^\s|;&]{1,200}){0,20}?[ \t]{1,4}-[pwP][ \t]{1,4}"
        r"[\"']?(?P<secret>[^\s\"'`|;&]{3,256})",
        _in_url,
    ),
    _place(
        "password",
        "mysql mariadb",
        r"(?:mysql|mysqldump|mysqladmin|mysqlimport|mariadb|mariadb-dump)"
        r"(?:[ \t]{1,4}[^\s|;&]{1,200}){0,20}?[ \t]{1,4}-p[\"']?(?P<secret>[^\s\"'`|;&]{3,256})",
        is_literal,
    ),
    _place(
        "password",
        "sshpass",
        r"sshpass[ \t]{1,4}-p[ \t]{0,4}[\"']?(?P<secret>[^\s\"'`]{1,256})",
        is_literal,
    ),
    _place(
        "password",
        " login",
        r" login(?:[ \t]{1,4}[^\s|;&]{1,200}){0,10}?[ \t]{1,4}-p[ \t=]{1,4}[\"']?"
        r"(?P<secret>[^\s\"'`|;&]{3,256})",
        is_literal,
    ),
    _place(
        "password",
        "redis-cli",
        r"redis-cli(?:[ \t]{1,4}[^\s|;&]{1,200}){0,10}?[ \t]{1,4}-a[ \t]{1,4}[\"']?"
        r"(?P<secret>[^\s\"'`|;&]{3,256})",
        is_literal,
    ),
    _place(
        "password",
        "asicAuth( basic_auth( auth=( .auth(",
        r"(?:asicAuth|basic_auth|auth=|\.auth)\([\"'][^\"'\n]{0,64}[\"'],[ \t]{0,4}[\"']"
        r"(?P<secret>[^\"'\n]{3,256})",
        is_literal,
    ),
    # SQL: IDENTIFIED WITH plugin BY "x", SET PASSWORD FOR u = 'x', PASSWORD('x')
    _place(
        "password",
        "IDENTIFIED identified",
        r"(?:IDENTIFIED|identified)[ ](?:(?i:with)[ ][\w\"'`]{1,64}[ ])?(?i:by)[ ]"
        r"[\"'](?P<secret>[^\"'\n]{1,256})[\"']",
        is_literal,
    ),
    _place(
        "password",
        "PASSWORD( FOR",
        r"PASSWORD(?:[ ]FOR[ ][^\s=]{1,128}[ ]?=[ ]?|\()[\"'](?P<secret>[^\"'\n]{1,256})[\"']",
        is_literal,
    ),
    # SQL: IDENTIFIED BY 'x', PASSWORD 'x'
    _place(
        "password",
        "",
        r" '(?:(?<=(?i:identified by) ')|(?<=(?i:password) '))(?P<secret>[^'\n]{1,256})'",
        is_literal,
    ),
)

_COOKIE_HEADER = re.compile(
    r"ookie\\{0,3}[\"']?\]?[ \t]{0,4}[:=][ \t]{0,4}\\{0,3}[\"'`]?(?=[\w.-]{1,80}=)"
)
_COOKIE = re.compile(
    r"(?P<name>[\w.!#$%&*+^|~-]{1,80})=(?P<secret>[^\s;,\"'`\\]{0,4096})(?:;[ ]?|$)?"
)
_COOKIE_ATTRIBUTES = frozenset(
    {"path", "domain", "expires", "max-age", "samesite", "secure", "httponly", "priority"}
)


# RFC 3986 section 3.2, leniently: to the end of the word, for passwords hold what they should not.
_AUTHORITY = re.compile(
    r":(?:\\{0,3}/){2}(?P<user>[^\s/:@\"'<>`]{0,512}+)(?P<rest>[:@]?[^\s\"'<>`\\]{0,1024}+)"
)
_PORT = re.compile(r"\d{1,5}(?:[/?#,]|$)")

# go-sql-driver/mysql: user:password@tcp(host)/name, without a scheme
_DRIVER = re.compile(r"@(?:tcp|unix)\(")
_BEFORE_DRIVER = re.compile(r"[\w.-]{1,64}:(?P<secret>[^\s@\"'`]{1,128})\Z", re.ASCII)
_LONGEST_BEFORE_DRIVER = 64 + 1 + 128

_SIGNS = tuple(literally(each.hints) or widened(each.pattern.pattern) for each in _PLACES)
_GATE = Gate(_SIGNS)
SIGNS = (*_SIGNS, "@", "ookie")
"""Patterns of gates: a text in which something is found has one of them."""


def find(text: str) -> Iterator[Span]:
    """Yield every secret that the table, the URLs and the cookie headers of ``text`` hold."""
    if _GATE.opens(text):
        yield from _placed(text)
    if "@" in text:
        yield from _driven(text)
        for url in _AUTHORITY.finditer(text):
            yield from _credentials(url)
    if "ookie" in text:
        yield from _cookies(text)


def _placed(text: str) -> Iterator[Span]:
    for place in _PLACES:
        if place.hints and not any(hint in text for hint in place.hints):
            continue
        for found in place.pattern.finditer(text):
            if place.judge(found["secret"]):
                yield Span(found.start("secret"), found.end("secret"), place.kind)


def _driven(text: str) -> Iterator[Span]:
    done = 0
    for driver in _DRIVER.finditer(text):
        at = driver.start()
        since = max(done, at - _LONGEST_BEFORE_DRIVER, text.rfind("@", done, at) + 1)
        before = _BEFORE_DRIVER.search(text[since:at])
        done = driver.end()
        if before and is_literal(before["secret"]):
            yield Span(since + before.start("secret"), at, "database password")


def _credentials(url: re.Match[str]) -> Iterator[Span]:
    """Yield the password, or else the token in place of a user, before the "@" of a URL."""
    user, rest = url["user"], url["rest"]
    if rest.startswith("@") and is_opaque(user) and len(user) >= 20:
        yield Span(url.start("user"), url.end("user"), "url token")
    if not rest.startswith(":") or "@" not in rest:
        return
    # An "@" behind a slash belongs to the password only if no port and no host stand before it.
    authority = re.split(r"[/?#]", rest[1:], maxsplit=1)[0]
    password, at, host = authority.rpartition("@")
    if (not at and not _PORT.match(rest[1:])) or (at and _is_cut(host, rest)):
        password = rest[1:].rpartition("@")[0]
    host = rest[1 + len(password) + 1 :]
    if not password:
        if is_opaque(user) and len(user) >= 20:
            yield Span(url.start("user"), url.end("user"), "url token")
    elif password != user and _in_url(password) and not host.startswith("sha256:"):
        start = url.start("rest") + 1
        yield Span(start, start + len(password), "url password")


def _is_cut(host: str, rest: str) -> bool:
    """Tell whether what looks like the host is the middle of a password with "@" and "/" in it."""
    path = rest.partition("@" + host + "/")[2].partition("?")[0]
    return (
        "." not in host
        and ":" not in host
        and bool(re.search(r"[^/]@[\w.-]+(?::\d+)?(?:/|$)", path))
    )


def _cookies(text: str) -> Iterator[Span]:
    at = 0
    while header := _COOKIE_HEADER.search(text, at):
        at = header.end()
        while pair := _COOKIE.match(text, at):
            at = pair.end()
            if pair["name"].lower() not in _COOKIE_ATTRIBUTES and is_opaque(pair["secret"]):
                yield Span(pair.start("secret"), pair.end("secret"), "cookie")
            if not pair[0].endswith((";", "; ")):
                break
