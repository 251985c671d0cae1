"""Lowers a pipeline: all sinks into one graph."""

from __future__ import annotations

from collections.abc import Sequence

from execnodes.core.graph import ExecGraph
from execnodes.core.options import Configuration
from planner.algebra import CompiledQuery, Sink
from planner.algebra.tree import leaves
from planner.lower.batch import BatchContext, lower_batch_sink
from planner.lower.context import Context
from planner.lower.sink import lower_sink


def lower(sinks: Sequence[Sink], configuration: Configuration, plans: Sequence[ExecGraph] = ()) -> ExecGraph:
    """ExecGraph of optimized sinks, in statement order, behind `plans`; SqlError for what cannot run.

    PlanError if compiled plans are read together that do not go together.
    """
    batch = configuration.get_option("execution.runtime-mode") == "batch"
    context = BatchContext(configuration) if batch else Context(configuration)
    for plan in plans:
        context.builder.include(plan)
    for query in (each for sink in sinks for each in leaves(sink) if isinstance(each, CompiledQuery)):
        context.roots[id(query)] = context.builder.include(query.graph)[query.root]
    for sink in sinks:
        if isinstance(context, BatchContext):
            lower_batch_sink(sink, context)
        else:
            lower_sink(sink, context)
    return context.builder.graph(configuration.number("pipeline.max-parallelism"))
