"""From a function's name and operands to a typed call."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from execnodes.core.errors import Position, SqlError
from execnodes.core.expressions import Call, Expression, walk
from execnodes.core.types import LogicalType
from execnodes.functions.conversion import casting, convert
from execnodes.functions.foreign import instead_of
from execnodes.functions.function import Function, Invocation
from execnodes.functions.registry import close_matches, find, newest
from execnodes.functions.temporal_arithmetic import whole_days
from execnodes.functions.type_rules import can_cast, can_cast_implicitly, cast_hint
from execnodes.functions.unsupported import INSTEAD


def known(name: str, position: Position | None = None, texts: Iterable[str] = ()) -> Function:
    """The newest version of a function by its SQL name; SqlError if there is none.

    `texts`: constants among the arguments, for what to write instead.
    """
    function = newest(name.upper())
    if function is None and name.upper() in INSTEAD:
        raise SqlError(f"{name.upper()} is not supported", position=position, hint=INSTEAD[name.upper()])
    if function is None:
        near = close_matches(name.upper())
        hint = f"Did you mean {' or '.join(near)}?" if near else "The documentation lists all functions."
        hint = instead_of(name, texts) or hint
        raise SqlError(f"unknown function {name}", position=position, hint=hint)
    return function


def resolve(
    name: str,
    operands: Sequence[Expression],
    *,
    position: Position | None = None,
    result: LogicalType | None = None,
) -> Expression:
    """The call of a function or operator by its SQL name, with the CASTs it implies and the type it gives.

    `result` is the type asked for (CAST, TRY_CAST, REINTERPRET, JSON_VALUE, MINUS_DATE). SqlError if there is no such
    function or it does not take these operands.
    """
    function = known(name, position)
    taken = whole_days(operands) if function.name in ("+", "-") else tuple(operands)
    call = Invocation(function.name, taken, position, result)
    binding = function.bind(call)
    if binding is None:
        types = ", ".join(str(each.type) for each in operands)
        raise SqlError(
            f"{function.name} does not take ({types})",
            position=position,
            hint="It takes " + "; ".join(function.signatures) + ".",
        )
    if binding.name is not None:
        function = find(binding.name) if binding.name.startswith("$") else known(binding.name)
    while function.only is not None and not function.only(binding.operands):
        function = find(f"${function.name}${function.version - 1}")
    return Call(internal_name=function.internal_name, operands=binding.operands, type=binding.type)


def takes(call: Call) -> bool:
    """Whether a function takes the operands of a call just as they are."""
    function = find(call.internal_name)
    try:
        binding = function.bind(Invocation(function.name, call.operands, None, call.type))
    except SqlError:
        return False
    return binding is not None and binding.operands == call.operands


def cast(
    expression: Expression,
    target: LogicalType,
    *,
    explicit: bool,
    position: Position | None = None,
    may_fail: bool = True,
) -> Expression:
    """The expression as `target`: a CAST as written (`explicit`) or one an INSERT puts in.

    With `may_fail` = False it is a TRY_CAST. The result is NULL where the expression is, whatever `target` says of
    nullability. SqlError if there is no such cast, or no implicit one.
    """
    source = expression.type
    if not explicit and not can_cast_implicitly(source, target):
        raise SqlError(
            f"{source} does not become {target} by itself", position=position, hint=f"Write CAST(… AS {target})."
        )
    if not can_cast(source, target):
        raise SqlError(f"{source} cannot be cast to {target}", position=position, hint=cast_hint(source, target))
    if not may_fail:
        wanted = target.regular().with_nullable(True)
        return Call(internal_name=casting(source, wanted, may_fail=False), operands=(expression,), type=wanted)
    return convert(expression, target)


def is_deterministic(expression: Expression) -> bool:
    """Whether the same row always gives the same value."""
    return all(_gives_the_same(each) for each in walk(expression) if isinstance(each, Call))


def _gives_the_same(call: Call) -> bool:
    return not call.non_deterministic if call.user_name else find(call.internal_name).deterministic


@cache
def may_vary(internal_name: str) -> bool:
    """Whether Flink holds that a function may give another value for the same row: UNIX_TIMESTAMP of a text, too."""
    return internal_name.startswith("$UNIX_TIMESTAMP$") or not find(internal_name).deterministic


def is_repeatable(expression: Expression) -> bool:
    """Whether it has the same value each time it is computed for one row in one micro-batch."""
    return all(_repeats(each) for each in walk(expression) if isinstance(each, Call))


def _repeats(call: Call) -> bool:
    return not call.non_deterministic if call.user_name else find(call.internal_name).repeatable
