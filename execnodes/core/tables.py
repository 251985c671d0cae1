"""Tables as a plan stores them: identifier, resolved schema and options; shapes as in Flink's compiled plans."""

from __future__ import annotations

from typing import Any, Self
from typing import Literal as Tag

from pydantic import Field as Property
from pydantic import model_validator

from execnodes.core.expressions import Expression, InputRef, walk
from execnodes.core.indexes import Scope
from execnodes.core.node import PlanModel
from execnodes.core.secrets import remember
from execnodes.core.types import Field, LogicalType, row


class PersistedExpression(PlanModel):
    """An expression with the SQL text it came from."""

    rex_node: Expression
    """Over the table's columns, by index in declaration order."""
    serializable_string: str


class Column(PlanModel):
    """A column of a table."""

    name: str
    data_type: LogicalType
    kind: Tag["PHYSICAL", "METADATA", "COMPUTED"] = "PHYSICAL"
    metadata_key: str | None = None
    """Key the connector knows the metadata by; the column's name if None."""
    is_virtual: bool = False
    """A METADATA column that is read, never written."""
    expression: PersistedExpression | None = None
    """Of a COMPUTED column."""
    comment: str | None = None


class WatermarkSpec(PlanModel):
    """WATERMARK FOR column AS expression."""

    rowtime_attribute: str
    expression: PersistedExpression


class PrimaryKey(PlanModel):
    """PRIMARY KEY … NOT ENFORCED."""

    name: str
    columns: tuple[str, ...]


class Schema(PlanModel):
    """Columns, watermark and key of a table."""

    columns: tuple[Column, ...]
    watermark_specs: tuple[WatermarkSpec, ...] = ()
    primary_key: PrimaryKey | None = None

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        by_name = {column.name: column for column in self.columns}
        for what, names in (
            ("the watermark", [each.rowtime_attribute for each in self.watermark_specs]),
            ("the primary key", self.primary_key.columns if self.primary_key else ()),
        ):
            for name in names:
                if name not in by_name:
                    raise ValueError(f"{what} names {name!r}, which is no column")
        for column in self.columns:
            if (column.kind == "COMPUTED") != (column.expression is not None):
                raise ValueError(f"column {column.name!r} is {column.kind}: only COMPUTED ones have an expression")
            if column.expression is not None:
                self._check(column.name, column.expression, column.data_type, computed=False)
        for each in self.watermark_specs:
            self._check("the watermark", each.expression, by_name[each.rowtime_attribute].data_type, computed=True)
        return self

    def _check(self, what: str, expression: PersistedExpression, type: LogicalType, *, computed: bool) -> None:
        """ValueError if an expression gives another type, or reads what it cannot; only some read computed columns."""
        found = expression.rex_node.type
        if found.root is not type.root:
            raise ValueError(f"{what} is {type}, but its expression gives {found}")
        for each in walk(expression.rex_node):
            if not isinstance(each, InputRef):
                continue
            index = each.input_index
            known = self.columns[index] if 0 <= index < len(self.columns) else None
            if known is None or (known.kind == "COMPUTED" and not computed):
                raise ValueError(f"{what} reads column {index}, which is none that it can read")
            if not each.type.same_values(known.data_type):
                raise ValueError(f"{what} reads column {known.name!r} as {each.type}, and it is {known.data_type}")

    @property
    def row_type(self) -> LogicalType:
        """All columns as one ROW; the watermarked one is a time attribute."""
        return row(*(Field(column.name, column.data_type) for column in self.columns)).not_null()

    @property
    def physical(self) -> tuple[Column, ...]:
        """Columns that exist in the external system."""
        return tuple(column for column in self.columns if column.kind == "PHYSICAL")

    @property
    def metadata(self) -> tuple[Column, ...]:
        """Columns read from the connector's metadata."""
        return tuple(column for column in self.columns if column.kind == "METADATA")

    @property
    def writable(self) -> tuple[Column, ...]:
        """Columns an INSERT fills: physical ones and metadata that is not VIRTUAL."""
        return tuple(c for c in self.columns if c.kind == "PHYSICAL" or (c.kind == "METADATA" and not c.is_virtual))


class ResolvedTable(PlanModel):
    """A table in full."""

    # "schema" is pydantic's own name, hence the alias.
    table_schema: Schema = Property(alias="schema")
    partition_keys: tuple[str, ...] = ()
    comment: str | None = None
    options: dict[str, str] | None = None
    """WITH options; secrets only as ``${env:NAME}`` or ``${file:PATH}``. None when compiled without options."""

    def scope(self, name: str, around: Scope) -> Scope:
        """Its own columns."""
        return around.over(self.table_schema.row_type.fields, "the table")

    @model_validator(mode="after")
    def _is_partitioned_by_columns(self) -> Self:
        names = {column.name for column in self.table_schema.columns}
        for name in self.partition_keys:
            if name not in names:
                raise ValueError(f"partitionKeys names {name!r}, which is no column")
        return self

    def model_post_init(self, _context: Any) -> None:
        """A secret that was written out all the same is shown by nothing that is said of the table."""
        remember(self.options or {})


class TableReference(PlanModel):
    """A table of a scan or a sink."""

    identifier: tuple[str, str, str] | None = None
    """Catalog, database, name; None for an inline table, which is then resolved in full."""
    resolved_table: ResolvedTable | None = None
    hints: dict[str, str] = Property(default_factory=dict)
    """Options of an OPTIONS hint; they win over those of the table, wherever it comes from."""

    def scope(self, name: str, around: Scope) -> Scope:
        """Columns of the table, where the plan has them."""
        return around if self.resolved_table is None else self.resolved_table.scope(name, around)

    def model_post_init(self, _context: Any) -> None:
        """As for `ResolvedTable`."""
        remember(self.hints)

    @property
    def name(self) -> str:
        """Dotted name for messages."""
        return ".".join(self.identifier) if self.identifier else "*anonymous*"
