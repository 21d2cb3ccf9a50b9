"""Backstage's ``catalog-info.yaml``: components, what they depend on and who owns them.

Owns reading the file beside oncall.toml into services. What oncall.toml says wins; a broken file
becomes a note. Knows no deploy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from tools.records import Service
from tools.wording import clean, plural

NAMES: Final = ("catalog-info.yaml", "catalog-info.yml")
_LIMIT: Final = 2_000_000
"""Bytes of the file that are read."""
_KINDS: Final = frozenset({"component", "resource", "api"})
# The base loader builds text, lists and mappings only, whatever a tag asks for.
_LOADER: Final = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


@dataclass(frozen=True)
class _Entity:
    kind: str
    name: str
    owner: str | None
    needs: tuple[str, ...]
    offers: tuple[str, ...]
    uses: tuple[str, ...]


def with_backstage(
    services: Sequence[Service], root: Path
) -> tuple[tuple[Service, ...], tuple[str, ...]]:
    """The services with what the file adds to them, and notes about what could not be read."""
    file = next((root / name for name in NAMES if (root / name).is_file()), None)
    if file is None:
        return tuple(services), ()
    try:
        raw = file.read_bytes()
        if len(raw) > _LIMIT:
            return tuple(services), (f"{file.name} was not read: it has {len(raw):,} bytes",)
        documents = [one for one in yaml.load_all(raw, Loader=_LOADER) if one]
    except OSError as error:
        return tuple(services), (f"{file.name} was not read: {error.strerror}",)
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        said = clean(str(error), 160)
        return tuple(services), (f"{file.name} was not read, it is not valid YAML: {said}",)
    entities = [entity for one in documents if (entity := _entity(one)) is not None]
    lost = len(documents) - len(entities) - sum(map(_is_other, documents))
    notes = (f"{plural(lost, 'entry')} of {file.name} has no name",) if lost > 0 else ()
    return tuple(_merged(services, entities)), notes


def _entity(document: object) -> _Entity | None:
    if not isinstance(document, Mapping):
        return None
    kind = str(document.get("kind", "")).lower()
    name = _inside(document, "metadata").get("name")
    if kind not in _KINDS or not isinstance(name, str) or not name.strip():
        return None
    spec = _inside(document, "spec")
    owner = spec.get("owner")
    return _Entity(
        kind=kind,
        name=clean(name, 100),
        owner=_bare(owner) if isinstance(owner, str) else None,
        needs=_references(spec.get("dependsOn")),
        offers=_references(spec.get("providesApis")),
        uses=_references(spec.get("consumesApis")),
    )


def _is_other(document: object) -> bool:
    """Whether it is an entry of a kind that says nothing of services: a group, a user, a template."""
    return isinstance(document, Mapping) and str(document.get("kind", "")).lower() not in _KINDS


def _inside(document: Mapping[Any, Any], key: str) -> Mapping[Any, Any]:
    found = document.get(key)
    return found if isinstance(found, Mapping) else {}


def _references(value: object) -> tuple[str, ...]:
    items = value if isinstance(value, list) else []
    return tuple(_bare(item) for item in items if isinstance(item, str) and item.strip())


def _bare(reference: str) -> str:
    """``component:default/ledger`` is ``ledger``."""
    return clean(reference.rpartition("/")[2].rpartition(":")[2], 100)


def _merged(services: Sequence[Service], entities: Sequence[_Entity]) -> Iterator[Service]:
    """Services of oncall.toml first, completed; then components that it does not name."""
    offered = {api: one.name for one in entities for api in one.offers}
    needs = {
        one.name: tuple(dict.fromkeys((*one.needs, *(offered.get(api, api) for api in one.uses))))
        for one in entities
    }
    by_name = {one.name.casefold(): one for one in entities}
    known: set[str] = set()
    for service in services:
        names = [service.name, *service.aliases]
        known.update(name.casefold() for name in names)
        entity = next((by_name[n.casefold()] for n in names if n.casefold() in by_name), None)
        if entity is None:
            yield service
            continue
        yield service.model_copy(
            update={
                "owner": service.owner or entity.owner,
                "depends_on": tuple(dict.fromkeys((*service.depends_on, *needs[entity.name]))),
            }
        )
    for entity in entities:
        if entity.kind == "component" and entity.name.casefold() not in known:
            yield Service(name=entity.name, owner=entity.owner, depends_on=needs[entity.name])
