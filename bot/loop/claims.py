"""What is wrong with one claim: facts that stand in no cited row, denials and causes that nobody
established (M20).

Pure. A claim is read in chunks ("…, …; … and …"): the facts of one chunk must stand together in one
row. A chunk that names no deploy speaks of the one named before it. Knows no answer and no run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from bot.loop.facts import Fact, FactKind, facts_in
from bot.loop.guard import guarded
from bot.loop.rows import Row, Rows, holds, names_of
from bot.loop.scratchpad import Observation, Scratchpad
from tools.base import Status
from tools.records import Confidence, Deploy, DeploysFound, DiffShown, Observed, SuspectsRanked

_SAID = re.compile(r"“[^“”]*”|\"[^\"\n]*\"|`[^`\n]*`")
_NEGATIVE = guarded(
    "no|ne|without|cannot|isnt|dont|didnt|n't|n’t",
    r"\b(?:no|not|none|never|neither|nor|nothing|without|cannot|isnt|dont|didnt)\b|n['’]t\b",
)
_ONLY = re.compile(r"^\W*no\W+only\b", re.IGNORECASE)
"""``No: only deploy 12``: that there was no other, which a whole list of one shows."""
_CAUSAL = guarded(
    r"caus|culprit|brok|responsible|blame|due|triggered|led|introduced|took|brought|behind",
    r"\b(?:caus\w+|root cause|culprit|broke|broken by|responsible for|to blame|blame for|because of"
    r"|due to|triggered|led to|introduced by|brought down|took down|is behind|was behind)\b",
)
_SUBJECT_AFTER = re.compile(
    r"\b(?:(?:caused|triggered|broken|introduced|explained)\s+by|because of|due to"
    r"|(?:root )?cause\w*(?: of [^,;]{0,200}?)?\s{0,9}(?:is|was|:)|culprit\s*(?:is|was|:))",
    re.IGNORECASE,
)
_HEDGED = guarded(
    r"like|probab|possib|may|might|could|perhaps|suspect|candidate|runner|unclear|appear|seem",
    r"\b(?:likely|likeliest|probabl[ey]|possibl[ey]|may|might|could|perhaps|suspects?|suspected"
    r"|candidates?|runner-up|unclear|appears?|seems?|first suspect)\b",
)
_WEAK = guarded(
    r"may|might|could|possib|perhaps|candidate|runner|unclear|less",
    r"\b(?:may|might|could|possibl[ey]|perhaps|candidates?|runner-up|unclear|less likely)\b",
)
_BREAKS = re.compile(
    r"[;•\n,.\s](?:(?<=[;•\n])\s*|(?<=[,.])\s+|(?<=\s)(?<!\s\s)\s*+(?:(?:[–—]|and|but|while|whereas)\s+"
    r"|(?=(?:against|compared (?:with|to)|over|since|than|instead of)\s)))"
)
_IN_BRACKETS = re.compile(r"\([^()]*\)")
_ASIDE = re.compile(
    r"^(?:against|compared (?:with|to)|over|since|than|instead of)\b", re.IGNORECASE
)
_ANCHORS = frozenset({FactKind.DEPLOY, FactKind.NUMBER, FactKind.VERSION, FactKind.SHA})


class Grounds:
    """The rows of each citable observation, made when first asked for."""

    def __init__(self, pad: Scratchpad) -> None:
        self.pad = pad
        self.catalog: Mapping[str, str] = pad.question.catalog
        self._made: dict[str, Rows] = {}

    def rows(self, observation: Observation) -> Rows:
        if observation.id not in self._made:
            self._made[observation.id] = Rows(observation.result, self.catalog)
        return self._made[observation.id]


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
    text = _with_names_quoted(text, cited, grounds)
    return [*_chunk_problems(text, cited, grounds), *causal_problems(text, cited, grounds.catalog)]


def _with_names_quoted(text: str, cited: Sequence[Observation], grounds: Grounds) -> str:
    """The claim with the names of people as quotations, where they hold what reads as facts: one
    who deploys may be called by a URL, or by a number, and says nothing more by that.
    """
    people = {name for observation in cited for name in grounds.rows(observation).people}
    for name in sorted((one for one in people if len(one) > 1), key=len, reverse=True):
        if name not in text or not _reads_as_more(name, grounds.catalog):
            continue
        for before, after in (("by ", ""), ("(", ")")):
            text = text.replace(f"{before}{name}{after}", f"{before}“{name}”{after}")
    return text


def _reads_as_more(name: str, catalog: Mapping[str, str]) -> bool:
    shapes = (_NEGATIVE, _CAUSAL, _BREAKS)
    return bool(facts_in(name, catalog)) or any(shape.search(name) for shape in shapes)


def chunks(text: str) -> Iterator[tuple[str, bool]]:
    """The claim in pieces that each say one thing; brackets, quotations and code stay whole. With
    each, whether "and" joins it to the piece before: then it goes on about the same file.
    """
    masked = _IN_BRACKETS.sub(_masked, _SAID.sub(_masked, text))
    start, joined = 0, False
    for found in _BREAKS.finditer(masked):
        yield text[start : found.start()], joined
        start, joined = found.end(), found[0].strip() == "and"
    yield text[start:], joined


def _masked(match: re.Match[str]) -> str:
    return "x" * len(match[0])


def _chunk_problems(text: str, cited: Sequence[Observation], grounds: Grounds) -> list[str]:
    ids = ", ".join(o.id for o in cited)
    problems: list[str] = []
    about: set[str] = set()
    file: tuple[Fact, ...] = ()
    for chunk, joined in chunks(text):
        facts = facts_in(chunk, grounds.catalog)
        files = tuple(f for f in facts if f.kind is FactKind.PATH)
        if joined and facts and not files:
            facts = (*facts, *file)
        else:
            file = files if len(files) == 1 else ()
        quotations = not _CAUSAL.search(chunk)
        sight = _Sight(cited, grounds, quotations=quotations)
        named = sight.deploys_in(facts)
        if _NEGATIVE.search(_SAID.sub(" ", chunk)):
            if not _denied(chunk, facts, cited, sight):
                problems.append(f"nothing in {ids} shows that {chunk.strip()!r}")
        elif not sight.together(facts, named or about):
            problems += _missing(facts, sight, ids)
        if named and not _ASIDE.search(chunk.strip()):
            about = named
    return problems


def _missing(facts: Sequence[Fact], sight: _Sight, ids: str) -> list[str]:
    """Which facts stand nowhere; or, if each stands somewhere, that they do not belong together."""
    absent = [f for f in facts if not sight.together([f], set())]
    if absent:
        return [f"{f.kind.value} {f.said!r} does not occur in {ids}" for f in absent]
    said = ", ".join(dict.fromkeys(fact.said for fact in facts))
    return [f"{said}: these do not belong together in {ids}"]


class _Sight:
    """What the cited observations show, seen from one chunk."""

    def __init__(self, cited: Sequence[Observation], grounds: Grounds, *, quotations: bool) -> None:
        self._quotations = quotations
        self._sources = [
            grounds.rows(o)
            for o in cited
            if o.result.status is Status.OK or o.result.value is not None
        ]
        self._rows = [row for source in self._sources for row in source.all]
        self._common = [source.root for source in self._sources if not source.root.deploys]

    def deploys_in(self, facts: Sequence[Fact]) -> set[str]:
        """The deploys that these facts name, by any of their names."""
        known: set[str] = set().union(*(row.deploys for row in self._rows))
        named = {f.value for f in facts if f.kind in _ANCHORS and f.value in known}
        for fact in facts:
            if fact.kind is FactKind.SHA:
                named |= {name for name in known if name.startswith(fact.value)}
        return named

    def together(self, facts: Sequence[Fact], about: set[str]) -> bool:
        """Whether one row, with what encloses it and what is known of its deploy, holds them all."""
        if not facts:
            return True
        if any(self._covers(row, facts, about) for row in self._rows):
            return True
        lines = (line for source in self._sources for line in source.lines_for(facts))
        return any(self._covers(line, facts, about) for line in lines)

    def _covers(self, row: Row, facts: Sequence[Fact], about: set[str]) -> bool:
        chain = list(row.chain())
        deploys = set().union(*(one.deploys for one in chain))
        if about and deploys and not deploys & about:
            return False
        seen = [*chain, *self._common]
        if deploys:
            seen += [r for r in self._rows if r.deploys & deploys]
        return all(holds(seen, fact, quotations=self._quotations) for fact in facts)

    def denying(self, facts: Sequence[Fact]) -> bool:
        """Whether a tool's own sentence holds these facts and says no."""
        return any(
            _NEGATIVE.search(words) and all(holds([row], f, quotations=False) for f in facts)
            for row in self._rows
            for words in row.words
        )


def _denied(chunk: str, facts: Sequence[Fact], cited: Sequence[Observation], sight: _Sight) -> bool:
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
    kinds = _ANCHORS | {FactKind.SERVICE}
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


def causal_problems(
    text: str, cited: Sequence[Observation], catalog: Mapping[str, str]
) -> list[str]:
    """A cause needs a ranking, its confidence, and its first suspect."""
    bare = _SAID.sub(" ", text)
    causal = _CAUSAL.search(bare)
    if causal is None or _NEGATIVE.search(bare):
        return []
    rankings = [o.result.value for o in cited if isinstance(o.result.value, SuspectsRanked)]
    if not rankings:
        return ["it names a cause, but cites no ranking of suspects (search_deploy with incident)"]
    ranked = max(rankings, key=lambda r: r.confidence.rank)
    if ranked.confidence is Confidence.NONE or not ranked.suspects:
        return ["the tool says that no deploy explains it: a cause cannot be named"]
    if ranked.confidence is not Confidence.HIGH and not _HEDGED.search(bare):
        return [f"the tool's confidence is {ranked.confidence.value}: say 'most likely'"]
    after = _SUBJECT_AFTER.search(bare)
    subject = bare[after.end() :] if after else bare[: causal.start()]
    allowed = ranked.suspects if _WEAK.search(bare) else ranked.suspects[:1]
    return _wrong_subject(facts_in(subject, catalog), [s.deploy for s in allowed])


def _wrong_subject(facts: Sequence[Fact], allowed: Sequence[Deploy]) -> list[str]:
    names = {name for deploy in allowed for name in names_of(deploy)}
    services = {deploy.service for deploy in allowed}
    deploys = [f for f in facts if f.kind in _ANCHORS]
    blamed = [f for f in facts if f.kind is FactKind.SERVICE]
    wrong = [f for f in deploys if f.kind is FactKind.DEPLOY and f.value not in names]
    if not wrong and blamed and not any(f.value in services for f in blamed):
        wrong = blamed
    if not wrong:
        return []
    first = allowed[0]
    return [
        f"{wrong[0].said!r} is not the tool's first suspect: that is {first.service} {first.label}"
    ]
