"""What statements, and tables that are queries, ask of the session they are in; `TableEnvironment` is one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from execnodes.core.graph import ExecGraph
    from execnodes.core.options import Configuration
    from planner.catalog.catalogs import Catalog
    from planner.statements import Body, Insert
    from rekindle.results.compiled_plan import CompiledPlan, PlanSource
    from rekindle.results.plan_reference import PlanReference
    from rekindle.results.table_result import TableResult
    from rekindle.runtime.job import Job
    from rekindle.statements.plan_upgrade import PlanUpgrade


class Session(Protocol):
    """Options, catalog and jobs, and whatever is compiled and run with them."""

    configuration: Configuration
    catalog: Catalog
    jobs: list[Job]
    open_inserts: list[Insert] | None
    """INSERTs of a statement set that was begun and waits for END."""

    def execute_sql(self, statement: str) -> TableResult:
        """Execute one statement."""

    def explain_sql(self, statement: str, *details: str) -> str:
        """EXPLAIN of an INSERT, a statement set or a query."""

    def compile_plan_sql(self, statement: str, *, from_plan: PlanSource | None = None) -> CompiledPlan:
        """Compile an INSERT, a statement set or a query."""

    def compile_body(
        self, body: Body, plans: Sequence[ExecGraph] = (), from_plan: PlanSource | None = None
    ) -> CompiledPlan:
        """Compile what has been parsed, together with plans that are compiled already."""

    def load_plan(self, reference: PlanReference | str | Path) -> CompiledPlan:
        """Read a plan to be executed here."""

    def upgrade_plan(self, reference: PlanReference | str | Path) -> PlanUpgrade:
        """A plan of any release with the newest version of each node."""

    def execute_plan(self, plan: PlanSource) -> TableResult:
        """Start the pipeline of a plan."""

    def attach_as_data_stream(self, plan: CompiledPlan) -> DataStreamWriter:
        """The pipeline of a plan for the caller to start."""

    def name_query(self, sql: str) -> str:
        """Register a query under a name that is free."""

    def name_function(self, function: object) -> str:
        """SQL of the name of a function of the user that was called without one, which it is registered under."""
