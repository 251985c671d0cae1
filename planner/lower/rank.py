"""Lowers Top-N, with LIMIT as one over all rows."""

from __future__ import annotations

from execnodes.core.errors import SqlError
from execnodes.core.node import ExecNode
from execnodes.core.rank_spec import PartitionSpec, RankRange, RankStrategy
from execnodes.core.types import LogicalType
from planner.algebra import Logical, Rank, Sort, SortKey
from planner.algebra.keys import smallest
from planner.algebra.relation import Trend
from planner.lower.context import NEW, Context, lower_node
from planner.lower.describe import described, grouped, listed, names_of
from planner.lower.ordering import shown, sort_spec
from planner.lower.window_rank import lower_window_rank

BATCH = "Batch mode has it: SET 'execution.runtime-mode' = 'batch'."


@lower_node.register
def _(node: Rank, context: Context, update_before: bool) -> ExecNode:
    from execnodes.stream.rank import Rank as ExecRank

    if node.function != "ROW_NUMBER":
        raise SqlError(
            f"a Top-N by {node.function} is not supported in streams",
            position=node.position,
            hint=f"Use ROW_NUMBER, which gives equal rows numbers of their own. {BATCH}",
        )
    if node.bounds is not None:
        return lower_window_rank(node, node.bounds, context)
    below, strategy = _input(node.input, node.partition, node.order, context)
    names = names_of(below.output_type)
    ranks = RankRange(type="Variable", end_index=node.end_index)
    if node.end is not None:
        ranks = RankRange(type="Constant", start=node.start, end=node.end)
    mode = node.mode(update_before)
    return context.add(
        ExecRank(
            id=NEW,
            output_type=node.type,
            changelog_mode=mode,
            description=described(
                "Rank",
                ("strategy", f"[{strategy}]"),
                ("rankType", f"[{node.function}]"),
                ("rankRange", f"[{ranks.text(names)}]"),
                ("partitionBy", grouped(node.partition, names) or "[]"),
                ("orderBy", shown(node.order, names)),
                ("select", listed(names_of(node.type))),
            ),
            partition=PartitionSpec(fields=node.partition),
            order_by=sort_spec(node.order),
            rank_range=ranks,
            rank_strategy=strategy,
            output_row_number=node.numbered,
            generate_update_before=mode.retract,
            state=(context.state("rankState"),),
        ),
        [context.exchange(below, node.partition)],
    )


def lower_limit(node: Sort, fetch: int, context: Context, update_before: bool) -> ExecNode:
    """The first rows in an order, or of those that come."""
    from execnodes.stream.limit import Limit
    from execnodes.stream.sort_limit import SortLimit

    below, strategy = _input(node.input, (), node.order, context)
    order = ("orderBy", shown(node.order, names_of(below.output_type))) if node.order else ("orderBy", None)
    mode, kind = node.mode(update_before), SortLimit if node.order else Limit
    return context.add(
        kind(
            id=NEW,
            output_type=node.type,
            changelog_mode=mode,
            description=described(
                kind.__name__,
                order,
                ("offset", f"[{node.offset}]"),
                ("fetch", f"[{fetch}]"),
                ("strategy", f"[{strategy}]"),
            ),
            order_by=sort_spec(node.order),
            rank_range=RankRange(type="Constant", start=node.offset + 1, end=node.offset + fetch),
            rank_strategy=strategy,
            generate_update_before=mode.retract,
            state=(context.state("rankState"),),
        ),
        [context.exchange(below, ())],
    )


def _input(
    node: Logical, partition: tuple[int, ...], order: tuple[SortKey, ...], context: Context
) -> tuple[ExecNode, RankStrategy]:
    strategy = choose_rank_strategy(node, partition, order)
    return context.lower(node, strategy.type != "UpdateFast"), strategy


def choose_rank_strategy(node: Logical, partition: tuple[int, ...], order: tuple[SortKey, ...]) -> RankStrategy:
    """The least state that will do for the changes of an input."""
    if node.kinds.insert_only:
        return RankStrategy(type="AppendFast")
    key = smallest(each for each in node.upsert_keys if each >= set(partition))
    trends, type = node.trends, node.type
    better = bool(order) and all(_gets_better(each, trends.get(each.index), type) for each in order)
    if key and better and node.can_omit_update_before:
        return RankStrategy(type="UpdateFast", primary_keys=key)
    return RankStrategy(type="Retract")


def _gets_better(key: SortKey, trend: Trend | None, type: LogicalType) -> bool:
    """Whether updates never move a row behind where it stands; a NULL that is first gets worse when a value comes."""
    nulls_stay = key.nulls_last or not type.fields[key.index].type.nullable
    better = Trend.FALLING if key.ascending else Trend.RISING
    return trend is Trend.CONSTANT or (trend is better and nulls_stay)
