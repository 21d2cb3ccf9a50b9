"""A page from its template, every value escaped, and none that turns what stands around it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from starlette.responses import HTMLResponse, Response

_TURNING = re.compile("[\u202a-\u202e\u2066-\u2069]")
"""What turns the order of letters around: a diff could show what it does not do."""


class Templates:
    def __init__(self) -> None:
        self._environment = Environment(
            loader=FileSystemLoader(Path(__file__).parent / "templates"),
            autoescape=select_autoescape(default=True),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            finalize=_in_its_order,
        )

    def page(self, template: str, status: int, **values: Any) -> Response:
        return HTMLResponse(self._environment.get_template(template).render(values), status)


def _in_its_order(value: object) -> object:
    """A template's value with what turns letters around made visible; marked up text stays that."""
    if not isinstance(value, str) or value.isascii():
        return value
    return type(value)(_TURNING.sub("\N{REPLACEMENT CHARACTER}", value))
