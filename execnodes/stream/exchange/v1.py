"""Version 1 (1.0)."""

from __future__ import annotations

from execnodes.core.meaning import RowsMeaning
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.node import ExecNode
from execnodes.core.types import LogicalType
from execnodes.lowering.stream import Lowering, Rows


@exec_node_metadata(
    name="stream-exec-exchange",
    version=1,
    produced_operators=["exchange"],
    min_plan_version="1.0",
    min_state_version="1.0",
)
class Exchange(ExecNode):
    """Says how rows are spread before a stateful node: by hash of keys, or all to one place."""

    def event_times(self, inputs: tuple[frozenset[int], ...]) -> frozenset[int]:
        """Those of the input."""
        return inputs[0]

    def lower(self, lowering: Lowering, inputs: tuple[Rows, ...]) -> Rows:
        """Nothing of its own: the stateful operator behind it names its keys, and the runtime shuffles by them."""
        return Rows(self.output_type, inputs[0].branches)

    def meaning(self, inputs: tuple[RowsMeaning, ...]) -> RowsMeaning:
        """The same rows."""
        return inputs[0].passed(self.output_type)

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """The distribution is HASH over columns of the input, or SINGLETON."""
        distributions = [each.required_distribution for each in self.input_properties]
        if len(distributions) != 1 or distributions[0].type == "ANY":
            raise self.fail("an exchange needs a distribution: HASH with keys, or SINGLETON")
        if any(key >= len(inputs[0].fields) for key in distributions[0].keys):
            raise self.fail("it hashes by a column that its input does not have")
