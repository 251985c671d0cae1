"""Version 1 (1.0)."""

from __future__ import annotations

import json

from execnodes.core.meaning import RowsMeaning, column_term
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.node import PlanModel
from execnodes.core.source_node import SourceNode
from execnodes.core.tables import TableReference
from execnodes.lowering.stream import Lowering, Rows
from execnodes.terms.term import leaf


class ScanTableSource(PlanModel):
    """What is read."""

    table: TableReference


@exec_node_metadata(
    name="stream-exec-table-source-scan",
    version=1,
    consumed_options=["table.exec.uid.format"],
    produced_operators=["source"],
    min_plan_version="1.0",
    min_state_version="1.0",
)
class TableSourceScan(SourceNode):
    """Reads a table; the output type lists the physical and metadata columns that are wanted."""

    scan_table_source: ScanTableSource

    @property
    def source(self) -> TableReference:
        """The table of the scan."""
        return self.scan_table_source.table

    def lower(self, lowering: Lowering, inputs: tuple[Rows, ...]) -> Rows:
        """The rows of the table, as its connector gives them."""
        return lowering.scan(self, self.scan_table_source.table, self.output_type)

    def meaning(self, inputs: tuple[RowsMeaning, ...]) -> RowsMeaning:
        """The table by its identifier, columns by their names; an inline table is what its options say."""
        table = self.scan_table_source.table
        name, resolved = table.name, table.resolved_table
        if table.identifier is None and resolved is not None:
            name = f"inline table {json.dumps(resolved.options, sort_keys=True, ensure_ascii=False)}"
        origin = leaf("table", name)
        columns = tuple(column_term(origin, each) for each in self.output_type.fields)
        return RowsMeaning(self.output_type, columns, origin, sources=frozenset([self.uid("source")]))
