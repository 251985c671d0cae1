"""Collections as tables: what UNNEST gives for one row, an ARRAY of ROWs. Only the planner calls these."""

from __future__ import annotations

from functools import partial

from execnodes.core.expressions import Call
from execnodes.core.types import INT, Field, LogicalType, Root, array, row
from execnodes.functions.function import Binding, Function, Invocation
from execnodes.functions.scope import Scope
from execnodes.lowering.spark_sql import text_literal
from execnodes.lowering.stream import quote

_SIGNATURES = ("an ARRAY", "a MULTISET", "a MAP")


def _members(collection: LogicalType) -> tuple[Field, ...] | None:
    """The columns of one member; None for what is no collection."""
    if collection.root is Root.MAP:
        return Field("KEY", collection.key), Field("VALUE", collection.element)
    if collection.root not in (Root.ARRAY, Root.MULTISET):
        return None
    return collection.element.fields if _of_rows(collection) else (Field("EXPR$0", collection.element),)


def _of_rows(collection: LogicalType) -> bool:
    return collection.root is not Root.MAP and collection.element.root is Root.ROW


def _bind(call: Invocation, *, ordinality: bool) -> Binding | None:
    fields = _members(call.types[0]) if len(call.operands) == 1 else None
    if fields is None:
        return None
    if ordinality:
        name = "ORDINALITY"
        while any(each.name == name for each in fields):
            name += "0"
        fields = (*fields, Field(name, INT.not_null()))
    return Binding(call.operands, array(row(*fields).not_null()).with_nullable(call.types[0].nullable))


def _lower(scope: Scope, call: Call, *, ordinality: bool) -> str:
    """NULL for a NULL collection. A NULL among ROWs is left out, but has a place; every other NULL is a member."""
    (operand,) = call.operands
    members, v, at = scope.text(operand), scope.fresh(), scope.fresh()
    collection = operand.type
    if collection.root is Root.MAP:
        members = f"map_entries({members})"
    elif collection.root is Root.MULTISET:
        members = f"flatten(transform(map_entries({members}), {v} -> array_repeat({v}.key, {v}.value)))"
    if _of_rows(collection) and not ordinality:
        return f"filter({members}, {v} -> {v} IS NOT NULL)"
    fields = call.type.element.fields
    if collection.root is Root.MAP:
        texts = [f"{v}.key", f"{v}.value"]
    elif _of_rows(collection):
        texts = [f"{v}.{quote(each.name)}" for each in collection.element.fields]
    else:
        texts = [v]
    if ordinality:
        texts.append(f"{at} + 1")
    cells = ", ".join(f"{text_literal(field.name)}, {text}" for field, text in zip(fields, texts, strict=True))
    made = f"named_struct({cells})"
    if not _of_rows(collection):
        return f"transform({members}, ({v}, {at}) -> {made})"
    known = f"transform({members}, ({v}, {at}) -> CASE WHEN {v} IS NOT NULL THEN {made} END)"
    return f"filter({known}, {v} -> {v} IS NOT NULL)"


def _function(name: str, *, ordinality: bool) -> Function:
    return Function(
        name, _SIGNATURES, partial(_bind, ordinality=ordinality), partial(_lower, ordinality=ordinality), since="1.3"
    )


UNNEST_ROWS = _function("UNNEST_ROWS", ordinality=False)
UNNEST_ROWS_WITH_ORDINALITY = _function("UNNEST_ROWS_WITH_ORDINALITY", ordinality=True)
