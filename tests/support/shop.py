"""A workspace under test: real git repositories, deploys and incidents, said in a few lines."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tools.base import CallContext, ToolResult
from tools.history import DeployHistory
from tools.incidents import IncidentIndex
from tools.records import SuspectsRanked
from tools.search_deploy import SearchDeploy, SearchDeployArguments
from tools.suspects import rank_suspects
from tools.workspace import Workspace, open_workspace

ONSET = datetime(2026, 11, 29, 2, 6, tzinfo=UTC)
NOW = datetime(2026, 11, 29, 2, 14, tzinfo=UTC)


def stamp(when: datetime) -> str:
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")


class Shop:
    """Collects services, releases and incidents; ``open`` writes them and reads them back."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._toml: list[str] = []
        self.deploys: list[dict[str, Any]] = []
        self.incidents: list[dict[str, Any]] = []
        self.changes: list[dict[str, Any]] = []

    def service(self, name: str, **settings: Any) -> None:
        repo = settings.setdefault("repo", f"repos/{name}")
        lines = [f"{key} = {json.dumps(value)}" for key, value in settings.items()]
        self._toml.append(f"[services.{name}]\n" + "\n".join(lines) + "\n")
        if repo == f"repos/{name}":
            (self.root / repo).mkdir(parents=True)
            self.git(name, "init", "--quiet", "--initial-branch=main", "--template=")

    def git(self, service: str, *argv: str, at: datetime = ONSET) -> str:
        environment = {
            "PATH": os.environ["PATH"],
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_AUTHOR_NAME": "Ada",
            "GIT_AUTHOR_EMAIL": "ada@shop.test",
            "GIT_COMMITTER_NAME": "Ada",
            "GIT_COMMITTER_EMAIL": "ada@shop.test",
            "GIT_AUTHOR_DATE": stamp(at),
            "GIT_COMMITTER_DATE": stamp(at),
        }
        done = subprocess.run(
            ["git", "-c", "maintenance.auto=false", *argv],
            cwd=self.root / "repos" / service,
            env=environment,
            capture_output=True,
            check=True,
        )
        return done.stdout.decode().strip()

    def commit(self, service: str, files: Mapping[str, str], at: datetime = ONSET) -> str:
        for name, text in files.items():
            path = self.root / "repos" / service / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.git(service, "add", "--all", at=at)
        self.git(service, "commit", "--quiet", "--allow-empty", "-m", "change", at=at)
        return self.git(service, "rev-parse", "HEAD")

    def release(
        self,
        service: str,
        number: int | None,
        before: timedelta,
        files: Mapping[str, str] | None = None,
        **fields: Any,
    ) -> str:
        """Commit and deploy; it finished ``before`` onset (negative: after it)."""
        finished = ONSET - before
        sha = fields.pop("sha", None) or self.commit(service, files or {}, finished)
        record = {
            "number": number,
            "service": service,
            "environment": "production",
            "sha": sha,
            "status": "success",
            "actor": "release-bot",
            "started_at": stamp(finished - timedelta(minutes=2)),
            "finished_at": stamp(finished),
        }
        self.deploys.append(record | fields)
        return str(sha)

    def incident(self, **fields: Any) -> None:
        record = {
            "id": "INC-1",
            "title": "Checkout fails",
            "summary": "",
            "services": ["checkout"],
            "severity": "sev1",
            "status": "open",
            "started_at": stamp(ONSET),
        }
        self.incidents.append(record | fields)

    def open(self) -> Workspace:
        files = {"deploys": self.deploys, "incidents": self.incidents, "changes": self.changes}
        for name, records in files.items():
            if records:
                lines = "".join(json.dumps(record) + "\n" for record in records)
                (self.root / f"{name}.jsonl").write_text(lines)
        (self.root / "oncall.toml").write_text("\n".join(self._toml))
        return open_workspace(self.root)


def search_deploy(workspace: Workspace) -> SearchDeploy:
    history = DeployHistory(workspace.deploy_sources, workspace.catalog)
    incidents = IncidentIndex(workspace.incident_sources, workspace.catalog)
    return SearchDeploy(history, workspace.catalog, incidents)


async def searched(workspace: Workspace, now: datetime = NOW, **arguments: Any) -> ToolResult:
    tool = search_deploy(workspace)
    return await tool.run(SearchDeployArguments(**arguments), CallContext(now, {}))


async def ranked(
    workspace: Workspace, now: datetime = NOW, asked: str = "", **more: Any
) -> SuspectsRanked:
    """The suspects of the workspace's first incident."""
    incidents = IncidentIndex(workspace.incident_sources, workspace.catalog)
    matches = await incidents.search("", now)
    history = DeployHistory(workspace.deploy_sources, workspace.catalog)
    return await rank_suspects(history, workspace.catalog, matches.incidents[0], asked, now, **more)
