"""Rows that are made of each row: arrays of ROWs as Spark SQL texts, and how rows are joined to what is in them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from execnodes.core.expressions import Call, Expression, title, user_calls
from execnodes.core.indexes import Scope
from execnodes.core.meaning import RowsMeaning, expression_term
from execnodes.core.outputs import Outputs, types
from execnodes.core.types import LogicalType, Root
from execnodes.lowering.spark_sql import spark_type, text_literal
from execnodes.lowering.stream import Fixed, Rows, quote
from execnodes.terms.term import Term, leaf, said

if TYPE_CHECKING:
    from execnodes.common.batch import BatchRows

EACH = "rk_each"
"""A member while it is asked whether it is joined."""


def fields_of(name: str, members: LogicalType) -> tuple[str, ...]:
    """The fields of a column that holds a ROW of this type."""
    return tuple(f"{name}.{quote(each.name)}" for each in members.fields)


def members_or_nulls(array: str, members: LogicalType) -> str:
    """An array of ROWs or, if it is empty or NULL, one of a ROW of NULLs."""
    cells = (f"{text_literal(each.name)}, CAST(NULL AS {spark_type(each.type)})" for each in members.fields)
    return f"if(size({array}) > 0, {array}, array(named_struct({', '.join(cells)})))"


def members_where(array: str, condition: str | None) -> str:
    """The ROWs of an array for which a condition, which names them `EACH`, is TRUE."""
    return array if condition is None else f"filter({array}, {EACH} -> {condition})"


def correlated(
    rows: Rows,
    type: LogicalType,
    call: Call,
    zone: str,
    owner: int,
    condition: Expression | None = None,
    *,
    is_left: bool,
) -> Rows:
    """Rows stay on their way: Spark makes several of one. `is_left`: one of NULLs where there are none.

    Members for which `condition` (over the columns of the rows and of the members) is not TRUE are not there. `owner`:
    id of the node.
    """
    # Scalar functions are looked up when a plan runs; compiling does not need them.
    from execnodes import functions

    def table(columns: tuple[str, ...]) -> str:
        array = functions.lower(call, columns, zone)
        if condition is None:
            return array
        return members_where(array, functions.lower(condition, (*columns, *fields_of(EACH, members)), zone))

    def filled(array: str) -> str:
        return members_or_nulls(array, members) if is_left else array

    members = call.type.element
    fixed = None if functions.is_repeatable(call) else Fixed(owner)
    return rows.unnested(type, table, filled, lambda name: fields_of(name, members), fixed)


def correlated_rows(
    rows: BatchRows, type: LogicalType, table: str, call: Call, condition: str | None = None, *, is_left: bool
) -> BatchRows:
    """The rows with the fields of members behind their columns; `table` is the text of the call, `condition` as in
    `members_where`.
    """
    # The table of a row is a column first: Python functions cannot stand in what makes rows.
    return join_members(rows, type, table, call.type.element, condition, is_left=is_left)


def join_members(
    rows: BatchRows, type: LogicalType, table: str, members: LogicalType, condition: str | None = None, *, is_left: bool
) -> BatchRows:
    """As `correlated_rows`, of members of this type."""
    with_table = rows.frame.selectExpr("*", f"{table} AS rk_table")
    wanted = members_where("rk_table", condition)
    made = members_or_nulls(wanted, members) if is_left else wanted
    exploded = with_table.selectExpr(*rows.columns, *rows.origin, f"explode({made}) AS rk_member")
    given = replace(rows, frame=exploded)
    return given.project(type, [*rows.columns, *fields_of("rk_member", members)])


def correlated_meaning(
    rows: RowsMeaning,
    type: LogicalType,
    call: Call,
    join_type: str,
    zone: str,
    condition: Expression | None = None,
) -> RowsMeaning:
    """Columns of the input are what they were; a member is one of the rows as they are joined here."""
    table, kind = expression_term(call, rows, zone), leaf("join", join_type)
    origin = said("members", "{input} {join} JOIN {table}", input=rows.rows, join=kind, table=table).shortened()
    if condition is not None:
        joined = rows.made(type, [*rows.columns, *_members(call, origin)], origin)
        on = expression_term(condition, joined, zone)
        origin = said("members", "{rows} ON {condition}", rows=origin, condition=on).shortened()
    return rows.made(type, [*rows.columns, *_members(call, origin)], origin)


def _members(call: Call, origin: Term) -> list[Term]:
    fields = range(len(call.type.element.fields))
    return [said("member", "{name} of {rows}", name=leaf("name", str(at)), rows=origin) for at in fields]


def correlated_outputs(input: LogicalType, call: Call, join_type: str) -> Outputs:
    """Types of rows with those of the table behind their columns; nothing if it is no table, which `check` says."""
    if table_problem(call) is not None:
        return
    padded = [each.type.with_nullable(each.type.nullable or join_type == "LEFT") for each in call.type.element.fields]
    yield "its input and functionCall give", [*types(input), *padded]


def members_scope(around: Scope, call: Call) -> Scope:
    """What a condition refers to: columns of the input, and fields of members behind them."""
    if table_problem(call) is not None:
        return around
    return around.over((*around.columns, *call.type.element.fields), "its input and functionCall")


def condition_problem(condition: Expression | None) -> str | None:
    """What is wrong with a condition of members, which Spark asks of each where the row stands."""
    if condition is None:
        return None
    if condition.type.root is not Root.BOOLEAN:
        return f"the condition is {condition.type}, no BOOLEAN"
    called = next(user_calls(condition), None)
    if called is not None:
        return f"the condition calls {title(called)}, which is a function of the user"
    # Scalar functions are looked up when a plan is read; compiling does not need them.
    from execnodes.functions import is_deterministic

    return None if is_deterministic(condition) else "the condition calls a function that gives another value each time"


def user_table_problem(call: Call) -> str | None:
    """What is wrong with a call that is to give a table by a function of the user."""
    if not call.user_name:
        return f"functionCall is {call.internal_name}, which is no function of the user"
    return table_problem(call)


def table_problem(call: Call) -> str | None:
    """What is wrong with a call that is to give a table."""
    if call.type.root is not Root.ARRAY or call.type.element.root is not Root.ROW:
        return f"functionCall gives {call.type}, which is no table: it must be an ARRAY of ROWs"
    return None
