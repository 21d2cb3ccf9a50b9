"""detect-secrets finds nothing in a redacted text, wherever it is cut afterwards.

Its entropy and keyword plugins flag words and SHAs, and its plugin for public addresses flags what
is no secret: they are left out.
"""

from __future__ import annotations

import base64
import json
import string
from collections.abc import Callable, Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.redact import Redactor

pytest.importorskip("detect_secrets", reason="detect-secrets is a development-only oracle")

from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
from detect_secrets.plugins.base import BasePlugin

LEFT_OUT = {
    "Base64HighEntropyString",
    "HexHighEntropyString",
    "KeywordDetector",
    "IPPublicDetector",
}
KNOWN: Mapping[str, type[BasePlugin]] = get_mapping_from_secret_type_to_class()
PLUGINS = [plugin() for plugin in KNOWN.values() if plugin.__name__ not in LEFT_OUT]


def flagged(text: str) -> list[str]:
    return sorted(
        f"{plugin.secret_type}: {secret}"
        for plugin in PLUGINS
        for line in text.splitlines()
        for secret in plugin.analyze_string(line)
    )


ALNUM = string.ascii_letters + string.digits
LOWER = string.ascii_lowercase + string.digits
UPPER = string.ascii_uppercase + string.digits
HEX = "0123456789abcdef"
URL = ALNUM + "_-"


def chars(alphabet: str, size: int, most: int | None = None) -> st.SearchStrategy[str]:
    return st.text(alphabet, min_size=size, max_size=most or size)


def mixed(alphabet: str, size: int, most: int | None = None) -> st.SearchStrategy[str]:
    """As chance makes nearly all of them: with a capital, a small letter and a digit."""
    return chars(alphabet, size - 3, (most or size) - 3).map(lambda text: f"{text}Aa1")


def joined(*parts: str | st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    strategies = [st.just(part) if isinstance(part, str) else part for part in parts]
    return st.tuples(*strategies).map("".join)


def one(*texts: str) -> st.SearchStrategy[str]:
    return st.sampled_from(texts)


def token(claims: dict[str, int], name: str, key: str) -> str:
    rows = [json.dumps({"alg": "HS256", "kid": name}), json.dumps(claims)]
    return ".".join(
        [*(base64.urlsafe_b64encode(row.encode()).decode().rstrip("=") for row in rows), key]
    )


def key_block(label: str, body: bytes, joint: str) -> str:
    rows = base64.b64encode(body).decode()
    lines = [rows[at : at + 64] for at in range(0, len(rows), 64)]
    return joint.join([f"-----BEGIN {label}-----", *lines, f"-----END {label}-----"])


NAME_AND = one("=", ": ", ":", " = ", " := ", " => ", "::", '="', ": '")
PLANTS: dict[str, st.SearchStrategy[str]] = {
    "artifactory key": joined("AKC", chars(ALNUM, 10, 70)),
    "artifactory password": joined("AP", one(*"0123456789ABCDEF"), mixed(ALNUM, 8, 40)),
    "aws access key": joined(one("AKIA", "ASIA", "ABIA", "ACCA", "A3TX"), chars(UPPER, 16)),
    "aws secret key": joined(one('aws_secret_key = "', "AWS_TOKEN: '", 'aws.password="'), mixed(ALNUM + "/+", 40)).map(
        lambda text: text + ("'" if "'" in text else '"')
    ),
    "azure storage key": joined("AccountName=x;AccountKey=", chars(ALNUM + "+/", 86), "=="),
    "basic auth in a url": joined(
        one("https://me:", "postgres://app:", "redis://u:"), mixed(ALNUM + "-._~%", 6, 40), "@db.internal:5432/x"
    ),
    "cloudant password": joined(one("cloudant_password", "cl_key", "clou-api-token", "CL_PW".lower()), NAME_AND, chars(HEX, 64)),
    "cloudant key": joined(one("cloudant_api_key", "cl-pass", "cloudantpwd"), NAME_AND, chars(string.ascii_lowercase, 24)),
    "cloudant url": joined("https://me:", one("0f" * 32, "abcdefghijklmnopqrstuvwx"), "@me.cloudant.com"),
    "discord token": joined(one(*"MNO"), mixed(URL, 23, 25), ".", chars(URL, 6), ".", mixed(URL, 27)),
    "github token": joined(one("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), chars(ALNUM, 36)),
    "gitlab token": joined(one("glpat-", "gldt-", "glft-", "glsoat-", "glrt-", "GR1348941", "glcbt-", "glcbt-0f_"), chars(URL, 20, 50)),
    "gitlab long token": one("glimt-", "glptt-", "glagent-", "gloas-").flatmap(
        lambda lead: joined(lead, chars(URL, {"glimt-": 25, "glptt-": 40, "glagent-": 60, "gloas-": 64}[lead]))
    ),
    "ibm cloud key": joined(one("ibm_cloud_iam_api_key", "ibm-key", "iam_password", "cloud_token", "key", "apikey"), NAME_AND, mixed(URL, 44)),
    "ibm cos key": joined(one("cos_hmac_secret_access_key", "secret_key", "ibm_cos_secret_key"), NAME_AND, chars(HEX, 48)),
    "json web token": st.builds(token, st.dictionaries(chars(string.ascii_letters, 1, 9), st.integers()), chars(ALNUM, 1, 20), chars(URL, 43)),
    "json web token without signature": st.builds(token, st.just({}), st.just("a"), st.just("")),
    "mailchimp key": joined(chars(LOWER, 32), "-us", chars(string.digits, 1, 2)),
    "npm token": joined("//registry.npmjs.org/:_authToken=", st.one_of(joined("npm_", chars(ALNUM, 36)), st.uuids().map(str))),
    "openai key": joined(one("sk-", "sk-proj-", "sk-my-project-"), chars(ALNUM, 20), "T3BlbkFJ", chars(ALNUM, 20)),
    "private key": st.builds(
        key_block,
        one("RSA PRIVATE KEY", "EC PRIVATE KEY", "DSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "PRIVATE KEY", "PGP PRIVATE KEY BLOCK"),
        st.binary(min_size=30, max_size=400),
        one("\n", "\r\n", "\\n", "\n+", "\n    "),
    ),
    "putty key": joined("PuTTY-User-Key-File-2: ssh-rsa\nEncryption: none\nPrivate-Lines: 1\n", chars(ALNUM, 64), "\nPrivate-MAC: 0f0f"),
    "pypi token": joined(one("pypi-AgEIcHlwaS5vcmc", "pypi-AgENdGVzdC5weXBpLm9yZw"), chars(URL, 70, 150)),
    "sendgrid key": joined("SG.", chars(URL, 22), ".", chars(URL, 43)),
    "slack token": joined(one("xoxb-", "xoxp-", "xoxa-", "xoxo-", "xoxs-", "xoxr-", "XOXB-"), chars(string.digits, 1, 12), "-", chars(string.digits, 1, 12), "-", chars(LOWER, 1, 30)),
    "slack webhook": joined("https://hooks.slack.com/services/T", chars(UPPER, 8), "/B", chars(UPPER, 8), "/", chars(ALNUM, 24)),
    "softlayer key": joined(one("softlayer_api_key", "sl-password", "SL_TOKEN"), NAME_AND, chars(LOWER, 64)),
    "softlayer url": joined("https://api.softlayer.com/soap/", one("v3/", "v3.1/"), chars(LOWER, 64)),
    "square secret": joined("sq0csp-", chars(URL + "\\", 43)),
    "stripe key": joined(one("sk_live_", "rk_live_"), chars(ALNUM, 24, 99)),
    "telegram token": joined(chars(string.digits, 8, 10), ":", mixed(URL, 35)),
    "twilio key": joined(one("AC", "SK"), chars(LOWER, 32)),
}  # fmt: skip


def in_json(text: str) -> str:
    return json.dumps({"note": text, "n": 1})


PLACES: dict[str, Callable[[str], str]] = {
    "alone": lambda text: text,
    "in a diff": lambda text: f"+++ b/app.conf\n@@ -1,2 +1,2 @@\n-a = 1\n+{text}\n",
    "in a diff of code": lambda text: f"+++ b/app.py\n@@ -1,2 +1,2 @@\n-x = 1\n+# {text}\n",
    "in an env file": lambda text: f"LEVEL=debug\nVALUE={text}\n",
    "in JSON": in_json,
    "in JSON in JSON": lambda text: in_json(in_json(text)),
    "in YAML": lambda text: f"a:\n  note: {text}\n  b: 2\n",
    "in a command": lambda text: f"$ deploy --region eu --note {text} --now",
    "in prose": lambda text: f"At 02:14 somebody posted {text} in the channel.",
    "in a log": lambda text: f'time=02:14 level=info msg="got {text}" status=200',
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", PLANTS)
def test_no_secret_passes_the_oracle_wherever_the_text_is_cut(kind: str, place: str) -> None:
    seen = 0

    @settings(max_examples=25, deadline=None)
    @given(plant=PLANTS[kind], at=st.floats(0, 1), size=st.integers(1, 400))
    def check(plant: str, at: float, size: int) -> None:
        nonlocal seen
        text = PLACES[place](plant)
        seen += bool(flagged(text))

        shown = Redactor().text(text)

        cut = int(at * len(shown))
        assert flagged(shown) == []
        assert flagged(shown[cut : cut + size]) == []
        assert "[redacted: " in shown

    check()

    # A plugin that wants a space or a quote next to the secret does not see it in every place.
    assert seen or place != "alone"


def test_the_oracle_sees_each_kind() -> None:
    kinds = {plugin.secret_type for plugin in PLUGINS}
    found: set[str] = set()

    for plant in PLANTS.values():

        @settings(max_examples=10, deadline=None)
        @given(text=plant)
        def see(text: str) -> None:
            found.update(each.partition(":")[0] for each in flagged(text))

        see()

    assert kinds - found == set()
