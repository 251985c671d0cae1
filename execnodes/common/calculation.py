"""What calcs of all kinds do: project and filter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from execnodes.core.expressions import Expression, conditions_of, input_indexes
from execnodes.core.meaning import RowsMeaning, expression_term
from execnodes.core.types import LogicalType
from execnodes.lowering.stream import Branch, Fixed, Rows

if TYPE_CHECKING:
    from execnodes.core.async_options import AsyncOptions


def calculated(
    rows: Rows,
    type: LogicalType,
    projection: Sequence[Expression],
    condition: Expression | None,
    zone: str,
    owner: int,
    calls: AsyncOptions | None = None,
) -> Rows:
    """The condition reads input columns, so it is put in before they are replaced.

    What differs each time it is computed (RAND, UUID) is computed once for all that read it. `owner`: id of the node.
    """
    # Scalar functions are looked up when a plan runs; compiling does not need them.
    from execnodes import functions

    def project(columns: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(functions.lower(each, columns, zone, calls=calls) for each in projection)

    if condition is not None:
        kept = condition

        def keep(branch: Branch) -> str:
            return functions.lower(kept, branch.columns, zone, calls=calls)

        rows = rows.where(keep, None if functions.is_repeatable(kept) else Fixed(owner))
    varying = tuple(at for at, each in enumerate(projection) if not functions.is_repeatable(each))
    return rows.project(type, project, Fixed(owner, varying))


def calculated_meaning(
    rows: RowsMeaning, type: LogicalType, projection: Sequence[Expression], condition: Expression | None, zone: str
) -> RowsMeaning:
    """The expressions over what the input's columns are; conditions add up."""
    parts = conditions_of(condition) if condition is not None else ()
    conditions = rows.conditions | {expression_term(each, rows, zone) for each in parts}
    columns = tuple(expression_term(each, rows, zone) for each in projection)
    return replace(rows, type=type, columns=columns, conditions=conditions)


def calculation_problem(
    given: LogicalType, type: LogicalType, projection: Sequence[Expression], condition: Expression | None
) -> str | None:
    """What does not fit: as many expressions as output columns; all read columns that the input has."""
    width = len(given.fields)
    read = set().union(*map(input_indexes, (*projection, *([condition] if condition else []))))
    if read and max(read) >= width:
        return f"it reads column {max(read)}, but its input has only {width} columns"
    if len(projection) != len(type.fields):
        return f"{len(projection)} expressions for {len(type.fields)} output columns"
    return None
