"""Behind a source that gives only new rows under a key (or events twice), state restores the full changelog."""

from __future__ import annotations

from dataclasses import replace

from execnodes.core.errors import SqlError
from execnodes.core.expressions import InputRef
from planner.algebra import Logical, Normalize, Project, Scan, WatermarkAssigner
from planner.algebra.tree import Sinks, rewrite

_DUPLICATES = "table.exec.source.cdc-events-duplicate"


def normalize_changelog(sinks: Sinks, duplicates: bool) -> Sinks:
    """Put Normalize above such scans, above their watermark assigner; `duplicates`: sources may repeat events."""

    def normalize(node: Logical) -> Logical:
        match node:
            case Scan():
                keys = _normalized_keys(node, duplicates)
                return node if keys is None else Normalize(node, keys)
            case Project(input=Normalize() as below):
                return _below(node, below)
            case WatermarkAssigner(input=Normalize() as below):
                return replace(below, input=replace(node, input=below.input))
            case _:
                # A normalization stays where it is, which is right below every operator.
                return node

    return rewrite(sinks, normalize)


def _normalized_keys(scan: Scan, duplicates: bool) -> tuple[int, ...] | None:
    key, mode = scan.table.table_schema.primary_key, scan.source_mode
    if mode.insert_only or not (mode.upsert or duplicates):
        return None
    if key is None:
        raise _no_key_error(scan, mode.upsert)
    names = [field.name for field in scan.type.fields]
    if not set(key.columns) <= set(names):
        return None
    return tuple(names.index(each) for each in key.columns)


def _no_key_error(scan: Scan, upsert: bool) -> SqlError:
    name = "an inline table" if scan.identifier is None else f"table '{'.'.join(scan.identifier)}'"
    if upsert:
        what = f"{name} emits updates without the rows before them and has no PRIMARY KEY"
    else:
        what = f"{name} is a changelog source without PRIMARY KEY, and '{_DUPLICATES}' is enabled"
    return SqlError(what, hint="Declare PRIMARY KEY (…) NOT ENFORCED, by which its rows are found again.")


def _below(node: Project, below: Normalize) -> Logical:
    """Project first, if all key columns survive it."""
    places = {
        each.input_index: at for at, each in reversed([*enumerate(node.expressions)]) if isinstance(each, InputRef)
    }
    if any(key not in places for key in below.keys):
        return node
    return Normalize(replace(node, input=below.input), tuple(places[key] for key in below.keys))
