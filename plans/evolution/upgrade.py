"""Upgrades a plan: every node as its newest version, under its id, with the addresses of its state."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from execnodes.core.errors import PlanError
from execnodes.core.metadata import NodeKey
from execnodes.core.node import UID_FORMAT
from execnodes.core.registry import keys, lookup
from execnodes.core.version import ENGINE_VERSION
from plans.format.codec import encode
from plans.format.functions import with_versions
from plans.format.load import graph_of, located, node_key, read_document, read_node

Raw = dict[str, Any]
"""A node as JSON values."""
_ABSENT = object()


@dataclass(frozen=True, slots=True)
class NodeChange:
    """What has become of one node."""

    id: int
    before: str
    """Its `type`."""
    after: str
    changes: tuple[str, ...]
    """Properties: ``limit: 1 -> 2``."""

    def __str__(self) -> str:
        changed = "; ".join(self.changes) or "its properties are the same"
        return f"node {self.id}: {self.before} -> {self.after}: {changed}"


@dataclass(frozen=True, slots=True)
class Upgraded:
    """A plan of the newest versions."""

    text: str
    engine_version: str
    """Release that had compiled it."""
    nodes: tuple[NodeChange, ...]
    """Those that have another version now."""


def upgrade(text: str, *, source: str = "<plan>", newest: bool = True) -> Upgraded:
    """Read a plan of any release, also one that is no longer executed; PlanError for what no version leads on from.

    Rows and state stay what they were: functions keep their versions, states their uids. With `newest` False only nodes
    of versions that are gone become others.
    """
    try:
        document = read_document(text, oldest=None)
        version = document.engine_version
        given: list[Raw] = json.loads(json.dumps(document.nodes))
        pairs = [(raw, _upgraded(raw, version, newest)) for raw in given]
        nodes = tuple(read_node(new) for _, new in pairs)
        graph = replace(graph_of(nodes, document), engine_version=ENGINE_VERSION)
        upgraded = encode(graph)
    except PlanError as error:
        raise located(error, source) from error.__cause__
    return Upgraded(upgraded, version, tuple(_changes(pairs)))


def _upgraded(raw: Raw, engine_version: str, newest: bool) -> Raw:
    """One node as its newest version; if that is not asked for, only if its own is gone."""
    key, where = node_key(raw), f"node {raw.get('id')} ({raw.get('type')})"
    if key in keys():
        # Steps may then count on the shape of what they are given.
        read_node(raw, engine_version)
    try:
        new: Raw = json.loads(json.dumps(with_versions(raw, engine_version)))
        for step in _steps(key) if newest or key not in keys() else ():
            new = {**lookup(step).upgrade(new), "type": str(step)}
        return _pinned(new, key)
    except PlanError as error:
        raise located(error, where) from None
    except (AttributeError, KeyError, TypeError) as error:
        raise PlanError(
            f"its properties are not those of {key}: {error}", where=where, hint="Restore the file."
        ) from error


def _steps(key: NodeKey) -> list[NodeKey]:
    """The versions to go through; UnknownNodeError if there is neither this one nor a later one."""
    later = [each for each in keys() if each.name == key.name and each.version > key.version]
    if not later:
        lookup(key)
    return later


def _pinned(raw: Raw, before: NodeKey) -> Raw:
    """A form of uid that names the version goes on naming the one that the state was written under."""
    configuration = raw.get("configuration", {})
    form = configuration.get(UID_FORMAT)
    if form is None or raw["type"] == str(before):
        return raw
    return {**raw, "configuration": {**configuration, UID_FORMAT: form.replace("<version>", str(before.version))}}


def _changes(pairs: Sequence[tuple[Raw, Raw]]) -> Iterator[NodeChange]:
    for old, new in pairs:
        if old["type"] != new["type"]:
            changes = tuple(_differences("", {**old, "type": ""}, {**new, "type": ""}))
            yield NodeChange(new["id"], old["type"], new["type"], changes)


def _differences(path: str, old: Any, new: Any) -> Iterator[str]:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for name in [*old, *(each for each in new if each not in old)]:
            yield from _differences(f"{path}.{name}".lstrip("."), old.get(name, _ABSENT), new.get(name, _ABSENT))
    elif old != new:
        yield f"{path}: {_shown(old)} -> {_shown(new)}"


def _shown(value: Any) -> str:
    return "absent" if value is _ABSENT else json.dumps(value, ensure_ascii=False)
