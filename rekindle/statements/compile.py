"""From a parsed INSERT, statement set or query to a compiled plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from execnodes.common.lookups import LookupNode
from execnodes.core.errors import SqlError
from execnodes.core.garbage import no_collection
from execnodes.core.graph import ExecGraph
from execnodes.core.options import Configuration
from execnodes.core.recursion import room
from execnodes.core.sink_node import SinkNode
from planner.algebra import Sink
from planner.algebra.lineage import Lineage, lineage
from planner.bind import build_insert, build_query
from planner.catalog.catalogs import Catalog
from planner.lower import lower
from planner.optimize import optimize
from planner.statements import Body, QueryStatement, StatementSet
from plans.evolution.first_rows import first_rows_wait
from plans.format.codec import CompileOptions
from plans.format.node_tables import tables_of
from rekindle.connectors.registry import require_bounded, require_overwriting, validate_table
from rekindle.results.compiled_plan import CompiledPlan, PlanExecutor
from rekindle.statements.catalog_tables import CatalogTables
from rekindle.statements.check_runnable import check_runnable
from rekindle.statements.evolution import Origin, evolved
from rekindle.statements.query_sink import into_collect


def compile_body(
    body: Body,
    catalog: Catalog,
    configuration: Configuration,
    executor: PlanExecutor,
    plans: Sequence[ExecGraph] = (),
    origin: Origin | None = None,
) -> CompiledPlan:
    """Compile, together with `plans` that are compiled already; nodes of `origin` that mean the same keep their ids.

    SqlError for what cannot be run, OptionError for bad table options, EvolutionError if state of the origin is lost.
    """
    with no_collection():
        old = None if origin is None else origin.plan.graph
        graph, comparison = compile_graph(body, catalog, configuration, plans, old), None
        if origin is not None:
            evolution = evolved(graph, origin, CatalogTables(catalog), configuration)
            graph, comparison = evolution.graph, evolution.comparison
        graph = replace(graph, job_options=configuration.job_options())
        options = CompileOptions(
            configuration.get_option("table.plan.compile.catalog-objects"),  # type: ignore[arg-type]  # checked on SET
            lambda identifier: (entry := catalog.find(identifier)) is not None and entry.temporary,
        )
        return CompiledPlan.of(graph, options, executor, comparison, configuration.unkept_keys())


def compile_graph(
    body: Body,
    catalog: Catalog,
    configuration: Configuration,
    plans: Sequence[ExecGraph] = (),
    old: ExecGraph | None = None,
) -> ExecGraph:
    """The nodes of `plans` and of a statement; `old`: the plan that it is to go on from."""
    with room(lambda: _too_deep(body)):
        try:
            return _compile(body, catalog, configuration, plans, old)
        except SqlError as error:
            if error.position is None:
                raise type(error)(error.message, position=body.position, hint=error.hint) from error
            raise


def _too_deep(body: Body) -> SqlError:
    return SqlError("the statement nests too deeply", position=body.position, hint="Split it into views.")


def lineages(body: Body, catalog: Catalog, configuration: Configuration) -> tuple[Lineage, ...]:
    """Which table columns feed the columns of each sink of a statement."""
    with room(lambda: _too_deep(body)):
        return tuple(lineage(sink) for sink in _sinks(body, catalog, configuration))


def _sinks(body: Body, catalog: Catalog, configuration: Configuration) -> tuple[Sink, ...]:
    if isinstance(body, QueryStatement):
        return (into_collect(build_query(body.query, catalog, configuration), body.position),)
    inserts = body.inserts if isinstance(body, StatementSet) else (body,)
    return tuple(build_insert(insert, catalog, configuration) for insert in inserts)


def _compile(
    body: Body,
    catalog: Catalog,
    configuration: Configuration,
    plans: Sequence[ExecGraph],
    old: ExecGraph | None,
) -> ExecGraph:
    sinks, waits = _sinks(body, catalog, configuration), old is not None and first_rows_wait(old)
    graph = lower(optimize(sinks, configuration, first_rows_wait=waits), configuration, plans)
    check_runnable(graph)
    for node in graph.nodes:
        role = "sink" if not graph.consumers_of(node) else "source"
        for table in tables_of(node):
            if table.resolved_table is not None and table.resolved_table.options is not None:
                read = node.temporal_table.output_type if isinstance(node, LookupNode) else node.output_type
                names = [field.name for field in read.fields]
                validate_table(table.resolved_table, names, role, table.name)
                if graph.batch and role == "source":
                    require_bounded(table.resolved_table.options, table.name)
                if isinstance(node, SinkNode) and node.replaces:
                    require_overwriting(table.resolved_table.options, table.name)
    return graph
