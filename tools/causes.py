"""What is known in general about kinds of failure: their usual changes, and causes that no deploy is.

Two tables of data and the functions that read them. Knows no incident record and no diff.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tools.symptoms import Term, TermKind


@dataclass(frozen=True)
class Kinship:
    """A kind of failure, the words by which it is told, and what a change that causes it holds."""

    name: str
    told_by: re.Pattern[str]
    changes: tuple[str, ...]


def _kinship(name: str, told_by: str, changes: str) -> Kinship:
    return Kinship(name, re.compile(told_by, re.IGNORECASE), tuple(changes.split()))


KINSHIPS: tuple[Kinship, ...] = (
    _kinship(
        "memory",
        r"\b(oom\w*|out of memory|memory|heap|leak\w*|rss)\b",
        "cache lru_cache maxsize memoize buffer weakref pool queue unbounded gc",
    ),
    _kinship(
        "time",
        r"\b(time[- ]?outs?|timed out|slow\w*|latency|hang\w*|stuck|deadline|p9\d)\b",
        "timeout retry retries budget backoff deadline sleep lock pool concurrency keepalive",
    ),
    _kinship(
        "connections",
        r"\b(connection|connect|refused|reset|socket|dns|unreachable|proxy|scheme)\b",
        "pool connection adapter proxy socket keepalive resolver scheme host port",
    ),
    _kinship(
        "modules",
        r"\b(module|import|package|require)\w*\b.*\b(error|fail\w*|not found|cannot|exit\w*)\b"
        r"|\b(ImportError|ModuleNotFoundError|ERR_\w*(MODULE|REQUIRE|PACKAGE)\w*)\b",
        "exports import module require main __init__ __all__ entry",
    ),
    _kinship(
        "build",
        r"\b(build\w*|built|compil\w*|install\w*|metadata|wheel|image)\b",
        "setup.cfg pyproject.toml build metadata config option key deprecated invalid",
    ),
    _kinship(
        "calls",
        r"\b(TypeError|AttributeError|unexpected keyword|argument|signature|undefined)\b",
        "def deprecated removed parameter argument kwargs",
    ),
    _kinship(
        "access",
        r"\b(401|403|unauthori[sz]ed|forbidden|permission|token|log[ -]?in|sign[ -]?in|session)\b",
        "auth token session cookie permission role scope secret csrf",
    ),
    _kinship(
        "data",
        r"\b(deadlock|constraint|column|table|migration|duplicate|corrupt\w*|integrity)\b",
        "migration alter column index constraint transaction table",
    ),
    _kinship(
        "load",
        r"\b(429|rate limit\w*|throttl\w*|cpu|overload\w*|saturat\w*|queue)\b",
        "limit rate workers threads concurrency batch replicas queue pool",
    ),
)


@dataclass(frozen=True)
class ExternalCause:
    """A cause outside of any deploy, and the words that state it."""

    told_by: re.Pattern[str]
    words: str


def _external(told_by: str, words: str) -> ExternalCause:
    return ExternalCause(re.compile(told_by, re.IGNORECASE), words)


EXTERNAL_CAUSES: tuple[ExternalCause, ...] = (
    _external(
        r"\b(certificate|cert|licen[cs]e|domain|token|key|credential|password|secret)s?\b"
        r"[^.]{0,40}\b(has|have|had|is|are|was|were)?\s*expired\b",
        "something expired, which happens by the calendar and not by a deploy",
    ),
    _external(
        r"\b(power|network|fib(er|re)|disk|hardware|switch|rack|cooling)\s+(failure|outage|cut|fault)\b"
        r"|\bdisks? (is|are|was|were) full\b|\bdata ?cent(er|re)\b[^.]{0,30}\b(down|lost|fire)\b",
        "hardware or the network failed",
    ),
    _external(
        r"\b(provider|vendor|upstream provider|region|status page|third[- ]party)\b[^.]{0,60}"
        r"\b(reports?|confirm\w*|has|have|had|is having|acknowledg\w*)\b[^.]{0,30}"
        r"\b(outage|incident|degrad\w*|problems?|down)\b",
        "a provider reports an outage of its own",
    ),
    _external(
        r"\b(status (page|site)|provider|vendor|carrier|isp|cdn|cloud|region|registrar|processor"
        r"|third[- ]party)\b[^.]{0,80}\b(all|every|other|whole|entire|itself|own|shows?)\b"
        r"[^.]{0,60}\b(down|red|outage|unreachable|offline|degraded|not (load|answer|respond))\b"
        r"|\b(console|dashboard|status page|mail|site|page) of (the|this|that) (same )?"
        r"(region|provider|vendor|cloud|cdn)\b[^.]{0,60}\b(too|as well|either|down|not load|red)\b"
        r"|\bof the same (provider|vendor|cdn|region|cloud)\b[^.]{0,40}\b(down|fail\w*|too|as well)\b",
        "others who use the same provider are hit as well",
    ),
    _external(
        r"\b(other|many|large|unrelated|foreign|everyone.s|competitors.?) (\w+ )?"
        r"(companies|sites|websites|customers of (the|that)|teams outside)\b[^.]{0,80}"
        r"\b(same|too|as well|also|likewise)\b",
        "others outside are hit as well",
    ),
    _external(
        r"\b(bypass\w*|around|without|past) (the|our) (cdn|proxy|provider|carrier|isp|load balancer)\b"
        r"[^.]{0,80}\b(normal\w*|fine|works?|answered|succeed\w*|ok)\b",
        "what goes past the provider works",
    ),
    _external(
        r"\b(very )?same (build|versions?|package versions|image|releases?|commit|code)\b[^.]{0,80}"
        r"\b(fine|works?|working|healthy|unaffected|ok|(no|without|zero) (errors|problems|failures))\b",
        "the same version works elsewhere, which speaks against a deploy",
    ),
    _external(
        r"\b(campaign|advert\w*|television|tv spot|promotion|flash sale|black friday|newsletter)\b"
        r"[^.]{0,60}\b(ran|runs|began|started|went (out|live)|launched|was sent)\b",
        "more people came than usual",
    ),
    _external(
        r"\b(ddos|denial[- ]of[- ]service|leap second|bgp|route leak)\b",
        "it came from outside",
    ),
)


def kinships_of(text: str) -> tuple[tuple[Kinship, tuple[Term, ...]], ...]:
    """The kinds of failure that a text tells of, with the terms to look for in a change."""
    return tuple(
        (kinship, tuple(Term(word, word, TermKind.WORD, whole=False) for word in kinship.changes))
        for kinship in KINSHIPS
        if kinship.told_by.search(text)
    )


def external_cause(text: str) -> str | None:
    """What the text itself states as a cause that no deploy is, in words, or ``None``."""
    for cause in EXTERNAL_CAUSES:
        if cause.told_by.search(text):
            return cause.words
    return None
