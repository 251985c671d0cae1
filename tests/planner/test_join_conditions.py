"""Plans of joins against nested loops: whatever is compared, no condition is lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from execnodes.batch.hash_join import BatchHashJoin
from execnodes.batch.nested_loop_join import BatchNestedLoopJoin
from execnodes.common.lookups import LookupNode
from execnodes.core.errors import SqlError
from execnodes.core.expressions import Expression
from execnodes.core.graph import ExecGraph
from execnodes.core.join_spec import JoinSpec
from execnodes.core.node import ExecNode
from execnodes.core.tables import TableReference
from execnodes.stream.interval_join import IntervalJoin
from execnodes.stream.join import Join
from execnodes.stream.temporal_join import TemporalJoin
from execnodes.stream.window_join import WindowJoin
from rekindle import TableEnvironment
from tests.planner.interpreter import value
from tests.planner.joined_queries import (
    FAMILIES,
    KNOWN,
    LEFT,
    LEFTS,
    RIGHT,
    RIGHTS,
    TABLES,
    VERSIONS,
    Query,
    Row,
    queries,
    tables,
)

Rows = list[tuple[object, ...]]
_REFUSED = ("is not supported yet", "a temporal join by event time")
SECOND = 1000


class Interpreter:
    """Gives the rows of a plan; times are milliseconds."""

    def __init__(self, graph: ExecGraph, contents: Mapping[str, Sequence[Row]]) -> None:
        self.graph = graph
        self.contents = contents

    def run(self) -> Rows:
        (sink,) = self.graph.roots()
        return self.rows(sink)

    def rows(self, node: ExecNode) -> Rows:
        inputs = [self.rows(each) for each in self.graph.inputs_of(node)]
        match node:
            case Join() | WindowJoin() | IntervalJoin() | TemporalJoin() | BatchHashJoin() | BatchNestedLoopJoin():
                widths = [len(each.output_type.fields) for each in self.graph.inputs_of(node)]
                return _join(node, inputs[0], inputs[1], widths)
            case LookupNode():
                return self._looked_up(node, inputs[0])
        match node.key.name.partition("-exec-")[2]:
            case "table-source-scan":
                names = [each.name for each in node.output_type.fields]
                return self._stored(node.scan_table_source.table, names)  # type: ignore[attr-defined]
            case "calc":
                kept = (row for row in inputs[0] if _is_true(node.condition, row))  # type: ignore[attr-defined]
                return [tuple(value(each, row) for each in node.projection) for row in kept]  # type: ignore[attr-defined]
            case "window-table-function":
                at = node.windowing.time_attribute_index  # type: ignore[attr-defined]
                return [(*row, *_window(row[at])) for row in inputs[0]]
            case "values":
                return [tuple(each.value for each in row) for row in node.tuples]  # type: ignore[attr-defined]
            case "exchange" | "watermark-assigner" | "drop-update-before" | "sink" | "legacy-sink":
                return inputs[0]
            case name:
                raise NotImplementedError(name)

    def _stored(self, table: TableReference, names: Sequence[str]) -> Rows:
        name = table.name.rpartition(".")[2]
        columns = LEFT if name == "l" else RIGHT
        stored = self.contents[name if name in ("l", "v") else "r"]
        found = [dict(zip(columns, row, strict=True)) for row in stored]
        return [tuple((row[n] or 0) * SECOND if n == "ts" else row[n] for n in names) for row in found]

    def _looked_up(self, node: LookupNode, rows: Rows) -> Rows:
        names = [each.name for each in node.temporal_table.output_type.fields]
        stored = self._stored(node.temporal_table.lookup_table_source.table, names)
        assert len({each.column for each in node.lookup_keys}) == len(node.lookup_keys)
        found: Rows = []
        for row in rows:
            wanted = [(each.column, value(each.value, row)) for each in node.lookup_keys]
            there = [each for each in stored if all(v is not None and each[at] == v for at, v in wanted)]
            there = [each for each in there if _is_true(node.filter_on_temporal_table, each)]
            given = [(*row, *(value(e, each) for e in node.projection_on_temporal_table)) for each in there]
            joined = [each for each in given if _is_true(node.join_condition, each)]
            padding = [(*row, *[None] * len(node.projection_on_temporal_table))] if node.join_type == "LEFT" else []
            found += joined or padding
        return found


def _is_true(condition: Expression | None, row: tuple[object, ...]) -> bool:
    return condition is None or value(condition, row) is True


def _window(time: object) -> tuple[int, int, int]:
    start = int(str(time)) // (2 * SECOND) * 2 * SECOND
    return start, start + 2 * SECOND, start + 2 * SECOND - 1


def _join(node: ExecNode, left: Rows, right: Rows, widths: list[int]) -> Rows:
    """By what the node says: its keys, its condition, its times."""
    spec, near = _spec(node)

    def matches(one: tuple[object, ...], other: tuple[object, ...]) -> bool:
        for mine, its, strict in zip(spec.left_keys, spec.right_keys, spec.filter_nulls, strict=True):
            if one[mine] != other[its] or (strict and one[mine] is None):
                return False
        return near(one, other, right) and _is_true(spec.non_equi_condition, (*one, *other))

    pairs = [(at, to) for at, one in enumerate(left) for to, other in enumerate(right) if matches(one, other)]
    lefts, rights = {at for at, _ in pairs}, {to for _, to in pairs}
    if not spec.pairs:
        return [row for at, row in enumerate(left) if (at in lefts) is (spec.join_type == "SEMI")]
    found: Rows = [(*left[at], *right[to]) for at, to in pairs]
    if spec.keeps_left:
        found += [(*row, *[None] * widths[1]) for at, row in enumerate(left) if at not in lefts]
    if spec.keeps_right:
        found += [(*[None] * widths[0], *row) for to, row in enumerate(right) if to not in rights]
    return found


Near = Callable[[tuple[object, ...], tuple[object, ...], Rows], bool]


def _spec(node: ExecNode) -> tuple[JoinSpec, Near]:
    match node:
        case WindowJoin():
            left, right = node.left_windowing, node.right_windowing
            bounds = ((left.window_start, right.window_start), (left.window_end, right.window_end))
            return node.join_spec, lambda one, other, _: all(one[m or 0] == other[i or 0] for m, i in bounds)
        case IntervalJoin():
            found = node.interval_join_spec.window_bounds
            mine, its = found.left_time_index, found.right_time_index
            lower, upper = found.left_lower_bound, found.left_upper_bound
            return (
                node.interval_join_spec.join_spec,
                lambda one, other, _: lower <= int(str(one[mine])) - int(str(other[its])) <= upper,
            )
        case TemporalJoin():
            return node.join_spec, _versions(node)
        case BatchNestedLoopJoin():
            return JoinSpec(join_type=node.join_type, non_equi_condition=node.condition), lambda *_: True
        case Join() | BatchHashJoin():
            return node.join_spec, lambda *_: True
        case _:
            raise NotImplementedError(node.key)


def _versions(node: TemporalJoin) -> Near:
    """The newest version of the node's key: rows of other keys say nothing of it."""
    mine, its, keys = node.left_time_attribute_index, node.right_time_attribute_index, node.join_spec.right_keys

    def near(one: tuple[object, ...], other: tuple[object, ...], rights: Rows) -> bool:
        times = [int(str(row[its])) for row in rights if all(row[each] == other[each] for each in keys)]
        passed = [time for time in times if time <= int(str(one[mine]))]
        return bool(passed) and int(str(other[its])) == max(passed)

    return near


@pytest.fixture(scope="module")
def environments() -> dict[str, TableEnvironment]:
    made = {mode: TableEnvironment.create({"execution.runtime-mode": mode}) for mode in ("streaming", "batch")}
    for each in made.values():
        each.execute_script(TABLES.replace("{dir}", "/nowhere"))
    return made


def check(environment: TableEnvironment, query: Query, left: list[Row], right: list[Row], versions: list[Row]) -> None:
    try:
        graph = environment.compile_plan_sql(query.sql).graph
    except SqlError as error:
        if not any(each in error.message for each in _REFUSED):
            raise
        return
    found = Interpreter(graph, {"l": left, "r": right, "v": versions}).run()
    assert sorted(found, key=str) == query.rows(left, versions if query.family == "temporal" else right), query.sql


def test_conditions_that_were_lost_once_are_asked(environments: dict[str, TableEnvironment]) -> None:
    for query in KNOWN:
        check(environments["streaming"], query, LEFTS, RIGHTS, VERSIONS)


@pytest.mark.parametrize("family", FAMILIES)
def test_joins_are_what_nested_loops_give(family: str, environments: dict[str, TableEnvironment]) -> None:
    modes = ["streaming"] if family == "temporal" else ["streaming", "batch"]

    @settings(max_examples=10, deadline=None)
    @given(query=queries([family]), contents=tables(), mode=st.sampled_from(modes))
    def run(query: Query, contents: tuple[list[Row], list[Row], list[Row]], mode: str) -> None:
        check(environments[mode], query, *contents)

    run()
