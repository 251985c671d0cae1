"""Format canal-json: Canal's change records, a JSON object a line."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from execnodes.connectors.formats.canal_json import FORMAT
from execnodes.core.connectors import FormatDeclaration
from execnodes.core.tables import Column
from execnodes.core.types import STRING, Field, array
from execnodes.lowering.stream import KIND, quote
from rekindle.connectors.change_records import change, exploded, parsed, row_of
from rekindle.connectors.format import RecordFormat, Wanted
from rekindle.connectors.formats.json import check_json_types, is_iso, json_object, json_options, to_json_text
from rekindle.connectors.json_text import JsonReader
from rekindle.connectors.line_text import failure, string
from rekindle.connectors.options import TableOption, TableOptions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_PREFIX = "canal-json"
_IGNORE = f"{_PREFIX}.ignore-parse-errors"
_DEFINITIONS = "'CREATE', 'ALTER', 'DROP', 'ERASE', 'TRUNCATE', 'RENAME', 'QUERY', 'CINDEX', 'DINDEX'"


class CanalJson(RecordFormat):
    """``{"data": [row, …], "old": [changed fields, …], "type": "INSERT" | "UPDATE" | "DELETE"}``.

    The row before an update is the new one with the fields of `old` put back. Records of table definitions are no rows.
    """

    declaration: ClassVar[FormatDeclaration] = FORMAT
    extension: ClassVar[str] = ".json"
    options: ClassVar[tuple[TableOption, ...]] = (
        *json_options(_PREFIX),
        TableOption(f"{_PREFIX}.database.include", "text", "", "Only records whose database matches this pattern."),
        TableOption(f"{_PREFIX}.table.include", "text", "", "Only records whose table matches this pattern."),
    )

    def check(self, columns: tuple[Column, ...], options: TableOptions, table: str) -> None:
        """As for json."""
        check_json_types(columns, table)

    def decode(self, rows: DataFrame, options: TableOptions, wanted: Wanted) -> DataFrame:
        """One or two rows for each row of a record."""
        images = array(row_of(wanted.columns))
        fields = (
            Field("data", images),
            Field("old", images),
            *(Field(n, STRING) for n in ("type", "database", "table")),
        )
        ignore = options.flag(_IGNORE)
        reader = JsonReader(fields, is_iso(options, _PREFIX), ignore, exact=False, option=_IGNORE)
        lines = parsed(rows, reader)
        for name, place in (("database", "p3"), ("table", "p4")):
            pattern = options.text(f"{_PREFIX}.{name}.include")
            if pattern:
                lines = lines.where(f"{place} RLIKE {string(f'^({pattern})$')}")
        return exploded(lines, _changes(wanted.columns, ignore), wanted.columns, wanted.kept)

    def encode(
        self, rows: DataFrame, columns: tuple[Column, ...], options: TableOptions, kept: tuple[str, ...]
    ) -> DataFrame:
        """A record a row: an INSERT for +I and +U, a DELETE for -U and -D."""
        image = json_object(columns, options, _PREFIX)
        record = (
            f"named_struct('data', array({image}), 'type', CASE WHEN {KIND} IN (0, 2) THEN 'INSERT' ELSE 'DELETE' END)"
        )
        return rows.selectExpr(f"{to_json_text(record, columns, options, _PREFIX)} AS value", *map(quote, kept))


def _changes(columns: tuple[Column, ...], ignore: bool) -> str:
    bad = "array()" if ignore else failure("not a change record; type", None, "p2", option=_IGNORE)
    names = "json_object_keys(get_json_object(value, concat('$.old[', i, ']')))"
    cells = (
        f"{string(c.name)}, CASE WHEN array_contains({names}, {string(c.name)}) THEN p1[i].{quote(c.name)} "
        f"ELSE d.{quote(c.name)} END"
        for c in columns
    )
    before = f"named_struct({', '.join(cells)})"
    return (
        f"CASE WHEN p2 = 'INSERT' THEN transform(p0, d -> {change(0, 'd')}) "
        f"WHEN p2 = 'UPDATE' THEN flatten(transform(p0, (d, i) -> array({change(1, before)}, {change(2, 'd')}))) "
        f"WHEN p2 = 'DELETE' THEN transform(p0, d -> {change(3, 'd')}) "
        f"WHEN p2 IN ({_DEFINITIONS}) THEN array() "
        f"ELSE {bad} END"
    )
