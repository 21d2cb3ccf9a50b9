"""Imports point one way: who may import whom, checked on every file."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LOOP_LIBRARIES = {"pydantic", "pydantic_core", "structlog"}
ALLOWED: dict[str, set[str]] = {
    "tools.years": set(),
    "tools.source_records": {"tools.years"},
    "tools.records": {"tools.source_records"},
    "tools.base": {"tools.records"},
    "tools.http": set(),
    "tools": {"tools"},
    "bot.loop": {"bot.loop", "tools.base", "tools.records"},
    "bot.models": {"bot.models", "bot.loop", "tools.base", "tools.records", "tools.http"},
    "bot.redact": {"bot.redact", "bot.loop", "tools.base", "tools.records"},
    "bot.telemetry": {"bot.loop", "bot.telemetry", "tools.base", "tools.records"},
    "bot.runs": {"bot.runs", "bot.models", "bot.loop", "bot.redact", "bot.config", "tools"},
    "bot.bodies": set(),
    "bot.slack": {
        "bot.slack",
        "bot.bodies",
        "bot.runs",
        "bot.models",
        "bot.loop",
        "bot.config",
        "tools",
    },
    "bot.web": {
        "bot.web",
        "bot.bodies",
        "bot.runs",
        "bot.models",
        "bot.loop",
        "bot.config",
        "tools",
    },
    "bot.playground": {"bot.playground"},
}
"""The first of these packages that a module is in, longest first, says what it may import."""

MODULES = sorted(
    str(path.relative_to(ROOT)) for top in ("bot", "tools") for path in (ROOT / top).rglob("*.py")
)


def name_of(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def imported(path: str) -> Iterator[str]:
    for node in ast.walk(ast.parse((ROOT / path).read_text("utf-8"))):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=str(module), level=0, names=names):
                yield module
                yield from (f"{module}.{alias.name}" for alias in names if is_module(module, alias))
            case ast.ImportFrom(level=level) if level:
                pytest.fail(f"{path} has a relative import: they hide where a name comes from")


def is_module(package: str, alias: ast.alias) -> bool:
    path = ROOT / package.replace(".", "/") / alias.name
    return path.is_dir() or path.with_suffix(".py").exists()


def within(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def rule_for(module: str) -> set[str] | None:
    packages = sorted((p for p in ALLOWED if within(module, p)), key=len)
    return ALLOWED[packages[-1]] if packages else None


@pytest.mark.parametrize("path", MODULES)
def test_a_module_imports_only_what_its_place_allows(path: str) -> None:
    module = name_of(path)
    allowed = rule_for(module)
    for name in imported(path):
        if name.split(".")[0] not in {"bot", "tools"} or allowed is None:
            continue
        if name in {"bot", "tools"}:
            continue
        assert any(within(name, package) for package in allowed), f"{module} imports {name}"


@pytest.mark.parametrize("path", [p for p in MODULES if p.startswith("bot/loop/")])
def test_the_loop_uses_only_pydantic_structlog_and_the_standard_library(path: str) -> None:
    for name in imported(path):
        top = name.split(".")[0]
        known = top in sys.stdlib_module_names | LOOP_LIBRARIES | {"bot", "tools"}
        assert known, f"{path} imports {name}"


def test_httpx_is_imported_in_one_place_and_the_command_line_by_nobody() -> None:
    for path in MODULES:
        for name in imported(path):
            assert not within(name, "httpx") or path == "tools/http.py", path
            assert not within(name, "bot.cli") or path == "bot/__main__.py", path


def test_importing_the_loop_loads_no_slack_http_or_database() -> None:
    code = "import sys, bot.loop.engine; print('\\n'.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    assert not loaded & {"slack_bolt", "slack_sdk", "httpx", "sqlalchemy", "starlette", "aiohttp"}
    assert "bot" in loaded


def test_no_file_has_two_subjects_by_its_length_and_the_engine_fits_its_page() -> None:
    lengths = {path: len((ROOT / path).read_text("utf-8").splitlines()) for path in MODULES}
    assert [path for path, lines in lengths.items() if lines > 400] == []
    assert lengths["bot/loop/engine.py"] <= 200
