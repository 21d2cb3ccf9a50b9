"""What is wrong with one claim: facts that stand in no cited row, denials and causes that nobody
established (M20).

Pure. A claim is read in chunks ("…, …; … and …"): the facts of one chunk must stand together in one
row. A chunk that names no deploy speaks of the one named before it. Knows no answer and no run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from bot.loop.blame import CAUSAL, Blames, Clause, as_read, one_word, plain
from bot.loop.facts import Fact, FactKind, FactReader
from bot.loop.grounds import ANCHORS, NEGATIVE, Grounds, Sight
from bot.loop.guard import folded, guarded
from bot.loop.people import with_names_quoted
from bot.loop.rows import names_of
from bot.loop.scratchpad import Observation
from bot.loop.senses import NAMED_CODE, OTHER_CODE, Known
from tools.base import Status
from tools.records import (
    Confidence,
    Deploy,
    DeploysFound,
    DiffShown,
    IncidentsFound,
    Observed,
    SuspectsRanked,
)

_SAID = re.compile(r"“[^“”]*”|\"[^\"\n]*\"|`[^`\n]*`")
_ONLY = re.compile(r"^\W*no\W+only\b", re.IGNORECASE)
"""``No: only deploy 12``: that there was no other, which a whole list of one shows."""
_HEDGED = guarded(
    r"like|probab|possib|may|might|could|perhaps|suspect|candidate|runner|unclear|appear|seem",
    r"\b(?:likely|likeliest|probabl[ey]|possibl[ey]|may|might|could|perhaps|suspects?|suspected"
    r"|candidates?|runner-up|unclear|appears?|seems?|first suspect)\b",
)
_WEAK = guarded(
    r"may|might|could|possib|perhaps|candidate|runner|unclear|less|unlike",
    r"\b(?:may|might|could|possibl[ey]|perhaps|candidates?|runner-up|unclear|less likely"
    r"|unlikely (?:to|cause))\b",
)
_TELLING = re.compile(r"[a-z]{4,}")
_BREAKS = re.compile(
    r"[;•\n,.\s](?:(?<=[;•\n])\s*|(?<=[,.])\s+|(?<=\s)(?<!\s\s)\s*+(?:(?:[–—]|and|but|while|whereas)\s+"
    r"|(?=(?:against|compared (?:with|to)|over|since|than|instead of)\s)))"
)
_IN_BRACKETS = re.compile(r"\([^()]*\)")
_ASIDE = re.compile(
    r"^(?:against|compared (?:with|to)|over|since|than|instead of)\b", re.IGNORECASE
)
_INSTEAD = re.compile(r"\W*not\b", re.IGNORECASE)
"""A denial that says of what the whole claim does: "caused by deploy 12, not by web"."""
_MOST_FACTS = 40
"""Different facts of one chunk: each is looked for by itself. A list of twenty deploys has fewer."""


def claim_problems(text: str, evidence: Sequence[str], grounds: Grounds) -> list[str]:
    """Plain sentences, one for each thing that is wrong; none when the claim holds."""
    pad = grounds.pad
    unknown = [e for e in evidence if e not in pad.evidence]
    if unknown:
        known = ", ".join(pad.evidence) or "none yet"
        return [
            f"{', '.join(unknown)} is no successful observation; those that can be cited: {known}"
        ]
    if not evidence:
        return ["it cites no observation"]
    cited = [pad.evidence[e] for e in evidence]
    if people := {name for one in cited for name in grounds.rows(one).people}:
        text = with_names_quoted(text, people)
    return [*_chunk_problems(text, cited, grounds), *causal_problems(text, cited, grounds)]


def chunks(text: str) -> Iterator[tuple[str, bool]]:
    """The claim in pieces that each say one thing; brackets, quotations and code stay whole. With
    each, whether "and" joins it to the piece before: then it goes on about the same file.
    """
    masked = _IN_BRACKETS.sub(lambda m: "x" * len(m[0]), _unsaid(text, "x"))
    start, joined = 0, False
    for found in _BREAKS.finditer(masked):
        yield text[start : found.start()], joined
        start, joined = found.end(), found[0].strip() == "and"
    yield text[start:], joined


def _chunk_problems(text: str, cited: Sequence[Observation], grounds: Grounds) -> list[str]:
    problems: list[str] = []
    about: set[str] = set()
    file: tuple[Fact, ...] = ()
    for chunk, joined in chunks(text):
        facts = grounds.facts_in(chunk)
        files = tuple([f for f in facts if f.kind is FactKind.PATH])
        if joined and facts and not files:
            facts = (*facts, *file)
        else:
            file = files if len(files) == 1 else ()
        if len(facts) > _MOST_FACTS and len({fact[:2] for fact in facts}) > _MOST_FACTS:
            problems.append(f"{chunk.strip()[:60]!r} says too much at once: make it several claims")
            continue
        grounds.reading.begin_chunk()
        low = folded(chunk)
        sight = grounds.sight(cited, quotations=not CAUSAL.find(low))
        named = sight.deploys_in(facts)
        if NEGATIVE.find(_unsaid(low)):
            said = text if _INSTEAD.match(chunk) else chunk
            if not _denied(said, facts, cited, sight):
                problems.append(f"nothing in {_ids(cited)} shows that {chunk.strip()!r}")
        elif not sight.together(facts, named or about):
            problems += _missing(facts, sight, _ids(cited))
        if named and not _ASIDE.search(chunk.strip()):
            about = named
    return problems


def _ids(cited: Sequence[Observation]) -> str:
    return ", ".join(o.id for o in cited)


def _missing(facts: Sequence[Fact], sight: Sight, ids: str) -> list[str]:
    """Which facts stand nowhere; or, if each stands somewhere, that they do not belong together."""
    absent = [f for f in facts if not sight.together([f], set())]
    if absent:
        return [f"{f.kind.value} {f.said!r} does not occur in {ids}" for f in absent]
    said = ", ".join(dict.fromkeys(fact.said for fact in facts))
    return [f"{said}: these do not belong together in {ids}"]


def _denied(chunk: str, facts: Sequence[Fact], cited: Sequence[Observation], sight: Sight) -> bool:
    """Whether something cited establishes the denial: an empty search for it, a ranking that found
    nothing or put something else first, or a tool's own words.
    """
    for observation in cited:
        value = observation.result.value
        if observation.result.status is Status.EMPTY:
            searched, there = _searched(observation), _there(value)
            absent = [f for f in facts if f.value not in there and _sought(f, searched)]
            shown = all(f in absent or sight.together([f], set()) for f in facts)
            other = isinstance(value, DiffShown) and sight.deploys_in(facts) - there
            if shown and not other and (absent or not any(f.value in there for f in facts)):
                return True
        if isinstance(value, DeploysFound) and value.total == 1 and _ONLY.search(chunk):
            return sight.together(facts, set())
        if isinstance(value, SuspectsRanked) and sight.together(facts, set()):
            if value.confidence is Confidence.NONE:
                return True
            if CAUSAL.search(chunk):
                named = _named_deploys(facts).difference(value.incident.services)
                deploys = [suspect.deploy for suspect in value.suspects[:1]]
                first = {name for one in deploys for name in (*names_of(one), one.service)}
                return bool(named) and named.isdisjoint(first)
    return sight.denying(facts, chunk)


def _named_deploys(facts: Sequence[Fact]) -> set[str]:
    """What names a deploy here: its number where one is given (versions can be shared), else all."""
    numbers = {fact.value for fact in facts if fact.kind is FactKind.DEPLOY}
    kinds = ANCHORS | {FactKind.SERVICE}
    return numbers or {fact.value for fact in facts if fact.kind in kinds}


def _there(value: Observed | None) -> set[str]:
    """The deploys that an empty search itself says exist: these it does not deny."""
    match value:
        case DeploysFound(nearest=nearest):
            return {name.lower().removeprefix("v") for name in nearest}
        case DiffShown(deploy=deploy):
            return names_of(deploy)
        case _:
            return set()


def _searched(observation: Observation) -> str:
    said = " ".join(str(value) for value in observation.arguments.values())
    return f"{observation.result.text} {said}".lower()


def _sought(fact: Fact, searched: str) -> bool:
    plain = fact.kind in {FactKind.DEPLOY, FactKind.NUMBER}
    needle = fact.value if plain else fact.said.lower().strip('`“”"')
    return bool(re.search(rf"(?<![\w.]){re.escape(needle)}(?!\w)", searched))


def causal_problems(text: str, cited: Sequence[Observation], grounds: Grounds) -> list[str]:
    """A cause needs a ranking, its confidence, and its first suspect."""
    text = as_read(text)
    bare = _unsaid(text)
    if not CAUSAL.search(bare):
        return []
    rankings = [o.result.value for o in cited if isinstance(o.result.value, SuspectsRanked)]
    ranked = max(rankings, key=lambda r: r.confidence.rank, default=None)
    suspects = ranked.suspects if ranked else ()
    deploys = [s.deploy for s in (suspects if _WEAK.search(bare) else suspects[:1])]
    found = _blames(text, cited, deploys, grounds)
    if found.too_many:
        return [f"{text.strip()[:60]!r} names too many causes at once: make it several claims"]
    blames = list(found)
    if not blames:
        return []
    if ranked is None:
        return ["it names a cause, but cites no ranking of suspects (search_deploy with incident)"]
    if ranked.confidence is Confidence.NONE or not deploys:
        return ["the tool says that no deploy explains it: a cause cannot be named"]
    if ranked.confidence is not Confidence.HIGH and not _HEDGED.search(bare):
        return [f"the tool's confidence is {ranked.confidence.value}: say 'most likely'"]
    wrong = next((blame for blame in blames if not blame.holds), None)
    return [_not_first(wrong.said, deploys, grounds.facts_in)] if wrong else []


def _unsaid(text: str, cover: str = " ") -> str:
    """The text with what it quotes covered, so that places in it stay the same."""
    if '"' in text or "`" in text or "“" in text:
        return _SAID.sub(lambda m: cover * len(m[0]), text)
    return text


def _blames(
    text: str, cited: Sequence[Observation], deploys: Sequence[Deploy], grounds: Grounds
) -> Blames:
    known = _known(text, cited, deploys, grounds)
    said = plain(_SAID.sub(lambda m: _as_name(m[0], known.names), text), grounds.facts_in.catalog)
    clauses: list[Clause] = []
    for chunk, joined in chunks(said):
        start = said.index(chunk, clauses[-1].end if clauses else 0)
        end = start + len(chunk)
        if clauses and _ASIDE.search(chunk):
            clauses[-1] = replace(clauses[-1], end=end)
        else:
            clauses.append(Clause(start, end, joined))
    return Blames(said, clauses, known)


def _as_name(said: str, shown: frozenset[str]) -> str:
    """Code that is a plain name as that name, other code as shown or not, a quotation as nothing."""
    if said[0] != "`":
        return " "
    code = said[1:-1]
    if " " not in code:
        return code
    return NAMED_CODE if " ".join(code.lower().split()) in shown else OTHER_CODE


def _spoken(deploy: Deploy) -> set[str]:
    """What a deploy goes by in a text that is ``plain``."""
    return {*names_of(deploy), one_word(deploy.service)}


def _known(
    text: str, cited: Sequence[Observation], deploys: Sequence[Deploy], grounds: Grounds
) -> Known:
    """What may be blamed: these deploys, and what the evidence shows of them."""
    values = [o.result.value for o in cited]
    names = {name for deploy in deploys for name in _spoken(deploy)}
    pieces = {f for f in grounds.facts_in(text) if f.kind in {FactKind.CODE, FactKind.PATH}}
    sight = grounds.sight(cited, quotations=False)
    shown = {f.value.lower() for f in pieces if deploys and sight.together([f], names)}
    ids = {deploy.id for deploy in deploys}
    diffs = [v for v in values if isinstance(v, DiffShown) and v.deploy.id in ids]
    keys = [h.key.lower() for diff in diffs for h in diff.highlights]
    words = [_TELLING.findall(key) for key in keys]
    heads = {*keys, *(each[-1] for each in words if each)}
    ranked = [v for v in values if isinstance(v, SuspectsRanked)]
    listed = [i for v in values if isinstance(v, IncidentsFound) for i in v.incidents]
    incidents = [*(v.incident for v in ranked), *listed]
    affected = {one_word(name) for i in incidents for name in (i.id, *i.services)}
    seen = [s.deploy for v in ranked for s in v.suspects]
    seen += [d for v in values if isinstance(v, DeploysFound) for d in v.deploys]
    seen += [d for v in values if isinstance(v, DiffShown) for d in (v.deploy, v.base) if d]
    rest = [deploy for deploy in seen if deploy.id not in ids]
    others = {name for deploy in rest for name in _spoken(deploy)}
    others |= set(map(one_word, grounds.facts_in.catalog.values()))
    return Known(
        names=frozenset(names | shown),
        others=frozenset(others - names),
        settings=frozenset(word for each in words for word in each),
        heads=frozenset(heads | {f"{head}s" for head in heads}),
        affected=frozenset(affected - names),
        people=frozenset(str(deploy.actor).lower() for deploy in deploys),
    )


def _not_first(said: str, allowed: Sequence[Deploy], facts_in: FactReader) -> str:
    facts = facts_in(said)
    names = {name for deploy in allowed for name in names_of(deploy)}
    services = {deploy.service for deploy in allowed}
    wrong = [f for f in facts if f.kind is FactKind.DEPLOY and f.value not in names]
    wrong = wrong or [f for f in facts if f.kind is FactKind.SERVICE and f.value not in services]
    blamed = repr(wrong[0].said) if wrong else "what it blames"
    return (
        f"{blamed} is not the tool's first suspect: that is {allowed[0].service} {allowed[0].label}"
    )
