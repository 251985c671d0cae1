"""Aggregate functions of the user in batch: Spark lists the arguments of rows, a scalar function folds the lists."""

from __future__ import annotations

from execnodes.core.expressions import AggregateCall, Call, InputRef
from execnodes.core.types import BIGINT, BOOLEAN, INT, LogicalType, array


def group_text(call: AggregateCall) -> str:
    """Spark SQL of the list of a group's arguments, in the order in which rows came."""
    from execnodes.aggregates.spark_call import SparkCall

    cells = ", ".join(f"'a{at}', c{each}" for at, each in enumerate(call.arg_list)) or "'a', 1"
    return SparkCall(call, None, "", None).in_order(cells)


def list_texts(call: AggregateCall, group: str) -> list[str]:
    """What `group_call` reads of such a list: its length, whether equal rows count once, and a list an argument."""
    return [f"size({group})", _once(call), *(f"{group}.a{at}" for at in range(len(call.arg_list)))]


def group_call(call: AggregateCall, input: LogicalType) -> Call:
    """The call of the function that folds a group, over `list_texts`."""
    return _folding(call, input, (INT, BOOLEAN), call.type)


def frames_texts(call: AggregateCall, partition: str) -> list[str]:
    """What `frames_call` reads of a list of rows that have frames from `begin` to before `end`, beside c0, c1, …."""
    return [f"{partition}.begin", f"{partition}.end", _once(call), *(f"{partition}.c{at}" for at in call.arg_list)]


def frames_call(call: AggregateCall, input: LogicalType) -> Call:
    """The call of the function that folds each frame of a partition, over `frames_texts`; gives a list of results."""
    return _folding(call, input, (array(BIGINT), array(BIGINT), BOOLEAN), array(call.type))


def _once(call: AggregateCall) -> str:
    return "TRUE" if call.distinct else "FALSE"


def _folding(call: AggregateCall, input: LogicalType, before: tuple[LogicalType, ...], type: LogicalType) -> Call:
    types = [*before, *(array(input.fields[each].type.regular()) for each in call.arg_list)]
    made = Call(
        system_name=call.system_name,
        catalog_name=call.catalog_name,
        class_name=call.class_name,
        operands=tuple(InputRef(input_index=at, type=t) for at, t in enumerate(types)),
        type=type,
    )
    return made if call.place is None else made.put(call.place)
