"""What a changed file is, by its name alone: configuration, migration, code, tests and so on.

Owns the name rules and the order of risk. Knows no git and no content. The first rule that fits
decides, and generated or vendored files come before all others, so that a vendored ``config.yaml``
is not taken for the service's own.
"""

from __future__ import annotations

import re
from typing import Final

from tools.records import FileKind

_RISK: Final = {kind: at for at, kind in enumerate(FileKind)}

_GENERATED: Final = re.compile(
    r"(^|/)(vendor|node_modules|third_party|dist|_vendor|\.yarn|bower_components|__snapshots__)/"
    r"|(^|/)[^/]+\.(egg|dist)-info/|(^|/)PKG-INFO$"
    r"|\.(min\.(js|css)|map|pb\.go|pyc|lock\.hcl|snap)$|_pb2(_grpc)?\.pyi?$|\.generated\.|_generated\."
)
_MIGRATION: Final = re.compile(
    r"(^|/)(migrations?|migrate|alembic/versions|db/changelog|flyway|liquibase)/"
    r"|(^|/)V\d[\d._]*__[^/]+\.sql$|\.sql$|(^|/)schema\.(rb|prisma)$",
    re.IGNORECASE,
)
_DEPENDENCY: Final = re.compile(
    r"(^|/)(requirements[^/]*\.(txt|in)|constraints[^/]*\.txt|[^/]*requirements\.txt|Pipfile"
    r"|Pipfile\.lock|poetry\.lock|uv\.lock|pdm\.lock|pyproject\.toml|setup\.(py|cfg)|package\.json"
    r"|package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|go\.(mod|sum)"
    r"|Cargo\.(toml|lock)|Gemfile|Gemfile\.lock|[^/]+\.gemspec|composer\.(json|lock)|pom\.xml"
    r"|build\.gradle(\.kts)?|gradle\.lockfile|libs\.versions\.toml|mix\.(exs|lock)"
    r"|packages\.lock\.json|[^/]+\.csproj|environment\.ya?ml)$"
    r"|(^|/)requirements/[^/]+\.(txt|in)$"
)
_TEST: Final = re.compile(
    r"(^|/)(tests?|testing|spec|specs|__tests__|testdata|fixtures|e2e)/"
    r"|(^|/)(test_[^/]+|conftest)\.py$|_test\.(py|go|rb|exs)$|\.(test|spec)\.[jt]sx?$|Tests?\.java$",
    re.IGNORECASE,
)
_DOCS: Final = re.compile(
    r"(^|/)(docs?|documentation|examples?)/"
    r"|(^|/)(README|CHANGELOG|CHANGES|HISTORY|NEWS|LICEN[CS]E|NOTICE|AUTHORS|CONTRIBUTORS"
    r"|CONTRIBUTING|CODEOWNERS|SECURITY|CODE_OF_CONDUCT|COPYING)([._-][^/]*)?$"
    r"|\.(md|rst|adoc|txt|png|jpe?g|gif|svg|pdf|ico)$",
    re.IGNORECASE,
)
_INFRASTRUCTURE: Final = re.compile(
    r"(^|/)(Dockerfile[^/]*|[^/]+\.dockerfile|Containerfile|docker-compose[^/]*\.ya?ml"
    r"|compose\.ya?ml|Jenkinsfile|Procfile|Makefile|Vagrantfile|Chart\.ya?ml|kustomization\.ya?ml"
    r"|\.gitlab-ci\.yml|\.travis\.yml|nginx[^/]*\.conf|haproxy\.cfg)$"
    r"|(^|/)(k8s|kubernetes|helm|charts|terraform|infra|infrastructure|deploy|manifests|ansible"
    r"|\.github|\.circleci|systemd)/|\.(tf|tfvars|hcl|service|bicep|nomad)$",
    re.IGNORECASE,
)
_FLAG: Final = re.compile(
    r"(^|/)([^/]*[-_.])?(feature[-_]?)?(flags?|toggles?)([-_.][^/]*)?\.(ya?ml|json|toml|properties|ini)$"
    r"|(^|/)(feature[-_]?flags?|flags|toggles)/[^/]+\.(ya?ml|json|toml)$",
    re.IGNORECASE,
)
_CONFIG: Final = re.compile(
    r"\.(ya?ml|toml|json|json5|ini|cfg|conf|cnf|properties|env|xml|plist|config)$"
    r"|(^|/)\.env(\.[^/]+)?$|(^|/)(config|configs|conf|settings|etc)/[^/.]+$"
    r"|(^|/)(settings|config|configuration|constants)\.(py|rb|js|ts|go|java|php)$",
    re.IGNORECASE,
)
_DATA: Final = re.compile(
    r"(^|/)(data|models?|locales?|i18n|translations?|schemas?)/([^/]+/)*[^/]+"
    r"\.(json|ya?ml|xml|csv|tsv|po|pem|bin)$",
    re.IGNORECASE,
)

_RULES: Final = (
    (_GENERATED, FileKind.GENERATED),
    (_TEST, FileKind.TEST),
    (_MIGRATION, FileKind.MIGRATION),
    (_DEPENDENCY, FileKind.DEPENDENCY),
    (_DOCS, FileKind.DOCS),
    (_FLAG, FileKind.FLAG),
    (_INFRASTRUCTURE, FileKind.INFRASTRUCTURE),
    (_DATA, FileKind.CODE),
    (_CONFIG, FileKind.CONFIG),
)


def kind_of(path: str) -> FileKind:
    """Say what a file is from its path in the repository."""
    for rule, kind in _RULES:
        if rule.search(path):
            return kind
    return FileKind.CODE


def risk(kind: FileKind, path: str) -> tuple[int, bool]:
    """Return a sort key, smallest for the riskiest; large data files come after the code."""
    return _RISK[kind], kind is FileKind.CODE and _DATA.search(path) is not None
