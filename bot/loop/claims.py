"""What is wrong with one claim: facts that stand in no cited row, denials and causes that nobody
established (M20).

Pure. A claim is read in chunks ("…, …; … and …"): the facts of one chunk must stand together in one
row. A chunk that names no deploy speaks of the one named before it. Knows no answer and no run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from bot.loop.facts import Fact, FactKind, FactReader
from bot.loop.grounds import ANCHORS, NEGATIVE, Grounds, Sight
from bot.loop.guard import folded, guarded
from bot.loop.people import with_names_quoted
from bot.loop.rows import names_of
from bot.loop.scratchpad import Observation
from tools.base import Status
from tools.records import (
    Confidence,
    Deploy,
    DeploysFound,
    DiffShown,
    Observed,
    SuspectsRanked,
)

_SAID = re.compile(r"“[^“”]*”|\"[^\"\n]*\"|`[^`\n]*`")
_ONLY = re.compile(r"^\W*no\W+only\b", re.IGNORECASE)
"""``No: only deploy 12``: that there was no other, which a whole list of one shows."""
_CAUSAL = guarded(
    r"caus|culprit|brok|responsible|blame|due|triggered|led|introduced|took|brought|behind|explains"
    r"|stem|originat|result|why|reason",
    r"\b(?:caus\w+|root cause|culprit|broke|broken by|responsible|to blame|blame for|because"
    r"|due to|triggered|led to|introduced by|(?:brought|took)(?: \S+)? down|is behind|was behind"
    r"|explains|stem\w* from|originat\w+ (?:in|from|with)|result(?:ed|ing) in|(?:is|was) why"
    r"|the reason)\b",
)
_SUBJECT_AFTER = re.compile(
    r"\b(?:(?:caused|triggered|broken|introduced|explained)\s+by|because(?: of)?|due to"
    r"|stem\w* from|originat\w+ (?:in|from|with)|the reason (?:is|was)"
    r"|(?:root )?cause\w*(?: of [^,;]{0,200}?)?\s{0,9}(?:is|was|:)|culprit\s*(?:is|was|:))",
    re.IGNORECASE,
)
_SUBJECT_ENDS = re.compile(r"[,;]\s")
_HEDGED = guarded(
    r"like|probab|possib|may|might|could|perhaps|suspect|candidate|runner|unclear|appear|seem",
    r"\b(?:likely|likeliest|probabl[ey]|possibl[ey]|may|might|could|perhaps|suspects?|suspected"
    r"|candidates?|runner-up|unclear|appears?|seems?|first suspect)\b",
)
_WEAK = guarded(
    r"may|might|could|possib|perhaps|candidate|runner|unclear|less",
    r"\b(?:may|might|could|possibl[ey]|perhaps|candidates?|runner-up|unclear|less likely)\b",
)
_BECAUSE = re.compile(r"\bbecause\b(?! of\b)", re.IGNORECASE)
_RANKED = guarded(
    "likely|suspect|rank|ruled|confidence|candidate",
    r"\b(?:(?:less |un)likely|suspects?|rank\w*|ruled out|confidence|candidates?)\b",
)
"""Words of a ranking: the ``because`` after them gives its reason, and not what broke."""
_TELLING = re.compile(r"[a-z]{4,}")
_REFERS_BACK = re.compile(
    r"(?:\W|(?:it|its|this|that|these|they|which|the|one|and|so|first|same|new|latest|deploy(?:ment)?"
    r"|release|rollout|change|commit|suspect|most|more|less|very|likely|likeliest|probably|possibly"
    r"|perhaps|may|might|could|must|has|have|had|is|was|were|be|been|what)\b)*",
    re.IGNORECASE,
)
"""A subject that names nothing itself: it is the deploy that was spoken of before."""
_BREAKS = re.compile(
    r"[;•\n,.\s](?:(?<=[;•\n])\s*|(?<=[,.])\s+|(?<=\s)(?<!\s\s)\s*+(?:(?:[–—]|and|but|while|whereas)\s+"
    r"|(?=(?:against|compared (?:with|to)|over|since|than|instead of)\s)))"
)
_IN_BRACKETS = re.compile(r"\([^()]*\)")
_ASIDE = re.compile(
    r"^(?:against|compared (?:with|to)|over|since|than|instead of)\b", re.IGNORECASE
)
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
    return [*_chunk_problems(text, cited, grounds), *causal_problems(text, cited, grounds.facts_in)]


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
        sight = grounds.sight(cited, quotations=not _CAUSAL.find(low))
        named = sight.deploys_in(facts)
        if NEGATIVE.find(_unsaid(low)):
            if not _denied(chunk, facts, cited, sight):
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
            first = {*names_of(value.suspects[0].deploy), value.suspects[0].deploy.service}
            named = _named_deploys(facts)
            if _CAUSAL.search(chunk) and named and not named & first:
                return True
    return sight.denying(facts)


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


def causal_problems(text: str, cited: Sequence[Observation], facts_in: FactReader) -> list[str]:
    """A cause needs a ranking, its confidence, and its first suspect."""
    bare = _unsaid(text)
    if not _CAUSAL.search(bare):
        return []
    pieces = [piece for piece in (text, *_clauses(text)) if _names_cause(piece)]
    if not pieces:
        return []
    rankings = [o.result.value for o in cited if isinstance(o.result.value, SuspectsRanked)]
    if not rankings:
        return ["it names a cause, but cites no ranking of suspects (search_deploy with incident)"]
    ranked = max(rankings, key=lambda r: r.confidence.rank)
    if ranked.confidence is Confidence.NONE or not ranked.suspects:
        return ["the tool says that no deploy explains it: a cause cannot be named"]
    if ranked.confidence is not Confidence.HIGH and not _HEDGED.search(bare):
        return [f"the tool's confidence is {ranked.confidence.value}: say 'most likely'"]
    deploys = [s.deploy for s in (ranked.suspects if _WEAK.search(bare) else ranked.suspects[:1])]
    changed = _changed_words(cited, deploys)
    problems = (_wrong_subject(facts_in, _subject(piece), deploys, changed) for piece in pieces)
    return next(filter(None, problems), [])


def _unsaid(text: str, cover: str = " ") -> str:
    """The text with what it quotes covered, so that places in it stay the same."""
    if '"' in text or "`" in text or "“" in text:
        return _SAID.sub(lambda m: cover * len(m[0]), text)
    return text


def _clauses(text: str) -> Iterator[str]:
    """The chunks of a claim; those that "and" joins are one, since one verb may serve both."""
    clause = ""
    for chunk, joined in chunks(text):
        if not joined:
            yield clause
            clause = ""
        clause = f"{clause} and {chunk}" if joined else chunk
    yield clause


def _names_cause(piece: str) -> bool:
    bare = _unsaid(_without_reason(piece))
    return bool(_CAUSAL.search(bare)) and not NEGATIVE.search(bare)


def _without_reason(piece: str) -> str:
    """What is said of a ranking, or of a cause, without the reason that is given for saying so."""
    bare = _unsaid(piece)
    because = _BECAUSE.search(bare)
    if because is None:
        return piece
    said = bare[: because.start()]
    return piece[: because.start()] if _CAUSAL.search(said) or _RANKED.search(said) else piece


def _subject(piece: str) -> str:
    """What a piece that names a cause blames."""
    piece = _without_reason(piece)
    bare = _unsaid(piece)
    if after := _SUBJECT_AFTER.search(bare):
        end = _SUBJECT_ENDS.search(bare, after.end())
        return piece[after.end() : end.start() if end else len(piece)]
    causal = _CAUSAL.search(bare)
    return piece[: causal.start()] if causal else ""


def _changed_words(cited: Sequence[Observation], deploys: Sequence[Deploy]) -> set[str]:
    """The words of the settings that cited diffs of these deploys show as changed."""
    ids = {deploy.id for deploy in deploys}
    diffs = (o.result.value for o in cited if isinstance(o.result.value, DiffShown))
    settings = (h for diff in diffs if diff.deploy.id in ids for h in diff.highlights)
    return {word for h in settings for word in _TELLING.findall(h.key.lower())}


def _wrong_subject(
    facts_in: FactReader, subject: str, allowed: Sequence[Deploy], changed: set[str]
) -> list[str]:
    facts = facts_in(subject)
    names = {name for deploy in allowed for name in names_of(deploy)}
    services = {deploy.service for deploy in allowed}
    blamed = [f for f in facts if f.kind is FactKind.SERVICE]
    wrong = [f for f in facts if f.kind is FactKind.DEPLOY and f.value not in names]
    if not wrong and blamed and not any(f.value in services for f in blamed):
        wrong = blamed
    first = f"that is {allowed[0].service} {allowed[0].label}"
    if wrong:
        return [f"{wrong[0].said!r} is not the tool's first suspect: {first}"]
    if any(_is_one_of(fact, names | services) for fact in facts) or _REFERS_BACK.fullmatch(subject):
        return []
    if changed.intersection(_TELLING.findall(subject.lower())):
        return []
    return [f"what it blames is not the tool's first suspect: {first}"]


def _is_one_of(fact: Fact, names: set[str]) -> bool:
    """Whether a fact names one of these, or is a piece of a change that stands in the evidence."""
    if fact.kind is FactKind.SHA:
        return any(name.startswith(fact.value) for name in names)
    return fact.value in names or fact.kind in {FactKind.CODE, FactKind.PATH}
