"""LISTAGG, ARRAY_AGG and COLLECT: all values of a group in one, in order of arrival or as a multiset."""

from __future__ import annotations

from typing import TYPE_CHECKING

from execnodes.aggregates.function import AggregateFunction, result_alone, text, without_maps
from execnodes.core.types import STRING, array, multiset

if TYPE_CHECKING:
    from execnodes.aggregates.spark_call import SparkCall

SEPARATOR = "separator"
"""Key in `AggregateCall.options` of the text between the values of a LISTAGG."""


def _listed(call: SparkCall) -> str:
    from execnodes.aggregates.spark_call import unless_empty
    from execnodes.lowering.spark_sql import text_literal

    separator = text_literal(str(call.call.options.get(SEPARATOR, ",")))
    return f"array_join({unless_empty(call.values(nulls=False))}, {separator})"


def _array(call: SparkCall) -> str:
    from execnodes.aggregates.spark_call import unless_empty

    return unless_empty(call.values(nulls=True))


def _multiset(call: SparkCall) -> str:
    found = call.over("collect_list", distinct=False)
    if call.call.distinct:
        return f"map_from_entries(transform(array_distinct({found}), v -> struct(v, 1)))"
    # The list is named once: it is the only member of an array.
    counted = "transform(array_distinct(l), v -> struct(v, size(filter(l, w -> w = v))))"
    return f"map_from_entries(transform(array({found}), l -> {counted})[0])"


LISTAGG = AggregateFunction(
    name="LISTAGG",
    result=lambda t: STRING,
    takes=text,
    most=2,
    mergeable=False,
    order_dependent=True,
    keeps=result_alone("list"),
    accumulator="arrival:ListAgg",
    spark=_listed,
)
ARRAY_AGG = AggregateFunction(
    name="ARRAY_AGG",
    result=array,
    nullable=True,
    mergeable=False,
    order_dependent=True,
    keeps=result_alone("array"),
    accumulator="arrival:ArrayAgg",
    spark=_array,
)
COLLECT = AggregateFunction(
    name="COLLECT",
    result=multiset,
    takes=without_maps,
    nullable=False,
    mergeable=False,
    keeps=result_alone("multiset"),
    accumulator="collected:Collect",
    spark=_multiset,
)
