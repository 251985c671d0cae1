"""A join with versions as of an event time asks for a key of them, so that a row finds one at most."""

from __future__ import annotations

from execnodes.core.errors import SqlError
from planner.algebra import Filter, Join, Logical, Project, WatermarkAssigner
from planner.algebra.join import join_keys
from planner.algebra.tree import Sinks, rewrite
from planner.algebra.versions import find_versions


def reject_temporal_joins(sinks: Sinks) -> Sinks:
    """SqlError for each whose rows or versions have no event time, whose versions have no key or are filtered, or whose
    condition has no equalities with all of a key, as in Flink.
    """
    return rewrite(sinks, _reject)


def _reject(node: Logical) -> Logical:
    if isinstance(node, Join) and node.as_of is not None:
        problem = _find_problem(node, node.as_of)
        if problem is not None:
            message, hint = problem
            raise SqlError(f"a temporal join by event time {message}", position=node.position, hint=hint)
    return node


def _find_problem(node: Join, as_of: tuple[int, int]) -> tuple[str, str] | None:
    """What is wrong with it, and what to write instead."""
    for side, at, name in ((node.left, as_of[0], "left"), (node.right, as_of[1], "right")):
        if at not in side.event_times:
            column = side.type.fields[at].name
            return (
                f"requires an event time on its {name} side, and {column} is a plain value there: it is behind an "
                "operator that does not keep event times",
                "Join as of that time before the rows are joined or aggregated.",
            )
    if _is_filtered(node.right):
        return (
            "requires versions that are not filtered: of a row that is left out, the version before it would go on",
            "Put the condition into ON or WHERE of the join; there it is asked of the version that a row finds.",
        )
    keys = sorted(sorted(node.right.type.fields[at].name for at in key) for key in node.right.upsert_keys if key)
    if not keys:
        return (
            "requires a key of the versions, and the right side has none",
            "Declare a PRIMARY KEY NOT ENFORCED, or join a view of the newest row of each key: SELECT … FROM "
            "(SELECT *, ROW_NUMBER() OVER (PARTITION BY key ORDER BY time DESC) AS n FROM t) WHERE n = 1.",
        )
    asked = {right for _, right, _ in join_keys(node)[0]}
    if not any(key and key <= asked for key in node.right.upsert_keys):
        return (
            f"requires equalities with a whole key of the versions: {', '.join(keys[0])}",
            f"Add {' AND '.join(f'left.{each} = right.{each}' for each in keys[0])} to the condition.",
        )
    versions = find_versions(node.right, as_of[1])
    if versions is None:
        return (
            "requires all versions one by one, and what its right side reads says once a micro-batch how its rows are",
            "Join a table with a PRIMARY KEY, or a view of the newest row of each key by its event time.",
        )
    if versions.keys is not None and versions.keys != asked:
        return (
            f"requires equalities with the key of the newest rows alone: {', '.join(keys[0])}",
            "Put the other equalities into WHERE; there they are asked of the version that a row finds.",
        )
    return None


def _is_filtered(versions: Logical) -> bool:
    """Whether rows are left out behind what says which versions there are: a table, or an operator that updates."""
    while isinstance(versions, Project | WatermarkAssigner):
        versions = versions.input
    return isinstance(versions, Filter)
