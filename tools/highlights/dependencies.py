"""Reads which versions of other packages a project asks for, or has locked.

Owns the formats of package managers. A manifest is split in two: the dependencies, by name, and
the rest, which is settings like any other (``type``, ``exports``, ``requires-python``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from tools.highlights.found import Found, Sort
from tools.highlights.settings import read_settings
from tools.highlights.trees import Tree, compare

_REQUIREMENT: Final = re.compile(
    r"^\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*"
    r"(?:\(?\s*((?:[<>=!~]=?=?)[^;#)]*)\)?|@\s*([^;#\s]+))?\s*(?:[;#].*)?$"
)
_TABLES: Final = re.compile(
    r"^((dev|peer|optional|build|bundled|dev-|build-)?dependencies|devDependencies"
    r"|peerDependencies|optionalDependencies|resolutions|overrides|require|require-dev"
    r"|packages|dev-packages)$"
)
_LISTS: Final = frozenset(
    {"dependencies", "requires", "install_requires", "requires_dist", "requires-dist"}
)
_GROUPS: Final = frozenset({"optional-dependencies", "dependency-groups", "options.extras_require"})
_TOOL_TABLES: Final = frozenset(
    {"devDependencies", "dev-dependencies", "require-dev", "dev-packages"}
)
_TOOL_FILE: Final = re.compile(
    r"(^|[/._-])(dev|tests?|lint|docs?|ci|typing|mypy|build|benchmarks?)([._-]|$)"
)

_LOCKS: Final = frozenset(
    {
        "poetry.lock",
        "uv.lock",
        "pdm.lock",
        "cargo.lock",
        "package-lock.json",
        "npm-shrinkwrap.json",
        "yarn.lock",
        "pnpm-lock.yaml",
        "pipfile.lock",
        "gemfile.lock",
        "composer.lock",
        "gradle.lockfile",
    }
)
_LONGEST: Final = 500
_GO: Final = re.compile(r"^[ \t]*(?:require[ \t]+)?([\w.\-]+\.[\w.\-]+/\S+)\s+(v\S+)", re.MULTILINE)
_GO_VERSION: Final = re.compile(r"^(go|toolchain)\s+(\S+)", re.MULTILINE)
_YARN: Final = re.compile(r'^"?(@?[^@\s",]+)@[^\n]*:\n[ ]+version:?\s+"?([^"\n]+)"?', re.MULTILINE)
_PNPM: Final = re.compile(r"^[ ]+'?/?(@?[^@\s'(]+)[@/](\d[^:('\s]*)[^:\n]*:", re.MULTILINE)
_GEMS: Final = re.compile(r"^    ([\w.\-]+) \(([^)\s]+)\)$", re.MULTILINE)
_LOCKED_TOML: Final = re.compile(r'^name = "([^"\n]+)"\nversion = "([^"\n]+)"', re.MULTILINE)
_PIPFILE_LOCK: Final = re.compile(r'"([^"\n]+)":\s*\{[^{}]*?"version":\s*"([^"\n]+)"')
_NODE_LOCK: Final = re.compile(r'"(?:node_modules/)?([^"\n]+)":\s*\{\s*"version":\s*"([^"\n]+)"')
_GRADLE: Final = re.compile(r"^([\w.\-]+:[\w.\-]+):([\w.\-]+)=", re.MULTILINE)


@dataclass
class _Manifest:
    versions: dict[str, str] = field(default_factory=dict)
    tools: dict[str, str] = field(default_factory=dict)
    settings: Tree = field(default_factory=dict)


def compare_dependencies(name: str, before: str, after: str) -> Iterator[Found]:
    """Yield what changed in a manifest or a lock file."""
    base = name.rsplit("/", 1)[-1].lower()
    old, new = _read(base, before), _read(base, after)
    only: Sort | None = None
    if base in _LOCKS:
        only = Sort.LOCKED_CHANGED
    elif base.endswith((".txt", ".in")) and _TOOL_FILE.search(name.lower()):
        only = Sort.TOOL_CHANGED
    yield from _compare_versions(old.versions, new.versions, only)
    yield from _compare_versions(old.tools, new.tools, Sort.TOOL_CHANGED)
    yield from compare(old.settings, new.settings)


def _compare_versions(
    old: dict[str, str], new: dict[str, str], only: Sort | None
) -> Iterator[Found]:
    for package in dict.fromkeys((*old, *new)):
        was, now = old.get(package), new.get(package)
        if was == now:
            continue
        sort = Sort.DEPENDENCY_CHANGED
        if was is None:
            sort = Sort.DEPENDENCY_ADDED
        elif now is None:
            sort = Sort.DEPENDENCY_REMOVED
        yield Found(only or sort, package, was, now)


def requirement(text: str) -> tuple[str, str] | None:
    """Split ``requests[socks]>=2.31 ; marker`` into its name and what is asked of its version."""
    match = _REQUIREMENT.match(" ".join(text[:_LONGEST].split()))
    if not match:
        return None
    asked = (match[2] or match[3] or "any").strip()
    exact = asked.startswith("==") and "," not in asked
    return match[1], asked.lstrip("= ") if exact else asked.replace(" ", "")


def _read(base: str, text: str) -> _Manifest:
    if base in _LOCKS:
        return _Manifest(versions=dict(_locked(base, text)))
    if base == "go.mod":
        versions = {match[1]: match[2] for match in _GO.finditer(text)}
        settings: Tree = {match[1]: match[2] for match in _GO_VERSION.finditer(text)}
        return _Manifest(versions, settings=settings)
    if base.endswith((".txt", ".in")):
        lines = (requirement(line) for line in text.replace("\\\n", " ").split("\n"))
        return _Manifest(versions=dict(pair for pair in lines if pair is not None))
    if base == "pipfile":
        base = "pipfile.toml"
    tree = read_settings(base, text)
    manifest = _Manifest()
    if isinstance(tree, dict):
        manifest.settings = _split(tree, manifest)
    return manifest


def _locked(base: str, text: str) -> Iterator[tuple[str, str]]:
    patterns = {
        "package-lock.json": _NODE_LOCK,
        "npm-shrinkwrap.json": _NODE_LOCK,
        "yarn.lock": _YARN,
        "pnpm-lock.yaml": _PNPM,
        "gemfile.lock": _GEMS,
        "pipfile.lock": _PIPFILE_LOCK,
        "gradle.lockfile": _GRADLE,
        "composer.lock": re.compile(r'"name":\s*"([^"\n]+)",\s*"version":\s*"([^"\n]+)"'),
    }
    for match in patterns.get(base, _LOCKED_TOML).finditer(text):
        yield match[1], match[2].removeprefix("==")


def _split(tree: dict[str, Tree], manifest: _Manifest) -> Tree:
    """Take the dependencies out of a manifest and return what remains."""
    rest: dict[str, Tree] = {}
    for key, value in tree.items():
        kept = manifest.tools if key in _TOOL_TABLES else manifest.versions
        if isinstance(value, dict) and _TABLES.match(key):
            kept |= {name: _version(asked) for name, asked in value.items()}
        elif isinstance(value, dict) and key in _GROUPS:
            for group in value.values():
                manifest.tools |= _listed(group)
        elif key in _LISTS and not isinstance(value, dict):
            kept |= _listed(value)
        elif isinstance(value, dict):
            rest[key] = _split(value, manifest)
        else:
            rest[key] = value
    return rest


def _version(asked: Tree) -> str:
    if isinstance(asked, str):
        return asked
    if isinstance(asked, dict):
        version = asked.get("version", asked.get("git", asked.get("path")))
        return version if isinstance(version, str) else "any"
    return ", ".join(asked)


def _listed(items: Tree) -> dict[str, str]:
    if isinstance(items, dict):
        return {}
    pairs = (requirement(item) for item in ((items,) if isinstance(items, str) else items))
    return dict(pair for pair in pairs if pair is not None)
