"""Format json: a JSON object a line."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from execnodes.connectors.formats.json import FORMAT
from execnodes.core.connectors import FormatDeclaration
from execnodes.core.errors import ConnectorError
from execnodes.core.tables import Column
from execnodes.core.types import TEXTS, Field, LogicalType, Root
from execnodes.lowering.stream import SEQUENCE, quote
from rekindle.connectors.format import RecordFormat, Wanted
from rekindle.connectors.json_marks import elements
from rekindle.connectors.json_text import JsonReader
from rekindle.connectors.json_write import json_value, unquoted_decimals
from rekindle.connectors.line_text import LINE
from rekindle.connectors.options import TableOption, TableOptions
from rekindle.connectors.plain_json import PlainJson

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

STANDARDS = ("SQL", "ISO-8601")
_TEXT = "rk_text"
"""Column with the text of an object."""


def json_options(prefix: str) -> tuple[TableOption, ...]:
    """Options that all formats made of JSON share, under their own prefix."""
    return (
        TableOption(f"{prefix}.ignore-parse-errors", "bool", "false", "A bad field is NULL, a bad line is left out."),
        TableOption(f"{prefix}.timestamp-format.standard", "enum", "SQL", "How timestamps are written.", STANDARDS),
        TableOption(f"{prefix}.encode.decimal-as-plain-number", "bool", "true", "Decimals are always written plain."),
        TableOption(f"{prefix}.encode.ignore-null-fields", "bool", "false", "Leave NULL fields out when writing."),
        TableOption(
            f"{prefix}.map-null-key.mode",
            "enum",
            "FAIL",
            "What to do with a NULL key of a MAP when writing.",
            ("FAIL",),
        ),
    )


def is_iso(options: TableOptions, prefix: str) -> bool:
    """Whether timestamps are written as ISO 8601 has them, and not as SQL has."""
    return options.text(f"{prefix}.timestamp-format.standard") == "ISO-8601"


def check_json_types(columns: tuple[Column, ...], table: str) -> None:
    """Refuse maps whose keys are no texts; JSON has no form for them."""
    for column in columns:
        _check_keys(column.data_type, column.name, table)


def _check_keys(t: LogicalType, name: str, table: str) -> None:
    if t.root in (Root.MAP, Root.MULTISET) and t.key.root not in TEXTS:
        raise ConnectorError(
            f"column {name!r}: JSON keys are texts, not {t.key}", where=f"table {table}", hint="Use MAP<STRING, …>."
        )
    for child in (*t.children, *(field.type for field in t.fields)):
        _check_keys(child, name, table)


def json_object(columns: tuple[Column, ...], options: TableOptions, prefix: str) -> str:
    """Spark SQL text of a struct with the columns as JSON writes them."""
    iso = is_iso(options, prefix)
    cells = (f"{json_value(c.data_type, quote(c.name), iso)} AS {quote(c.name)}" for c in columns)
    return f"struct({', '.join(cells)})"


def to_json_text(struct: str, columns: tuple[Column, ...], options: TableOptions, prefix: str) -> str:
    """Spark SQL text of the JSON of a struct that holds what `json_object` gives."""
    ignore = options.text(f"{prefix}.encode.ignore-null-fields")
    text = f"to_json({struct}, map('ignoreNullFields', '{ignore}'))"
    return unquoted_decimals(text, (each.data_type for each in columns))


class Json(RecordFormat):
    """A row is an object; fields are found by their exact name, a missing one is NULL."""

    declaration: ClassVar[FormatDeclaration] = FORMAT
    extension: ClassVar[str] = ".json"
    options: ClassVar[tuple[TableOption, ...]] = (
        *json_options("json"),
        TableOption("json.fail-on-missing-field", "bool", "false", "A missing field fails the job."),
        TableOption("json.decode.json-parser.enabled", "bool", "true", "Accepted for Flink's sake; it has no effect."),
    )

    def check(self, columns: tuple[Column, ...], options: TableOptions, table: str) -> None:
        """Map keys are texts; a missing field cannot both fail and be ignored."""
        check_json_types(columns, table)
        if options.flag("json.fail-on-missing-field") and options.flag("json.ignore-parse-errors"):
            raise ConnectorError(
                "json.fail-on-missing-field and json.ignore-parse-errors exclude each other",
                where=f"table {table}",
                hint="Set only one of them.",
            )

    def plain(self, columns: tuple[Column, ...], options: TableOptions) -> PlainJson | None:
        """See RecordFormat: where a field that is missing is NULL."""
        if options.flag("json.fail-on-missing-field") or not all(PlainJson.knows(c.data_type) for c in columns):
            return None
        return PlainJson(_fields(columns), iso=is_iso(options, "json"))

    def decode(self, rows: DataFrame, options: TableOptions, wanted: Wanted) -> DataFrame:
        """Parse each line in the JVM. The elements of an array are rows of their own."""
        reader = JsonReader(
            _fields(wanted.columns),
            iso=is_iso(options, "json"),
            ignore_errors=options.flag("json.ignore-parse-errors"),
            fail_on_missing=options.flag("json.fail-on-missing-field"),
            exact=True,
            option="json.ignore-parse-errors",
            text=_TEXT,
        )
        others = [name for name in rows.columns if name != SEQUENCE]
        # A row has its number by itself, and not by its line.
        number = [f"monotonically_increasing_id() AS {SEQUENCE}"] if SEQUENCE in rows.columns else []
        documents = rows.selectExpr("*", f"explode({elements(LINE)}) AS {_TEXT}")
        numbered = documents.selectExpr(*map(quote, others), _TEXT, *number)
        parsed = numbered.selectExpr("*", reader.parsed()).selectExpr("*", reader.second()).where(reader.condition())
        values = (f"{reader.value(i)} AS c{i}" for i in range(len(wanted.columns)))
        return parsed.selectExpr(*values, *map(quote, wanted.kept))

    def encode(
        self, rows: DataFrame, columns: tuple[Column, ...], options: TableOptions, kept: tuple[str, ...]
    ) -> DataFrame:
        """A JSON object a row."""
        line = to_json_text(json_object(columns, options, "json"), columns, options, "json")
        return rows.selectExpr(f"{line} AS value", *map(quote, kept))


def _fields(columns: tuple[Column, ...]) -> tuple[Field, ...]:
    return tuple(Field(column.name, column.data_type) for column in columns)
