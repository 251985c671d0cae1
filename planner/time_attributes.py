"""Which columns still are event time, and which tell the bounds of a window, after what has happened to the rows."""

from __future__ import annotations

from dataclasses import dataclass

from execnodes.core.expressions import InputRef
from execnodes.core.types import LogicalType
from planner.logical import (
    Filter,
    Logical,
    Project,
    SetOperation,
    Sort,
    WatermarkAssigner,
    Window,
    WindowTableFunction,
)
from planner.physical import CompiledQuery, Deduplicate, Expand, Normalize, WindowAggregate
from planner.tree import once_a_node

START, END, TIME = "WindowStart", "WindowEnd", "WindowTime"


def is_event_time(node: Logical, index: int) -> bool:
    """True if the column is an event-time attribute; joins and ordinary aggregates make plain timestamps of them."""
    known = _event_times(node)
    if index not in known:
        known[index] = _is_event_time(node, index)
    return known[index]


@once_a_node
def _event_times(node: Logical) -> dict[int, bool]:
    """What is known of the columns so far."""
    return {}


def _is_event_time(node: Logical, index: int) -> bool:
    match node:
        case CompiledQuery():
            return node.type.fields[index].type.is_time_attribute
        case WatermarkAssigner():
            return index == node.time_index or is_event_time(node.input, index)
        case Filter() | Deduplicate() | Normalize() | Sort():
            return is_event_time(node.input, index)
        case Project():
            column = node.expressions[index]
            return isinstance(column, InputRef) and is_event_time(node.input, column.input_index)
        case SetOperation():
            return all(is_event_time(each, index) for each in node.inputs)
        case Expand():
            columns = [some[index] for some in node.projects]
            return all(isinstance(each, InputRef) and is_event_time(node.input, each.input_index) for each in columns)
        case WindowTableFunction():
            width = len(node.input.type.fields)
            return index == width + 2 or (index < width and is_event_time(node.input, index))
        case WindowAggregate():
            first = len(node.type.fields) - len(node.properties)
            return index >= first and node.properties[index - first].property == TIME
        case _:
            return False


@dataclass(frozen=True)
class WindowColumn:
    """A column that tells something of the window a row is in."""

    window: Window
    time_type: LogicalType
    property: str
    """WindowStart, WindowEnd or WindowTime."""


@once_a_node
def window_columns(node: Logical) -> dict[int, WindowColumn]:
    """Window columns of a node by index."""
    match node:
        case WindowTableFunction():
            width = len(node.input.type.fields)
            time_type = node.input.type.fields[node.time_index].type
            own = {width + at: WindowColumn(node.window, time_type, each) for at, each in enumerate((START, END, TIME))}
            return window_columns(node.input) | own
        case WindowAggregate():
            first = len(node.type.fields) - len(node.properties)
            return {
                first + at: WindowColumn(node.window, node.time_type, each.property)
                for at, each in enumerate(node.properties)
            }
        case Project():
            below = window_columns(node.input)
            refs = ((at, each.input_index) for at, each in enumerate(node.expressions) if isinstance(each, InputRef))
            return {at: below[index] for at, index in refs if index in below}
        case Filter() | Deduplicate() | Normalize() | WatermarkAssigner():
            return window_columns(node.input)
        case SetOperation():
            first_input, *others = (window_columns(each) for each in node.inputs)
            return {at: each for at, each in first_input.items() if all(other.get(at) == each for other in others)}
        case _:
            return {}
