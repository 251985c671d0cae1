"""Lowers functions OVER a window of rows; what is refused is refused as Flink does."""

from __future__ import annotations

from typing import NoReturn

from execnodes.core.errors import SqlError
from execnodes.core.expressions import AggregateCall, Expression, InputRef, Literal, digest
from execnodes.core.node import ExecNode
from execnodes.core.over_spec import Bound, OverGroup, OverSpec, Partition
from execnodes.core.sort_spec import SortField, SortSpec
from execnodes.core.types import BIGINT
from planner.algebra import Over, OverCall
from planner.algebra.columns import uniquely_named
from planner.lower.context import NEW, Context, lower_node
from planner.lower.describe import described, grouped, listed, names_of

_BATCH_ONLY = ("PERCENT_RANK", "CUME_DIST")
"""Need all rows of a partition."""


@lower_node.register
def _(node: Over, context: Context, update_before: bool) -> ExecNode:
    from execnodes.stream.over_aggregate import OverAggregate

    _check(node)
    below = context.lower(node.input, True)
    if node.by_time and not below.changelog_mode.insert_only:
        _refuse(
            node,
            "OVER ordered by a time attribute needs rows that are only added, and its input is updated or deletes rows",
            "Compute it before the rows are aggregated, joined or deduplicated, or order by a column that is no time.",
        )
    output, width = uniquely_named(node.type), len(below.output_type.fields)
    names = names_of(below.output_type)
    constants: list[Literal] = []
    calls = tuple(
        _call(call, field.name, width, constants) for call, field in zip(node.calls, output.fields[width:], strict=True)
    )
    bound = Bound(kind="UNBOUNDED_PRECEDING")
    if node.preceding is not None:
        at = _constant(Literal(value=node.preceding, type=BIGINT.not_null()), width, constants)
        bound = Bound(kind="BOUNDED_WINDOW", offset=InputRef(input_index=at, type=BIGINT.not_null()))
    (key,) = node.order
    field = SortField(index=key.index, is_ascending=key.ascending, null_is_last=key.nulls_last)
    group = OverGroup(order_by=SortSpec(fields=(field,)), is_rows=node.rows, lower_bound=bound, agg_calls=calls)
    start = "UNBOUNDED" if node.preceding is None else str(node.preceding)
    select = (f"{_shown(call, names)} AS {field.name}" for call, field in
              zip(node.calls, output.fields[width:], strict=True))  # fmt: skip
    return context.add(
        OverAggregate(
            id=NEW,
            output_type=output,
            changelog_mode=node.mode(True),
            description=described(
                "OverAggregate",
                ("partitionBy", grouped(node.partition, names)),
                ("orderBy", f"[{names[key.index]} ASC]"),
                ("window", f"[{'ROWS' if node.rows else 'RANGE'} BETWEEN {start} PRECEDING AND CURRENT ROW]"),
                ("select", listed((*names, *select))),
            ),
            over_spec=OverSpec(
                partition=Partition(fields=node.partition),
                groups=(group,),
                constants=tuple(constants),
                original_input_fields=width,
            ),
            time_attribute="ROW_TIME" if node.by_event_time else "PROC_TIME" if node.by_time else "NON_TIME",
            state=(context.state("overAggregateState"),),
        ).put(node.place),
        [context.exchange(below, node.partition)],
    )


def _check(node: Over) -> None:
    for call in node.calls:
        if call.name in _BATCH_ONLY:
            _refuse(
                node, f"{call.name} Function is not supported in stream mode.",
                "It needs all rows of a partition. Batch mode has it: SET 'execution.runtime-mode' = 'batch'.",
            )  # fmt: skip
    if any(node.others()):
        _refuse(
            node,
            "All aggregates must be computed on the same window.",
            "Give each window a query of its own: SELECT *, f() OVER w1 FROM (SELECT *, g() OVER w2 AS g FROM t).",
        )
    if len(node.order) != 1:
        _refuse(node, "The window can only be ordered by a single column.", "Leave the other columns out.")
    if not node.order[0].ascending:
        hint = "Order ascending. Or keep the best rows only: wrap the query and filter its row number with <= N."
        _refuse(node, "The window can only be ordered in ASCENDING mode.", hint)
    if node.preceding is not None and not node.by_time:
        hint = "Order by the column the WATERMARK is declared for, before the rows are joined or aggregated."
        _refuse(node, "Non-time attribute sort is not supported for bounded OVER window.", hint)


def _call(call: OverCall, name: str, width: int, constants: list[Literal]) -> AggregateCall:
    arguments = tuple(_argument(each, width, constants) for each in call.args)
    if call.user is not None:
        return call.user.model_copy(update={"name": name, "arg_list": arguments})
    return AggregateCall(
        name=name,
        internal_name=call.internal_name,
        arg_list=arguments,
        distinct=bool(call.options.get("distinct")),
        type=call.type,
        options={key: value for key, value in call.options.items() if key != "distinct"},
    )


def _argument(argument: Expression, width: int, constants: list[Literal]) -> int:
    if isinstance(argument, InputRef):
        return argument.input_index
    assert isinstance(argument, Literal)
    return _constant(argument, width, constants)


def _constant(literal: Literal, width: int, constants: list[Literal]) -> int:
    """The index of a constant, which is added if it is new."""
    if literal not in constants:
        constants.append(literal)
    return width + constants.index(literal)


def _shown(call: OverCall, names: tuple[str, ...]) -> str:
    distinct = "DISTINCT " if call.options.get("distinct") else ""
    return f"{call.name}({distinct}{', '.join(digest(each, names) for each in call.args) or '*'})"


def _refuse(node: Over, what: str, hint: str) -> NoReturn:
    raise SqlError(what, position=node.position, hint=hint)
