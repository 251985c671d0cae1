"""Lowers sinks: which changes they get, and whether their key needs help to keep the right row."""

from __future__ import annotations

from execnodes.connectors import find_format, is_upsert_sink, own_formats, sink_changelog_mode
from execnodes.core.changelog import ChangelogMode, RowKind
from execnodes.core.errors import SqlError
from execnodes.core.node import ExecNode
from execnodes.core.places import Place
from execnodes.core.types import Field, LogicalType, row
from planner.algebra import CompiledQuery, Logical, Scan, Sink
from planner.algebra.keys import Key, smallest
from planner.algebra.tree import leaves
from planner.lower.context import NEW, Context
from planner.lower.describe import described, listed, names_of
from planner.lower.determinism import check_determinism
from planner.lower.table_specs import reference, table_name

_UPSERTS = ChangelogMode({RowKind.INSERT, RowKind.UPDATE_AFTER, RowKind.DELETE})
"""What a sink that keeps one row a key takes of a materializer, whatever the query gives."""


def lower_sink(node: Sink, context: Context) -> ExecNode:
    """The sink and all it needs; SqlError if it cannot take the query's changes."""
    from execnodes.stream.sink import DynamicTableSink
    from execnodes.stream.sink import Sink as ExecSink

    if node.overwrite:
        raise SqlError(
            "INSERT OVERWRITE replaces what a table holds, which has no meaning for a stream",
            position=node.position,
            hint="Write INSERT INTO, or run the statement in batch mode: SET 'execution.runtime-mode' = 'batch'.",
        )
    accepted = _accepted(node, context)
    key = _primary_key(node)
    _check_conflict(node, accepted)
    materialize = _materialize(node, context, accepted, key)
    if materialize and accepted.insert_only:
        accepted = _UPSERTS
    update_before = _needs_update_before(node, context, accepted, key)
    below = context.lower(node.input, update_before)
    check_determinism(node, None if materialize else key, context.configuration)
    output = sink_type(node)
    found = tuple(sorted(key)) if key in node.input.upsert_keys else smallest(node.input.upsert_keys)
    return context.add(
        ExecSink(
            id=NEW,
            output_type=output,
            changelog_mode=below.changelog_mode,
            description=described(
                "Sink",
                ("table", f"[{table_name(node)}]"),
                ("fields", listed(names_of(output))),
                ("upsertMaterialize", "[true]" if materialize else None),
                ("conflictStrategy", f"[{node.on_conflict}]" if node.on_conflict else None),
            ),
            dynamic_table_sink=DynamicTableSink(table=reference(node), target_columns=node.target_columns),
            input_changelog_mode=below.changelog_mode,
            accepted_changelog_mode=accepted,
            require_upsert_materialize=materialize,
            input_upsert_key=found or None,
            conflict_strategy=node.on_conflict,
            overwrite=node.overwrite,
            state=(context.state("sinkMaterializeState"),) if materialize else (),
        ).put(sink_place(node, context)),
        [below],
        share=False,
    )


def sink_place(node: Sink, context: Context) -> Place | None:
    """Where the statement stands, if the table demands something that a row may not have."""
    types = [column.data_type for column in node.table.table_schema.writable]
    sized = context.configuration.get_option("table.exec.sink.type-length-enforcer") != "IGNORE"
    demands = sized or node.on_conflict == "ERROR" or not all(each.nullable for each in types)
    return node.place if demands else None


def _options(node: Sink) -> dict[str, str]:
    return {**(node.table.options or {}), **dict(node.hints)}


def _primary_key(node: Sink) -> Key | None:
    """Positions of the key's columns among those that are written."""
    key = node.table.table_schema.primary_key
    names = [column.name for column in node.table.table_schema.writable]
    return None if key is None else frozenset(names.index(each) for each in key.columns)


def sink_type(node: Sink) -> LogicalType:
    """The query's types under the sink's names."""
    columns = node.table.table_schema.writable
    if len(columns) != len(node.input.type.fields):
        return node.input.type
    return row(*(Field(mine.name, its.type) for mine, its in zip(columns, node.input.type.fields, strict=True)))


def _accepted(node: Sink, context: Context) -> ChangelogMode:
    requested = node.input.mode(True)
    has_key = node.table.table_schema.primary_key is not None
    accepted = sink_changelog_mode(_options(node), has_key, requested)
    if accepted is None:
        producer = _first_updating(context.lower(node.input, True), context)
        raise SqlError(
            f"table sink {table_name(node)!r} takes inserts only, but {producer.description} gives "
            f"{_changes(requested)}",
            position=node.position,
            hint=f"{_taking_updates(node, has_key=has_key)} Or aggregate in windows, which give each row once.",
        )
    return accepted


def _check_conflict(node: Sink, accepted: ChangelogMode) -> None:
    """SqlError for an ON CONFLICT that has nothing to settle, or that needs watermarks which a source has not."""
    if node.on_conflict is None:
        return
    if not _is_upsert(node, accepted):
        has_key = node.table.table_schema.primary_key is not None
        reason = "it only accepts INSERT (append-only) changes" if accepted.insert_only else "it takes retractions (-U)"
        raise SqlError(
            f"ON CONFLICT clause is only allowed for upsert sinks, but table sink {table_name(node)!r} is not one: "
            f"{reason if has_key else 'it has no PRIMARY KEY'}",
            position=node.position,
            hint="Leave out ON CONFLICT.",
        )
    if node.on_conflict in ("NOTHING", "ERROR"):
        _require_watermarks(node)


def _is_upsert(node: Sink, accepted: ChangelogMode) -> bool:
    return is_upsert_sink(_options(node), node.table.table_schema.primary_key is not None, accepted)


def _taking_updates(node: Sink, *, has_key: bool) -> str:
    """How a sink takes updates: with a key or another format, if its connector then does; else another connector."""
    updates = node.input.mode(True)
    options = _options(node)
    if not has_key and sink_changelog_mode(options, True, updates) is not None:
        return "Declare PRIMARY KEY (…) NOT ENFORCED on the table."
    carrying = (name for name in sorted(own_formats()) if _carries(name))
    formats = [each for each in carrying if sink_changelog_mode({**options, "format": each}, has_key, updates)]
    format = f"Give the table 'format' = '{formats[0]}', which writes changes, or write" if formats else "Write"
    return f"{format} into a table with the connector 'duckdb' and a PRIMARY KEY."


def _carries(name: str) -> bool:
    declared = find_format(name)
    return declared is not None and declared.changelog


def _changes(mode: ChangelogMode) -> str:
    named = (("updates", RowKind.UPDATE_AFTER), ("deletes", RowKind.DELETE))
    return " and ".join(name for name, kind in named if kind in mode)


def _first_updating(node: ExecNode, context: Context) -> ExecNode:
    """The node that makes updates of plain inserts."""
    for source in context.builder.inputs[node.id]:
        below = context.builder.nodes[source]
        if not below.changelog_mode.insert_only:
            return _first_updating(below, context)
    return node


def _key_differs(node: Sink, accepted: ChangelogMode, key: Key | None) -> bool:
    """Rows come by another key than the one the sink finds rows by, so that several may want one place."""
    return _is_upsert(node, accepted) and not any(each <= (key or frozenset()) for each in node.input.upsert_keys)


def _needs_update_before(node: Sink, context: Context, accepted: ChangelogMode, key: Key | None) -> bool:
    if accepted.retract or _key_differs(node, accepted, key):
        return True
    return not node.input.can_omit_update_before


def _materialize(node: Sink, context: Context, accepted: ChangelogMode, key: Key | None) -> bool:
    choice = context.configuration.get_option("table.exec.sink.upsert-materialize")
    if choice == "NONE" or not _is_upsert(node, accepted):
        return False
    if choice == "FORCE":
        return True
    if not _key_differs(node, accepted, key):
        return False
    if node.on_conflict is None and context.configuration.flag("table.exec.sink.require-on-conflict"):
        _refuse_other_key(node)
    # Of rows that are only inserted the last one of a key replaces those before by itself.
    return not (accepted.insert_only and node.on_conflict == "DEDUPLICATE")


def _refuse_other_key(node: Sink) -> None:
    found = smallest(node.input.upsert_keys)
    names = names_of(sink_type(node))
    keyed = f"updates rows by ({', '.join(names[each] for each in found)})" if found else "has no key"
    key = node.table.table_schema.primary_key
    raise SqlError(
        f"table sink {table_name(node)!r} has the primary key ({', '.join(key.columns if key else ())}), "
        f"but the query {keyed}, so several of its rows may want one place",
        position=node.position,
        hint="Say what to do: ON CONFLICT DO DEDUPLICATE (keep the last), DO NOTHING (keep the first) or DO ERROR; "
        "or give the sink the query's key; or SET 'table.exec.sink.require-on-conflict' = 'false'.",
    )


def _require_watermarks(node: Sink) -> None:
    bare = [name for each in leaves(node.input) for name in _without_watermark(each)]
    if bare:
        raise SqlError(
            f"ON CONFLICT DO {node.on_conflict} needs watermarks on all sources, but there are none on "
            f"{', '.join(dict.fromkeys(bare))}",
            position=node.position,
            hint="Add WATERMARK FOR to these tables, or write ON CONFLICT DO DEDUPLICATE.",
        )


def _without_watermark(leaf: Logical) -> list[str]:
    """The sources below a leaf that have no watermark."""
    if isinstance(leaf, Scan) and not leaf.table.table_schema.watermark_specs:
        return [table_name(leaf)]
    if not isinstance(leaf, CompiledQuery):
        return []
    bare, seen, left = [], set(), [leaf.node]
    while left:
        node = left.pop()
        below = leaf.graph.inputs_of(node)
        if node.id in seen or node.has_watermarks:
            continue
        seen.add(node.id)
        bare += [] if below else [node.description]
        left += below
    return bare
