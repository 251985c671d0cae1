"""Where the tables of a restored plan come from: the plan, the catalog, or both, which must then agree."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal as Tag
from typing import Protocol

from execnodes.core.errors import PlanError
from execnodes.core.graph import ExecGraph
from execnodes.core.node import ExecNode
from execnodes.core.tables import Column, ResolvedTable, Schema, TableReference
from plans.format.codec import Identifier
from plans.format.node_tables import FIXED, map_tables

Mode = Tag["ALL", "ALL_ENFORCED", "IDENTIFIER"]
"""Values of `table.plan.restore.catalog-objects`."""


@dataclass(frozen=True, slots=True)
class CatalogTable:
    """A table as the catalog has it now."""

    table: ResolvedTable
    temporary: bool


class CatalogLookup(Protocol):
    """What restoring asks of the catalogs of the session."""

    def lookup(self, identifier: Identifier) -> CatalogTable | None:
        """The table of that name, temporary ones first; None if there is none."""
        ...


Fail = Callable[[str, str | None], PlanError]
"""Makes the error that names the node."""


def resolve_tables(graph: ExecGraph, catalog: CatalogLookup, mode: Mode = "ALL", enrich: bool = True) -> ExecGraph:
    """The graph with every table in full; PlanError where plan and catalog disagree or a table is nowhere.

    `mode` ALL takes the catalog's table where the plan has none or lacks its options, ALL_ENFORCED never looks at
    permanent tables of the catalog, IDENTIFIER only there. With `enrich` the options of the catalog's table win over
    those in the plan, except connector and formats, which must be the same. Options of hints always win.
    """

    def resolved(node: ExecNode) -> ExecNode:
        def resolve(table: TableReference) -> TableReference:
            return _hinted(_resolve(node.fail, table, catalog, mode, enrich))

        return map_tables(node, resolve)

    nodes = tuple(resolved(node) for node in graph.nodes)
    return graph.with_nodes(nodes)


def _resolve(fail: Fail, table: TableReference, catalog: CatalogLookup, mode: Mode, enrich: bool) -> TableReference:
    stored = table.resolved_table
    if table.identifier is None:
        if stored is None or stored.options is None:
            raise fail("its table has neither an identifier nor a schema with options", "Compile the plan anew.")
        return table
    found = catalog.lookup(table.identifier)
    complete = stored is not None and stored.options is not None
    if mode == "ALL_ENFORCED" and found is not None and not found.temporary:
        if not complete:
            raise fail(
                f"the plan does not hold all of table {table.name}, and the catalog may not be asked for it "
                "(table.plan.restore.catalog-objects = ALL_ENFORCED)",
                "Restore with ALL or IDENTIFIER, or compile with table.plan.compile.catalog-objects = ALL.",
            )
        found = None
    if stored is not None and found is not None:
        _must_agree(fail, table.name, stored, found.table)
    if stored is None or mode == "IDENTIFIER":
        if found is None:
            raise fail(
                f"table {table.name} is not in the catalog, and "
                + ("the plan holds only its identifier" if stored is None else "the plan's own copy may not be used"),
                "Create the table under that name (temporary tables too) before the plan is executed"
                + ("." if stored is None else ", or restore with table.plan.restore.catalog-objects = ALL."),
            )
        return _with(table, found.table)
    if found is None:
        if not complete:
            raise fail(
                f"table {table.name} is not in the catalog, and the plan holds its schema without options",
                "Create the table under that name before the plan is executed.",
            )
        return table
    if not complete:
        return _with(table, found.table)
    return _with(table, _enriched(fail, table, stored, found.table)) if enrich else table


def _with(table: TableReference, resolved: ResolvedTable) -> TableReference:
    return TableReference(identifier=table.identifier, resolved_table=resolved, hints=table.hints)


def _hinted(table: TableReference) -> TableReference:
    resolved = table.resolved_table
    if resolved is None or not table.hints:
        return table
    return _with(table, resolved.model_copy(update={"options": {**(resolved.options or {}), **table.hints}}))


def _enriched(fail: Fail, table: TableReference, stored: ResolvedTable, found: ResolvedTable) -> ResolvedTable:
    ours, theirs, name = stored.options or {}, found.options or {}, table.name
    for key in FIXED:
        if key in theirs and theirs[key] != ours.get(key) and key not in table.hints:
            raise fail(
                f"table {name}: option {key!r} is {ours.get(key)!r} in the plan and {theirs[key]!r} in the catalog",
                "Restore with table.plan.restore.enrich-table-options = false to use the plan's options, or with "
                "table.plan.restore.catalog-objects = IDENTIFIER to use the catalog's.",
            )
    return stored.model_copy(update={"options": {**ours, **theirs}})


def _must_agree(fail: Fail, name: str, stored: ResolvedTable, found: ResolvedTable) -> None:
    for what, ours, theirs in differences(stored, found):
        raise fail(
            f"table {name} has changed: {what} is {ours} in the plan and {theirs} in the catalog",
            "Compile the plan anew (COMPILE PLAN … FROM … FOR keeps the state), or restore with "
            "table.plan.restore.catalog-objects = ALL_ENFORCED to use the plan's table.",
        )


def differences(stored: ResolvedTable, found: ResolvedTable) -> Iterator[tuple[str, str, str]]:
    """(what, in the plan, in the catalog) for all that must be equal: columns, watermark, key, partition keys."""
    ours, theirs = stored.table_schema, found.table_schema
    if len(ours.columns) != len(theirs.columns):
        yield "the number of columns", str(len(ours.columns)), str(len(theirs.columns))
        return
    columns = zip(map(_column, ours.columns), map(_column, theirs.columns), strict=True)
    for what, one, other in (
        *((f"column {at}", one, other) for at, (one, other) in enumerate(columns, 1)),
        ("the primary key", _key(ours), _key(theirs)),
        ("the watermark", _watermarks(ours), _watermarks(theirs)),
        ("PARTITIONED BY", _names(stored.partition_keys), _names(found.partition_keys)),
    ):
        if one != other:
            yield what, one, other


def _column(column: Column) -> str:
    # A time attribute follows from the watermark, which is compared by itself; whether a computed column may be NULL
    # from what it reads, and before 1.3 a key was taken for something that may.
    type_ = column.data_type.regular()
    text = f"`{column.name}` {type_.with_nullable(True) if column.kind == 'COMPUTED' else type_}"
    if column.kind == "METADATA":
        text += f" METADATA FROM '{column.metadata_key or column.name}'{' VIRTUAL' if column.is_virtual else ''}"
    return text + (" computed" if column.kind == "COMPUTED" else "")


def _key(schema: Schema) -> str:
    return _names(schema.primary_key.columns if schema.primary_key else ())


def _watermarks(schema: Schema) -> str:
    return ", ".join(
        f"FOR `{each.rowtime_attribute}` AS {each.expression.serializable_string}" for each in schema.watermark_specs
    )


def _names(names: tuple[str, ...]) -> str:
    return f"({', '.join(names)})"
