"""JSON texts as rows, with Flink's rules, as Spark SQL texts.

A line is parsed by `from_json` with native types, which agrees with Flink for values of the declared kind. Only when
Spark finds something wrong with a line, or a value is one of the few that Spark makes into another, is the line read
again by `JsonRules`, which know how each value was written. That second way stands inside a lambda: lambdas are
interpreted, so that the generated code of the first way stays small enough for the JIT.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from execnodes.core.types import TEXTS, Field, LogicalType, Root
from execnodes.lowering.stream import quote
from rekindle.connectors.json_marks import FIRST_OPTIONS, is_torn, marked, member, members
from rekindle.connectors.json_rules import JsonRules, values_of
from rekindle.connectors.line_text import (
    LINE,
    NOT_TEXT,
    TIME_ROOTS,
    bad_value,
    failure,
    is_text,
    lenient_time_from_text,
    string,
    time_from_text,
)

ROW = "rk_row"
"""Column with the parsed line."""
SECOND = "rk_second"
"""Column with the row read again, where the first reading failed or cannot be trusted."""
_BAD = "rk_bad"


@dataclass(frozen=True, slots=True)
class JsonReader:
    """Texts to read lines as a ROW of `fields`."""

    fields: tuple[Field, ...]
    iso: bool
    ignore_errors: bool
    fail_on_missing: bool = False
    exact: bool = field(kw_only=True)
    """Whether a STRING has a number as it is written, and not as Java writes what it has read."""
    option: str = field(kw_only=True)
    """Of the table: that by which errors are ignored."""
    text: str = LINE
    """The column that is read; messages show the line."""

    def parsed(self) -> str:
        """`ROW`: the line by `from_json`."""
        inner = [f"{quote(f.name)}: {json_type(f.type)}" for f in self.fields]
        schema = f"STRUCT<{', '.join([*inner, f'{_BAD}: STRING'])}>"
        options = f"map({FIRST_OPTIONS}, 'columnNameOfCorruptRecord', '{_BAD}')"
        return f"from_json({self.text}, {string(schema)}, {options}) AS {ROW}"

    def second(self) -> str:
        """`SECOND`: the row of a line that is read again, NULL for all others and for what is not a JSON object."""
        rules = JsonRules(self.iso, self.exact, self.ignore_errors, self.option)
        cells = (f"'c{i}', {rules.value(f.type, f'doc.{member(f.name)}', f.name)}" for i, f in enumerate(self.fields))
        made = f"named_struct({', '.join([*cells, _ONE])})"
        names = tuple(f.name for f in self.fields)
        documents = f"transform(array({marked(self.text)}), m -> {members('m', names, _BAD)})"
        again = f"transform({documents}, doc -> CASE WHEN doc.{_BAD} IS NULL THEN {made} END)[0]"
        # A line with half a character fails, unless errors are ignored: see `condition`.
        odd = [*([is_torn(self.text)] if self.ignore_errors else []), *self._odd_values()]
        return f"CASE WHEN {' OR '.join([f'{ROW}.{_BAD} IS NOT NULL', *odd])} THEN {again} END AS {SECOND}"

    def condition(self) -> str:
        """Which lines are rows: blank ones are not, bad ones fail the job or are left out."""
        bad, no_text, torn = (
            "false" if self.ignore_errors else failure(what, None, option=self.option)
            for what in ("the line is not a JSON object", NOT_TEXT, "an escape is half a character (a lone surrogate)")
        )
        checks = [f"WHEN NOT {is_text()} THEN {no_text}"]
        checks += [] if self.ignore_errors else [f"WHEN {is_torn(self.text)} THEN {torn}"]
        checks += [f"WHEN {ROW} IS NULL THEN false", f"WHEN {ROW}.{_BAD} IS NOT NULL AND {SECOND} IS NULL THEN {bad}"]
        for each in self.fields if self.fail_on_missing else ():
            missing = f"NOT array_contains(json_object_keys({self.text}), {string(each.name)})"
            fails = failure("the field is missing", each.name, option=self.option)
            checks.append(f"WHEN {ROW}.{quote(each.name)} IS NULL AND {missing} THEN {fails}")
        return f"CASE {' '.join(checks)} ELSE true END"

    def value(self, index: int) -> str:
        """The value of a field; every use names `ROW` and `SECOND`."""
        each = self.fields[index]
        first = self._first(each.type, f"{ROW}.{quote(each.name)}", each.name, 0)
        return f"CASE WHEN {SECOND} IS NULL THEN {first} ELSE {SECOND}.c{index} END"

    def _fail(self, t: LogicalType, name: str, found: str) -> str:
        return bad_value(t, name, found, ignore=self.ignore_errors, option=self.option)

    def _first(self, t: LogicalType, x: str, name: str, depth: int) -> str:
        """A value of `from_json` with its texts turned into dates and times, and each number into its type."""
        if not _is_converted(t):
            return x
        v = f"x{depth}"
        match t.root:
            case Root.ROW:
                cells = (
                    f"{string(f.name)}, {self._first(f.type, f'{x}.{quote(f.name)}', f'{name}.{f.name}', depth)}"
                    for f in t.fields
                )
                return f"CASE WHEN {x} IS NOT NULL THEN named_struct({', '.join(cells)}) END"
            case Root.ARRAY:
                return f"transform({x}, {v} -> {self._first(t.element, v, name, depth + 1)})"
            case Root.MAP:
                return f"transform_values({x}, ({v}k, {v}) -> {self._first(t.element, v, name, depth + 1)})"
            case Root.TINYINT:
                return f"TRY_CAST({x} AS TINYINT)"
            case _:
                # A date or time: others were given back above.
                lenient = f"{lenient_time_from_text(t, v, self.iso)}, {self._fail(t, name, v)}"
                rest = f"transform(array({x}), {v} -> coalesce({lenient}))[0]"
                return f"CASE WHEN {x} IS NOT NULL THEN coalesce({time_from_text(t, x, self.iso)}, {rest}) END"

    def _odd_values(self) -> list[str]:
        """Whether values of the first reading may be others than those that were written."""
        found = (self._odd(f.type, f"{ROW}.{quote(f.name)}", 0) for f in self.fields)
        return [f"coalesce({each}, false)" for each in found if each]

    def _odd(self, t: LogicalType, x: str, depth: int) -> str:
        """The same of a value; empty if none of the type is."""
        v = f"o{depth}"
        match t.root:
            case Root.TINYINT:
                return f"{x} NOT BETWEEN -128 AND 127"
            case Root.FLOAT | Root.DOUBLE if self.exact:
                return f"({x} = 0 AND {self.text} RLIKE {string(_NEGATIVE_ZERO)})"
            case root if root in TEXTS and self.exact:
                # Java writes 1.10 as 1.1 and 1e400 as "Infinity"; a text may look so, too.
                again = f"{x} RLIKE {string(_FRACTION)} AND {self.text} RLIKE {string(_RAW_FRACTION)}"
                return f"(({x} < ':' AND {again}) OR ({x} = '0' AND {self.text} RLIKE {string(_NEGATIVE_ZERO)}))"
            case Root.ROW:
                found = (self._odd(f.type, f"{x}.{quote(f.name)}", depth) for f in t.fields)
                inner = [f"coalesce({each}, false)" for each in found if each]
                return f"({' OR '.join(inner)})" if inner else ""
            case Root.ARRAY:
                each = self._odd(t.element, v, depth + 1)
                return f"exists({x}, {v} -> coalesce({each}, false))" if each else ""
            case Root.MAP | Root.MULTISET:
                twice = f"size(array_distinct(map_keys({x}))) <> size({x})"
                each = "" if t.root is Root.MULTISET else self._odd(t.element, v, depth + 1)
                return f"({twice} OR exists(map_values({x}), {v} -> coalesce({each}, false)))" if each else twice
            case _:
                # What Spark takes is what was written.
                return ""


_NEGATIVE_ZERO = r"[:\[,]\s*-0(?![0-9.])"
_FRACTION = r'^(-?[0-9]+\.[0-9]|"-?Infinity)'
_RAW_FRACTION = r"[:\[,]\s*-?[0-9]+[.eE]"
_ONE = "'rk_one', 1"
"""Keeps a struct of no columns from being empty."""


def json_type(t: LogicalType) -> str:
    """The Spark type `from_json` reads a type as: dates and times as texts, all else as it is.

    A TINYINT is a SMALLINT: Spark cuts 128 down to eight bits.
    """
    match t.root:
        case Root.TINYINT:
            return "SMALLINT"
        case Root.ROW:
            return f"STRUCT<{', '.join(f'{quote(f.name)}: {json_type(f.type)}' for f in t.fields)}>"
        case Root.ARRAY:
            return f"ARRAY<{json_type(t.element)}>"
        case Root.MAP | Root.MULTISET:
            return f"MAP<STRING, {json_type(values_of(t))}>"
        case Root.DECIMAL:
            return f"DECIMAL({t.precision}, {t.scale})"
        case Root.BINARY | Root.VARBINARY:
            return "BINARY"
        case Root.INTERVAL_DAY_TIME:
            return "BIGINT"
        case Root.INTERVAL_YEAR_MONTH:
            return "INT"
        case root if root in TEXTS or root in TIME_ROOTS:
            return "STRING"
        case _:
            # Numbers and truth values are called alike.
            return str(t.root)


def _is_converted(t: LogicalType) -> bool:
    own = t.root in TIME_ROOTS or t.root is Root.TINYINT
    return own or any(map(_is_converted, (*t.children, *(f.type for f in t.fields))))
