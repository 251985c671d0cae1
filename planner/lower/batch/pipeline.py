"""Lowers a batch pipeline: all sinks into one graph."""

from __future__ import annotations

from collections.abc import Sequence

from execnodes.core.graph import ExecGraph
from execnodes.core.options import Configuration
from planner.logical import Sink
from planner.lower.batch.context import BatchContext
from planner.lower.batch.sink import lower_sink
from planner.physical import CompiledQuery
from planner.tree import leaves


def lower_batch(sinks: Sequence[Sink], configuration: Configuration, plans: Sequence[ExecGraph]) -> ExecGraph:
    """ExecGraph of optimized sinks, in statement order, behind `plans`; SqlError for what cannot run."""
    context = BatchContext(configuration)
    for plan in plans:
        context.builder.graft(plan)
    for query in (each for sink in sinks for each in leaves(sink) if isinstance(each, CompiledQuery)):
        context.roots[id(query)] = context.builder.graft(query.graph)[query.root]
    for sink in sinks:
        lower_sink(sink, context)
    return context.builder.graph(configuration.number("pipeline.max-parallelism"))
