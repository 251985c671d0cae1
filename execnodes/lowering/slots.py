"""Encoding at the exchange: typed columns as a few shared slot columns of plain physical types, as Spark SQL text.

Stateful operators of one stage share tagged rows, and pandas (through which Spark hands rows to Python) loses or breaks
timestamps, decimals and nested values. So every value travels as a bigint (``l``), double (``d``), string (``s``) or
binary (``b``); `execnodes.state.kernel_types` has the table. Nested values are JSON texts of slot values: a ROW an
object ``{"0": …, "1": …}``, an ARRAY an array, a MAP or MULTISET an array of ``{"k": …, "v": …}`` in key order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from execnodes.core.types import BINARIES, INT, LONG_DIGITS, NESTED, TEXTS, LogicalType, Root
from execnodes.lowering.spark_sql import spark_type
from execnodes.lowering.stream import wrap

KINDS = ("l", "d", "s", "b")
SPARK_TYPES = {"l": "bigint", "d": "double", "s": "string", "b": "binary"}


def slot_kind(t: LogicalType) -> str:
    """Which kind of slot carries a type: ``l``, ``d``, ``s`` or ``b``."""
    match t.root:
        case Root.FLOAT | Root.DOUBLE:
            return "d"
        case Root.BINARY | Root.VARBINARY:
            return "b"
        case Root.DECIMAL:
            return "l" if t.precision <= LONG_DIGITS else "s"
        case Root.CHAR | Root.VARCHAR | Root.ARRAY | Root.MAP | Root.MULTISET | Root.ROW:
            return "s"
        case (
            Root.BOOLEAN
            | Root.TINYINT
            | Root.SMALLINT
            | Root.INT
            | Root.BIGINT
            | Root.DATE
            | Root.TIME
            | Root.TIMESTAMP
            | Root.TIMESTAMP_LTZ
            | Root.INTERVAL_DAY_TIME
            | Root.INTERVAL_YEAR_MONTH
            | Root.NULL
        ):
            return "l"


def assign(types: Iterable[LogicalType]) -> tuple[str, ...]:
    """Slot names of columns, counted by kind: (BIGINT, STRING, INT) -> (l0, s0, l1)."""
    used: Counter[str] = Counter()
    names = []
    for t in types:
        kind = slot_kind(t)
        names.append(f"{kind}{used[kind]}")
        used[kind] += 1
    return tuple(names)


@dataclass(frozen=True, slots=True)
class SlotLayout:
    """How many slots of each kind a frame has."""

    counts: tuple[int, int, int, int] = (0, 0, 0, 0)

    @classmethod
    def of(cls, columns: Iterable[Iterable[LogicalType]]) -> SlotLayout:
        """The smallest layout that holds each of several lists of columns."""
        most = Counter[str]()
        for types in columns:
            most |= Counter(slot_kind(t) for t in types)
        return cls((most["l"], most["d"], most["s"], most["b"]))

    def names(self) -> tuple[str, ...]:
        """All slot names in their order in a frame."""
        return tuple(f"{kind}{i}" for kind, count in zip(KINDS, self.counts, strict=True) for i in range(count))

    def ddl(self) -> str:
        """Spark schema of the slots."""
        return ", ".join(f"{name} {SPARK_TYPES[name[0]]}" for name in self.names())


def unused(slot: str) -> str:
    """Spark SQL text of a slot that a row has no value for."""
    return f"CAST(NULL AS {SPARK_TYPES[slot[0]]})"


def encode(t: LogicalType, text: str) -> str:
    """Spark SQL text of a value's slot."""
    x = wrap(text)
    match t.root:
        case Root.BIGINT | Root.DOUBLE | Root.INTERVAL_DAY_TIME:
            return text
        case Root.FLOAT:
            return f"CAST({text} AS DOUBLE)"
        case Root.DATE:
            return f"CAST(unix_date({text}) AS BIGINT)"
        case Root.TIMESTAMP:
            return f"unix_micros(CAST({text} AS TIMESTAMP))"
        case Root.TIMESTAMP_LTZ:
            return f"unix_micros({text})"
        case Root.DECIMAL if t.precision <= LONG_DIGITS:
            return f"CAST({x} * CAST(1{'0' * t.scale} AS DECIMAL({t.scale + 1}, 0)) AS BIGINT)"
        case Root.DECIMAL:
            # Plain digits: CAST AS STRING would write small numbers as 1E-7.
            return f"translate(format_number({text}, {t.scale}), ',.', '')"
        case Root.ARRAY | Root.MAP | Root.MULTISET | Root.ROW:
            return _nested(t, x, encode)
        case root if root in TEXTS or root in BINARIES:
            return text
        case _:
            # Whatever else is a number, in a slot of BIGINTs.
            return f"CAST({text} AS BIGINT)"


def encode_key(t: LogicalType, text: str) -> str:
    """As `encode`, of a value that is compared as SQL's = does: a zero inside a nested one has no sign.

    A DOUBLE alone keeps it: hashes, Polars and Spark find one zero in both.
    """
    return _nested(t, wrap(text), _encode_unsigned) if t.root in NESTED else encode(t, text)


def _encode_unsigned(t: LogicalType, text: str) -> str:
    slot = encode(t, text)
    # -0.0 + 0.0 is 0.0, and every other number stays, a NaN too.
    return f"({slot} + 0.0D)" if t.root in (Root.FLOAT, Root.DOUBLE) else slot


def decode(t: LogicalType, slot: str) -> str:
    """Spark SQL text that turns a slot back into a value of the Spark type of `t`."""
    match t.root:
        case Root.BIGINT | Root.DOUBLE | Root.INTERVAL_DAY_TIME:
            return slot
        case Root.DATE:
            return f"date_from_unix_date(CAST({slot} AS INT))"
        case Root.TIMESTAMP:
            return f"CAST(timestamp_micros({slot}) AS TIMESTAMP_NTZ)"
        case Root.TIMESTAMP_LTZ:
            return f"timestamp_micros({slot})"
        case Root.DECIMAL if t.precision <= LONG_DIGITS:
            unit = (
                f"CAST('{'0.' + '0' * (t.scale - 1) + '1' if t.scale else '1'}' AS DECIMAL({t.scale + 1}, {t.scale}))"
            )
            return f"CAST(CAST({slot} AS DECIMAL(18, 0)) * {unit} AS {spark_type(t)})"
        case Root.DECIMAL:
            return f"CAST(concat({slot}, 'E-{t.scale}') AS {spark_type(t)})"
        case Root.ARRAY | Root.MAP | Root.MULTISET | Root.ROW:
            return _rebuild(t, f"from_json({slot}, '{_plain_type(t)}')", 0)
        case root if root in TEXTS or root in BINARIES:
            return slot
        case _:
            # Whatever else is a number, in a slot of BIGINTs.
            return f"CAST({slot} AS {spark_type(t)})"


_JSON_OPTIONS = "map('ignoreNullFields', 'false')"


def _entry_types(t: LogicalType) -> tuple[LogicalType, LogicalType]:
    return (t.element, INT) if t.root is Root.MULTISET else (t.key, t.element)


def _nested(t: LogicalType, x: str, leaf: Callable[[LogicalType, str], str]) -> str:
    """The JSON text of a nested value, whose leaves are encoded by `leaf`."""
    return f"CASE WHEN {x} IS NULL THEN NULL ELSE to_json({_plain(t, x, 0, leaf)}, {_JSON_OPTIONS}) END"


def _plain(t: LogicalType, x: str, depth: int, leaf: Callable[[LogicalType, str], str]) -> str:
    """A nested value with slot values as leaves."""
    v = f"x{depth}"
    match t.root:
        case Root.ROW:
            parts = (f"'{i}', {_plain(f.type, f'{x}.`{_tick(f.name)}`', depth, leaf)}" for i, f in enumerate(t.fields))
            return f"CASE WHEN {x} IS NULL THEN NULL ELSE named_struct({', '.join(parts)}) END"
        case Root.ARRAY:
            return f"transform({x}, {v} -> {_plain(t.element, v, depth + 1, leaf)})"
        case Root.MAP | Root.MULTISET:
            key, value = _entry_types(t)
            k, w = _plain(key, f"{v}.key", depth + 1, leaf), _plain(value, f"{v}.value", depth + 1, leaf)
            entry = f"named_struct('k', {k}, 'v', {w})"
            return f"array_sort(transform(map_entries({x}), {v} -> {entry}))"
        case _:
            # A leaf.
            return leaf(t, x)


def _plain_type(t: LogicalType) -> str:
    match t.root:
        case Root.ROW:
            return f"STRUCT<{', '.join(f'`{i}`: {_plain_type(f.type)}' for i, f in enumerate(t.fields))}>"
        case Root.ARRAY:
            return f"ARRAY<{_plain_type(t.element)}>"
        case Root.MAP | Root.MULTISET:
            key, value = _entry_types(t)
            return f"ARRAY<STRUCT<k: {_plain_type(key)}, v: {_plain_type(value)}>>"
        case _:
            # A leaf.
            return SPARK_TYPES[slot_kind(t)].upper()


def _rebuild(t: LogicalType, x: str, depth: int) -> str:
    v = f"x{depth}"
    match t.root:
        case Root.ROW:
            # A lambda over a one-element array names the parsed value, so that its text occurs once.
            parts = (
                f"'{_quoted(f.name)}', {_rebuild(f.type, f'{v}.`{i}`', depth + 1)}" for i, f in enumerate(t.fields)
            )
            made = f"CASE WHEN {v} IS NULL THEN NULL ELSE named_struct({', '.join(parts)}) END"
            return f"transform(array({x}), {v} -> {made})[0]"
        case Root.ARRAY:
            return f"transform({x}, {v} -> {_rebuild(t.element, v, depth + 1)})"
        case Root.MAP | Root.MULTISET:
            key, value = _entry_types(t)
            entry = f"struct({_rebuild(key, f'{v}.k', depth + 1)}, {_rebuild(value, f'{v}.v', depth + 1)})"
            return f"map_from_entries(transform({x}, {v} -> {entry}))"
        case _:
            # A leaf.
            return decode(t, x)


def _tick(name: str) -> str:
    return name.replace("`", "``")


def _quoted(name: str) -> str:
    return name.replace("\\", "\\\\").replace("'", "\\'")
