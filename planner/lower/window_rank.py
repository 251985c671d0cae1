"""Lowers Top-N and deduplication within windows."""

from __future__ import annotations

from execnodes.core.errors import SqlError
from execnodes.core.node import ExecNode, StateMetadata
from execnodes.core.rank_spec import PartitionSpec, RankRange
from execnodes.core.windowing import Windowing
from planner.algebra import Rank
from planner.lower.context import NEW, Context
from planner.lower.describe import described, grouped, listed, names_of
from planner.lower.ordering import shown, sort_spec
from planner.lower.window import shown_window, window_spec


def lower_window_rank(node: Rank, bounds: tuple[int, int], context: Context) -> ExecNode:
    """A Top-N of the windows whose start and end stand in the columns `bounds`."""
    from execnodes.stream.window_rank import WindowRank

    below = context.lower(node.input, True)
    if not below.changelog_mode.insert_only:
        raise SqlError(
            "ROW_NUMBER within windows is not supported over rows that are updated",
            position=node.position,
            hint="Rank rows before they are aggregated without a window, or leave window_start out of PARTITION BY.",
        )
    if node.end is None:
        raise SqlError(
            "within windows, how many rows are kept must be a constant",
            position=node.position,
            hint="Compare the row number with a number.",
        )
    about = node.input.window_columns[bounds[1]]
    windowing = Windowing(
        strategy="WindowAttached",
        window=window_spec(about.window),
        time_attribute_type=about.time_type,
        window_start=bounds[0],
        window_end=bounds[1],
    )
    partition = tuple(each for each in node.partition if each not in bounds)
    if node.single and node.end == 1 and len(node.order) == 1 and node.order[0].index in node.input.event_times:
        return _deduplicate(node, partition, windowing, below, context)
    names = names_of(below.output_type)
    return context.add(
        WindowRank(
            id=NEW,
            output_type=node.type,
            description=described(
                "WindowRank",
                ("window", f"[{shown_window(windowing, below)}]"),
                ("rankType", f"[{node.function}]"),
                ("rankRange", f"[rankStart={node.start}, rankEnd={node.end}]"),
                ("partitionBy", grouped(partition, names) or "[]"),
                ("orderBy", shown(node.order, names)),
                ("select", listed(names_of(node.type))),
            ),
            partition_spec=PartitionSpec(fields=partition),
            sort_spec=sort_spec(node.order),
            rank_range=RankRange(type="Constant", start=node.start, end=node.end),
            output_row_number=node.numbered,
            windowing=windowing,
            state=(StateMetadata(index=0, name="windowRankState"),),
        ).put(node.place),
        [context.exchange(below, partition)],
    )


def _deduplicate(
    node: Rank, partition: tuple[int, ...], windowing: Windowing, below: ExecNode, context: Context
) -> ExecNode:
    from execnodes.stream.window_deduplicate import WindowDeduplicate

    names, (time,) = names_of(below.output_type), node.order
    return context.add(
        WindowDeduplicate(
            id=NEW,
            output_type=node.type,
            description=described(
                "WindowDeduplicate",
                ("window", f"[{shown_window(windowing, below)}]"),
                ("keep", "[FirstRow]" if time.ascending else "[LastRow]"),
                ("partitionKeys", grouped(partition, names) or "[]"),
                ("orderKey", f"[{names[time.index]}]"),
                ("order", "[ROWTIME]"),
            ),
            partition_keys=partition,
            order_key=time.index,
            keep_last_row=not time.ascending,
            windowing=windowing,
            state=(StateMetadata(index=0, name="windowDeduplicateState"),),
        ).put(node.place),
        [context.exchange(below, partition)],
    )
