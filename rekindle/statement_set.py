"""Several INSERTs that run as one pipeline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from execnodes.core.errors import SqlError

if TYPE_CHECKING:
    from rekindle.compiled_plan import CompiledPlan
    from rekindle.table import TablePipeline
    from rekindle.table_environment import TableEnvironment
    from rekindle.table_result import TableResult


class StatementSet:
    """Collects INSERT statements; parts they have in common run once."""

    def __init__(self, environment: TableEnvironment) -> None:
        self._environment = environment
        self._inserts: list[str] = []

    def add_insert_sql(self, statement: str) -> Self:
        """Add an ``INSERT INTO …``."""
        self._inserts.append(statement.strip().rstrip(";"))
        return self

    def add_insert(self, pipeline: TablePipeline) -> Self:
        """Add what `Table.insert_into` gives."""
        self._inserts.append(pipeline.sql)
        return self

    def compile_plan(self) -> CompiledPlan:
        """One plan for all statements."""
        return self._environment.compile_plan_sql(self._sql())

    def execute(self) -> TableResult:
        """Start the pipeline; the set is empty afterwards."""
        result = self._environment.execute_sql(self._sql())
        self._inserts.clear()
        return result

    def explain(self, *details: str) -> str:
        """The plan as a tree."""
        return self._environment.explain_sql(self._sql(), *details)

    def _sql(self) -> str:
        if not self._inserts:
            raise SqlError("the statement set is empty", hint="Add an INSERT with add_insert_sql first.")
        body = ";\n".join(self._inserts)
        return f"EXECUTE STATEMENT SET BEGIN\n{body};\nEND"
