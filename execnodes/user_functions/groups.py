"""Aggregate functions of the user in batch: Spark lists the arguments of a group, a scalar function folds the lists."""

from __future__ import annotations

from execnodes.core.expressions import AggregateCall, Call, InputRef
from execnodes.core.types import INT, LogicalType, array


def group_text(call: AggregateCall) -> str:
    """Spark SQL of the list of a group's arguments, in the order in which rows came; of equal ones the first with
    DISTINCT.
    """
    from execnodes.aggregates.spark_call import SparkCall

    cells = ", ".join(f"'a{at}', c{each}" for at, each in enumerate(call.arg_list)) or "'a', 1"
    members = ", ".join(f"e.a{at} AS a{at}" for at in range(len(call.arg_list))) or "e.a AS a"
    found = f"transform({SparkCall(call, None, '', None).in_order(cells)}, e -> struct({members}))"
    return f"array_distinct({found})" if call.distinct else found


def list_texts(call: AggregateCall, group: str) -> list[str]:
    """What `group_call` reads of such a list: how many rows it has, and a list an argument."""
    return [f"size({group})", *(f"{group}.a{at}" for at in range(len(call.arg_list)))]


def group_call(call: AggregateCall, input: LogicalType) -> Call:
    """The call of the function that folds a group, over `list_texts`."""
    types = [INT, *(array(input.fields[each].type.regular()) for each in call.arg_list)]
    made = Call(
        system_name=call.system_name,
        catalog_name=call.catalog_name,
        class_name=call.class_name,
        operands=tuple(InputRef(input_index=at, type=t) for at, t in enumerate(types)),
        type=call.type,
    )
    return made if call.place is None else made.put(call.place)
