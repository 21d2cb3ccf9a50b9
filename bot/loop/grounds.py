"""What the cited observations show, seen at once: which facts stand together in them (M20).

Pure. Rows are made once for a check, and each set of facts is looked for once; what all of it may
cost is counted by ``rows.Reading``. Knows neither claims nor answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import takewhile

from bot.loop.facts import Fact, FactKind, FactReader, folded
from bot.loop.guard import guarded
from bot.loop.rows import Pair, Reading, Row, Rows, holds
from bot.loop.scratchpad import Observation, Scratchpad
from tools.base import Status
from tools.records import PageRead

NEGATIVE = guarded(
    "no|ne|without|cannot|isnt|dont|didnt|n't|n’t|unlikely|less likely",
    r"\b(?:no|not|none|never|neither|nor|nothing|without|cannot|isnt|dont|didnt|unlikely|less likely)\b"
    r"|n['’]t\b",
)
ANCHORS = frozenset({FactKind.DEPLOY, FactKind.NUMBER, FactKind.VERSION, FactKind.SHA})


class Grounds:
    """The rows of each citable observation, made when first asked for."""

    def __init__(self, pad: Scratchpad) -> None:
        self.pad = pad
        self.facts_in = FactReader(pad.question.catalog)
        self.reading = Reading()
        self._made: dict[str, Rows] = {}
        self._seen: dict[tuple[tuple[str, ...], bool], Sight] = {}

    def rows(self, observation: Observation) -> Rows:
        if observation.id not in self._made:
            paged = self._paged(observation)
            rows = self.rows(paged) if paged else None
            self._made[observation.id] = Rows(observation.result, self.facts_in, self.reading, rows)
        return self._made[observation.id]

    def sight(self, cited: Sequence[Observation], *, quotations: bool) -> Sight:
        key = (tuple([o.id for o in cited]), quotations)
        if key not in self._seen:
            self._seen[key] = Sight(cited, self, quotations=quotations)
        return self._seen[key]

    def _paged(self, page: Observation) -> Observation | None:
        """The earlier observation that this one is a page of."""
        value = page.result.value
        if not isinstance(value, PageRead):
            return None
        before = takewhile(lambda o: o.id != page.id, self.pad.evidence.values())
        return next((o for o in before if o.id == value.observation), None)


class Sight:
    """What the cited observations show, with or without other people's words."""

    def __init__(self, cited: Sequence[Observation], grounds: Grounds, *, quotations: bool) -> None:
        self._quotations = quotations
        self._reading = grounds.reading
        self._judged: dict[tuple[frozenset[Pair], frozenset[str]], bool] = {}
        self._sources = [
            grounds.rows(o)
            for o in cited
            if o.result.status is Status.OK or o.result.value is not None
        ]
        self._rows = [row for source in self._sources for row in source.all]
        self._of_deploys = [row for row in self._rows if row.deploys]
        self._known: set[str] = set().union(*(row.deploys for row in self._of_deploys))
        self._placed = [placed for source in self._sources for placed in source.placed]
        self._common = [source.root for source in self._sources if not source.root.deploys]
        self._of: dict[frozenset[str], list[Row]] = {}

    def deploys_in(self, facts: Sequence[Fact]) -> set[str]:
        """The deploys that these facts name, by any of their names."""
        named = {f.value for f in facts if f.kind in ANCHORS and f.value in self._known}
        for fact in facts:
            if fact.kind is FactKind.SHA:
                named |= {name for name in self._known if name.startswith(fact.value)}
        return named

    def together(self, facts: Sequence[Fact], about: set[str]) -> bool:
        """Whether one row, with what encloses it and what is known of its deploy, holds them all."""
        key = (frozenset([fact[:2] for fact in facts]), frozenset(about))
        if key in self._judged:
            return self._judged[key]
        found = self._together(facts, about)
        if found or not self._reading.spent:
            self._judged[key] = found
        return found

    def _together(self, facts: Sequence[Fact], about: set[str]) -> bool:
        if not facts:
            return True
        if not self._reading.may_look_through(len(self._placed)):
            return False
        unknown: dict[frozenset[str], Sequence[Fact]] = {}
        for chain, deploys in self._placed:
            if not _may_be_about(deploys, about):
                continue
            if deploys not in unknown:
                unknown[deploys] = self._not_in(self._known_of(deploys), facts)
            if self._hold(chain, unknown[deploys]):
                return True
        for source in self._sources:
            left = unknown.get(frozenset(source.root.deploys))
            if left is None:  # it is about other deploys
                continue
            for line in source.lines_for(left):
                if self._hold((line,), left):
                    return True
        return False

    def _known_of(self, deploys: frozenset[str]) -> list[Row]:
        """The rows that are common to all, and those of these deploys."""
        if deploys not in self._of:
            of_deploys = (row for row in self._of_deploys if not row.deploys.isdisjoint(deploys))
            self._of[deploys] = [*self._common, *of_deploys]
        return self._of[deploys]

    def _not_in(self, rows: Sequence[Row], facts: Sequence[Fact]) -> list[Fact]:
        return [fact for fact in facts if not holds(rows, fact, quotations=self._quotations)]

    def _hold(self, rows: Sequence[Row], facts: Sequence[Fact]) -> bool:
        return all(holds(rows, fact, quotations=self._quotations) for fact in facts)

    def denying(self, facts: Sequence[Fact], said: str) -> bool:
        """Whether a tool's own sentence holds these facts, or the very words, and says no."""
        if not self._reading.may_look_through(len(self._denials)):
            return False
        if not facts:
            plain = folded(said).strip(" .,;:")
            return any(plain in word for row in self._denials for word in row.words)
        return any(all(holds([row], f, quotations=False) for f in facts) for row in self._denials)

    @cached_property
    def _denials(self) -> list[Row]:
        return [row for row in self._rows if any(map(NEGATIVE.search, row.words))]


def _may_be_about(deploys: frozenset[str], about: set[str]) -> bool:
    return not about or not deploys or not deploys.isdisjoint(about)
