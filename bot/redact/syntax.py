"""What a text says about its unquoted values: the headers of a diff tell code from configuration."""

from __future__ import annotations

import bisect
import re
from enum import Enum
from functools import cached_property


class Syntax(Enum):
    """What a file's name says about its unquoted values."""

    CODE = "code"
    CONFIG = "config"
    SHELL = "shell"
    UNKNOWN = "unknown"


_CODE = re.compile(
    r"pyi?|[cm]?jsx?|[cm]?tsx?|vue|svelte|html|s?css|go|java|kts?|scala|groovy|gradle|rb|rs|c|h|cc|[ch]pp"
    r"|cs|php|swift|m|exs?|erl|clj|lua|p[lm]|r|dart|sql|graphql|proto|json|jsonnet|tf|hcl|nix"
)
_CONFIG = re.compile(r"env|envrc|properties|ini|cfg|conf|cnf|ya?ml|toml|service|npmrc|pypirc|netrc")
_SHELL = re.compile(r"(?:ba|z|k|c|tc)?sh|fish|bats|mk|dockerfile")
# Headers of files: git's, and those of this product's own text.
_FILE = re.compile(
    r"(?:\A|\n)(?:diff --git a/[^\n]{1,400} b/|(?:\+\+\+|---) (?:[ab]/)?|=== (?:[A-Za-z]{1,9} )?"
    r"|#{2,4} )(?P<path>[\w./@+-]{1,400})"
)


class Files:
    """The files of which a text shows lines, by their headers."""

    def __init__(self, text: str) -> None:
        self._text = text

    def syntax(self, at: int) -> Syntax:
        """Return that of the file whose lines stand at ``at``."""
        starts, kinds = self._found
        index = bisect.bisect_right(starts, at) - 1
        return kinds[index] if index >= 0 else Syntax.UNKNOWN

    @cached_property
    def _found(self) -> tuple[list[int], list[Syntax]]:
        starts: list[int] = []
        kinds: list[Syntax] = []
        for header in _FILE.finditer(self._text):
            starts.append(header.start())
            kinds.append(_syntax_of(header["path"]))
        return starts, kinds


def _syntax_of(path: str) -> Syntax:
    name = path.rpartition("/")[2]
    extension = name.rpartition(".")[2].lower() if "." in name else ""
    if _SHELL.fullmatch(extension) or name.startswith(("Dockerfile", "Containerfile", "Makefile")):
        return Syntax.SHELL
    if _CONFIG.fullmatch(extension) or name.startswith(".env"):
        return Syntax.CONFIG
    return Syntax.CODE if _CODE.fullmatch(extension) else Syntax.UNKNOWN
