"""Connector datagen: random values and sequences, by row number and seed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from execnodes.connectors.datagen import CONNECTOR
from execnodes.core.connectors import ConnectorDeclaration
from execnodes.core.errors import ConnectorError, OptionError
from execnodes.core.options import parse_duration
from execnodes.core.tables import Column
from execnodes.core.types import BINARIES, INTEGERS, TEXTS, LogicalType, Root
from rekindle.connectors.base import SourceConnector, SourceFrame, SourceRequest
from rekindle.connectors.generated import NumberPositions, generated, random_below, random_bits, random_unit
from rekindle.connectors.line_text import string
from rekindle.connectors.options import TableOption, TableOptions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OPTIONS = (
    TableOption("rows-per-second", "int", "10000", "Pace in wall-clock time; 0 for as fast as they are taken."),
    TableOption("number-of-rows", "int", "", "Number of rows; without it and without sequences there is no end."),
    TableOption("fields.seed", "int", "1", "Another seed gives other values."),
    TableOption("base-time", "text", "2024-01-01 00:00:00", "Newest time that random times of row 0 can be, UTC."),
    TableOption("fields.<field>.kind", "enum", "random", "How values come.", ("random", "sequence")),
    TableOption("fields.<field>.min", "text", "", "Least random number; the type's least by default."),
    TableOption("fields.<field>.max", "text", "", "Greatest random number; the type's greatest by default."),
    TableOption("fields.<field>.start", "int", "", "First number of a sequence."),
    TableOption("fields.<field>.end", "int", "", "Last number of a sequence; ends the table."),
    TableOption("fields.<field>.length", "int", "", "Characters, bytes or elements; 100, or 3 elements."),
    TableOption("fields.<field>.var-len", "bool", "false", "Texts and bytes have any length from 1 to `length`."),
    TableOption("fields.<field>.max-past", "duration", "0 ms", "How far random times lie back at most."),
    TableOption("fields.<field>.null-rate", "text", "0", "Share of NULLs, 0 to 1."),
    TableOption("scan.parallelism", "int", "", "Accepted for Flink's sake; it has no effect."),
)

_BITS = {Root.TINYINT: 7, Root.SMALLINT: 15, Root.INT: 31, Root.BIGINT: 63}


class Datagen(SourceConnector):
    """The same row number gives the same row."""

    declaration: ClassVar[ConnectorDeclaration] = CONNECTOR

    def declared(self, options: Mapping[str, str]) -> tuple[TableOption, ...]:
        """Flink's options; those of fields of ROWs and elements by their path."""
        return OPTIONS

    def check_columns(self, columns: tuple[Column, ...], options: TableOptions, table: str) -> None:
        """Of types that are generated, with the options they need."""
        fields = _Fields(options, table)
        for column in columns:
            fields.value(column.data_type, f"fields.{column.name}")

    def positions(self, spark: SparkSession, request: SourceRequest) -> NumberPositions:
        """By row numbers."""
        options = self.opened(request.table, "source", request.name)
        most = request.configuration.number("execution.micro-batch.max-rows")
        return NumberPositions(request.name, _rows(options), options.number("rows-per-second"), most)

    def read(self, spark: SparkSession, request: SourceRequest) -> SourceFrame:
        """Computed in the JVM from row numbers."""
        options = self.opened(request.table, "source", request.name)
        names = {column.name for column in request.table.table_schema.columns}
        for key in options:
            field = key.removeprefix("fields.").split(".")[0]
            if key.startswith("fields.") and key != "fields.seed" and field not in names:
                raise OptionError(
                    f"option {key!r} is for a column the table does not have",
                    where=f"table {request.name}",
                    hint=f"Its columns are: {', '.join(sorted(names))}.",
                )
        made = _Fields(options, request.name)
        texts = tuple(made.value(c.data_type, f"fields.{c.name}") for c in request.columns)
        return generated(spark, request, (), texts, _rows(options))


def _rows(options: Mapping[str, str]) -> int:
    """Rows until the end, -1 for no end: the shortest of the given number and the sequences."""
    lengths = [int(options["number-of-rows"])] if options.get("number-of-rows") else []
    for key, end in options.items():
        if key.startswith("fields.") and key.endswith(".end"):
            start = int(options.get(f"{key.removesuffix('.end')}.start", "0"))
            lengths.append(max(int(end) - start + 1, 0))
    return min(lengths, default=-1)


class _Fields:
    """Spark SQL texts over the row number n."""

    def __init__(self, options: TableOptions, table: str) -> None:
        self._options = options
        self._table = table
        self._seed = options.number("fields.seed")

    def value(self, t: LogicalType, path: str, salt: str = "") -> str:
        """Text of a value; `path` begins the keys of its options, `salt` tells elements apart."""
        from execnodes.lowering.spark_sql import spark_type

        sequence = self._options.get(f"{path}.kind", "random") == "sequence"
        made = self._sequence(t, path) if sequence else self._random(t, path, path + salt, salt)
        text = f"CAST({made} AS {spark_type(t)})"
        share = float(self._options.get(f"{path}.null-rate", "0"))
        return f"CASE WHEN {random_unit(self._seed, f'{path}{salt}?')} >= {share}D THEN {text} END" if share else text

    def _sequence(self, t: LogicalType, path: str) -> str:
        if not self._options.get(f"{path}.start") or not self._options.get(f"{path}.end"):
            raise OptionError(
                f"a sequence needs '{path}.start' and '{path}.end'", where=f"table {self._table}", hint="Add both."
            )
        if t.root not in (*INTEGERS, *TEXTS, Root.DECIMAL, Root.FLOAT, Root.DOUBLE):
            raise ConnectorError(f"{path}: a sequence cannot be of type {t}", where=f"table {self._table}")
        return f"(n + {self._options[f'{path}.start']})"

    def _random(self, t: LogicalType, path: str, key: str, salt: str) -> str:
        seed = self._seed
        match t.root:
            case Root.BOOLEAN:
                return f"({random_below(seed, key, '2')} = 1)"
            case root if root in _BITS:
                return self._integer(path, key, _BITS[root])
            case Root.FLOAT | Root.DOUBLE | Root.DECIMAL:
                most = 10 ** (t.precision - t.scale) - 1 if t.root is Root.DECIMAL else 1.0
                low = float(self._options.get(f"{path}.min") or (0 if t.root is not Root.DECIMAL else -most))
                high = float(self._options.get(f"{path}.max") or most)
                return f"({low!r}D + {random_unit(seed, key)} * {high - low!r}D)"
            case root if root in TEXTS:
                return self._text(t, path, key)
            case root if root in BINARIES:
                return f"encode({self._text(t, path, key)}, 'UTF-8')"
            case Root.DATE:
                return f"CAST({self._instant(path, key)} AS DATE)"
            case Root.TIME:
                return random_below(seed, key, "86400000")
            case Root.TIMESTAMP | Root.TIMESTAMP_LTZ:
                return self._instant(path, key)
            case Root.INTERVAL_DAY_TIME | Root.INTERVAL_YEAR_MONTH:
                return random_below(seed, key, "1000000")
            case Root.ROW:
                cells = (f"{string(f.name)}, {self.value(f.type, f'{path}.{f.name}', salt)}" for f in t.fields)
                return f"named_struct({', '.join(cells)})"
            case Root.ARRAY:
                parts = (self.value(t.element, f"{path}.element", f"{salt}/{i}") for i in range(self._length(path, 3)))
                return f"array({', '.join(parts)})"
            case Root.MAP | Root.MULTISET:
                return self._map(t, path, salt)
            case _:
                raise ConnectorError(f"{path}: nothing is generated of type {t}", where=f"table {self._table}")

    def _map(self, t: LogicalType, path: str, salt: str) -> str:
        value = t.element if t.root is Root.MAP else LogicalType(Root.INT)
        parts = (
            f"{self.value(t.key, f'{path}.key', f'{salt}/{i}')}, {self.value(value, f'{path}.value', f'{salt}/{i}')}"
            for i in range(self._length(path, 3))
        )
        return f"map({', '.join(parts)})"

    def _integer(self, path: str, key: str, bits: int) -> str:
        low = int(self._options.get(f"{path}.min") or -(2**bits))
        high = int(self._options.get(f"{path}.max") or 2**bits - 1)
        if low > high:
            raise OptionError(f"'{path}.min' is greater than '{path}.max'", where=f"table {self._table}")
        span = high - low + 1
        if span >= 2**63:
            return random_bits(self._seed, key)
        return f"({low}L + {random_below(self._seed, key, f'{span}L')})"

    def _length(self, path: str, default: int) -> int:
        return int(self._options.get(f"{path}.length") or default)

    def _text(self, t: LogicalType, path: str, key: str) -> str:
        # A CHAR(n) or VARCHAR(n) never gets more than it declares.
        length = min(self._length(path, 100), t.length)
        digits = [f"lower(hex({random_bits(self._seed, f'{key}#{i}')}))" for i in range(-(-length // 16))]
        # hex() leaves leading zeros out.
        padded = ", ".join(f"lpad({each}, 16, '0')" for each in digits)
        kept = str(length)
        if self._options.get(f"{path}.var-len") == "true":
            kept = f"CAST(1 + {random_below(self._seed, f'{key}#', str(max(length, 1)))} AS INT)"
        return f"left(concat({padded}), {kept})" if digits else "''"

    def _instant(self, path: str, key: str) -> str:
        past = parse_duration(self._options.get(f"{path}.max-past", "0 ms"), f"{path}.max-past")
        rate = max(self._options.number("rows-per-second"), 1)
        base = f"unix_millis(TIMESTAMP{string(self._options.text('base-time') + 'Z')})"
        back = f" - {random_below(self._seed, key, f'{past + 1}L')}" if past else ""
        return f"timestamp_millis({base} + n * 1000 DIV {rate}{back})"
