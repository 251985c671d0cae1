"""Comparisons, IN, BETWEEN, IS DISTINCT FROM."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from execnodes.core.errors import Position, SqlError
from execnodes.core.expressions import Call, Expression, Literal
from execnodes.core.places import place
from execnodes.core.types import BOOLEAN, NUMERICS, STRING, TEXTS, TIMESTAMPS, LogicalType, Root
from execnodes.functions.conversion import casting, convert
from execnodes.functions.function import Binding, Function, Invocation
from execnodes.functions.scope import Scope
from execnodes.functions.time_texts import EXAMPLES, is_time_text
from execnodes.functions.type_rules import can_cast, common_type

_TIMES = (Root.DATE, Root.TIME, *TIMESTAMPS)
_UNORDERED = (Root.MAP, Root.MULTISET)
_MEMBERS = ("IN", "NOT IN")
_ORDERED = ("<", "<=", ">", ">=", *(f"{a}BETWEEN{b}" for a in ("", "NOT ") for b in ("", " SYMMETRIC")))
_EQUALITY = ("=", "<>", "IS DISTINCT FROM", "IS NOT DISTINCT FROM", "NULLIF")


def comparable(call: Invocation, operands: Sequence[Expression]) -> tuple[Expression, ...] | None:
    """The operands in the type in which they are compared; a text against a time is read as that time.

    A constant text that is no such time is a SqlError. For others a test for equality is NULL, and what compares
    an order or looks among members fails. What is looked for decides the type of members: times are texts there.
    A text by the side of a number or BOOLEAN is read as such where values are ordered, and members of IN become of the
    type of what is looked for; SqlError where they are tested for equality, for which Flink has no rule. None for other
    pairs that cannot be compared.
    """
    roots = {each.type.root for each in operands} - {Root.NULL}
    times = [each.type for each in operands if each.type.root in _TIMES]
    if times and roots & set(TEXTS):
        if call.name in _MEMBERS and operands[0].type.root in TEXTS:
            return tuple(each if each.type.root in TEXTS else convert(each, STRING) for each in operands)
        wanted = common_type(times)
        if wanted is None:
            return None
        _check_constants(call, operands, wanted)
        strict = call.name in _MEMBERS or call.name in _ORDERED
        return tuple(_as_time(each, wanted, call.position, strict=strict) for each in operands)
    if roots & set(TEXTS) and not roots <= set(TEXTS):
        found = _read_texts(call.name, operands)
        if found is not None:
            return found
        types = " and ".join(str(each.type) for each in operands)
        raise SqlError(
            f"{call.name} does not take a text and another type: {types}",
            position=call.position,
            hint="Cast one of them, e.g. CAST(… AS INT).",
        )
    common = common_type(each.type for each in operands)
    if common is None:
        return None
    if call.name in _MEMBERS and common.root in NUMERICS:
        operands = _as_first(operands)
        common = common_type(each.type for each in operands) or common
    wanted = BOOLEAN if common.root is Root.NULL else common
    if wanted.root in TEXTS:
        return tuple(convert(each, wanted) if each.type.root is Root.NULL else each for each in operands)
    return tuple(_compared(each, wanted) for each in operands)


def _as_first(operands: Sequence[Expression]) -> tuple[Expression, ...]:
    """Members of another kind of number become what is looked for, as in Flink: 1 IN (1.4) is TRUE."""
    first, *members = operands
    if first.type.root is Root.NULL:
        return tuple(operands)
    return (
        first,
        *(each if each.type.root in (Root.NULL, first.type.root) else convert(each, first.type) for each in members),
    )


def _read_texts(name: str, operands: Sequence[Expression]) -> tuple[Expression, ...] | None:
    """Texts and values of one other kind, by casts that fail for what cannot be read; None where there is no rule."""
    if name in _MEMBERS:
        wanted: LogicalType | None = operands[0].type
        members = common_type(each.type for each in operands[1:])
        if members is None or not can_cast(members, operands[0].type):
            return None
    elif name in _EQUALITY:
        return None
    else:
        wanted = common_type(each.type for each in operands if each.type.root not in TEXTS)
    if wanted is None or wanted.root not in (*NUMERICS, *TEXTS, Root.BOOLEAN):
        return None
    if wanted.root in TEXTS:
        return tuple(each if each.type.root in TEXTS else convert(each, STRING) for each in operands)
    return tuple(_compared(each, wanted) for each in operands)


def _check_constants(call: Invocation, operands: Sequence[Expression], wanted: LogicalType) -> None:
    constants = (each for each in operands if isinstance(each, Literal) and each.type.root in TEXTS)
    for value in (each.value for each in constants):
        if isinstance(value, str) and not is_time_text(value, wanted.root):
            raise SqlError(
                f"{call.name} compares a {wanted.regular().with_nullable(True)} with {value!r}, which is not one",
                position=call.position,
                hint=f"Write {EXAMPLES[wanted.root]}.",
            )


def _as_time(operand: Expression, wanted: LogicalType, position: Position | None, *, strict: bool) -> Expression:
    # A constant has been checked.
    if operand.type.root in TEXTS and (isinstance(operand, Literal) or not strict):
        read = wanted.regular().with_nullable(True)
        made = Call(internal_name=casting(operand.type, read, may_fail=False), operands=(operand,), type=read)
        return made if position is None else made.for_comparison(place(position.line, position.column))
    return convert(operand, wanted)


def _compared(operand: Expression, wanted: LogicalType) -> Expression:
    """Only another kind of value needs a cast; precision and time attributes do not matter."""
    same_kind = operand.type.root is wanted.root and not wanted.children and not wanted.fields
    return operand if same_kind and wanted.root is not Root.DECIMAL else convert(operand, wanted)


def _bind(call: Invocation) -> Binding | None:
    if len(call.operands) != 2:
        return None
    operands = comparable(call, call.operands)
    if operands is None or (call.name not in ("=", "<>") and operands[0].type.root in _UNORDERED):
        return None
    return Binding(operands, BOOLEAN.with_nullable(any(each.type.nullable for each in operands)))


def _bind_null_safe(call: Invocation) -> Binding | None:
    binding = _bind(call)
    return None if binding is None else Binding(binding.operands, BOOLEAN.not_null())


_NAN_BREAKS = {"=": "AND NOT isnan({1})", "<": "AND NOT isnan({1})", "<=": "AND NOT isnan({1})"}
_NAN_BREAKS |= {">": "AND NOT isnan({0})", ">=": "AND NOT isnan({0})", "<>": "OR isnan({0})"}


def compare(scope: Scope, sign: str, operands: Sequence[Expression]) -> str:
    """Spark SQL of a comparison of two operands of the same kind."""
    a, b = scope.texts(operands)
    root = operands[0].type.root
    if root in TEXTS and sign not in ("=", "<>") and not any(map(_plain, operands)):
        return f"({utf16(a)} {sign} {utf16(b)})"
    if root in (Root.FLOAT, Root.DOUBLE):
        return _approximate(scope, sign, operands)
    if root in _UNORDERED:
        return _maps(scope, sign, (a, b))
    return f"({a} {sign} {b})"


def _approximate(scope: Scope, sign: str, operands: Sequence[Expression]) -> str:
    """NaN equals nothing and is neither less nor greater; to Spark it is the greatest number."""
    texts = scope.texts(operands)
    breaks = _NAN_BREAKS[sign]
    tested = 0 if "{0}" in breaks else 1
    known = operands[tested]
    if is_number(known):
        return f"({texts[0]} {sign} {texts[1]})"
    return scope.share_some(texts, [tested], lambda t: f"(({t[0]} {sign} {t[1]}) {breaks.format(*t)})")


def is_number(operand: Expression) -> bool:
    """Whether an operand is a constant that is neither NULL nor a NaN."""
    return isinstance(operand, Literal) and operand.value is not None and not math.isnan(float(operand.value))


def _maps(scope: Scope, sign: str, texts: Sequence[str]) -> str:
    """Maps are equal if they have the same entries, in any order."""
    sides = [f"array_sort(map_entries({each}))" for each in texts]
    return f"({sides[0]} {sign} {sides[1]})"


def utf16(text: str) -> str:
    """A text as bytes in whose order texts are compared: UTF-16 units."""
    return f"encode({text}, 'UTF-16BE')"


def _plain(operand: Expression) -> bool:
    """A constant whose characters sort before all surrogates: byte order is then the same."""
    value = operand.value if isinstance(operand, Literal) else None
    return isinstance(value, str) and all(each < "\ud800" for each in value)


def _lower(sign: str) -> Callable[[Scope, Call], str]:
    return lambda scope, call: compare(scope, sign, call.operands)


_SIGNS = ("=", "<>", "<", "<=", ">", ">=")
COMPARISONS = tuple(Function(sign, (f"ANY {sign} ANY of one kind",), _bind, _lower(sign)) for sign in _SIGNS)


def _lower_null_safe(negated: str) -> Callable[[Scope, Call], str]:
    def lower(scope: Scope, call: Call) -> str:
        a, b = scope.texts(call.operands)
        return f"({negated}({a} <=> {b}))"

    return lower


IS_DISTINCT_FROM = Function(
    "IS DISTINCT FROM", ("ANY IS DISTINCT FROM ANY of one kind",), _bind_null_safe, _lower_null_safe("NOT ")
)
IS_NOT_DISTINCT_FROM = Function(
    "IS NOT DISTINCT FROM", ("ANY IS NOT DISTINCT FROM ANY of one kind",), _bind_null_safe, _lower_null_safe("")
)


def _bind_in(call: Invocation) -> Binding | None:
    if len(call.operands) < 2:
        return None
    operands = comparable(call, call.operands)
    if operands is None:
        return None
    return Binding(operands, BOOLEAN.with_nullable(any(each.type.nullable for each in operands)))


def _lower_in(negated: str) -> Callable[[Scope, Call], str]:
    def lower(scope: Scope, call: Call) -> str:
        value, *members = scope.texts(call.operands)
        return f"({value} {negated}IN ({', '.join(members)}))"

    return lower


IN = Function("IN", ("ANY IN (ANY of one kind, …)",), _bind_in, _lower_in(""))
NOT_IN = Function("NOT IN", ("ANY NOT IN (ANY of one kind, …)",), _bind_in, _lower_in("NOT "))


def _bind_between(call: Invocation) -> Binding | None:
    return _bind_in(call) if len(call.operands) == 3 else None


def _lower_between(symmetric: bool, negated: bool) -> Callable[[Scope, Call], str]:
    def lower(scope: Scope, call: Call) -> str:
        value, low, high = call.operands
        text = _within(scope, value, low, high)
        if symmetric:
            text = f"({text} OR {_within(scope, value, high, low)})"
        return f"(NOT {text})" if negated else text

    return lower


def _within(scope: Scope, value: Expression, low: Expression, high: Expression) -> str:
    return f"({compare(scope, '>=', (value, low))} AND {compare(scope, '<=', (value, high))})"


BETWEEN = tuple(
    Function(
        f"{'NOT ' * negated}BETWEEN{' SYMMETRIC' * symmetric}",
        (f"ANY {'NOT ' * negated}BETWEEN{' SYMMETRIC' * symmetric} ANY AND ANY of one kind",),
        _bind_between,
        _lower_between(symmetric, negated),
    )
    for negated in (False, True)
    for symmetric in (False, True)
)
