"""Lowers MATCH_RECOGNIZE."""

from __future__ import annotations

from execnodes.core.errors import SqlError
from execnodes.core.expressions import digest
from execnodes.core.match_spec import RowReference
from execnodes.core.node import ExecNode, StateMetadata
from planner.algebra import Match, SortKey
from planner.algebra.lost_times import explain_lost_time
from planner.lower.context import NEW, Context, lower_node
from planner.lower.describe import described, grouped, listed, names_of
from planner.lower.ordering import shown

_HINT = "Match rows that only come, and join or aggregate the matches."


@lower_node.register
def _(node: Match, context: Context, update_before: bool) -> ExecNode:
    from execnodes.stream.match import Match as ExecMatch

    spec = node.spec
    first = spec.order_by.fields[0].index
    if first not in node.input.event_times:
        raise SqlError(
            "You must specify either rowtime or proctime for order by as the first one.",
            position=node.position,
            hint=f"{explain_lost_time(node.input, first)}Order by the column of the WATERMARK first, and use it before "
            "it is cast, joined or aggregated.",
        )
    if not node.input.kinds.insert_only:
        raise SqlError(
            "Match Recognize doesn't support consuming update and delete changes", position=node.position, hint=_HINT
        )
    below = context.lower(node.input, True)
    names = names_of(below.output_type)
    order = tuple(SortKey(each.index, each.is_ascending, each.null_is_last) for each in spec.order_by.fields)
    references = tuple(_shown(each, names) for each in spec.references)
    keys = len(spec.partition)
    measures = (
        f"FINAL({_shown(each, names)}) AS {field.name}"
        for each, field in zip(spec.measures, node.type.fields[keys:], strict=True)
    )
    definitions = (f"{each.variable}={digest(each.condition, references)}" for each in spec.definitions)
    return context.add(
        ExecMatch(
            id=NEW,
            output_type=node.type,
            description=described(
                "Match",
                ("partitionBy", grouped(spec.partition, names)),
                ("orderBy", shown(order, names)),
                ("measures", listed(measures)),
                ("rowsPerMatch", "[ONE ROW PER MATCH]"),
                ("after", f"[{spec.after}]"),
                ("pattern", f"[({' '.join(map(str, spec.pattern))})]"),
                ("within", None if spec.within is None else f"[{spec.within} ms]"),
                ("define", f"[{{{', '.join(definitions)}}}]"),
            ),
            match_spec=spec,
            state=(StateMetadata(index=0, name="matchState"),),
        ).put(node.place),
        [context.exchange(below, spec.partition)],
    )


def _shown(reference: RowReference, names: tuple[str, ...]) -> str:
    """``LAST(A.px, 0)``, ``SUM(A.px)``."""
    arguments = ", ".join(f"{reference.variable}.{names[each]}" for each in reference.arg_list) or "*"
    if reference.is_aggregate:
        return f"{reference.title}({arguments})"
    return f"{reference.function}({arguments}, {reference.offset})"
