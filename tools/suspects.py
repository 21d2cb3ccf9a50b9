"""Which changes could have caused an incident: ranked, with reasons and a calibrated confidence.

Owns turning the signs of a candidate into points and words, the order, and how sure one may be. The
weights are data in ``tools.weights``; the candidates come from ``tools.candidates``.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from tools.candidates import RECENT, Candidate, Candidates, Later, gather, links_of, named
from tools.catalog import Catalog
from tools.causes import external_cause, kinships_of
from tools.confidence import CLEARING, confidence_in
from tools.corpus import TELLING_KIND, Corpus, Found, share_of
from tools.evidence import names_of, share_undone
from tools.history import DeployHistory
from tools.mending import (
    RARE,
    UNDONE_ENOUGH,
    UNDONE_FULLY,
    ended_with,
    find_mending,
    none_mends,
)
from tools.next_action import next_action
from tools.records import (
    ChangeKind,
    Confidence,
    DeployStatus,
    Incident,
    Reason,
    Suspect,
    SuspectsRanked,
)
from tools.switches import find_switches
from tools.symptoms import Term, TermKind, terms_of
from tools.told_lines import told_lines
from tools.versions import version_step
from tools.weights import WEIGHTS, Sign, Weight, points_by_sign
from tools.wording import clean, span

BY_HOPS = (1.0, 0.97, 0.9, 0.8, 0.7)
"""Strength of a link by the hops of dependency between the incident's service and the change: what
breaks deep down breaks all that stands on it, but there is more of it.
"""
DOWNSTREAM = 0.35
"""A service that uses the broken one can only overload it."""
LATENT = timedelta(hours=48)
FORGOTTEN = timedelta(days=90)


async def rank_suspects(
    history: DeployHistory,
    catalog: Catalog,
    incident: Incident,
    asked: str,
    now: datetime,
    environment: str | None = None,
    weights: tuple[Weight, ...] = WEIGHTS,
) -> SuspectsRanked:
    """Rank what changed before the incident. Raises ``SourceError``."""
    onset = incident.onset or now
    links = links_of(incident, asked, catalog)
    candidates = await gather(history, catalog, incident, links, onset, now, environment)
    points = points_by_sign(weights)
    # Words are counted in megabytes of changed lines: a stop must be heard meanwhile.
    return await asyncio.to_thread(_ranked, candidates, incident, asked, catalog, onset, points)


def _ranked(
    candidates: Candidates,
    incident: Incident,
    asked: str,
    catalog: Catalog,
    onset: datetime,
    points: Mapping[Sign, float],
) -> SuspectsRanked:
    return _Ranking(candidates, incident, asked, catalog, onset, points).result()


class _Ranking:
    def __init__(
        self,
        candidates: Candidates,
        incident: Incident,
        asked: str,
        catalog: Catalog,
        onset: datetime,
        points: Mapping[Sign, float],
    ) -> None:
        self._candidates = candidates
        self._incident = incident
        self._asked = asked
        self._catalog = catalog
        self._onset = onset
        self._points = points
        self._said = f"{incident.title}. {incident.summary}"
        names = [*catalog.words(), incident.id]
        self._terms = terms_of(f"{self._said} {asked}", names)
        self._kinships = kinships_of(self._said)
        self._external = external_cause(self._said)
        related = tuple(term for _, terms in self._kinships for term in terms)
        self._corpus = Corpus([one.text for one in candidates.chosen], self._terms)
        self._enders, self._rare = _ends(candidates.chosen, incident)
        self._related = Corpus([one.text for one in candidates.chosen], related)

    def result(self) -> SuspectsRanked:
        pairs = [(self._suspect(one), one) for one in self._candidates.chosen]
        pairs.sort(key=lambda pair: _standing(pair[0]))
        suspects = tuple(suspect for suspect, _ in pairs)
        confidence = confidence_in(suspects, self._external)
        ranked = SuspectsRanked(
            asked=self._asked,
            incident=self._incident,
            onset=self._onset,
            suspects=suspects,
            confidence=confidence,
            considered=self._candidates.considered,
            why_none=self._external if confidence is Confidence.NONE else None,
            ruled_out=(*self._cleared(suspects), *self._candidates.ruled_out),
            not_searched=self._candidates.not_searched,
        )
        if confidence is Confidence.NONE:
            return ranked
        return ranked.model_copy(update=self._about(pairs[0][1]))

    def _about(self, first: Candidate) -> Mapping[str, object]:
        """What is known of the first suspect beyond its rank."""
        later = find_mending(
            first,
            self._candidates.chosen,
            self._incident,
            self._onset,
            self._catalog,
            self._terms,
        )
        return {
            "later": later,
            "none_mends": none_mends(first, later),
            "lines": told_lines(first.text, self._corpus.found(first.text)),
            "switches": find_switches(first.text),
            "next_action": next_action(first, later, self._catalog),
        }

    def _cleared(self, suspects: Sequence[Suspect]) -> Iterator[str]:
        for suspect in suspects:
            cleared = [reason.text for reason in suspect.reasons if reason.name in CLEARING]
            if cleared and suspect.before_onset <= RECENT:
                before = span(suspect.before_onset)
                yield f"{named(suspect.deploy)} finished {before} before onset but {cleared[0]}"

    def _suspect(self, candidate: Candidate) -> Suspect:
        reasons = [reason for sign in _SIGNS if (reason := self._reason(sign, candidate))]
        reasons.sort(key=lambda reason: -abs(reason.score))
        return Suspect(
            deploy=candidate.deploy,
            score=round(sum(reason.score for reason in reasons), 3),
            before_onset=candidate.before_onset,
            reasons=tuple(reasons),
        )

    def _reason(self, sign: Sign, candidate: Candidate) -> Reason | None:
        strength, text = _SIGNS[sign](self, candidate)
        score = round(self._points[sign] * strength, 3)
        return Reason(name=sign.value, score=score, text=text) if score else None

    # --- signs: strength from 0 to 1, and the words for it ------------------------------------

    def service(self, candidate: Candidate) -> tuple[float, str]:
        link = candidate.link
        if link is None:
            return 0.0, ""
        if link.hops == 0:
            return BY_HOPS[0], "the incident's own service"
        if not link.upstream:
            return DOWNSTREAM, f"{link.path[0]} uses {link.path[-1]}"
        strength = BY_HOPS[min(link.hops, len(BY_HOPS) - 1)]
        if link.hops == 1:
            return strength, f"{link.path[0]} depends on {link.path[-1]}"
        return strength, f"{link.path[0]} depends on it through {', '.join(link.path[1:-1])}"

    def recent(self, candidate: Candidate) -> tuple[float, str]:
        before = candidate.before_onset
        hours = before / timedelta(hours=1)
        strength = max(0.0, 1 - math.log1p(hours) / math.log1p(FORGOTTEN / timedelta(hours=1)))
        if candidate.deploy.finished_at is None or candidate.deploy.finished_at > self._onset:
            return strength, "was in progress at onset"
        if before > LATENT:
            return strength, f"finished {span(before)} before onset: latent, if it is the cause"
        return strength, f"finished {span(before)} before onset"

    def words(self, candidate: Candidate) -> tuple[float, str]:
        found = self._corpus.found(candidate.text)
        if not found:
            return 0.0, ""
        text = candidate.text
        changed = [one for one in found if text and text.changes(one.term)]
        told = changed or found
        shown = _listed([one for one in told if not one.term.beside][:4])
        together = _listed([one for one in told if one.term.beside][:2])
        where = "changes lines with" if changed else "changes lines beside"
        joined = f" ({together} side by side)" if together else ""
        return share_of(found), f"{where} {shown or together}, words of the incident{joined}"

    def precise(self, candidate: Candidate) -> tuple[float, str]:
        found = [one for one in self._corpus.found(candidate.text) if one.term.precise]
        if not found:
            return 0.0, ""
        best = max(found, key=lambda one: self._corpus.rarity(one.term))
        strength = min(1.0, self._corpus.rarity(best.term) / 2.5)
        where = "in" if candidate.text and candidate.text.changes(best.term) else "beside"
        return strength, f"`{clean(best.term.shown, 40)}` of the incident is {where} its lines"

    def taken_away(self, candidate: Candidate) -> tuple[float, str]:
        if candidate.text is None:
            return 0.0, ""
        gone = [
            term
            for term in self._terms
            if term.kind in (TermKind.IDENTIFIER, TermKind.QUOTED)
            and candidate.text.takes_away(term)
        ]
        if not gone:
            return 0.0, ""
        return 1.0, f"removes lines with `{clean(gone[0].shown, 40)}`"

    def brought(self, candidate: Candidate) -> tuple[float, str]:
        text = candidate.text
        if text is None:
            return 0.0, ""
        new = [term for term in self._terms if term.precise and text.brings(term)]
        if not new:
            return 0.0, ""
        best = max(new, key=lambda term: (self._corpus.rarity(term), len(term.shown)))
        strength = min(1.0, self._corpus.rarity(best) / 2.0)
        return strength, f"brings lines with `{clean(best.shown, 60)}`"

    def kinship(self, candidate: Candidate) -> tuple[float, str]:
        found = self._related.found(candidate.text)
        if not found:
            return 0.0, ""
        kinds = ", ".join(kinship.name for kinship, terms in self._kinships if _any(terms, found))
        shown = ", ".join(f"`{one.term.shown}`" for one in found[:3])
        return share_of(found, TELLING_KIND), f"touches {shown}: usual in failures of {kinds}"

    def risky(self, candidate: Candidate) -> tuple[float, str]:
        risks = candidate.text.risks if candidate.text else ()
        if candidate.deploy.kind in (ChangeKind.FLAG, ChangeKind.CONFIG):
            return 1.0, f"a change of a {candidate.deploy.kind.value}"
        if not risks:
            return 0.0, ""
        return min(1.0, 0.5 + 0.25 * (len(risks) - 1)), clean("; ".join(risks[:3]), 200)

    def version(self, candidate: Candidate) -> tuple[float, str]:
        base = candidate.base
        step = version_step(base.ref, candidate.deploy.ref) if base else None
        if base is None or step is None:
            return 0.0, ""
        versions = f"{clean(base.ref, 40)} → {clean(candidate.deploy.ref, 40)}"
        return 1.0, f"a new {step} version: {versions}"

    def undone(self, candidate: Candidate) -> tuple[float, str]:
        best, words = 0.0, ""
        for later in candidate.later:
            share = _undone(candidate, later)
            if share > best:
                after = span((later.deploy.at or self._onset) - self._onset)
                label = clean(candidate.deploy.label, 40)
                part = "reverted in effect" if share >= UNDONE_FULLY else "partly taken back"
                how = "rolled back" if later.restores else part
                best, words = (
                    share,
                    f"{label} was {how} by {clean(later.deploy.label, 40)}, {after} after onset",
                )
        if best < UNDONE_ENOUGH:
            return 0.0, ""
        return min(1.0, best / UNDONE_FULLY), words

    def resolved(self, candidate: Candidate) -> tuple[float, str]:
        label = clean(candidate.deploy.label, 40)
        for later in candidate.later:
            if ended_with(later, self._incident) and _undone(candidate, later) >= UNDONE_ENOUGH:
                after = self._after_end(later)
                return 1.0, f"resolved {after} {clean(later.deploy.label, 40)} followed {label}"
        if candidate.link is None or not candidate.link.upstream:
            return 0.0, ""
        names = names_of(candidate.text) & self._rare
        for later in self._enders:
            shared = sorted(names & names_of(later.text), key=lambda name: (-len(name), name))
            if shared and later.deploy.service != candidate.deploy.service:
                name = f"`{clean(shared[0], 40)}`"
                ended = f"resolved {self._after_end(later)} {named(later.deploy)}"
                return 1.0, f"{ended}, which changes {name} as {label} did"
        return 0.0, ""

    def _after_end(self, later: Later) -> str:
        end = self._incident.resolved_at or self._onset
        return f"{span(end - (later.deploy.at or end))} after"

    def harmless(self, candidate: Candidate) -> tuple[float, str]:
        text = candidate.text
        if text is None or text.runs or not text.files:
            return 0.0, ""
        return 1.0, "changes documentation or tests only"

    def same(self, candidate: Candidate) -> tuple[float, str]:
        return (1.0, "put out the commit that was running already") if candidate.same else (0.0, "")

    def failed(self, candidate: Candidate) -> tuple[float, str]:
        failed = candidate.deploy.status is DeployStatus.FAILURE
        return (1.0, "the deploy failed") if failed else (0.0, "")


_SIGNS: Mapping[Sign, Callable[[_Ranking, Candidate], tuple[float, str]]] = {
    Sign.SERVICE: _Ranking.service,
    Sign.RECENT: _Ranking.recent,
    Sign.WORDS: _Ranking.words,
    Sign.PRECISE: _Ranking.precise,
    Sign.TAKEN_AWAY: _Ranking.taken_away,
    Sign.BROUGHT: _Ranking.brought,
    Sign.KINSHIP: _Ranking.kinship,
    Sign.RISKY: _Ranking.risky,
    Sign.VERSION: _Ranking.version,
    Sign.UNDONE: _Ranking.undone,
    Sign.RESOLVED: _Ranking.resolved,
    Sign.HARMLESS: _Ranking.harmless,
    Sign.SAME: _Ranking.same,
    Sign.FAILED: _Ranking.failed,
}


def _ends(
    candidates: Sequence[Candidate], incident: Incident
) -> tuple[tuple[Later, ...], frozenset[str]]:
    """The deploys after which the incident ended, newest first, and the names that few changed."""
    enders = {
        later.deploy.id: later
        for one in candidates
        for later in one.later
        if ended_with(later, incident)
    }
    if not enders:
        return (), frozenset()
    known = Counter(name for one in candidates for name in names_of(one.text))
    ordered = sorted(enders.values(), key=lambda later: str(later.deploy.at), reverse=True)
    return tuple(ordered), frozenset(name for name in known if known[name] <= RARE)


def _undone(candidate: Candidate, later: Later) -> float:
    if later.restores:
        return 1.0
    if candidate.text is None or later.text is None:
        return 0.0
    return share_undone(candidate.text, later.text)


def _listed(found: Sequence[Found]) -> str:
    return ", ".join(f"`{clean(one.term.shown, 40)}`" for one in found)


def _any(terms: Sequence[Term], found: Sequence[Found]) -> bool:
    return any(one.term in terms for one in found)


def _standing(suspect: Suspect) -> tuple[float, timedelta, str]:
    return -suspect.score, suspect.before_onset, suspect.deploy.label
