"""Aggregate functions: which there are, what they return, and the accumulators they keep.

Result types are Flink's. How accumulators are computed stands in `execnodes.kernels.aggregates`; the names and types
here are those of the state and of what a local aggregate sends to a global one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from execnodes.core.errors import Position, SqlError
from execnodes.core.expressions import AggregateCall
from execnodes.core.types import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    INTEGERS,
    NESTED,
    NUMERICS,
    STRING,
    TEXTS,
    Field,
    LogicalType,
    Root,
    array,
    decimal,
    multiset,
    varchar,
)

RECORD_COUNT = "record_count"
"""How many rows a group has now (insertions less retractions); only over inputs that retract."""
SEPARATOR = "separator"
"""Key in `AggregateCall.options` of the text between the values of a LISTAGG."""
PERCENTAGE = "percentage"
"""Key in `AggregateCall.options` of what PERCENTILE asks for, as JSON: a number from 0 to 1, or a list of such."""
MAX_DECIMAL = 38
_ALIASES = {
    "STDDEV": "STDDEV_SAMP",
    "VARIANCE": "VAR_SAMP",
    "JSON_OBJECTAGG": "JSON_OBJECTAGG_NULL_ON_NULL",
    "JSON_ARRAYAGG": "JSON_ARRAYAGG_ABSENT_ON_NULL",
}
_VARIANCES = ("VAR_POP", "VAR_SAMP", "STDDEV_POP", "STDDEV_SAMP")


@dataclass(frozen=True, slots=True)
class AggregateFunction:
    """What is known of a function before any row is seen."""

    name: str
    result: Callable[[LogicalType], LogicalType]
    """Result type from the (first) argument's; its nullability is decided by `nullable`."""
    takes: Callable[[LogicalType], bool] = lambda t: True
    least: int = 1
    most: int = 1
    """Fewest and most arguments."""
    nullable: bool | None = None
    """Of the result; None: as the argument, and nullable where a group may have no value."""
    mergeable: bool = True
    """Partial results can be made before the exchange."""
    order_dependent: bool = False
    """The order of rows decides the result."""
    can_fail: bool = False
    """Some values fail the job."""


def _numeric(t: LogicalType) -> bool:
    return t.root in NUMERICS


def _comparable(t: LogicalType) -> bool:
    return t.root not in NESTED


def _text(t: LogicalType) -> bool:
    return t.root in TEXTS


def _sum_type(t: LogicalType) -> LogicalType:
    return decimal(MAX_DECIMAL, t.scale) if t.root is Root.DECIMAL else t


def _average_type(t: LogicalType) -> LogicalType:
    return decimal(MAX_DECIMAL, max(t.scale, 6)) if t.root is Root.DECIMAL else t


def _same(t: LogicalType) -> LogicalType:
    return t


def _functions() -> Iterable[AggregateFunction]:
    yield AggregateFunction("COUNT", lambda t: BIGINT, least=0, nullable=False)
    yield AggregateFunction("SUM", _sum_type, _numeric)
    yield AggregateFunction("$SUM0", _sum_type, _numeric, nullable=False)
    yield AggregateFunction("AVG", _average_type, _numeric)
    for name in ("MIN", "MAX"):
        yield AggregateFunction(name, _same, _comparable)
    for name in _VARIANCES:
        nullable = True if name.endswith("SAMP") else None
        yield AggregateFunction(name, _average_type, _numeric, nullable=nullable)
    for name in ("FIRST_VALUE", "LAST_VALUE"):
        yield AggregateFunction(name, _same, mergeable=False, order_dependent=True)
    yield AggregateFunction("LISTAGG", lambda t: STRING, _text, most=2, mergeable=False, order_dependent=True)
    yield AggregateFunction("ARRAY_AGG", array, nullable=True, mergeable=False, order_dependent=True)
    yield AggregateFunction("COLLECT", multiset, nullable=False, mergeable=False)
    yield AggregateFunction("PERCENTILE", lambda t: DOUBLE, _numeric, nullable=True, mergeable=False)
    yield AggregateFunction("PERCENTILE_ARRAY", lambda t: array(DOUBLE), _numeric, nullable=True, mergeable=False)
    json = varchar(2000)
    for nulls in ("NULL_ON_NULL", "ABSENT_ON_NULL"):
        yield AggregateFunction(
            f"JSON_OBJECTAGG_{nulls}", lambda t: json, _text, 2, 2, False, False, order_dependent=True, can_fail=True
        )
        yield AggregateFunction(
            f"JSON_ARRAYAGG_{nulls}", lambda t: json, _text, 1, 1, False, mergeable=False, order_dependent=True
        )


FUNCTIONS = {function.name: function for function in _functions()}
WINDOW_FUNCTIONS = frozenset({"ROW_NUMBER", "RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST", "LAG"})
"""Functions that are only there with OVER."""


def is_aggregate(name: str) -> bool:
    """True for the SQL name of an aggregate function, in any case."""
    return _ALIASES.get(name.upper(), name.upper()) in FUNCTIONS


def function_of(internal_name: str) -> AggregateFunction:
    """The function of ``$SUM$1``."""
    return FUNCTIONS[internal_name[1:].rpartition("$")[0]]


def mergeable(internal_name: str) -> bool:
    """Whether partial results can be made before the exchange (by the function alone; see `all_mergeable`)."""
    return function_of(internal_name).mergeable


def order_dependent(internal_name: str) -> bool:
    """Whether the order of rows decides the result."""
    return function_of(internal_name).order_dependent


def can_fail(internal_name: str) -> bool:
    """Whether some values fail the job."""
    return function_of(internal_name).can_fail


def all_mergeable(calls: Sequence[AggregateCall], need_retraction: bool) -> bool:
    """Whether these calls can be split into a local and a global aggregate."""
    unfit = ("MIN", "MAX", *_VARIANCES) if need_retraction else ()
    return all(
        not call.distinct and mergeable(call.internal_name) and function_of(call.internal_name).name not in unfit
        for call in calls
    )


def resolve(
    name: str,
    arg_types: tuple[LogicalType, ...],
    *,
    distinct: bool = False,
    position: Position | None = None,
    grouped: bool = True,
    filtered: bool = False,
) -> tuple[str, LogicalType]:
    """Internal name and result type of a call; SqlError if the function does not take such arguments.

    `grouped` is False for an aggregate without keys, `filtered` True with a FILTER: then a result can be NULL although
    its argument cannot. LISTAGG may be given its separator's type; JSON functions are given JSON texts (JSON_STRING).
    """
    key = _ALIASES.get(name.upper(), name.upper())
    function = FUNCTIONS.get(key)
    if function is None:
        raise SqlError(f"{name} is not an aggregate function", position=position)
    if not function.least <= len(arg_types) <= function.most:
        counts = str(function.least) if function.least == function.most else f"{function.least} to {function.most}"
        hint = "Count a ROW of the columns instead." if key == "COUNT" else None
        raise SqlError(f"{name} takes {counts} arguments, not {len(arg_types)}", position=position, hint=hint)
    if distinct and (not arg_types or key.startswith("JSON")):
        raise SqlError(f"{name}(DISTINCT) is not supported", position=position)
    first = arg_types[0].regular() if arg_types and key not in ("MIN", "MAX") else (*arg_types, BIGINT)[0]
    if arg_types and not function.takes(first):
        raise SqlError(f"{name} does not take {first}", position=position, hint="CAST the argument.")
    nullable = function.nullable
    if nullable is None:
        nullable = first.nullable or not grouped or filtered
    return f"${key}$1", function.result(first).with_nullable(nullable)


def accumulators(call: AggregateCall, arg: LogicalType | None, need_retraction: bool) -> tuple[Field, ...]:
    """What one call keeps for a group: columns named after the call, e.g. ``total$sum`` and ``total$count``.

    Sums are NULL before the first value (and after a DECIMAL overflow); with `need_retraction` a count tells.
    """
    function = function_of(call.internal_name).name
    count = ("count", BIGINT)
    parts: tuple[tuple[str, LogicalType], ...]
    if function == "COUNT":
        parts = (count,)
    elif function == "AVG":
        parts = (("sum", _sum_accumulator(arg or BIGINT, DOUBLE)), count)
    elif function in ("SUM", "$SUM0"):
        parts = (("sum", _sum_accumulator(arg or BIGINT, arg or BIGINT)), *((count,) if need_retraction else ()))
    elif function in _VARIANCES:
        parts = (count, ("mean", DOUBLE), ("m2", DOUBLE))
    else:
        parts = (
            (_RESULT_PARTS.get(function, function.split("_")[0].lower()), call.type.with_nullable(True).regular()),
        )
    return tuple(Field(f"{call.name}${part}", t) for part, t in parts)


_RESULT_PARTS = {"LISTAGG": "list", "COLLECT": "multiset"}


def _sum_accumulator(arg: LogicalType, floating: LogicalType) -> LogicalType:
    if arg.root is Root.DECIMAL:
        return decimal(MAX_DECIMAL, arg.scale)
    return BIGINT if arg.root in INTEGERS else floating.with_nullable(True).regular()


def accumulator_columns(
    calls: Sequence[AggregateCall], input_row_type: LogicalType, need_retraction: bool
) -> tuple[Field, ...]:
    """What a local aggregate sends behind its keys, and the state of a (global) group aggregate behind its keys."""
    record_count = (Field(RECORD_COUNT, BIGINT.not_null()),) if need_retraction else ()
    per_call = (accumulators(call, argument(call, input_row_type), need_retraction) for call in calls)
    return (*record_count, *(field for fields in per_call for field in fields))


def argument(call: AggregateCall, input_row_type: LogicalType) -> LogicalType | None:
    """Type of the (first) argument; None for COUNT(*)."""
    return input_row_type.fields[call.arg_list[0]].type if call.arg_list else None


def problem(
    grouping: Sequence[int], calls: Sequence[AggregateCall], input_row_type: LogicalType, need_retraction: bool
) -> str | None:
    """What does not fit between calls, keys and the input they read; None if all does."""
    width = len(input_row_type.fields)
    for index in grouping:
        if not 0 <= index < width:
            return f"key column {index} is not among the {width} input columns"
    names = [field.name for field in accumulator_columns((), input_row_type, need_retraction)]
    for call in calls:
        known = call.internal_name.startswith("$") and call.internal_name[1:].rpartition("$")[0] in FUNCTIONS
        if not known or not call.internal_name.endswith("$1"):
            return f"unknown aggregate function {call.internal_name}"
        if any(not 0 <= index < width for index in call.arg_list) or not -1 <= call.filter_arg < width:
            return f"{call.name}: {call.internal_name} reads a column that is not among the {width} input columns"
        if call.filter_arg >= 0 and input_row_type.fields[call.filter_arg].type.root is not BOOLEAN.root:
            return f"{call.name}: the FILTER column {call.filter_arg} is no BOOLEAN"
        if call.distinct and not call.arg_list:
            return f"{call.name}: DISTINCT without a column"
        names += [field.name for field in accumulators(call, argument(call, input_row_type), need_retraction)]
    double = {name for name in names if names.count(name) > 1}
    return (
        f"accumulators occur twice: {', '.join(sorted(double))}; give the results different names" if double else None
    )
