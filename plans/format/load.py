"""The text of a plan to an ExecGraph: engine version first, then every property; nothing unknown passes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from execnodes.core.errors import PlanError, Position
from execnodes.core.graph import ExecGraph, check_order
from execnodes.core.metadata import NodeKey
from execnodes.core.node import ExecNode
from execnodes.core.registry import lookup
from execnodes.core.version import ENGINE_VERSION, OLDEST_READABLE, version_tuple
from plans.format.agreement import disagreements, input_types
from plans.format.checks import check_node
from plans.format.document import Edge, PlanDocument, schema_id
from plans.format.functions import with_versions
from plans.format.job_options import read_job_options
from plans.format.messages import describe_errors
from plans.format.places import put_places
from plans.format.texts import refuse_wrong_texts

_RESTORE = "Restore the file or compile the plan anew."
_NOT_A_PLAN = "A plan is a JSON object; a script becomes one by rekindle compile -f script.sql -o plan.json."
_LONGEST_NUMBER = 40
_HOLDERS = frozenset({dict, list})

M = TypeVar("M", bound=BaseModel)


def load(text: str, *, source: str = "<plan>") -> ExecGraph:
    """Read a plan; PlanError (`source` names the file in it) says what is wrong, where, and what to do."""
    try:
        document = read_document(text)
        nodes = tuple(read_node(each, document.engine_version) for each in document.nodes)
        return graph_of(nodes, document)
    except PlanError as error:
        raise located(error, source) from error.__cause__


def graph_of(nodes: tuple[ExecNode, ...], document: PlanDocument) -> ExecGraph:
    """Nodes that have been read, in the frame of their plan; PlanError if they do not fit together."""
    inputs = inputs_of(nodes, document.edges)
    check_order(nodes, inputs)
    put_places(nodes, document.places)
    for node in nodes:
        check_node(node, len(inputs[node.id]))
    for node, types in zip(nodes, input_types(nodes, inputs), strict=True):
        for error in disagreements(node, types, document.engine_version):
            raise error
    graph = ExecGraph.of(nodes, inputs, document.max_parallelism, document.engine_version)
    options = read_job_options(document.configuration)
    return replace(graph, last_node_id=document.last_node_id, job_options=options, table_aliases=document.table_aliases)


def read_document(text: str, *, oldest: str | None = OLDEST_READABLE) -> PlanDocument:
    """The frame of a plan, its nodes still unread; `oldest`: the first release whose plans are taken, None for all."""
    raw = _parse(text)
    if not isinstance(raw, dict):
        raise PlanError("a plan is a JSON object", hint="Make plans with COMPILE PLAN.")
    version = _engine_version(raw, oldest)
    document = validated(PlanDocument, raw, "plan")
    if document.schema_id != schema_id(version):
        raise PlanError(
            f"$schema is {document.schema_id!r}, which is not the schema of engine version {version}",
            hint=f"Write {schema_id(version)!r}.",
        )
    return document


def read_node(raw: Mapping[str, Any], engine_version: str = ENGINE_VERSION) -> ExecNode:
    """One node, by the class that its `type` names; functions without a version are those of `engine_version`."""
    key, where = node_key(raw), _place(raw)
    try:
        cls = lookup(key)
    except PlanError as error:
        raise located(error, where) from None
    where = f"{where} ({key})"
    node = validated(cls, raw, where)
    try:
        named = with_versions(raw, engine_version)
    except PlanError as error:
        raise located(error, where) from None
    return node if named is raw else validated(cls, named, where)


def node_key(raw: Mapping[str, Any]) -> NodeKey:
    """Name and version of a node."""
    kind = raw.get("type")
    if not isinstance(kind, str):
        hint = "Write e.g. 'stream-exec-sink_1'."
        raise PlanError("property type is missing or not a text", where=_place(raw), hint=hint)
    try:
        return NodeKey.parse(kind)
    except ValueError as error:
        raise PlanError(str(error), where=_place(raw), hint=_RESTORE) from None


def validated(cls: type[M], raw: Mapping[str, Any], where: str) -> M:
    """A model from JSON values: no conversions, no unknown properties."""
    try:
        return cls.model_validate(_with_tuples(raw), strict=True, by_alias=True, by_name=False)
    except ValidationError as error:
        raise PlanError(describe_errors(error, raw), where=where, hint=_hint(error)) from None
    except RecursionError:
        raise PlanError("an expression is nested too deeply", where=where, hint="Compile the plan anew.") from None


def located(error: PlanError, where: str) -> PlanError:
    """The same error with one more place in front: the file, the node."""
    place = f"{where}, {error.where}" if error.where else where
    return type(error)(error.message, where=place, position=error.position, hint=error.hint)


def _parse(text: str) -> Any:
    try:
        raw = json.loads(text, object_pairs_hook=_object, parse_constant=_constant, parse_int=_whole)
    except json.JSONDecodeError as error:
        cut = error.pos >= len(text.rstrip())
        what = "the JSON ends too early: the file is cut" if cut else f"this is not JSON: {error.msg}"
        hint = _RESTORE if text.lstrip().startswith("{") or not text.strip() else _NOT_A_PLAN
        raise PlanError(what, position=Position(error.lineno, error.colno), hint=hint) from None
    except RecursionError:
        raise PlanError("the JSON is nested too deeply", hint=_RESTORE) from None
    refuse_wrong_texts(raw, text)
    return raw


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise PlanError(f"property {twice!r} occurs twice in one JSON object", hint="Keep one of them.")
    return result


def _whole(digits: str) -> int:
    # Python itself fails for numbers of more than 4300 digits.
    number = int(digits) if len(digits) <= _LONGEST_NUMBER else None
    if number is None or not -(2**63) <= number < 2**63:
        raise PlanError(f"{digits[:20]}… is no number of a plan: they have 64 bits", hint=_RESTORE)
    return number


def _constant(name: str) -> Any:
    raise PlanError(f"{name} is not JSON", hint="Write numbers that JSON has, or texts.")


def _place(raw: Mapping[str, Any]) -> str:
    return f"node {raw.get('id', '(without id)')}"


def _engine_version(raw: Mapping[str, Any], oldest: str | None) -> str:
    text = raw.get("engineVersion")
    try:
        version = version_tuple(text)
    except ValueError as error:
        what = str(error) if "engineVersion" in raw else "property engineVersion is missing"
        raise PlanError(what, hint="Is this a Rekindle plan? Make one with COMPILE PLAN.") from None
    if version > version_tuple(ENGINE_VERSION):
        raise PlanError(
            f"the plan was compiled by engine version {text}, this engine is version {ENGINE_VERSION}",
            hint=f"Run it with Rekindle {text} or newer, or compile its SQL with this version.",
        )
    if oldest is not None and version < version_tuple(oldest):
        raise PlanError(
            f"the plan was compiled by engine version {text}, this engine ({ENGINE_VERSION}) reads plans from "
            f"{oldest} on",
            hint="Migrate it: COMPILE PLAN 'new.json' FROM 'old.json', or rekindle upgrade old.json -o new.json.",
        )
    return f"{version[0]}.{version[1]}"


def inputs_of(nodes: Iterable[ExecNode], edges: Iterable[Edge]) -> dict[int, tuple[int, ...]]:
    """The inputs of each node, in order; PlanError for edges that lead nowhere or form a cycle."""
    inputs: dict[int, tuple[int, ...]] = {node.id: () for node in nodes}
    for edge in edges:
        for node_id, end in ((edge.source, "source"), (edge.target, "target")):
            if node_id not in inputs:
                raise PlanError(
                    f"its {end} {node_id} is not a node of the plan",
                    where=f"edge {edge.source} -> {edge.target}",
                    hint=f"The plan has the nodes {', '.join(map(str, inputs))}. Remove the edge or add the node.",
                )
        inputs[edge.target] += (edge.source,)
    try:
        TopologicalSorter(inputs).prepare()
    except CycleError as error:
        cycle = " -> ".join(map(str, reversed(error.args[1])))
        raise PlanError(f"the edges {cycle} form a cycle", where="edges", hint="Remove one of them.") from None
    return inputs


def _with_tuples(value: Any) -> Any:
    """JSON lists as tuples, which strict validation asks for."""
    # Plans consist mostly of texts and numbers: they are passed by without a call.
    if isinstance(value, list):
        return tuple([_with_tuples(each) if type(each) in _HOLDERS else each for each in value])
    if isinstance(value, dict):
        return {key: _with_tuples(each) if type(each) in _HOLDERS else each for key, each in value.items()}
    return value


def _hint(error: ValidationError) -> str:
    if any(each["type"] == "extra_forbidden" for each in error.errors()):
        return "Remove the property, or run the plan with the release that wrote it. Nothing unknown is ignored."
    return "Correct the property, restore the file, or compile the plan anew."
