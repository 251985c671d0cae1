"""What rows and states mean, as terms over source columns: two plans mean the same where the terms are equal.

Neither aliases nor node ids nor the order of columns occur in them. Terms may tell apart what is equal in truth (they
know little algebra), but never take two different things for one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Self

from execnodes.core.expressions import (
    AggregateCall,
    Call,
    Expression,
    FieldAccess,
    InputRef,
    Literal,
    reads_watermark,
)  # fmt: skip
from execnodes.core.types import Field, LogicalType
from execnodes.terms.term import ROWS, Bag, Term, leaf, said

NOTHING = leaf("nothing", "")
"""The time of rows that have no watermark."""
HIDDEN = "rk_"
"""Columns of states whose names begin so are the operator's own, and mean what they are called."""
_COUNT = "$COUNT$"
_CASTS = ("$CAST$", "$TRY_CAST$")


@dataclass(frozen=True, slots=True)
class RowsMeaning:
    """What the rows of a node are."""

    type: LogicalType
    """Output type of the node."""
    columns: tuple[Term, ...]
    """What each output column holds."""
    origin: Term
    """Which rows there are before `conditions`: tables, joins, groups."""
    conditions: frozenset[Term] = frozenset()
    """All of them are TRUE for every row."""
    time: Term = NOTHING
    """Where the watermark comes from; only what goes by time depends on it."""
    sources: frozenset[str] = frozenset()
    """Uids of the sources below."""

    @property
    def rows(self) -> Term:
        """Which rows there are."""
        if not self.conditions:
            return self.origin
        return said(ROWS, "{of} where {filter: where }", of=self.origin, filter=self.conditions)

    def some(self, indexes: Iterable[int]) -> tuple[Term, ...]:
        """Some columns."""
        return tuple(self.columns[each] for each in indexes)

    def keys(self, indexes: Iterable[int]) -> frozenset[Term]:
        """Some columns, whose order does not count."""
        return frozenset(self.some(indexes))

    def passed(self, type: LogicalType) -> Self:
        """The same rows, columns and all, in a node of that output type."""
        return replace(self, type=type)

    def made(self, type: LogicalType, columns: Iterable[Term], origin: Term) -> Self:
        """Rows that a node makes of these; its `origin` names them."""
        return replace(
            self,
            type=type,
            columns=tuple(each.shortened() for each in columns),
            origin=origin.shortened(),
            conditions=frozenset(),
        )


@dataclass(frozen=True, slots=True)
class StateColumn:
    """What stands in one column of a state."""

    name: str
    """In the state's files; made of aliases, so that only the meaning tells which column it is."""
    type: str
    """Flink type, nullable."""
    meaning: Term


AT_MOST = "at most"
"""Kind of a leaf with a whole number: so many of the best rows of a key are kept. State goes on where fewer are."""


@dataclass(frozen=True, slots=True)
class StateMeaning:
    """What a state of an operator, or the position of a source, holds."""

    uid: str
    name: str
    parts: Mapping[str, Term]
    """What all its rows depend on: operator, input, key, window, order, join."""
    columns: tuple[StateColumn, ...] = ()
    bucketed: bool = False
    ttl_ms: int = 0
    sources: frozenset[str] = field(default=frozenset(), compare=False)
    """Uids of the sources whose rows it has seen."""
    unknown: str = ""
    """Why it cannot be told what it means."""
    addable: frozenset[str] | None = field(default=None, compare=False)
    """Columns that may begin empty while others go on; None: neither a column nor the state as a whole may."""
    operators: frozenset[str] = field(default=frozenset(), compare=False)
    """Uids of the stateful operators below."""
    retracting: bool = field(default=False, compare=False)
    """Its input takes rows back."""
    serializers: Mapping[str, str] = field(default_factory=dict, compare=False)
    """Calls of functions of the user, as texts, to the snapshots of what they keep (`AccumulatorSchema` as JSON)."""
    times: frozenset[Term] = field(default=frozenset(), compare=False)
    """Where the watermarks of its inputs come from."""
    begun: bool = field(default=True, compare=False)
    """Of a position: whether the source has one."""
    earlier: tuple[StateMeaning, ...] = field(default=(), compare=False)
    """What may be there instead: the operator makes this state of any of them."""

    @property
    def title(self) -> str:
        """As people name it."""
        return f"{self.uid}:{self.name}"


def expression_term(expression: Expression, rows: RowsMeaning, zone: str = "UTC") -> Term:
    """An expression over rows; calls are taken to depend on the time zone, if that is not UTC."""
    term = _expression(expression, rows)
    if isinstance(expression, Call | FieldAccess) and zone != "UTC":
        term = said("zoned", "{value}@{zone}", value=term, zone=leaf("zone", zone))
    return term.shortened()


def call_term(call: AggregateCall, rows: RowsMeaning) -> Term:
    """An aggregate call: function and version, DISTINCT, arguments, options, FILTER."""
    function = call.internal_name or call.user_name
    arguments = rows.some(call.arg_list)
    if function.startswith(_COUNT) and not call.distinct:
        nullable = [rows.type.fields[each].type.nullable for each in call.arg_list]
        arguments = tuple(
            each if may_be_null else said("not null", "{value}", value=each)
            for each, may_be_null in zip(arguments, nullable, strict=True)
        )
    parts: dict[str, Term] = {}
    says = "{function}({argument})"
    if call.distinct:
        says, parts["distinct"] = "{function}({distinct} {argument})", leaf("word", "DISTINCT")
    if call.options:
        says, parts["option"] = says + " {option}", leaf("options", json.dumps(call.options, sort_keys=True))
    if call.filter_arg >= 0:
        says, parts["filter"] = says + " FILTER {filter}", rows.columns[call.filter_arg]
    argument = arguments or leaf("rows", "*")
    return said("aggregate", says, function=leaf("function", function), argument=argument, **parts).shortened()


def accumulator(call: Term, part: str) -> Term:
    """A column of what an aggregate call keeps."""
    return said("accumulator", "{call}.{part}", call=call, part=leaf("part", part))


NUMBER_OF_ROWS = leaf("rows", "number of rows")
"""What a state keeps that takes rows back: it ends with the last of them."""


def call_of(column: Term) -> Term:
    """The aggregate call that a column is an accumulator of."""
    return next(iter(column["call"]), column)


def every(terms: Iterable[Term]) -> Term:
    """Terms whose order and number do not matter."""
    return said("all", "({of})", of=frozenset(terms))


def times(inputs: Iterable[RowsMeaning]) -> Term:
    """Where the watermark of rows of several inputs comes from: it is the earliest of theirs."""
    return said("times", "[{of}]", of=Bag(each.time for each in inputs))


def column_term(table: Term, column: Field) -> Term:
    """A column of a table."""
    name = leaf("name", column.name)
    return said("column", "{table}.{name}{type}", table=table, name=name, type=type_term(column.type))


@lru_cache(maxsize=1000)
def type_term(t: LogicalType) -> Term:
    """A type without what does not change values."""
    return leaf("type", f"{{{_plain(t)}}}")


def _plain(t: LogicalType) -> LogicalType:
    return t.with_nullable(True).regular()


def _expression(expression: Expression, rows: RowsMeaning) -> Term:
    if isinstance(expression, InputRef):
        return rows.columns[expression.input_index]
    if isinstance(expression, Literal):
        value = leaf("value", json.dumps(expression.value, ensure_ascii=False))
        return said("literal", "{value}{type}", value=value, type=type_term(expression.type))
    if isinstance(expression, FieldAccess):
        return said("field", "{of}.{name}", of=_expression(expression.expr, rows), name=leaf("name", expression.name))
    operands = [_expression(each, rows) for each in expression.operands]
    name = expression.internal_name or expression.user_name
    function, type = leaf("function", name), type_term(expression.type)
    if reads_watermark(expression):
        # What a row's watermark is depends on more than its columns.
        says = "{function}({operand}) of {time}{type}"
        return said("call", says, function=function, operand=operands, time=rows.time, type=type)
    idle = name.startswith(_CASTS) and _plain(expression.operands[0].type) == _plain(expression.type)
    kind = "idle cast" if idle else "call"
    return said(kind, "{function}({operand}){type}", function=function, operand=operands, type=type)
