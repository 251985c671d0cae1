"""JSON texts as rows, with Flink's rules, as Spark SQL texts.

A line is parsed by `from_json` with native types, which agrees with Flink for values of the declared kind. Only when
Spark finds something wrong with a line is it read again as a VARIANT, which still knows how each value was written,
and Flink's conversions (``"12"`` or ``1.9`` for an INT) are made by hand. That second way stands inside a lambda:
lambdas are interpreted, so that the generated code of the first way stays small enough for the JIT.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from execnodes.core.types import INTEGERS, TEXTS, Field, LogicalType, Root
from execnodes.lowering.stream import quote
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

ROW = "rk_row"
"""Column with the parsed line."""
SECOND = "rk_second"
"""Column with the row read again, where the first reading failed."""
_BAD = "rk_bad"


@dataclass(frozen=True, slots=True)
class JsonReader:
    """Texts to read lines as a ROW of `fields`."""

    fields: tuple[Field, ...]
    iso: bool
    ignore_errors: bool
    fail_on_missing: bool = False
    option: str = field(kw_only=True)
    """Of the table: that by which errors are ignored."""

    def parsed(self) -> str:
        """`ROW`: the line by `from_json`."""
        inner = [f"{quote(f.name)}: {json_type(f.type)}" for f in self.fields]
        schema = f"STRUCT<{', '.join([*inner, f'{_BAD}: STRING'])}>"
        options = (
            f"map('columnNameOfCorruptRecord', '{_BAD}', 'allowSingleQuotes', 'false', "
            "'allowUnquotedControlChars', 'true')"
        )
        return f"from_json(value, {string(schema)}, {options}) AS {ROW}"

    def second(self) -> str:
        """`SECOND`: the row of a line that failed, NULL for all others and for lines that are no JSON object."""
        cells = [
            f"'c{i}', {self._second(f.type, 'doc', _key(f.name), f.name, f'{ROW}.{quote(f.name)}')}"
            for i, f in enumerate(self.fields)
        ]
        made = f"named_struct({', '.join([*cells, _ONE])})"
        object_only = f"CASE WHEN schema_of_variant(doc) LIKE 'OBJECT%' THEN {made} END"
        again = f"transform(array(try_parse_json(value)), doc -> {object_only})[0]"
        return f"CASE WHEN {ROW}.{_BAD} IS NOT NULL THEN {again} END AS {SECOND}"

    def condition(self) -> str:
        """Which lines are rows: blank ones are not, bad ones fail the job or are left out."""
        bad, no_text, torn = (
            "false" if self.ignore_errors else failure(what, None, option=self.option)
            for what in ("the line is not a JSON object", NOT_TEXT, "an escape is half a character (a lone surrogate)")
        )
        checks = [f"WHEN NOT {is_text()} THEN {no_text}", f"WHEN {_is_torn()} THEN {torn}"]
        checks += [f"WHEN {ROW} IS NULL THEN false", f"WHEN {ROW}.{_BAD} IS NOT NULL AND {SECOND} IS NULL THEN {bad}"]
        for each in self.fields if self.fail_on_missing else ():
            missing = f"NOT array_contains(json_object_keys(value), {string(each.name)})"
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
        """A value of `from_json` with its texts turned into dates and times."""
        if not _has_times(t):
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
            case _:
                # A date or time: others were given back above.
                lenient = f"{lenient_time_from_text(t, v, self.iso)}, {self._fail(t, name, v)}"
                rest = f"transform(array({x}), {v} -> coalesce({lenient}))[0]"
                return f"CASE WHEN {x} IS NOT NULL THEN coalesce({time_from_text(t, x, self.iso)}, {rest}) END"

    def _second(self, t: LogicalType, root: str, path: str, name: str, first: str | None) -> str:
        """A value at a path of the VARIANT `root`; `first` is the text of what `from_json` made of it."""
        x = f"variant_get({root}, {string('$' + path)}, 'variant')"
        kind = f"coalesce(schema_of_variant({x}), 'VOID')"
        text = f"CAST({x} AS STRING)"
        fails = self._fail(t, name, text)
        v = f"v{root.removeprefix('v') if root.startswith('v') else ''}x"
        match t.root:
            case Root.ROW:
                cells = [
                    f"{string(f.name)}, {self._second(f.type, root, path + _key(f.name), f'{name}.{f.name}', inner)}"
                    for f, inner in ((f, f"{first}.{quote(f.name)}" if first else None) for f in t.fields)
                ]
                made = f"CASE WHEN {kind} LIKE 'OBJECT%' THEN named_struct({', '.join(cells)}) ELSE {fails} END"
            case Root.ARRAY:
                each = self._second(t.element, v, "", name, None)
                items = f"transform(CAST({x} AS ARRAY<VARIANT>), {v} -> {each})"
                made = f"CASE WHEN {kind} LIKE 'ARRAY%' THEN {items} ELSE {fails} END"
            case Root.MAP | Root.MULTISET:
                each = self._second(_values(t), v, "", name, None)
                entries = f"transform_values(CAST({x} AS MAP<STRING, VARIANT>), ({v}k, {v}) -> {each})"
                made = f"CASE WHEN {kind} LIKE 'OBJECT%' THEN {entries} ELSE {fails} END"
            case root_type if root_type in TEXTS:
                # A VARIANT sorts the keys of an object; the first reading keeps their order.
                made = f"coalesce({first}, {text})" if first else text
            case _:
                # A single value.
                made = f"coalesce({self._scalar(t, kind, text)}, {fails})"
                if t.root is Root.DECIMAL:
                    # Too many digits are NULL, not a bad value.
                    number = self._scalar(t, kind, text)
                    made = f"CASE WHEN TRY_CAST({text} AS DOUBLE) IS NOT NULL THEN {number} ELSE {fails} END"
        return f"CASE WHEN {kind} <> 'VOID' THEN {made} END"

    def _scalar(self, t: LogicalType, kind: str, text: str) -> str:
        """The value, NULL if it cannot be one; `kind` is the VARIANT's type, `text` its text."""
        target = json_type(t)
        match t.root:
            case Root.TINYINT | Root.SMALLINT:
                return f"CASE WHEN trim({text}) RLIKE '^[+-]?\\\\d+$' THEN TRY_CAST(trim({text}) AS {target}) END"
            case root if root in INTEGERS or root in (Root.INTERVAL_DAY_TIME, Root.INTERVAL_YEAR_MONTH):
                number = f"TRY_CAST({text} AS DECIMAL(38, 18))"
                whole = f"CASE WHEN {number} < 0 THEN ceil({number}) ELSE floor({number}) END"
                digits = f"CASE WHEN trim({text}) RLIKE '^[+-]?\\\\d+$' THEN trim({text}) END"
                chosen = (
                    f"CASE WHEN {kind} IN ('STRING', 'BOOLEAN') THEN {digits} "
                    f"WHEN {kind} NOT LIKE 'OBJECT%' AND {kind} NOT LIKE 'ARRAY%' THEN CAST({whole} AS STRING) END"
                )
                return f"TRY_CAST({chosen} AS {target})"
            case Root.BOOLEAN:
                return f"lower(trim({text})) = 'true'"
            case Root.BINARY | Root.VARBINARY:
                return f"CASE WHEN {kind} = 'STRING' THEN try_to_binary({text}, 'base64') END"
            case root if root in TIME_ROOTS:
                lenient = lenient_time_from_text(t, text, self.iso)
                return f"coalesce({time_from_text(t, text, self.iso)}, {lenient})"
            case _:
                # DECIMAL, FLOAT, DOUBLE and the rest that Spark reads as Flink does.
                return f"TRY_CAST(trim({text}) AS {target})"


def _is_torn() -> str:
    """Whether a line has an escape for half a character; Java's texts may, UTF-8 cannot, so '?' would come of it."""
    perhaps = " OR ".join(f"contains(value, {string(start)})" for start in ("\\ud", "\\uD"))
    return f"({perhaps}) AND value RLIKE {string(_TORN)}"


_HIGH, _LOW = r"\\u[dD][89abAB][0-9a-fA-F]{2}", r"\\u[dD][c-fC-F]"
_TORN = rf"(?<!\\)(?:\\\\)*(?:{_HIGH}(?!{_LOW})|(?<!{_HIGH}){_LOW})"
_ONE = "'rk_one', 1"
"""Keeps a struct of no columns from being empty."""


def json_type(t: LogicalType) -> str:
    """The Spark type `from_json` reads a type as: dates and times as texts, all else as it is."""
    match t.root:
        case Root.ROW:
            return f"STRUCT<{', '.join(f'{quote(f.name)}: {json_type(f.type)}' for f in t.fields)}>"
        case Root.ARRAY:
            return f"ARRAY<{json_type(t.element)}>"
        case Root.MAP | Root.MULTISET:
            return f"MAP<STRING, {json_type(_values(t))}>"
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


def _values(t: LogicalType) -> LogicalType:
    return LogicalType(Root.INT) if t.root is Root.MULTISET else t.element


def _has_times(t: LogicalType) -> bool:
    return t.root in TIME_ROOTS or any(map(_has_times, (*t.children, *(f.type for f in t.fields))))


def _key(name: str) -> str:
    """A step of a VARIANT path."""
    mark = '"' if "'" in name else "'"
    return f"[{mark}{name}{mark}]"
