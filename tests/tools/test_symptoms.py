from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tools.symptoms import (
    HITS_COUNTED,
    PAIRS_SOUGHT,
    Haystack,
    Term,
    TermKind,
    plain_words,
    stem,
    terms_of,
)


def _shown(text: str, kind: TermKind) -> set[str]:
    return {term.shown for term in terms_of(text) if term.kind is kind}


def test_quoted_text_and_identifiers_are_told_from_words() -> None:
    said = (
        "TypeError: got an unexpected keyword argument 'proxies', `retry.budget` is 1s; "
        "POST /charges answers 503, see ERR_REQUIRE_ESM and http+docker since 15:10 UTC"
    )
    assert {"proxies", "retry.budget"} <= _shown(said, TermKind.QUOTED)
    assert {"/charges", "ERR_REQUIRE_ESM", "http+docker"} <= _shown(said, TermKind.IDENTIFIER)
    assert "keyword" in _shown(said, TermKind.WORD)
    assert not any("15" in term.shown or "UTC" in term.shown for term in terms_of(said))


def test_an_error_class_of_the_language_and_a_5xx_are_the_same_in_many_changes() -> None:
    said = "TypeError and 503, then UnsupportedProductError and 404"
    assert _shown(said, TermKind.IDENTIFIER) == {"UnsupportedProductError", "404"}
    assert {"TypeError", "503"} <= _shown(said, TermKind.PIECE)


def test_what_stands_after_an_error_class_is_its_message_even_without_quotes() -> None:
    shown = _shown("Login fails with TypeError: option domain is invalid.", TermKind.QUOTED)
    assert shown == {"option domain is", "domain is invalid"}


def test_the_names_of_headers_and_of_companies_are_identifiers() -> None:
    shown = _shown("A Cross-Origin-Embedder-Policy header, or E-Tugra", TermKind.IDENTIFIER)
    assert shown == {"Cross-Origin-Embedder-Policy", "E-Tugra"}


def test_an_apostrophe_is_no_quotation() -> None:
    assert _shown("the partner's key isn't valid, users' tokens", TermKind.QUOTED) == set()


def test_names_of_services_say_where_and_not_what() -> None:
    shown = {term.shown for term in terms_of("checkout loses carts", ["checkout"])}
    assert shown == {"loses", "carts", "loses carts"}
    said = {term.shown for term in terms_of("carts of checkout vanish", ["checkout"])}
    assert said == {"carts", "vanish"}


def test_runs_of_a_quoted_message_are_looked_for_as_well() -> None:
    shown = _shown("'gave up after the budget'", TermKind.QUOTED)
    assert {"gave up after", "after the budget"} <= shown


def test_forms_of_a_word_share_a_stem() -> None:
    assert stem("connection")[:6] == "connec"
    assert stem("middlewares") == stem("middleware")
    assert stem("uploads") == stem("upload")
    assert plain_words("Retries of the deploy failed") == ("retr",)


def _term(needle: str, *, whole: bool = False) -> Term:
    return Term(needle, needle, TermKind.WORD, whole)


def test_words_are_found_inside_camel_and_snake_case_but_not_inside_other_words() -> None:
    text = Haystack.of("MissingContentLength content_type discontent CONTENTS")
    assert text.count(_term("content")) == 3
    assert Haystack.of("catalog log blog_log").count(_term("log", whole=True)) == 2
    assert Haystack.of("maxsize=4040 status 404").count(_term("404", whole=True)) == 1


def _pair(text: str) -> Term:
    (pair,) = (term for term in terms_of(text) if term.kind is TermKind.PAIR)
    return pair


def test_two_words_side_by_side_are_found_however_code_joins_them() -> None:
    pair = _pair("refused by the URL schemes")
    joined = Haystack.of("UrlSchemeUnknown url_scheme urlScheme url-scheme 'url scheme' URLSCHEME")
    assert joined.count(pair) == 6
    assert Haystack.of("url of a scheme; scheme_url; curl schemes; url\nscheme").count(pair) == 0
    assert Haystack.of("url_scheme " * 200).count(pair) == HITS_COUNTED


def test_words_are_no_pair_over_a_full_stop_or_a_word_that_says_nothing() -> None:
    assert _shown("The body is small. Surveys of participants", TermKind.PAIR) == set()
    assert _shown("answers 413 Request Entity Too Large", TermKind.PAIR) == {"Request Entity"}


def test_a_long_incident_is_not_searched_for_all_its_pairs() -> None:
    long = " ".join(f"{one}{two}ord" for one in "bcdfghjklm" for two in "aeiouwxy" * 2)
    assert len(_shown(long, TermKind.PAIR)) <= PAIRS_SOUGHT


def test_letters_that_grow_when_lowered_keep_positions_right() -> None:
    text = Haystack.of("İİİ timeout İ")
    assert len(text.lower) == len(text.text)
    assert text.count(_term("timeout")) == 1


@given(st.text(max_size=300))
def test_any_text_has_terms_that_it_contains(text: str) -> None:
    for term in terms_of(text):
        assert term.needle
        assert len(term.needle) >= 3
