"""Everything that can be said about the text of a plan without running it: all errors, then what looks odd."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal as Tag

from jsonschema import Draft202012Validator

from execnodes.core.errors import PlanError
from execnodes.core.graph import ExecGraph
from execnodes.core.node import UID_FORMAT, ExecNode
from execnodes.core.options import find
from execnodes.core.secrets import literal_secrets, masked
from execnodes.core.sink_node import SinkNode
from execnodes.core.words import one_line, plain
from plans.format.agreement import disagreements, input_types
from plans.format.checks import problems
from plans.format.document import PlanDocument
from plans.format.find_lost_conditions import find_lost_conditions
from plans.format.literal_secrets import hint_for
from plans.format.load import inputs_of, load, located, read_document, read_node
from plans.format.node_tables import tables_of
from plans.format.schema import path, published


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing about a plan."""

    severity: Tag["error", "warning"]
    """An error keeps the plan from running."""
    where: str
    """File, node, property."""
    message: str
    hint: str = ""

    def __str__(self) -> str:
        lines = [one_line(f"{self.severity}: {self.where}: {self.message}")]
        return "\n".join([*lines, *(f"  {plain(line)}" for line in self.hint.splitlines())])


def lint(text: str, *, source: str = "<plan>") -> list[Finding]:
    """Check a plan; an empty list means that there is nothing to say. Errors come first and stand for all nodes."""
    errors = [_error(located(error, source)) for error in _errors(text)]
    if errors:
        return errors
    try:
        graph = load(text, source=source)
    except PlanError as error:
        return [_error(error)]
    return [*_schema(text, graph.engine_version, source), *_secrets(graph, source), *_warnings(graph, source)]


def _errors(text: str) -> Iterator[PlanError]:
    """Errors of the frame, or those of each node."""
    try:
        document = read_document(text)
    except PlanError as error:
        yield error
        return
    nodes, unread = [], False
    for raw in document.nodes:
        try:
            node = read_node(raw, document.engine_version)
        except PlanError as error:
            yield error
            unread = True
        else:
            nodes.append(node)
            yield from problems(node, _input_count(document, node))
    if unread:
        return
    try:
        inputs = inputs_of(nodes, document.edges)
    except PlanError as error:
        yield error
        return
    for node, types in zip(nodes, input_types(nodes, inputs), strict=True):
        yield from disagreements(node, types, document.engine_version)


def _input_count(document: PlanDocument, node: ExecNode) -> int:
    return sum(edge.target == node.id for edge in document.edges)


def _error(error: PlanError) -> Finding:
    place = f"{error.position}, {error.where}" if error.position else error.where
    return Finding("error", place or "", error.message, error.hint or "")


def _schema(text: str, engine_version: str, source: str) -> Iterator[Finding]:
    """What the published schema says; it stays as released, while classes may have learned to read more."""
    validator = Draft202012Validator(published(engine_version))
    for error in validator.iter_errors(json.loads(text)):
        hint = f"See {path(engine_version).name}."
        yield Finding(
            "error", f"{source}, {error.json_path}", masked(f"against the published schema: {error.message}"), hint
        )


def _warnings(graph: ExecGraph, source: str) -> Iterator[Finding]:
    for lost in find_lost_conditions(graph):
        yield Finding("warning", f"{source}, {lost.where}", lost.message, lost.hint)
    for node in graph.nodes:
        where = f"{source}, node {node.id} ({node.key})"
        if node.state and not node.uids():
            names = ", ".join(entry.name for entry in node.state)
            yield Finding(
                "warning", where, f"it keeps no state, so the TTL of {names} has no effect", "Remove `state`."
            )
        for key in sorted(node.configuration):
            now = find(key).key
            if now != key:
                hint = f"rekindle upgrade writes {now} instead; until then the old name is read."
                yield Finding("warning", where, f"option {key} is called {now} now", hint)
        # The form of uids is stored only where it was set: without it there is one that never changes.
        missing = sorted(set(node.metadata.consumed_options) - set(node.configuration) - {UID_FORMAT})
        if missing:
            yield Finding(
                "warning",
                where,
                f"its configuration lacks {', '.join(missing)}; the defaults of the engine that runs it apply",
                "Write the values in force, so that another release gives the same rows.",
            )
    for node in graph.roots():
        if not isinstance(node, SinkNode):
            yield Finding(
                "warning",
                f"{source}, node {node.id} ({node.key})",
                "nothing reads its rows, and it writes to no table",
                "Remove the node, or add the edge that is missing.",
            )


def _secrets(graph: ExecGraph, source: str) -> Iterator[Finding]:
    for node in graph.nodes:
        for table in tables_of(node):
            options = table.resolved_table.options if table.resolved_table else None
            for key in literal_secrets(options or {}):
                where = f"{source}, node {node.id} ({node.key}), table {table.name}"
                yield Finding("error", where, f"option {key!r} holds a secret in clear text", f"Write {hint_for(key)}")
