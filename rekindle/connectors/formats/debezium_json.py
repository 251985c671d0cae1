"""Format debezium-json: Debezium's change records, a JSON object a line."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from execnodes.connectors.formats.debezium_json import FORMAT
from execnodes.core.connectors import FormatDeclaration
from execnodes.core.tables import Column
from execnodes.lowering.stream import KIND, quote
from rekindle.connectors.change_records import change, exploded, parsed, row_of
from rekindle.connectors.format import RecordFormat, Wanted
from rekindle.connectors.formats.json import check_json_types, is_iso, json_object, json_options, to_json_text
from rekindle.connectors.json_text import JsonReader
from rekindle.connectors.line_text import failure
from rekindle.connectors.options import TableOption, TableOptions
from rekindle.connectors.plain_changes import PlainChanges, record_fields
from rekindle.connectors.plain_json import PlainJson

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_PREFIX = "debezium-json"
_IGNORE = f"{_PREFIX}.ignore-parse-errors"


class DebeziumJson(RecordFormat):
    """``{"before": …, "after": …, "op": "c" | "r" | "u" | "d"}``, also wrapped in ``payload``.

    An update gives -U with `before` and +U with `after`. Written are an insert for +I and +U, a delete for -U and -D.
    """

    declaration: ClassVar[FormatDeclaration] = FORMAT
    extension: ClassVar[str] = ".json"
    options: ClassVar[tuple[TableOption, ...]] = (
        *json_options(_PREFIX),
        TableOption(f"{_PREFIX}.schema-include", "bool", "false", "Records stand under 'payload', beside a 'schema'."),
    )

    def check(self, columns: tuple[Column, ...], options: TableOptions, table: str) -> None:
        """As for json."""
        check_json_types(columns, table)

    def plain(self, columns: tuple[Column, ...], options: TableOptions) -> PlainChanges | None:
        """See RecordFormat."""
        image = row_of(columns)
        if not PlainJson.knows(image):
            return None
        return PlainChanges(image.fields, is_iso(options, _PREFIX), options.flag(f"{_PREFIX}.schema-include"))

    def decode(self, rows: DataFrame, options: TableOptions, wanted: Wanted) -> DataFrame:
        """One or two rows a record."""
        wrapped = options.flag(f"{_PREFIX}.schema-include")
        ignore = options.flag(_IGNORE)
        fields = record_fields(row_of(wanted.columns), wrapped=wrapped)
        lines = parsed(rows, JsonReader(fields, is_iso(options, _PREFIX), ignore, exact=False, option=_IGNORE))
        before, after, op = ("p0.before", "p0.after", "p0.op") if wrapped else ("p0", "p1", "p2")
        return exploded(lines, _changes(before, after, op, ignore), wanted.columns, wanted.kept)

    def encode(
        self, rows: DataFrame, columns: tuple[Column, ...], options: TableOptions, kept: tuple[str, ...]
    ) -> DataFrame:
        """A record a row."""
        image = json_object(columns, options, _PREFIX)
        added = f"{KIND} IN (0, 2)"
        record = (
            f"named_struct('before', CASE WHEN NOT {added} THEN {image} END, "
            f"'after', CASE WHEN {added} THEN {image} END, 'op', CASE WHEN {added} THEN 'c' ELSE 'd' END)"
        )
        return rows.selectExpr(f"{to_json_text(record, columns, options, _PREFIX)} AS value", *map(quote, kept))


def _changes(before: str, after: str, op: str, ignore: bool) -> str:
    """The rows of a record."""

    def bad(what: str, found: str | None = None) -> str:
        return "array()" if ignore else failure(what, None, found, option=_IGNORE)

    lost = "an update or delete without 'before'; the database must log whole rows (e.g. REPLICA IDENTITY FULL)"
    return (
        f"CASE WHEN {op} IN ('c', 'r') AND {after} IS NOT NULL THEN array({change(0, after)}) "
        f"WHEN {op} = 'u' AND {before} IS NOT NULL AND {after} IS NOT NULL "
        f"THEN array({change(1, before)}, {change(2, after)}) "
        f"WHEN {op} = 'd' AND {before} IS NOT NULL THEN array({change(3, before)}) "
        f"WHEN {op} IN ('u', 'd') AND {before} IS NULL THEN {bad(lost)} "
        f"ELSE {bad('not a change record; op', op)} END"
    )
