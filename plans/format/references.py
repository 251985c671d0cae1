"""Which columns the properties of a node refer to, wherever in the node they stand: one walk over its typed tree.

What a property refers to is told by its name, which means the same in all nodes; a test goes through the fields of all
node versions, so that a new one is either known here or said to be no column.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pydantic import BaseModel
from pydantic.alias_generators import to_camel

from execnodes.core.expressions import Call, Expression, FieldAccess, InputRef, Literal
from execnodes.core.node import ExecNode
from execnodes.core.over_spec import OverSpec
from execnodes.core.tables import ResolvedTable, TableReference
from execnodes.core.types import Field, LogicalType
from plans.format.walk import Path, walk

COLUMNS = frozenset(
    {
        *("grouping", "unique_keys", "partition_fields", "time_attribute_index", "rowtime_field_index"),
        *("input_upsert_key", "left_keys", "right_keys", "left_upsert_keys", "right_upsert_keys", "index", "arg_list"),
        *(
            "filter_arg",
            "window_start",
            "window_end",
            "slice_end",
            "partition_key_indices",
            "keys",
            "target_columns",
            "fields",
        ),
        *("partition_keys", "order_key", "primary_keys", "end_index"),
    }
)
"""Properties that are indexes of columns, or lists of such, of all inputs one after the other unless said otherwise."""
NUMBERS = frozenset(
    {
        *(
            "limit_start",
            "limit_end",
            "rank_start",
            "rank_end",
            "preceding",
            "following",
            "version",
            "input_index",
            "id",
        ),
        *("start", "end"),
        *("size", "slide", "offset", "max_size", "step", "gap", "original_input_fields"),
    }
)
"""Whole numbers that are no columns."""
_LEFT = ("left_keys", "left_upsert_keys")
_RIGHT = ("right_keys", "right_upsert_keys")
_APART = ("state", "id", "output_type", "changelog_mode", "input_properties")
"""What holds no columns, and what is over one input each."""
_COLUMNS = frozenset(map(to_camel, COLUMNS))
_NONE = "filterArg"
"""Its -1 means that there is none."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What properties at some place may refer to."""

    columns: tuple[Field, ...]
    name: str


@dataclass(frozen=True, slots=True)
class Column:
    """A property that is an index."""

    path: Path
    index: int
    scope: Scope
    none: bool = False
    """Whether -1 is one of its values."""


@dataclass(frozen=True, slots=True)
class Part:
    """An expression, or a part of one."""

    path: Path
    expression: Expression
    scope: Scope


def references(node: ExecNode, inputs: tuple[LogicalType, ...]) -> Iterator[Column | Part]:
    """Every index and every part of an expression in a node, with what it is over."""
    columns = tuple(field for each in inputs for field in each.fields)
    scope = Scope(columns, "its input" if len(inputs) == 1 else "its inputs")

    def into(model: BaseModel, name: str, scope: Scope) -> Scope | None:
        if isinstance(model, Call):
            return scope
        return None if model is node and name in _APART else _scope(node, name, inputs, _tables(model, scope))

    yield from _found(walk(node, scope, into))
    for at, (each, type) in enumerate(zip(node.input_properties, inputs, strict=False)):
        within = Scope(type.fields, f"its input {at}")
        yield from _found(walk(each, within, into, ((None, "inputProperties"), at)))


def _found(values: Iterable[tuple[Path, object, Scope]]) -> Iterator[Column | Part]:
    for path, value, scope in values:
        if isinstance(value, InputRef | Literal | Call | FieldAccess):
            yield Part(path, value, scope)
        elif isinstance(value, int) and not isinstance(value, bool):
            name = _property(path)
            if name in _COLUMNS:
                yield Column(path, value, scope, none=name == _NONE)


def _property(path: Path) -> str:
    """The name of the property that a number stands in, in a list or not."""
    while path is not None:
        path, step = path
        if isinstance(step, str):
            return step
    return ""


def _scope(node: ExecNode, name: str, inputs: tuple[LogicalType, ...], scope: Scope) -> Scope:
    """What a property of this name is over, where that differs from what its surroundings are over."""
    if name == "agg_calls":
        local = getattr(node, "local_agg_input_row_type", None)
        return Scope(local.fields, "localAggInputRowType") if isinstance(local, LogicalType) else scope
    spec = getattr(node, "over_spec", None)
    if name == "groups" and isinstance(spec, OverSpec):
        constants = (Field(f"constant {at}", each.type) for at, each in enumerate(spec.constants))
        return Scope((*scope.columns, *constants), f"{scope.name} and the constants")
    if name in _LEFT or name in _RIGHT:
        number = 0 if name in _LEFT else 1
        return Scope(inputs[number].fields if number < len(inputs) else (), f"its input {number}")
    if name == "abilities":
        return Scope(node.output_type.fields, "what is read")
    return scope


def _tables(value: BaseModel, scope: Scope) -> Scope:
    if isinstance(value, ResolvedTable):
        return Scope(value.table_schema.row_type.fields, "the table")
    table = getattr(value, "table", None) if "table" in type(value).model_fields else None
    if isinstance(table, TableReference) and table.resolved_table is not None:
        return Scope(table.resolved_table.table_schema.row_type.fields, "the table")
    return scope
