"""What rows and states mean, as canonical text over source columns: two plans mean the same where the texts are equal.

Neither aliases nor node ids nor the order of columns occur in it. A text may tell apart what is equal in truth (it
knows no algebra), but it never takes two different things for one.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from execnodes.core.expressions import AggregateCall, Call, Expression, FieldAccess, InputRef, Literal
from execnodes.core.types import LogicalType

_WHERE = " where "
_LONGEST = 4000
"""Characters; of a longer text the beginning and a hash are kept: texts of shared inputs would grow without end."""


@dataclass(frozen=True, slots=True)
class RowsMeaning:
    """What the rows of a node are."""

    type: LogicalType
    """Output type of the node."""
    columns: tuple[str, ...]
    """What each output column holds."""
    origin: str
    """Which rows there are before `conditions`: tables, joins, groups."""
    conditions: frozenset[str] = frozenset()
    """All of them are TRUE for every row."""
    time: str = ""
    """Where the watermark comes from; only what goes by time depends on it."""
    sources: frozenset[str] = frozenset()
    """Uids of the sources below."""

    @property
    def rows(self) -> str:
        """Which rows there are."""
        return join_conditions(self.origin, self.conditions)

    def texts(self, indexes: Iterable[int]) -> tuple[str, ...]:
        """Some columns."""
        return tuple(self.columns[each] for each in indexes)

    def passed(self, type: LogicalType) -> Self:
        """The same rows, columns and all, in a node of that output type."""
        return replace(self, type=type)

    def made(self, type: LogicalType, columns: Iterable[str], origin: str) -> Self:
        """Rows that a node makes of these; its `origin` names them."""
        return replace(
            self,
            type=type,
            columns=tuple(map(shortened, columns)),
            origin=shortened(origin),
            conditions=frozenset(),
        )


@dataclass(frozen=True, slots=True)
class StateColumn:
    """A column of a state."""

    name: str
    """In the state's files; made of aliases, so that only the meaning tells which column it is."""
    type: str
    """Flink type, nullable."""
    meaning: str


@dataclass(frozen=True, slots=True)
class StateMeaning:
    """What a state of an operator, or the position of a source, holds."""

    uid: str
    name: str
    parts: Mapping[str, str]
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
    """Calls of functions of the user to the snapshots of what they keep (`AccumulatorSchema` as JSON)."""
    times: frozenset[str] = field(default=frozenset(), compare=False)
    """Where the watermarks of its inputs come from."""
    begun: bool = field(default=True, compare=False)
    """Of a position: whether the source has one."""
    earlier: tuple[StateMeaning, ...] = field(default=(), compare=False)
    """What may be there instead: the operator makes this state of any of them."""

    @property
    def title(self) -> str:
        """As people name it."""
        return f"{self.uid}:{self.name}"


def expression_text(expression: Expression, rows: RowsMeaning, zone: str = "UTC") -> str:
    """An expression over rows; calls are taken to depend on the time zone, if that is not UTC."""
    text = _expression(expression, rows)
    calls = isinstance(expression, Call | FieldAccess)
    return shortened(f"{text}@{zone}" if calls and zone != "UTC" else text)


def conjuncts(condition: Expression) -> tuple[Expression, ...]:
    """Conditions that must all hold."""
    if isinstance(condition, Call) and condition.internal_name == "$AND$1":
        return tuple(part for each in condition.operands for part in conjuncts(each))
    return (condition,)


def call_text(call: AggregateCall, rows: RowsMeaning) -> str:
    """An aggregate call: function and version, DISTINCT, arguments, options, FILTER."""
    arguments = ", ".join(rows.texts(call.arg_list)) or "*"
    options = f" {json.dumps(call.options, sort_keys=True)}" if call.options else ""
    passes = f" FILTER {rows.columns[call.filter_arg]}" if call.filter_arg >= 0 else ""
    name = call.internal_name or call.user_name
    return shortened(f"{name}({'DISTINCT ' if call.distinct else ''}{arguments}){options}{passes}")


def join_conditions(origin: str, conditions: Iterable[str]) -> str:
    """Rows of an origin for which all the conditions are TRUE."""
    return origin + "".join(f"{_WHERE}{each}" for each in sorted(conditions))


def split_conditions(text: str) -> tuple[str, frozenset[str]]:
    """The origin and the conditions of `RowsMeaning.rows`; those of rows further below stay in the origin."""
    parts, begun, depth = [], 0, 0
    for at, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if depth == 0 and text.startswith(_WHERE, at):
            parts.append(text[begun:at])
            begun = at + len(_WHERE)
    origin, *conditions = *parts, text[begun:]
    return origin, frozenset(conditions)


def set_text(texts: Sequence[str]) -> str:
    """Texts whose order and number do not matter."""
    return f"({', '.join(sorted(set(texts)))})"


def list_text(texts: Sequence[str]) -> str:
    """Texts in order."""
    return f"[{', '.join(texts)}]"


def type_text(t: LogicalType) -> str:
    """A type without what does not change values."""
    return f"{{{t.with_nullable(True).regular()}}}"


def shortened(text: str) -> str:
    """The text, or its beginning and a hash of all of it."""
    if len(text) <= _LONGEST:
        return text
    return f"{text[: _LONGEST // 10]}…#{hashlib.sha256(text.encode()).hexdigest()}"


def readable(text: str) -> str:
    """For people: without types, versions of functions and default catalog."""
    short = re.sub(r"\{[^{}]*\}", "", text).replace("default_catalog.default_database.", "")
    return re.sub(r"\$([^\s$(]+)\$\d+", r"\1", short)


def _expression(expression: Expression, rows: RowsMeaning) -> str:
    if isinstance(expression, InputRef):
        return rows.columns[expression.input_index]
    if isinstance(expression, Literal):
        return json.dumps(expression.value, ensure_ascii=False) + type_text(expression.type)
    if isinstance(expression, FieldAccess):
        return f"{_expression(expression.expr, rows)}.{expression.name}"
    operands = ", ".join(_expression(each, rows) for each in expression.operands)
    # What a row's watermark is depends on more than its columns.
    time = f" of {rows.time}" if expression.internal_name.startswith("$CURRENT_WATERMARK$") else ""
    name = expression.internal_name or expression.user_name
    return f"{name}({operands}){time}{type_text(expression.type)}"
