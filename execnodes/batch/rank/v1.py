"""Version 1 (1.0)."""

from __future__ import annotations

from typing import Literal as Tag

from execnodes.common.batch import ARRIVAL, BatchLowering, BatchNode, BatchRows, aliased
from execnodes.core.indexes import ColumnIndex, Number
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.outputs import Outputs, numbered
from execnodes.core.sort_spec import SortSpec
from execnodes.core.types import LogicalType


@exec_node_metadata(
    name="batch-exec-rank",
    version=1,
    produced_operators=["rank"],
    min_plan_version="1.0",
    min_state_version="1.0",
)
class BatchRank(BatchNode):
    """The first rows of each partition: Top-N, and with one row deduplication."""

    rank_type: Tag["ROW_NUMBER", "RANK", "DENSE_RANK"]
    partition_fields: tuple[ColumnIndex, ...]
    sort_spec: SortSpec
    rank_start: Number
    """Lowest rank that is kept, from 1."""
    rank_end: Number
    """Highest rank that is kept."""
    output_row_number: bool
    """True if the rank is the last output column."""
    latest_first: bool = False
    """With ROW_NUMBER, which of rows that sort alike comes first: the last in the input, else the first."""

    def lower_batch(self, batch: BatchLowering, inputs: tuple[BatchRows, ...]) -> BatchRows:
        """A window function and a filter on it, which Spark uses to cut each partition early."""
        rows = inputs[0]
        frame = rows.numbered() if self.rank_type == "ROW_NUMBER" else rows.frame
        keys = ", ".join(f"c{each}" for each in self.partition_fields)
        order = [each.text for each in self.sort_spec.fields]
        if self.rank_type == "ROW_NUMBER":
            order.append(f"{ARRIVAL} {'DESC' if self.latest_first else 'ASC'}")
        window = f"{'PARTITION BY ' + keys if keys else ''} ORDER BY {', '.join(order)}"
        ranked = frame.selectExpr("*", f"{self.rank_type}() OVER ({window}) AS rk_rank")
        lowest = f" AND rk_rank >= {self.rank_start}" if self.rank_start > 1 else ""
        kept = ranked.where(f"rk_rank <= {self.rank_end}{lowest}")
        number = ["CAST(rk_rank AS BIGINT)"] if self.output_row_number else []
        return BatchRows(self.output_type, kept.selectExpr(*aliased([*rows.columns, *number])))

    def outputs(self, inputs: tuple[LogicalType, ...]) -> Outputs:
        """The input, and the rank if it is asked for."""
        return numbered(inputs[0], self.output_row_number)

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """Columns exist, ranks are in order."""
        width = len(inputs[0].fields)
        if any(each >= width for each in (*self.partition_fields, *(f.index for f in self.sort_spec.fields))):
            raise self.fail(f"it reads a column that its input of {width} columns does not have")
        if not 1 <= self.rank_start <= self.rank_end:
            raise self.fail(f"the ranks {self.rank_start} to {self.rank_end} are none")
        if len(self.output_type.fields) != width + self.output_row_number:
            raise self.fail("its output must be the columns of its input, and the rank if it gives one")
