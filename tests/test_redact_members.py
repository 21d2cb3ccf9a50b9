"""Secrets below a name of several, beside a name on another line, and in base64."""

from __future__ import annotations

import base64
import json

import pytest

from bot.redact import Redactor
from test_redact import SECRET, pem

SHA = "9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c"


def redacted(text: str) -> str:
    return Redactor().text(text)


@pytest.mark.parametrize("sign", ["", "+", "-", " "])
@pytest.mark.parametrize("header", ["", "+++ b/values.yaml\n"])
@pytest.mark.parametrize(
    ("block", "kind"),
    [
        ("secrets:\n  port: 5\n  db: §\n\n  # ours\n  mail: '§x'\n", "secret"),
        ("  apiKeys:\n  - §\n  - §x\n", "api key"),
        ("tokens:\n  live: §  # since May\n  test: '§x' # old\n", "token"),
        ("tokens:\n  - {name: live, value: §}\n  - name: test\n    value: §x\n", "token"),
        ("tokens:\n  billing:\n    live: §\n", "token"),
        ("auth:\n  tokens:\n    live: §\n", "token"),
        ("db:\n  password:\n    value: §\n", "password"),
        ("password:\n  §\n", "password"),
    ],
)
def test_what_stands_below_a_name_is_masked_and_nothing_beside_it(
    block: str, kind: str, header: str, sign: str
) -> None:
    after = f"sha: {SHA}\nreplicas: 3\n"
    lines = "".join(sign + line for line in (block + after).splitlines(keepends=True))

    shown = redacted(header + lines.replace("§", SECRET))

    first, second = f"[redacted: {kind}]", f"[redacted: {kind} #2]"
    assert shown == header + lines.replace("§x", second).replace("§", first)


@pytest.mark.parametrize("sign", ["", "+", " "])
def test_a_value_that_comes_before_its_name_is_masked(sign: str) -> None:
    shown = redacted(f"{sign}  - value: {SECRET}\n{sign}    name: DB_PASSWORD\n")

    assert shown == f"{sign}  - value: [redacted: password]\n{sign}    name: DB_PASSWORD\n"


@pytest.mark.parametrize(
    "text",
    [
        f"tokens:\nsha: {SHA}\n",
        "secrets:\n  secretName: app-tls-9f8e7d6c5b4a\n  keyId: 9f8e7d6c5b4a39\n",
        f"credentials:\n  type: service_account\n  sha: {SHA}\n",
        "secrets:\n  - name: regcred-2x9ZkQ7pW4\n",
        "secrets:\n  db_password:\n    file: ./secrets/db-9xK2mQ7.txt\n",
        "secrets:\n  DB: ${{ secrets.DB_PASSWORD }}\n",
        "token:\n  issuer: https://auth.example.com/9f8e7d6c5b4a\n",
        f"- name: A\n  value: {SECRET}\n- name: DB_PASSWORD\n  valueFrom: x\n",
        f"+++ b/app.ts\n+const tokens = {{ first: {SECRET} }}\n",
    ],
)
def test_what_only_points_at_a_secret_or_belongs_to_something_else_stays(text: str) -> None:
    assert redacted(text) == text


def _folded(text: str, width: int) -> str:
    return "\n".join(f"  {text[at : at + width]}" for at in range(0, len(text), width))


@pytest.mark.parametrize("label", ["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY"])
@pytest.mark.parametrize(
    "written", ["    client-key-data: {}", '+ca = base64decode("{}")', "x {} y"]
)
def test_a_private_key_in_base64_is_masked_and_a_certificate_stays(
    label: str, written: str
) -> None:
    key, certificate = (
        base64.b64encode("\n".join(pem(each)).encode()).decode() for each in (label, "CERTIFICATE")
    )

    assert redacted(written.format(key)) == written.format("[redacted: private key]")
    assert redacted(written.format(certificate)) == written.format(certificate)


def test_a_private_key_in_folded_base64_leaves_no_full_line() -> None:
    key = base64.b64encode("\n".join(pem()).encode()).decode()

    for width in (64, 76):
        shown = redacted(f"tls: >-\n{_folded(key, width)}\nreplicas: 3\n")
        assert [at for at in range(len(key) - 40) if key[at : at + 40] in shown] == []
        assert shown.endswith("\nreplicas: 3\n")


@pytest.mark.parametrize("indent", [None, 2, 4, "\t"])
def test_the_credentials_of_a_registry_are_masked_outside_of_a_secret_too(
    indent: int | str | None,
) -> None:
    config = {"auths": {"ghcr.io": {"username": "me", "password": SECRET}}}
    encoded = base64.b64encode(json.dumps(config, indent=indent).encode()).decode()

    assert redacted(f"pull: {encoded}\n") == "pull: [redacted: registry credentials]\n"
