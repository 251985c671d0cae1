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
from rekindle.connectors.csv_records import CsvRecords
from rekindle.connectors.format import RecordFormat, Wanted
from rekindle.connectors.json_write import decimal_to_text, time_to_text
from rekindle.connectors.line_text import LINE, NOT_TEXT, TIME_ROOTS, bad_value, failure, is_text, string
from rekindle.connectors.options import TableOption, TableOptions
from rekindle.connectors.scalar_text import is_decimal, scalar, trimmed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_ROW = "rk_row"
_BAD = "rk_bad"
_LONG = "rk_long"
"""Column: whether a record has several lines."""
_IGNORE = "csv.ignore-parse-errors"
_BAD_QUOTES = "a quoted field is not closed, or text follows it"
_DAY = r"^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}\z"
_CLOCK = r"^[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{0,9})?)?\z"
_ENDS = "\ufdd1\ufdd2"
"""Stand for line ends within a record, which `from_csv` would take for its end."""
_HAS_ENDS = f"(contains({LINE}, '\\n') OR contains({LINE}, '\\r'))"
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

    def records(self, options: TableOptions) -> CsvRecords | None:
        """Quotes may hold line ends."""
        return _Reader.of(options).records()

    def decode(self, rows: DataFrame, options: TableOptions, wanted: Wanted) -> DataFrame:
        """Split each record in the JVM, then convert the wanted fields."""
        reader = _Reader.of(options)
        place = {column.name: i for i, column in enumerate(wanted.every)}
        width = len(wanted.every)
        records = rows.where(reader.is_row()).selectExpr("*", f"{_HAS_ENDS} AS {_LONG}")
        parsed = records.selectExpr("*", reader.split(width)).where(reader.condition(width))
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
        text = f"CASE WHEN {_LONG} THEN translate({LINE}, '\\n\\r', '{_ENDS}') ELSE {LINE} END"
        return f"from_csv({text if self.quoting else LINE}, {string(schema)}, map({pairs})) AS {_ROW}"

    def records(self) -> CsvRecords | None:
        """How quotes make records; None without quotes."""
        return CsvRecords(self.delimiter, self.quoting, self.escape, self.comments) if self.quoting else None

    def condition(self, width: int) -> str:
        """Short and long lines fail; ignored, a short one is filled with NULL and a long one is left out."""
        bad = f"{_ROW}.{_BAD} IS NOT NULL"
        records = self.records()
        whole = records.is_whole(LINE) if records else "true"
        if not self.ignore:
            fails = failure(f"the line has not the {width} fields of the table", None, option=_IGNORE)
            no_text = failure(NOT_TEXT, None, option=_IGNORE)
            unquoted = failure(_BAD_QUOTES, None, option=_IGNORE)
            checks = f"WHEN NOT {is_text()} THEN {no_text} WHEN NOT {whole} THEN {unquoted} WHEN {bad} THEN {fails}"
            return f"CASE {checks} ELSE true END"
        long = f"{bad} AND size(split({LINE}, {string(_literally(self.delimiter))}, -1)) > {width}"
        return f"{is_text()} AND {whole} AND NOT ({long})"

    def value(self, column: Column, place: int) -> str:
        # An empty field and one that the line lacks look the same here; only the second marks the line as bad.
        raw = f"CASE WHEN {_ROW}.{_BAD} IS NULL THEN coalesce({_ROW}.f{place}, '') ELSE {_ROW}.f{place} END"
        if self.quoting:
            raw = f"CASE WHEN {_LONG} THEN translate({raw}, '{_ENDS}', '\\n\\r') ELSE {raw} END"
        return f"transform(array({self._or_null(raw)}), x -> {self._convert(column.data_type, 'x', column.name)})[0]"

    def _or_null(self, text: str) -> str:
        return text if self.null_literal is None else f"nullif({text}, {string(self.null_literal)})"

    def _convert(self, t: LogicalType, x: str, name: str) -> str:
        if t.root in TEXTS:
            return x
        fails = bad_value(t, name, x, ignore=self.ignore, option=_IGNORE)
        parts = f"split({x}, {string(_literally(self.elements))}, -1)"
        blank = f"{trimmed(x)} = ''"
        if t.root is Root.ARRAY:
            each = self._each(t.element, "y", name)
            return f"CASE WHEN {blank} THEN array() WHEN {x} IS NOT NULL THEN transform({parts}, y -> {each}) END"
        if t.root is Root.ROW:
            cells = (
                f"{string(f.name)}, {self._each(f.type, f'get({parts}, {i})', f'{name}.{f.name}')}"
                for i, f in enumerate(t.fields)
            )
            row = f"named_struct({', '.join(cells)})"
            if not self.ignore:
                row = f"CASE WHEN size({parts}) < {len(t.fields)} THEN {fails} ELSE {row} END"
            return f"CASE WHEN {blank} THEN NULL WHEN {x} IS NOT NULL THEN {row} END"
        if t.root is Root.DECIMAL:
            # Too many digits are NULL, not a bad value.
            return f"CASE WHEN {is_decimal(x)} THEN {scalar(t, x, iso=False)} WHEN {x} IS NOT NULL THEN {fails} END"
        return f"CASE WHEN {x} IS NOT NULL THEN coalesce({_scalar(t, x)}, {fails}) END"

    def _each(self, t: LogicalType, x: str, name: str) -> str:
        """A part of a field."""
        given = f"transform(array({x}), z -> {self._convert(t, 'z', name)})[0]"
        return given if self.null_literal is None else f"CASE WHEN {x} <> {string(self.null_literal)} THEN {given} END"

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
            case Root.DECIMAL:
                return decimal_to_text(t, x)
            case _:
                # Spark writes numbers and texts as Flink does.
                return f"CAST({x} AS STRING)"


def _scalar(t: LogicalType, x: str) -> str:
    """The value of a field's text, NULL if it cannot be one."""
    match t.root:
        case Root.DATE:
            # As java.sql.Date has it: 2024-2-30 is the first of March.
            start = f"concat(substring_index({x}, '-', 2), '-01')"
            day = f"CAST(substring_index({x}, '-', -1) AS INT)"
            found = f"date_add(TRY_CAST({start} AS DATE), CASE WHEN {day} BETWEEN 1 AND 31 THEN {day} - 1 END)"
            return f"CASE WHEN {x} RLIKE {string(_DAY)} THEN {found} END"
        case Root.TIME:
            digits = f"left({x}, {8 if t.precision == 0 else 9 + min(t.precision, 3)})"
            instant = f"TRY_CAST(concat('1970-01-01 ', {digits}) AS TIMESTAMP)"
            return f"CASE WHEN {x} RLIKE {string(_CLOCK)} THEN CAST(unix_millis({instant}) AS INT) END"
        case _:
            # As other formats have it.
            return scalar(t, x, iso=False)


def _unescaped(text: str) -> str:
    """Escapes such as those of a tab or U+0001 as the characters they name."""
    if "\\" not in text or len(text) == 1:
        return text
    return text.encode("latin-1", "backslashreplace").decode("unicode_escape")


def _literally(text: str) -> str:
    """A Java regular expression for exactly this text."""
    return "".join(f"\\x{{{ord(c):x}}}" for c in text)
