"""Syntax trees of queries and expressions, as written; positions take no part in equality."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal as Tag

from execnodes.core import expressions as typed
from execnodes.core.errors import Position
from execnodes.core.types import LogicalType

NOWHERE = Position(0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """Anything with a place in the script."""

    position: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Name(Node):
    """A column, perhaps behind a table or before fields: ``t.c.field``."""

    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Star(Node):
    """``*`` or ``t.*``; `span` is where it stands in the script."""

    qualifier: tuple[str, ...] = ()
    span: tuple[int, int] = field(default=(0, 0), compare=False)


@dataclass(frozen=True, slots=True)
class Constant(Node):
    """A literal, typed already."""

    literal: typed.Literal


@dataclass(frozen=True, slots=True)
class FrameBound(Node):
    """A bound of a window frame; `value` None means UNBOUNDED."""

    kind: Tag["PRECEDING", "CURRENT ROW", "FOLLOWING"]
    value: Expr | None = None


@dataclass(frozen=True, slots=True)
class OrderItem(Node):
    """A member of ORDER BY; `nulls_last` None means the default."""

    expr: Expr
    ascending: bool = True
    nulls_last: bool | None = None


@dataclass(frozen=True, slots=True)
class WindowSpec(Node):
    """``OVER (…)``; `base` is the window named there."""

    base: str | None = None
    partition: tuple[Expr, ...] = ()
    order: tuple[OrderItem, ...] = ()
    rows: bool = False
    lower: FrameBound | None = None
    upper: FrameBound | None = None


@dataclass(frozen=True, slots=True)
class Call(Node):
    """A function or an operator."""

    name: str
    args: tuple[Expr, ...] = ()
    distinct: bool = False
    star: bool = False
    """``COUNT(*)``."""
    filter: Expr | None = None
    over: WindowSpec | None = None
    order: tuple[OrderItem, ...] = ()
    """WITHIN GROUP (ORDER BY …)."""
    result: LogicalType | None = None
    """Target of a cast, or RETURNING."""
    options: tuple[tuple[str, str], ...] = ()
    """Clauses of an aggregate, e.g. ``on_null`` of JSON_ARRAYAGG."""
    quoted: bool = False
    """The name stood in backticks or behind a database."""


@dataclass(frozen=True, slots=True)
class Access(Node):
    """A field of a ROW that is no plain column: ``f(x).field``."""

    expr: Expr
    name: str


@dataclass(frozen=True, slots=True)
class ScalarQuery(Node):
    """``(SELECT …)`` as a value."""

    query: Query


@dataclass(frozen=True, slots=True)
class ExistsQuery(Node):
    """``EXISTS (SELECT …)``."""

    query: Query


@dataclass(frozen=True, slots=True)
class InQuery(Node):
    """``values [NOT] IN (SELECT …)``; one value for each column of the query."""

    values: tuple[Expr, ...]
    query: Query
    negated: bool


@dataclass(frozen=True, slots=True)
class QuantifiedQuery(Node):
    """``value sign ALL (SELECT …)``, or SOME."""

    value: Expr
    sign: str
    every: bool
    """ALL, not SOME."""
    query: Query


Expr = Name | Star | Constant | Call | Access | ScalarQuery | ExistsQuery | InQuery | QuantifiedQuery


@dataclass(frozen=True, slots=True)
class Alias(Node):
    """``AS name (column, …)`` of a relation."""

    name: str
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Hint(Node):
    """``/*+ NAME('key' = 'value') */``; keys alone have the value None."""

    name: str
    options: tuple[tuple[str, str | None], ...]


@dataclass(frozen=True, slots=True)
class TableName(Node):
    """A table or view; `span` is where its name stands in the script."""

    parts: tuple[str, ...]
    alias: Alias | None = None
    hints: tuple[Hint, ...] = ()
    span: tuple[int, int] = field(default=(0, 0), compare=False)
    as_of: Expr | None = None
    """FOR SYSTEM_TIME AS OF: the time at which the table is looked at."""


@dataclass(frozen=True, slots=True)
class Derived(Node):
    """A query in FROM; `lateral`: it may read the rows in front of it."""

    query: Query
    alias: Alias | None = None
    lateral: bool = False


@dataclass(frozen=True, slots=True)
class TableArgument(Node):
    """``TABLE t PARTITION BY …`` or ``TABLE (query)`` as an argument."""

    relation: TableName | Derived
    partition: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class Descriptor(Node):
    """``DESCRIPTOR(column, …)``."""

    columns: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class Argument(Node):
    """An argument of a table function; `name` None when given by place."""

    value: Expr | TableArgument | Descriptor
    name: str | None = None


@dataclass(frozen=True, slots=True)
class TableFunction(Node):
    """``[LATERAL] TABLE(f(…))``."""

    name: str
    args: tuple[Argument, ...]
    alias: Alias | None = None


@dataclass(frozen=True, slots=True)
class Unnest(Node):
    """``UNNEST(collection) [WITH ORDINALITY]``."""

    collection: Expr
    ordinality: bool
    alias: Alias | None = None


@dataclass(frozen=True, slots=True)
class PatternVariable(Node):
    """A variable of a pattern with its quantifier; `most` None: any number of rows."""

    name: str
    least: int
    most: int | None
    reluctant: bool


@dataclass(frozen=True, slots=True)
class Definition(Node):
    """``variable AS condition`` of DEFINE."""

    variable: str
    condition: Expr


@dataclass(frozen=True, slots=True)
class MatchRecognize(Node):
    """``relation MATCH_RECOGNIZE (…)``."""

    relation: TableName | Derived
    partition: tuple[Expr, ...]
    order: tuple[OrderItem, ...]
    measures: tuple[SelectItem, ...]
    skip: Tag["PAST LAST ROW", "TO NEXT ROW", "TO FIRST", "TO LAST"]
    skip_variable: Name | None
    """Of TO FIRST and TO LAST."""
    pattern: tuple[PatternVariable, ...]
    within: Expr | None
    definitions: tuple[Definition, ...]
    alias: Alias | None = None


JoinKind = Tag["INNER", "LEFT", "RIGHT", "FULL", "CROSS"]


@dataclass(frozen=True, slots=True)
class Join(Node):
    """A join in FROM."""

    left: Relation
    right: Relation
    kind: JoinKind
    condition: Expr | None = None
    using: tuple[str, ...] = ()
    natural: bool = False


Relation = TableName | Derived | TableFunction | Unnest | MatchRecognize | Join


@dataclass(frozen=True, slots=True)
class SelectItem(Node):
    """A member of the SELECT list."""

    expr: Expr
    alias: str | None = None
    unmarked: Position | None = field(default=None, compare=False, repr=False)
    """Where the alias stands, if no AS is in front of it: a comma may be missing there."""


@dataclass(frozen=True, slots=True)
class GroupingSets(Node):
    """GROUPING SETS, CUBE or ROLLUP, written out as sets of expressions."""

    sets: tuple[tuple[Expr, ...], ...]


@dataclass(frozen=True, slots=True)
class Select(Node):
    """``SELECT … FROM … WHERE … GROUP BY … HAVING … QUALIFY …``; `group` None: no GROUP BY."""

    items: tuple[SelectItem, ...]
    relation: Relation | None = None
    where: Expr | None = None
    group: tuple[Expr | GroupingSets, ...] | None = None
    having: Expr | None = None
    qualify: Expr | None = None
    distinct: bool = False
    windows: tuple[tuple[str, WindowSpec], ...] = ()
    hints: tuple[Hint, ...] = ()


@dataclass(frozen=True, slots=True)
class SetOperation(Node):
    """UNION, INTERSECT or EXCEPT of two bodies."""

    kind: Tag["UNION", "INTERSECT", "EXCEPT"]
    all: bool
    left: Body
    right: Body


@dataclass(frozen=True, slots=True)
class Values(Node):
    """``VALUES (…), (…)``."""

    rows: tuple[tuple[Expr, ...], ...]


@dataclass(frozen=True, slots=True)
class WithItem(Node):
    """A named query of WITH."""

    name: str
    columns: tuple[str, ...]
    query: Query


@dataclass(frozen=True, slots=True)
class Query(Node):
    """A whole query; `fetch` None: all rows."""

    body: Body
    with_items: tuple[WithItem, ...] = ()
    order: tuple[OrderItem, ...] = ()
    offset: int = 0
    fetch: int | None = None


Body = Select | SetOperation | Values | TableName | Query
