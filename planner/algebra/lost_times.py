"""What has ended a time attribute: a join or an aggregate gives a time as a value like any other, as in Flink."""

from __future__ import annotations

from execnodes.core.errors import Position
from execnodes.core.expressions import InputRef, input_indexes
from planner.algebra.aggregate import Aggregate
from planner.algebra.join import Join
from planner.algebra.project import Project
from planner.algebra.relation import Logical, Unary


def explain_lost_time(node: Logical, column: int, title: str = "") -> str:
    """A sentence for the hint of an error, with a blank after it; empty where the column never was a time attribute.

    `title`: how the statement calls the column, if not by its name.
    """
    name = repr(title or node.type.fields[column].name)
    while column not in node.event_times:
        match node:
            case Project():
                expression = node.expressions[column]
                if not isinstance(expression, InputRef):
                    ended = any(at in node.input.event_times for at in input_indexes(expression))
                    return f"{name} is computed, which ended the time attribute. " if ended else ""
                node, column = node.input, expression.input_index
            case Join():
                width = len(node.left.type.fields)
                side, column = (node.left, column) if column < width else (node.right, column - width)
                if column in side.event_times:
                    return f"The join{_at(node.position)} ended the time attribute {name}. "
                node = side
            case Aggregate() if column < len(node.grouping):
                column = node.grouping[column]
                if column in node.input.event_times:
                    return f"The GROUP BY{_at(node.position)} ended the time attribute {name}. "
                node = node.input
            case Unary() if node.type.fields[: len(node.input.type.fields)] == node.input.type.fields:
                if column >= len(node.input.type.fields):
                    return ""
                node = node.input
            case _:
                # What makes the column is in its own place: nothing ended a time attribute on the way.
                return ""
    return ""


def _at(position: Position | None) -> str:
    return "" if position is None else f" in {position}"
