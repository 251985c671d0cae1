"""What two plans differ in: nodes by id, and so by the uids of their operators; properties, options, edges."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from execnodes.core.graph import ExecGraph
from execnodes.core.node import ExecNode
from execnodes.core.secrets import masked_options
from plans.format.codec import plain

Path = tuple[str, ...]
"""Where a value stands in a node's JSON: names of properties, and indexes such as ``[0]``."""

_ABSENT = object()


class Standing(StrEnum):
    """What has become of a node."""

    SAME = "same"
    CHANGED = "changed"
    """The same kind of node, with other properties."""
    REPLACED = "replaced"
    """Another kind of node has its id."""
    ADDED = "added"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class Change:
    """A value that differs; a side without it is None."""

    path: str
    """``aggCalls[0].internalName``; an option is ``configuration['table.exec.state.ttl']``."""
    old: str | None
    """As JSON; expressions as ``$UPPER$1(#0)``, where that tells them apart."""
    new: str | None

    @property
    def text(self) -> str:
        """For people."""
        if self.old is None:
            return f"{self.path}: {self.new} (new)"
        return f"{self.path}: {self.old} (gone)" if self.new is None else f"{self.path}: {self.old} -> {self.new}"


@dataclass(frozen=True, slots=True)
class NodeDifference:
    """A node of one plan or of both."""

    id: int
    old: ExecNode | None
    new: ExecNode | None
    standing: Standing
    changes: tuple[Change, ...] = ()
    """Only of CHANGED nodes."""
    twin: int | None = None
    """Id of the node in the other plan that is the same but for its id; only where that one has no fellow there."""

    @property
    def node(self) -> ExecNode:
        """The node of the new plan, or that of the old one where there is no other."""
        found = self.new or self.old
        assert found is not None
        return found

    @property
    def uids(self) -> tuple[str, ...]:
        """Operators with state, of both plans."""
        sides = [each.uids() for each in (self.old, self.new) if each is not None]
        return tuple(dict.fromkeys(uid for uids in sides for uid in uids))


@dataclass(frozen=True, slots=True)
class PlanDifference:
    """All that two plans differ in."""

    header: tuple[Change, ...]
    """Engine version and max parallelism."""
    nodes: tuple[NodeDifference, ...]
    """All nodes of both plans by id."""
    edges_added: tuple[tuple[int, int], ...]
    """From node to node."""
    edges_removed: tuple[tuple[int, int], ...]

    @property
    def changed(self) -> tuple[NodeDifference, ...]:
        """Nodes that are not the same."""
        return tuple(each for each in self.nodes if each.standing is not Standing.SAME)

    def __bool__(self) -> bool:
        return bool(self.header or self.changed or self.edges_added or self.edges_removed)

    @property
    def summary(self) -> str:
        """One line."""
        if not self:
            return "the plans are equal"
        counts = {each: sum(node.standing is each for node in self.nodes) for each in Standing}
        parts = [f"{count} {standing}" for standing, count in counts.items() if count]
        return f"nodes: {', '.join(parts)}; edges: {len(self.edges_added)} added, {len(self.edges_removed)} removed"


def difference(old: ExecGraph, new: ExecGraph) -> PlanDifference:
    """Match nodes by id; edges count by their ends."""
    header = _values(
        {"engineVersion": old.engine_version, "maxParallelism": old.max_parallelism, **old.job_options},
        {"engineVersion": new.engine_version, "maxParallelism": new.max_parallelism, **new.job_options},
    )
    twins = _twins(old, new)
    ids = sorted({*old.by_id, *new.by_id})
    nodes = tuple(_node(each, old.by_id.get(each), new.by_id.get(each), twins) for each in ids)
    before, after = _edges(old), _edges(new)
    added, removed = ([each for each in one if each not in other] for one, other in ((after, before), (before, after)))
    return PlanDifference(tuple(header), nodes, tuple(added), tuple(removed))


def _node(id: int, old: ExecNode | None, new: ExecNode | None, twins: Mapping[tuple[str, int], int]) -> NodeDifference:
    if old is None or new is None:
        standing = Standing.ADDED if old is None else Standing.REMOVED
        return NodeDifference(id, old, new, standing, twin=twins.get(("old" if new is None else "new", id)))
    if old.key.name != new.key.name:
        return NodeDifference(id, old, new, Standing.REPLACED, twin=twins.get(("new", id)))
    changes = tuple(sorted(_values(plain(old), plain(new)), key=lambda each: each.path != "description"))
    return NodeDifference(id, old, new, Standing.CHANGED if changes else Standing.SAME, changes)


def _values(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    before, after = dict(_leaves(old)), dict(_leaves(new))
    for path in dict.fromkeys((*before, *after)):
        one, other = (side.get(path, _ABSENT) for side in (before, after))
        if one == other:
            continue
        write = _shown if _shown(one) != _shown(other) else _json
        texts = (None if each is _ABSENT else _told(path, write(each)) for each in (one, other))
        yield Change(_path(path), *texts)


def _told(path: Path, text: str) -> str:
    """A value without the secrets that plans should not hold, but may."""
    (told,) = masked_options({str(path[-1]) if path else "": text}).values()
    return told


def _leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Scalars, expressions, lists of scalars and empty containers of JSON, each with its place."""
    if isinstance(value, dict) and value and "kind" not in value:
        for name, each in value.items():
            yield from _leaves(each, (*path, name))
    elif isinstance(value, list) and value and not all(isinstance(each, int | str) for each in value):
        for at, each in enumerate(value):
            yield from _leaves(each, (*path, f"[{at}]"))
    else:
        yield path, value


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _shown(value: Any) -> str:
    """Expressions without their types; columns of the input by index."""
    match value:
        case {"kind": "INPUT_REF", "inputIndex": index}:
            return f"#{index}"
        case {"kind": "LITERAL"}:
            return _json(value.get("value"))
        case {"kind": "CALL", "internalName": name}:
            return f"{name}({', '.join(map(_shown, value.get('operands', ())))})"
        case {"kind": "FIELD_ACCESS", "name": name, "expr": inner}:
            return f"{_shown(inner)}.{name}"
    return _json(value) if value is not _ABSENT else ""


def _path(path: Path) -> str:
    text = path[0]
    for name in path[1:]:
        if name.startswith("["):
            text += name
        else:
            text += f".{name}" if name.isidentifier() else f"[{name!r}]"
    return text


def _edges(graph: ExecGraph) -> list[tuple[int, int]]:
    return sorted({(source, target) for target, sources in graph.inputs.items() for source in sources})


def _twins(old: ExecGraph, new: ExecGraph) -> dict[tuple[str, int], int]:
    """Side and id of a node to the one node of the other plan that is equal to it, if that has another id."""
    before, after = _by_content(old.nodes), _by_content(new.nodes)
    found: dict[tuple[str, int], int] = {}
    for content, ids in before.items():
        others = after.get(content, [])
        if len(ids) == 1 and len(others) == 1 and ids != others:
            found["old", ids[0]] = others[0]
            found["new", others[0]] = ids[0]
    return found


def _by_content(nodes: Sequence[ExecNode]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for node in nodes:
        content = json.dumps({name: value for name, value in plain(node).items() if name != "id"})
        found.setdefault(content, []).append(node.id)
    return found
