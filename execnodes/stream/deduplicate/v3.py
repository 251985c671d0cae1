"""Version 3 (1.3): the first row by event time may be given at once, and replaced by an older one.

That is how Flink acts in mini-batches. Versions 1 and 2 let the row wait for the watermark there, too, and drop older
rows that come behind it. Their plans go on doing so: what is above them counts on rows that are never changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from execnodes.core.metadata import exec_node_metadata
from execnodes.core.node import ExecNode
from execnodes.core.options import parse_duration
from execnodes.core.types import LogicalType
from execnodes.stream.deduplicate.v2 import Deduplicate as Version2

if TYPE_CHECKING:
    from execnodes.state.operator import Operator


@exec_node_metadata(
    name="stream-exec-deduplicate",
    version=3,
    consumed_options=["table.exec.mini-batch.enabled", "table.exec.mini-batch.size", "table.exec.uid.format"],
    produced_operators=["deduplicate"],
    min_plan_version="1.3",
    min_state_version="1.3",
)
class Deduplicate(Version2):
    """Keeps one row of each key: the first or the last by event time or by arrival. Its input only adds rows."""

    keep_last_row: bool
    """True keeps the last row and updates it; False keeps the first."""
    output_insert_only: bool
    """False for a first row by event time that is given at once and replaced by an older one; True for first rows that
    are never changed. Always False for last rows."""

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """As before; last rows are updated, first rows by arrival are not."""
        super().check(inputs)
        if self.output_insert_only and self.keep_last_row:
            raise self.fail("last rows are updated, so its output is not insert-only")
        if not self.output_insert_only and not (self.keep_last_row or self.is_rowtime):
            raise self.fail("first rows by arrival are never changed, so its output is insert-only")

    def _operator(self, type: LogicalType) -> Operator:
        from execnodes.state.kernel_types import Column
        from execnodes.stream.deduplicate.v3_kernel import FirstByTimeAtOnce

        if self.keep_last_row or self.output_insert_only:
            return super()._operator(type)
        return FirstByTimeAtOnce(
            self.uid("deduplicate"),
            tuple(Column(each.name, each.type) for each in type.fields),
            self.unique_keys,
            self.time_attribute_index,
            self.generate_update_before,
            parse_duration(self.state_ttl(), "ttl"),
        )

    @staticmethod
    def waits(node: ExecNode) -> bool:
        """Whether a node is of any version of this one, and its first rows wait for the watermark."""
        return isinstance(node, Version2) and node.is_rowtime and node.changelog_mode.insert_only

    @classmethod
    def upgrade(cls, old: dict[str, Any]) -> dict[str, Any]:
        """First rows wait for the watermark, as they did."""
        return {**old, "outputInsertOnly": not old["keepLastRow"]}
