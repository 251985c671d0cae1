"""Several INSERTs that run as one pipeline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from execnodes.core.errors import PlanError, SqlError
from execnodes.core.graph import ExecGraph
from planner.lower.compiled import prefixed
from planner.parse import parse
from planner.statements import Insert
from planner.statements import StatementSet as Statements
from plans.format.node_tables import tables_of
from rekindle.statements.query_sink import collects

if TYPE_CHECKING:
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from rekindle.api.table import Table, TablePipeline
    from rekindle.results.compiled_plan import CompiledPlan, PlanSource
    from rekindle.results.table_result import TableResult
    from rekindle.statements.session import Session


class StatementSet:
    """Collects INSERT statements and plans; parts that the statements have in common run once."""

    def __init__(self, environment: Session) -> None:
        self._environment = environment
        self._inserts: list[str] = []
        self._plans: list[ExecGraph] = []

    def add_insert_sql(self, statement: str) -> Self:
        """Add an ``INSERT INTO …``."""
        self._inserts.append(statement.strip().rstrip(";"))
        return self

    def add_insert(self, target_path: TablePipeline | str, table: Table | None = None, overwrite: bool = False) -> Self:
        """Add a table's rows into a table of the catalog, or what `Table.insert_into` gives."""
        if isinstance(target_path, str):
            if table is None:
                raise SqlError(f"no table goes into {target_path!r}", hint="Write add_insert('target', table).")
            return self.add_insert(table.insert_into(target_path, overwrite))
        self._inserts.append(target_path.sql)
        return self

    def add(self, table_pipeline: TablePipeline) -> Self:
        """Add what `Table.insert_into` gives."""
        return self.add_insert(table_pipeline)

    def add_plan(self, plan: CompiledPlan, *, uid_prefix: str | None = None) -> Self:
        """Add the INSERTs of a compiled plan. Its nodes stay as they are, and its state is found under its uids.

        Two plans that were compiled apart have uids in common, which is refused when the set is compiled; with
        `uid_prefix` those of this plan become ``<prefix>_<uid>``. PlanError for the plan of a query.
        """
        graph = prefixed(plan.graph, uid_prefix)
        if any(collects(table) for node in graph.roots() for table in tables_of(node)):
            raise PlanError(
                "a statement set takes plans of INSERTs; this one is a query's",
                where=plan.source,
                hint="Add from_plan(plan).insert_into('table') with add_insert.",
            )
        if graph in self._plans:
            raise PlanError("the plan has been added already", where=plan.source, hint="Add each plan once.")
        self._plans.append(graph)
        return self

    def compile_plan(self, *, from_plan: PlanSource | None = None) -> CompiledPlan:
        """One plan for all: the plans in the order they were added, then the statements.

        `from_plan`: as in `TableEnvironment.compile_plan_sql`.
        """
        inserts = tuple(each for text in self._inserts for each in parse(text))
        for each in inserts:
            if not isinstance(each, Insert):
                raise SqlError("a statement set takes INSERT statements", position=each.position)
        if not inserts and not self._plans:
            raise SqlError("the statement set is empty", hint="Add an INSERT with add_insert_sql first.")
        statements = Statements(tuple(each for each in inserts if isinstance(each, Insert)))
        return self._environment.compile_body(statements, self._plans, from_plan)

    def execute(self) -> TableResult:
        """Start the pipeline; the set is empty afterwards."""
        result = self._environment.execute_plan(self.compile_plan())
        self._clear()
        return result

    def attach_as_data_stream(self) -> DataStreamWriter:
        """The pipeline with all its sinks as a Spark query that is not started; the set is empty afterwards.

        Give it a trigger and a name and ``start`` it among your own queries; leave its checkpoint and its sink as
        they are. PlanError without `execution.job-dir`, in which the checkpoint lies.
        """
        writer = self._environment.attach_as_data_stream(self.compile_plan())
        self._clear()
        return writer

    def explain(self, *details: str) -> str:
        """The plan as a tree."""
        return self.compile_plan().explain(*details)

    def print_explain(self, *details: str) -> None:
        """Write the plan as a tree."""
        print(self.explain(*details))

    def _clear(self) -> None:
        self._inserts.clear()
        self._plans.clear()
