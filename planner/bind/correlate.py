"""FROM: UNNEST and table functions of the user, which make rows of each row in front of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeGuard

from execnodes.core.errors import Position, SqlError
from execnodes.core.expressions import Call, Expression, InputRef, title, transform, user_calls
from execnodes.core.places import place
from execnodes.core.types import Field, Root
from execnodes.core.words import counted
from execnodes.functions import is_deterministic, resolve
from planner import syntax as s
from planner.algebra import Filter, Logical, Unnest
from planner.bind.builder import Builder
from planner.bind.expression_binder import Converter
from planner.bind.scope import Relation, Scope
from planner.bind.source import TRUE, Source, named, project, refs, row_of
from planner.bind.user_functions import bind_table, find_table
from planner.bind.windows import is_window_function
from planner.bind.written import written

Correlated = s.Unnest | s.TableFunction


def reads_rows_in_front(node: s.Relation) -> TypeGuard[Correlated]:
    """Whether a relation is made anew for each row of those in front of it."""
    return isinstance(node, s.Unnest) or (isinstance(node, s.TableFunction) and not is_window_function(node))


def join_correlated(builder: Builder, left: Source, node: s.Join, right: Correlated) -> Source:
    """The rows in front, each with the rows that are made of it."""
    what = "UNNEST" if isinstance(right, s.Unnest) else "LATERAL TABLE"
    if node.kind in ("RIGHT", "FULL") or node.using or node.natural:
        kind = "NATURAL JOIN" if node.natural else "JOIN … USING" if node.using else f"{node.kind} JOIN"
        raise SqlError(f"{kind} of {what} is not supported", position=node.position, hint="Write CROSS or LEFT JOIN.")
    if right.alias and right.alias.name in {each.alias for each in left.scope.relations}:
        raise SqlError(
            f"two relations are named '{right.alias.name}'", position=right.position, hint="Give one an alias."
        )
    source = correlated(builder, left, right, node.kind == "LEFT")
    if node.condition is None:
        return source
    condition = Converter(source.scope, builder.catalog, clause="ON").condition(node.condition)
    if condition == TRUE:
        return source
    if node.kind != "LEFT":
        return Source(Filter(source.logical, condition), source.scope)
    if not isinstance(right, s.Unnest):
        raise SqlError(
            f"LEFT JOIN {what} takes only ON TRUE", position=node.condition.position, hint="Filter in WHERE or before."
        )
    return Source(with_condition(source.logical, condition, node.condition.position), source.scope)


def with_condition(plan: Logical, condition: Expression, position: Position | None) -> Unnest:
    """Members for which the condition is not TRUE are not joined; Spark asks it of each where the row stands."""
    assert isinstance(plan, Unnest)
    called = next(user_calls(condition), None)
    if called is not None or not is_deterministic(condition):
        what = title(called) if called is not None else "a function that gives another value each time"
        raise SqlError(
            f"ON of LEFT JOIN UNNEST calls {what}",
            position=position,
            hint="Functions of Flink that depend on their operands alone may stand there.",
        )
    return replace(plan, condition=condition)


def correlated(builder: Builder, left: Source, node: Correlated, is_left: bool) -> Source:
    """Each row of `left` with the rows that are made of it; `is_left`: one with NULLs where there are none."""
    table = _collection(builder, left, node) if isinstance(node, s.Unnest) else _called(builder, left, node)
    below, table = _with_awaited(left.logical, table)
    members = list(table.type.element.fields)
    if is_left:
        members = [Field(field.name, field.type.with_nullable(True)) for field in members]
    columns = node.alias.columns if node.alias else ()
    if columns and len(columns) != len(members):
        raise SqlError(
            f"{counted(len(columns), 'column name')} for {counted(len(members), 'column')}", position=node.position
        )
    names = list(columns) or [field.name for field in members]
    fields = list(below.type.fields)
    type_ = row_of([f.name for f in fields] + names, [f.type for f in fields] + [f.type for f in members])
    plan = Unnest(below, table, is_left, type_, node.position)
    relation = named(plan, None).scope.relations[0]
    at = len(fields)
    added = Relation(node.alias.name if node.alias else None, relation.fields[at:], relation.indexes[at:])
    return Source(plan, Scope((*left.scope.relations, added), left.scope.merged))


def _with_awaited(below: Logical, table: Call) -> tuple[Logical, Call]:
    """Functions that wait are called below, where a node has their options; the table reads what they gave."""
    calls: list[Expression] = []

    def read(each: Expression) -> Expression | None:
        if not isinstance(each, Call) or not each.waits:
            return None
        calls.append(each)
        return InputRef(input_index=len(below.type.fields) + len(calls) - 1, type=each.type)

    reading = transform(table, read)
    assert isinstance(reading, Call)
    if not calls:
        return below, table
    names = [*(field.name for field in below.type.fields), *(f"$awaited{at}" for at in range(len(calls)))]
    return project(below, [*refs(below.type), *calls], names), reading


def _collection(builder: Builder, left: Source, node: s.Unnest) -> Call:
    collection = Converter(left.scope, builder.catalog, clause="UNNEST").convert(node.collection)
    if collection.type.root not in (Root.ARRAY, Root.MULTISET, Root.MAP):
        raise SqlError(
            f"UNNEST takes an ARRAY, MULTISET or MAP, not {collection.type}", position=node.collection.position
        )
    name = "UNNEST_ROWS_WITH_ORDINALITY" if node.ordinality else "UNNEST_ROWS"
    table = resolve(name, (collection,), position=node.position)
    assert isinstance(table, Call)
    return table


def _called(builder: Builder, left: Source, node: s.TableFunction) -> Call:
    found, definition = find_table(builder.catalog, node)
    call = s.Call(node.name, tuple(_given(each, node) for each in node.args), position=node.position)
    converter = Converter(left.scope, builder.catalog, clause="an operand of a table function")
    operands: list[Expression] = [converter.convert(each) for each in call.args]
    table = bind_table(found, definition, operands, call)
    return table.put(place(node.position.line, node.position.column, written(call)))


def _given(argument: s.Argument, node: s.TableFunction) -> s.Expr:
    if isinstance(argument.value, s.TableArgument | s.Descriptor):
        what = "a table" if isinstance(argument.value, s.TableArgument) else "a DESCRIPTOR"
        raise SqlError(
            f"{what} is no operand of the table function {node.name}",
            position=argument.value.position,
            hint="It is called for each row in front of it: … FROM t, LATERAL TABLE(f(t.x)).",
        )
    if argument.name is not None:
        raise SqlError(
            f"operands of the table function {node.name} have no names",
            position=argument.position,
            hint="Give them in order.",
        )
    return argument.value
