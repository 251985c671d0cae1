"""Version 1 (2.3)."""

from __future__ import annotations

from execnodes.common.batch import BatchLowering, BatchNode, BatchRows
from execnodes.common.lookups import LookupNode
from execnodes.common.unnesting import join_members
from execnodes.core.metadata import exec_node_metadata
from execnodes.lowering.user_calls import activated


@exec_node_metadata(
    name="batch-exec-lookup-join",
    version=1,
    consumed_options=["table.local-time-zone"],
    produced_operators=["lookup-join"],
    min_plan_version="2.3",
    min_state_version="2.3",
)
class BatchLookupJoin(LookupNode, BatchNode):
    """Joins each row to the rows that a table has for its keys."""

    @property
    def keeps_rows(self) -> bool:
        """It looks at each row alone."""
        return True

    def lower_batch(self, batch: BatchLowering, inputs: tuple[BatchRows, ...]) -> BatchRows:
        """What is found for a row is a column first, then rows."""
        rows, zone = inputs[0], self.configuration.get("table.local-time-zone", "UTC")
        table = activated(self.found(rows.columns, zone))
        return join_members(rows, self.output_type, table, self.found_type.element, is_left=self.join_type == "LEFT")
