"""JSON objects a line, whose values are written as their types are: read by Arrow, many times as fast as by Spark.

A DECIMAL may also stand in quotes, if all of them do. What is written in any other way (``"12"`` for an INT, an object
over two lines) is not plain, and left to the reader that knows Flink's rules. Of what is plain both make the same;
`tests/connectors/test_plain_json.py` compares them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from execnodes.core.types import TEXTS, Field, LogicalType, Root

if TYPE_CHECKING:
    import pyarrow as pa

NOT_PLAIN = "rekindle-not-plain:"
_NOTHING = "\0"
"""A field that is asked for where none is, so that rows are counted."""
_DAY, _SECOND = len("2020-01-01"), len("2020-01-01 00:00:00")


class NotPlainError(Exception):
    """Lines are to be read by Flink's rules; Spark hands on the text alone, which begins with `NOT_PLAIN`."""

    def __init__(self, why: str) -> None:
        """`why`: where and what, for logs."""
        super().__init__(f"{NOT_PLAIN} {why}")


def why_not_plain(failure: str) -> str:
    """What a NotPlainError has said in the text of a failure of Spark's; of another failure its first line."""
    return (failure.partition(NOT_PLAIN)[2] or failure).strip().partition("\n")[0]


class PlainRecords(Protocol):
    """Reads blocks of lines, a record each, if they are plain."""

    def parse(self, lines: bytes) -> tuple[Mapping[str, pa.Array], int]:
        """Columns by their names, in Spark's Arrow types, and how many rows there are; NotPlainError.

        Of a format of changes with `KIND` behind them.
        """
        ...


@dataclass(frozen=True, slots=True)
class PlainJson:
    """An object a line."""

    fields: tuple[Field, ...]
    iso: bool
    """Whether timestamps are written as ISO 8601 has them, and not as SQL has."""

    @staticmethod
    def knows(t: LogicalType) -> bool:
        """Whether it reads a type. Digits of a FLOAT are rounded once here, and twice by Flink."""
        match t.root:
            case Root.ROW:
                return bool(t.fields) and all(PlainJson.knows(each.type) for each in t.fields)
            case Root.ARRAY:
                return PlainJson.knows(t.element)
            case root:
                # A single value.
                return root in _WRITTEN or root in TEXTS or root is Root.DECIMAL

    def parse(self, lines: bytes) -> tuple[Mapping[str, pa.Array], int]:
        """See `PlainRecords`."""
        import pyarrow as pa

        text = lines.replace(b"\r\n", b"\n").removesuffix(b"\n")
        count = _count(text)
        digits = {each.name: found for each in self.fields if (found := _digits(each.type))}
        try:
            try:
                return self._columns(text, count, digits), count
            except pa.ArrowException:
                if not digits:
                    raise
                return self._columns(text, count, None), count
        except pa.ArrowException as error:
            raise NotPlainError(str(error)) from error

    def _columns(self, text: bytes, count: int, digits: Mapping[str, pa.DataType] | None) -> Mapping[str, pa.Array]:
        """Columns by their names; `digits`: what `_digits` has of them, None if DECIMALs are in quotes.

        NotPlainError, ArrowException.
        """
        table = _read(text, count, {each.name: _written(each.type, quoted=digits is None) for each in self.fields})
        if digits:
            # Arrow (26.0) looks at the digits that are written, and not at the scale.
            about = _read(text, count, digits)
            for each in self.fields:
                if each.name in digits:
                    _fits(each.type, about.column(each.name).combine_chunks())
        found = ((each, table.column(each.name).combine_chunks()) for each in self.fields)
        return {each.name: _value(each.type, column, iso=self.iso) for each, column in found}


def _read(text: bytes, count: int, types: Mapping[str, pa.DataType]) -> pa.Table:
    """Fields of so many objects; NotPlainError, ArrowException."""
    import pyarrow as pa
    from pyarrow import json

    schema = pa.schema(list(types.items()) or [(_NOTHING, pa.null())])
    if not count:
        return schema.empty_table()
    reading = json.ReadOptions(use_threads=False, block_size=len(text) + 1)
    parsing = json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
    table = json.read_json(pa.BufferReader(text), reading, parsing)
    if table.num_rows != count:
        raise NotPlainError("lines and objects are not the same")
    return table


def _count(text: bytes) -> int:
    """How many lines there are, each of which begins and ends as an object does; NotPlainError for others."""
    if not text:
        return 0
    between = text.count(b"\n")
    if not (text.startswith(b"{") and text.endswith(b"}") and text.count(b"}\n{") == between) or b"\r" in text:
        raise NotPlainError("a line is not an object")
    if not text.isascii():
        try:
            text.decode()
        except UnicodeDecodeError as error:
            raise NotPlainError("a line is not UTF-8") from error
    return between + 1


_WRITTEN = {
    Root.TINYINT: "int8",
    Root.SMALLINT: "int16",
    Root.INT: "int32",
    Root.BIGINT: "int64",
    Root.DOUBLE: "float64",
    Root.BOOLEAN: "bool",
    Root.DATE: "string",
    Root.TIMESTAMP: "string",
    Root.TIMESTAMP_LTZ: "string",
}
"""Arrow's names of the types that stand in a line."""


def _written(t: LogicalType, *, quoted: bool) -> pa.DataType:
    import pyarrow as pa

    match t.root:
        case Root.ROW:
            return pa.struct([(each.name, _written(each.type, quoted=quoted)) for each in t.fields])
        case Root.ARRAY:
            return pa.list_(_written(t.element, quoted=quoted))
        case Root.DECIMAL if not quoted:
            return pa.decimal128(t.precision, t.scale)
        case root:
            # What Arrow has no reader for is a text first.
            return pa.type_for_alias(_WRITTEN.get(root, "string"))


def _digits(t: LogicalType) -> pa.DataType | None:
    """What reads the DECIMALs of a type alone, as DOUBLEs; None if it has none."""
    import pyarrow as pa

    match t.root:
        case Root.ROW:
            inner = [(each.name, found) for each in t.fields if (found := _digits(each.type))]
            return pa.struct(inner) if inner else None
        case Root.ARRAY:
            element = _digits(t.element)
            return element and pa.list_(element)
        case Root.DECIMAL:
            return pa.float64()
        case _:
            # It has no other values inside.
            return None


def _fits(t: LogicalType, about: Any) -> None:
    """NotPlainError unless all DECIMALs are less than their types have room for; `about`: see `_digits`."""
    import pyarrow.compute as pc

    match t.root:
        case Root.ROW:
            for each in t.fields:
                if _digits(each.type):
                    _fits(each.type, about.field(each.name))
        case Root.ARRAY:
            _fits(t.element, about.values)
        case _:
            # A DECIMAL.
            _require(pc.less(pc.abs(about), 10.0 ** (t.precision - t.scale)))


def _value(t: LogicalType, column: Any, *, iso: bool) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    match t.root:
        case Root.ROW:
            parts = [_value(each.type, column.field(each.name), iso=iso) for each in t.fields]
            return pa.StructArray.from_arrays(parts, [each.name for each in t.fields], mask=column.is_null())
        case Root.ARRAY:
            elements = _value(t.element, column.values, iso=iso)
            return pa.ListArray.from_arrays(column.offsets, elements, mask=column.is_null())
        case Root.DECIMAL if column.type == pa.string():
            _require(pc.match_substring_regex(column, _quoted_decimal(t)))
            return column.cast(pa.decimal128(t.precision, t.scale))
        case Root.DOUBLE:
            # An integer -0 has no sign in Java.
            signless = pc.or_kleene(pc.not_equal(column, 0.0), pc.equal(pc.divide(1.0, column), float("inf")))
            _require(pc.and_kleene(pc.is_finite(column), signless))
            return column
        case Root.DATE:
            _require(pc.equal(pc.binary_length(column), _DAY))
            return column.cast(pa.date32())
        case Root.TIMESTAMP:
            return _moments(column, t.precision, "T" if iso else " ").cast(pa.timestamp("us"))
        case Root.TIMESTAMP_LTZ:
            _require(pc.ends_with(column, "Z"))
            texts = pc.utf8_slice_codeunits(column, 0, -1)
            return _moments(texts, t.precision, "T" if iso else " ").cast(pa.timestamp("us", "UTC"))
        case _:
            # Arrow's value is Spark's.
            return column


def _quoted_decimal(t: LogicalType) -> str:
    """A regular expression for texts of which no digit is lost."""
    room = t.precision - t.scale
    whole = f"0*[0-9]{{1,{room}}}" if room else "0+"
    fraction = rf"(\.[0-9]{{1,{t.scale}}})?" if t.scale else ""
    return f"^-?{whole}{fraction}$"


def _moments(texts: Any, precision: int, separator: str) -> Any:
    """Epoch µs of texts down to the second, at least; digits beyond the precision are cut."""
    import pyarrow as pa
    import pyarrow.compute as pc

    _require(pc.and_kleene(pc.greater_equal(pc.binary_length(texts), _SECOND), _at(texts, separator)))
    times = texts.cast(pa.timestamp("us"))
    if precision < 6:
        times = pc.floor_temporal(times, 10 ** (6 - precision), "microsecond")
    return times.cast(pa.int64())


def _at(texts: Any, separator: str) -> Any:
    import pyarrow.compute as pc

    return pc.equal(pc.find_substring(texts, separator), _DAY)


def _require(holds: Any) -> None:
    """NotPlainError unless it holds for all values."""
    import pyarrow.compute as pc

    if pc.all(holds).as_py() is False:
        raise NotPlainError("a value is written otherwise than its type is")
