"""CASE, COALESCE, NULLIF, IF, IFNULL, GREATEST, LEAST."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from execnodes.core.expressions import Call, Expression, Literal
from execnodes.core.predicates import FLOATS
from execnodes.core.types import BOOLEAN, TEXTS, TIMESTAMPS, LogicalType, Root
from execnodes.functions.comparison import comparable, utf16
from execnodes.functions.conversion import convert
from execnodes.functions.families import Parameters
from execnodes.functions.function import Binding, Function, Invocation
from execnodes.functions.scope import Scope
from execnodes.functions.type_rules import common_type, merged_type
from execnodes.lowering.spark_sql import spark_type

Rule = Callable[[Iterable[LogicalType]], LogicalType | None]


def _common(
    operands: Sequence[Expression], rule: Rule = common_type
) -> tuple[tuple[Expression, ...], LogicalType] | None:
    """Operands in their common type, and it. Texts are not padded or cut, so they stay as they are."""
    found = rule(each.type for each in operands)
    if found is None:
        return None
    wanted = found.regular()
    if wanted.root in TEXTS:
        return tuple(convert(each, wanted) if each.type.root is Root.NULL else each for each in operands), wanted
    return tuple(convert(each, wanted) for each in operands), wanted


def _bind_case(call: Invocation) -> Binding | None:
    """Operands: condition, value, condition, value, …, value otherwise."""
    if len(call.operands) < 3 or len(call.operands) % 2 == 0:
        return None
    conditions, values = list(call.operands[:-1:2]), [*call.operands[1:-1:2], call.operands[-1]]
    tests = [convert(each, BOOLEAN) if each.type.root is Root.NULL else each for each in conditions]
    made = _common(values)
    if made is None or any(each.type.root is not Root.BOOLEAN for each in tests):
        return None
    converted, t = made
    pairs = [each for pair in zip(tests, converted[:-1], strict=True) for each in pair]
    return Binding((*pairs, converted[-1]), t.with_nullable(any(each.type.nullable for each in converted)))


def _lower_case(scope: Scope, call: Call) -> str:
    texts = scope.texts(call.operands)
    whens = "".join(f" WHEN {texts[i]} THEN {texts[i + 1]}" for i in range(0, len(texts) - 1, 2))
    return f"CASE{whens} ELSE {texts[-1]} END"


CASE = Function("CASE", ("CASE WHEN BOOLEAN THEN ANY … ELSE ANY of one kind END",), _bind_case, _lower_case)


def _bind_coalesce(call: Invocation) -> Binding | None:
    """NOT NULL as soon as one operand is; what comes after it is never looked at."""
    made = _common(call.operands, merged_type) if call.operands else None
    if made is None:
        return None
    operands, t = made
    return Binding(operands, t.with_nullable(all(each.type.nullable for each in operands)))


def _lower_coalesce(scope: Scope, call: Call) -> str:
    return f"coalesce({', '.join(scope.texts(call.operands))})"


COALESCE = Function("COALESCE", ("COALESCE(ANY, … of one kind)",), _bind_coalesce, _lower_coalesce)


def _bind_ifnull(call: Invocation) -> Binding | None:
    return _bind_coalesce(call) if len(call.operands) == 2 else None


IFNULL = Function("IFNULL", ("IFNULL(ANY, ANY of one kind)",), _bind_ifnull, _lower_coalesce)


def _bind_ifnull_2(call: Invocation) -> Binding | None:
    """A text that is never NULL keeps its type, which version 1 made that of both."""
    made = _bind_ifnull(call)
    if made is None or not _keeps(call.operands[0]):
        return made
    return Binding(made.operands, call.types[0].regular())


def _keeps(first: Expression) -> bool:
    return not first.type.nullable and first.type.root in TEXTS


IFNULL_2 = Function("IFNULL", IFNULL.signatures, _bind_ifnull_2, _lower_coalesce, 2, "1.3", only=lambda t: _keeps(t[0]))


def _bind_nullif(call: Invocation) -> Binding | None:
    """The first operand, or NULL if it equals the second: CASE WHEN a = b THEN NULL ELSE a END."""
    if len(call.operands) != 2:
        return None
    value = call.operands[0]
    compared = comparable(call, call.operands)
    if compared is None:
        return None
    equal = Call(
        internal_name="$=$1",
        operands=compared,
        type=BOOLEAN.with_nullable(any(each.type.nullable for each in compared)),
    )
    t = value.type.regular().with_nullable(True)
    return Binding((equal, Literal(value=None, type=t), convert(value, t)), t, "CASE")


NULLIF = Function("NULLIF", ("NULLIF(ANY, ANY of one kind)",), _bind_nullif, _lower_case)


def _chosen(types: Iterable[LogicalType]) -> LogicalType | None:
    """Two timestamps are of the type of the first."""
    first, second = types
    if first.root in TIMESTAMPS and second.root in TIMESTAMPS:
        return first.with_nullable(first.nullable or second.nullable)
    return common_type((first, second))


def _bind_if(call: Invocation) -> Binding | None:
    if len(call.operands) != 3:
        return None
    tests = Parameters.parse("BOOLEAN").convert(call.operands[:1])
    made = _common(call.operands[1:], _chosen)
    if tests is None or made is None:
        return None
    operands = (*tests, *made[0])
    return Binding(operands, made[1].with_nullable(any(each.type.nullable for each in operands)))


def _lower_if(scope: Scope, call: Call) -> str:
    return f"if({', '.join(scope.texts(call.operands))})"


IF = Function("IF", ("IF(BOOLEAN, ANY, ANY of one kind)",), _bind_if, _lower_if)


def _bind_extreme(call: Invocation) -> Binding | None:
    if not call.operands:
        return None
    made = _common(call.operands, merged_type)
    if made is None:
        return None
    operands, t = made
    return Binding(operands, t.with_nullable(any(each.type.nullable for each in operands)))


def _lower_extreme(name: str) -> Callable[[Scope, Call], str]:
    """NULL as soon as one operand is, which Spark would skip; texts go by their UTF-16 units."""

    def lower(scope: Scope, call: Call) -> str:
        texts = scope.texts(call.operands)
        return (
            texts[0] if len(texts) == 1 else scope.share_some(texts, range(len(texts)), lambda t: body(scope, call, t))
        )

    def body(scope: Scope, call: Call, texts: Sequence[str]) -> str:
        tested = [text for text, each in zip(texts, call.operands, strict=True) if each.type.nullable]
        if call.type.root in TEXTS:
            keyed = ", ".join(f"named_struct('k', {utf16(each)}, 'v', {each})" for each in texts)
            return _null_or(tested, f"{name}({keyed}).v")
        extreme = f"{name}({', '.join(texts)})"
        if call.type.root in FLOATS and len(texts) > 1:
            extreme = scope.share(extreme, lambda found: f"if({found} = 0, {_zero(name, call.type, texts)}, {found})")
        return _null_or(tested, extreme)

    return lower


def _zero(name: str, t: LogicalType, texts: Sequence[str]) -> str:
    """Of zeros, -0.0 is the least one: a sum of zeros is -0.0 only if all of them are."""
    sign, neutral = "-" if name == "least" else "", f"CAST(-0.0D AS {spark_type(t)})"
    zeros = " + ".join(f"if({each} = 0, {sign}({each}), {neutral})" for each in texts)
    return f"({sign}({zeros}))"


def _null_or(tested: Sequence[str], text: str) -> str:
    if not tested:
        return text
    return f"if({' OR '.join(f'{t} IS NULL' for t in tested)}, NULL, {text})"


GREATEST = Function("GREATEST", ("GREATEST(ANY, … of one kind)",), _bind_extreme, _lower_extreme("greatest"))
LEAST = Function("LEAST", ("LEAST(ANY, … of one kind)",), _bind_extreme, _lower_extreme("least"))
