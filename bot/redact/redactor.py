"""The redactor of one run: finds secrets, gives each its mask, and walks a tool's result.

Owns the mask of every secret seen in the run. Secrets themselves are not kept, only keyed digests
of them, so that neither a trace nor a crash report of this object can show one.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections import Counter
from collections.abc import Iterator, Mapping
from enum import Enum
from operator import is_
from typing import TypeVar

from pydantic import BaseModel

from bot.redact import blocks, places, settings, shapes
from bot.redact.gate import Gate
from bot.redact.names import Secrecy, secrecy
from bot.redact.spans import Span, merged
from bot.redact.values import MASKED, is_literal, is_number, searchable
from tools.base import ToolResult
from tools.records import DiffShown, Highlight

ModelT = TypeVar("ModelT", bound=BaseModel)

_SHORTEST = 6
# What a secret of several lines is written with but does not consist of: signs of a diff, escapes,
# white space. Letters and digits are enough to tell one from another.
_LAYOUT = re.compile(r"(?:\\+[nrt]|[\W_])+")
_QUOTES = "\"'` "


_ANY = Gate((*blocks.SIGNS, *shapes.SIGNS, *places.SIGNS, *settings.SIGNS))


def _found(text: str) -> Iterator[Span]:
    """Yield the secrets of ``text``, those that know their kind best first."""
    if not _ANY.opens(text):
        return
    finders = (
        blocks.private_keys,
        blocks.kubernetes_secrets,
        shapes.find,
        places.find,
        settings.find,
    )
    for find in finders:
        for span in find(text):
            if MASKED not in text[span.start : span.end]:
                yield span


def _with_settings(text: str, told: Mapping[str, str]) -> str:
    """Repeat the masks of settings where a text tells of them, also where it is cut within one."""
    for shown, masked in told.items():
        text = text.replace(shown, masked)
        stem = text.removesuffix("…")
        for length in range(min(len(shown), len(stem)) if stem is not text else 0, 5, -1):
            if stem.endswith(shown[:length]):
                text = stem[: len(stem) - length] + masked
                break
    return text


class Redactor:
    """Masks secrets (M19). One instance serves one run: the same secret gets the same mask in it.

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

    def text(self, text: str) -> str:
        """Return ``text`` with every secret masked; a text without one is returned as it is."""
        if len(text) < _SHORTEST:
            return text
        searched = searchable(text)
        pieces: list[str] = []
        at = 0
        for span in merged(_found(searched)):
            pieces += (text[at : span.start], self._mask(text[span.start : span.end], span.kind))
            at = span.end
        return "".join((*pieces, text[at:])) if pieces else text

    def result(self, result: ToolResult) -> ToolResult:
        """Return ``result`` with every string of its text, summary and value redacted."""
        if isinstance(result.value, DiffShown):
            told = {
                shown.text: masked.text
                for shown in result.value.highlights
                if (masked := self._model(shown)) is not shown
            }
            if told:
                summary, text = (
                    _with_settings(each, told) for each in (result.summary, result.text)
                )
                result = result.model_copy(update={"summary": summary, "text": text})
        return self._model(result)

    def _mask(self, secret: str, kind: str) -> str:
        several = "\n" in secret or "PRIVATE KEY" in secret
        plain = _LAYOUT.sub("", secret) if several else secret
        digest = hashlib.blake2b(plain.encode(errors="replace"), key=self._salt).digest()
        known = self._masks.get(digest)
        if known is None:
            self._seen[kind] += 1
            number = self._seen[kind]
            known = f"[redacted: {kind}]" if number == 1 else f"[redacted: {kind} #{number}]"
            self._masks[digest] = known
        return known

    def _model(self, model: ModelT) -> ModelT:
        """Return the same type with its strings redacted, checked again if any of them changed."""
        fields = dict(model)
        changed = {
            name: redacted
            for name, value in fields.items()
            if (redacted := self._value(value)) is not value
        }
        if isinstance(model, Highlight) and (found := secrecy(model.key)):
            changed |= self._setting(model, found)
        return type(model).model_validate(fields | changed) if changed else model

    def _value(self, value: object) -> object:
        match value:
            case None | Enum():
                return value
            case str():
                return self.text(value)
            case BaseModel():
                return self._model(value)
            case tuple():
                items = tuple(self._value(each) for each in value)
                return value if all(map(is_, items, value)) else items
            case _:
                return value

    def _setting(self, shown: Highlight, found: Secrecy) -> dict[str, str | None]:
        """Mask the values of a setting whose name stands apart from them."""
        told = {"before": shown.before, "after": shown.after, "text": shown.text}
        for value in sorted({shown.before or "", shown.after or ""}, key=len, reverse=True):
            secret = value.strip(_QUOTES)
            if is_literal(secret) and not is_number(secret):
                mask = self._mask(secret, found.kind)
                told = {name: each and each.replace(secret, mask) for name, each in told.items()}
        return {name: each for name, each in told.items() if each != getattr(shown, name)}
