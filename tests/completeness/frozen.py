"""What a released node version must not change: the shape of its JSON and the layout of its state, as hashes.

``python -m tests.completeness.frozen`` writes ``frozen.json`` and ``frozen_terms.json``; it only adds.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from packaging.version import Version

from execnodes.core.graph import ExecGraph
from execnodes.core.meaning import StateMeaning
from execnodes.core.metadata import ExecNodeMetadata, NodeKey
from execnodes.core.registry import keys, lookup
from execnodes.core.version import RELEASE, version_tuple
from plans.compatibility.plan_meanings import POSITION, meanings
from rekindle.testing.restore_fixtures import stored as fixed
from rekindle.testing.restore_run import compiled
from tests.restore.program import RestoreProgram, programs

FROZEN = Path(__file__).with_name("frozen.json")
FROZEN_TERMS = Path(__file__).with_name("frozen_terms.json")
_WORDS = ("title", "description", "examples")
"""Keys of a JSON Schema that only people read."""


def shape(key: NodeKey) -> str:
    """Hash of the JSON a node version takes and gives."""
    cls = lookup(key)
    schema = _bare(cls.model_json_schema(by_alias=True))
    (metadata,) = (each for each in cls.METADATA if each.key == key)
    return _hash([_reachable(schema), metadata.consumed_options])


def layouts() -> dict[str, dict[str, str]]:
    """Node version to restore program to the hash of the states that the program has of it."""
    found: dict[str, dict[str, str]] = {}
    for program in programs():
        graph = _plan(program)
        by_node: dict[str, list[object]] = {}
        for each in meanings(graph):
            if each.name != POSITION:
                node = graph.by_id[int(each.uid.partition("_")[0])]
                by_node.setdefault(str(node.key), []).extend(map(layout, _of_version(each, node.metadata)))
        for key, states in by_node.items():
            found.setdefault(key, {})[str(program)] = _hash(
                [each for at, each in enumerate(states) if each not in states[:at]]
            )
    return found


def _plan(program: RestoreProgram) -> ExecGraph:
    """The plan of its fixture, in which node versions are those of then; that of today if there is no fixture."""
    return fixed(program.fixture) if program.fixture.exists() else compiled(program, Path("/nowhere")).plan.graph


def _of_version(state: StateMeaning, metadata: ExecNodeMetadata) -> Iterator[StateMeaning]:
    """The layout that a node version began with: if its class keeps another one now, it must still take that over."""
    began = version_tuple(metadata.min_state_version)
    if _since(state) <= began:
        yield state
    else:
        yield from (each for each in state.earlier if _since(each) <= began)


def _since(state: StateMeaning) -> tuple[int, int]:
    return version_tuple(state.parts["operator"].text.rpartition(" ")[2])


def layout(state: StateMeaning) -> list[object]:
    """All that a savepoint says of a state: also its meaning, since it is compared with that of later plans."""
    columns = [[each.name, each.type, each.meaning.text] for each in state.columns]
    return [
        state.name,
        {label: term.text for label, term in state.parts.items()},
        columns,
        state.bucketed,
        bool(state.ttl_ms),
    ]


@cache
def terms() -> dict[str, str]:
    """Restore program to the hash of what its states mean, as savepoints since format 2 keep it."""
    return {str(program): _hash(list(map(_digests, meanings(_plan(program))))) for program in programs()}


def _digests(state: StateMeaning) -> list[object]:
    parts = {label: term.digest for label, term in state.parts.items()}
    return [state.name, parts, [each.meaning.digest for each in state.columns], list(map(_digests, state.earlier))]


@cache
def current() -> dict[str, Any]:
    """Node version to its hashes."""
    states = layouts()
    return {str(key): {"json": shape(key), "states": states.get(str(key), {})} for key in keys()}


def released() -> bool:
    """Whether 1.0 is out."""
    return Version(RELEASE) >= Version("1.0")


def stored() -> dict[str, Any]:
    """The file."""
    found: dict[str, Any] = json.loads(FROZEN.read_text("utf-8"))
    return found


def stored_terms() -> dict[str, str]:
    """The other file."""
    found: dict[str, str] = json.loads(FROZEN_TERMS.read_text("utf-8")) if FROZEN_TERMS.exists() else {}
    return found


def merged(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """What is new beside what there was, which stays."""
    result = dict(old)
    for key, hashes in new.items():
        before = old.get(key, {"json": hashes["json"], "states": {}})
        result[key] = {"json": before["json"], "states": {**hashes["states"], **before["states"]}}
    return result


def _reachable(schema: dict[str, Any]) -> dict[str, Any]:
    """Without definitions that nothing refers to."""
    definitions = schema.get("$defs", {})
    found: set[str] = set()
    ahead = [{name: each for name, each in schema.items() if name != "$defs"}]
    while ahead:
        names = set(re.findall(r'"#/\$defs/([^"]+)"', json.dumps(ahead.pop()))) - found
        found |= names
        ahead += [definitions[name] for name in names]
    if not definitions:
        return schema
    return {**schema, "$defs": {name: each for name, each in definitions.items() if name in found}}


def _bare(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _bare(each) for name, each in value.items() if name not in _WORDS or isinstance(each, dict)}
    return [_bare(each) for each in value] if isinstance(value, list) else value


def _hash(value: object) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(re.sub(r"\s+", " ", text).encode()).hexdigest()[:16]


if __name__ == "__main__":
    found = merged(stored(), current()) if released() else current()
    FROZEN.write_text(json.dumps(found, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    FROZEN_TERMS.write_text(json.dumps({**terms(), **stored_terms()}, indent=2, sort_keys=True) + "\n", "utf-8")
