"""What a provider issues is told by its shape, in plain prose and glued to other text.

The examples are put together at run time: a scanner of this repository should not find any.
"""

from __future__ import annotations

import base64
import itertools
import re

import pytest

from bot.redact import Redactor
from bot.redact.issued import _ISSUES
from bot.redact.shapes import SHAPES
from bot.redact.spans import Span, merged


def an(size: int) -> str:
    """``size`` letters and digits, of every sort from four on."""
    return "".join(itertools.islice(itertools.cycle("a1B2c3D4e5F6g7H8j9K0"), size))


def low(size: int) -> str:
    return an(size).lower()


def up(size: int) -> str:
    return an(size).upper()


def hexa(size: int) -> str:
    return ("0a1b2c3d4e5f6789" * 30)[:size]


UUID = "-".join(hexa(size) for size in (8, 4, 4, 4, 12))
EXAMPLES: list[tuple[str, str]] = [
    *(("aws access key", lead + up(16)) for lead in ("AKIA", "ASIA", "ABIA", "ACCA", "A3TX")),
    (
        "private key",
        base64.b64encode(f"-----BEGIN RSA PRIVATE KEY-----\n{an(90)}".encode()).decode(),
    ),
    ("registry credentials", base64.b64encode(b'{"auths":{"h":{"auth":"bWU6eA=="}}}').decode()),
    ("aws bedrock key", "ABSK" + an(132)),
    ("gcp api key", "AIza" + an(35)),
    ("gcp access token", "ya29." + an(60)),
    ("gcp client secret", "GOCSPX-" + an(28)),
    ("azure client secret", an(3) + "8Q~" + an(34)),
    ("azure devops token", an(76) + "AZDO" + an(4)),
    ("alibaba access key", "LTAI" + an(20)),
    *(("digitalocean token", f"do{kind}_v1_{hexa(64)}") for kind in "opr"),
    *(("github token", f"gh{kind}_{an(36)}") for kind in "pousr"),
    ("github token", f"github_pat_{an(22)}_{an(59)}"),
    *(("gitlab token", f"gl{kind}-{an(20)}") for kind in ("pat", "dt", "ft", "rt", "cbt", "soat")),
    ("gitlab token", "GR1348941" + an(20)),
    ("bitbucket token", "ATBB" + an(32)),
    ("atlassian token", "ATATT3xFfGF0" + an(180)),
    ("npm token", "npm_" + an(36)),
    ("pypi token", "pypi-AgEIcHlwaS5vcmc" + an(100)),
    ("rubygems token", "rubygems_" + hexa(48)),
    ("crates.io token", "cio" + an(32)),
    ("nuget key", "oy2" + low(43)),
    ("docker token", "dckr_pat_" + an(27)),
    ("artifactory key", "AKC" + an(70)),
    ("artifactory key", "AP6" + an(20)),
    ("artifactory key", "APA" + an(20)),
    ("artifactory key", "cmVmdGtuO" + an(55)),
    ("slack token", f"xoxb-123456789012-1234567890123-{an(24)}"),
    ("slack token", f"xoxe.xoxp-1-{an(120)}"),
    ("slack token", f"xapp-1-{up(11)}-1234567890123-{hexa(64)}"),
    ("discord token", f"M{an(23)}.{an(6)}.{an(27)}"),
    ("sendgrid key", f"SG.{an(22)}.{an(43)}"),
    ("mailgun key", "key-" + hexa(32)),
    ("twilio key", "AC" + hexa(32)),
    ("twilio key", "SK" + hexa(32)),
    ("brevo key", f"xkeysib-{hexa(64)}-{an(16)}"),
    *(("stripe key", f"{kind}k_{mode}_{an(24)}") for kind in "rs" for mode in ("live", "test")),
    ("stripe webhook secret", "whsec_" + an(32)),
    ("square secret", "sq0csp-" + an(43)),
    ("square token", "EAAA" + an(60)),
    ("shopify token", "shpat_" + hexa(32)),
    ("paypal token", f"access_token$production${low(16)}${hexa(32)}"),
    ("anthropic key", f"sk-ant-api03-{an(93)}AA"),
    ("openai key", f"sk-{an(20)}T3BlbkFJ{an(20)}"),
    ("openai key", "sk-proj-" + an(120)),
    ("openrouter key", "sk-or-v1-" + hexa(64)),
    ("huggingface token", "hf_" + an(34)),
    ("groq key", "gsk_" + an(52)),
    ("replicate token", "r8_" + an(37)),
    ("perplexity key", "pplx-" + an(48)),
    ("xai key", "xai-" + an(80)),
    ("grafana token", f"glsa_{an(32)}_{hexa(8)}"),
    ("grafana token", "glc_" + an(60)),
    ("vault token", "hvs." + an(90)),
    ("vault token", "s." + an(24)),
    ("terraform token", f"{an(14)}.atlasv1.{an(67)}"),
    *(("doppler token", f"dp.{kind}.{an(43)}") for kind in ("pt", "ct", "scim", "audit")),
    ("doppler token", f"dp.st.prod.{an(43)}"),
    ("new relic key", "NRAK-" + up(27)),
    ("sentry token", "sntrys_" + an(80)),
    ("datadog token", "ddapp_" + an(34)),
    ("linear key", "lin_api_" + an(40)),
    ("notion token", "ntn_" + an(46)),
    ("postman key", f"PMAK-{hexa(24)}-{hexa(34)}"),
    ("databricks token", "dapi" + hexa(32)),
    ("dynatrace token", f"dt0c01.{up(24)}.{up(64)}"),
    ("fly.io token", "fm2_" + an(120)),
    ("heroku key", "HRKU-" + an(58)),
    ("supabase key", "sbp_" + hexa(40)),
    ("planetscale key", "pscale_tkn_" + an(43)),
    ("pulumi token", "pul-" + hexa(40)),
    ("figma token", "figd_" + an(40)),
    ("airtable token", f"pat{an(14)}.{hexa(64)}"),
    ("1password token", "ops_eyJ" + an(260)),
    ("age secret key", "AGE-SECRET-KEY-1" + "QPZRY9X8GF" * 5 + "2TVDW0S3"),
    ("json web token", f"eyJ{an(30)}.eyJ{an(60)}.{an(43)}"),
]
# What the text says before and after the secret.
AROUND: list[tuple[str, str, str, str]] = [
    ("aws secret key", "aws.token: '", an(38) + "/+", "'"),
    ("azure key", "AccountName=a;AccountKey=", an(86) + "==", ";EndpointSuffix=x"),
    ("azure key", "Endpoint=sb://x;SharedAccessKey=", an(43) + "=", ""),
    ("softlayer key", "https://api.softlayer.com/soap/v3/", low(64), "/x"),
    ("slack webhook", "https://hooks.slack.com/services/", f"T{up(8)}/B{up(8)}/{an(24)}", " x"),
    ("discord webhook", "https://discord.com/api/webhooks/", f"{'1' * 18}/{an(68)}", ""),
    ("teams webhook", "https://x.webhook.office.com/", f"webhookb2/{UUID}@{UUID}", ""),
    ("telegram token", "bot 123456789:", an(35), " x"),
    ("mailchimp key", "it is ", hexa(32), "-us12"),
    ("pagerduty key", "-H 'Accept: x' -H 'Token token=", an(20), "'"),
    ("heroku key", "HEROKU_KEY = ", UUID, ""),
    ("cloudant key", "cloudant_api_key ", "abcdefghijklmnopqrstuvwx", ""),
    ("softlayer key", "sl_key: ", low(64), ""),
    ("ibm cos key", "cos_hmac_secret_access_key => ", hexa(48), ""),
    ("ibm cloud key", "iam_key=", an(44), ""),
    ("datadog key", "DD_API_KEY=", hexa(32), ""),
    ("datadog key", "dd-app-key: ", hexa(40), ""),
    ("pagerduty key", "pagerduty_token: ", "y_" + an(18), ""),
    ("pagerduty key", "routing_key = '", hexa(32), "'"),
    ("url token", "https://", hexa(32), "@o1.ingest.sentry.io/42"),
    ("url token", "https://", an(24), ":@api.example.com"),
    ("aws signature", "AWS4-HMAC-SHA256 Credential=x, Signature=", hexa(64), ""),
]


def test_every_kind_has_an_example() -> None:
    kinds = {shape.kind for shape in SHAPES} | {issue.kind for issue in _ISSUES}

    assert kinds - {kind for kind, _ in EXAMPLES} - {kind for kind, *_ in AROUND} == set()


@pytest.mark.parametrize(
    ("kind", "before", "secret", "after"),
    [*AROUND, *((kind, "it is ", secret, " or so") for kind, secret in EXAMPLES)],
)
def test_a_secret_is_masked_by_its_shape(kind: str, before: str, secret: str, after: str) -> None:
    mask = f"[redacted: {kind}]"

    for lead, tail in (("", ""), ("a\n+# ", "\nb"), ('{"note": "', '"}'), ("x = f(", ")")):
        shown = Redactor().text(lead + before + secret + after + tail)
        assert shown == lead + before + mask + after + tail


@pytest.mark.parametrize(
    "text",
    [
        "class APCIterator and APCuIterator AP20240001 APACHE2 AKC",
        "MonitoringServiceConfigurationX.module.someVeryLongMethodNameForThis",
        "12345678:someVeryLongIdentifierWithoutNumbersX",
        "sk-some-long-name-of-a-kebab-case-module-in-a-repo",
        "cl_key = someFunctionNameOfTwentyFour(x)",
        "key: some-very-long-kebab-case-name-of-44-characters",
        "eyJust a word. eyJ.x",
        "aws_key = '63f3c91d2f0c4f2f6b5b6e1c7f3a2b1c0d9e8f7a'",
        "the ghost_writer, npm_config_registry, hvs.io, SG.x and glpat-",
        "Basic under_scores and Basic bm8tY29sb24=",
        "s.replaceAllOccurrencesOfX(y)",
    ],
)
def test_what_only_begins_like_a_token_stays(text: str) -> None:
    assert Redactor().text(text) == text


def test_overlapping_finds_become_one_that_the_widest_names() -> None:
    spans = [
        Span(5, 9, "b"),
        Span(0, 6, "a"),
        Span(20, 30, "c"),
        Span(20, 30, "d"),
        Span(22, 24, "e"),
    ]

    assert merged(spans) == [Span(0, 9, "a"), Span(20, 30, "c")]
    assert merged([Span(0, 3, "short"), Span(2, 9, "long")]) == [Span(0, 9, "long")]


def test_a_secret_of_two_finds_has_the_mask_of_its_shape() -> None:
    token = "ghp_" + an(36)

    assert Redactor().text(f"GITHUB_TOKEN={token}") == "GITHUB_TOKEN=[redacted: github token]"
    assert re.findall(r"\[.*?\]", Redactor().text(f'password = "x {token} y"')) == [
        "[redacted: password]"
    ]
