"""What one observation can support, as rows: facts that belong together (M20).

A deploy is a row, a changed setting is a row under its diff, a line of text is a row. Facts that a
claim puts together must stand together in one row, with what encloses it: so a time of one deploy
never passes for another's. Echoes of the arguments are left out; quotations of other people's text
are kept apart. Pure; knows no claim.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from itertools import islice

from pydantic import BaseModel

from bot.loop.facts import Fact, FactKind, FactReader, folded
from tools.base import ToolResult
from tools.records import Deploy, DiffShown, PageRead, Record, TextRead

Pair = tuple[FactKind, str]
_SENTENCES = frozenset({"ruled_out", "not_searched", "base_why"})
"""Fields that hold a tool's own sentences, each about something of its own."""
_PEOPLE = frozenset({"actor", "author", "authors"})
_COUNTS = {
    "files_total": "files",
    "commits_total": "commits",
    "added": "added",
    "removed": "removed",
}
"""Fields that count something which a claim names beside the number."""
_RESPELLED = frozenset(
    {FactKind.TIME, FactKind.DATE, FactKind.DURATION, FactKind.NUMBER, FactKind.COUNT}
)
"""Kinds whose values a text may spell with other characters than a claim."""
_BY_VALUE = frozenset(
    {FactKind.SHA, FactKind.VERSION, FactKind.PERSON, FactKind.DEPLOY, FactKind.INCIDENT}
)
"""Kinds that a claim introduces with a word of its own: ``commit 3f2a9bc``, ``by maya``, ``v2.3``."""
_BY_RULE = frozenset(
    {FactKind.CODE, FactKind.QUOTE, FactKind.INCIDENT, FactKind.PERSON, FactKind.NAME}
    | {FactKind.SHA, FactKind.PATH, FactKind.NUMBER}
)
"""Kinds that a row may hold though the pair of kind and value is not among its facts."""
_WORD = re.compile(r"\w+")
_MOST_LINES = 200
"""Lines of one text that are looked at for one word."""
_MOST_TRIES = 2_000
"""Places where words begin in a text that are tried for a word's end: in ``aaaa`` each is one."""
LINES_A_CHUNK = 4_000
"""Lines looked at for one chunk of a claim: every line that could hold it, in ten results."""
LINES_AN_ANSWER = 20_000
ROWS_AN_ANSWER = 200_000
READ_AN_ANSWER = 200_000
"""Lines and typed rows looked at, and characters read for facts, for one whole answer: what ordinary
answers never need. A hostile one stops after a fraction of a second; what is left is not found.
"""
_WHOLE_TEXT = 400_000
"""Characters of a text that are searched for facts which no typed row holds."""


@dataclass
class Row:
    """``deploys`` are the numbers, refs and SHAs that the row is about; ``quoted`` holds what only
    other people's words say; in ``whole`` only a quotation is looked for.
    """

    facts: set[Pair] = field(default_factory=set)
    shas: set[str] = field(default_factory=set)
    paths: set[str] = field(default_factory=set)
    words: list[str] = field(default_factory=list)
    quoted: set[Pair] = field(default_factory=set)
    quotes: list[str] = field(default_factory=list)
    whole: list[str] = field(default_factory=list)
    deploys: set[str] = field(default_factory=set)
    parent: Row | None = None

    def chain(self) -> Iterator[Row]:
        row: Row | None = self
        while row is not None:
            yield row
            row = row.parent


def holds(rows: Sequence[Row], fact: Fact, *, quotations: bool) -> bool:
    """Whether the fact stands in any of these rows. ``quotations`` admits other people's words."""
    pair = fact[:2]
    for row in rows:
        if pair in row.facts or (quotations and pair in row.quoted):
            return True
    return fact.kind in _BY_RULE and any(_by_rule(row, fact, quotations=quotations) for row in rows)


def _by_rule(row: Row, fact: Fact, *, quotations: bool) -> bool:
    """Whether a row says a fact of such a kind with another value, or in its words."""
    match fact.kind:
        case FactKind.SHA:
            return any(sha.startswith(fact.value) for sha in row.shas)
        case FactKind.PATH:
            return any(p == fact.value or p.endswith(f"/{fact.value}") for p in row.paths)
        case FactKind.NUMBER:
            return (FactKind.DEPLOY, fact.value) in row.facts
        case _:
            texts = _texts(row, fact, quotations=quotations)
            return any(_has_words(text, fact.value.lstrip("@")) for text in texts)


def _texts(row: Row, fact: Fact, *, quotations: bool) -> list[str]:
    if fact.kind is FactKind.QUOTE:
        return [*row.words, *row.quotes, *row.whole]
    return [*row.words, *row.quotes] if quotations else row.words


def _has_words(text: str, needle: str) -> bool:
    """Whether the words stand in the text with nothing growing on at either end."""
    at = -1
    for _ in range(_MOST_TRIES):
        at = text.find(needle, at + 1)
        if at < 0:
            return False
        end = at + len(needle)
        before = at == 0 or not (_wordy(text[at - 1]) and _wordy(needle[0]))
        after = end == len(text) or not (_wordy(text[end]) and _wordy(needle[-1]))
        if before and after:
            return True
    return False


def _looked_for(fact: Fact) -> str | None:
    """What each line that holds the fact has in it, in lower case, if there is one such piece."""
    if fact.kind in _BY_VALUE:
        return fact.value.lower().lstrip("@")
    word = _WORD.search(fact.said.lower())
    return word and word[0]


def _wordy(char: str) -> bool:
    return char.isalnum() or char == "_"


class Reading:
    """What may still be looked at, for a chunk and for an answer: one for all the rows of a check."""

    def __init__(self) -> None:
        self._chunk = LINES_A_CHUNK
        self._lines = LINES_AN_ANSWER
        self._rows = ROWS_AN_ANSWER
        self._characters = READ_AN_ANSWER
        self.spent = False
        """Whether something was not looked at in this chunk: what was not found may be there."""

    def begin_chunk(self) -> None:
        self._chunk = LINES_A_CHUNK
        self.spent = False

    def may_look(self) -> bool:
        """Whether one more line may be looked at, which counts it."""
        if not self._chunk or not self._lines:
            self.spent = True
            return False
        self._chunk -= 1
        self._lines -= 1
        return True

    def may_look_through(self, rows: int) -> bool:
        """Whether so many typed rows may be looked at, which counts them."""
        self._rows -= rows
        self.spent |= self._rows < 0
        return self._rows >= 0

    def may_read(self, line: str) -> bool:
        """Whether this line may be read for facts, which counts its characters."""
        self._characters -= len(line)
        self.spent |= self._characters < 0
        return self._characters >= 0


Placed = tuple[tuple[Row, ...], frozenset[str]]
"""A row with all that encloses it, and the deploys that these are about."""


class Rows:
    """The rows of one result, and its text for what no typed row holds. ``people`` are the names of
    those who did something in it; ``paged`` the rows of the result that this one is a page of: what
    was quoted there is quoted here.
    """

    def __init__(
        self, result: ToolResult, facts_in: FactReader, reading: Reading, paged: Rows | None
    ) -> None:
        self._facts_in = facts_in
        self._reading = reading
        self._paged = paged
        self.all: list[Row] = []
        self.people: set[str] = set()
        self.root = Row()
        value = result.value
        if isinstance(value, Record):
            self._fill(value, self.root)
        self.all.append(self.root)
        typed = value is not None and not isinstance(value, DiffShown | PageRead | TextRead)
        self._whole = "" if typed else result.text[:_WHOLE_TEXT]
        self._others = isinstance(value, TextRead)
        self._quotes = [quote for row in self.all for quote in row.quotes if quote]
        self._often: dict[str, int] = {}
        self._line_rows: dict[int, Row] = {}
        if self._others and self._lines and reading.may_read(self._lines[0]):
            # Its head says what all the rest is about.
            self._read(self._lines[0], self.root)
        if not isinstance(value, Record):
            self._put(facts_in(result.summary), self.root.facts, self.root)
        self.placed = [_placed(row) for row in self.all]

    @cached_property
    def _lines(self) -> list[str]:
        return self._whole.splitlines()

    @cached_property
    def _lowered(self) -> str:
        return "\n".join(self._lines).lower()

    def lines_for(self, facts: Sequence[Fact]) -> Iterator[Row]:
        """The lines of the text that could hold all these facts, as rows under the root: those
        with the rarest word that is looked for, then those where it may be spelled otherwise. Of
        the root's facts only those may be asked for that stand in other people's words.
        """
        left = facts
        if self.root.quotes:
            left = [fact for fact in facts if not holds((self.root,), fact, quotations=True)]
        yield from self._lines_with(left)
        spelled = [fact for fact in left if fact.kind not in _RESPELLED]
        if len(spelled) < len(left):
            yield from self._lines_with(spelled)

    def _lines_with(self, facts: Sequence[Fact]) -> Iterator[Row]:
        words = dict.fromkeys(filter(None, map(_looked_for, facts)))
        rarest = min(filter(self._often_in, words), key=self._often.__getitem__, default=None)
        places = self._places_of(rarest) if rarest else () if words else range(len(self._lines))
        for at in islice(places, _MOST_LINES):
            if not self._reading.may_look():
                return
            if at not in self._line_rows:
                if not self._reading.may_read(self._lines[at]):
                    return
                self._line_rows[at] = self._read(self._lines[at], Row(parent=self.root))
            yield self._line_rows[at]

    def _often_in(self, word: str) -> int:
        """How often the word is in the text."""
        if word not in self._often:
            self._often[word] = self._lowered.count(word)
        return self._often[word]

    def _places_of(self, word: str) -> Iterator[int]:
        """The lines that hold the word."""
        text = self._lowered
        line, end = 0, 0
        at = text.find(word)
        while at >= 0:
            line += text.count("\n", end, at)
            yield line
            end = text.find("\n", at)
            at = text.find(word, end) if end >= 0 else -1

    def _read(self, line: str, row: Row) -> Row:
        """The row with what a line of the text says; in a text of others that is a quotation."""
        said = folded(line)
        others = self.said_by_others(said)
        facts, words = (row.quoted, row.quotes) if others else (row.facts, row.words)
        words.append(said)
        self._put(self._facts_in(line), facts, row)
        return row

    def said_by_others(self, line: str) -> bool:
        """Whether a line holds other people's words: a commit's subject in a diff, any in a file."""
        quoted = self._others or any(_has_words(line, quote) for quote in self._quotes)
        return quoted or (self._paged is not None and self._paged.said_by_others(line))

    def _fill(self, record: Record, row: Row) -> None:
        if isinstance(record, Deploy):
            row.deploys |= names_of(record)
        for name in type(record).model_fields:
            if name in record.echoes:
                continue
            if name == "text" and isinstance(record, PageRead | TextRead):
                row.whole.append(folded(record.text))  # its facts stand on its lines
                continue
            for item in _flat(getattr(record, name)):
                if isinstance(item, Record):
                    child = Row(parent=row)
                    self._fill(item, child)
                    self.all.append(child)
                    self._lift(name, item, child, row)
                elif isinstance(item, str) and name in _SENTENCES:
                    child = Row(parent=row)
                    self._text(name, item, child)
                    self.all.append(child)
                else:
                    self._leaf(name, item, row, quoted=name in record.quotes)

    def _lift(self, name: str, item: Record, child: Row, row: Row) -> None:
        """A record that *is* its parent's subject lends it its facts; a base stands for itself."""
        if isinstance(item, Deploy) and name == "deploy":
            row.deploys |= child.deploys
        elif isinstance(item, Deploy) and name == "base":
            child.parent = None
        elif name == "incident":
            row.facts |= child.facts
            row.words += child.words
            row.quoted |= child.quoted
            row.quotes += child.quotes

    def _leaf(self, name: str, item: object, row: Row, *, quoted: bool) -> None:
        match item:
            case datetime():
                row.facts |= {
                    (FactKind.DATE, item.date().isoformat()),
                    (FactKind.TIME, f"{item:%H:%M}"),
                }
            case timedelta():
                row.facts |= {(FactKind.DURATION, f"{s:g}") for s in _roundings(item)}
            case bool():
                pass
            case int() | float():
                kind = FactKind.DEPLOY if name == "number" else FactKind.NUMBER
                row.facts.add((kind, str(item) if isinstance(item, int) else f"{item:.12g}"))
                if role := _COUNTS.get(name):
                    row.facts.add((FactKind.COUNT, f"{role} {item}"))
            case str() if quoted:
                row.quotes.append(folded(item))
                row.quoted |= {fact[:2] for fact in self._facts_in(item)}
            case str():
                self._text(name, item, row)
            case _:
                pass

    def _text(self, name: str, item: str, row: Row) -> None:
        row.words.append(folded(item))
        if name in {"sha", "base_sha"}:
            row.shas.add(item.lower())
        elif name in {"path", "previous_path"}:
            row.paths.add(item)
            row.paths.add(item.rsplit("/", 1)[-1])
        elif name in {"service", "services"}:
            row.facts.add((FactKind.SERVICE, self._facts_in.catalog.get(item.lower(), item)))
        elif name == "ref":
            row.facts.add((FactKind.VERSION, _version(item)))
        elif name == "nearest":
            row.facts.add((FactKind.DEPLOY, item))
        if name in _PEOPLE:
            self.people.add(item)
        else:
            self._put(self._facts_in(item), row.facts, row)

    def _put(self, found: Iterable[Fact], facts: set[Pair], row: Row) -> None:
        for fact in found:
            match fact.kind:
                case FactKind.SHA:
                    row.shas.add(fact.value)
                case FactKind.PATH:
                    row.paths.add(fact.value)
                case _:
                    facts.add(fact[:2])


def _placed(row: Row) -> Placed:
    chain = tuple(row.chain())
    return chain, frozenset().union(*(one.deploys for one in chain))


def names_of(deploy: Deploy) -> set[str]:
    """What a claim may call this deploy: its number, its version, its SHA, its id."""
    names = {deploy.id.lower(), _version(deploy.ref), (deploy.sha or "").lower()}
    if deploy.number is not None:
        names.add(str(deploy.number))
    return names - {""}


def _version(ref: str | None) -> str:
    return (ref or "").lower().removeprefix("v")


def _roundings(length: timedelta) -> set[float]:
    """A span in seconds, and as people round it to minutes, hours or days."""
    seconds = length.total_seconds()
    units = (1.0, 60.0, 3600.0, 86400.0)
    return {f(seconds / unit) * unit for unit in units for f in (int, round)}


def _flat(item: object) -> Iterator[object]:
    if isinstance(item, Iterable) and not isinstance(item, str | BaseModel):
        for one in item:
            yield from _flat(one)
    elif item is not None:
        yield item
