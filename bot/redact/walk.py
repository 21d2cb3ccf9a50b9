"""Changes the strings of a record, however deep they stand, and leaves what they stand in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from operator import is_
from typing import TypeVar

from pydantic import BaseModel

ModelT = TypeVar("ModelT", bound=BaseModel)


def walked(
    model: ModelT,
    text: Callable[[str], str],
    own: Callable[[BaseModel], Mapping[str, object]],
) -> ModelT:
    """Return the same type with ``text`` of each string and, over it, the ``own`` changed fields.

    It is checked again if any of them changed; else it is the very same.
    """

    def of(value: object) -> object:
        match value:
            case None | Enum():
                return value
            case str():
                return text(value)
            case BaseModel():
                return walked(value, text, own)
            case tuple():
                items = tuple(of(each) for each in value)
                return value if all(map(is_, items, value)) else items
            case _:
                return value

    fields = dict(model)
    changed = {
        name: new for name, value in fields.items() if (new := of(value)) is not value
    } | dict(own(model))
    return type(model).model_validate(fields | changed) if changed else model
