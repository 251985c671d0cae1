"""CAST, TRY_CAST, REINTERPRET and TYPEOF."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from execnodes.core.errors import SqlError
from execnodes.core.expressions import Call, Expression, Literal
from execnodes.core.type_texts import format_type, has_interval_seconds, spell_out
from execnodes.core.types import NUMERICS, STRING, LogicalType, Root
from execnodes.functions.cast_numbers import to_boolean, to_number
from execnodes.functions.cast_texts import print_value, resize_binary
from execnodes.functions.cast_times import DAY, cut_millis, to_time
from execnodes.functions.conversion import casting, has_version_2
from execnodes.functions.function import Binding, Function, Invocation, Operands
from execnodes.functions.scope import Scope
from execnodes.functions.type_rules import can_cast, cast_hint
from execnodes.lowering.spark_sql import spark_type, text_literal
from execnodes.lowering.stream import quote


def cast_text(scope: Scope, text: str, source: LogicalType, target: LogicalType, strict: bool) -> str:
    """Spark SQL of `text` cast; what cannot be read fails if `strict`, else it is NULL; overflow never fails."""
    if source.root is Root.NULL:
        return f"CAST({text} AS {spark_type(target)})"
    if source.same_values(target):
        return text
    match target.root:
        case Root.CHAR | Root.VARCHAR:
            return print_value(scope, text, source, target)
        case Root.BOOLEAN:
            return to_boolean(scope, text, source, strict)
        case Root.BINARY | Root.VARBINARY:
            return resize_binary(scope, text, source, target)
        case Root.DATE | Root.TIME | Root.TIMESTAMP | Root.TIMESTAMP_LTZ:
            return to_time(scope, text, source, target, strict)
        case Root.ARRAY | Root.MAP | Root.MULTISET | Root.ROW:
            return cast_members(scope, text, source, target, lambda t, a, b: cast_text(scope, t, a, b, strict))
        case root if root in NUMERICS:
            return to_number(scope, text, source, target, strict)
        case _:
            # Intervals, which are numbers, and NULL.
            return f"CAST({text} AS {spark_type(target)})"


def cast_members(
    scope: Scope,
    text: str,
    source: LogicalType,
    target: LogicalType,
    member: Callable[[str, LogicalType, LogicalType], str],
) -> str:
    """Spark SQL of a collection or ROW whose members are cast by `member`."""
    if source.root is Root.ROW:

        def fields(row: str) -> str:
            pairs = zip(source.fields, target.fields, strict=True)
            values = (f"{text_literal(b.name)}, {member(f'{row}.{quote(a.name)}', a.type, b.type)}" for a, b in pairs)
            return f"if({row} IS NULL, NULL, named_struct({', '.join(values)}))"

        return scope.share(text, fields)
    value = scope.fresh()
    if source.root is Root.ARRAY:
        return f"transform({text}, {value} -> {member(value, source.element, target.element)})"
    key = scope.fresh()
    if source.root is Root.MULTISET:
        return f"transform_keys({text}, ({key}, {value}) -> {member(key, source.element, target.element)})"
    keys = f"transform_keys({text}, ({key}, {value}) -> {member(key, source.key, target.key)})"
    return f"transform_values({keys}, ({key}, {value}) -> {member(value, source.element, target.element)})"


def _bind(call: Invocation) -> Binding | None:
    if len(call.operands) != 1 or call.result is None:
        return None
    operand, target = call.operands[0], call.result.regular()
    if not can_cast(operand.type, target):
        raise SqlError(
            f"{operand.type} cannot be cast to {target}",
            position=call.position,
            hint=cast_hint(operand.type, target),
        )
    nullable = operand.type.nullable or call.name == "TRY_CAST"
    version = casting(operand.type, target, may_fail=call.name == "CAST")
    return Binding((operand,), target.with_nullable(nullable), version)


def _lower(strict: bool) -> Callable[[Scope, Call], str]:
    def lower(scope: Scope, call: Call) -> str:
        operand = call.operands[0]
        return cast_text(scope, scope.text(operand), operand.type, call.type, strict)

    return lower


CAST = Function("CAST", ("CAST(ANY AS type)",), _bind, _lower(strict=True))
TRY_CAST = Function("TRY_CAST", ("TRY_CAST(ANY AS type)",), _bind, _lower(strict=False))


def _lower_2(strict: bool) -> Callable[[Scope, Call], str]:
    """By way of milliseconds; version 1 cut times before 1970 down, gave TIME below 0 for them, and left it millis."""
    first = _lower(strict)

    def lower(scope: Scope, call: Call) -> str:
        (operand,) = call.operands
        if not has_version_2(operand.type, call.type):
            return first(scope, call)
        return cast_millis(scope, scope.text(operand), operand.type, call.type, strict)

    return lower


def cast_millis(scope: Scope, text: str, source: LogicalType, target: LogicalType, strict: bool) -> str:
    """Spark SQL of a timestamp that loses digits of its milliseconds, or becomes a time: cut toward zero."""
    whole = cast_text(scope, text, source, replace(target, precision=3), strict)
    if (source.root, target.root) == (Root.TIMESTAMP_LTZ, Root.TIME):
        whole = f"pmod({whole}, {DAY})"
    return cut_millis(whole, target) if target.precision < 3 else whole


CAST_2 = replace(CAST, lower=_lower_2(strict=True), version=2, since="1.4")
TRY_CAST_2 = replace(TRY_CAST, lower=_lower_2(strict=False), version=2, since="1.4")


def _bind_reinterpret(call: Invocation) -> Binding | None:
    if len(call.operands) != 1 or call.result is None:
        return None
    return Binding(call.operands, call.result.with_nullable(call.operands[0].type.nullable))


def _lower_reinterpret(scope: Scope, call: Call) -> str:
    return scope.text(call.operands[0])


REINTERPRET = Function("REINTERPRET", ("REINTERPRET(ANY AS type)",), _bind_reinterpret, _lower_reinterpret)


def _bind_typeof(call: Invocation) -> Binding | None:
    """A second operand, TRUE, asks for the type without abbreviations."""
    if len(call.operands) not in (1, 2) or any(not _is_flag(each) for each in call.operands[1:]):
        return None
    return Binding(call.operands, STRING)


def _is_flag(operand: Expression) -> bool:
    return isinstance(operand, Literal) and operand.type.root is Root.BOOLEAN


def _is_spelled_out(call: Call) -> bool:
    flag = call.operands[-1]
    return len(call.operands) == 2 and isinstance(flag, Literal) and flag.value is True


def _lower_typeof_1(scope: Scope, call: Call) -> str:
    shown = str(call.operands[0].type)
    return text_literal(spell_out(shown) if _is_spelled_out(call) else shown)


def _lower_typeof(scope: Scope, call: Call) -> str:
    return text_literal(format_type(call.operands[0].type, abbreviated=not _is_spelled_out(call)))


def _holds_seconds(operands: Operands) -> bool:
    return has_interval_seconds(operands[0].type)


_TYPEOF = ("TYPEOF(ANY, BOOLEAN?)",)
TYPEOF = Function("TYPEOF", _TYPEOF, _bind_typeof, _lower_typeof_1, since="1.3")
TYPEOF_2 = Function("TYPEOF", _TYPEOF, _bind_typeof, _lower_typeof, 2, "2.0", only=_holds_seconds)
