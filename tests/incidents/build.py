"""Build workspaces of real incidents from the releases of packages: cases.json names and pins them.

    python tests/incidents/build.py OUT [--cases FILE] [--cache DIR] [--only ID]

Each release of a package becomes one commit and one deploy of a service. Artifacts are fetched
with pip (wheels only, so that nothing of a package runs) and npm (without scripts), checked
against their sha256 and kept in the cache: a second build needs no network. The truth stays in
the case file.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import Any

CASES = Path(__file__).with_name("cases.json")
FETCH_SECONDS = 60
FETCHED_AT_ONCE = 4
DEPLOY_TAKES = timedelta(minutes=3)
TARGET = ("--python-version", "3.9", "--implementation", "cp", "--abi", "cp39")
PLATFORMS = ("manylinux2014_x86_64", "manylinux2010_x86_64", "manylinux1_x86_64")
LEFT_OUT = frozenset({"RECORD", "WHEEL", "INSTALLER", "REQUESTED"})
"""Files of a wheel that say nothing about the package."""


class FetchError(Exception):
    """An artifact cannot be had, or is not the one that is pinned."""


@dataclass(frozen=True)
class Release:
    package: str
    source: str
    version: str
    sha256: str
    number: int
    uploaded_at: datetime


def build(cases: Path, out: Path, cache: Path, only: str | None = None) -> list[Path]:
    """Build the workspaces that are not there yet; their folders. Raises ``FetchError``."""
    book = json.loads(cases.read_text("utf-8"))
    chosen = [case for case in book["cases"] if only in (None, case["id"])]
    missing = [case for case in chosen if not (out / case["id"] / "oncall.toml").exists()]
    releases = {
        release.sha256: release
        for case in missing
        for service in case["services"].values()
        for release in _releases(service)
    }
    with ThreadPoolExecutor(FETCHED_AT_ONCE) as pool:
        asked = [pool.submit(fetch, release, cache) for release in releases.values()]
        try:
            for one in asked:
                one.result()
        except FetchError:  # where one cannot be had, the others are not waited for
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    for case in missing:
        _workspace(case, out / case["id"], cache)
    return [out / case["id"] for case in chosen]


def _releases(service: dict[str, Any]) -> Iterator[Release]:
    for item in service["releases"]:
        yield Release(
            package=service["package"],
            source=service["source"],
            version=item["ref"],
            sha256=item["sha256"],
            number=item["number"],
            uploaded_at=datetime.fromisoformat(item["uploaded_at"]),
        )


def _workspace(case: dict[str, Any], root: Path, cache: Path) -> None:
    shutil.rmtree(root, ignore_errors=True)
    deploys: list[dict[str, Any]] = []
    config = ['[sources.deploys]\nkind = "local"\nfile = "deploys.jsonl"\n']
    for name, service in case["services"].items():
        repo = root / "repos" / name
        deploys += _repository(repo, name, service, cache)
        lists = {key: json.dumps(service[key]) for key in ("aliases", "depends_on")}
        lines = [f"[services.{name}]", f'repo = "repos/{name}"']
        config.append(
            "\n".join([*lines, *(f"{key} = {value}" for key, value in lists.items()), ""])
        )
    deploys.sort(key=lambda deploy: deploy["number"])
    _write_lines(root / "deploys.jsonl", deploys)
    _write_lines(root / "incidents.jsonl", case["incidents"])
    (root / "oncall.toml").write_text("\n".join(config), "utf-8")  # last: it says "complete"


def _repository(
    repo: Path, name: str, service: dict[str, Any], cache: Path
) -> Iterator[dict[str, Any]]:
    repo.mkdir(parents=True)
    _git(repo, "init", "--quiet", "--initial-branch=main")
    for release in _releases(service):
        for old in repo.iterdir():
            if old.name != ".git":
                shutil.rmtree(old) if old.is_dir() else old.unlink()
        _unpack(fetch(release, cache), repo)
        at = release.uploaded_at.isoformat()
        _git(repo, "add", "--all", "--force")
        _git(repo, "commit", "--quiet", "--allow-empty", "-m", f"{name} {release.version}", at=at)
        finished = release.uploaded_at + DEPLOY_TAKES
        yield {
            "number": release.number,
            "service": name,
            "environment": "production",
            "sha": _git(repo, "rev-parse", "HEAD"),
            "ref": release.version,
            "status": "success",
            "actor": "release-bot",
            "started_at": at,
            "finished_at": finished.isoformat(),
            "url": None,
        }


def fetch(release: Release, cache: Path) -> Path:
    """The artifact, from the cache or the registry. Raises ``FetchError``."""
    kept = cache / f"{release.sha256}.{'tgz' if release.source == 'npm' else 'whl'}"
    if not kept.exists():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            found = _download(release, Path(folder))
            digest = hashlib.sha256(found.read_bytes()).hexdigest()
            if digest != release.sha256:
                raise FetchError(f"{found.name} has sha256 {digest}, pinned is {release.sha256}")
            found.replace(kept)
    return kept


def _download(release: Release, folder: Path) -> Path:
    named = f"{release.package} {release.version}"
    if release.source == "npm":
        asked = f"{release.package}@{release.version}"
        command = ["npm", "pack", "--silent", "--ignore-scripts", "--fetch-retries=1", asked]
    else:
        wanted = folder / "wanted.txt"
        line = f"{release.package}=={release.version} --hash=sha256:{release.sha256}\n"
        wanted.write_text(line, "ascii")
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        command += ["--retries", "1", "--timeout", "10"]  # without a network, soon said
        command += ["--only-binary", ":all:", *TARGET, "--dest", str(folder / "got")]
        for platform in PLATFORMS:
            command += ["--platform", platform]
        command += ["--require-hashes", "-r", str(wanted)]
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=FETCH_SECONDS)
    except subprocess.CalledProcessError as error:
        lines = error.stderr.decode("utf-8", "replace").strip().splitlines() or ["no reason given"]
        raise FetchError(f"{named} could not be fetched: {lines[-1]}") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise FetchError(f"{named} could not be fetched: {error}") from error
    found = [*folder.glob("*.tgz"), *folder.glob("got/*.whl")]
    if len(found) != 1:
        raise FetchError(f"{named} gave {len(found)} files")
    return found[0]


def _unpack(artifact: Path, folder: Path) -> None:
    for name, content in _members(artifact):
        path = PurePosixPath(name)
        parts = [re.sub(r"^.*\.dist-info$", "dist-info", part) for part in path.parts]
        if path.is_absolute() or ".." in parts or ".git" in parts or path.name in LEFT_OUT:
            continue
        target = folder.joinpath(*parts)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def _members(artifact: Path) -> Iterator[tuple[str, bytes]]:
    if artifact.suffix == ".whl":
        with zipfile.ZipFile(artifact) as wheel:
            for info in wheel.infolist():
                if not info.is_dir():
                    yield info.filename, wheel.read(info)
        return
    with tarfile.open(artifact) as ball:
        for member in ball:
            if member.isfile() and (file := ball.extractfile(member)):
                yield member.name.partition("/")[2], file.read()


def _git(repo: Path, *argv: str, at: str = "2020-01-01T00:00:00+00:00") -> str:
    who = {"NAME": "Release Bot", "EMAIL": "release-bot@example.test", "DATE": at}
    environment = {
        "PATH": os.environ["PATH"],
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        **{f"GIT_AUTHOR_{key}": value for key, value in who.items()},
        **{f"GIT_COMMITTER_{key}": value for key, value in who.items()},
    }
    done = subprocess.run(
        ["git", *argv], cwd=repo, env=environment, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def _write_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description="Build the workspaces of cases.json.")
    parser.add_argument("out", type=Path)
    parser.add_argument("--cases", type=Path, default=CASES)
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "oncall-incidents")
    parser.add_argument("--only", metavar="ID")
    given = parser.parse_args()
    try:
        built = build(given.cases, given.out, given.cache, given.only)
    except FetchError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write("".join(f"{root}\n" for root in built))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
