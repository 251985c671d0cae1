"""How large a statement may be: what is above is refused with the limit named, so that nothing compiles for hours, and
whatever compiles can be written as a plan, read again and run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from execnodes.core.errors import Position, SqlError
from execnodes.core.expressions import Expression
from planner.algebra import Logical, Sink
from planner.algebra.extent import extent
from planner.algebra.tree import bottom_up

MAX_DEPTH = 200
"""Calls inside each other in one expression: pydantic reads and writes JSON that nests about 250 levels."""
MAX_PARTS = 100_000
"""Calls, columns and constants of all expressions of a statement together."""
MAX_LEVELS = 700
"""Operators one above the other."""
MAX_WAYS = 2_000
"""Ways of a row through UNION ALL, grouping sets and overlapping windows: Spark computes them side by side."""
MAX_RELATIONS = 300
"""Tables and subqueries of one FROM: each join knows all columns of those before it."""
MAX_NODES = 5_000
"""Nodes of a plan."""


def check_expression(expression: Expression, position: Position | None) -> None:
    """SqlError for an expression that is too deep or too long."""
    depth, parts = extent(expression)
    hint = "Compute parts of it as columns of a subquery or view."
    _at_most(MAX_DEPTH, depth, f"the expression nests {depth} calls in each other", position, hint)
    _check_parts(parts, position)


def _at_most(most: int, found: int, what: str, position: Position | None, hint: str) -> None:
    """SqlError that says `what` there is more of than there may be."""
    if found > most:
        raise SqlError(f"{what}, more than {most}", position=position, hint=hint)


def _check_parts(parts: int, position: Position | None) -> None:
    what = f"the statement has {parts} calls, columns and constants when it is written out"
    _at_most(MAX_PARTS, parts, what, position, "Put constants in a table, or split the statement.")


def check_plan(sinks: Iterable[Sink]) -> None:
    """SqlError for a logical plan that is too high, too wide or too long."""
    for sink in sinks:
        operators = list(bottom_up(sink.input))
        levels, ways = _levels(operators), _ways(operators)
        what = f"the query has {levels} operators one above the other"
        _at_most(MAX_LEVELS, levels, what, sink.position, "Split it into several jobs with a table between them.")
        what = f"rows go {ways} ways through UNION ALL, grouping sets or windows"
        hint = "Split the query into several INSERTs, or name fewer sets of keys."
        _at_most(MAX_WAYS, ways, what, sink.position, hint)
        _check_parts(sum(each.parts for each in operators), sink.position)


def check_relations(count: int, position: Position) -> None:
    """SqlError for a FROM that joins too much."""
    if count > MAX_RELATIONS:
        raise SqlError(
            f"FROM joins more than {MAX_RELATIONS} tables and subqueries",
            position=position,
            hint="Join them in several jobs with a table between them.",
        )


def check_sets(count: int, keys: int, position: Position) -> None:
    """SqlError for more grouping sets than rows may go ways."""
    _at_most(MAX_WAYS, count, f"GROUP BY names {count} sets of keys", position, "Name fewer.")
    _check_parts(count * keys, position)


def _levels(operators: Sequence[Logical]) -> int:
    """Operators one above the other, at most."""
    found: dict[int, int] = {}
    for each in operators:
        found[id(each)] = 1 + max((found[id(below)] for below in each.inputs), default=0)
    return max(found.values())


def _ways(operators: Sequence[Logical]) -> int:
    """Ways of a row since it last was part of a state, at most."""
    found: dict[int, int] = {}
    most = 1
    for each in operators:
        inside = (sum(found[id(below)] for below in each.inputs) or 1) * each.copies
        found[id(each)] = 1 if each.keeps_state else inside
        most = max(most, inside)
    return most
