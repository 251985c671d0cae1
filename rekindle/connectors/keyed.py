"""Messages with a key and a value, each in a format of its own: what connectors of message queues share.

A connector that declares `keyed` adds `keyed_options` to its own, and leaves bytes to `Messages`: it reads and writes
the columns `key` and `value`, and knows nothing of formats. Options are Flink's, of its connector for Kafka.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from execnodes.core.errors import ConnectorError
from execnodes.core.tables import Column, ResolvedTable
from execnodes.lowering.stream import KIND, quote
from rekindle.connectors.format import RecordFormat, Wanted
from rekindle.connectors.formats import find_format, format_of, formats
from rekindle.connectors.line_text import LINE, PATH
from rekindle.connectors.options import TableOption, TableOptions, reject_misspelt

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

KEY = "key"
_KEY, _VALUE = "rk_key", "rk_value"
_OWN = (
    TableOption("format", "text", "", "Format of the values; the same as value.format."),
    TableOption("value.format", "text", "", "Format of the values."),
    TableOption("key.format", "text", "", "Format of the keys; without it they are not looked at."),
    TableOption("key.fields", "text", "", "Columns that the key holds, with ; between them."),
    TableOption("key.fields-prefix", "text", "", "What their names begin with in the table, but not in the key."),
    TableOption("value.fields-include", "enum", "ALL", "Whether the value holds them, too.", ("ALL", "EXCEPT_KEY")),
)


def keyed_options(options: Mapping[str, str]) -> tuple[TableOption, ...]:
    """Options of a table of messages, those of its formats among them: `json.…` with `format`, else `value.json.…`."""
    prefixes = {"": options.get("format"), "value.": options.get("value.format"), "key.": options.get("key.format")}
    chosen = ((prefix, format_of(name)) for prefix, name in prefixes.items() if name)
    of_formats = (
        replace(option, key=prefix + option.key) for prefix, found in chosen if found for option in found.options
    )
    return (*_OWN, *of_formats)


@dataclass(frozen=True)
class Part:
    """The key or the value: a format, and the columns it holds."""

    format: RecordFormat
    options: TableOptions
    """Those of the format, without `key.` or `value.`."""
    columns: tuple[Column, ...]
    """Under the names that the format writes: those in a key have no prefix."""
    names: tuple[str, ...]
    """What the table calls them."""

    def decode(self, rows: DataFrame, names: tuple[str, ...], kept: tuple[str, ...]) -> DataFrame:
        """The columns c0, c1, … of these names, `rk_kind` where the format tells it, and `kept`."""
        wanted = tuple(self.columns[self.names.index(each)] for each in names)
        return self.format.decode(rows, self.options, Wanted(wanted, self.columns, kept))

    def encode(self, rows: DataFrame, kept: tuple[str, ...]) -> DataFrame:
        """The bytes as `value`, then `rk_kind` and `kept`."""
        pairs = zip(self.names, self.columns, strict=True)
        own = (f"{quote(name)} AS {quote(column.name)}" for name, column in pairs)
        return self.format.encode(rows.selectExpr(*own, KIND, *kept), self.columns, self.options, (KIND, *kept))


@dataclass(frozen=True)
class Messages:
    """How the rows of a table are keys and values."""

    value: Part
    key: Part | None

    @classmethod
    def of(cls, table: ResolvedTable, options: TableOptions, name: str) -> Self:
        """As the options say, which have been checked one by one; ConnectorError if they do not fit each other.

        `name` is that of the table, for messages.
        """
        columns = table.table_schema.physical
        keys = _key_fields(columns, options, name)
        left_out = keys if options.text("value.fields-include") == "EXCEPT_KEY" else ()
        value = _part(_value_prefix(options, name), columns, options, name, left_out=left_out)
        if not keys:
            return cls(value, None)
        own = tuple(column for column in columns if column.name in keys)
        key = _part("key.", own, options, name, cut=len(options.text("key.fields-prefix")))
        if key.format.changelog:
            raise ConnectorError(
                f"the format {key.format.declaration.identifier!r} cannot be that of a key: its records tell changes",
                where=f"table {name}",
                hint="Give the key a format of rows, such as json, and the changes to the value.",
            )
        return cls(value, key)

    def decode(self, rows: DataFrame, columns: tuple[Column, ...], kept: tuple[str, ...] = ()) -> DataFrame:
        """The columns c0, c1, …, `rk_kind` where the value tells it, and `kept`.

        `rows` have `key` and `value`, bytes as STRING that may be no UTF-8, `rk_path` (where a message is from) and
        `kept`, whose names begin with `rk_`. What key and value both hold is read from the value. Where columns of the
        key are wanted, messages without a key are left out.
        """
        of_value = tuple(c.name for c in columns if c.name in self.value.names)
        of_key = tuple(c.name for c in columns if c.name not in self.value.names)
        taken = rows.selectExpr(LINE, f"{KEY} AS {_KEY}", *dict.fromkeys((PATH, *kept)))
        found = self.value.decode(taken, of_value, tuple(dict.fromkeys((_KEY, PATH, *kept))))
        hidden = (KIND,) if self.value.format.changelog else ()
        place = {each: f"c{at}" for at, each in enumerate(of_value)}
        if of_key and self.key is not None:
            place = {each: f"{_VALUE}{at}" for at, each in enumerate(of_value)}
            moved = (f"c{at} AS {_VALUE}{at}" for at in range(len(of_value)))
            others = tuple(dict.fromkeys((*hidden, PATH, *kept)))
            keyed = found.selectExpr(f"{_KEY} AS {LINE}", *moved, *others)
            found = self.key.decode(keyed, of_key, (*place.values(), *others))
            place |= {each: f"c{at}" for at, each in enumerate(of_key)}
        return found.selectExpr(*(f"{place[c.name]} AS c{at}" for at, c in enumerate(columns)), *hidden, *kept)

    def encode(self, rows: DataFrame, kept: tuple[str, ...] = ()) -> DataFrame:
        """The columns `key` (NULL without a format for it) and `value`, texts of JSON or what else, and `kept`.

        `rows` have the table's columns under their names, `rk_kind`, and `kept`, whose names begin with `rk_`.
        """
        if self.key is None:
            return self.value.encode(rows, kept).selectExpr(f"CAST(NULL AS STRING) AS {KEY}", LINE, *kept)
        cells = [f"{quote(name)} AS {_VALUE}{at}" for at, name in enumerate(self.key.names)]
        places = tuple(f"{_VALUE}{at}" for at in range(len(cells)))
        values = self.value.encode(rows.selectExpr("*", *cells), (*places, *kept))
        named = (f"{place} AS {quote(name)}" for place, name in zip(places, self.key.names, strict=True))
        keys = self.key.encode(values.selectExpr(f"{LINE} AS {_VALUE}", KIND, *named, *kept), (_VALUE, *kept))
        return keys.selectExpr(f"{LINE} AS {KEY}", f"{_VALUE} AS {LINE}", *kept)


def _value_prefix(options: TableOptions, table: str) -> str:
    given = [key for key in ("format", "value.format") if options.text(key)]
    if not given:
        reject_misspelt(options, "format", table)
    if len(given) == 1:
        return given[0].removesuffix("format")
    raise ConnectorError(
        "format and value.format are both given" if given else "the table has no 'format' option",
        where=f"table {table}",
        hint="Set one of format and value.format: the format of the values.",
    )


def _part(
    prefix: str,
    columns: tuple[Column, ...],
    options: TableOptions,
    table: str,
    *,
    cut: int = 0,
    left_out: tuple[str, ...] = (),
) -> Part:
    identifier = options.text(f"{prefix}format")
    chosen = find_format(identifier, table)
    if not isinstance(chosen, RecordFormat):
        known = (name for name, each in formats().items() if isinstance(each, RecordFormat))
        raise ConnectorError(
            f"{prefix}format: {identifier!r} has files, not records, so that no message can hold one",
            where=f"table {table}",
            hint=f"Formats of records: {', '.join(known)}.",
        )
    held = tuple(column for column in columns if column.name not in left_out)
    of_format = {key.removeprefix(prefix): value for key, value in options.items() if key.startswith(prefix)}
    own = TableOptions({key: of_format[key] for key in of_format if _is_of(key, chosen)}, chosen.options)
    named = tuple(column.model_copy(update={"name": column.name[cut:]}) for column in held)
    chosen.check(named, own, table)
    return Part(chosen, own, named, tuple(column.name for column in held))


def _is_of(key: str, chosen: RecordFormat) -> bool:
    return any(option.matches(key) for option in chosen.options)


def _key_fields(columns: tuple[Column, ...], options: TableOptions, table: str) -> tuple[str, ...]:
    """Names of the columns in the key; refuses what Flink refuses."""
    fields, prefix = options.text("key.fields"), options.text("key.fields-prefix")
    names = tuple(each.strip() for each in fields.split(";") if each.strip())
    physical = [column.name for column in columns]
    problem = hint = ""
    if bool(options.text("key.format")) != bool(names):
        problem, hint = "key.format and key.fields need each other", "Set both, or neither."
    elif not names and prefix:
        problem, hint = "key.fields-prefix has no meaning without key.fields", "Set key.format and key.fields."
    elif unknown := [each for each in names if each not in physical]:
        problem = f"key.fields: the table has no physical column {unknown[0]!r}"
        hint = f"It has {', '.join(physical)}."
    elif bare := [each for each in names if not each.startswith(prefix) or each == prefix]:
        problem = f"key.fields: {bare[0]!r} does not begin with key.fields-prefix, {prefix!r}"
        hint = "All columns of the key have the prefix; in the key itself their names do not."
    elif prefix and options.text("value.fields-include") == "ALL":
        problem = "key.fields-prefix is of no use where the value holds the columns of the key, too"
        hint = "Set value.fields-include to EXCEPT_KEY."
    if problem:
        raise ConnectorError(problem, where=f"table {table}", hint=hint)
    return names
