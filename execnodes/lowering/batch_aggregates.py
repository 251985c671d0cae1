"""Aggregate calls as Spark SQL, with Flink's types and rounding: integers wrap, averages of integers are cut."""

from __future__ import annotations

import json
from collections.abc import Callable

from execnodes.core.aggregates import PERCENTAGE, SEPARATOR, function_of, order_dependent
from execnodes.core.expressions import AggregateCall
from execnodes.core.types import INTEGERS, LogicalType, Root
from execnodes.lowering.batch import ARRIVAL
from execnodes.lowering.raising import raised
from execnodes.lowering.spark_sql import spark_type, text_literal


def needs_order(call: AggregateCall) -> bool:
    """Whether the call reads the column `ARRIVAL`."""
    return order_dependent(call.internal_name)


def spark_text(call: AggregateCall, arg: LogicalType | None, window: str | None = None) -> str:
    """Spark SQL of a call over columns c0, c1, …; `arg` is the type of its first argument, None for COUNT(*).

    With `window`, the text behind OVER, it is computed for each row.
    """
    function = function_of(call.internal_name).name
    made = _TEXTS[function](_Call(call, arg, function, window))
    return f"CAST({made} AS {spark_type(call.type)})"


class _Call:
    """Parts of one call's text."""

    def __init__(self, call: AggregateCall, arg: LogicalType | None, function: str, window: str | None) -> None:
        self.window = f" OVER ({window})" if window is not None else ""
        self.call = call
        self.arg = arg
        self.function = function
        self.value = f"c{call.arg_list[0]}" if call.arg_list else "1"

    def over(self, function: str, value: str | None = None, *, distinct: bool | None = None, where: str = "") -> str:
        """``sum(DISTINCT c1) FILTER (WHERE c2)``; `where` narrows the rows further."""
        only = self.call.distinct if distinct is None else distinct
        parts = [part for part in (f"c{self.call.filter_arg}" if self.call.filter_arg >= 0 else "", where) if part]
        filtered = f" FILTER (WHERE {' AND '.join(parts)})" if parts else ""
        return f"{function}({'DISTINCT ' if only else ''}{value or self.value}){filtered}{self.window}"

    def in_order(self, members: str, where: str = "") -> str:
        """Array of structs of `members`, a list of named values, in the order in which the rows came."""
        struct = f"named_struct('at', {ARRIVAL}, {members})"
        return f"array_sort({self.over('collect_list', struct, distinct=False, where=where)})"

    def values(self, *, nulls: bool) -> str:
        """Array of the values in order; of equal ones the first with DISTINCT."""
        where = "" if nulls else f"{self.value} IS NOT NULL"
        member = f"'v', {self.value}"
        found = f"transform({self.in_order(member, where)}, e -> e.v)"
        return f"array_distinct({found})" if self.call.distinct else found


def _sum(call: _Call) -> str:
    return call.over("sum")


def _sum_or_zero(call: _Call) -> str:
    return f"coalesce({call.over('sum')}, 0)"


def _average(call: _Call) -> str:
    if call.arg is not None and call.arg.root is Root.DECIMAL:
        # Spark's own average of a DECIMAL has other digits; this quotient has Flink's type.
        total = f"CAST({call.over('sum')} AS DECIMAL(38, {call.arg.scale}))"
        return f"{total} / CAST({call.over('count')} AS DECIMAL(20, 0))"
    if call.call.type.root in INTEGERS:
        return f"{call.over('sum')} DIV {call.over('count')}"
    return call.over("avg")


def _variance(call: _Call) -> str:
    return call.over(call.function.lower(), f"CAST({call.value} AS DOUBLE)")


def _picked(call: _Call) -> str:
    pick = "min_by" if call.function == "FIRST_VALUE" else "max_by"
    return call.over(pick, f"{call.value}, {ARRIVAL}", distinct=False, where=f"{call.value} IS NOT NULL")


def _listed(call: _Call) -> str:
    separator = text_literal(str(call.call.options.get(SEPARATOR, ",")))
    return f"array_join({_unless_empty(call.values(nulls=False))}, {separator})"


def _array(call: _Call) -> str:
    return _unless_empty(call.values(nulls=True))


def _unless_empty(array: str) -> str:
    return f"CASE WHEN size({array}) > 0 THEN {array} END"


def _multiset(call: _Call) -> str:
    found = call.over("collect_list", distinct=False)
    if call.call.distinct:
        return f"map_from_entries(transform(array_distinct({found}), v -> struct(v, 1)))"
    # The list is named once: it is the only member of an array.
    counted = "transform(array_distinct(l), v -> struct(v, size(filter(l, w -> w = v))))"
    return f"map_from_entries(transform(array({found}), l -> {counted})[0])"


def _json_object(call: _Call) -> str:
    value = f"c{call.call.arg_list[1]}"
    where = "" if call.function.endswith("NULL_ON_NULL") else f"{value} IS NOT NULL"
    missing = raised("a key of JSON_OBJECTAGG is NULL", call.call.place)
    members = f"'k', coalesce({call.value}, {missing}), 'v', {value}"
    pairs = f"transform({call.in_order(members, where)}, e -> struct(e.k, e.v))"
    # Of equal keys in a map the last one counts, as the session is set.
    entries = f"array_sort(map_entries(map_from_entries({pairs})))"
    named = "to_json(named_struct('v', e.key))"
    key = f"substring({named}, 6, length({named}) - 6)"
    texts = f"transform({entries}, e -> concat({key}, ':', coalesce(e.value, 'null')))"
    return f"concat('{{', array_join({texts}, ','), '}}')"


def _json_array(call: _Call) -> str:
    nulls = call.function.endswith("NULL_ON_NULL")
    texts = f"transform({call.values(nulls=nulls)}, v -> coalesce(v, 'null'))"
    return f"concat('[', array_join({texts}, ','), ']')"


def _percentile(call: _Call) -> str:
    told = json.loads(str(call.call.options[PERCENTAGE]))
    shares = f"array({', '.join(f'{each}D' for each in told)})" if isinstance(told, list) else f"{told}D"
    return call.over("percentile", f"CAST({call.value} AS DOUBLE), {shares}")


_TEXTS: dict[str, Callable[[_Call], str]] = {
    "COUNT": lambda call: call.over("count"),
    "SUM": _sum,
    "$SUM0": _sum_or_zero,
    "AVG": _average,
    "MIN": lambda call: call.over("min"),
    "MAX": lambda call: call.over("max"),
    "VAR_POP": _variance,
    "VAR_SAMP": _variance,
    "STDDEV_POP": _variance,
    "STDDEV_SAMP": _variance,
    "FIRST_VALUE": _picked,
    "LAST_VALUE": _picked,
    "LISTAGG": _listed,
    "ARRAY_AGG": _array,
    "COLLECT": _multiset,
    "PERCENTILE": _percentile,
    "PERCENTILE_ARRAY": _percentile,
    "JSON_OBJECTAGG_NULL_ON_NULL": _json_object,
    "JSON_OBJECTAGG_ABSENT_ON_NULL": _json_object,
    "JSON_ARRAYAGG_NULL_ON_NULL": _json_array,
    "JSON_ARRAYAGG_ABSENT_ON_NULL": _json_array,
}
