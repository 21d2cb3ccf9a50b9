"""A few lines of a Kubernetes Secret do not show that they are secret: no tool shows them."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.redact import Redactor
from support.shop import NOW, Shop, searched
from tools.base import CallContext, ToolError, ToolResult
from tools.workspace import read_tools

OLD, NEW, BESIDE = "Zm9yYmlkZGVud29yZA==", "YW5vdGhlcndvcmRoZXJl", "bmV2ZXJzaG93bnRoaXM="
ROWS = "".join(f"  key{at}: {BESIDE}\n" for at in range(30))


def manifest(value: str) -> str:
    """As ``kubectl get -o yaml`` prints it: the data far from the kind, and before it."""
    return (
        f"apiVersion: v1\ndata:\n{ROWS}  conn: {value}\n{ROWS}kind: Secret\nmetadata:\n  name: x\n"
    )


def released(shop: Shop, path: str, old: str, new: str) -> None:
    shop.service("checkout")
    shop.release("checkout", 1, timedelta(hours=3), {path: old, "app.py": "X = 1\n"})
    shop.release("checkout", 2, timedelta(minutes=40), {path: new, "app.py": "X = 2\n"})
    shop.incident(summary="conn is refused")


async def call(shop: Shop, tool: str, **arguments: Any) -> ToolResult:
    found = next(one for one in read_tools(shop.open()) if one.name == tool)
    result = await found.run(found.arguments(**arguments), CallContext(NOW, {}))
    return Redactor().result(result)


@pytest.mark.parametrize("path", ["deploy/secret.yaml", "chart/s.tpl", "sec ret'.yml"])
async def test_the_diff_of_a_secret_names_what_changed_and_shows_no_line(
    tmp_path: Path, path: str
) -> None:
    released(shop := Shop(tmp_path), path, manifest(OLD), manifest(NEW))
    diff = await call(shop, "get_diff", deploy="2")
    ranked = Redactor().result(await searched(shop.open(), incident="INC-1"))
    assert not [secret for secret in (OLD, NEW, BESIDE) if secret in diff.text + ranked.text]
    assert "its text is not shown" in diff.text
    assert "+X = 2" in diff.text


async def test_a_secret_that_was_taken_away_is_not_shown_either(tmp_path: Path) -> None:
    released(shop := Shop(tmp_path), "s.yaml", manifest(OLD), "kind: ConfigMap\ndata: {}\n")
    assert BESIDE not in (await call(shop, "get_diff", deploy="2")).text


async def test_no_line_of_a_secret_is_read_or_found(tmp_path: Path) -> None:
    released(shop := Shop(tmp_path), "s.yaml", manifest(OLD), manifest(NEW))
    with pytest.raises(ToolError, match="holds a Kubernetes Secret"):
        await call(shop, "read_file", service="checkout", path="s.yaml", ref="2", lines="10-12")
    found = await call(shop, "search_code", service="checkout", pattern="key7", ref="2")
    assert "s.yaml:10: (holds a Kubernetes Secret" in found.text
    assert BESIDE not in found.text


@pytest.mark.parametrize(
    "text",
    [
        "kind: ConfigMap\ndata:\n  retry: FIVE\n",
        "kind: HelmRelease\nspec:\n  valuesFrom:\n  - kind: Secret\n    retry: FIVE\n",
        "kind: SecretStore\ndata:\n  retry: FIVE\n",
    ],
)
async def test_other_manifests_are_shown(tmp_path: Path, text: str) -> None:
    released(shop := Shop(tmp_path), "m.yaml", text, text.replace("FIVE", "ONE"))
    assert "retry: ONE" in (await call(shop, "get_diff", deploy="2")).text
    read = await call(shop, "read_file", service="checkout", path="m.yaml", ref="2")
    assert "retry: ONE" in read.text
