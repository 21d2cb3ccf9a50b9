"""A secret planted anywhere in a real repository leaves no piece in what the tools hand over."""

from __future__ import annotations

import base64
import json
import random
import re
import string
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from bot.redact import Redactor
from bot.redact.traces import Traces
from support.shop import NOW, Shop, searched
from tools.base import CallContext, Status, ToolResult
from tools.get_diff import GetDiff, GetDiffArguments
from tools.history import DeployHistory
from tools.records import DiffShown, Switch, TextRead

ALNUM = string.ascii_letters + string.digits
Files = dict[str, str]


def chars(chance: random.Random, size: int, alphabet: str = ALNUM) -> str:
    """As chance makes nearly all of them: a capital, a small letter and a digit among them."""
    drawn = "".join(chance.choices(alphabet, k=size - 3)) + "aZ7"
    return "".join(chance.sample(drawn, k=size))


def pem(chance: random.Random) -> str:
    rows = [chars(chance, 64, ALNUM + "+/") for _ in range(5)]
    return "\n".join(["-----BEGIN RSA PRIVATE KEY-----", *rows, "-----END RSA PRIVATE KEY-----"])


KINDS: dict[str, Callable[[random.Random], str]] = {
    "random password": lambda chance: chars(chance, 16),
    "password with joints": lambda chance: "-".join(chars(chance, 7) for _ in range(3)),
    "github token": lambda chance: "ghp_" + chars(chance, 36),
    "google key": lambda chance: "AIza" + chars(chance, 35),
    "aws secret": lambda chance: f"{chars(chance, 12)}/{chars(chance, 16)}+{chars(chance, 10)}",
    "hexadecimal key": lambda chance: "".join(chance.choices("0123456789abcdef", k=38)) + "a1",
    "private key": pem,
}


@dataclass(frozen=True)
class Place:
    """What stands in a file with a value, and without it; which name must stay."""

    path: str
    written: Callable[[str], str]
    before: str
    name: str


def _escaped(secret: str) -> str:
    return secret.replace("\n", "\\n")


def _one_line(secret: str) -> str:
    return secret.replace("\n", "")


def _yaml(secret: str, indent: str = "    ") -> str:
    return secret if "\n" not in secret else "|\n" + re.sub("^", indent, secret, flags=re.MULTILINE)


def _json(secret: str) -> str:
    cache = {"ttl": 3, "db": {"host": "db1", "password": secret, "port": 5}}
    return json.dumps({"a": 1, "cache": cache}, indent=1) + "\n"


def _base64(secret: str) -> str:
    return base64.b64encode(secret.encode()).decode()


PLACES: dict[str, Place] = {
    "new block of YAML": Place(
        "config/app.yaml",
        lambda s: f"timeout: 5s\nsmtp:\n  host: mx\n  api_key: {_yaml(s)}\n  port: 25\n",
        "timeout: 5s\n",
        "api_key",
    ),
    "deep block of YAML": Place(
        "config/app.yaml",
        lambda s: f"timeout: 5s\na:\n  b:\n    c:\n      password: {_yaml(s, '        ')}\n",
        "timeout: 5s\n",
        "password",
    ),
    "new block of TOML": Place(
        "conf.toml",
        lambda s: f"[db]\npassword = '''{s}'''\nport = 5\n",
        "a = 1\n",
        "password",
    ),
    "changed scalar": Place(
        "config/app.yaml",
        lambda s: f"db:\n  password: {_yaml(s)}\n",
        "db:\n  password: ${OLD}\n",
        "password",
    ),
    "item of a list": Place(
        "config/app.yaml",
        lambda s: f"users:\n  - name: a\n    token: {_yaml(s, '      ')}\n    pool: 5\n",
        "users: []\n",
        "token",
    ),
    "env file": Place(".env", lambda s: f'A=1\nDB_PASSWORD="{_escaped(s)}"\n', "A=1\n", "DB_PASS"),
    "export of a shell": Place("deploy.sh", lambda s: f'export TOKEN="{s}"\n', "set -e\n", "TOKEN"),
    "bare export": Place(
        "deploy.sh", lambda s: f"export TOKEN={_one_line(s)}\nrun x\n", "set -e\n", "TOKEN"
    ),
    "before a command": Place(
        "deploy.sh", lambda s: f"DB_PASSWORD='{s}' psql -h the host\n", "set -e\n", "DB_PASSWORD"
    ),
    "variable of fish": Place(
        "up.fish", lambda s: f"set -gx API_TOKEN '{s}'\n", "set -e\n", "API_TOKEN"
    ),
    "ENV of a Dockerfile": Place(
        "Dockerfile",
        lambda s: f'FROM alpine:3\nENV DB_PASSWORD="{_escaped(s)}"\n',
        "FROM alpine:3\n",
        "DB_PASSWORD",
    ),
    "old ENV of a Dockerfile": Place(
        "Dockerfile",
        lambda s: f"FROM alpine:3\nENV API_TOKEN {_escaped(s)}\n",
        "FROM alpine:3\n",
        "API_TOKEN",
    ),
    "variable of Terraform": Place(
        "main.tf",
        lambda s: f'variable "db_password" {{\n  default = "{_escaped(s)}"\n}}\n',
        "locals {\n}\n",
        "db_password",
    ),
    "changed variable of Terraform": Place(
        "main.tf",
        lambda s: f'variable "db_password" {{\n  type = string\n  default = "{_escaped(s)}"\n}}\n',
        'variable "db_password" {\n  type = string\n  default = ""\n}\n',
        "db_password",
    ),
    "data of a Secret": Place(
        "k8s/secret.yaml",
        lambda s: f"apiVersion: v1\nkind: Secret\ndata:\n  conn: {_base64(s)}\n",
        "apiVersion: v1\nkind: Secret\n",
        "conn",
    ),
    "stringData of a Secret": Place(
        "k8s/secret.yaml",
        lambda s: f"apiVersion: v1\nkind: Secret\nstringData:\n  conn: {_escaped(s)}\n",
        "apiVersion: v1\nkind: Secret\n",
        "conn",
    ),
    "constant of code": Place(
        "app.py", lambda s: f'API_SECRET = """{s}"""\nX = 1\n', "X = 1\n", "API_SECRET"
    ),
    "argument of code": Place(
        "client.py",
        lambda s: f"def f():\n    return connect(host='x', password='{_escaped(s)}')\n",
        "def f():\n    return connect(host='x')\n",
        "password",
    ),
    "nested JSON": Place("settings.json", _json, '{"a": 1}\n', "password"),
}


def pieces(secret: str) -> set[str]:
    """All pieces of six characters of a secret's lines, of its base64 too."""
    bare = re.sub("-----[A-Z ]+-----", "", secret)
    lines = [*bare.split("\n"), _base64(secret)]
    return {line[at : at + 6] for line in lines for at in range(len(line) - 5)}


def left(secret: str, result: ToolResult) -> set[str]:
    text = result.model_dump_json()
    return {piece for piece in pieces(secret) if piece in text}


async def diff_of(shop: Shop, number: int) -> ToolResult:
    workspace = shop.open()
    tool = GetDiff(DeployHistory(workspace.deploy_sources, workspace.catalog), workspace.catalog)
    return await tool.run(GetDiffArguments(deploy=str(number)), CallContext(NOW, {}))


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    shop = Shop(tmp_path)
    shop.service("checkout")
    return shop


def released(shop: Shop, place: Place, secret: str) -> None:
    shop.release("checkout", 1, timedelta(minutes=60), {place.path: place.before})
    shop.release("checkout", 2, timedelta(minutes=40), {place.path: place.written(secret)})
    shop.release("checkout", 3, timedelta(minutes=20), {place.path: place.before})
    shop.incident(summary=f"{place.name} is refused")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("where", PLACES)
async def test_no_piece_of_a_planted_secret_is_handed_over(
    shop: Shop, where: str, kind: str
) -> None:
    secret, place = KINDS[kind](random.Random(f"{where} {kind}")), PLACES[where]
    released(shop, place, secret)
    redactor = Redactor()

    came, went = await diff_of(shop, 2), await diff_of(shop, 3)
    ranked = await searched(shop.open(), incident="INC-1")

    assert left(secret, came)
    assert left(secret, went)
    for result in (came, went):
        shown = redactor.result(result)
        assert left(secret, shown) == set()
        assert place.name in shown.text
        assert "[redacted: " in shown.text
        assert redactor.result(shown) == shown
    assert left(secret, redactor.result(ranked)) == set()


@pytest.mark.parametrize("kind", KINDS)
async def test_no_piece_of_a_secret_in_words_about_a_change_is_handed_over(
    shop: Shop, kind: str
) -> None:
    secret = _one_line(KINDS[kind](random.Random(kind)))
    shop.release("checkout", 1, timedelta(minutes=60), {"a.py": "X = 1\n"})
    shop.git("checkout", "commit", "--allow-empty", "-m", f"Set password={secret} for now")
    sha = shop.git("checkout", "rev-parse", "HEAD")
    title = f"with token={secret}"
    shop.release("checkout", 2, timedelta(minutes=40), sha=sha, title=title)
    shop.incident()

    results = [await diff_of(shop, 2), await searched(shop.open(), deploy="2")]

    for result in results:
        assert left(secret, result)
        assert left(secret, Redactor().result(result)) == set()


@pytest.mark.parametrize("secret", [",}J%+Hx4Hra9", "}J%+Hx4,Hra9", "]]J%+Hx4Hra9"])
def test_a_password_may_begin_with_what_ends_a_block(secret: str) -> None:
    text = f"db: added {{port: 5, password: {secret}, empty: , pool: {{a: }}, host: mx}} in a.json"

    assert shown(text) == text.replace(secret, "[redacted: password]")


# --- what stays --------------------------------------------------------------------------------


async def test_a_block_without_secrets_is_told_as_it_is(shop: Shop) -> None:
    before = "timeout: 5s\n"
    after = (
        "timeout: 5s\nauth:\n  type: oauth2\n  url: https://sso.shop.test/x\n  token_ttl: 900\n"
        "  header: X-Api-Key\n  retries: [1, 2, 30]\n  keys: {primary_key: id, cache_key: user}\n"
        "data:\n  version: v1.2.3-abc123\n  level: production\n"
    )
    shop.release("checkout", 1, timedelta(minutes=60), {"config/app.yaml": before})
    shop.release("checkout", 2, timedelta(minutes=40), {"config/app.yaml": after})

    result = await diff_of(shop, 2)

    assert "auth: added {type: oauth2" in result.text
    assert Redactor().result(result) is result


async def test_names_of_a_key_are_no_names_of_code(shop: Shop) -> None:
    secret = pem(random.Random(4))
    code = f'KEY = """{secret}"""\nvalue = read_request_budget(ledgerClient)\n'
    shop.release("checkout", 1, timedelta(minutes=60), {"a.py": "X = 1\n"})
    shop.release("checkout", 2, timedelta(minutes=40), {"a.py": code})

    result = await diff_of(shop, 2)

    assert isinstance(result.value, DiffShown)
    assert result.value.names_added == ("ledgerClient", "read_request_budget")
    masked = Redactor().result(result).value
    assert isinstance(masked, DiffShown)
    assert masked.names_added == result.value.names_added


def shown(text: str) -> str:
    result = ToolResult(status=Status.OK, summary="s", text=text, value=TextRead(text=text))
    return Redactor().result(result).text


def test_words_of_a_secret_stay_elsewhere_and_its_pieces_do_not() -> None:
    text = "password: production-Zx9kQ2mP7vLw\nenvironment: production\nsaw kQ2mP7v there"

    assert shown(text) == (
        "password: [redacted: password]\nenvironment: production\nsaw [redacted: password] there"
    )


def test_a_secret_made_of_words_is_masked_whole_and_a_word_only_beside_its_name() -> None:
    text = "password: correct-horse-battery\nsaw correct-horse-battery, a horse-battery\n"
    assert shown(text) == (
        "password: [redacted: password]\nsaw [redacted: password], a horse-battery\n"
    )
    text = "POSTGRES_PASSWORD: checkout\nservice checkout is up\n"
    assert "service checkout is up" in shown(text)


def test_a_few_digits_of_a_commit_are_no_trace_of_a_secret() -> None:
    secret = "0123456789abcdef0123456789abcdef"
    text = f"api_key={secret}\ncommit 63f3c0123456d2f0c4f2f6b5 and the end 9abcdef"

    assert shown(text) == (
        "api_key=[redacted: api key]\ncommit 63f3c0123456d2f0c4f2f6b5 and the end"
        " [redacted: api key]"
    )


def test_the_default_of_a_secret_switch_is_masked() -> None:
    switch = Switch(name="signing_token", variable="SHOP_SIGNING_TOKEN", default="kQ2mP7vLw4T",
                    others=("plain",))  # fmt: skip
    plain = Switch(name="signing", variable="SHOP_SIGNING", default="when_needed")

    redactor = Redactor()

    assert redactor._model(switch, Traces()).default == "[redacted: token]"
    assert redactor._model(plain, Traces()) is plain


@pytest.mark.parametrize(
    "crafted",
    [": added {", ": added {a: ", ", a: ", ": {", "x → ", "{a, ", "[", "}", 'variable "x_token" {',
     'variable "x_token" { default = "', "stringData: added {a: b, ", ": a → "],
)  # fmt: skip
def test_time_grows_with_the_length_of_what_is_told_and_no_faster(crafted: str) -> None:
    def seconds(size: int) -> float:
        text = "password=Zx9kQ2mP7vLw4T db: added {" + (crafted * (size // len(crafted)))
        since = time.process_time()
        shown(text)
        return time.process_time() - since

    short = min(seconds(10_000) for _ in range(3))
    tries = (seconds(100_000) for _ in range(3))

    assert any(long <= max(20 * short, 0.05) for long in tries)
