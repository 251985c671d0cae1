"""Version 2 (1.1): what a connector does besides reading stands in the plan, as abilities; the first is to filter.

A condition in a calc above the scan is met too late: numbered rows are in its way, so that every file is read in full.
Plans of version 1 have no abilities, and read as they did.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any
from typing import Literal as Tag

from execnodes.core.expressions import Expression, input_indexes
from execnodes.core.indexes import Scope
from execnodes.core.meaning import RowsMeaning, column_term, expression_term
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.node import PlanModel
from execnodes.core.source_node import SourceNode
from execnodes.core.tables import TableReference
from execnodes.core.types import LogicalType
from execnodes.lowering.stream import Condition, Lowering, Rows
from execnodes.terms.term import leaf


class FilterPushDown(PlanModel):
    """The source gives only rows for which all the predicates are TRUE."""

    type: Tag["FilterPushDown"] = "FilterPushDown"
    predicates: tuple[Expression, ...]
    """Over the columns that are read."""


class ScanTableSource(PlanModel):
    """What is read."""

    table: TableReference
    abilities: tuple[FilterPushDown, ...] = ()
    """What the connector does, in this order."""


@exec_node_metadata(
    name="stream-exec-table-source-scan",
    version=2,
    consumed_options=["table.exec.uid.format"],
    produced_operators=["source"],
    min_plan_version="1.1",
    min_state_version="1.0",
)
class TableSourceScan(SourceNode):
    """Reads a table; the output type lists the physical and metadata columns that are wanted."""

    scan_table_source: ScanTableSource

    def lower(self, lowering: Lowering, inputs: tuple[Rows, ...]) -> Rows:
        """The rows of the table, as its connector gives them."""
        # Scalar functions are looked up when a plan runs; compiling does not need them.
        from execnodes import functions

        predicates = self._predicates()

        def text(columns: tuple[str, ...]) -> str:
            return " AND ".join(f"({functions.lower(each, columns, lowering.zone)})" for each in predicates)

        reads = frozenset(index for each in predicates for index in input_indexes(each))
        condition = Condition(reads, text) if predicates else None
        return lowering.scan(self, self.scan_table_source.table, self.output_type, condition)

    def meaning(self, inputs: tuple[RowsMeaning, ...]) -> RowsMeaning:
        """The table by its identifier, columns by their names; an inline table is what its options say.

        Rows that the source leaves out are left out as by a calc.
        """
        table = self.scan_table_source.table
        name, resolved = table.name, table.resolved_table
        if table.identifier is None and resolved is not None:
            name = f"inline table {json.dumps(resolved.options, sort_keys=True, ensure_ascii=False)}"
        origin = leaf("table", name)
        columns = tuple(column_term(origin, each) for each in self.output_type.fields)
        whole = RowsMeaning(self.output_type, columns, origin, sources=frozenset([self.uid("source")]))
        return replace(whole, conditions=frozenset(expression_term(each, whole) for each in self._predicates()))

    @property
    def source(self) -> TableReference:
        """The table of the scan."""
        return self.scan_table_source.table

    def scope(self, name: str, around: Scope) -> Scope:
        """Abilities read the columns that are read from the table."""
        return around.over(self.output_type.fields, "what is read") if name == "scan_table_source" else around

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """Predicates read columns that are read from the table."""
        width = len(self.output_type.fields)
        if any(index >= width for each in self._predicates() for index in input_indexes(each)):
            raise self.fail(f"a predicate of its abilities reads a column that is not among its {width}")

    def _predicates(self) -> tuple[Expression, ...]:
        return tuple(predicate for each in self.scan_table_source.abilities for predicate in each.predicates)

    @classmethod
    def upgrade(cls, old: dict[str, Any]) -> dict[str, Any]:
        """No abilities: a calc behind it filters, as it did."""
        return old
