"""What later deploys do to a suspected change: put it back, take back a part, or leave it.

Owns holding each deploy after onset against the first suspect, and the sentence about it. A later
deploy counts when it is of the suspect's service, or of one between it and the incident. Knows no
weight.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from tools.candidates import Candidate, Later
from tools.catalog import Catalog
from tools.evidence import ChangeText, names_of, share_undone
from tools.records import Deploy, Incident, LaterDeploy, Mending
from tools.symptoms import Term
from tools.wording import clean, span

RESOLVED_WITHIN = timedelta(minutes=45)
"""A deploy that ended an incident was out at most so long before its end."""
UNDONE_ENOUGH = 0.2
"""Less overlap than this between two changes is chance."""
UNDONE_FULLY = 0.5
"""From this share on, a later change is a fix or a revert of this one and nothing else."""
FEWEST_LINES = 2
"""One line that is the same again is chance."""
LITTLE_LEFT = 0.35
"""A change of which so little still stands is gone, whoever took back the rest."""
RARE = 2
"""A name of code in more changes than this ties no two of them together."""
SHOWN = 12

_NEVER = datetime.min.replace(tzinfo=UTC)
_BROAD = re.compile(r"^[A-Z]{1,4}$|(?:Error|Exception|Warning)$|^\d+$")
"""Precise words that are the same in many failures."""
_SIGNS = re.compile(r"[\"'`]")
_CODE = re.compile(r"(?![#/*;])\S")
MENDS = frozenset({Mending.ROLLED_BACK, Mending.TAKES_BACK})
_ORDER = (
    Mending.ROLLED_BACK,
    Mending.TAKES_BACK,
    Mending.TOUCHES,
    Mending.PARTLY,
    Mending.NOTHING,
)


@dataclass(frozen=True)
class _Held:
    """A later deploy held against the suspect; ``words`` say what was seen."""

    later: Later
    mending: Mending
    words: str


def find_mending(
    suspect: Candidate,
    candidates: Sequence[Candidate],
    incident: Incident,
    onset: datetime,
    catalog: Catalog,
    terms: Sequence[Term],
) -> tuple[LaterDeploy, ...]:
    """The deploys after onset that could have mended it, the likeliest first."""
    held = list(_own(suspect, terms))
    held += _others(suspect, candidates, incident, catalog, terms)
    last = _last_before_end(held, incident)
    found = [
        LaterDeploy(
            deploy=one.later.deploy,
            after_onset=max(timedelta(0), (one.later.deploy.at or onset) - onset),
            mending=one.mending,
            mended=one is last,
            text=_sentence(one, suspect, incident if one is last else None),
        )
        for one in held
    ]
    found.sort(key=lambda one: (not one.mended, _ORDER.index(one.mending), one.after_onset))
    return tuple(found[:SHOWN])


def none_mends(suspect: Candidate, later: Sequence[LaterDeploy]) -> str | None:
    """The sentence when no later deploy mended the suspect's change, else ``None``."""
    if any(one.mended or one.mending in MENDS for one in later):
        return None
    return f"no later deploy on record takes back what {version_of(suspect.deploy)} changed"


def version_of(deploy: Deploy) -> str:
    """``httpx deploy 4417 (0.28.0)``: a deploy that people may look for by either name."""
    name = f"{clean(deploy.service, 60)} deploy {clean(deploy.label, 60)}"
    return (
        f"{name} ({clean(deploy.ref, 60)})" if deploy.ref and deploy.ref != deploy.label else name
    )


def _own(suspect: Candidate, terms: Sequence[Term]) -> Iterator[_Held]:
    """The suspect's own service: line by line, what of the change still stands after each."""
    change = suspect.text
    came: set[str] = set(change.added_lines) if change else set()
    gone: set[str] = set(change.removed_lines) if change else set()
    size = len(came) + len(gone)
    name = version_of(suspect.deploy)
    for later in suspect.later:
        if later.restores:
            yield _Held(later, Mending.ROLLED_BACK, f"puts back what ran before {name}")
            continue
        if change is None or later.text is None or not size:
            continue
        stood = len(came) + len(gone)
        came = (came - later.text.removed_lines) | (change.added_lines & later.text.added_lines)
        gone = (gone - later.text.added_lines) | (change.removed_lines & later.text.removed_lines)
        left = len(came) + len(gone)
        undone = f"takes back {size - left:,} of the {size:,} lines that {name} changed"
        share = share_undone(change, later.text)
        if share >= UNDONE_FULLY or (left < stood and left / size <= LITTLE_LEFT):
            yield _Held(later, Mending.TAKES_BACK, f"reverts it in effect: it {undone}")
        elif _part(share, stood, left, size):
            still = _still(came, terms)
            yield _Held(later, Mending.PARTLY, f"does not take back all: it {undone}{still}")
        else:
            yield _Held(later, Mending.NOTHING, f"does not take back what {name} changed")


def _part(share: float, stood: int, left: int, size: int) -> bool:
    """Whether enough was taken back, by this deploy or with those before it, to be no chance."""
    together = left < stood and (size - left) / size >= UNDONE_ENOUGH
    return size - left >= FEWEST_LINES and (share >= UNDONE_ENOUGH or together)


def _still(came: set[str], terms: Sequence[Term]) -> str:
    """Up to three of the added lines that still stand, as code: the incident's words first."""

    def order(line: str) -> tuple[bool, int, str]:
        return not any(term.needle in line.lower() for term in terms), len(line), line

    bare = {_SIGNS.sub("", one).strip(" {[(,:;") for one in came if _CODE.match(one)}
    lines = sorted((one for one in bare if len(one) > 3), key=order)
    shown = ", ".join(f"`{clean(line, 50)}`" for line in lines[:3])
    return f"; still there: {shown}" if shown else ""


def _others(
    suspect: Candidate,
    candidates: Sequence[Candidate],
    incident: Incident,
    catalog: Catalog,
    terms: Sequence[Term],
) -> Iterator[_Held]:
    """Services between the suspect and the incident: a deploy that adapts to the change."""
    own = {catalog.canonical(name) for name in incident.services}
    users = set(catalog.dependents(suspect.deploy.service))
    known = Counter(name for one in candidates for name in names_of(one.text))
    touched = frozenset(name for name in names_of(suspect.text) if known[name] <= RARE)
    name = version_of(suspect.deploy)
    seen: set[str] = set()
    for candidate in candidates:
        service = candidate.deploy.service
        if service == suspect.deploy.service or service not in own | users or service in seen:
            continue
        seen.add(service)
        for later in candidate.later:
            if words := _adapts(later.text, terms, touched):
                shown = ", ".join(f"`{clean(word, 40)}`" for word in words)
                said = f"changes lines with {shown}, as {name} did"
                yield _Held(later, Mending.TOUCHES, said)
            else:
                yield _Held(later, Mending.NOTHING, f"does not touch what {name} changed")


def _adapts(
    text: ChangeText | None, terms: Sequence[Term], touched: frozenset[str]
) -> tuple[str, ...]:
    """Up to three words that a later change shares with the incident or with the suspect alone."""
    if text is None:
        return ()
    said = [
        t.shown for t in terms if t.precise and not _BROAD.search(t.shown) and text.hits(t) >= 1
    ]
    shared = sorted(touched & names_of(text), key=lambda name: (-len(name), name))
    return tuple(dict.fromkeys([*said[:2], *shared[:2]]))[:3]


def _sentence(one: _Held, suspect: Candidate, ended: Incident | None) -> str:
    """What the deploy did; with ``ended``, how soon the incident ended after it."""
    name, at = version_of(one.later.deploy), one.later.deploy.at
    if ended is None or ended.resolved_at is None or at is None:
        return f"{name} {one.words}"
    after = span(ended.resolved_at - at)
    if one.mending is Mending.NOTHING:
        other = f"changes other lines than {version_of(suspect.deploy)}"
        return f"{name} {other}; the incident ended {after} after {name}"
    return f"{name} {one.words}; the incident ended {after} after {name}"


def _last_before_end(held: Sequence[_Held], incident: Incident) -> _Held | None:
    """The last deploy before the incident ended, of the likeliest service."""
    near = [one for one in held if ended_with(one.later, incident)]
    telling = [one for one in near if one.mending is not Mending.NOTHING] or near
    services = {one.later.deploy.service for one in telling[:1]}
    same = [one for one in near if one.later.deploy.service in services]
    return max(same, key=lambda one: one.later.deploy.at or _NEVER, default=None)


def ended_with(later: Later, incident: Incident) -> bool:
    """Whether the incident ended shortly after this deploy."""
    end, at = incident.resolved_at, later.deploy.at
    return bool(end and at and timedelta(0) <= end - at <= RESOLVED_WITHIN)
