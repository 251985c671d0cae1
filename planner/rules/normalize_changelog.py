"""Behind a source that gives only new rows under a key (or events twice), state restores the full changelog."""

from __future__ import annotations

from dataclasses import replace

from execnodes.core.expressions import InputRef
from planner.algebra import Logical, Normalize, Project, Scan, WatermarkAssigner
from planner.algebra.tree import Sinks, rewrite


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
    key = scan.table.table_schema.primary_key
    mode = scan.source_mode
    names = [field.name for field in scan.type.fields]
    if key is None or mode.insert_only or not (mode.upsert or duplicates) or not set(key.columns) <= set(names):
        return None
    return tuple(names.index(each) for each in key.columns)


def _below(node: Project, below: Normalize) -> Logical:
    """Project first, if all key columns survive it."""
    places = {
        each.input_index: at for at, each in reversed([*enumerate(node.expressions)]) if isinstance(each, InputRef)
    }
    if any(key not in places for key in below.keys):
        return node
    return Normalize(replace(node, input=below.input), tuple(places[key] for key in below.keys))
