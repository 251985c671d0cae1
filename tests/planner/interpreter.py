"""Runs small logical plans over rows in memory, as SQL defines them: what rules must not change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from execnodes.core.expressions import AggregateCall, Call, Expression, InputRef, Literal
from planner.algebra import Aggregate, Filter, Join, JoinType, Logical, Project, Scan, SetKind, SetOperation
from planner.algebra.predicates import function_name

Row = tuple[object, ...]


def run(node: Logical, tables: Mapping[str, list[dict[str, object]]], *, batch: bool = False) -> Counter[Row]:
    """The rows of a plan with their multiplicity; `batch`: an aggregate without keys has a row over no rows, too.

    TypeError for what is not interpreted.
    """
    match node:
        case Scan():
            names = [field.name for field in node.type.fields]
            name = (node.identifier or ("", "", ""))[2]
            return Counter(tuple(each[column] for column in names) for each in tables[name])
        case Project():
            return _sum(
                (tuple(value(e, each) for e in node.expressions), n)
                for each, n in run(node.input, tables, batch=batch).items()
            )
        case Filter():
            below = run(node.input, tables, batch=batch)
            return Counter({each: n for each, n in below.items() if value(node.condition, each) is True})
        case SetOperation():
            return _combine(node, [run(each, tables, batch=batch) for each in node.inputs])
        case Aggregate():
            return _aggregate(node, run(node.input, tables, batch=batch), batch)
        case Join():
            left, right = (run(each, tables, batch=batch) for each in (node.left, node.right))
            return _join(node, left, right)
        case _:
            raise TypeError(type(node).__name__)


def _combine(node: SetOperation, inputs: list[Counter[Row]]) -> Counter[Row]:
    if node.kind is SetKind.UNION:
        total = sum(inputs, Counter())
        return total if node.all else Counter(set(total))
    first, *others = (set(each) for each in inputs)
    keep = set.intersection if node.kind is SetKind.INTERSECT else set.difference
    return Counter(keep(first, *others))


def _sum(rows: object) -> Counter[Row]:
    found: Counter[Row] = Counter()
    for each, n in rows:  # type: ignore[attr-defined]
        found[each] += n
    return found


def _aggregate(node: Aggregate, rows: Counter[Row], batch: bool) -> Counter[Row]:
    groups: dict[Row, list[Row]] = {(): []} if batch and not node.grouping else {}
    for each in rows.elements():
        groups.setdefault(tuple(each[k] for k in node.grouping), []).append(each)
    return Counter((*key, *(_called(call, of_key) for call in node.calls)) for key, of_key in groups.items())


def _called(call: AggregateCall, rows: list[Row]) -> object:
    """The result over the rows of a group."""
    passing = [each for each in rows if call.filter_arg < 0 or each[call.filter_arg] is True]
    if not call.arg_list:
        return len(passing)
    found = [value for each in passing if isinstance(value := each[call.arg_list[0]], int)]
    values = sorted(set(found)) if call.distinct else found
    match call.internal_name.split("$")[1]:
        case "COUNT":
            return len(values)
        case "SUM":
            return sum(values) if values else None
        case "MIN":
            return min(values, default=None)
        case "MAX":
            return max(values, default=None)
        case name:
            raise TypeError(name)


def _join(node: Join, left: Counter[Row], right: Counter[Row]) -> Counter[Row]:
    pairs = [(a, b) for a in left for b in right if value(node.condition, (*a, *b)) is True]
    lefts, rights = {a for a, _ in pairs}, {b for _, b in pairs}
    if node.kind in (JoinType.SEMI, JoinType.ANTI):
        return Counter({a: n for a, n in left.items() if (a in lefts) is (node.kind is JoinType.SEMI)})
    found = _sum(((*a, *b), left[a] * right[b]) for a, b in pairs)
    width, other = len(node.left.type.fields), len(node.right.type.fields)
    if node.kind in (JoinType.LEFT, JoinType.FULL):
        found += _sum(((*a, *[None] * other), n) for a, n in left.items() if a not in lefts)
    if node.kind in (JoinType.RIGHT, JoinType.FULL):
        found += _sum(((*[None] * width, *b), n) for b, n in right.items() if b not in rights)
    return found


def value(expression: Expression, row: Row) -> object:
    """Three-valued logic; NULL is None."""
    match expression:
        case InputRef():
            return row[expression.input_index]
        case Literal():
            return expression.value
        case Call():
            return _call(function_name(expression), [value(each, row) for each in expression.operands])
        case _:
            raise TypeError(type(expression).__name__)


def _call(name: str, operands: list[object]) -> object:
    if name == "AND":
        return False if False in operands else None if None in operands else True
    if name in ("IS NULL", "IS NOT NULL"):
        return (operands[0] is None) is (name == "IS NULL")
    if name == "OR":
        return True if True in operands else None if None in operands else False
    if name == "IS TRUE":
        return operands[0] is True
    if name == "CASE":
        pairs = zip(operands[:-1:2], operands[1::2], strict=True)
        return next((result for condition, result in pairs if condition is True), operands[-1])
    if name == "COALESCE":
        return next((each for each in operands if each is not None), None)
    if name == "IS NOT DISTINCT FROM":
        return operands[0] == operands[1]
    if name == "IN":
        return True if operands[0] is not None and operands[0] in operands[1:] else None if None in operands else False
    if name == "NOT IN":
        member = _call("IN", operands)
        return None if member is None else not member
    if None in operands:
        return None
    match name, operands:
        case "=", [a, b]:
            return a == b
        case "<>", [a, b]:
            return a != b
        case "NOT", [a]:
            return not a
        case ">" | "<" | ">=" | "<=", [int(a), int(b)]:
            return {">": a > b, "<": a < b, ">=": a >= b, "<=": a <= b}[name]
        case "CAST", [int(a)]:
            return a
        case "+" | "-" | "*", [int(a), int(b)]:
            return {"+": a + b, "-": a - b, "*": a * b}[name]
        case _:
            raise TypeError(name)
