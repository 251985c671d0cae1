"""Version 1 (1.0)."""

from __future__ import annotations

from execnodes.core.meaning import RowsMeaning
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.node import ExecNode
from execnodes.lowering.stream import Lowering, Rows, without_update_before


@exec_node_metadata(
    name="stream-exec-drop-update-before",
    version=1,
    produced_operators=["drop-update-before"],
    min_plan_version="1.0",
    min_state_version="1.0",
)
class DropUpdateBefore(ExecNode):
    """Drops every -U row, for a consumer that finds rows by key and only needs the new value."""

    def event_times(self, inputs: tuple[frozenset[int], ...]) -> frozenset[int]:
        """Those of the input."""
        return inputs[0]

    def lower(self, lowering: Lowering, inputs: tuple[Rows, ...]) -> Rows:
        """A filter on the row kind; branches of plain INSERTs stay as they are."""
        return without_update_before(inputs[0])

    def meaning(self, inputs: tuple[RowsMeaning, ...]) -> RowsMeaning:
        """The same table, told in fewer words."""
        return inputs[0].passed(self.output_type)
