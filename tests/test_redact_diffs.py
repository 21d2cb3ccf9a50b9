"""A diff without secrets reaches the model byte for byte, however much it speaks of tokens."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from bot.redact import Redactor

# Path, what stands in it before, and the lines replaced: (old, new).
CHANGES: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "auth/session.py": (
        '''\
import hashlib
import os
from typing import Optional

TOKEN_TTL_SECONDS = 900
SECRET_KEY = os.environ["SECRET_KEY"]
PASSWORD_RESET_PATH = "/account/password/reset"


class Session:
    token: Optional[str] = None
    password_hash: bytes

    def __init__(self, token: str, *, auth: "Auth | None" = None) -> None:
        self.token = token
        self.auth = auth or Auth(token=token, secret=SECRET_KEY)

    def check(self, password: str, pwd_salt: bytes) -> bool:
        """Compare password: the digest, never the text itself."""
        if not password:
            raise ValueError("password: must not be empty")
        digest = hashlib.pbkdf2_hmac("sha256", password.encode(), pwd_salt, 1000)
        return digest == self.password_hash
''',
        [
            ("TOKEN_TTL_SECONDS = 900", "TOKEN_TTL_SECONDS = 60"),
            ('os.environ["SECRET_KEY"]', 'os.environ.get("SECRET_KEY", "")'),
            ("pwd_salt, 1000)", "pwd_salt, 600_000)"),
        ],
    ),
    "web/src/login.tsx": (
        """\
import { useAuth } from './auth';

type Props = { password: string; token?: string; onToken: (token: string) => void };

export const AUTH_HEADER = 'Authorization';

export function Login({ password, token, onToken }: Props) {
  const { client, authToken } = useAuth();
  const headers = { [AUTH_HEADER]: `Bearer ${authToken}` };
  if (password !== client.password) throw new Error('invalid password: try again');
  return (
    <input type="password" name="password" placeholder="Password" autoComplete="current-password" />
  );
}
export const token = process.env.GITHUB_TOKEN;
""",
        [
            ("`Bearer ${authToken}`", "`Token ${authToken}`"),
            ("process.env.GITHUB_TOKEN", "process.env.GH_TOKEN ?? ''"),
        ],
    ),
    "cmd/server/main.go": (
        """\
package main

type Config struct {
	Password    string `json:"password" env:"DB_PASSWORD"`
	Token       string `json:"token"`
	TokenBudget int    `json:"token_budget"`
}

func connect(cfg Config, secret string) (*DB, error) {
	dsn := fmt.Sprintf("postgres://%s:%s@%s/app", cfg.User, cfg.Password, cfg.Host)
	token := os.Getenv("API_TOKEN")
	if token == "" {
		return nil, errors.New("token: missing")
	}
	return open(dsn, token, WithSecret(secret))
}
""",
        [("TokenBudget int ", "TokenBudget int64"), ('"token: missing"', '"API_TOKEN is not set"')],
    ),
    "deploy/values.yaml": (
        """\
image:
  repository: registry.example.com/checkout
  digest: sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
resources:
  limits: {cpu: 500m, memory: 512Mi}
auth:
  enabled: true
  existingSecret: checkout-auth
  secretKeys: {adminPasswordKey: postgres-password}
retry:
  budget: 5s
  token_bucket: 100
env:
  - name: DB_PASSWORD
    valueFrom:
      secretKeyRef:
        name: checkout-db
        key: password
  - name: API_TOKEN
    value: $(VAULT_API_TOKEN)
  - name: MAX_TOKENS
    value: "4000"
""",
        [
            ("budget: 5s", "budget: 1s"),
            (
                "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
                "60303ae22b998861bce3b28f33eec1be758a213c",
            ),
            ('value: "4000"', 'value: "1000"'),
            ("key: password", "key: password-v2"),
        ],
    ),
    ".github/workflows/deploy.yml": (
        """\
on: push
permissions: {id-token: write, contents: read}
jobs:
  deploy:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@8f4b7f84864484a7bf31766abe9204da3cbe65b3
        with:
          token: ${{ secrets.GITHUB_TOKEN }}
      - run: npm publish
        env:
          NODE_AUTH_TOKEN: ${{ secrets.NPM_TOKEN }}
      - run: curl -H "Authorization: Bearer $TOKEN" -u "$USER:$PASS" https://api.example.com
    secrets: inherit
""",
        [
            (
                "8f4b7f84864484a7bf31766abe9204da3cbe65b3",
                "b4ffde65f46336ab88eb53be808477a3936bae11",
            ),
            ("${{ secrets.NPM_TOKEN }}", "${{ secrets.NPM_PUBLISH_TOKEN }}"),
        ],
    ),
    "package-lock.json": (
        """\
{
  "name": "checkout",
  "lockfileVersion": 3,
  "packages": {
    "node_modules/jsonwebtoken": {
      "version": "9.0.1",
      "resolved": "https://registry.npmjs.org/jsonwebtoken/-/jsonwebtoken-9.0.1.tgz",
      "integrity": "sha512-K8wx7eJ5TPvEjuiVSkv167EVboBDv9PZdDoF7BgeQnBLVvZWW9clr2PsQHVJDTKaEIH5JBIwHujGcHp7GgI2eg==",
      "dependencies": {"jws": "^3.2.2", "js-tokens": "^4.0.0"}
    },
    "node_modules/@babel/helper-validator": {"version": "7.22.5"}
  }
}
""",
        [
            ('"version": "9.0.1"', '"version": "9.0.2"'),
            ("jsonwebtoken-9.0.1.tgz", "jsonwebtoken-9.0.2.tgz"),
            (
                "sha512-K8wx7eJ5TPvEjuiVSkv167EVboBDv9PZdDoF7BgeQnBLVvZWW9clr2PsQHVJDTKaEIH5JBIwHujGcHp7GgI2eg==",
                "sha512-PRp66vJ865SSqOlgqS8hujT5U4AOgMfhrwYIuIhfKaoSCZcirrmASQr8CX7cUg+RMih+hgznrjp99o+W4pJLHQ==",
            ),
        ],
    ),
    "infra/database.tf": (
        """\
variable "db_password" {
  type      = string
  sensitive = true
}

resource "random_password" "db" {
  length = 24
}

resource "aws_db_instance" "main" {
  identifier             = "checkout"
  username               = "app"
  password               = random_password.db.result
  master_user_secret_arn = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:db-AbCdEf"
  kms_key_id             = aws_kms_key.main.arn
  token                  = data.vault_generic_secret.db.data["token"]
  backup_retention       = 7
}
""",
        [
            ("length = 24", "length = 32"),
            ("random_password.db.result", "var.db_password"),
            ("backup_retention       = 7", "backup_retention       = 1"),
        ],
    ),
    "src/main/resources/application.properties": (
        """\
spring.datasource.url=jdbc:postgresql://${DB_HOST}:5432/app
spring.datasource.username=app
spring.datasource.password=${DB_PASSWORD}
security.jwt.token.expire-length=3600000
security.password.min-length=8
llm.max_tokens=4000
logging.level.org.springframework.security=DEBUG
management.endpoint.env.keys-to-sanitize=password,secret,token
api.key.header=X-Api-Key
""",
        [
            ("expire-length=3600000", "expire-length=60000"),
            ("max_tokens=4000", "max_tokens=1000"),
            ("=DEBUG", "=INFO"),
        ],
    ),
    "lib/parser.rb": (
        """\
class Parser
  KEYWORDS = %w[if then else end].freeze

  def next_token
    token = @tokens.shift
    return Token.new(:eof) if token.nil?

    raise ParseError, "unexpected token: #{token}" unless KEYWORDS.include?(token.text)

    @token = token
  end

  def password = ENV.fetch("DB_PASSWORD")
end
""",
        [
            ("%w[if then else end]", "%w[if then else elsif end]"),
            ('"unexpected token: #{token}"', '"line #{line}: unexpected token #{token}"'),
        ],
    ),
    "db/migrate/0042_tokens.sql": (
        """\
ALTER TABLE users ADD COLUMN password_digest varchar(255) NOT NULL;
CREATE TABLE tokens (
  id uuid PRIMARY KEY,
  token varchar(64) NOT NULL,
  secret text,
  FOREIGN KEY (user_id) REFERENCES users (id)
);
INSERT INTO tokens (id, token) VALUES ('123e4567-e89b-12d3-a456-426614174000', 'none');
CREATE INDEX token_key ON tokens (token);
""",
        [
            ("varchar(64)", "varchar(32)"),
            ("CREATE INDEX token_key", "CREATE UNIQUE INDEX token_key"),
        ],
    ),
    "docs/login.md": (
        """\
# Passwords and tokens

Set the password to the value from the vault: `DB_PASSWORD=<password>`.
The access token: how it is issued, and why the secret: is never logged.
Use `Authorization: Bearer <token>`; Basic authentication is off.

    export API_TOKEN=your-api-token
    psql postgres://user:password@localhost:5432/app
    curl -u user:password https://api.example.com/v1?token=YOUR_TOKEN

| setting | default |
| --- | --- |
| token_budget | 200 |
""",
        [("| token_budget | 200 |", "| token_budget | 100 |"), ("is off", "is on")],
    ),
    "config/llm.toml": (
        """\
[model]
tokenizer = "cl100k_base"
max_tokens = 4000
eos_token = "<|endoftext|>"
api_key_env = "OPENAI_API_KEY"
token_url = "https://auth.example.com/oauth/token"

[cache]
cache_key = "prompt:v2:4471"
primary_key = "id"
secret_name = "llm-credentials"
""",
        [("max_tokens = 4000", "max_tokens = 1000"), ("prompt:v2:4471", "prompt:v3:4472")],
    ),
    "certs/ca.pem": (
        """\
-----BEGIN CERTIFICATE-----
MIIBtjCCAVugAwIBAgITBmyf1XSXNmY/Owua2eiedgPySjAKBggqhkjOPQQDAjA5
MQswCQYDVQQGEwJVUzEPMA0GA1UEChMGQW1hem9uMRkwFwYDVQQDExBBbWF6b24g
-----END CERTIFICATE-----
""",
        [
            (
                "MQswCQYDVQQGEwJVUzEPMA0GA1UEChMGQW1hem9uMRkwFwYDVQQDExBBbWF6b24g",
                "Um9vdCBDQSAzMB4XDTE1MDUyNjAwMDAwMFoXDTQwMDUyNjAwMDAwMFowOTELMAkG",
            )
        ],
    ),
}


def git(repo: Path, *arguments: str) -> str:
    who = ("-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "core.quotepath=false")
    done = subprocess.run(
        ["git", *who, *arguments], cwd=repo, capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    repo = tmp_path_factory.mktemp("repo")
    git(repo, "init", "-q")
    for stage in (0, 1):
        for name, (text, changes) in CHANGES.items():
            path = repo / name
            path.parent.mkdir(parents=True, exist_ok=True)
            written = text
            for old, new in changes if stage else []:
                assert old in written, f"{name}: nothing to change"
                written = written.replace(old, new)
            path.write_text(written)
        git(repo, "add", "-A")
        git(repo, "commit", "-q", "-m", f"stage {stage}")
    return repo


@pytest.mark.parametrize("path", CHANGES)
@pytest.mark.parametrize("context", [0, 3, 99])
def test_a_diff_that_holds_no_secret_is_not_changed(repo: Path, path: str, context: int) -> None:
    diff = git(repo, "diff", f"-U{context}", "HEAD~1", "HEAD", "--", path)
    hunks = diff[diff.index("\n@@") :]

    assert diff.count("\n+") > 1
    assert Redactor().text(diff) == diff
    assert (
        Redactor().text(f"=== M {path} [code] +1 −1{hunks}") == f"=== M {path} [code] +1 −1{hunks}"
    )
    assert Redactor().text(hunks) == hunks


def test_a_whole_diff_that_holds_no_secret_is_not_changed(repo: Path) -> None:
    redactor = Redactor()
    diff = git(repo, "diff", "HEAD~1", "HEAD")
    history = git(repo, "log", "-p", "--stat")

    assert diff.count("diff --git") == len(CHANGES) >= 10
    assert redactor.text(diff) == diff
    assert redactor.text(history) == history
