"""Version 1 (1.0)."""

from __future__ import annotations

from execnodes.common.batch import BatchLowering, BatchNode, BatchRows
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.types import LogicalType


@exec_node_metadata(
    name="batch-exec-exchange",
    version=1,
    produced_operators=["exchange"],
    min_plan_version="1.0",
    min_state_version="1.0",
)
class BatchExchange(BatchNode):
    """Says how rows must be spread before the next node: by hash of keys, or all to one place."""

    def lower_batch(self, batch: BatchLowering, inputs: tuple[BatchRows, ...]) -> BatchRows:
        """Nothing of its own: Spark plans its shuffles itself, and leaves out those that it does not need."""
        return BatchRows(self.output_type, inputs[0].frame)

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """The distribution is HASH over columns of the input, or SINGLETON."""
        distributions = [each.required_distribution for each in self.input_properties]
        if len(distributions) != 1 or distributions[0].type == "ANY":
            raise self.fail("an exchange needs a distribution: HASH with keys, or SINGLETON")
        if any(key >= len(inputs[0].fields) for key in distributions[0].keys):
            raise self.fail("it hashes by a column that its input does not have")
