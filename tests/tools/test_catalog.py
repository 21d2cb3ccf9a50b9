from __future__ import annotations

from tools.catalog import Catalog, closest
from tools.records import Service

SHOP = Catalog(
    [
        Service(name="web", depends_on=("checkout",)),
        Service(name="checkout", aliases=("orders",), depends_on=("payments",)),
        Service(
            name="payments-api", aliases=("payments", "Payment Service"), depends_on=("ledger",)
        ),
        Service(name="ledger"),
        Service(name="uploads-store", aliases=("uploads", "media uploads")),
    ]
)


def test_a_service_is_found_by_any_spelling_of_its_names() -> None:
    for asked in ("payments-api", "PAYMENTS_API", "payments", "payment  service"):
        found = SHOP.service(asked)
        assert found is not None
        assert found.name == "payments-api"
    assert SHOP.service("paymints") is None


def test_dependencies_are_named_by_alias_too_and_counted_in_hops() -> None:
    assert dict(SHOP.dependencies("web")) == {"checkout": 1, "payments-api": 2, "ledger": 3}
    assert dict(SHOP.dependencies("web", hops=1)) == {"checkout": 1}
    assert dict(SHOP.dependents("ledger")) == {"payments-api": 1, "checkout": 2, "web": 3}
    assert SHOP.path("web", "ledger") == ("web", "checkout", "payments-api", "ledger")
    assert SHOP.path("ledger", "web") == ()


def test_a_circle_of_dependencies_ends() -> None:
    circle = Catalog([Service(name="a", depends_on=("b",)), Service(name="b", depends_on=("a",))])
    assert dict(circle.dependencies("a")) == {"b": 1}


def test_a_longer_name_wins_over_a_shorter_one_inside_it() -> None:
    shop = Catalog([Service(name="store", aliases=("media uploads",)), Service(name="uploads")])
    assert shop.mentioned("Media uploads broke, then web and uploads") == ("store", "uploads")
    assert SHOP.mentioned("webhook and checkouts") == ()


def test_words_map_every_name_and_alias_to_its_service() -> None:
    assert SHOP.words()["payment service"] == "payments-api"
    assert SHOP.words()["web"] == "web"


def test_an_alias_that_two_services_claim_stays_with_the_first_and_is_said() -> None:
    shop = Catalog([Service(name="a", aliases=("core",)), Service(name="b", aliases=("core", "a"))])
    assert shop.canonical("core") == "a"
    assert len(shop.clashes()) == 2
    assert "'core' of b already means a" in shop.clashes()[0]


def test_closest_names_are_offered_best_first() -> None:
    assert closest("chekout", ["web", "checkout", "ledger"]) == ("checkout",)
    assert closest("pay", ["payments-api", "web"]) == ("payments-api",)
    assert closest("zzz", ["web"]) == ()
