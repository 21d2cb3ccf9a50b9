"""The real incidents, built once: from the cache, or from the package registries."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

HERE = Path(__file__).parent


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "network: fetches packages where they are not cached yet")


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"incidents_{name}", HERE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def builder() -> ModuleType:
    return load("build")


@pytest.fixture(scope="session")
def workspaces(builder: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that holds one workspace a case; skips where an artifact cannot be fetched."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    out = tmp_path_factory.mktemp("incidents")
    try:
        builder.build(builder.CASES, out, home / "oncall-incidents")
    except builder.FetchError as error:
        pytest.skip(f"the packages of the real incidents cannot be had: {error}")
    return out
