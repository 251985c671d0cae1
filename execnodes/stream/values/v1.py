"""Version 1 (1.0)."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from execnodes.core.expressions import Literal
from execnodes.core.meaning import RowsMeaning
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.node import ExecNode
from execnodes.core.outputs import Outputs, rows_problem
from execnodes.core.types import LogicalType
from execnodes.lowering.stream import Lowering, Rows


@exec_node_metadata(
    name="stream-exec-values",
    version=1,
    produced_operators=["values"],
    min_plan_version="1.0",
    min_state_version="1.0",
)
class Values(ExecNode):
    """Gives constant rows, once."""

    INPUTS: ClassVar = range(1)

    tuples: tuple[tuple[Literal, ...], ...]
    """One literal for each output column, in each row."""

    @property
    def has_watermarks(self) -> bool:
        """They end."""
        return True

    def lower(self, lowering: Lowering, inputs: tuple[Rows, ...]) -> Rows:
        """The rows, as INSERTs."""
        return lowering.values(self, self.tuples, self.output_type)

    def meaning(self, inputs: tuple[RowsMeaning, ...]) -> RowsMeaning:
        """The rows themselves."""
        return replace(super().meaning(inputs), sources=frozenset([self.uid("values")]))

    def outputs(self, inputs: tuple[LogicalType, ...]) -> Outputs:
        """Its rows are looked at one by one, in `check`."""
        return iter(())

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """Every row is one of the output."""
        problem = rows_problem(self.tuples, self.output_type)
        if problem is not None:
            raise self.fail(problem, "Restore the file, or compile the plan anew.")
