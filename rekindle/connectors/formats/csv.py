"""Format csv: a row a line, columns by position."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from execnodes.connectors.formats.csv import FORMAT
from execnodes.core.connectors import FormatDeclaration
from execnodes.core.errors import ConnectorError
from execnodes.core.tables import Column
from execnodes.core.types import BINARIES, NESTED, TEXTS, LogicalType, Root
from execnodes.lowering.stream import quote
from rekindle.connectors.format import RecordFormat, Wanted
from rekindle.connectors.json_write import time_to_text
from rekindle.connectors.line_text import (
    NOT_TEXT,
    TIME_ROOTS,
    bad_value,
    failure,
    is_text,
    lenient_time_from_text,
    string,
    time_from_text,
)
from rekindle.connectors.options import TableOption, TableOptions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_ROW = "rk_row"
_BAD = "rk_bad"
_IGNORE = "csv.ignore-parse-errors"
_UNLIKELY = "\u0001rk\u0001"
"""Stands for an absent field: Spark takes its null text for a field that is empty and not quoted."""


class Csv(RecordFormat):
    """Fields are texts; an empty one is '' for a text column and bad for any other, unless it is the null literal."""

    declaration: ClassVar[FormatDeclaration] = FORMAT
    extension: ClassVar[str] = ".csv"
    options: ClassVar[tuple[TableOption, ...]] = (
        TableOption("csv.field-delimiter", "text", ",", "One character between fields, e.g. ; or \\t."),
        TableOption("csv.quote-character", "text", '"', "One character around fields that hold special characters."),
        TableOption("csv.disable-quote-character", "bool", "false", "Quotes are characters like others."),
        TableOption("csv.escape-character", "text", "", "One character that takes the next one literally."),
        TableOption("csv.null-literal", "text", "", "Text that stands for NULL; none when unset."),
        TableOption("csv.ignore-parse-errors", "bool", "false", "A bad field is NULL, a bad line is left out."),
        TableOption("csv.allow-comments", "bool", "false", "Lines that begin with # are no rows."),
        TableOption("csv.array-element-delimiter", "text", ";", "Between the elements of an ARRAY or ROW."),
        TableOption(
            "csv.write-bigdecimal-in-scientific-notation", "bool", "false", "Decimals are always written plain."
        ),
    )

    def check(self, columns: tuple[Column, ...], options: TableOptions, table: str) -> None:
        """Flat types, arrays and rows of flat types; delimiters of one character."""
        for column in columns:
            t = column.data_type
            inner = (*t.children, *(field.type for field in t.fields))
            if t.root in (Root.MAP, Root.MULTISET) or any(each.root in NESTED for each in inner):
                raise ConnectorError(
                    f"column {column.name!r}: csv has no form for {t}", where=f"table {table}", hint="Use format json."
                )
        for key in ("csv.field-delimiter", "csv.quote-character", "csv.escape-character"):
            value = _unescaped(options.text(key))
            if len(value) != 1 and not (value == "" and key == "csv.escape-character"):
                raise ConnectorError(f"{key}: {value!r} is not one character", where=f"table {table}")

    def decode(self, rows: DataFrame, options: TableOptions, wanted: Wanted) -> DataFrame:
        """Split each line in the JVM, then convert the wanted fields."""
        reader = _Reader.of(options)
        place = {column.name: i for i, column in enumerate(wanted.every)}
        width = len(wanted.every)
        parsed = rows.where(reader.is_row()).selectExpr("*", reader.split(width)).where(reader.condition(width))
        values = (f"{reader.value(c, place[c.name])} AS c{i}" for i, c in enumerate(wanted.columns))
        return parsed.selectExpr(*values, *map(quote, wanted.kept))

    def encode(
        self, rows: DataFrame, columns: tuple[Column, ...], options: TableOptions, kept: tuple[str, ...]
    ) -> DataFrame:
        """A line a row; fields are quoted where they must be."""
        reader = _Reader.of(options)
        fields = (reader.field(column) for column in columns)
        return rows.selectExpr(
            f"concat_ws({string(reader.delimiter)}, {', '.join(fields)}) AS value", *map(quote, kept)
        )


@dataclass(frozen=True, slots=True)
class _Reader:
    delimiter: str
    quoting: str
    """Empty without quoting."""
    escape: str
    null_literal: str | None
    ignore: bool
    comments: bool
    elements: str

    @classmethod
    def of(cls, options: TableOptions) -> _Reader:
        return cls(
            _unescaped(options.text("csv.field-delimiter")),
            "" if options.flag("csv.disable-quote-character") else _unescaped(options.text("csv.quote-character")),
            _unescaped(options.text("csv.escape-character")),
            options.get("csv.null-literal"),
            options.flag("csv.ignore-parse-errors"),
            options.flag("csv.allow-comments"),
            _unescaped(options.text("csv.array-element-delimiter")),
        )

    def is_row(self) -> str:
        comment = " AND NOT startswith(ltrim(value), '#')" if self.comments else ""
        return f"value <> ''{comment}"

    def split(self, width: int) -> str:
        schema = ", ".join([*(f"f{i} STRING" for i in range(width)), f"{_BAD} STRING"])
        settings = {
            "sep": self.delimiter, "quote": self.quoting, "escape": self.escape or self.quoting or "\\",
            "nullValue": _UNLIKELY, "emptyValue": "", "columnNameOfCorruptRecord": _BAD, "mode": "PERMISSIVE",
            "ignoreLeadingWhiteSpace": "false", "ignoreTrailingWhiteSpace": "false", "maxCharsPerColumn": "-1",
        }  # fmt: skip
        pairs = ", ".join(f"{string(key)}, {string(value)}" for key, value in settings.items())
        return f"from_csv(value, {string(schema)}, map({pairs})) AS {_ROW}"

    def condition(self, width: int) -> str:
        """Short and long lines fail; ignored, a short one is filled with NULL and a long one is left out."""
        bad = f"{_ROW}.{_BAD} IS NOT NULL"
        if not self.ignore:
            fails = failure(f"the line has not the {width} fields of the table", None, option=_IGNORE)
            no_text = failure(NOT_TEXT, None, option=_IGNORE)
            return f"CASE WHEN NOT {is_text()} THEN {no_text} WHEN {bad} THEN {fails} ELSE true END"
        return f"{is_text()} AND NOT ({bad} AND size(split(value, {string(_literally(self.delimiter))}, -1)) > {width})"

    def value(self, column: Column, place: int) -> str:
        # An empty field and one that the line lacks look the same here; only the second marks the line as bad.
        raw = f"CASE WHEN {_ROW}.{_BAD} IS NULL THEN coalesce({_ROW}.f{place}, '') ELSE {_ROW}.f{place} END"
        if self.null_literal is not None:
            raw = f"nullif({raw}, {string(self.null_literal)})"
        return f"transform(array({raw}), x -> {self._convert(column.data_type, 'x', column.name)})[0]"

    def _convert(self, t: LogicalType, x: str, name: str) -> str:
        if t.root in TEXTS:
            return x
        parts = f"split({x}, {string(_literally(self.elements))}, -1)"
        if t.root is Root.ARRAY:
            each = self._convert(t.element, "y", name)
            return f"CASE WHEN {x} = '' THEN array() WHEN {x} IS NOT NULL THEN transform({parts}, y -> {each}) END"
        if t.root is Root.ROW:
            cells = (
                f"{string(f.name)}, {self._convert(f.type, f'get({parts}, {i})', f'{name}.{f.name}')}"
                for i, f in enumerate(t.fields)
            )
            return f"CASE WHEN {x} IS NOT NULL THEN named_struct({', '.join(cells)}) END"
        fails = bad_value(t, name, x, ignore=self.ignore, option=_IGNORE)
        if t.root is Root.DECIMAL:
            # Too many digits are NULL, not a bad value.
            number = f"TRY_CAST(trim({x}) AS DECIMAL({t.precision}, {t.scale}))"
            numeric = f"TRY_CAST(trim({x}) AS DOUBLE) IS NOT NULL"
            return f"CASE WHEN {numeric} THEN {number} WHEN {x} IS NOT NULL THEN {fails} END"
        return f"CASE WHEN {x} IS NOT NULL THEN coalesce({_scalar(t, x)}, {fails}) END"

    def field(self, column: Column) -> str:
        """The text of a written field."""
        null = string(self.null_literal or "")
        text = self._text(column.data_type, quote(column.name))
        special = "".join(f"\\x{{{ord(c):x}}}" for c in dict.fromkeys(self.delimiter + self.quoting + "\r\n"))
        if self.quoting and (column.data_type.root in TEXTS or column.data_type.root in NESTED):
            doubled = f"replace({text}, {string(self.quoting)}, {string(self.quoting * 2)})"
            quoted = f"concat({string(self.quoting)}, {doubled}, {string(self.quoting)})"
            text = f"CASE WHEN {text} RLIKE {string(f'[{special}]')} THEN {quoted} ELSE {text} END"
        return f"coalesce({text}, {null})"

    def _text(self, t: LogicalType, x: str) -> str:
        null = string(self.null_literal or "")
        match t.root:
            case Root.ARRAY:
                each = f"transform({x}, y -> coalesce({self._text(t.element, 'y')}, {null}))"
                return f"CASE WHEN {x} IS NOT NULL THEN concat_ws({string(self.elements)}, {each}) END"
            case Root.ROW:
                inner = (f"coalesce({self._text(f.type, f'{x}.{quote(f.name)}')}, {null})" for f in t.fields)
                return f"CASE WHEN {x} IS NOT NULL THEN concat_ws({string(self.elements)}, {', '.join(inner)}) END"
            case root if root in TIME_ROOTS:
                return time_to_text(t, x, iso=False)
            case root if root in BINARIES:
                return f"base64({x})"
            case _:
                # Spark writes numbers and texts as Flink does.
                return f"CAST({x} AS STRING)"


def _scalar(t: LogicalType, x: str) -> str:
    """The value of a field's text, NULL if it cannot be one."""
    match t.root:
        case Root.BOOLEAN:
            return f"lower(trim({x})) = 'true'"
        case root if root in BINARIES:
            return f"try_to_binary({x}, 'base64')"
        case root if root in TIME_ROOTS:
            return f"coalesce({time_from_text(t, x, iso=False)}, {lenient_time_from_text(t, x, iso=False)})"
        case Root.FLOAT | Root.DOUBLE:
            return f"TRY_CAST(trim({x}) AS {t.root})"
        case root:
            # Whole numbers, called in Spark as here but for intervals.
            target = {Root.INTERVAL_DAY_TIME: "BIGINT", Root.INTERVAL_YEAR_MONTH: "INT"}.get(root, str(root))
            return f"CASE WHEN trim({x}) RLIKE '^[+-]?\\\\d+$' THEN TRY_CAST(trim({x}) AS {target}) END"


def _unescaped(text: str) -> str:
    """Escapes such as those of a tab or U+0001 as the characters they name."""
    if "\\" not in text or len(text) == 1:
        return text
    return text.encode("latin-1", "backslashreplace").decode("unicode_escape")


def _literally(text: str) -> str:
    """A Java regular expression for exactly this text."""
    return "".join(f"\\x{{{ord(c):x}}}" for c in text)
