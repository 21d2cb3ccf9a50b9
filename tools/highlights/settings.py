"""Reads configuration files of many formats into one nested shape.

YAML (Kubernetes manifests among it), TOML, JSON, ``.env``, ``.properties``, INI, HCL, nginx and
Dockerfiles. What a strict parser refuses (templates, a broken file) is read by indentation, so that
a changed line still has its key. Values stay text: ``5s``, ``on`` and ``1_000`` are what they are.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final

import yaml

from tools.highlights.trees import TooDeepError, Tree, tree_of

# The base loader builds text, lists and mappings only, whatever a tag asks for.
_YAML_LOADER: Final = getattr(yaml, "CBaseLoader", yaml.BaseLoader)

_DEEPEST: Final = 40
_LONGEST: Final = 1_000
_YAML_LIMIT: Final = 300_000  # characters; the parser reads about a million a second

_PAIR: Final = re.compile(r"^\s*(?:export\s+|set\s+)?([\w.\-/\[\]\"']+)\s*[=:](.*)$")
_INI_SECTION: Final = re.compile(r"^\s*\[+\s*([^\]]+?)\s*\]+\s*$")
_BLOCK: Final = re.compile(r"^\s*([\w.\-]+(?:\s+[^\s{=]+)*)\s*=?\s*\{\s*$")
_DIRECTIVE: Final = re.compile(r"^\s*([\w.\-]+)\s+([^{}]+?);\s*$")
_OUTLINE: Final = re.compile(r"^(\s*)(?:-\s+)?([\w.\-/\"'$]+)\s*[:=](.*)$")
_COMMENT: Final = re.compile(r"^\s*(#|//|;|!|\{\{)")
_INSTRUCTION: Final = re.compile(r"^\s*([A-Za-z]+)\s+(.+)$")
_ENV_PAIR: Final = re.compile(r"([\w.\-]+)=(\"(?:[^\"\\]|\\.)*\"|'[^']*'|\S*)")


def read_settings(name: str, text: str) -> Tree | None:
    """Read a file by its name; ``None`` when no format is known for it."""
    parser = _parser(name.rsplit("/", 1)[-1].lower())
    if parser is None:
        return None
    try:
        return parser(text)
    except (ValueError, yaml.YAMLError, RecursionError, TooDeepError, TypeError):
        return _outline(text)


def _parser(name: str) -> Callable[[str], Tree] | None:
    if name.startswith(("dockerfile", "containerfile")) or name.endswith(".dockerfile"):
        return _dockerfile
    if name.startswith(".env") or name.endswith((".env", ".properties")):
        return _pairs
    extension = name.rsplit(".", 1)[-1] if "." in name else ""
    return _PARSERS.get(extension)


def _yaml(text: str) -> Tree:
    if len(text) > _YAML_LIMIT:
        raise TooDeepError("too long for a strict parser")
    documents = [doc for doc in yaml.load_all(text, Loader=_YAML_LOADER) if doc]
    if len(documents) == 1:
        return tree_of(documents[0])
    return tree_of({_document_name(doc, at): doc for at, doc in enumerate(documents)})


def _document_name(document: object, at: int) -> str:
    """Name a document of several as Kubernetes does: ``Deployment/api``."""
    if isinstance(document, dict) and isinstance(document.get("kind"), str):
        metadata = document.get("metadata")
        name = metadata.get("name") if isinstance(metadata, dict) else None
        return f"{document['kind']}/{name}" if isinstance(name, str) else document["kind"]
    return f"[{at}]"


def _toml(text: str) -> Tree:
    return tree_of(tomllib.loads(text, parse_float=str))


def _json(text: str) -> Tree:
    return tree_of(json.loads(text, parse_int=str, parse_float=str, parse_constant=str))


def _pairs(text: str) -> Tree:
    found: dict[str, Tree] = {}
    for line in _joined_lines(text):
        match = _PAIR.match(line)
        if match:
            found[match[1]] = _value(match[2])
    return found


def _ini(text: str) -> Tree:
    """Sections with pairs; indented lines continue the value above and make it a list."""
    found: dict[str, Tree] = {}
    section = found
    key = ""
    for line in _lines(text):
        if not line.strip() or _COMMENT.match(line):
            continue
        heading, pair = _INI_SECTION.match(line), _PAIR.match(line)
        if heading:
            section = {}
            found[heading[1]] = section
            key = ""
        elif line[0] in " \t" and key:
            before = section[key]
            items = before if isinstance(before, tuple) else ((before,) if before else ())
            section[key] = (*(item for item in items if isinstance(item, str)), line.strip())
        elif pair:
            key = pair[1]
            section[key] = _value(pair[2])
    return found


def _braces(text: str) -> Tree:
    """HCL and nginx: ``name "label" {``, then pairs or directives, then ``}``."""
    found: dict[str, Tree] = {}
    stack = [found]
    seen: Counter[tuple[int, str]] = Counter()  # blocks of one name, such as nginx's location
    for line in _lines(text):
        if _COMMENT.match(line):
            continue
        block, pair, directive = _BLOCK.match(line), _PAIR.match(line), _DIRECTIVE.match(line)
        if block:
            name = ".".join(part.strip('"') for part in block[1].split())
            inner: dict[str, Tree] = {}
            seen[id(stack[-1]), name] += 1
            same = seen[id(stack[-1]), name] - 1
            name = f"{name}[{same}]" if same else name
            stack[-1][name] = inner
            if len(stack) < _DEEPEST:
                stack.append(inner)
        elif line.strip().startswith("}") and len(stack) > 1:
            stack.pop()
        elif directive:
            stack[-1][directive[1]] = directive[2]
        elif pair:
            stack[-1][_unquoted(pair[1])] = _value(pair[2])
    return found


def _dockerfile(text: str) -> Tree:
    """Images by stage, variables by name, and the instructions that decide what runs."""
    found: dict[str, Tree] = {}
    stages = 0
    for line in _joined_lines(text):
        match = _INSTRUCTION.match(line)
        if not match:
            continue
        word, rest = match[1].upper(), match[2].strip()
        if word == "FROM":
            image, _, stage = rest.partition(" AS ") if " AS " in rest else rest.partition(" as ")
            found[f"FROM[{stage or stages}]" if stage or stages else "FROM"] = image
            stages += 1
        elif word in ("ENV", "ARG"):
            pairs = _ENV_PAIR.findall(rest) or [(*rest.split(None, 1), "")[:2]]
            found |= {f"{word} {name}": _unquoted(value) for name, value in pairs}
        elif word in (
            "CMD",
            "ENTRYPOINT",
            "USER",
            "EXPOSE",
            "HEALTHCHECK",
            "STOPSIGNAL",
            "WORKDIR",
        ):
            found[word] = rest
    return found


def _outline(text: str) -> Tree:
    """Read ``key: value`` lines, nested by their indentation alone."""
    found: dict[str, Tree] = {}
    stack: list[tuple[int, dict[str, Tree]]] = [(-1, found)]
    for line in _lines(text):
        match = None if _COMMENT.match(line) else _OUTLINE.match(line)
        if not match:
            continue
        depth, key = len(match[1].expandtabs()), match[2].strip("\"'")
        while stack[-1][0] >= depth:
            stack.pop()
        value = match[3].strip().rstrip(",").rstrip()
        if value in ("", "{", "[", "|", ">"):
            inner: dict[str, Tree] = {}
            stack[-1][1][key] = inner
            if len(stack) < _DEEPEST:
                stack.append((depth, inner))
        else:
            stack[-1][1][key] = _unquoted(value)
    return found


def _lines(text: str) -> Iterator[str]:
    """Yield the lines, each without its end's blanks; a very long one is no setting."""
    for line in text.split("\n"):
        if len(line) <= _LONGEST:
            yield line.rstrip()


def _joined_lines(text: str) -> Iterator[str]:
    kept = ""
    for line in _lines(text):
        if _COMMENT.match(line):
            continue
        if line.endswith("\\"):
            kept += line[:-1] + " "
        else:
            yield kept + line
            kept = ""


def _value(text: str) -> str:
    return _unquoted(text.strip().rstrip(",;").rstrip())


def _unquoted(value: str) -> str:
    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1] if quoted else value


_PARSERS: Final[dict[str, Callable[[str], Tree]]] = {
    "yaml": _yaml,
    "yml": _yaml,
    "toml": _toml,
    "json": _json,
    "ini": _ini,
    "cfg": _ini,
    "conf": _braces,
    "cnf": _ini,
    "service": _ini,
    "tf": _braces,
    "tfvars": _braces,
    "hcl": _braces,
}
