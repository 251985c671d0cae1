"""Version 1 (1.0)."""

from __future__ import annotations

from dataclasses import replace

from execnodes.core.expressions import Expression, taken_over
from execnodes.core.meaning import RowsMeaning, expression_term
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.node import ExecNode
from execnodes.core.outputs import Outputs, expanded
from execnodes.core.types import LogicalType
from execnodes.lowering.stream import Lowering, Rows
from execnodes.terms.term import leaf, said


@exec_node_metadata(
    name="stream-exec-expand",
    version=1,
    consumed_options=["table.local-time-zone"],
    produced_operators=["expand"],
    min_plan_version="1.0",
    min_state_version="1.0",
)
class Expand(ExecNode):
    """Makes several rows of each, one for each list of expressions: the base of GROUPING SETS."""

    projects: tuple[tuple[Expression, ...], ...]
    """Each list gives all output columns."""

    def event_times(self, inputs: tuple[frozenset[int], ...]) -> frozenset[int]:
        """Columns that every list takes over as they are."""
        return frozenset.intersection(*(taken_over(each, inputs[0]) for each in self.projects))

    def lower(self, lowering: Lowering, inputs: tuple[Rows, ...]) -> Rows:
        """One branch a list."""
        # Scalar functions are looked up when a plan runs; compiling does not need them.
        from execnodes import functions

        zone = self.configuration.get("table.local-time-zone", lowering.zone)
        return Rows(
            self.output_type,
            tuple(
                replace(branch, columns=tuple(functions.lower(each, branch.columns, zone) for each in project))
                for branch in inputs[0].branches
                for project in self.projects
            ),
        )

    def meaning(self, inputs: tuple[RowsMeaning, ...]) -> RowsMeaning:
        """Each row once for each list of expressions."""
        (rows,) = inputs
        zone = self.configuration.get("table.local-time-zone", "UTC")
        lists = [[expression_term(each, rows, zone) for each in project] for project in self.projects]
        columns = [said("expand", "expand[{of}]", of=terms) for terms in zip(*lists, strict=True)]
        number = leaf("number", str(len(lists)))
        origin = said("copies", "{number} copies of ({input})", number=number, input=rows.rows)
        return rows.made(self.output_type, columns, origin)

    def outputs(self, inputs: tuple[LogicalType, ...]) -> Outputs:
        """Each of the lists."""
        return expanded(self.projects)

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """Every list is as long as the output is wide."""
        width = len(self.output_type.fields)
        if any(len(each) != width for each in self.projects):
            raise self.fail(f"a list of expressions does not fit the {width} output columns")
