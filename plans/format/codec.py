"""ExecGraph to the text of a plan, byte for byte the same on every machine.

The form: UTF-8, two spaces of indentation, one line feed at the end; the properties of a node in the order `id`,
`type`, `configuration`, its own ones as declared, `state`, `inputProperties`, `outputType`, `changelogMode`,
`description`; the keys of maps sorted. One rule for defaults: a property that has a default is left out when its value
*is* that default and is empty (null, false, "", [] or {}). Any other value is written: a plan says what it means.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any
from typing import Literal as Tag

from pydantic import BaseModel

from execnodes.core.graph import ExecGraph
from execnodes.core.node import ExecNode
from execnodes.core.tables import ResolvedTable, TableReference
from plans.format.calls import without_classes
from plans.format.checks import check_node
from plans.format.document import Edge, PlanDocument, schema_id
from plans.format.literal_secrets import refuse_literal_secrets
from plans.format.node_tables import map_tables
from plans.format.places import places_of
from plans.format.text import written

Identifier = tuple[str, str, str]
"""Catalog, database and name of a table."""
_LAST = ("state", "input_properties", "output_type", "changelog_mode", "description")


@dataclass(frozen=True, slots=True)
class CompileOptions:
    """What of the tables goes into a plan."""

    catalog_objects: Tag["ALL", "SCHEMA", "IDENTIFIER"] = "ALL"
    """Of permanent tables: everything; identifier and schema without comment and options; the identifier alone."""
    is_temporary: Callable[[Identifier], bool] = lambda identifier: False
    """Whether a table is temporary; of such a table only the identifier is written."""


ALL = CompileOptions()


def encode(graph: ExecGraph, options: CompileOptions = ALL) -> str:
    """The plan as text; PlanError for what cannot be stored. `plans.format.load.load` is the way back."""
    frame = PlanDocument(
        schema_id=schema_id(graph.engine_version),
        engine_version=graph.engine_version,
        max_parallelism=graph.max_parallelism,
        last_node_id=graph.last_node_id,
        configuration=dict(graph.job_options),
        table_aliases=dict(graph.table_aliases),
        nodes=(),
        edges=tuple(Edge(source=source, target=node.id) for node in graph.nodes for source in graph.inputs[node.id]),
    )
    document = {**plain(frame), "nodes": [_node(node, graph, options) for node in graph.nodes]}
    if places := places_of(graph.nodes):
        document["places"] = [plain(each) for each in places]
    return written(document) + "\n"


def plain(model: BaseModel) -> dict[str, Any]:
    """A model as JSON values: properties in declared order, maps sorted, empty defaults left out."""
    result = _plain(model, model.model_dump(mode="json", by_alias=True))
    assert isinstance(result, dict)
    return result


def _node(node: ExecNode, graph: ExecGraph, options: CompileOptions) -> dict[str, Any]:
    check_node(node, len(graph.inputs[node.id]))
    try:
        named = node if options.catalog_objects == "ALL" else without_classes(node)
        values = plain(map_tables(named, lambda table: _stored(node, table, options)))
    except (RecursionError, ValueError) as error:
        raise node.fail(
            f"an expression cannot be written: {error}", "Split it: compute a part of it in a subquery or a view."
        ) from error
    fields = type(node).model_fields
    order = [name for name in fields if name not in _LAST] + list(_LAST)
    aliases = [fields[name].alias or name for name in order]
    return {alias: values[alias] for alias in aliases if alias in values}


def _stored(node: ExecNode, table: TableReference, options: CompileOptions) -> TableReference:
    resolved = table.resolved_table
    refuse_literal_secrets(table.name, table.hints)
    if table.identifier is None:
        if resolved is None or resolved.options is None:
            raise node.fail(
                "an inline table has no identifier, so the plan must hold its schema and options, but they are missing",
                "Create the table under a name.",
            )
        refuse_literal_secrets(table.name, resolved.options)
        return table
    if options.catalog_objects == "IDENTIFIER" or options.is_temporary(table.identifier):
        return TableReference(identifier=table.identifier, hints=table.hints)
    if resolved is None:
        return table
    if options.catalog_objects == "SCHEMA":
        resolved = ResolvedTable(table_schema=resolved.table_schema, partition_keys=resolved.partition_keys)
    refuse_literal_secrets(table.name, resolved.options or {})
    return TableReference(identifier=table.identifier, resolved_table=resolved, hints=table.hints)


def _plain(value: object, dumped: Any) -> Any:
    """`dumped` (what pydantic makes of `value`) in canonical order and without empty defaults."""
    if isinstance(value, BaseModel) and isinstance(dumped, dict):
        return {
            alias: _plain(each, item) if isinstance(item := dumped[alias], dict | list) else item
            for name, alias, default in _properties(type(value))
            if (each := getattr(value, name)) or default is _WRITTEN or not _left_out(each, default)
        }
    if isinstance(value, tuple | list):
        return [_plain(each, item) for each, item in zip(value, dumped, strict=True)]
    if isinstance(value, Mapping):
        pairs = zip(value.values(), dumped.items(), strict=True)
        return dict(sorted((key, _plain(each, item)) for each, (key, item) in pairs))
    return dumped


_WRITTEN = object()
"""Instead of a default: the property is always written."""


@cache
def _properties(model: type[BaseModel]) -> tuple[tuple[str, str, object], ...]:
    """Name, name in JSON and default of each property."""
    return tuple(
        (name, field.alias or name, _WRITTEN if field.is_required() else field.get_default(call_default_factory=True))
        for name, field in model.model_fields.items()
    )


def _left_out(value: object, default: object) -> bool:
    empty = value is None or value is False or (isinstance(value, str | tuple | list | Mapping) and not value)
    return empty and value == default
