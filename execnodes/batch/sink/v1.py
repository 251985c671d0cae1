"""Version 1 (1.0)."""

from __future__ import annotations

from dataclasses import replace

from execnodes.common.batch import BatchLowering, BatchNode, BatchRows
from execnodes.connectors import shows_rows
from execnodes.core.changelog import INSERT_ONLY, ChangelogMode
from execnodes.core.indexes import ColumnIndex, Scope
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.node import PlanModel
from execnodes.core.sink_node import SinkNode
from execnodes.core.tables import TableReference
from execnodes.core.types import LogicalType
from execnodes.lowering.constraints import enforced, null_free

NOT_NULL_ENFORCER = "table.exec.sink.not-null-enforcer"
LENGTH_ENFORCER = "table.exec.sink.type-length-enforcer"


class DynamicTableSink(PlanModel):
    """What is written."""

    table: TableReference
    target_columns: tuple[ColumnIndex, ...] | None = None
    """Columns that the INSERT names; None for all."""

    def scope(self, name: str, around: Scope) -> Scope:
        """Columns of the table."""
        return self.table.scope(name, around)


@exec_node_metadata(
    name="batch-exec-sink",
    version=1,
    consumed_options=[NOT_NULL_ENFORCER, LENGTH_ENFORCER],
    produced_operators=["sink"],
    min_plan_version="1.0",
    min_state_version="1.0",
)
class BatchSink(BatchNode, SinkNode):
    """Writes rows into a table, after a look at what the table's columns demand."""

    dynamic_table_sink: DynamicTableSink
    overwrite: bool = False
    """INSERT OVERWRITE: what the table held goes; of a partitioned table only the partitions that are written."""

    @property
    def target(self) -> TableReference:
        """The table of the sink."""
        return self.dynamic_table_sink.table

    @property
    def arriving(self) -> ChangelogMode:
        """Rows, not changes."""
        return INSERT_ONLY

    @property
    def row_key(self) -> tuple[int, ...] | None:
        """Rows are only added."""
        return None

    @property
    def replaces(self) -> bool:
        """With INSERT OVERWRITE."""
        return self.overwrite

    @property
    def keeps_rows(self) -> bool:
        """It looks at each row alone."""
        return True

    def lower_batch(self, batch: BatchLowering, inputs: tuple[BatchRows, ...]) -> BatchRows:
        """Constraints, then the connector."""
        rows = self._constrained(inputs[0])
        batch.sink(self, self.dynamic_table_sink.table, rows, overwrite=self.overwrite)
        return rows

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """The input has the table's columns."""
        table = self.dynamic_table_sink.table
        if table.resolved_table is not None and len(table.resolved_table.table_schema.writable) != len(
            inputs[0].fields
        ):
            raise self.fail(
                f"its input has {len(inputs[0].fields)} columns, but {table.name} takes "
                f"{len(table.resolved_table.table_schema.writable)}"
            )

    def _constrained(self, rows: BatchRows) -> BatchRows:
        table = self.dynamic_table_sink.table
        if table.resolved_table is None:
            raise self.fail(f"the table {table.name} is not known", "Create it before the plan is executed.")
        columns = table.resolved_table.table_schema.writable
        drop = self.configuration.get(NOT_NULL_ENFORCER, "ERROR") == "DROP"
        length = self.configuration.get(LENGTH_ENFORCER, "IGNORE")
        fails = not drop and not shows_rows(table.resolved_table.options or {})
        demanded = tuple(not column.data_type.nullable for column in columns)
        if drop and any(demanded):
            rows = replace(rows, frame=rows.frame.where(null_free(demanded, rows.columns)))
        pairs = list(zip(columns, rows.columns, strict=True))
        texts = [enforced(c.name, c.data_type, text, length, fail_on_null=fails) for c, text in pairs]
        return rows if texts == list(rows.columns) else rows.project(rows.type, texts)
