"""Walking and rebuilding plan trees; what a plan shares (a view read twice) stays shared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import wraps
from typing import TypeVar

from execnodes.core.expressions import Call, Expression, InputRef, Literal
from execnodes.core.functions import is_deterministic
from execnodes.core.types import BOOLEAN, Field, LogicalType, row
from planner.logical import Join, Logical, Project, Scan, SetOperation, Sink, Values
from planner.physical import CompiledQuery

Sinks = tuple[Sink, ...]
R = TypeVar("R")


def once_a_node(compute: Callable[[Logical], R]) -> Callable[[Logical], R]:
    """A function of a node that keeps its result with the node: what a plan shares is looked at once."""
    name = f"_{compute.__name__}"

    @wraps(compute)
    def found(node: Logical) -> R:
        if name not in node.__dict__:
            node.__dict__[name] = compute(node)
        result: R = node.__dict__[name]
        return result

    return found


def inputs(node: Logical) -> tuple[Logical, ...]:
    """What the node reads."""
    match node:
        case Join():
            return (node.left, node.right)
        case SetOperation():
            return node.inputs
        case Scan() | Values() | CompiledQuery():
            return ()
        case _:
            return (node.input,)


def with_inputs(node: Logical, new: Sequence[Logical]) -> Logical:
    """The same node over other inputs; the very node if nothing changed."""
    if all(mine is other for mine, other in zip(inputs(node), new, strict=True)):
        return node
    match node:
        case Join():
            return replace(node, left=new[0], right=new[1])
        case SetOperation():
            return replace(node, inputs=tuple(new))
        case Scan() | Values() | CompiledQuery():
            return node
        case _:
            return replace(node, input=new[0])


def rewrite(sinks: Sinks, change: Callable[[Logical], Logical]) -> Sinks:
    """Change every node but the sinks, inputs first. A result is not visited again."""
    done: dict[int, Logical] = {}

    def visit(node: Logical) -> Logical:
        found = done.get(id(node))
        if found is None:
            found = done[id(node)] = change(with_inputs(node, [visit(each) for each in inputs(node)]))
        return found

    return tuple(with_input(sink, visit(sink.input)) for sink in sinks)


def with_input(sink: Sink, new: Logical) -> Sink:
    """The same sink over another input."""
    return sink if new is sink.input else replace(sink, input=new)


def leaves(node: Logical) -> Iterable[Logical]:
    """All operators below that read no other, left to right, each once."""
    seen: set[int] = set()

    def visit(each: Logical) -> Iterable[Logical]:
        if id(each) in seen:
            return
        seen.add(id(each))
        below = inputs(each)
        if not below:
            yield each
        for source in below:
            yield from visit(source)

    return visit(node)


def references(type: LogicalType, indexes: Iterable[int] | None = None) -> tuple[InputRef, ...]:
    """Input references to all columns of a row type, or to some of them."""
    picked = range(len(type.fields)) if indexes is None else indexes
    return tuple(InputRef.model_construct(input_index=each, type=type.fields[each].type) for each in picked)


def pick(type: LogicalType, indexes: Iterable[int]) -> LogicalType:
    """The row type of some columns."""
    return row(*(type.fields[each] for each in indexes))


def columns_of(node: Logical, indexes: Sequence[int]) -> Logical:
    """Exactly these columns of a node, in this order."""
    if list(indexes) == list(range(len(node.type.fields))):
        return node
    return Project(node, references(node.type, indexes), pick(node.type, indexes))


def is_call(expression: Expression, *names: str) -> bool:
    """True for a call of one of these functions, whatever their version."""
    return isinstance(expression, Call) and function_name(expression) in names


def function_name(call: Call) -> str:
    """``=`` of ``$=$1``."""
    return call.internal_name[1:].rpartition("$")[0]


def conjuncts(condition: Expression) -> list[Expression]:
    """The parts of nested ANDs, without TRUE; a BETWEEN counts as two comparisons."""
    parts: list[Expression] = []
    left = [condition]
    while left:
        each = left.pop()
        if isinstance(each, Call) and function_name(each) == "AND":
            left.extend(reversed(each.operands))
        elif isinstance(each, Call) and function_name(each) == "BETWEEN" and is_deterministic(each):
            value, low, high = each.operands
            parts += [_compared(">=", value, low), _compared("<=", value, high)]
        elif not (isinstance(each, Literal) and each.value is True):
            parts.append(each)
    return parts


def _compared(operator: str, value: Expression, bound: Expression) -> Call:
    nullable = value.type.nullable or bound.type.nullable
    return Call(internal_name=f"${operator}$1", operands=(value, bound), type=BOOLEAN.with_nullable(nullable))


def conjunction(parts: Sequence[Expression]) -> Expression | None:
    """All parts together; None for none."""
    if len(parts) < 2:
        return parts[0] if parts else None
    nullable = any(each.type.nullable for each in parts)
    return Call(internal_name="$AND$1", operands=tuple(parts), type=BOOLEAN.with_nullable(nullable))


TRUE = Literal(value=True, type=BOOLEAN.not_null())


def unique_names(type: LogicalType) -> LogicalType:
    """The row type with a number behind names that occurred before, as Flink does: ``k``, ``k0``."""
    seen: set[str] = set()
    numbers: dict[str, int] = {}
    fields = []
    taken = {field.name for field in type.fields}
    for field in type.fields:
        name, number = field.name, numbers.get(field.name, 0)
        while name in seen or (number and name in taken):
            name, number = f"{field.name}{number}", number + 1
        seen.add(name)
        numbers[field.name] = number
        fields.append(field if name == field.name else Field(name, field.type))
    return row(*fields)
