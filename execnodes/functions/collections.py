"""ARRAY, MAP and ROW: constructors, access, functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from execnodes.core.errors import SqlError
from execnodes.core.expressions import Call, Expression, Literal
from execnodes.core.types import INT, INTEGERS, STRING, Field, LogicalType, Root, array, map_of, row
from execnodes.functions.cast_texts import print_text
from execnodes.functions.conversion import convert
from execnodes.functions.function import Binding, Function, Invocation, Types, form, function
from execnodes.functions.scope import Scope
from execnodes.functions.type_rules import can_cast_implicitly, common_type
from execnodes.lowering.spark_sql import spark_type, text_literal


def _alike(operands: Sequence[Expression]) -> tuple[tuple[Expression, ...], LogicalType] | None:
    """Operands in their common type, and that type."""
    found = common_type(each.type for each in operands)
    if found is None:
        return None
    wanted = found.regular()
    return tuple(convert(each, wanted) for each in operands), wanted


def _reject_untyped(call: Invocation, operands: Sequence[Expression]) -> None:
    """SqlError where nothing says which type a NULL has."""
    if operands and all(each.type.root is Root.NULL for each in operands):
        raise SqlError(
            f"NULL alone has no type in {call.name}", position=call.position, hint="Write CAST(NULL AS type)."
        )


def _bind_array(call: Invocation) -> Binding | None:
    _reject_untyped(call, call.operands)
    made = _alike(call.operands) if call.operands else None
    return None if made is None else Binding(made[0], array(made[1]).not_null())


def _lower_array(scope: Scope, call: Call) -> str:
    return f"array({', '.join(scope.texts(call.operands))})"


ARRAY = Function("ARRAY", ("ARRAY[ANY, … of one kind]",), _bind_array, _lower_array)


def _bind_map(call: Invocation) -> Binding | None:
    if not call.operands or len(call.operands) % 2:
        return None
    _reject_untyped(call, call.operands[::2])
    keys, values = _alike(call.operands[::2]), _alike(call.operands[1::2])
    if keys is None or values is None:
        return None
    operands = [each for pair in zip(keys[0], values[0], strict=True) for each in pair]
    return Binding(tuple(operands), map_of(keys[1], values[1]).not_null())


def _lower_map(scope: Scope, call: Call) -> str:
    return f"map({', '.join(scope.texts(call.operands))})"


MAP = Function("MAP", ("MAP[key, value, … of one kind each]",), _bind_map, _lower_map)


def _bind_row(call: Invocation) -> Binding | None:
    if not call.operands:
        return None
    _reject_untyped(call, call.operands)
    operands = tuple(convert(each, STRING) if each.type.root is Root.NULL else each for each in call.operands)
    fields = (Field(f"EXPR${index}", each.type.regular()) for index, each in enumerate(operands))
    return Binding(operands, row(*fields).not_null())


def _lower_row(scope: Scope, call: Call) -> str:
    pairs = zip(call.type.fields, scope.texts(call.operands), strict=True)
    return f"named_struct({', '.join(f'{text_literal(field.name)}, {text}' for field, text in pairs)})"


ROW = Function("ROW", ("ROW(ANY, …)",), _bind_row, _lower_row)


def _bind_item(call: Invocation) -> Binding | None:
    """A member may always be missing."""
    if len(call.operands) != 2:
        return None
    collection, key = call.operands
    if collection.type.root is Root.MAP:
        if common_type((collection.type.key, key.type)) is None:
            return None
        return Binding((collection, convert(key, collection.type.key)), collection.type.element.with_nullable(True))
    if collection.type.root is not Root.ARRAY or key.type.root not in INTEGERS:
        return None
    if isinstance(key, Literal) and isinstance(key.value, int) and key.value < 1:
        raise SqlError("places in an ARRAY count from 1", position=call.position, hint="Write array[1] for the first.")
    return Binding((collection, key), collection.type.element.with_nullable(True))


def _lower_item(scope: Scope, call: Call) -> str:
    collection, key = scope.texts(call.operands)
    if call.operands[0].type.root is Root.MAP:
        return f"element_at({collection}, {key})"
    return f"get({collection}, CAST({key} AS INT) - 1)"


ITEM = Function("ITEM", ("ARRAY[INTEGER]", "MAP[key]"), _bind_item, _lower_item)


def _lower_cardinality(scope: Scope, call: Call) -> str:
    """Of a MAP written in place its keys are counted, as NULL may be one, which Spark's maps do not hold."""
    operand = call.operands[0]
    if isinstance(operand, Call) and operand.internal_name.startswith("$MAP$"):
        return f"size(array_distinct(array({', '.join(scope.texts(operand.operands[::2]))})))"
    text = scope.text(operand)
    return f"if({text} IS NULL, NULL, size({text}))"


CARDINALITY = function("CARDINALITY", form("COLLECTION", INT), sql=_lower_cardinality)


def _lower_element(scope: Scope, call: Call) -> str:
    failure = scope.failure("ELEMENT: the ARRAY has more than one member")
    return scope.share(scope.text(call.operands[0]), lambda a: f"if(size({a}) > 1, {failure}, get({a}, 0))")


ELEMENT = function("ELEMENT", form("ARRAY", lambda types: types[0].element, nullable=True), sql=_lower_element)

MAP_KEYS = function("MAP_KEYS", form("MAP", lambda types: array(types[0].key)), sql="array_sort(map_keys({0}))")


def _lower_values(scope: Scope, call: Call) -> str:
    """In the order of the keys, as MAP_KEYS."""
    key = scope.fresh()
    return scope.share(
        scope.text(call.operands[0]), lambda m: f"transform(array_sort(map_keys({m})), {key} -> element_at({m}, {key}))"
    )


MAP_VALUES = function("MAP_VALUES", form("MAP", lambda types: array(types[0].element)), sql=_lower_values)


def _entries(types: Sequence[LogicalType]) -> LogicalType:
    return array(row(Field("key", types[0].key), Field("value", types[0].element)))


MAP_ENTRIES = function("MAP_ENTRIES", form("MAP", _entries), sql="array_sort(map_entries({0}))")
MAP_FROM_ARRAYS = function(
    "MAP_FROM_ARRAYS",
    form("ARRAY, ARRAY", lambda types: map_of(types[0].element, types[1].element)),
    sql="map_from_arrays({0}, {1})",
)


def _of_entries(types: Types) -> LogicalType | None:
    """Members must be pairs."""
    entry = types[0].element
    if entry.root is not Root.ROW or len(entry.fields) != 2:
        return None
    return map_of(entry.fields[0].type, entry.fields[1].type)


MAP_FROM_ENTRIES = function(
    "MAP_FROM_ENTRIES", form("ARRAY", _of_entries, nullable=True), sql="map_from_entries({0})", since="1.3"
)


def _bind_alike(root: Root, least: int) -> Callable[[Invocation], Binding | None]:
    """Collections of one kind, brought to their common type."""

    def bind(call: Invocation) -> Binding | None:
        if len(call.operands) < least or any(t.root not in (root, Root.NULL) for t in call.types):
            return None
        made = _alike(call.operands)
        if made is None or made[1].root is not root:
            return None
        return Binding(made[0], made[1].with_nullable(any(t.nullable for t in call.types)))

    return bind


def _lower_call(name: str) -> Callable[[Scope, Call], str]:
    return lambda scope, call: f"{name}({', '.join(scope.texts(call.operands))})"


MAP_UNION = Function("MAP_UNION", ("MAP_UNION(MAP, …)",), _bind_alike(Root.MAP, 1), _lower_call("map_concat"))
ARRAY_CONCAT = Function("ARRAY_CONCAT", ("ARRAY_CONCAT(ARRAY, …)",), _bind_alike(Root.ARRAY, 1), _lower_call("concat"))
SETS = tuple(
    Function(name, (f"{name}(ARRAY, ARRAY)",), _bind_alike(Root.ARRAY, 2), _lower_call(name.lower()))
    for name in ("ARRAY_UNION", "ARRAY_EXCEPT", "ARRAY_INTERSECT")
)


def bind_member(result: Callable[[LogicalType, LogicalType], LogicalType]) -> Callable[[Invocation], Binding | None]:
    """An ARRAY and something that becomes its element type without loss; `result` gives the type from both."""

    def bind(call: Invocation) -> Binding | None:
        if len(call.operands) != 2 or call.types[0].root is not Root.ARRAY:
            return None
        values, member = call.operands
        element = values.type.element
        if common_type((element, member.type)) is None:
            return None
        if not can_cast_implicitly(member.type, element) or not _allows_nulls(element, member.type):
            raise SqlError(
                f"{call.name}: {member.type} cannot be converted to {element} implicitly",
                position=call.position,
                hint=f"Cast one of the operands: CAST(… AS {element.with_nullable(True)}).",
            )
        converted = convert(member, element)
        return Binding((values, converted), result(values.type, converted.type))

    return bind


def _allows_nulls(target: LogicalType, source: LogicalType) -> bool:
    """Whether members that may be NULL are so in `target`, too; nullability of the values themselves is free."""
    if source.root is not target.root:
        return True
    return all(
        (to.nullable or not of.nullable) and _allows_nulls(to, of)
        for to, of in zip(_list_parts(target), _list_parts(source), strict=True)
    )


def _list_parts(t: LogicalType) -> list[LogicalType]:
    return [*t.children, *(each.type for each in t.fields)]


def widened(t: LogicalType, member: LogicalType) -> LogicalType:
    """The ARRAY type that may also hold the member; NULL where the member may be, as in Flink."""
    nullable = t.nullable or member.nullable
    return array(t.element.with_nullable(t.element.nullable or member.nullable)).with_nullable(nullable)


def lower_join(scope: Scope, call: Call) -> str:
    """Members as texts; NULLs are skipped, or written as the third operand."""
    values, *rest = call.operands
    text = scope.text(values)
    if values.type.element.root is not Root.VARCHAR:
        each = scope.fresh()
        text = f"transform({text}, {each} -> {print_text(scope, each, values.type.element)})"
    return f"array_join({', '.join([text, *scope.texts(rest)])})"


def empty(t: LogicalType) -> str:
    """An empty collection."""
    return f"CAST(array() AS {spark_type(t)})"
