"""Flink's conversions of JSON values, however they are written: ``"12"`` or ``1.9`` for an INT; as Spark SQL texts."""

from __future__ import annotations

from dataclasses import dataclass

from execnodes.core.types import BINARIES, TEXTS, LogicalType, Root
from rekindle.connectors.json_marks import OPTIONS, TORN, member, members, number_text, written
from rekindle.connectors.line_text import bad_value, string
from rekindle.connectors.scalar_text import is_decimal, scalar, trimmed


@dataclass(frozen=True, slots=True)
class JsonRules:
    """Texts that make values of *marked* texts (`json_marks`)."""

    iso: bool
    exact: bool
    """Whether a STRING has a number as it is written, and not as Java writes what it has read."""
    ignore_errors: bool
    option: str
    """Of the table: that by which errors are ignored."""

    def value(self, t: LogicalType, x: str, name: str, depth: int = 0) -> str:
        """The value of a marked text `x`, which is named often; NULL for NULL."""
        return f"CASE WHEN {x} IS NOT NULL THEN {self._of_some(t, x, name, depth)} END"

    def _of_some(self, t: LogicalType, x: str, name: str, depth: int) -> str:
        fails = bad_value(t, name, _shown(x), ignore=self.ignore_errors, option=self.option)
        v = f"v{depth}"
        match t.root:
            case Root.ROW:
                cells = (
                    f"{string(f.name)}, {self.value(f.type, f'{v}.{member(f.name)}', f'{name}.{f.name}', depth + 1)}"
                    for f in t.fields
                )
                parts = members(x, tuple(f.name for f in t.fields))
                made = f"transform(array({parts}), {v} -> named_struct({', '.join(cells)}))[0]"
                return f"CASE WHEN startswith({x}, '{{') THEN {made} ELSE {fails} END"
            case Root.ARRAY:
                items = f"from_json({x}, 'ARRAY<STRING>', {OPTIONS})"
                made = f"transform({items}, {v} -> {self.value(t.element, v, name, depth + 1)})"
                return f"CASE WHEN startswith({x}, '[') THEN {made} ELSE {fails} END"
            case Root.MAP | Root.MULTISET:
                made = self._map(values_of(t), x, name, depth)
                return f"CASE WHEN startswith({x}, '{{') AND NOT contains({x}, '{TORN}') THEN {made} ELSE {fails} END"
            case root if root in TEXTS:
                number = f"substr({x}, 2)" if self.exact else f"trim('\"' FROM {number_text(f'substr({x}, 2)')})"
                text = (
                    f"CASE substr({x}, 1, 1) WHEN 's' THEN substr({x}, 2) WHEN 'n' THEN {number} ELSE {written(x)} END"
                )
                half = bad_value(t, name, "'half a character'", ignore=self.ignore_errors, option=self.option)
                return f"CASE WHEN contains({x}, '{TORN}') THEN {half} ELSE {text} END"
            case root if root in BINARIES:
                made = scalar(t, f"substr({x}, 2)", self.iso)
                return f"coalesce(CASE WHEN startswith({x}, 's') THEN {made} END, {fails})"
            case Root.DECIMAL:
                # Too many digits are NULL, not a bad value.
                text = f"substr({x}, 2)"
                single = f"substr({x}, 1, 1) IN ('s', 'n') AND {is_decimal(v)}"
                checked = f"CASE WHEN {single} THEN {scalar(t, v, self.iso)} ELSE {fails} END"
                return f"transform(array({trimmed(text) if self.exact else text}), {v} -> {checked})[0]"
            case _:
                # A single value.
                made = f"coalesce({self._scalar(t, f'{x}', v)}, {fails})"
                return f"transform(array(substr({x}, 2)), {v} -> {made})[0]"

    def _scalar(self, t: LogicalType, x: str, v: str) -> str:
        """The value of the text `v` of a marked text `x`."""
        made = scalar(t, v, self.iso)
        match t.root:
            case Root.BOOLEAN:
                # Whatever else it is.
                return made
            case Root.INT | Root.BIGINT | Root.INTERVAL_DAY_TIME | Root.INTERVAL_YEAR_MONTH:
                fraction = f"startswith({x}, 'n') AND {v} RLIKE '[.eE]' AND {v} RLIKE '^-?[0-9]'"
                target = "BIGINT" if t.root in (Root.BIGINT, Root.INTERVAL_DAY_TIME) else "INT"
                made = f"CASE WHEN {fraction} THEN TRY_CAST(CAST({v} AS DOUBLE) AS {target}) ELSE {made} END"
            case _:
                # Texts and numbers alike.
                pass
        return f"CASE WHEN substr({x}, 1, 1) IN ('s', 'n') THEN {made} END"

    def _map(self, values: LogicalType, x: str, name: str, depth: int) -> str:
        """Of a key that is there twice the last value."""
        e, k, v = f"e{depth}", f"k{depth}", f"v{depth}"
        keys = f"array_distinct(transform({e}, {v} -> {v}.key))"
        last = f"element_at(filter({e}, {v} -> {v}.key = {k}), -1).value"
        single = f"transform({keys}, {k} -> named_struct('key', {k}, 'value', {last}))"
        twice = f"size({keys}) <> size({e})"
        entry = f"named_struct('k', substr({v}.key, 2), 'v', {self.value(values, f'{v}.value', name, depth + 1)})"
        made = f"map_from_entries(transform(CASE WHEN {twice} THEN {single} ELSE {e} END, {v} -> {entry}))"
        return f"transform(array(map_entries(from_json({x}, 'MAP<STRING, STRING>', {OPTIONS}))), {e} -> {made})[0]"


def values_of(t: LogicalType) -> LogicalType:
    """Of a MAP or MULTISET."""
    return LogicalType(Root.INT) if t.root is Root.MULTISET else t.element


def _shown(x: str) -> str:
    """A marked text for people."""
    return f"CASE WHEN substr({x}, 1, 1) IN ('s', 'n') THEN substr({x}, 2) ELSE {written(x)} END"
