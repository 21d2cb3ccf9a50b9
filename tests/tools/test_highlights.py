"""What changed is named as a person would name it, whatever format it was written in."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from tools.diffs import changed
from tools.file_kinds import kind_of
from tools.git import Git
from tools.highlights import Highlights, compare_texts, find_highlights
from tools.records import FileKind


def texts(path: str, before: str, after: str) -> set[str]:
    kind = kind_of(path)
    return {found.highlight(path).text for found in compare_texts(path, kind, before, after)}


@pytest.mark.parametrize(
    ("path", "before", "after", "expected"),
    [
        (
            "config/retry.yaml",
            "retry:\n  # how long\n  budget: 5s\n  attempts: 3\nname: x\n",
            "name: x\nretry:\n  attempts: 3\n  budget: 1s\n",
            {"retry.budget: 5s → 1s"},
        ),
        ("a.yaml", "on: yes\nn: 1_000\n", "on: no\nn: 1000\n", {"on: yes → no", "n: 1_000 → 1000"}),
        ("a.yaml", "a: 1\n", "a: 1\nb:\n  c: 2\n  d: [1, 2]\n", {"b: added {c: 2, d: [1, 2]}"}),
        ("a.yaml", "a: 1\nb: x\n", "a: 1\n", {"b: removed (was x)"}),
        ("a.yaml", "a: !Ref x\n", "a: !Ref y\n", {"a: x → y"}),
        ("helm.yaml", "{{ if x }}\na:\n  b: 5s\n{{ end }}\n", "{{ if x }}\na:\n  b: 1s\n{{ end }}\n", {"a.b: 5s → 1s"}),
        ("app.toml", "[pool]\nsize = 20\n", "[pool]\nsize = 5\n", {"pool.size: 20 → 5"}),
        ("app.json", '{"a": {"on": true, "f": 1.50}}', '{"a": {"on": false, "f": 1.5}}', {"a.on: true → false", "a.f: 1.50 → 1.5"}),
        (".env", "export TIMEOUT=5\nURL='x'\n", 'TIMEOUT=1\nURL="x"\n', {"TIMEOUT: 5 → 1"}),
        ("app.properties", "db.pool.max=20\n# c\n", "db.pool.max: 5\n", {"db.pool.max: 20 → 5"}),
        ("app.ini", "[db]\nhost = a\n[web]\nhost = b\n", "[db]\nhost = a\n[web]\nhost = c\n", {"web.host: b → c"}),
        (
            "main.tf",
            'resource "aws_db" "main" {\n  size = "large"\n  backup {\n    days = 7\n  }\n}\n',
            'resource "aws_db" "main" {\n  size = "small"\n  backup {\n    days = 1\n  }\n}\n',
            {"resource.aws_db.main.size: large → small", "resource.aws_db.main.backup.days: 7 → 1"},
        ),
        ("nginx.conf", "http {\n  proxy_read_timeout 60s;\n}\n", "http {\n  proxy_read_timeout 5s;\n}\n", {"http.proxy_read_timeout: 60s → 5s"}),
        (
            "Dockerfile",
            'FROM python:3.11 AS base\nENV A=1 B=2\nARG V=1\nCMD ["a"]\n',
            'FROM python:3.12 AS base\nENV A=1 B=3\nARG V=2\nCMD ["b"]\n',
            {"FROM[base]: python:3.11 → python:3.12", "ENV B: 2 → 3", "ARG V: 1 → 2", 'CMD: ["a"] → ["b"]'},
        ),
    ],
)  # fmt: skip
def test_a_changed_setting_has_its_dotted_key(
    path: str, before: str, after: str, expected: set[str]
) -> None:
    assert texts(path, before, after) == expected


def test_kubernetes_containers_go_by_name_and_their_order_is_no_change() -> None:
    def manifest(first: str, second: str, memory: str, timeout: str) -> str:
        containers = {
            "api": f"      - name: api\n        image: api:1\n        args: [--timeout, '{timeout}', --v=2]\n"
            f"        resources:\n          limits: {{memory: {memory}}}\n",
            "proxy": "      - name: proxy\n        image: proxy:1\n",
        }
        return (
            "apiVersion: v1\nkind: Service\nmetadata: {name: api}\n---\n"
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: api}\nspec:\n  template:\n"
            f"    containers:\n{containers[first]}{containers[second]}"
        )

    found = texts(
        "k8s/api.yaml",
        manifest("api", "proxy", "512Mi", "5s"),
        manifest("proxy", "api", "64Mi", "1s"),
    )
    where = "Deployment/api.spec.template.containers[api]"
    assert found == {
        f"{where}.resources.limits.memory: 512Mi → 64Mi",
        f"{where}.args[--timeout]: 5s → 1s",
    }


@pytest.mark.parametrize(
    ("path", "before", "after", "expected"),
    [
        ("requirements.txt", "requests==2.31.0 ; x\nold>=1\n", "requests==2.32.0\nnew~=2.0\n", {"requests 2.31.0 → 2.32.0", "old removed (was >=1)", "new ~=2.0 added"}),
        ("package.json", '{"dependencies": {"a": "^1.0.0"}, "type": "x"}', '{"dependencies": {"a": "^2.0.0"}, "type": "module", "exports": {"require": "./i.js"}}', {"a ^1.0.0 → ^2.0.0", "type: x → module", "exports: added {require: ./i.js}"}),
        ("pyproject.toml", '[project]\ndependencies = ["httpx>=0.27"]\nrequires-python = ">=3.8"\n', '[project]\ndependencies = ["httpx>=0.28"]\nrequires-python = ">=3.11"\n', {"httpx >=0.27 → >=0.28", "project.requires-python: >=3.8 → >=3.11"}),
        ("go.mod", "module x\ngo 1.21\nrequire (\n\tgithub.com/a/b v1.2.0\n)\n", "module x\ngo 1.22\nrequire (\n\tgithub.com/a/b v1.3.0\n)\n", {"github.com/a/b v1.2.0 → v1.3.0", "go: 1.21 → 1.22"}),
        ("setup.py", "setup(install_requires=['botocore>=1.35,<1.36'])\n", "setup(install_requires=['botocore>=1.36,<1.37'])\n", {"botocore >=1.35,<1.36 → >=1.36,<1.37"}),
        ("setup.cfg", "[options]\ninstall_requires =\n    a>=1\n    b\n", "[options]\ninstall_requires =\n    a>=2\n    b\n", {"a >=1 → >=2"}),
        ("uv.lock", '[[package]]\nname = "a"\nversion = "1.0"\n', '[[package]]\nname = "a"\nversion = "1.1"\n', {"a 1.0 → 1.1"}),
        ("package-lock.json", '{"packages": {"node_modules/a": {"version": "1.0.0"}}}', '{"packages": {"node_modules/a": {"version": "1.0.1"}}}', {"a 1.0.0 → 1.0.1"}),
        ("yarn.lock", '"@x/a@^1":\n  version "1.0.0"\n', '"@x/a@^1":\n  version "1.0.1"\n', {"@x/a 1.0.0 → 1.0.1"}),
        ("Cargo.toml", '[dependencies]\nserde = { version = "1.0" }\n', '[dependencies]\nserde = { version = "2.0" }\n', {"serde 1.0 → 2.0"}),
    ],
)  # fmt: skip
def test_a_dependency_is_named_with_both_versions(
    path: str, before: str, after: str, expected: set[str]
) -> None:
    assert texts(path, before, after) == expected


BEFORE = """
import time
TIMEOUT = 5
DEFAULTS = {"retry": {"budget": "5s"}, "same": 1}
MAP = OrderedDict([("a", None)])
def fetch(url, proxies=None, timeout=5): return get(url, timeout=timeout, retries=3)
def gone(a, b): pass
class Client:
    limit: int = 10
    def __init__(self, proxies: str | None = None, *, size: int = 5) -> None: self.old()
    def send(self): return os.environ.get("POOL", "10")
def built(handler): return handler
"""
AFTER = """
import time
TIMEOUT = 1
DEFAULTS = {"retry": {"budget": "1s"}, "same": 1}
MAP = OrderedDict([("a", None), ("b", None)])
def fetch(url, timeout=1): return get(url, timeout=timeout, retries=1)
class Client:
    limit: int = 2
    def __init__(self, *, size: int = 5) -> None: self.new()
    def send(self):
        if self.closed: raise ClosedError("it is closed")
        return os.environ.get("POOL", "2")
@lru_cache(None)
def built(handler): return handler
"""


def test_python_tells_constants_parameters_defaults_and_exceptions() -> None:
    assert texts("app/client.py", BEFORE, AFTER) == {
        "TIMEOUT: 5 → 1",
        "DEFAULTS.retry.budget: '5s' → '1s'",
        "MAP.b: added None",
        "Client.limit: 10 → 2",
        "fetch(proxies), Client.__init__: parameter removed (was = None)",
        "fetch(timeout): 5 → 1",
        "fetch: get(retries): 3 → 1",
        "gone: removed (was (a, b))",
        "Client.__init__ calls: self.old → self.new",
        "Client.send raises ClosedError: added 'it is closed'",
        "os.environ.get('POOL'): '10' → '2'",
        "@lru_cache(None) on built: added",
    }


def test_python_that_only_moved_or_was_reformatted_is_no_change() -> None:
    after = "import time\n" + "".join(f"{part}\n\n" for part in reversed(BEFORE.split("\n")[1:7]))
    before = "\n".join(BEFORE.split("\n")[1:7])
    assert texts("a.py", before, after) == set()


def test_a_name_that_is_still_imported_was_not_removed() -> None:
    assert texts("a.py", "def quote(x): pass\n", "from other import quote\n") == set()


@pytest.mark.parametrize(
    ("path", "before", "after", "expected"),
    [
        ("a.ts", "export const TIMEOUT_MS = 5000;\nexport function get(url: string, retries = 3) {\n}\n", "export const TIMEOUT_MS = 1000;\nexport function get(url: string, retries = 1) {\n  throw new TypeError('bad url');\n}\n", {"TIMEOUT_MS: 5000 → 1000", "get(retries): = 3 → = 1", "throws TypeError: added 'bad url'"}),
        ("a.js", "exports.parse = 1\nexport function old(a, b) {}\n", "function old(a) {}\n", {"parse: removed (was exported)", "old: removed (was exported)", "old(b): parameter removed (was required)"}),
        ("a.go", "const poolSize = 20\nfunc (c *Client) Get(ctx Context, retries int) error {\n", "const poolSize = 5\nfunc (c *Client) Get(ctx Context) error {\n", {"poolSize: 20 → 5", "Get(retries): parameter removed (was int)"}),
        ("A.java", "  private static final int MAX_RETRIES = 3;\n", "  private static final int MAX_RETRIES = 0;\n", {"MAX_RETRIES: 3 → 0"}),
    ],
)  # fmt: skip
def test_other_languages_are_read_by_line(
    path: str, before: str, after: str, expected: set[str]
) -> None:
    assert texts(path, before, after) == expected


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("a.yaml", "[" * 5_000),
        ("a.yaml", "a: &a [x]\n" + "".join(f"b{n}: &b{n} [*{'a' if n == 0 else f'b{n - 1}'}, *{'a' if n == 0 else f'b{n - 1}'}]\n" for n in range(40))),
        ("a.yaml", "a: &a [*a]\n"),
        ("a.yaml", "a: b: c\n\tx: 1\n"),
        ("a.json", "[" * 100_000),
        ("a.json", "{'not': json}"),
        ("a.toml", "a = [" + "[" * 5_000),
        ("a.py", "(" * 5_000),
        ("a.py", "x = " + "-" * 50_000 + "1\n"),
        ("a.py", "def f(:\n"),
        ("a.py", "x = '\\d'\n\0"),
        ("a.tf", "a {\n" * 5_000),
        ("b.tf", "a {\n}\n" * 5_000),
        ("a.js", "const a = " + "a.b" * 40_000),
        ("package.json", "[1]"),
        ("requirements.txt", "a" * 100_000 + "\n" + "a==" * 1000),
        ("yarn.lock", '"a@' * 20_000),
        ("Dockerfile", "ENV A\nENV\nFROM\nRUN x \\\n"),
    ],
)  # fmt: skip
def test_a_broken_or_malicious_file_is_survived_quickly(path: str, content: str) -> None:
    started = time.process_time()
    for before, after in ((content, "a: 1\n"), ("a: 1\n", content), (content, content + "\nb: 2")):
        for text in texts(path, before, after):
            assert len(text) < 500
    assert time.process_time() - started < 2


def test_values_of_other_people_are_capped_and_harmless() -> None:
    before, after = json.dumps({"a": "x"}), json.dumps({"a": "y\u202e\x1b\n" + "z" * 10_000})
    (text,) = texts("a.json", before, after)
    assert text.startswith("a: x → y zzz")
    assert len(text) < 200


@pytest.mark.parametrize("blank", [" ", "\t", "\n", "a ", "=", ";", "a:", "[", "(", "{", '"', "a="])
@pytest.mark.parametrize(
    "path",
    [
        ".env",
        "a.ini",
        "a.tf",
        "nginx.conf",
        "helm.yaml",
        "a.js",
        "requirements.txt",
        "go.mod",
        "pnpm-lock.yaml",
        "yarn.lock",
        "package-lock.json",
        "Pipfile.lock",
        "Dockerfile",
    ],
)
def test_no_pattern_backtracks_on_a_long_run(path: str, blank: str) -> None:
    started = time.process_time()
    for run in (blank * 50_000, f"a{blank * 290}!\n" * 200, f"a = {blank * 900}!\n" * 20):
        texts(path, "a = 1\n", f"{{{{ x\na = 1\n{run}x!\n")
    assert time.process_time() - started < 2


async def _highlights(repo: Any, base: str, head: str) -> Highlights:
    git = Git(repo.path)
    return await find_highlights(git, await changed(git, base, head))


async def test_the_riskiest_come_first_and_all_are_counted(repo: Any) -> None:
    old = {"config/app.yaml": "title: a\nretry: {budget: 5s}\nversion: 1\n", "a.py": "NAME = 1\n"}
    base = repo.commit({**old, "tests/test_a.py": "TIMEOUT = 1\n", "vendor/x.yaml": "timeout: 1\n"})
    head = repo.commit(
        {
            "config/app.yaml": "title: b\nretry: {budget: 1s}\nversion: 2\n",
            "a.py": "NAME = 2\n",
            "tests/test_a.py": "TIMEOUT = 2\n",
            "vendor/x.yaml": "timeout: 2\n",
        }
    )
    found = await _highlights(repo, base, head)
    assert [(one.path, one.text) for one in found.shown] == [
        ("config/app.yaml", "retry.budget: 5s → 1s"),
        ("config/app.yaml", "title: a → b"),
        ("a.py", "NAME: 1 → 2"),
        ("config/app.yaml", "version: 1 → 2"),
    ]
    assert (found.total, found.unread) == (4, 0)


async def test_what_moved_between_files_was_not_removed(repo: Any) -> None:
    base = repo.commit({"a.py": "def moved(x): pass\ndef gone(x): pass\n", "b.py": "x = 1\n"})
    head = repo.commit({"a.py": "y = 1\n", "b.py": "x = 1\ndef moved(x): pass\n"})
    found = await _highlights(repo, base, head)
    assert [one.text for one in found.shown if one.text.startswith("moved")] == []
    assert "gone: removed (was (x))" in [one.text for one in found.shown]


async def test_many_removed_names_are_all_readable(repo: Any) -> None:
    names = [f"public_function_number_{number}" for number in range(20)]
    base = repo.commit({"a.py": "".join(f"def {name}(): pass\n" for name in names)})
    head = repo.commit({"a.py": "x = 1\n"})
    said = " ".join(one.text for one in (await _highlights(repo, base, head)).shown)
    assert all(f"{name}," in said or f"{name}:" in said for name in names)


async def test_the_list_is_bounded_and_large_or_binary_files_are_left_out(repo: Any) -> None:
    base = repo.commit({"a.yaml": "x: 1\n", "big.yaml": "x: 1\n", "b.conf": b"\0a=1\n"})
    many = "".join(f"key{number}: {number}\n" for number in range(100))
    big = "x: 2\n" + "#" * 1_100_000
    head = repo.commit({"a.yaml": many, "big.yaml": big, "b.conf": b"\0a=2\n"})
    found = await _highlights(repo, base, head)
    assert len(found.shown) == 40
    assert found.total == 101
    assert found.unread == 2


async def test_a_renamed_file_is_compared_with_what_it_was(repo: Any) -> None:
    text = "".join(f"k{number}: {number}\n" for number in range(30))
    base = repo.commit({"old/app.yaml": text + "timeout: 5s\n"})
    (repo.path / "old" / "app.yaml").unlink()
    head = repo.commit({"new/app.yaml": text + "timeout: 1s\n"})
    assert [(h.path, h.text) for h in (await _highlights(repo, base, head)).shown] == [
        ("new/app.yaml", "timeout: 5s → 1s")
    ]


def test_settings_of_development_tools_count_little() -> None:
    before, after = "[tool.ruff]\nmax-timeout = 1\n", "[tool.ruff]\nmax-timeout = 2\n"
    (tooling,) = compare_texts("pyproject.toml", FileKind.DEPENDENCY, before, after)
    (plain,) = compare_texts("a.py", FileKind.CODE, "NAME = 1\n", "NAME = 2\n")
    assert tooling.weight(FileKind.DEPENDENCY) < plain.weight(FileKind.CODE)


async def test_a_huge_rewrite_is_looked_into_as_far_on_every_machine(repo: Any) -> None:
    def files(version: int) -> dict[str, str | bytes | None]:
        return {
            f"src/part{at}.py": f"LIMIT = {version}\n" + f"# {'word ' * 20}\n" * 3_800
            for at in range(6)
        }

    base, head = repo.commit(files(1)), repo.commit(files(2))

    found = await _highlights(repo, base, head)

    assert (found.total, found.unread) == (4, 2)
