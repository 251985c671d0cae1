"""JSON_OBJECTAGG and JSON_ARRAYAGG, NULL ON NULL or ABSENT ON NULL; values come as JSON texts (JSON_STRING)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execnodes.aggregates.function import AggregateFunction, result_alone, text
from execnodes.core.types import varchar

if TYPE_CHECKING:
    from execnodes.aggregates.spark_call import SparkCall

_TEXT = varchar(2000)
"""The type that Flink gives these texts."""


def _object(call: SparkCall) -> str:
    from execnodes.lowering.raising import raised

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


def _array(call: SparkCall) -> str:
    nulls = call.function.endswith("NULL_ON_NULL")
    texts = f"transform({call.values(nulls=nulls)}, v -> coalesce(v, 'null'))"
    return f"concat('[', array_join({texts}, ','), ']')"


def _object_function(nulls: str, *aliases: str) -> AggregateFunction:
    return AggregateFunction(
        name=f"JSON_OBJECTAGG_{nulls}",
        aliases=aliases,
        result=lambda t: _TEXT,
        takes=text,
        least=2,
        most=2,
        nullable=False,
        distinct=False,
        mergeable=False,
        order_dependent=True,
        can_fail=True,
        keeps=result_alone("json"),
        accumulator="collected:JsonObjectAgg",
        spark=_object,
    )


def _array_function(nulls: str, *aliases: str) -> AggregateFunction:
    return AggregateFunction(
        name=f"JSON_ARRAYAGG_{nulls}",
        aliases=aliases,
        result=lambda t: _TEXT,
        takes=text,
        nullable=False,
        distinct=False,
        mergeable=False,
        order_dependent=True,
        keeps=result_alone("json"),
        accumulator="arrival:JsonArrayAgg",
        spark=_array,
    )


OBJECTS = (_object_function("NULL_ON_NULL", "JSON_OBJECTAGG"), _object_function("ABSENT_ON_NULL"))
ARRAYS = (_array_function("NULL_ON_NULL"), _array_function("ABSENT_ON_NULL", "JSON_ARRAYAGG"))
