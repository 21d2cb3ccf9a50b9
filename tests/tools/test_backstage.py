"""catalog-info.yaml beside oncall.toml: dependencies and owners, and files that are broken."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.backstage import with_backstage
from tools.records import Service

FILE = """
apiVersion: backstage.io/v1alpha1
kind: Component
metadata: {name: checkout}
spec:
  owner: group:default/team-buy
  dependsOn: ["component:default/payments", "resource:orders-db"]
  consumesApis: [ledger-api]
---
kind: Component
metadata: {name: ledger}
spec: {owner: team-books, providesApis: [ledger-api]}
---
kind: Group
metadata: {name: team-buy}
"""


def read(root: Path, text: str | bytes, *services: Service) -> dict[str, Service]:
    raw = text if isinstance(text, bytes) else text.encode()
    (root / "catalog-info.yaml").write_bytes(raw)
    found, notes = with_backstage(services, root)
    assert notes == ()
    return {service.name: service for service in found}


def test_dependencies_owners_and_consumed_apis_are_read(tmp_path: Path) -> None:
    found = read(tmp_path, FILE)
    assert found["checkout"].depends_on == ("payments", "orders-db", "ledger")
    assert found["checkout"].owner == "team-buy"
    assert set(found) == {"checkout", "ledger"}


def test_what_oncall_toml_says_wins_and_is_completed(tmp_path: Path) -> None:
    mine = Service(name="shop", aliases=("Checkout",), depends_on=("web",), owner="me", repo="/r")
    found = read(tmp_path, FILE, mine)
    assert found["shop"].owner == "me"
    assert found["shop"].repo == "/r"
    assert found["shop"].depends_on == ("web", "payments", "orders-db", "ledger")
    assert "checkout" not in found


def test_without_the_file_nothing_changes(tmp_path: Path) -> None:
    service = Service(name="shop")
    assert with_backstage([service], tmp_path) == ((service,), ())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"kind: [unclosed", "not valid YAML"),
        (b"\xff\xfe\x00bad: \xff", "not valid YAML"),
        (b"kind: Component\nspec: {owner: x}\n", "has no name"),
        (b"a: " + b"x" * 2_100_000, "was not read: it has 2,100,003 bytes"),
    ],
)
def test_a_broken_file_is_a_note_and_the_services_stay(
    tmp_path: Path, text: bytes, said: str
) -> None:
    (tmp_path / "catalog-info.yaml").write_bytes(text)
    service = Service(name="shop")
    found, notes = with_backstage([service], tmp_path)
    assert found == (service,)
    assert said in notes[0]


def test_odd_shapes_and_python_tags_build_nothing(tmp_path: Path) -> None:
    text = "kind: Component\nmetadata: {name: !!python/name:os.system x}\nspec: [1, 2]\n"
    found = read(tmp_path, text)
    assert found["x"].depends_on == ()
