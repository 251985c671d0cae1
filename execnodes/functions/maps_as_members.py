"""Functions since 2.0 over collections that hold MAPs, which Spark does not compare: their entries are, in order."""

from __future__ import annotations

from dataclasses import replace

from execnodes.core.errors import SqlError
from execnodes.core.expressions import Call
from execnodes.core.types import LogicalType, Root
from execnodes.functions.arrays import (
    ARRAY_CONTAINS,
    ARRAY_DISTINCT,
    ARRAY_POSITION,
    ARRAY_REMOVE,
)
from execnodes.functions.collections import MAP, MAP_ENTRIES, MAP_FROM_ARRAYS, SETS
from execnodes.functions.function import Binding, Function, Invocation, Lower, Operands
from execnodes.functions.scope import Scope
from execnodes.lowering.spark_sql import text_literal
from execnodes.lowering.stream import quote


def holds_maps(t: LogicalType) -> bool:
    """Whether values of a type are MAPs, or have some within them."""
    members = [each.type for each in t.fields] if t.root is Root.ROW else list(t.children)
    return t.root in (Root.MAP, Root.MULTISET) or any(map(holds_maps, members))


def _of_maps(operands: Operands) -> bool:
    return operands[0].type.root is Root.ARRAY and holds_maps(operands[0].type.element)


def comparable(scope: Scope, text: str, t: LogicalType) -> str:
    """A value that Spark compares; NULL where `text` is."""
    if not holds_maps(t):
        return text
    each = scope.fresh()
    if t.root is Root.ARRAY:
        return f"transform({text}, {each} -> {comparable(scope, each, t.element)})"
    if t.root is Root.ROW:

        def fields(row: str) -> str:
            members = (
                f"{text_literal(f.name)}, {comparable(scope, f'{row}.{quote(f.name)}', f.type)}" for f in t.fields
            )
            return f"if({row} IS NULL, NULL, named_struct({', '.join(members)}))"

        return scope.share(text, fields)
    value = f"element_at({{}}, {each})"

    def entries(m: str) -> str:
        found = comparable(scope, value.format(m), t.element) if t.root is Root.MAP else value.format(m)
        return f"transform(array_sort(map_keys({m})), {each} -> named_struct('k', {each}, 'v', {found}))"

    return scope.share(text, entries)


def _lower_member(form: str) -> Lower:
    """By a text with ``{0}`` for the ARRAY, ``{1}`` for a member, ``{2}`` for the comparable form of the operand."""

    def lower(scope: Scope, call: Call) -> str:
        values, member = call.operands
        array, each = scope.text(values), scope.fresh()
        wanted = comparable(scope, scope.text(member), values.type.element)
        same = f"{comparable(scope, each, values.type.element)} <=> {wanted}"
        return form.format(array, each, same)

    return lower


def keys_of(scope: Scope, values: str, element: LogicalType) -> str:
    """An ARRAY of what Spark compares in place of the members of an ARRAY."""
    each = scope.fresh()
    return f"transform({values}, {each} -> named_struct('m', {comparable(scope, each, element)}))"


def distinct(scope: Scope, values: str, element: LogicalType) -> str:
    """Of alike members the first one stays."""
    at, known = scope.fresh(), scope.fresh()

    def body(a: str) -> str:
        keys = keys_of(scope, a, element)
        first = scope.share(
            keys, lambda k: f"filter({a}, ({known}, {at}) -> array_position({k}, {k}[{at}]) = {at} + 1)"
        )
        return f"if({a} IS NULL, NULL, {first})"

    return scope.share(values, body)


def _lower_distinct(scope: Scope, call: Call) -> str:
    values = call.operands[0]
    return distinct(scope, scope.text(values), values.type.element)


def _newer(old: Function, lower: Lower) -> Function:
    return replace(old, lower=lower, version=2, since="2.0", only=_of_maps)


_PLACE = "if({0} IS NULL, NULL, CAST(coalesce(array_position(transform({0}, {1} -> {2}), TRUE), 0) AS INT))"
MEMBERS = (
    _newer(ARRAY_CONTAINS, _lower_member("exists({0}, {1} -> {2})")),
    _newer(ARRAY_REMOVE, _lower_member("filter({0}, {1} -> NOT ({2}))")),
    _newer(ARRAY_POSITION, _lower_member(_PLACE)),
    _newer(ARRAY_DISTINCT, _lower_distinct),
)


def _lower_entries(scope: Scope, call: Call) -> str:
    """In the order of the keys."""
    key = scope.fresh()

    def entries(m: str) -> str:
        entry = f"named_struct('key', {key}, 'value', element_at({m}, {key}))"
        return f"transform(array_sort(map_keys({m})), {key} -> {entry})"

    return scope.share(scope.text(call.operands[0]), entries)


MAP_ENTRIES_2 = replace(
    MAP_ENTRIES, lower=_lower_entries, version=2, since="2.0", only=lambda t: holds_maps(t[0].type.element)
)


def _refusing(old: Function) -> Function:
    """As `old`, but ARRAYs of what has no order, or is not compared, are refused."""

    def bind(call: Invocation) -> Binding | None:
        if call.operands and _of_maps(call.operands):
            raise SqlError(
                f"{call.name} does not compare members of type {call.types[0].element}",
                position=call.position,
                hint="MAPs are found with ARRAY_CONTAINS and ARRAY_POSITION, and made distinct with ARRAY_DISTINCT.",
            )
        return old.bind(call)

    return replace(old, bind=bind, version=2, since="2.0", only=lambda operands: False)


REFUSING_SETS = tuple(map(_refusing, SETS))


def _with_keys(old: Function) -> Function:
    """As `old`; a key that is NULL or holds a MAP is refused by name, as Spark's MAPs have none."""

    def bind(call: Invocation) -> Binding | None:
        made = old.bind(call)
        if made is not None and holds_maps(made.type.key):
            raise SqlError(
                f"a key of a MAP cannot be of type {made.type.key}",
                position=call.position,
                hint="Take a text of it for the key: CAST(… AS STRING).",
            )
        return made

    return replace(old, bind=bind, lower=_lower_keys(old.lower), version=2, since="2.0", only=_may_have_null_keys)


def _may_have_null_keys(operands: Operands) -> bool:
    if operands and operands[0].type.root is Root.ARRAY and len(operands) == 2:
        return operands[0].type.element.nullable
    return any(each.type.nullable for each in operands[::2])


def _lower_keys(earlier: Lower) -> Lower:
    def lower(scope: Scope, call: Call) -> str:
        first = call.operands[0]
        if call.internal_name.startswith("$MAP$"):
            missing = " OR ".join(f"{text} IS NULL" for text in scope.texts(call.operands[::2]))
        else:
            key = scope.fresh()
            missing = f"exists({scope.text(first)}, {key} -> {key} IS NULL)"
        fails = scope.failure("a key of a MAP is NULL")
        return f"if({missing}, {fails}, {earlier(scope, call)})"

    return lower


KEYS = (_with_keys(MAP), _with_keys(MAP_FROM_ARRAYS))
