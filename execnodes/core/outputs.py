"""What nodes say of their output columns and calls, in the words that several of them use: see `ExecNode.outputs`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal as Tag

from execnodes.core.constants import constant
from execnodes.core.expressions import AggregateCall, Expression, InputRef, Literal, Value
from execnodes.core.over_spec import OverSpec
from execnodes.core.types import BIGINT, LogicalType, timestamp
from execnodes.core.windowing import NamedWindowProperty, SlicedWindowing, Windowing
from execnodes.core.words import counted

Outputs = Iterator[tuple[str, list[LogicalType]]]
"""What makes rows, as it is said in a message (``projection gives``), and the types of their columns."""
_WINDOW_BOUND = timestamp(3).not_null()


@dataclass(frozen=True, slots=True)
class Applied:
    """An aggregate or window function as a node applies it, to be compared with what the function itself says."""

    path: str
    """The property that holds it."""
    name: str
    """Its internal name; empty for a function of the user."""
    title: str
    operands: tuple[Expression, ...]
    type: LogicalType
    distinct: bool = False
    filtered: bool = False
    options: Mapping[str, Value] = field(default_factory=dict)
    rows: Tag["group", "all", "frame", "frame so far"] = "group"
    """What it is over: groups, all rows there are, frames of OVER, such that cannot look ahead."""


def applied(calls: Iterable[AggregateCall], row: LogicalType, *, grouped: bool) -> Iterator[Applied]:
    """Calls of GROUP BY over the columns of a row; `grouped`: there are keys or windows."""
    for at, call in enumerate(calls):
        operands = tuple(InputRef(input_index=each, type=row.fields[each].type) for each in call.arg_list)
        yield Applied(
            path=f"aggCalls[{at}]",
            name=call.internal_name,
            title=call.title,
            operands=operands,
            type=call.type,
            distinct=call.distinct,
            filtered=call.filter_arg >= 0,
            options=call.options,
            rows="group" if grouped else "all",
        )


def over_applied(spec: OverSpec, row: LogicalType) -> Iterator[Applied]:
    """Calls with OVER in a stream; nothing if the spec is about another row, which `check` says."""
    if spec.original_input_fields != len(row.fields):
        return
    for number, group in enumerate(spec.groups):
        for at, call in enumerate(group.agg_calls):
            yield Applied(
                path=f"overSpec.groups[{number}].aggCalls[{at}]",
                name=call.internal_name,
                title=call.title,
                operands=spec.operands(call, row),
                type=call.type,
                distinct=call.distinct,
                options=call.options,
                rows="frame so far",
            )


def types(row: LogicalType) -> list[LogicalType]:
    """Of its columns."""
    return [each.type for each in row.fields]


def projected(projection: Iterable[Expression]) -> Outputs:
    """Of expressions."""
    yield "projection gives", [each.type for each in projection]


def both_sides(kind: str, inputs: Sequence[LogicalType]) -> Outputs:
    """Of a join, whose sides may be absent."""
    left, right = (types(each) for each in inputs)
    absent = ({"RIGHT", "FULL"}, {"LEFT", "FULL"})
    both = [
        each.with_nullable(each.nullable or kind in may)
        for side, may in zip((left, right), absent, strict=True)
        for each in side
    ]
    yield f"its inputs, joined {kind}, give", left if kind in ("SEMI", "ANTI") else both


def expanded(projects: Iterable[Iterable[Expression]]) -> Outputs:
    """Of several lists of expressions."""
    for at, row in enumerate(projects):
        yield f"projects[{at}] gives", [each.type for each in row]


def grouped(
    input: LogicalType,
    grouping: Iterable[int],
    calls: Iterable[AggregateCall],
    windowing: Windowing | SlicedWindowing | None = None,
    properties: Iterable[NamedWindowProperty] = (),
) -> Outputs:
    """Of keys, results and, if there are windows, what is told of them."""
    keys = [input.fields[at].type for at in grouping]
    told = [] if windowing is None else [window_type(windowing, each.property) for each in properties]
    yield "its keys and results give", [*keys, *(each.type for each in calls), *told]


def widened(input: LogicalType, results: Iterable[LogicalType]) -> Outputs:
    """Of rows with results behind their columns."""
    yield "its input and results give", [*types(input), *results]


def numbered(input: LogicalType, number: bool) -> Outputs:
    """Of rows with, perhaps, their rank behind their columns."""
    yield "its input gives", [*types(input), *([BIGINT.not_null()] if number else [])]


def in_windows(input: LogicalType, windowing: Windowing) -> Outputs:
    """Of rows with the bounds and the time of their window behind their columns."""
    names = ("WindowStart", "WindowEnd", "WindowTime")
    yield "its input and the window give", [*types(input), *(window_type(windowing, each) for each in names)]


def window_type(windowing: Windowing | SlicedWindowing, property: str) -> LogicalType:
    """Of a column that tells something about the window; times of windows have milliseconds, whatever rows have."""
    if property != "WindowTime":
        return _WINDOW_BOUND
    return replace(windowing.time_attribute_type.not_null(), precision=3)


def rows_problem(rows: Sequence[Sequence[Literal]], type: LogicalType) -> str | None:
    """Why constant rows cannot be written with the types of these columns."""
    for at, row in enumerate(rows):
        if len(row) != len(type.fields):
            return f"tuples[{at}]: it has {counted(len(row), 'value')} for {counted(len(type.fields), 'column')}"
        for literal, column in zip(row, type.fields, strict=True):
            # A literal is of its own type, or it could not have been read.
            if not literal.type.same_values(column.type):
                try:
                    constant(literal.value, column.type)
                except ValueError as error:
                    return f"tuples[{at}]: column {column.name}: {error}"
            if literal.value is None and not column.type.nullable:
                return f"tuples[{at}]: column {column.name} is {column.type}, but a value is NULL"
    return None
