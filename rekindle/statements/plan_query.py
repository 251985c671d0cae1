"""The query inside a compiled plan, to be read like a table."""

from __future__ import annotations

from functools import reduce

from execnodes.batch.sink.v1 import BatchSink
from execnodes.core.errors import PlanError
from execnodes.core.expressions import InputRef
from execnodes.core.graph import ExecGraph
from execnodes.core.node import ExecNode
from execnodes.core.types import Field, row
from execnodes.stream.calc.v1 import Calc
from execnodes.stream.changelog_normalize import ChangelogNormalize
from execnodes.stream.deduplicate import Deduplicate
from execnodes.stream.drop_update_before.v1 import DropUpdateBefore
from execnodes.stream.exchange.v1 import Exchange
from execnodes.stream.sink.v1 import Sink
from execnodes.stream.union.v1 import Union
from execnodes.stream.watermark_assigner.v1 import WatermarkAssigner
from execnodes.stream.window_aggregate.v1 import WindowAggregate
from execnodes.stream.window_table_function.v1 import WindowTableFunction
from planner.algebra import CompiledQuery
from planner.algebra.windows import TIME
from rekindle.statements.query_sink import collects


def query_of(graph: ExecGraph, source: str) -> CompiledQuery:
    """The nodes of the plan of a query, without its sink; PlanError for any other plan. `source` names the plan."""
    sink = _collect_sink(graph, source)
    root = graph.inputs_of(sink)[0]
    table = sink.dynamic_table_sink.table.resolved_table
    names = [column.name for column in table.table_schema.writable] if table else []
    times = _event_times(graph)[root.id]
    fields = [
        Field(name, field.type if at in times else field.type.regular())
        for at, (name, field) in enumerate(zip(names, root.output_type.fields, strict=True))
    ]
    nodes = tuple(node for node in graph.nodes if node.id != sink.id)
    query = ExecGraph.of(nodes, graph.inputs, graph.max_parallelism, graph.engine_version)
    key = sink.input_upsert_key if isinstance(sink, Sink) else None
    return CompiledQuery(query, root.id, row(*fields).not_null(), key)


def _collect_sink(graph: ExecGraph, source: str) -> Sink | BatchSink:
    roots = list(graph.roots())
    match roots:
        case [Sink() | BatchSink() as sink] if collects(sink.dynamic_table_sink.table):
            return sink
    into = ", ".join(
        each.dynamic_table_sink.table.name if isinstance(each, Sink | BatchSink) else str(each.key) for each in roots
    )
    raise PlanError(
        f"only the plan of one query can be read as a table; this one writes into {into or 'nothing'}",
        where=source,
        hint="Run it with execute_plan. A plan to be read is made by Table.compile_plan or COMPILE PLAN … FOR SELECT.",
    )


def _event_times(graph: ExecGraph) -> dict[int, frozenset[int]]:
    """Output columns that are event time, by node id. Types do not tell: a projection over a join keeps them."""
    found: dict[int, frozenset[int]] = {}
    for node in graph.nodes:
        found[node.id] = _event_times_of(node, [found[each] for each in graph.inputs[node.id]])
    return found


def _event_times_of(node: ExecNode, below: list[frozenset[int]]) -> frozenset[int]:
    match node:
        case WatermarkAssigner():
            return below[0] | {node.rowtime_field_index}
        case Calc():
            refs = ((at, each.input_index) for at, each in enumerate(node.projection) if isinstance(each, InputRef))
            return frozenset(at for at, index in refs if index in below[0])
        case WindowTableFunction():
            return below[0] | {len(node.output_type.fields) - 1}
        case WindowAggregate():
            first = len(node.output_type.fields) - len(node.named_window_properties)
            properties = enumerate(node.named_window_properties, first)
            return frozenset(at for at, each in properties if each.property == TIME)
        case Exchange() | DropUpdateBefore() | ChangelogNormalize() | Deduplicate():
            return below[0]
        case Union():
            return reduce(frozenset.intersection, below)
        case _:
            return frozenset()
