"""The redactor of one run: finds secrets, gives each its mask, and walks a tool's result.

Owns the mask of every secret seen in the run. Secrets themselves are not kept, only keyed digests
of them, so that neither a trace nor a crash report of this object can show one.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from threading import Lock
from typing import TypeVar

from pydantic import BaseModel

from bot.redact import blocks, declared, places, settings, shapes, told
from bot.redact.gate import Gate
from bot.redact.names import secrecy
from bot.redact.spans import Span, merged
from bot.redact.traces import Traces
from bot.redact.values import MASKED, is_literal, is_number, searchable
from bot.redact.walk import walked
from tools.base import ToolResult
from tools.records import DiffShown, Highlight, Switch

ModelT = TypeVar("ModelT", bound=BaseModel)

_SHORTEST = 6
# What a secret of several lines is written with but does not consist of: signs of a diff, escapes,
# white space. Letters and digits are enough to tell one from another.
_LAYOUT = re.compile(r"(?:\\+[nrt]|[\W_])+")
_QUOTES = "\"'` "


_ANY = Gate((*blocks.SIGNS, *shapes.SIGNS, *places.SIGNS, *settings.SIGNS, *told.SIGNS))


def _found(text: str) -> Iterator[Span]:
    """Yield the secrets of ``text``, those that know their kind best first."""
    finders = (
        blocks.private_keys,
        blocks.kubernetes_secrets,
        shapes.find,
        places.find,
        settings.find,
        declared.find,
        told.find,
    )
    for find in finders:
        for span in find(text):
            if MASKED not in text[span.start : span.end]:
                yield span


def _with_settings(text: str, said: Mapping[str, str]) -> str:
    """Repeat the masks of settings where a text tells of them, also where it is cut within one."""
    for shown, masked in said.items():
        text = text.replace(shown, masked)
        stem = text.removesuffix("…")
        for length in range(min(len(shown), len(stem)) if stem is not text else 0, 5, -1):
            if stem.endswith(shown[:length]):
                text = stem[: len(stem) - length] + masked
                break
    return text


class Redactor:
    """Masks secrets (M19). One instance serves one run: the same secret gets the same mask in it,
    whichever thread asks.

    ``explanation`` is for the model's instructions.
    """

    explanation = (
        "[redacted: KIND] stands for a secret value that was taken out before you saw the text; "
        "the name beside it is real, and the code or configuration is not broken by it. The same "
        "mask is the same secret; #2, #3 … are other secrets of that kind, so a different number "
        "means a different value."
    )

    def __init__(self) -> None:
        self._salt = secrets.token_bytes(16)
        self._masks: dict[bytes, str] = {}
        self._seen: Counter[str] = Counter()
        self._naming = Lock()

    def text(self, text: str) -> str:
        """Return ``text`` with every secret masked; a text without one is returned as it is."""
        return self._text(text, None)

    def result(self, result: ToolResult) -> ToolResult:
        """Return ``result`` with every string of its text, summary and value redacted.

        What is masked in one place is masked in all, whole or in pieces.
        """
        traces = Traces()
        if isinstance(result.value, DiffShown):
            said = {
                shown.text: masked.text
                for shown in result.value.highlights
                if (masked := self._model(shown, traces)) is not shown
            }
            if said:
                summary, text = (
                    _with_settings(each, said) for each in (result.summary, result.text)
                )
                result = result.model_copy(update={"summary": summary, "text": text})
        first = self._model(result, traces)
        if not traces:
            return first
        return walked(first, _once(traces.masked), lambda model: _without_traces(model, traces))

    def _model(self, model: ModelT, traces: Traces) -> ModelT:
        """Read each text once: what a file holds stands in a result's text and in its value."""
        return walked(
            model,
            _once(lambda text: self._text(text, traces)),
            lambda each: self._own(each, traces),
        )

    def _text(self, text: str, traces: Traces | None) -> str:
        if len(text) < _SHORTEST:
            return text
        searched = searchable(text)
        if not _ANY.opens(searched):
            return text
        pieces: list[str] = []
        at = 0
        for span in merged(_found(searched)):
            mask = self._mask(text[span.start : span.end], span.kind, traces)
            pieces += (text[at : span.start], mask)
            at = span.end
        return "".join((*pieces, text[at:])) if pieces else text

    def _mask(self, secret: str, kind: str, traces: Traces | None) -> str:
        several = "\n" in secret or "PRIVATE KEY" in secret
        plain = _LAYOUT.sub("", secret) if several else secret
        digest = hashlib.blake2b(plain.encode(errors="replace"), key=self._salt).digest()
        with self._naming:
            known = self._masks.get(digest)
            if known is None:
                self._seen[kind] += 1
                number = self._seen[kind]
                known = f"[redacted: {kind}]" if number == 1 else f"[redacted: {kind} #{number}]"
                self._masks[digest] = known
        if traces is not None:
            traces.add(secret, known)
        return known

    def _own(self, model: BaseModel, traces: Traces) -> Mapping[str, object]:
        """Mask the values of a record whose name stands apart from them."""
        match model:
            case Highlight():
                return self._setting(model, traces)
            case Switch():
                return self._switch(model, traces)
            case _:
                return {}

    def _setting(self, shown: Highlight, traces: Traces) -> dict[str, str | None]:
        own = {"before": shown.before, "after": shown.after, "text": shown.text}
        for value in sorted({shown.before or "", shown.after or ""}, key=len, reverse=True):
            for secret, mask in self._secrets_of(shown.key, value, traces):
                own = {name: each and each.replace(secret, mask) for name, each in own.items()}
        masked = {name: each and self._text(each, traces) for name, each in own.items()}
        return {name: each for name, each in masked.items() if each != getattr(shown, name)}

    def _switch(self, switch: Switch, traces: Traces) -> dict[str, object]:
        def plain(value: str) -> str:
            for name in (switch.name, switch.variable):
                for secret, mask in self._secrets_of(name, value, traces):
                    return value.replace(secret, mask)
            return self._text(value, traces)

        new = {"default": plain(switch.default), "others": tuple(map(plain, switch.others))}
        return {name: each for name, each in new.items() if each != getattr(switch, name)}

    def _secrets_of(self, key: str, value: str, traces: Traces) -> Iterator[tuple[str, str]]:
        """Yield the secrets of a setting's whole value with their masks."""
        value, found = searchable(value), secrecy(key)
        whole = value.strip(_QUOTES)
        spans = list(told.within(key, value))
        if found and value[:1] not in {"{", "["} and is_literal(whole) and not is_number(whole):
            spans = [Span(value.index(whole), value.index(whole) + len(whole), found.kind)]
        for span in spans:
            secret = value[span.start : span.end]
            if MASKED not in secret:
                yield secret, self._mask(secret, span.kind, traces)


def _once(change: Callable[[str], str]) -> Callable[[str], str]:
    """Return ``change`` that reads equal texts once; what it leaves as it is stays the very same."""
    known: dict[str, str] = {}

    def changed(text: str) -> str:
        new = known.get(text)
        if new is None:
            new = known[text] = change(text)
        return text if new == text else new

    return changed


def _without_traces(model: BaseModel, traces: Traces) -> Mapping[str, object]:
    """Drop the names that were taken out of a secret."""
    if not isinstance(model, DiffShown):
        return {}
    kept = {
        "names_added": tuple(name for name in model.names_added if not traces.touches(name)),
        "names_removed": tuple(name for name in model.names_removed if not traces.touches(name)),
    }
    return {name: each for name, each in kept.items() if each != getattr(model, name)}
