"""Made-up observations and true sentences about them, for testing what the goal check catches."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone

from support.scripted import found, nothing
from tools.base import ToolResult
from tools.records import (
    Commit,
    Confidence,
    Deploy,
    DeploysFound,
    DiffShown,
    Direction,
    FileChange,
    FileKind,
    FileStatus,
    Highlight,
    Incident,
    Reason,
    Suspect,
    SuspectsRanked,
)

SERVICES = ("checkout", "payments-api", "ledger", "web", "search", "auth", "mailer", "cart")
PEOPLE = ("maya-l", "jun-t", "release-bot", "imani.okafor", "tomasz-w", "ines-q")
FOLDERS = ("config", "src", "app", "lib", "db")
STEMS = ("retry", "pool", "client", "limits", "session", "cache", "router", "queue")
ENDINGS = ("yaml", "py", "toml", "json")
KEYS = ("retry.budget", "pool.size", "http.timeout", "cache.ttl", "queue.depth", "rate.limit")
MISSING = 19_999
"""The number of no deploy."""
UNCHANGED = "config/unchanged.yaml"
ONSET = datetime(2026, 11, 29, 2, 6, tzinfo=UTC)


@dataclass(frozen=True)
class Piece:
    """One fact of a sentence: ``spell`` writes the value in one of its spellings."""

    kind: str
    value: object
    spell: Callable[[object, random.Random], str]


@dataclass(frozen=True)
class Sentence:
    """``template`` has ``{name}`` for each piece; ``pools`` hold other values of the same kind that
    occur elsewhere in the same observation, each of them false here."""

    template: str
    pieces: dict[str, Piece]
    pools: dict[str, tuple[object, ...]]
    evidence: tuple[str, ...]

    def say(self, rng: random.Random, swap: dict[str, object] | None = None) -> str:
        values = {n: p.value for n, p in self.pieces.items()} | (swap or {})
        return self.template.format(
            **{n: piece.spell(values[n], rng) for n, piece in self.pieces.items()}
        )


@dataclass(frozen=True)
class World:
    results: tuple[ToolResult, ...]
    sentences: tuple[Sentence, ...]
    ranked: SuspectsRanked


def spell_number(value: object, rng: random.Random) -> str:
    return rng.choice((f"deploy {value}", f"deploy #{value}", f"Deploy {value}"))


def spell_plain(value: object, rng: random.Random) -> str:
    return str(value)


def spell_code(value: object, rng: random.Random) -> str:
    return f"`{value}`"


def spell_time(value: object, rng: random.Random) -> str:
    assert isinstance(value, datetime)
    shifted = value.astimezone(timezone(timedelta(hours=rng.choice((1, -5, 2)))))
    return rng.choice(
        (
            f"{value:%H:%M} UTC",
            f"{value:%H:%M}Z",
            f"{value:%Y-%m-%d %H:%M} UTC",
            f"{value:%Y-%m-%dT%H:%M:%S}Z",
            f"{shifted:%H:%M}{shifted:%z}",
        )
    )


def spell_span(value: object, rng: random.Random) -> str:
    assert isinstance(value, int)  # minutes
    hours, minutes = divmod(value, 60)
    forms = [f"{value} min", f"{value} minutes", f"{value}m", f"{value * 60} s"]
    if hours:
        forms.append(f"{hours} h {minutes} min")
    return rng.choice(forms)


def spell_sha(value: object, rng: random.Random) -> str:
    return str(value)[: rng.choice((7, 8, 12, 40))]


def spell_count(value: object, rng: random.Random) -> str:
    assert isinstance(value, int)
    return rng.choice((str(value), f"{value:,}"))


SPELL = {
    "deploy": spell_number,
    "service": spell_plain,
    "person": spell_plain,
    "time": spell_time,
    "span": spell_span,
    "sha": spell_sha,
    "version": spell_plain,
    "path": spell_plain,
    "setting": spell_code,
    "count": spell_count,
}


def make_deploys(rng: random.Random) -> tuple[Deploy, ...]:
    count = rng.randint(4, 7)
    number = rng.randint(1000, 9000)
    at = ONSET - timedelta(minutes=rng.randint(600, 1200))
    deploys = []
    services = rng.sample(SERVICES, k=min(count, len(SERVICES)))
    for index in range(count):
        number += rng.randint(1, 4)
        at += timedelta(minutes=rng.randint(11, 59))
        deploys.append(
            Deploy(
                number=number,
                id=f"id-{number}",
                service=services[index],
                sha="".join(rng.choice("0123456789abcdef") for _ in range(38)) + "a1",
                ref=f"v{rng.randint(1, 9)}.{rng.randint(0, 30)}.{index}",
                actor=PEOPLE[index % len(PEOPLE)],
                started_at=at,
                finished_at=at,
            )
        )
    return tuple(deploys)


def minutes_before(deploy: Deploy) -> int:
    assert deploy.at is not None
    return int((ONSET - deploy.at).total_seconds()) // 60


def make_ranking(rng: random.Random, deploys: tuple[Deploy, ...]) -> SuspectsRanked:
    order = rng.sample(deploys, k=len(deploys))
    return SuspectsRanked(
        asked="the incident",
        incident=Incident(id="INC-77", title="Orders fail", services=("orders",), started_at=ONSET),
        onset=ONSET,
        suspects=tuple(
            Suspect(
                deploy=d,
                score=9.0 - n,
                before_onset=timedelta(minutes=minutes_before(d)),
                reasons=(Reason(name="service", score=1, text=f"orders depends on {d.service}"),),
            )
            for n, d in enumerate(order)
        ),
        confidence=rng.choice((Confidence.HIGH, Confidence.MEDIUM, Confidence.LOW)),
        considered=97,
    )


def make_diff(rng: random.Random, deploy: Deploy, base: Deploy) -> DiffShown:
    stems = rng.sample(STEMS, k=5)
    paths = [f"{rng.choice(FOLDERS)}/{stem}.{rng.choice(ENDINGS)}" for stem in stems]
    keys = rng.sample(KEYS, k=3)
    highlights = []
    for index, key in enumerate(keys):
        before, after = rng.randint(3, 30) * 10 + index, rng.randint(31, 90) * 10 + index
        unit = rng.choice(("s", "ms", ""))
        highlights.append(
            Highlight(
                path=paths[index],
                key=key,
                before=f"{before}{unit}",
                after=f"{after}{unit}",
                text=f"{key}: {before}{unit} → {after}{unit}",
            )
        )
    sizes = rng.sample(range(2, 60), k=10)
    files = tuple(
        FileChange(
            path=path,
            status=FileStatus.MODIFIED,
            kind=FileKind.CODE,
            added=sizes[2 * n],
            removed=sizes[2 * n + 1],
        )
        for n, path in enumerate(paths)
    )
    return DiffShown(
        deploy=deploy,
        base=base,
        base_sha=base.sha,
        base_why="the previous successful deploy of the same service",
        direction=Direction.FORWARD,
        commits=tuple(
            Commit(
                sha="".join(rng.choice("0123456789abcdef") for _ in range(38)) + "b2",
                author=f"dev-{n}x",
                committed_at=ONSET - timedelta(days=2, minutes=n * 7),
                subject=f"Change {n}",
            )
            for n in range(3)
        ),
        commits_total=3,
        files=files,
        files_total=rng.randint(101, 180),
        added=rng.randint(200, 400),
        removed=rng.randint(401, 600),
        highlights=tuple(highlights),
        highlights_total=3,
    )


def sentences(
    deploys: tuple[Deploy, ...], diff: DiffShown, ranked: SuspectsRanked
) -> Iterator[Sentence]:
    def sentence(
        template: str,
        evidence: tuple[str, ...],
        pools: dict[str, tuple[object, ...]] | None = None,
        **facts: tuple[str, object],
    ) -> Sentence:
        pieces = {n: Piece(kind, value, SPELL[kind]) for n, (kind, value) in facts.items()}
        return Sentence(template, pieces, pools or {}, evidence)

    for d in deploys:
        others = [o for o in deploys if o is not d]
        pools: dict[str, tuple[object, ...]] = {
            "number": tuple(o.number for o in others),
            "service": tuple(o.service for o in others),
            "ref": tuple(o.ref for o in others),
            "at": tuple(o.at for o in others),
            "who": tuple(o.actor for o in others),
            "sha": tuple(o.sha for o in others),
            "span": tuple(minutes_before(o) for o in others),
        }
        for evidence in (("o1",), ("o2",)):
            yield sentence(
                "{number} ({service}, {ref}) finished {at}",
                evidence,
                pools,
                number=("deploy", d.number),
                service=("service", d.service),
                ref=("version", d.ref),
                at=("time", d.at),
            )
            yield sentence(
                "{number} was deployed by {who} at {at}",
                evidence,
                pools,
                number=("deploy", d.number),
                who=("person", d.actor),
                at=("time", d.at),
            )
            yield sentence(
                "{service} {ref} is commit {sha}, shipped by {who}",
                evidence,
                pools,
                service=("service", d.service),
                ref=("version", d.ref),
                sha=("sha", d.sha),
                who=("person", d.actor),
            )
        yield sentence(
            "{number} finished {at}, {span} before onset; orders depends on {service}",
            ("o1",),
            pools,
            number=("deploy", d.number),
            at=("time", d.at),
            span=("span", minutes_before(d)),
            service=("service", d.service),
        )
    number = ("deploy", diff.deploy.number)
    elsewhere = tuple(d.number for d in deploys if d.number != diff.deploy.number)
    for h in diff.highlights:
        settings = tuple(o.text for o in diff.highlights if o is not h)
        paths = tuple(f.path for f in diff.files if f.path != h.path)
        pools = {"number": elsewhere, "setting": settings, "path": paths}
        yield sentence(
            "{number} changed {files} files; {setting} in {path}",
            ("o3",),
            pools | {"files": (diff.added, diff.removed)},
            number=number,
            files=("count", diff.files_total),
            setting=("setting", h.text),
            path=("path", h.path),
        )
        yield sentence(
            "{number} set {key} from {before} to {after}",
            ("o3",),
            {
                "number": elsewhere,
                "key": tuple(o.key for o in diff.highlights if o is not h),
                "before": tuple(o.before for o in diff.highlights if o is not h),
                "after": tuple(o.after for o in diff.highlights if o is not h),
            },
            number=number,
            key=("setting", h.key),
            before=("version", h.before),
            after=("version", h.after),
        )
    for f in diff.files:
        rest = [o for o in diff.files if o is not f]
        yield sentence(
            "In {path} it added {added} lines and removed {removed} lines",
            ("o3",),
            {
                "path": tuple(o.path for o in rest),
                "added": tuple(o.added for o in rest),
                "removed": tuple(o.removed for o in rest),
            },
            path=("path", f.path),
            added=("count", f.added),
            removed=("count", f.removed),
        )
    first = ranked.suspects[0].deploy
    later = [s.deploy for s in ranked.suspects[1:]]
    for d in later:
        yield sentence(
            "{service} {number} did not cause the orders incident",
            ("o1",),
            {"number": (first.number,), "service": (first.service,)},
            number=("deploy", d.number),
            service=("service", d.service),
        )
    yield sentence(
        "There is no {number}",
        ("o4",),
        {"number": tuple(d.number for d in deploys[:3])},
        number=("deploy", MISSING),
    )
    yield sentence(
        "{number} did not change {path}",
        ("o5",),
        {"path": tuple(f.path for f in diff.files), "number": elsewhere},
        number=number,
        path=("path", UNCHANGED),
    )
    yield sentence(
        "{service} {number} most likely caused the orders incident",
        ("o1",),
        {
            "number": tuple(d.number for d in later),
            "service": tuple(d.service for d in later),
        },
        number=("deploy", first.number),
        service=("service", first.service),
    )


def make_world(seed: int) -> World:
    rng = random.Random(seed)
    deploys = make_deploys(rng)
    ranked = make_ranking(rng, deploys)
    listed = DeploysFound(asked="deploys", deploys=deploys, total=len(deploys))
    diff = make_diff(rng, deploys[-1], deploys[0])
    nearest = tuple(str(d.number) for d in deploys[:3])
    missing = DeploysFound(
        asked=f"deploy {MISSING}", asked_deploy=str(MISSING), deploys=(), total=0, nearest=nearest
    )
    results = (
        found("suspects", ranked),
        found("deploys", listed),
        found("diff", diff),
        nothing(f"There is no deploy {MISSING}; nearest are {', '.join(nearest)}.", missing),
        nothing(
            f"{UNCHANGED} was not changed by deploy {diff.deploy.number}.",
            diff.model_copy(update={"path": UNCHANGED, "files": (), "highlights": ()}),
        ),
    )
    return World(results, tuple(sentences(deploys, diff, ranked)), ranked)
