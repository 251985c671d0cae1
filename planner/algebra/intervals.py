"""Which joins bound the time between their rows, and by how much. Source: Flink's `IntervalJoinUtil`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from execnodes.core.expressions import Call, Expression, InputRef, Literal, walk
from execnodes.core.types import Root, TimeKind
from execnodes.functions import evaluate_constant
from planner.algebra.aggregate import Aggregate
from planner.algebra.filter import Filter
from planner.algebra.predicates import MIRRORED, TRUE, conjunction, conjuncts, function_name
from planner.algebra.project import Project
from planner.algebra.relation import Logical


@dataclass(frozen=True)
class TimeBound:
    """A comparison of a time attribute of the left input with one of the right."""

    condition: Expression
    sign: str
    """With the left time first."""
    left: int
    right: int
    """From 0 on its side."""
    by_processing_time: bool
    apart: int | None
    """What left time - right time is compared with, in milliseconds; None if that is no constant."""


@dataclass(frozen=True)
class Interval:
    """Bounds of left time - right time, in milliseconds, inclusive."""

    left: int
    right: int
    """Columns with the times, from 0 on each side."""
    lower: int
    upper: int
    conditions: tuple[Expression, ...]
    """Those of the join that say so."""

    def rest_of(self, condition: Expression) -> Expression:
        """What else the join asks for."""
        return conjunction([each for each in conjuncts(condition) if each not in self.conditions]) or TRUE


def find_time_bounds(left: Logical, right: Logical, conditions: Sequence[Expression]) -> list[TimeBound]:
    """Those that make an interval join, as Flink tells one; none if they do not.

    These are one equality of two time attributes as they are, or one lower and one upper bound, and no others besides.
    """
    found: list[TimeBound] = []
    for each in conditions:
        bound = _find_bound(each, left, right)
        if bound is not None and bound not in found:
            found.append(bound)
    return found if sorted(each.sign[0] for each in found) in (["<", ">"], ["="]) else []


def find_interval(bounds: Sequence[TimeBound]) -> Interval | None:
    """What they bound; None where that is not the distance of one event time on each side."""
    times = {(each.left, each.right, each.by_processing_time) for each in bounds}
    lower = [each.apart + (each.sign == ">") for each in bounds if each.apart is not None and each.sign[0] in ">="]
    upper = [each.apart - (each.sign == "<") for each in bounds if each.apart is not None and each.sign[0] in "<="]
    if len(times) != 1 or not lower or not upper:
        return None
    ((left, right, by_processing_time),) = times
    if by_processing_time:
        return None
    return Interval(left, right, lower[0], upper[0], tuple(each.condition for each in bounds))


def _find_bound(condition: Expression, left: Logical, right: Logical) -> TimeBound | None:
    """What a comparison of two expressions with one time attribute each, of the same kind and different sides, says."""
    sign = function_name(condition) if isinstance(condition, Call) else ""
    if not isinstance(condition, Call) or sign not in MIRRORED:
        return None
    if sign == "=" and not all(isinstance(each, InputRef) for each in condition.operands):
        # What is computed is compared as a key.
        return None
    width = len(left.type.fields)
    times = [_time_attribute(each, left, right) for each in condition.operands]
    if times[0] is None or times[1] is None:
        return None
    (first, by_processing_time), (second, also) = times[0], times[1]
    if by_processing_time is not also or (first < width) is (second < width):
        return None
    shifts = [_shift_of(each) for each in condition.operands]
    if first >= width:
        sign, first, second, shifts = MIRRORED[sign], second, first, shifts[::-1]
    mine, its = shifts
    apart = None if mine is None or its is None else its - mine
    return TimeBound(condition, sign, first, second - width, by_processing_time, apart)


def _shift_of(expression: Expression) -> int | None:
    """By how many milliseconds it is more than the one column in it; None if that depends on the column."""
    if isinstance(expression, InputRef):
        return 0
    if not isinstance(expression, Call):
        return None
    operands = expression.operands
    below = _shift_of(operands[0])
    match function_name(expression):
        case "CAST":
            source, target = operands[0].type, expression.type
            exact = source.root is target.root and target.precision >= source.precision
            return below if exact else None
        case "+" | "-" as name:
            length = evaluate_constant(operands[1])
            if below is None or length is None or not _is_duration(length):
                return None
            return below + (1 if name == "+" else -1) * int(str(length.value))
        case _:
            # Flink takes what any other function makes of the epoch for its shift.
            return None


def _is_duration(literal: Literal) -> bool:
    return literal.type.root is Root.INTERVAL_DAY_TIME and literal.value is not None


def _time_attribute(expression: Expression, left: Logical, right: Logical) -> tuple[int, bool] | None:
    """The only column, if it is a time attribute, and whether it is a processing time."""
    columns = [each.input_index for each in walk(expression) if isinstance(each, InputRef)]
    if len(columns) != 1:
        return None
    width = len(left.type.fields)
    side, at = (left, columns[0]) if columns[0] < width else (right, columns[0] - width)
    if at in side.event_times:
        return columns[0], False
    return (columns[0], True) if _is_processing_time(side, at) else None


def _is_processing_time(node: Logical, column: int) -> bool:
    """The result of an aggregate function is no time attribute, though MAX has the type of its argument."""
    while isinstance(node, Project | Filter):
        if isinstance(node, Project):
            expression = node.expressions[column]
            if not isinstance(expression, InputRef):
                break
            column = expression.input_index
        node = node.input
    if isinstance(node, Aggregate) and column >= len(node.grouping):
        return False
    return node.type.fields[column].type.kind is TimeKind.PROCTIME
