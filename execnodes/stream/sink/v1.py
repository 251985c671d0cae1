"""Version 1 (1.0)."""

from __future__ import annotations

from typing import TYPE_CHECKING
from typing import Literal as Tag

from execnodes.connectors import shows_rows, sink_changelog_mode
from execnodes.core.changelog import ChangelogMode
from execnodes.core.indexes import ColumnIndex, Scope
from execnodes.core.meaning import RowsMeaning, StateMeaning, every
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.node import PlanModel
from execnodes.core.options import parse_duration
from execnodes.core.sink_node import SinkNode
from execnodes.core.tables import ResolvedTable, Schema, TableReference
from execnodes.core.types import LogicalType
from execnodes.lowering.constraints import enforced, null_free
from execnodes.lowering.stream import Lowering, OperatorInput, Rows, without_update_before
from execnodes.terms.term import leaf, said

if TYPE_CHECKING:
    from execnodes.state.operator import Operator

NOT_NULL_ENFORCER = "table.exec.sink.not-null-enforcer"
LENGTH_ENFORCER = "table.exec.sink.type-length-enforcer"


class DynamicTableSink(PlanModel):
    """What is written."""

    table: TableReference
    target_columns: tuple[ColumnIndex, ...] | None = None
    """Columns that the INSERT names; None for all."""

    def scope(self, name: str, around: Scope) -> Scope:
        """Columns of the table."""
        return self.table.scope(name, around)


@exec_node_metadata(
    name="stream-exec-sink",
    version=1,
    consumed_options=[
        NOT_NULL_ENFORCER,
        LENGTH_ENFORCER,
        "table.exec.sink.upsert-materialize",
        "table.exec.uid.format",
    ],
    produced_operators=["constraint-validator", "upsert-materializer", "sink"],
    min_plan_version="1.0",
    min_state_version="1.0",
)
class Sink(SinkNode):
    """Writes rows into a table, after a look at what the table's columns demand."""

    dynamic_table_sink: DynamicTableSink
    input_changelog_mode: ChangelogMode
    """Kinds of row that arrive."""
    require_upsert_materialize: bool = False
    """True if rows of one sink key come from several keys of the query, so that their order must be settled."""
    input_upsert_key: tuple[ColumnIndex, ...] | None = None
    """Columns that identify a row of the query."""
    conflict_strategy: Tag["DEDUPLICATE", "NOTHING", "ERROR"] | None = None
    """What happens when rows of several query keys meet in one sink key."""
    overwrite: bool = False
    """INSERT OVERWRITE: what the table held goes."""

    @property
    def target(self) -> TableReference:
        """The table of the sink."""
        return self.dynamic_table_sink.table

    @property
    def arriving(self) -> ChangelogMode:
        """As the plan says."""
        return self.input_changelog_mode

    @property
    def row_key(self) -> tuple[int, ...] | None:
        """The upsert key of the query."""
        return self.input_upsert_key

    @property
    def replaces(self) -> bool:
        """With INSERT OVERWRITE."""
        return self.overwrite

    def uids(self) -> tuple[str, ...]:
        """Only the materializer keeps state."""
        return (self.uid("upsert-materializer"),) if self.require_upsert_materialize else ()

    @property
    def needs_every_change(self) -> bool:
        """Rows of one sink key that come from several keys of the query leave traces even when they are gone again."""
        if self.require_upsert_materialize:
            return self.conflict_strategy in ("NOTHING", "ERROR")
        return self._leaves_traces()

    def lower(self, lowering: Lowering, inputs: tuple[Rows, ...]) -> Rows:
        """Constraints, then the materializer if there must be one, then the connector."""
        rows = self._constrained(inputs[0])
        if self.require_upsert_materialize:
            rows = lowering.operator(self, self._materializer(rows.type), (OperatorInput(rows, self._primary_key()),))
        elif self._leaves_traces():
            rows = without_update_before(rows)
        lowering.sink(self, self.dynamic_table_sink.table, rows)
        return rows

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """The input has the table's columns; a materializer has a key to go by."""
        table = self.dynamic_table_sink.table.resolved_table
        width = len(inputs[0].fields)
        if table is not None and len(table.table_schema.writable) != width:
            raise self.fail(
                f"its input has {width} columns, but {self.dynamic_table_sink.table.name} takes "
                f"{len(table.table_schema.writable)}"
            )
        if self.require_upsert_materialize and table is not None and table.table_schema.primary_key is None:
            raise self.fail(
                f"upserts are to be materialized, but {self.dynamic_table_sink.table.name} has no primary key",
                "Declare PRIMARY KEY (…) NOT ENFORCED on the table.",
            )
        if max(self.input_upsert_key or (), default=-1) >= width:
            raise self.fail(f"its upsert key {self.input_upsert_key} is not made of columns of the input")

    def meaning(self, inputs: tuple[RowsMeaning, ...]) -> RowsMeaning:
        """What is written; nothing reads it."""
        return inputs[0].passed(self.output_type)

    def state_meanings(self, inputs: tuple[RowsMeaning, ...]) -> tuple[StateMeaning, ...]:
        """What the table shows, or would show once other rows have gone."""
        if not self.require_upsert_materialize:
            return ()
        from execnodes.state.state_meanings import row_columns, state_meanings

        (rows,) = inputs
        operator, table = self._materializer(rows.type), self.dynamic_table_sink.table.name
        key = leaf("columns", "all columns")
        if self.input_upsert_key is not None:
            key = every(rows.some(self.input_upsert_key))
        strategy = leaf("strategy", self.conflict_strategy or "DEDUPLICATE")
        settled = said("conflicts", "{strategy}, told apart by {key}", strategy=strategy, key=key)
        enforced = [self.configuration.get(key, "") for key in (NOT_NULL_ENFORCER, LENGTH_ENFORCER)]
        enforced += [str(column.data_type.regular()) for column in self._schema().writable]
        parts = {
            "input": rows.rows,
            "table": leaf("table", table),
            "conflicts": settled,
            "constraints": leaf("constraints", ", ".join(enforced)),
        }
        if operator.uses_time:
            parts["watermark"] = rows.time
        columns = {spec.name: row_columns(rows) for spec in operator.states}
        return state_meanings(operator, self.metadata, inputs, parts, columns)

    def _leaves_traces(self) -> bool:
        """Upserts by a key that is not the query's: without a materializer each change stays where it was written."""
        table = self.dynamic_table_sink.table.resolved_table
        if self.input_changelog_mode.insert_only or table is None or table.table_schema.primary_key is None:
            return False
        accepted = sink_changelog_mode(table.options or {}, True, self.input_changelog_mode)
        upserts = accepted is not None and not accepted.retract
        return upserts and set(self._primary_key()) != set(self.input_upsert_key or ())

    def _schema(self) -> Schema:
        return self._table().table_schema

    def _table(self) -> ResolvedTable:
        table = self.dynamic_table_sink.table
        if table.resolved_table is None:
            raise self.fail(f"the table {table.name} is not known", "Create it before the plan is executed.")
        return table.resolved_table

    def _constrained(self, rows: Rows) -> Rows:
        columns = self._schema().writable
        drop = self.configuration.get(NOT_NULL_ENFORCER, "ERROR") == "DROP"
        length = self.configuration.get(LENGTH_ENFORCER, "IGNORE")
        fails = not drop and not shows_rows(self._table().options or {})
        demanded = tuple(not column.data_type.nullable for column in columns)
        if drop and any(demanded):
            rows = rows.where(lambda branch: null_free(demanded, branch.columns))

        def project(texts: tuple[str, ...]) -> tuple[str, ...]:
            pairs = zip(columns, texts, strict=True)
            return tuple(enforced(c.name, c.data_type, text, length, fail_on_null=fails) for c, text in pairs)

        return rows.project(rows.type, project)

    def _primary_key(self) -> tuple[int, ...]:
        schema = self._schema()
        if schema.primary_key is None:
            raise self.fail(f"the table {self.dynamic_table_sink.table.name} has no primary key")
        names = [column.name for column in schema.writable]
        return tuple(names.index(name) for name in schema.primary_key.columns)

    def _materializer(self, type: LogicalType) -> Operator:
        from execnodes.state.kernel_types import Column
        from execnodes.stream.sink.v1_conflicts import ConflictResolver
        from execnodes.stream.sink.v1_kernel import UpsertMaterializer

        uid, key = self.uid("upsert-materializer"), self._primary_key()
        columns = tuple(Column(each.name, each.type) for each in type.fields)
        ttl = parse_duration(self.state_ttl(), "ttl")
        if self.conflict_strategy in ("NOTHING", "ERROR"):
            fails = self.conflict_strategy == "ERROR"
            return ConflictResolver(uid, columns, key, self.input_upsert_key, fails, ttl)
        return UpsertMaterializer(
            uid, columns, key, self.input_upsert_key, retracts=not self.input_changelog_mode.upsert, ttl_ms=ttl
        )
