"""Version 1 (2.3)."""

from __future__ import annotations

from execnodes.common.lookups import LookupNode
from execnodes.common.unnesting import fields_of, members_or_nulls
from execnodes.core.metadata import exec_node_metadata
from execnodes.lowering.stream import Fixed, Lowering, Rows


@exec_node_metadata(
    name="stream-exec-lookup-join",
    version=1,
    consumed_options=["table.local-time-zone"],
    produced_operators=["lookup-join"],
    min_plan_version="2.3",
    min_state_version="2.3",
)
class LookupJoin(LookupNode):
    """Joins each row to the rows that a table has for its keys when it comes; every row has the kind of its input."""

    def event_times(self, inputs: tuple[frozenset[int], ...]) -> frozenset[int]:
        """Those of the input, where they were."""
        return inputs[0]

    def lower(self, lowering: Lowering, inputs: tuple[Rows, ...]) -> Rows:
        """Rows stay on their way: the table is asked once, and Spark makes several of one."""
        zone = self.configuration.get("table.local-time-zone", lowering.zone)
        members = self.found_type.element

        def filled(array: str) -> str:
            return members_or_nulls(array, members) if self.join_type == "LEFT" else array

        return inputs[0].unnested(
            self.output_type,
            lambda columns: self.found(columns, zone),
            filled,
            lambda name: fields_of(name, members),
            Fixed(self.id),
        )
