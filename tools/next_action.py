"""What a person does next about the first suspect: whom to ask, what to run, what speaks against it.

Owns the filling in of the service's rollback command and the sentences about safety. Nothing here
is ever run. Knows no ranking.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from tools.candidates import Candidate
from tools.catalog import Catalog
from tools.evidence import ChangeText
from tools.file_kinds import kind_of
from tools.mending import MENDS, version_of
from tools.records import ChangeKind, Deploy, FileKind, LaterDeploy, NextAction, Service
from tools.wording import clean, listed

_PLACE = re.compile(r"\{(\w+)\}")
_PLAIN = re.compile(r"[\w.+@:/-]{1,120}")
"""What may be put into a command: nothing that a shell would read as more than a word."""


def next_action(
    suspect: Candidate, later: Sequence[LaterDeploy], catalog: Catalog
) -> NextAction | None:
    """The action for a suspected deploy; ``None`` for a flag or another change."""
    deploy = suspect.deploy
    if deploy.kind is not ChangeKind.DEPLOY:
        return None
    service = catalog.service(deploy.service)
    owner = clean(service.owner, 80) if service and service.owner else None
    unsafe = tuple(_unsafe(deploy, suspect.text, later))
    command = _command(service, deploy, suspect.base)
    return NextAction(
        service=deploy.service,
        owner=owner,
        previous=suspect.base,
        command=command,
        unsafe=unsafe,
        safety=_safety(deploy, suspect.text),
        text=_text(deploy, suspect.base, owner, command, later, unsafe),
    )


def _unsafe(deploy: Deploy, text: ChangeText | None, later: Sequence[LaterDeploy]) -> Sequence[str]:
    found = []
    if text is None:
        found.append("rollback unsafe: the diff could not be read")
    elif migrations := [path for path in text.paths.text.split("\n") if _migrates(path)]:
        found.append(f"rollback unsafe: migration in {clean(migrations[0], 160)}")
    built_on = [
        version_of(one.deploy)
        for one in later
        if one.deploy.service == deploy.service and not _undoes(one, deploy)
    ]
    if built_on:
        verb = "builds" if len(built_on) == 1 else "build"
        names = listed(tuple(built_on), 3)
        found.append(f"rollback unsafe: {names} {verb} on it and would go as well")
    return found


def _migrates(path: str) -> bool:
    return bool(path) and kind_of(path) is FileKind.MIGRATION and bool(PurePosixPath(path).name)


def _safety(deploy: Deploy, text: ChangeText | None) -> str:
    if text is None:
        return f"the diff of {version_of(deploy)} could not be read"
    return (
        f"no migration is in {version_of(deploy)} and no later deploy of its service builds on it"
    )


def _command(service: Service | None, deploy: Deploy, previous: Deploy | None) -> str | None:
    """The service's own command with the previous version in it, or ``None``."""
    if service is None or not service.rollback or previous is None:
        return None
    values = {
        "service": service.name,
        "environment": deploy.environment,
        "number": str(previous.number) if previous.number is not None else None,
        "ref": previous.ref,
        "version": previous.ref,
        "sha": previous.sha,
        "deploy": deploy.label,
    }
    for place in _PLACE.findall(service.rollback):
        value = values.get(place)
        if value is None or not _PLAIN.fullmatch(value):
            return None
    return clean(_PLACE.sub(lambda found: values[found[1]] or "", service.rollback), 300)


def _text(
    deploy: Deploy,
    previous: Deploy | None,
    owner: str | None,
    command: str | None,
    later: Sequence[LaterDeploy],
    unsafe: Sequence[str],
) -> str:
    ask = f"ask {owner}" if owner else f"ask who owns {clean(deploy.service, 60)}"
    undone = next((one for one in later if _undoes(one, deploy)), None)
    if undone is not None:
        return f"Next: {ask} whether {version_of(undone.deploy)} holds"
    if unsafe:
        return f"Next: {ask}; {unsafe[0]}"
    if previous is None:
        return f"Next: {ask}; an earlier version to go back to is unknown"
    how = f": `{command}`" if command else ""
    return f"Next: {ask}; to roll back, the version before is {version_of(previous)}{how}"


def _undoes(later: LaterDeploy, deploy: Deploy) -> bool:
    return later.deploy.service == deploy.service and later.mending in MENDS
