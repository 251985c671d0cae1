"""Nothing carries a column that nobody reads. A table, and a stream with watermarks, is read once for all consumers:
it keeps the columns that any of them reads.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from execnodes.core.expressions import AggregateCall, Expression, InputRef, input_indexes, remap
from execnodes.core.types import row
from planner.digest import Interner
from planner.logical import (
    Aggregate,
    Filter,
    Join,
    JoinType,
    Logical,
    Project,
    Scan,
    SetOperation,
    Values,
    WatermarkAssigner,
    WindowTableFunction,
)
from planner.physical import Deduplicate, Expand, Normalize, WindowAggregate
from planner.tree import Sinks, columns_of, inputs, pick, with_input, with_inputs

Mapping = dict[int, int]
"""Old column index to new."""


def prune_columns(sinks: Sinks) -> Sinks:
    """Two walks: the first finds what shared streams must carry, the second cuts."""
    interner = Interner()
    wanted: dict[int, set[int]] = {}
    for _ in range(2):
        pruner = _Pruner(interner, wanted)
        pruned = tuple(
            with_input(sink, pruner.exactly(sink.input, range(len(sink.input.type.fields)))[0]) for sink in sinks
        )
    return pruned


class _Pruner:
    def __init__(self, interner: Interner, wanted: dict[int, set[int]]) -> None:
        self.interner = interner
        self.wanted = wanted
        """Columns of shared streams that some consumer reads; grows in the first walk."""
        self.done: dict[tuple[int, frozenset[int]], tuple[Logical, Mapping]] = {}

    def exactly(self, node: Logical, columns: Iterable[int]) -> tuple[Logical, Mapping]:
        """The node with these columns only, in this order."""
        kept = list(columns)
        pruned, mapping = self.visit(node, kept)
        return columns_of(pruned, [mapping[each] for each in kept]), {each: at for at, each in enumerate(kept)}

    def visit(self, node: Logical, columns: Iterable[int]) -> tuple[Logical, Mapping]:
        """The node with at least these columns, and where each is now."""
        needed = frozenset(columns)
        key = (id(node), needed)
        if key not in self.done:
            self.done[key] = self._prune(node, needed)
        return self.done[key]

    def _shared(self, node: Logical, needed: frozenset[int]) -> list[int]:
        wanted = self.wanted.setdefault(self.interner.number(node), set())
        wanted |= needed
        return sorted(wanted)

    def _prune(self, node: Logical, needed: frozenset[int]) -> tuple[Logical, Mapping]:
        match node:
            case Scan():
                kept = self._shared(node, needed or frozenset({0}))
                return replace(node, type=pick(node.type, kept)), _places(kept)
            case WatermarkAssigner():
                return self._watermark(node, needed)
            case Project():
                return self._project(node, sorted(needed) or [_cheapest(node.expressions)])
            case Filter():
                below, mapping = self.visit(node.input, needed | input_indexes(node.condition))
                return Filter(below, remap(node.condition, mapping.__getitem__)), mapping
            case Values():
                kept = sorted(needed) or [0]
                rows = tuple(tuple(each[at] for at in kept) for each in node.rows)
                return Values(rows, pick(node.type, kept)), _places(kept)
            case SetOperation():
                kept = sorted(needed) or [0]
                members = tuple(self.exactly(each, kept)[0] for each in node.inputs)
                return replace(node, inputs=members, type=pick(node.type, kept)), _places(kept)
            case Join():
                return self._join(node, needed)
            case Aggregate():
                return self._aggregate(node, needed)
            case WindowAggregate():
                return self._window_aggregate(node, needed)
            case WindowTableFunction():
                return self._window_table_function(node, needed)
            case Deduplicate():
                kept = sorted({*needed, *node.keys, node.time_index})
                below, mapping = self.exactly(node.input, kept)
                keys = tuple(mapping[each] for each in node.keys)
                return replace(node, input=below, keys=keys, time_index=mapping[node.time_index]), mapping
            case Normalize():
                below, mapping = self.exactly(node.input, self._shared(node, needed | set(node.keys)))
                return Normalize(below, tuple(mapping[each] for each in node.keys)), mapping
            case Expand():
                return self._expand(node, sorted(needed) or [len(node.type.fields) - 1])
            case _:
                whole = [self.exactly(each, range(len(each.type.fields)))[0] for each in inputs(node)]
                return with_inputs(node, whole), _places(range(len(node.type.fields)))

    def _watermark(self, node: WatermarkAssigner, needed: frozenset[int]) -> tuple[Logical, Mapping]:
        kept = self._shared(node, needed | {node.time_index} | input_indexes(node.watermark))
        below, mapping = self.exactly(node.input, kept)
        watermark = remap(node.watermark, mapping.__getitem__)
        type = pick(node.type, kept)
        return WatermarkAssigner(below, mapping[node.time_index], watermark, type), mapping

    def _project(self, node: Project, kept: list[int]) -> tuple[Logical, Mapping]:
        read = set().union(*(input_indexes(node.expressions[each]) for each in kept))
        below, mapping = self.visit(node.input, read)
        expressions = tuple(remap(node.expressions[each], mapping.__getitem__) for each in kept)
        return Project(below, expressions, pick(node.type, kept)), _places(kept)

    def _expand(self, node: Expand, kept: list[int]) -> tuple[Logical, Mapping]:
        read = set().union(*(input_indexes(some[each]) for some in node.projects for each in kept))
        below, mapping = self.visit(node.input, read)
        projects = tuple(tuple(remap(some[each], mapping.__getitem__) for each in kept) for some in node.projects)
        return Expand(below, projects, pick(node.type, kept)), _places(kept)

    def _join(self, node: Join, needed: frozenset[int]) -> tuple[Logical, Mapping]:
        width = len(node.left.type.fields)
        read = needed | input_indexes(node.condition)
        left, lefts = self.exactly(node.left, sorted(each for each in read if each < width) or [0])
        right, rights = self.exactly(node.right, sorted(each - width for each in read if each >= width) or [0])
        moved = lefts | {width + old: len(lefts) + new for old, new in rights.items()}
        semi = node.kind in (JoinType.SEMI, JoinType.ANTI)
        kept = sorted(lefts if semi else moved)
        joined = replace(
            node,
            left=left,
            right=right,
            condition=remap(node.condition, moved.__getitem__),
            type=pick(node.type, kept),
        )
        return joined, {each: moved[each] for each in kept}

    def _aggregate(self, node: Aggregate, needed: frozenset[int]) -> tuple[Logical, Mapping]:
        keys = len(node.grouping)
        used = [at for at in range(len(node.calls)) if keys + at in needed]
        if not keys and not used:
            used = [0] if node.calls else []
        calls = tuple(node.calls[at] for at in used)
        below, mapping = self.exactly(node.input, sorted({*node.grouping, *_read(calls)}) or [0])
        kept = (*range(keys), *(keys + at for at in used))
        pruned = replace(
            node,
            input=below,
            grouping=tuple(mapping[each] for each in node.grouping),
            calls=_moved(calls, mapping),
            type=pick(node.type, kept),
        )
        return pruned, _places(kept)

    def _window_aggregate(self, node: WindowAggregate, needed: frozenset[int]) -> tuple[Logical, Mapping]:
        keys, first = len(node.grouping), len(node.grouping) + len(node.calls)
        used = [at for at in range(len(node.calls)) if keys + at in needed]
        properties = [at for at in range(len(node.properties)) if first + at in needed]
        calls = tuple(node.calls[at] for at in used)
        window = [at for at in (node.time_index, *(node.bounds or ())) if at is not None]
        below, mapping = self.exactly(node.input, sorted({*node.grouping, *_read(calls), *window}))
        kept = (*range(keys), *(keys + at for at in used), *(first + at for at in properties))
        pruned = replace(
            node,
            input=below,
            grouping=tuple(mapping[each] for each in node.grouping),
            calls=_moved(calls, mapping),
            time_index=None if node.time_index is None else mapping[node.time_index],
            bounds=None if node.bounds is None else (mapping[node.bounds[0]], mapping[node.bounds[1]]),
            properties=tuple(node.properties[at] for at in properties),
            type=row(*(node.type.fields[each] for each in kept)),
        )
        return pruned, _places(kept)

    def _window_table_function(self, node: WindowTableFunction, needed: frozenset[int]) -> tuple[Logical, Mapping]:
        width = len(node.input.type.fields)
        session = set(node.window.partition)
        read = {each for each in needed if each < width} | {node.time_index} | session
        below, mapping = self.exactly(node.input, sorted(read))
        moved = mapping | {width + at: len(mapping) + at for at in range(3)}
        window = replace(node.window, partition=tuple(mapping[each] for each in node.window.partition))
        pruned = replace(
            node,
            input=below,
            window=window,
            time_index=mapping[node.time_index],
            type=pick(node.type, sorted(moved)),
        )
        return pruned, moved


def _places(kept: Iterable[int]) -> Mapping:
    return {old: new for new, old in enumerate(kept)}


def _read(calls: Iterable[AggregateCall]) -> set[int]:
    return {at for call in calls for at in (*call.arg_list, call.filter_arg) if at >= 0}


def _moved(calls: Iterable[AggregateCall], mapping: Mapping) -> tuple[AggregateCall, ...]:
    return tuple(
        call.model_copy(
            update={
                "arg_list": tuple(mapping[each] for each in call.arg_list),
                "filter_arg": mapping[call.filter_arg] if call.filter_arg >= 0 else -1,
            }
        )
        for call in calls
    )


def _cheapest(expressions: tuple[Expression, ...]) -> int:
    """Some column has to stay so that rows can be counted: one that need not be computed."""
    return next((at for at, each in enumerate(expressions) if isinstance(each, InputRef)), 0)
