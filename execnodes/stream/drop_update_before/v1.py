"""Version 1 (1.0)."""

from __future__ import annotations

from execnodes.core.changelog import RowKind
from execnodes.core.lowering import Branch, Lowering, Rows, wrap
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.node import ExecNode


@exec_node_metadata(
    name="stream-exec-drop-update-before",
    version=1,
    produced_operators=["drop-update-before"],
    min_plan_version="1.0",
    min_state_version="1.0",
)
class DropUpdateBefore(ExecNode):
    """Drops every -U row, for a consumer that finds rows by key and only needs the new value."""

    def lower(self, lowering: Lowering, inputs: tuple[Rows, ...]) -> Rows:
        """A filter on the row kind; branches of plain INSERTs stay as they are."""
        rows = inputs[0]
        if all(branch.kind is None for branch in rows.branches):
            return rows

        def keep(branch: Branch) -> str:
            return "TRUE" if branch.kind is None else f"{wrap(branch.kind)} <> {int(RowKind.UPDATE_BEFORE)}"

        return rows.where(keep)
