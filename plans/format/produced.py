"""The columns that a node gives, told from its properties and its inputs: what its `outputType` is compared with.

As with references, properties of one name mean the same in all nodes, so that nothing here speaks of single nodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from execnodes.core.join_spec import JoinSpec
from execnodes.core.node import ExecNode
from execnodes.core.over_spec import OverSpec
from execnodes.core.tables import TableReference
from execnodes.core.types import BIGINT, LogicalType, timestamp
from execnodes.core.windowing import Windowing
from execnodes.lowering.batch import BatchNode
from execnodes.lowering.unnesting import table_problem

Types = list[LogicalType]
_WINDOW_BOUND = timestamp(3).not_null()


def produced(node: ExecNode, inputs: tuple[LogicalType, ...]) -> Iterator[tuple[str, Types]]:
    """What makes output columns, and their types; several where a node gives rows of several kinds.

    Nothing where the output is compared elsewhere: constant rows, tables, and what local aggregates send.
    """
    own = {name: getattr(node, name) for name in type(node).model_fields}
    given = [field.type for each in inputs for field in each.fields]
    if "projection" in own:
        yield "projection gives", [each.type for each in own["projection"]]
    elif "projects" in own:
        for at, row in enumerate(own["projects"]):
            yield f"projects[{at}] gives", [each.type for each in row]
    elif "tuples" in own or "scan_table_source" in own:
        return
    elif "function_call" in own:
        if table_problem(own["function_call"]) is not None:
            return  # the node says so itself
        left = own.get("join_type") == "LEFT"
        members = [each.type for each in own["function_call"].type.element.fields]
        padded = [each.with_nullable(each.nullable or left) for each in members]
        yield "its input and functionCall give", [*given, *padded]
    elif "join_spec" in own or "join_type" in own:
        spec = own.get("join_spec")
        kind = spec.join_type if isinstance(spec, JoinSpec) else own["join_type"]
        yield f"its inputs, joined {kind}, give", _joined(kind, inputs)
    elif "agg_calls" in own:
        if {"generate_update_before", "named_window_properties"} & own.keys() or isinstance(node, BatchNode):
            keys = [given[at] for at in own["grouping"]]
            window = [_property(own["windowing"], each.property) for each in own.get("named_window_properties", ())]
            yield "its keys and results give", [*keys, *(each.type for each in own["agg_calls"]), *window]
    elif isinstance(spec := own.get("over_spec"), OverSpec):
        calls = (call for group in spec.groups for call in group.agg_calls)
        yield "its input and results give", [*given, *(call.type for call in calls)]
    elif "calls" in own:
        yield "its input and results give", [*given, *(each.type for each in own["calls"])]
    elif "windowing" in own and own["windowing"].strategy == "TimeAttribute":
        names = ("WindowStart", "WindowEnd", "WindowTime")
        yield "its input and the window give", [*given, *(_property(own["windowing"], each) for each in names)]
    elif "output_row_number" in own:
        yield "its input gives", [*given, *([BIGINT.not_null()] if own["output_row_number"] else [])]
    else:
        for number, each in enumerate(inputs):
            yield f"its input {number} gives", [field.type for field in each.fields]


def tables(node: ExecNode) -> Iterator[tuple[str, TableReference]]:
    """Tables that a node reads or writes, with the name of the property."""
    for name in ("scan_table_source", "dynamic_table_sink"):
        table = getattr(getattr(node, name, None), "table", None)
        if isinstance(table, TableReference):
            yield name, table


def _joined(kind: str, inputs: Sequence[LogicalType]) -> Types:
    sides = [[field.type for field in each.fields] for each in inputs[:2]]
    if kind in ("SEMI", "ANTI"):
        return sides[0]
    absent = ({"RIGHT", "FULL"}, {"LEFT", "FULL"})
    return [t.with_nullable(t.nullable or kind in may) for types, may in zip(sides, absent, strict=True) for t in types]


def _property(windowing: Windowing, name: str) -> LogicalType:
    return windowing.time_attribute_type.not_null() if name == "WindowTime" else _WINDOW_BOUND
