"""Lowers what goes by an order: ORDER BY, LIMIT, Top-N, functions OVER a window of rows."""

from __future__ import annotations

from execnodes.core.errors import SqlError
from execnodes.core.expressions import AggregateCall, InputRef, digest
from execnodes.core.node import ExecNode
from planner.algebra import Over, OverCall, Rank, Sort
from planner.algebra.columns import uniquely_named
from planner.lower.batch.context import BatchContext, lower_batch_node
from planner.lower.context import NEW
from planner.lower.describe import described, grouped, listed, names_of
from planner.lower.ordering import shown, sort_spec


@lower_batch_node.register
def _(node: Sort, context: BatchContext) -> ExecNode:
    from execnodes.batch.limit import BatchLimit
    from execnodes.batch.sort import BatchSort
    from execnodes.batch.sort_limit import BatchSortLimit

    below = context.lower_batch(node.input)
    names = names_of(below.output_type)
    end = None if node.fetch is None else node.offset + node.fetch
    bounds = (("offset", f"[{node.offset}]" if node.offset else None), ("fetch", f"[{node.fetch}]" if end else None))
    if not node.order:
        return context.add(
            BatchLimit(
                id=NEW,
                output_type=node.type,
                description=described("Limit", *bounds),
                limit_start=node.offset,
                limit_end=end,
            ),
            [context.exchange(below, ())],
        )
    order = ("orderBy", shown(node.order, names))
    if end is not None:
        return context.add(
            BatchSortLimit(
                id=NEW,
                output_type=node.type,
                description=described("SortLimit", order, *bounds),
                sort_spec=sort_spec(node.order),
                limit_start=node.offset,
                limit_end=end,
            ),
            [context.exchange(below, ())],
        )
    ordered = context.add(
        BatchSort(
            id=NEW,
            output_type=node.type,
            description=described("Sort", order),
            sort_spec=sort_spec(node.order),
        ),
        [context.exchange(below, ())],
    )
    if not node.offset:
        return ordered
    description = described("Limit", *bounds)
    return context.add(
        BatchLimit(
            id=NEW,
            output_type=node.type,
            description=description,
            limit_start=node.offset,
            limit_end=None,
        ),
        [ordered],
    )


@lower_batch_node.register
def _(node: Rank, context: BatchContext) -> ExecNode:
    """Of two rows with one time a deduplication takes the later one for the newer one, a Top-N the first."""
    from execnodes.batch.rank import BatchRank

    below = context.lower_batch(node.input)
    names = names_of(below.output_type)
    assert node.end is not None, "an N of the rows is of streams"
    last = node.order[0]
    deduplicates = node.single and node.end == 1 and len(node.order) == 1
    newest = deduplicates and not last.ascending and node.type.fields[last.index].type.is_time_attribute
    return context.add(
        BatchRank(
            id=NEW,
            output_type=node.type,
            description=described(
                "Rank",
                ("rankType", f"[{node.function}]"),
                ("rankRange", f"[rankStart={node.start}, rankEnd={node.end}]"),
                ("partitionBy", grouped(node.partition, names)),
                ("orderBy", shown(node.order, names)),
            ),
            rank_type=node.function,
            partition_fields=node.partition,
            sort_spec=sort_spec(node.order),
            rank_start=node.start,
            rank_end=node.end,
            output_row_number=node.numbered,
            latest_first=newest,
        ),
        [context.exchange(below, node.partition, node.position)],
    )


@lower_batch_node.register
def _(node: Over, context: BatchContext) -> ExecNode:
    from execnodes.batch.over_aggregate import BatchOverAggregate
    from execnodes.batch.over_aggregate import OverCall as ExecOverCall
    from execnodes.batch.python_over_aggregate import BatchPythonOverAggregate

    users = [(call.user, call) for call in node.calls if call.user is not None]
    if any(call.options.get("distinct") and call.user is None for call in node.calls):
        raise SqlError(
            "DISTINCT with OVER is not supported",
            position=node.position,
            hint="Aggregate in a subquery with GROUP BY, and join it.",
        )
    below, output = context.lower_batch(node.input), uniquely_named(node.type)
    names = names_of(below.output_type)
    told = (
        ("partitionBy", grouped(node.partition, names)),
        ("orderBy", shown(node.order, names)),
        ("window", _frame(node)),
        ("select", listed(_shown(each, names) for each in node.calls)),
    )
    inputs = [context.exchange(below, node.partition, node.position)]
    if users:
        assert len(users) == len(node.calls), "functions of the user have a window of their own"
        fields = output.fields[len(names) :]
        return context.add(
            BatchPythonOverAggregate(
                id=NEW,
                output_type=output,
                description=described("PythonOverAggregate", *told),
                partition_fields=node.partition,
                sort_spec=sort_spec(node.order),
                is_rows=node.rows,
                preceding=node.preceding,
                following=node.following,
                agg_calls=tuple(_user_call(*each, field.name) for each, field in zip(users, fields, strict=True)),
            ),
            inputs,
        )
    return context.add(
        BatchOverAggregate(
            id=NEW,
            output_type=node.type,
            description=described("OverAggregate", *told),
            partition_fields=node.partition,
            sort_spec=sort_spec(node.order),
            is_rows=node.rows,
            preceding=node.preceding,
            following=node.following,
            calls=tuple(
                ExecOverCall(internal_name=each.internal_name, operands=each.args, type=each.type, options=each.options)
                for each in node.calls
            ),
        ),
        inputs,
    )


def _user_call(user: AggregateCall, call: OverCall, name: str) -> AggregateCall:
    columns = tuple(each.input_index for each in call.args if isinstance(each, InputRef))
    return user.model_copy(update={"name": name, "arg_list": columns})


def _frame(node: Over) -> str:
    """As EXPLAIN shows it."""
    unit = "rows" if node.rows else "ms" if node.by_time else ""

    def bound(offset: int | None, unbounded: str) -> str:
        if offset == 0:
            return "CURRENT ROW"
        if offset is None:
            return f"UNBOUNDED {unbounded}"
        return " ".join(filter(None, (str(abs(offset)), unit, "FOLLOWING" if offset > 0 else "PRECEDING")))

    start = bound(None if node.preceding is None else -node.preceding, "PRECEDING")
    return f"[{'ROWS' if node.rows else 'RANGE'} BETWEEN {start} AND {bound(node.following, 'FOLLOWING')}]"


def _shown(call: OverCall, names: tuple[str, ...]) -> str:
    distinct = "DISTINCT " if call.options.get("distinct") else ""
    return f"{call.name}({distinct}{', '.join(digest(each, names) for each in call.args)})"
