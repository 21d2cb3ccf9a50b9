"""Secrets are out before anyone sees a text, and everything else is as it was (M19)."""

from __future__ import annotations

import base64
import json
import random
import re
import time
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot.redact import Redactor
from tools.base import Status, ToolResult
from tools.records import (
    Deploy,
    DiffShown,
    Direction,
    FileChange,
    FileKind,
    FileStatus,
    Highlight,
    PageRead,
    TextRead,
)

SECRET = "Zx9kQ2mP7vLw4T"
NONE_LEFT = re.compile(re.escape(SECRET))
MASK = re.compile(r"\[redacted: [a-z0-9. ]+(?: #\d+)?\]")


def redacted(text: str) -> str:
    return Redactor().text(text)


def pem(label: str = "RSA PRIVATE KEY", seed: int = 1, lines: int = 12) -> list[str]:
    chance = random.Random(seed)
    body = base64.b64encode(chance.randbytes(48 * lines - 7)).decode()
    rows = [body[at : at + 64] for at in range(0, len(body), 64)]
    return [f"-----BEGIN {label}-----", *rows, f"-----END {label}-----"]


# --- values of names, in every syntax ----------------------------------------------------------

WRITTEN = """\
DB_PASSWORD=§
export API_TOKEN=§
  - DB_PASSWORD=§
  DB_PASSWORD: §
db.password=§
db.password = §
password: §
"password": "§",
'password' => '§',
password: '§',
:password => "§"
Password: "§",
password = "§"
const password = '§';
private static final String PASSWORD = "§";
password := "§"
var token string = "§"
def f(token: str = "§"):
token: Optional[str] = "§"
SECRET_KEY = '§'
app.secret_key = b'§'
password=\"\"\"§\"\"\"
if password == "§":
PASSWORD='§' ./run
os.environ["DB_PASSWORD"] = "§"
os.environ.get("DB_PASSWORD", "§")
process.env.DB_PASSWORD || "§"
setPassword("§")
client.withToken("§")
config.set('password', '§')
auth: { user: 'me', pass: '§' }
auth=("me", "§")
HTTPBasicAuth("me", "§")
{"auth":{"token":"§"}}
{\\"auth\\":{\\"token\\":\\"§\\"}}
{"name": "DB_PASSWORD", "value": "§"}
{"Name":"API_TOKEN","Value":"§"}
<password>§</password>
<add key="ApiToken" value="§"/>
Server=h;User=sa;Password=§;Encrypt=true
"ConnectionStrings": "Server=h;Password=§;"
host=h user=u password=§ dbname=d
DSN=me:§@tcp(db:3306)/x
ALTER USER bob WITH PASSWORD '§';
CREATE USER bob IDENTIFIED BY '§';
machine h login me password §
//registry.npmjs.org/:_authToken=§
_auth=§
ENV DB_PASSWORD §
ENV DB_PASSWORD=§
PGPASSWORD=§ psql
--password=§
--password §
--token "§"
-Dspring.datasource.password=§
kubectl create secret generic x --from-literal=password=§
helm upgrade --set db.password=§
mysql -uroot -p§ db
sshpass -p § ssh h
docker login -u me -p § reg.io
redis-cli -h h -a § ping
curl -u me:§ https://h
curl --user 'me:§' https://h
curl -H "X-Api-Key: §" h
curl -H 'Authorization: Bearer §' h
Authorization: §
"Authorization": "Token §"
Token token=§
X-Vault-Token: §
Cookie: sid=§; theme=dark
Set-Cookie: sid=§; Path=/; HttpOnly
https://me:§@h.example/p
https:\\/\\/me:§@h.example\\/p
redis://:§@h.example:6379/0
postgres://app:x@§/z@db.internal:5432/app
https://h.example/p?access_token=§&x=1
https://h.example/p?sig=§
client_secret=§&grant_type=x
AWS_SECRET_ACCESS_KEY=§/abcd+Efgh
level=info msg=login password=§ user=bob
time=1 token=§ status=200
DB_PASSWORD: § → §x
the database password is §
the new password is now: §
the password "§" was leaked
with password §, please rotate
Invalid API key: §
Incorrect API key provided: §
requirepass §
helm upgrade --set db.password=§,db.port=5
SECRET_KEY_BASE=§
secret_key_base: §
DBPASS=§
rootpw: §
keytool -storepass §
curl -sSfu me:§ https://h
curl --proxy-user me:§ https://h
ldapsearch -D cn=me -w § -b x
AUTHORIZATION: BEARER §
request(app).get("/").auth("me", "§")
CREATE USER bob IDENTIFIED BY "§";
CREATE USER bob IDENTIFIED WITH mysql_native_password BY '§';
SET PASSWORD FOR 'bob'@'%' = '§';
<property name="password">§</property>
<entry key="db.password">§</entry>
<password><![CDATA[§]]></password>
{"value": "§", "name": "DB_PASSWORD"}
tokens: ["§", "x"]
{"apiKeys": {"billing": "§", "other": 1}}
secrets = { db = "§" }
secrets: { db: §, port: 5 }
"secret": {"value": "§"}
""".splitlines()


@pytest.mark.parametrize("sign", ["", "+", "-", " ", "    "])
@pytest.mark.parametrize("written", WRITTEN)
def test_the_value_of_a_secret_like_name_is_masked_and_the_name_stays(
    written: str, sign: str
) -> None:
    line = sign + written.replace("§", SECRET)

    shown = redacted(f"before\n{line}\nafter\n")

    assert not NONE_LEFT.search(shown)
    assert MASK.search(shown)
    words = re.findall(r"\w*(?:PASSWORD|password|Password|TOKEN|[tT]oken|secret|KEY|Key)\b", line)
    assert [word for word in words if word not in shown] == []
    assert shown.startswith(f"before\n{sign}")
    assert shown.endswith("\nafter\n")


@pytest.mark.parametrize("number", ["", "7"])
def test_a_kubernetes_env_pair_shows_that_the_value_changed(number: str) -> None:
    shown = redacted(
        "         - name: X_TOKEN\n"
        "-          value: 7f8a9b0c1d2e\n"
        f"+          value: 8f8a9b0c1d2e{number}\n"
        "         - name: LOG_LEVEL\n"
        "-          value: info\n"
        "+          value: debug\n"
    )

    assert shown == (
        "         - name: X_TOKEN\n"
        "-          value: [redacted: token]\n"
        "+          value: [redacted: token #2]\n"
        "         - name: LOG_LEVEL\n"
        "-          value: info\n"
        "+          value: debug\n"
    )


@pytest.mark.parametrize("sign", ["", " ", "+", "-"])
@pytest.mark.parametrize("kind_first", [True, False])
def test_every_value_of_a_kubernetes_secret_is_masked(sign: str, kind_first: bool) -> None:  # noqa: FBT001
    kind = ["kind: Secret"]
    data = [
        "data:",
        "  user: YWRtaW4=",
        "  conf.yml: c3VwZXI=",
        "stringData:",
        "  note: plain words",
    ]
    rest = ["metadata:", "  name: app"]
    lines = ["apiVersion: v1", *(kind + data if kind_first else data + kind), *rest]
    other = ["---", "kind: ConfigMap", "data:", "  level: debug"]

    shown = redacted("\n".join(sign + line for line in [*lines, *other]))

    masked = MASK.sub("MASK", shown).split("\n")
    assert [line.removeprefix(sign) for line in masked] == [
        re.sub("YWRtaW4=|c3VwZXI=|plain words", "MASK", line) for line in [*lines, *other]
    ]


def test_a_yaml_block_scalar_is_masked_to_its_last_line_and_no_further() -> None:
    shown = redacted(
        "+db:\n+  password: |\n+    first L1ne\n+\n+    second L1ne\n+  pool: 5\n+  api_key: >-\n"
        "+    Zx9kQ2mP7vLw4TZx9kQ2mP7vLw4T\n+  retries: 3\n"
    )

    assert shown == (
        "+db:\n+  password: |\n+    [redacted: password]\n+  pool: 5\n+  api_key: >-\n"
        "+    [redacted: api key]\n+  retries: 3\n"
    )


@pytest.mark.parametrize("sign", ["", "+", "    "])
def test_a_private_key_is_masked_whole(sign: str) -> None:
    key = "\n".join(sign + line for line in pem())

    shown = redacted(f"{sign}a: 1\n{key}\n{sign}b: 2\n")

    assert shown == f"{sign}a: 1\n{sign}[redacted: private key]\n{sign}b: 2\n"


@pytest.mark.parametrize(
    "label",
    [
        "PRIVATE KEY", "RSA PRIVATE KEY", "DSA PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY",
        "ENCRYPTED PRIVATE KEY", "PGP PRIVATE KEY BLOCK",
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "form",
    [
        "\n".join,
        "\r\n".join,
        lambda rows: json.dumps({"key": "\n".join(rows) + "\n"}),
        lambda rows: json.dumps(json.dumps({"key": "\r\n".join(rows)})),
        lambda rows: "key = (\n" + "\n".join(f'    "{row}\\n"' for row in rows) + "\n)",
        lambda rows: "key = " + " +\n  ".join(f"'{row}\\n'" for row in rows) + ";",
        lambda rows: "\n".join(rows[:-1]),
        lambda rows: "\n".join(rows)[:300],
        lambda rows: json.dumps("\n".join(rows))[:300],
        lambda rows: "key: |\n" + "\n".join(f"  {row}" for row in rows) + "\nnext: 1",
        lambda rows: "\n".join(
            [rows[0], "Proc-Type: 4,ENCRYPTED", "DEK-Info: AES-128-CBC,0A", "", *rows[1:]]
        ),
    ],
)
def test_a_private_key_is_found_in_any_form(label: str, form: Callable[[list[str]], str]) -> None:
    rows = pem(label)

    shown = redacted(f"text before\n{form(rows)}\ntext after")

    assert [row for row in rows if row in shown or row[:24] in shown] == []
    assert "[redacted: private key]" in shown
    assert shown.startswith("text before\n")
    assert shown.endswith("\ntext after")


def test_a_private_key_whose_beginning_is_cut_off_is_masked() -> None:
    rows = pem()

    shown = redacted("@@ -9,4 +9,4 @@\n" + "\n".join(f" {row}" for row in rows[-4:]) + "\n x = 1\n")

    assert shown == "@@ -9,4 +9,4 @@\n [redacted: private key]\n x = 1\n"


def test_a_changed_private_key_is_seen_to_have_changed() -> None:
    old, new = pem(seed=1), pem(seed=2)
    diff = "\n".join([f"-{row}" for row in old] + [f"+{row}" for row in new])

    assert redacted(diff) == "-[redacted: private key]\n+[redacted: private key #2]"
    within = [f" {old[0]}", *(f"-{row}" for row in old[1:-1]), *(f"+{row}" for row in new[1:-1])]
    shown = redacted("\n".join([*within, f" {old[-1]}"])).split("\n")
    assert [line[0] for line in shown] == [" ", "-", "+", " "]
    assert len({MASK.sub("", line) for line in shown if line[0] in "+-"}) == 2
    assert len(set(MASK.findall("\n".join(shown)))) == 4


def test_the_same_private_key_has_one_mask_however_it_is_written() -> None:
    rows = pem()
    redactor = Redactor()

    forms = [
        "\n".join(rows),
        "\r\n".join(rows),
        "\n".join("+" + row for row in rows),
        "\\n".join(rows),
    ]

    assert {redactor.text(form).lstrip("+") for form in forms} == {"[redacted: private key]"}


@pytest.mark.parametrize(
    "label", ["CERTIFICATE", "PUBLIC KEY", "RSA PUBLIC KEY", "CERTIFICATE REQUEST"]
)
def test_what_is_public_in_pem_stays(label: str) -> None:
    text = "\n".join(["+" + row for row in pem(label)])

    assert redacted(text) == text


def test_a_putty_key_is_masked() -> None:
    rows = pem()[1:-1]
    text = "\n".join(
        ["PuTTY-User-Key-File-2: ssh-rsa", "Encryption: none", "Comment: me", f"Public-Lines: {len(rows)}", *rows,
         f"Private-Lines: {len(rows)}", *rows, "Private-MAC: 0f0f0f"]
    )  # fmt: skip

    assert redacted(f"a\n{text}\nb") == "a\n[redacted: private key]\nb"
    assert rows[-1] not in redacted(text[:-30])


# --- what is no secret -------------------------------------------------------------------------

KEPT = r"""
const t = process.env.GITHUB_TOKEN;
token: ${{ secrets.GITHUB_TOKEN }}
DB_PASSWORD=${DB_PASSWORD}
DB_PASSWORD=$DB_PASSWORD
password: {{ .Values.token }}
password = os.environ["DB_PASSWORD"]
password = os.getenv("DB_PASSWORD", "")
api_key: vault:secret/data/app#key
secret = get_secret("prod/db")
password: null
password: true
password:
password: ""
password: changeme
password: <token>
password = "xxx"
password: str
token: Optional[str] = None
token: str | None = None,
def login(user: str, password: str, token: Token) -> None:
token_budget: 200
max_tokens: 4000
"max_tokens": 4000,
password_min_length: 8
retry.budget: 5s
secret_key_name: app-secret
primary_key = "user_id"
cache_key: "user:1234:profile"
public_key: "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQC7"
foreign_key: "a1b2c3d4e5f6a7b8"
key: value
keyboard: us
keyword: a1b2c3d4e5f6
tokenizer = "cl100k_base"
token_count = "a1b2c3d4e5f6"
eos_token: "<|endoftext|>"
next_page_token = "abcdef0123456789"
commit 63f3c91d2f0c4f2f6b5b6e1c7f3a2b1c0d9e8f7a
image: app@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
docker pull registry:5000@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
id: 123e4567-e89b-12d3-a456-426614174000
type Config struct { Password string `json:"password"` }
private String password;
self.token = token
if (password !== confirmPassword) {
token = request.headers.get("Authorization")
headers = {"Authorization": f"Bearer {token}"}
headers: { Authorization: `Bearer ${token}` }
curl -H "Authorization: Bearer $TOKEN" -u "$USER:$PASS" https://api.example.com
docker run -u 1000:1000 -p 8080:80 app
<input type="password" name="password" placeholder="Password" />
"forgotPassword": "Forgot your password?"
password: "Enter your password"
error: invalid token: unexpected token '}' at position 4
raise ValueError("password: must not be empty")
token = tokens[i]
while token != "end":
auth: none
"auth": {"type": "oauth2"}
  valueFrom:
    secretKeyRef:
      name: app-secrets
      key: db-password
secretName: wildcard-tls
secret: oncall-bot-slack
- name: API_TOKEN
  value: $(API_TOKEN)
password_file: /run/secrets/db_password
POSTGRES_PASSWORD_FILE=/run/secrets/db
token_path = "~/.config/app/token"
password_hash = hashlib.sha256(password.encode()).hexdigest()
"integrity": "sha512-9ZaRz5mJJTMHo2cGXGLK7nGtS4a1xl4fL3s8A2c2wzkqMa4yIuT1Yg=="
uses: actions/checkout@8f4b7f84864484a7bf31766abe9204da3cbe65b3
see https://github.com/a/b/commit/63f3c91d2f0c4f2f6b5b6e1c7f3a2b1c0d9e8f7a?diff=split
git@github.com:org/repo.git
https://example.com:8080/path@v1.2.3
https://registry.npmjs.org/@scope/pkg/-/pkg-1.0.0.tgz
postgres://user:password@localhost:5432/db
postgres://${USER}:${PASS}@host/db
SESSION_COOKIE_SECURE = True
SECRET_KEY = env("SECRET_KEY")
ACCESS_TOKEN_EXPIRE_MINUTES = 30
token_url: https://auth.example.com/oauth/token
"token_type": "bearer"
password     VARCHAR(255) NOT NULL,
The access token: how it works
Set the password to the value of the token.
Basic authentication is on; Bearer authentication required
Cookie: ${cookie}
string password = 2;
password: { type: 'string', required: true },
password: z.string(),
password = var.db_password
password: ENC[AES256_GCM,data:abc=,iv:abc=,tag:abc=,type:str]
CHALLENGE_PASSWORD: "challengePassword",
builder.sign(private_key, "NotAHash", backend)
--token TOKEN   the token to use
--password string   Password for the registry
usage: {"prompt_tokens": 120, "total_tokens": 240}
getToken(): string {
routing_key: "orders.created"
api_key: ENV['API_KEY']
password: @password
bypass: true
author: Jane
"key": "abc123def456"
deploy 4471 at 02:14 UTC by amber, 5s → 1s
retry.token.limit: 5 → 1
if x.startswith("-----BEGIN RSA PRIVATE KEY-----") and x.endswith("-----END RSA PRIVATE KEY-----"):
image: registry.example/auth:9f8e7d6c5b4a39281706f5e4d3c2b1a0
auth 9f8e7d6c5b4a3928 is live again
Token parser2000Factory fails
unexpected token 'access' at 12
token refresh failed for checkout-7d9f8b6c5-x2x9z
cache key: user-9f8e7d6c5b4a
public key: 9f8e7d6c5b4a39281706f5e4d3c2b1a0
the API key is rotated
bypass=9xK2mP7vLw4T
tokens: { brand: "#3b82f6", accent: "#1a2B3c" }
keys: ["9f8e7d6c5b4a39281706f5e4d3c2b1a0"]
"secrets": [{"name": "DB", "valueFrom": "arn:aws:secretsmanager:eu:1:secret:db-AbCdEf"}]
secret: { name: app-tls-9f8e7d6c5b4a3, optional: true }
auth: { image: "registry/auth:9f8e7d6c5b4a3", replicas: 3 }
curl -sSfu https://x.example/y
<entry key="token.ttl">3600</entry>
connect(token=oauth2AccessToken, host=x)
""".strip().splitlines()


@pytest.mark.parametrize("line", KEPT)
def test_what_is_no_secret_stays(line: str) -> None:
    for text in (line, f"+{line}", f"before\n-{line}\nafter", f"+++ b/app.py\n+{line}\n"):
        assert redacted(text) == text


def test_a_reference_to_a_secret_is_not_taken_for_one() -> None:
    diff = (
        "diff --git a/ci.js b/ci.js\n--- a/ci.js\n+++ b/ci.js\n@@ -1,2 +1,2 @@\n"
        "-const token = process.env.GH_TOKEN\n+const token = process.env.GITHUB_TOKEN\n"
        " octokit({ auth: process.env.GITHUB_TOKEN })\n"
    )

    assert redacted(diff) == diff


def test_what_is_not_quoted_is_a_value_in_configuration_and_a_reference_in_code() -> None:
    hunk = "@@ -1 +1 @@\n+    password: hunter\n"

    assert redacted(f"+++ b/app.yml\n{hunk}") == f"+++ b/app.yml\n{hunk}".replace(
        "hunter", "[redacted: password]"
    )
    assert redacted(f"=== M app.yml [configuration] +1 −0\n{hunk}").endswith(
        "[redacted: password]\n"
    )
    assert redacted(f"+++ b/app.ts\n{hunk}") == f"+++ b/app.ts\n{hunk}"
    both = f"+++ b/app.yml\n{hunk}+++ b/app.ts\n{hunk}"
    assert redacted(both).count("hunter") == 1


# --- masks -------------------------------------------------------------------------------------


def test_the_same_secret_has_the_same_mask_and_another_one_a_number() -> None:
    redactor = Redactor()

    first = redactor.text("-DB_PASSWORD=hunter2\n+DB_PASSWORD=hunter3\n")
    second = redactor.text('{"password": "hunter3"} and {"admin_password": "hunter2"}')

    assert first == "-DB_PASSWORD=[redacted: password]\n+DB_PASSWORD=[redacted: password #2]\n"
    assert second == (
        '{"password": "[redacted: password #2]"} and {"admin_password": "[redacted: password]"}'
    )


def test_each_kind_counts_for_itself() -> None:
    shown = redacted("password=hunter2 token=7f8a9b0c1d2e3f4a api_key=Zx9kQ2mP7vLw4T")

    assert (
        shown == "password=[redacted: password] token=[redacted: token] api_key=[redacted: api key]"
    )


def test_the_model_is_told_what_a_mask_means() -> None:
    assert "[redacted: KIND]" in Redactor().explanation
    assert "#2" in Redactor().explanation


def test_a_redactor_shows_no_secret_of_its_own() -> None:
    redactor = Redactor()
    redactor.text(f"password={SECRET}")

    assert SECRET not in repr(vars(redactor))


def test_a_token_that_is_cut_off_with_its_line_is_masked() -> None:
    shown = redacted("+x='ghp_Ab1Cd2Ef3Gh4… (line of 9,000 bytes cut)\n+and so on… (cut)")

    assert shown == "+x='[redacted: token cut off]… (line of 9,000 bytes cut)\n+and so on… (cut)"


pieces = st.one_of(
    st.sampled_from([each.replace("§", SECRET) for each in WRITTEN] + KEPT),
    st.sampled_from(
        ["[redacted: password]", "[redacted: token #2]", "[redacted: ", "password", "+++ b/a.yml"]
    ),
    st.sampled_from(
        [
            "password: |",
            "kind: Secret",
            "data:",
            "- name: X_TOKEN",
            "  value: ",
            "\\",
            '"',
            "'",
            "→",
        ]
    ),
    st.sampled_from(pem()),
    st.text(max_size=12),
)
texts = st.lists(st.tuples(st.sampled_from(["", "+", "-", " ", "    "]), pieces), max_size=12).map(
    lambda rows: "\n".join(sign + piece for sign, piece in rows)
)


@settings(max_examples=400, deadline=None)
@given(text=texts, glue=st.sampled_from(["\n", " ", "", ", "]))
def test_redacting_twice_changes_nothing(text: str, glue: str) -> None:
    once = redacted(text.replace("\n", glue))

    assert Redactor().text(once) == once


@settings(max_examples=200, deadline=None)
@given(text=st.text(max_size=200))
@example("İ password=hunter2")
def test_any_text_is_taken(text: str) -> None:
    redactor = Redactor()

    assert redactor.text(redactor.text(text)) == redactor.text(text)


# --- results -----------------------------------------------------------------------------------


def shown(*highlights: Highlight, subject: str = "Rotate") -> DiffShown:
    deploy = Deploy(id="d1", number=4471, service="checkout", sha="63f3c91d2f0c4f2f6b5b6e1c7f3a2b1c0d9e8f7a",
                    title=subject, finished_at=datetime(2026, 3, 1, 2, 14, tzinfo=UTC))  # fmt: skip
    return DiffShown(
        deploy=deploy, base=None, base_sha=None, base_why="it is the first", direction=Direction.FORWARD,
        commits=(), commits_total=0, files_total=1, added=1, removed=1, highlights=highlights,
        files=(FileChange(path="app.yml", status=FileStatus.MODIFIED, kind=FileKind.CONFIG, added=1, removed=1),),
    )  # fmt: skip


def test_a_highlight_of_a_secret_shows_that_it_changed_and_not_to_what() -> None:
    highlight = Highlight(path="app.yml", key="db.password", before="letmein", after="opensesame",
                          text="db.password: letmein → opensesame")  # fmt: skip
    result = ToolResult(status=Status.OK, summary=f"1 setting: {highlight.text}",
                        text=f"- {highlight.text} in app.yml\n", value=shown(highlight))  # fmt: skip

    masked = Redactor().result(result)

    assert isinstance(masked.value, DiffShown)
    line = "db.password: [redacted: password] → [redacted: password #2]"
    assert masked.value.highlights[0] == highlight.model_copy(
        update={"before": "[redacted: password]", "after": "[redacted: password #2]", "text": line}
    )
    assert masked.summary == f"1 setting: {line}"
    assert masked.text == f"- {line} in app.yml\n"


@pytest.mark.parametrize(
    "text", ["api.password: added letmein", "api.password: removed (was letmein)"]
)
def test_a_secret_that_came_or_went_is_masked_in_all_places(text: str) -> None:
    came = "added" in text
    highlight = Highlight(path="a.yml", key="api.password", before=None if came else "letmein",
                          after="letmein" if came else None, text=text)  # fmt: skip
    summary = f"deploy 4471 changed 1 file; 1 setting: {text}"
    result = ToolResult(
        status=Status.OK, summary=summary, text=f"- {text} in a.yml", value=shown(highlight)
    )

    masked = Redactor().result(result)
    cut = Redactor().result(result.model_copy(update={"summary": summary[:-3] + "…"}))

    assert "letm" not in masked.model_dump_json() + cut.model_dump_json()
    assert masked.text == f"- {text} in a.yml".replace("letmein", "[redacted: password]")


def test_a_highlight_of_a_count_or_a_reference_stays() -> None:
    highlights = [
        Highlight(path="a", key="token", before="200", after="100", text="token: 200 → 100"),
        Highlight(
            path="a",
            key="password",
            before=None,
            after="${DB_PASSWORD}",
            text="password: added ${DB_PASSWORD}",
        ),
        Highlight(
            path="a", key="retry.budget", before="5s", after="1s", text="retry.budget: 5s → 1s"
        ),
    ]
    result = ToolResult(status=Status.OK, summary="s", text="t", value=shown(*highlights))

    assert Redactor().result(result) is result


def test_every_string_of_a_value_is_redacted_and_its_type_stays() -> None:
    value = shown(subject=f"use password={SECRET}")
    result = ToolResult(
        status=Status.OK, summary=f"token={SECRET}", text=f"api_key={SECRET}", value=value
    )

    masked = Redactor().result(result)

    assert SECRET not in masked.model_dump_json()
    assert isinstance(masked.value, DiffShown)
    assert masked.value.deploy.sha == value.deploy.sha
    assert masked.value.model_copy(update={"deploy": value.deploy}) == value


@pytest.mark.parametrize(
    "value", [None, TextRead(text="plain"), PageRead(observation="o1", page=1, pages=2, text="x")]
)
def test_a_result_without_secrets_is_returned_as_it_is(value: TextRead | PageRead | None) -> None:
    result = ToolResult(status=Status.OK, summary="plain", text="plain", value=value)

    assert Redactor().result(result) is result


# --- time --------------------------------------------------------------------------------------

CRAFTED = [
    "token", "password=", 'password="', 'password=\\"', "password='", 'password="password=\'password=`', "eyJ", "eyJa.",
    "AKIA", "://a:", "://a:@", "://a@", "@", "-----BEGIN RSA PRIVATE KEY-----", "-----BEGIN RSA PRIVATE KEY-----\n",
    "-----END RSA PRIVATE KEY-----\n", "QUJD\n", "QUJDREVG", "xoxb-1-", "1234567890:", " ", "\n", "\\", '"',
    "name: X_TOKEN\n", "name: X_TOKEN\nvalue: ", "kind: Secret\ndata:\n", "[redacted: password]", "[redacted: ",
    "Cookie: a=b;", "a=b;", "mysql -u ", " login ", "glagent-", "aws key", "password: |\n", "password: a → ", "-", ".",
    "M", "aB", "a-", "sk-", "basic ", "authorization: ", "?key=", "${", "PuTTY-User-Key-File-2: a\n", "…", "8Q~",
    "T3BlbkFJ", "abcdefgh1", "-us1", "cl_key ", "the a ", "<password>", "password: a, ", 'password: "Aaaa-',
]  # fmt: skip


@pytest.mark.parametrize("start", ["", "password=", 'token: "', "Cookie: "])
@pytest.mark.parametrize("crafted", CRAFTED)
def test_time_grows_with_the_length_and_no_faster(crafted: str, start: str) -> None:
    def seconds(size: int) -> float:
        text = start + (crafted * (size // len(crafted) + 1))[:size]
        since = time.process_time()
        Redactor().text(text)
        return time.process_time() - since

    short = min(seconds(10_000) for _ in range(3))
    tries = (seconds(100_000) for _ in range(3))

    assert any(long <= max(20 * short, 0.05) for long in tries)
