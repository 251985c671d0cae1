"""From a typed expression to Spark SQL text."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from execnodes.core.async_options import AsyncOptions
from execnodes.core.expressions import Call, Expression, InputRef, Literal
from execnodes.core.version import ENGINE_VERSION
from execnodes.functions.registry import find
from execnodes.functions.scope import Scope


def lower(
    expression: Expression,
    columns: Sequence[str],
    zone: str,
    engine_version: str = ENGINE_VERSION,
    *,
    calls: AsyncOptions | None = None,
) -> str:
    """Spark SQL for `expression`; `columns[i]` is the text of input column i, `zone` the session time zone.

    `engine_version` is that of the plan: it says what a function name without a version means. `calls`: how functions
    of the user that wait are called, if the node says it.
    """

    def lowering(internal_name: str) -> Callable[[Scope, Call], str]:
        return find(internal_name, engine_version).lower

    return Scope(columns, zone, lowering, calls).text(expression)


def can_fail(call: Call) -> bool:
    """Whether a call may fail the job for what its operands are, its operands themselves apart."""
    if call.user_name:
        return True
    operands = tuple(
        each if isinstance(each, Literal) else InputRef(input_index=at, type=each.type)
        for at, each in enumerate(call.operands)
    )
    alone = call.model_copy(update={"operands": operands})
    return "raise_error(" in lower(alone, [f"c{at}" for at in range(len(operands))], "UTC")
