"""From the name and the arguments of a call to its function and its type."""

from __future__ import annotations

from execnodes.aggregates.registry import named
from execnodes.core.errors import Position, SqlError
from execnodes.core.types import BIGINT, LogicalType


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
    function = named(name)
    if function is None:
        raise SqlError(f"{name} is not an aggregate function", position=position)
    if not function.least <= len(arg_types) <= function.most:
        counts = str(function.least) if function.least == function.most else f"{function.least} to {function.most}"
        raise SqlError(f"{name} takes {counts} arguments, not {len(arg_types)}", position=position, hint=function.hint)
    if distinct and not (arg_types and function.distinct):
        raise SqlError(f"{name}(DISTINCT) is not supported", position=position)
    first = arg_types[0] if arg_types else BIGINT
    first = first if function.as_it_is else first.regular()
    refused = [] if not arg_types or function.takes(first) else [first]
    refused += [each for each in arg_types[1:] if not function.takes_further(each)]
    if refused:
        raise SqlError(f"{name} does not take {refused[0]}", position=position, hint="CAST the argument.")
    nullable = function.nullable
    if nullable is None:
        nullable = first.nullable or not grouped or filtered
    return function.internal_name, function.result(first).with_nullable(nullable)
