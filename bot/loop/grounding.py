"""The goal check between the signal and the reply: facts of a claim against its observations (M6).

Pure. What a single claim may say is ``claims.py``'s; here stand the whole answer: its headline, the
parts of the question (M21), the confidence, the runner-up, and what may still be said of an answer
that was rejected. Knows the scratchpad; decides nothing about the run.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bot.loop.claims import claim_problems
from bot.loop.grounds import Grounds
from bot.loop.outcome import Answer, AnswerArguments, Cited, Claim
from bot.loop.question import Part, PartKind
from bot.loop.rows import names_of
from bot.loop.scratchpad import Observation, Scratchpad
from tools.records import (
    Confidence,
    Deploy,
    DeploysFound,
    DiffShown,
    IncidentsFound,
    Suspect,
    SuspectsRanked,
)

NOTHING = "I found nothing that answers this."
"""The headline of an answer without claims, by code: prose that nothing backs reaches nobody."""

SHORTEST_SHA = 7
_WORD = re.compile(r"[\w.-]{3,}")
_ENDING = re.compile(r"[eds](?<=[a-z]{4}.)(?:(?<=e)[ds])?$", re.MULTILINE)
_IN_ANY_QUESTION = frozenset(
    {"what", "which", "who", "when", "why", "how", "the", "that", "this", "and", "was", "were"}
    | {"did", "does", "has", "have", "had", "are", "for", "with", "from"}
    | {"deploy", "releas", "servic", "incident"}
)
"""Words that tell no part of a question from another."""
_CAUSE_NAMED = re.compile(r"\b(?:caus\w+|culprit|suspect|broke|behind|blame)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Verdict:
    """``accepted`` when nothing is wrong. Else ``problems`` tell the model what to mend, and
    ``salvage`` is what may still be said: the claims that hold, if they answer a part.
    """

    accepted: Answer | None
    problems: tuple[str, ...]
    salvage: Answer | None


def check(arguments: AnswerArguments, pad: Scratchpad) -> Verdict:
    """Hold an answer against the scratchpad's observations."""
    grounds = Grounds(pad)
    problems: list[str] = []
    held: list[Claim] = []
    for number, claim in enumerate(arguments.claims, 1):
        wrong = claim_problems(claim.text, claim.evidence, grounds)
        problems += [f"claim {number}: {text}" for text in wrong]
        if not wrong:
            held.append(claim)
    cited = tuple(dict.fromkeys(e for claim in arguments.claims for e in claim.evidence))
    headline = claim_problems(arguments.headline, cited, grounds) if arguments.claims else []
    if not arguments.claims and not arguments.unknowns:
        problems.append("there are no claims: make at least one, or list what is unknown")
    problems += [f"headline: {text}" for text in headline]
    listed = [_words(unknown) for unknown in arguments.unknowns]
    open_parts = [part for part in unanswered(pad, held) if not _is_named(part, listed)]
    problems += [
        f'the question also asks "{part.words}": answer it, or list it under unknowns'
        for part in open_parts
    ]
    if not problems:
        return Verdict(_answer(arguments, held, pad), (), None)
    return Verdict(
        None, tuple(problems), _salvage(arguments, held, pad, keep_headline=not headline)
    )


def unanswered(pad: Scratchpad, claims: Sequence[Claim]) -> list[Part]:
    """The parts of the question that no claim's evidence speaks to (M21)."""
    cited = [pad.evidence[e] for c in claims for e in c.evidence if e in pad.evidence]
    return unanswered_by(pad, cited)


def unanswered_by(pad: Scratchpad, observations: Sequence[Observation]) -> list[Part]:
    """The parts of the question that none of these observations speaks to."""
    return [p for p in pad.question.parts if not any(_answers(o, p) for o in observations)]


def _answers(observation: Observation, part: Part) -> bool:
    match part.kind, observation.result.value:
        case _, None:  # first, because most are: the classes are looked up one by one
            return False
        case PartKind.CAUSE, SuspectsRanked() | IncidentsFound():
            return True
        case ((PartKind.CHANGES | PartKind.ROLLBACK), DiffShown(deploy=deploy)):
            asked = part.deploy.asked if part.deploy else None
            if asked is None:
                named = part.deploy.service if part.deploy else part.service
                return part.kind is PartKind.CHANGES or named == deploy.service
            return _goes_by(asked, deploy, observation)
        case PartKind.CHANGES, DeploysFound(asked_deploy=asked):
            return part.deploy is not None and asked == part.deploy.asked
        case PartKind.CHANGES, SuspectsRanked(confidence=confidence):
            return part.deploy is None and confidence is Confidence.NONE
        case PartKind.CHANGES, IncidentsFound():
            return part.deploy is None
        case (
            (PartKind.WHO_WHEN | PartKind.COMMIT),
            (DeploysFound() | DiffShown() | SuspectsRanked()),
        ):
            return True
        case (
            (PartKind.LISTING | PartKind.SHIPPED | PartKind.RUNNING | PartKind.LIVE),
            DeploysFound(),
        ):
            return True
        case PartKind.OWNER, (DeploysFound() | SuspectsRanked() | IncidentsFound()):
            return True
        case ((PartKind.INCIDENT | PartKind.INCIDENTS), (IncidentsFound() | SuspectsRanked())):
            return True
        case PartKind.ROLLBACK, DeploysFound(asked_deploy=str() as asked):
            return part.deploy is not None and asked == part.deploy.asked
        case (
            (
                PartKind.WAS_IT
                | PartKind.FIX
                | PartKind.BEFORE_ONSET
                | PartKind.SETTING
                | PartKind.ROLLBACK
            ),
            (SuspectsRanked() | IncidentsFound()),
        ):
            return True
        case PartKind.WAS_IT, DeploysFound(asked_deploy=asked, deploys=()):
            return part.deploy is not None and asked == part.deploy.asked
        case ((PartKind.SHIPPED | PartKind.MOVED), IncidentsFound()):
            return True
        case PartKind.MOVED, DiffShown(path=path):
            return path is not None
        case _:
            return False


def _goes_by(asked: str, deploy: Deploy, observation: Observation) -> bool:
    """Whether the question's name is one of the deploy's, or the one that the tool found it by."""
    name = asked.lower()
    given = {str(value).lower() for value in observation.arguments.values()}
    return (
        name.removeprefix("v") in names_of(deploy) or is_sha_of(name, deploy.sha) or name in given
    )


def is_sha_of(asked: str, sha: str | None) -> bool:
    """Whether a name is the beginning of a commit id: a short number never is."""
    return len(asked) >= SHORTEST_SHA and bool(sha) and str(sha).startswith(asked.lower())


def _is_named(part: Part, unknowns: Sequence[set[str]]) -> bool:
    """Whether a line of unknowns, as its words, speaks of this part: they share a telling word."""
    words = _words(part.words)
    telling = words - _IN_ANY_QUESTION or words
    return not all(telling.isdisjoint(unknown) for unknown in unknowns)


def _words(text: str) -> set[str]:
    """The words without their endings: what "caused" it is "the cause"."""
    lines = "".join([f"{word.strip('.-')}\n" for word in _WORD.findall(text.lower())])
    return set(_ENDING.sub("", lines).splitlines())


def _answer(arguments: AnswerArguments, claims: Sequence[Claim], pad: Scratchpad) -> Answer:
    """The answer as it is posted: confidence capped, the runner-up and the gaps added by code."""
    cited_ids = dict.fromkeys(e for claim in claims for e in claim.evidence)
    cited = [pad.evidence[e] for e in cited_ids]
    confidence = arguments.confidence
    shown = list(claims)
    not_checked: list[str] = []
    for observation in cited:
        value = observation.result.value
        if isinstance(value, SuspectsRanked):
            confidence = min(confidence, value.confidence, key=lambda c: c.rank)
            if runner_up := _runner_up(value, arguments, claims):
                shown.append(Claim(text=runner_up, evidence=(observation.id,)))
        if isinstance(value, SuspectsRanked | DeploysFound | IncidentsFound):
            not_checked += value.not_searched
        if isinstance(value, DeploysFound) and value.not_searched and _hangs_on_gaps(value):
            confidence = min(confidence, Confidence.LOW, key=lambda c: c.rank)
    return Answer(
        headline=arguments.headline if claims else NOTHING,
        claims=tuple(shown),
        unknowns=arguments.unknowns,
        not_checked=tuple(dict.fromkeys(not_checked)),
        confidence=confidence,
        cited=tuple(Cited(observation=o.id, tool=o.tool) for o in cited),
        steps=len(pad.steps) + 1,
        model=pad.model,
    )


def _hangs_on_gaps(value: DeploysFound) -> bool:
    """Whether what was not searched could turn the result: nothing was found, or in no order."""
    first = next(iter(value.deploys), None)
    return first is None or (value.asked_deploy is None and first.at is None)


def _runner_up(
    ranked: SuspectsRanked, arguments: AnswerArguments, claims: Sequence[Claim]
) -> str | None:
    """The second suspect as a claim, when a cause is named and the answer leaves it out (M20)."""
    if len(ranked.suspects) < 2 or ranked.confidence is Confidence.NONE:
        return None
    said = " ".join([arguments.headline, *(claim.text for claim in claims)])
    if not _CAUSE_NAMED.search(said) or re.search(r"\brunner-up\b", said, re.IGNORECASE):
        return None
    second: Suspect = ranked.suspects[1]
    why = second.reasons[0].text if second.reasons else "ranked second"
    return f"Runner-up: {second.deploy.service} {second.deploy.label}, {why}"


def _salvage(
    arguments: AnswerArguments, held: Sequence[Claim], pad: Scratchpad, *, keep_headline: bool
) -> Answer | None:
    """What may be said of a rejected answer: the claims that hold, if they answer any part."""
    open_parts = unanswered(pad, held)
    if not held or (pad.question.parts and len(open_parts) == len(pad.question.parts)):
        return None
    listed = [part.words for part in open_parts]
    dropped = len(arguments.claims) - len(held)
    if dropped:
        more = "1 more claim was withheld: nothing backed it"
        many = f"{dropped} more claims were withheld: nothing backed them"
        listed.append(more if dropped == 1 else many)
    mended = arguments.model_copy(
        update={
            "headline": arguments.headline if keep_headline else held[0].text,
            "unknowns": tuple(dict.fromkeys([*arguments.unknowns, *listed])),
        }
    )
    return _answer(mended, held, pad)
