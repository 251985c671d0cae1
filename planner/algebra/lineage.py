"""Column lineage: which columns of tables feed each column of a sink, and which ones decide what rows there are.

It is read from the relational operators that SQL is bound to, before any rule: views are expanded and names resolved.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import singledispatch

from execnodes.core.expressions import input_indexes
from planner.algebra import (
    Aggregate,
    CompiledQuery,
    Filter,
    Join,
    Logical,
    LookupJoin,
    Match,
    Over,
    Project,
    Scan,
    SetKind,
    SetOperation,
    Sink,
    Sort,
    Unnest,
    Values,
    WatermarkAssigner,
    WindowTableFunction,
)
from planner.algebra.calls import columns_read
from planner.algebra.tree import bottom_up

Place = tuple[Logical, int]
"""A column of an operator."""


@dataclass(frozen=True)
class Lineage:
    """Of one sink: each column with the table columns that its values are computed from, and what decides the rows."""

    sink: str
    columns: tuple[tuple[str, tuple[str, ...]], ...]
    rows: tuple[str, ...]
    """Columns that filters, joins, keys and orders read."""


def lineage(sink: Sink) -> Lineage:
    """The lineage of a sink that no rule has changed yet."""
    names = [column.name for column in sink.table.table_schema.writable]
    columns = tuple(
        (name, _sources([(sink.input, at)])) for at, name in enumerate(names[: len(sink.input.type.fields)])
    )
    rows = _sources(place for node in bottom_up(sink.input) for place in decides(node))
    return Lineage(".".join(sink.identifier) if sink.identifier else "the query's result", columns, rows)


def _sources(places: Iterable[Place]) -> tuple[str, ...]:
    found, seen, left = set[str](), set[tuple[int, int]](), list(places)
    while left:
        node, column = left.pop()
        if (id(node), column) in seen:
            continue
        seen.add((id(node), column))
        if not node.inputs and not isinstance(node, Values):
            found.add(f"{_table(node)}.{node.type.fields[column].name}")
        left.extend(feeds(node, column))
    return tuple(sorted(found))


def _table(leaf: Logical) -> str:
    if isinstance(leaf, Scan):
        return ".".join(leaf.identifier) if leaf.identifier else "an inline table"
    return "a compiled query"


def _all(node: Logical, columns: Iterable[int]) -> list[Place]:
    return [(node, column) for column in columns]


@singledispatch
def feeds(node: Logical, column: int) -> list[Place]:
    """The columns of its inputs that an operator computes a column from."""
    raise _made_by_rules(node)


def _made_by_rules(node: Logical) -> NotImplementedError:
    return NotImplementedError(f"{type(node).__name__} is made by rules, and lineage is read before them")


@feeds.register(Scan)
@feeds.register(Values)
@feeds.register(CompiledQuery)
def _(node: Logical, column: int) -> list[Place]:
    return []


@feeds.register(Filter)
@feeds.register(Sort)
@feeds.register(WatermarkAssigner)
def _(node: Filter | Sort | WatermarkAssigner, column: int) -> list[Place]:
    return [(node.input, column)]


@feeds.register
def _(node: Project, column: int) -> list[Place]:
    return _all(node.input, input_indexes(node.expressions[column]))


@feeds.register
def _(node: Aggregate, column: int) -> list[Place]:
    if column < len(node.grouping):
        return [(node.input, node.grouping[column])]
    return _all(node.input, columns_read([node.calls[column - len(node.grouping)]]))


@feeds.register
def _(node: Join, column: int) -> list[Place]:
    width = len(node.left.type.fields)
    return [(node.left, column)] if column < width else [(node.right, column - width)]


@feeds.register
def _(node: LookupJoin, column: int) -> list[Place]:
    """What the table gives depends on the keys that it is asked for."""
    inner = column < len(node.input.type.fields)
    return [(node.input, column)] if inner else _all(node.input, _asked(node))


def _asked(node: LookupJoin) -> frozenset[int]:
    return frozenset[int]().union(*(input_indexes(value) for _, value in node.keys))


@feeds.register
def _(node: SetOperation, column: int) -> list[Place]:
    return [(member, column) for member in node.members]


@feeds.register
def _(node: Over, column: int) -> list[Place]:
    width = len(node.input.type.fields)
    if column < width:
        return [(node.input, column)]
    read = set[int]().union(*map(input_indexes, node.calls[column - width].args))
    return _all(node.input, read) or _keys_of(node)  # ROW_NUMBER() counts along the keys


def _keys_of(node: Over) -> list[Place]:
    return _all(node.input, (*node.partition, *(key.index for key in node.order)))


@feeds.register
def _(node: Unnest, column: int) -> list[Place]:
    inner = column < len(node.input.type.fields)
    return [(node.input, column)] if inner else _all(node.input, input_indexes(node.table))


@feeds.register
def _(node: WindowTableFunction, column: int) -> list[Place]:
    return [(node.input, column if column < len(node.input.type.fields) else node.time_index)]


@feeds.register
def _(node: Match, column: int) -> list[Place]:
    """Which rows a measure is of is decided by what the definitions read."""
    keys = node.spec.partition
    if column < len(keys):
        return [(node.input, keys[column])]
    return _all(node.input, node.spec.measures[column - len(keys)].arg_list)


def decides(node: Logical) -> list[Place]:
    """The columns of its inputs by which an operator drops, matches, groups or orders rows."""
    match node:
        case Filter():
            return _all(node.input, input_indexes(node.condition))
        case Join():
            width, read = len(node.left.type.fields), input_indexes(node.condition)
            if node.as_of is not None:
                read |= {node.as_of[0], width + node.as_of[1]}
            right = [(node.right, each - width) for each in read if each >= width]
            return [*_all(node.left, (each for each in read if each < width)), *right]
        case Aggregate():
            return _all(node.input, node.grouping)
        case Over():
            return _keys_of(node)
        case Sort():
            return _all(node.input, (key.index for key in node.order))
        case SetOperation() if node.kind is not SetKind.UNION or not node.all:
            return [(member, at) for member in node.members for at in range(len(node.type.fields))]
        case WindowTableFunction():
            return [(node.input, node.time_index)]
        case Match():
            spec = node.spec
            read = {at for each in spec.references for at in each.arg_list}
            return _all(node.input, read.union(spec.partition, (each.index for each in spec.order_by.fields)))
        case Unnest(condition=condition) if condition is not None:
            # What the members are made of is asked, whichever of them the condition reads.
            read = input_indexes(condition) | input_indexes(node.table)
            return _all(node.input, {each for each in read if each < len(node.input.type.fields)})
        case LookupJoin():
            asked = {*_asked(node), *(() if node.condition is None else input_indexes(node.condition))}
            return _all(node.input, {each for each in asked if each < len(node.input.type.fields)})
        case Scan() | Values() | CompiledQuery() | Project() | WatermarkAssigner() | Unnest() | SetOperation():
            return []
        case _:
            raise _made_by_rules(node)
