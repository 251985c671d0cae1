"""Version 1 (1.0)."""

from __future__ import annotations

from execnodes.common.batch import BatchLowering, BatchNode, BatchRows
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.node import PlanModel
from execnodes.core.source_node import SourceNode
from execnodes.core.tables import TableReference


class ScanTableSource(PlanModel):
    """What is read."""

    table: TableReference


@exec_node_metadata(
    name="batch-exec-table-source-scan",
    version=1,
    produced_operators=["source"],
    min_plan_version="1.0",
    min_state_version="1.0",
)
class BatchTableSourceScan(BatchNode, SourceNode):
    """Reads a whole table; the output type lists the physical and metadata columns that are wanted."""

    scan_table_source: ScanTableSource

    @property
    def source(self) -> TableReference:
        """The table of the scan."""
        return self.scan_table_source.table

    def lower_batch(self, batch: BatchLowering, inputs: tuple[BatchRows, ...]) -> BatchRows:
        """The rows of the table, as its connector gives them."""
        return BatchRows(self.output_type, batch.scan(self, self.scan_table_source.table, self.output_type))
