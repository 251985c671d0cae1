"""Each rule turns a small plan into the plan it should be; rules leave alone what they must not touch."""

from __future__ import annotations

from dataclasses import replace

import pytest

from execnodes.core.errors import SqlError
from execnodes.core.expressions import Expression, InputRef
from execnodes.core.types import BIGINT, INT, STRING
from planner.algebra import (
    Aggregate,
    Deduplicate,
    Expand,
    Filter,
    Join,
    JoinType,
    Logical,
    Over,
    Project,
    Rank,
    SetKind,
    SetOperation,
    WindowAggregate,
)
from planner.optimize import optimize
from planner.rules import PHASES, rules
from planner.rules.normalize_changelog import normalize_changelog
from planner.rules.push_filters import push_filters
from planner.rules.replace_first_rows import replace_first_rows
from tests.planner.hand_built import (
    aggregate,
    at,
    call,
    count,
    join,
    lit,
    numbered,
    project,
    ref,
    scan,
    sink,
    table,
    total,
    watermarked,
    where,
    windows,
)

T = scan()
U = scan("u")
W = watermarked()


def positive(node: Logical, column: int) -> Expression:
    return call(">", ref(node, column), lit(0))


def shape(node: Logical) -> str:
    """``Project(Filter(Scan))``."""
    below = ", ".join(map(shape, node.inputs))
    return f"{type(node).__name__}({below})" if below else type(node).__name__


def optimized(node: Logical) -> Logical:
    return optimize([sink(node)])[0].input


def test_every_rule_is_in_the_module_of_its_name() -> None:
    for rule in rules(PHASES):
        name = getattr(rule, "__name__", "")
        assert rule.__module__ == f"planner.rules.{name}"


KEY = call("=", at(0, STRING), at(4, STRING))
LEFT, RIGHT, BOTH = call(">", at(1), lit(0)), call(">", at(5), lit(0)), call(">", at(1), at(5))


@pytest.mark.parametrize(
    ("kind", "on", "above", "expected"),
    [
        (JoinType.INNER, [LEFT, RIGHT], [], "Join(Filter(Scan), Filter(Scan))"),
        (JoinType.INNER, [], [LEFT, RIGHT, BOTH], "Join(Filter(Scan), Filter(Scan))"),
        (JoinType.LEFT, [RIGHT], [], "Join(Scan, Filter(Scan))"),
        (JoinType.LEFT, [LEFT], [], "Join(Scan, Scan)"),
        (JoinType.LEFT, [], [LEFT], "Join(Filter(Scan), Scan)"),
        (JoinType.RIGHT, [LEFT], [], "Join(Filter(Scan), Scan)"),
        (JoinType.RIGHT, [], [RIGHT], "Join(Scan, Filter(Scan))"),
        (JoinType.FULL, [LEFT, RIGHT], [], "Join(Scan, Scan)"),
        (JoinType.SEMI, [LEFT, RIGHT], [], "Join(Filter(Scan), Filter(Scan))"),
        (JoinType.ANTI, [LEFT, RIGHT], [], "Join(Scan, Filter(Scan))"),
        (JoinType.ANTI, [], [LEFT], "Join(Filter(Scan), Scan)"),
    ],
)
def test_filters_go_to_the_side_where_they_mean_the_same(
    kind: JoinType, on: list[Expression], above: list[Expression], expected: str
) -> None:
    node: Logical = join(T, U, kind, call("AND", KEY, *on))
    for each in above:
        node = where(node, each)
    pushed = push_filters((sink(node),))[0].input
    assert shape(pushed) == expected


@pytest.mark.parametrize(
    ("kind", "above", "becomes"),
    [
        (JoinType.LEFT, RIGHT, JoinType.INNER),
        (JoinType.RIGHT, LEFT, JoinType.INNER),
        (JoinType.FULL, LEFT, JoinType.LEFT),
        (JoinType.FULL, RIGHT, JoinType.RIGHT),
        (JoinType.FULL, BOTH, JoinType.INNER),
        (JoinType.LEFT, call("IS NULL", at(5)), JoinType.LEFT),
        (JoinType.LEFT, LEFT, JoinType.LEFT),
    ],
)
def test_padding_that_a_condition_refuses_is_not_made(kind: JoinType, above: Expression, becomes: JoinType) -> None:
    pushed = push_filters((sink(where(join(T, U, kind, KEY), above)),))[0].input
    joined = pushed.input if isinstance(pushed, Filter) else pushed
    assert isinstance(joined, Join)
    assert joined.kind is becomes


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (where(project(T, ref(T, 1)), call(">", at(0), lit(0))), "Project(Filter(Scan))"),
        (where(W, positive(W, 1)), "Filter(WatermarkAssigner(Scan))"),
        (where(aggregate(T, (0,), total(1)), call("=", at(0, STRING), lit("a", STRING))), "Aggregate(Filter(Scan))"),
        (where(aggregate(T, (0,), total(1)), call(">", at(1), lit(0))), "Filter(Aggregate(Scan))"),
        (where(aggregate(T, (), total(1)), call(">", lit(1), lit(0))), "Filter(Aggregate(Scan))"),
        (where(SetOperation(SetKind.UNION, (T, U), True, T.type), LEFT), "SetOperation(Filter(Scan), Filter(Scan))"),
        (where(project(T, call("NOW", type=INT)), call(">", at(0), lit(0))), "Filter(Project(Scan))"),
        (where(windows(W), positive(W, 1)), "Filter(WindowTableFunction(WatermarkAssigner(Scan)))"),
    ],
)
def test_filters_stop_where_they_would_mean_something_else(node: Logical, expected: str) -> None:
    assert shape(push_filters((sink(node),))[0].input) == expected


def test_projections_merge_unless_that_would_compute_another_value_twice() -> None:
    plain = project(project(T, ref(T, 1), ref(T, 2)), call("+", at(0), at(1), type=INT))
    assert shape(optimized(plain)) == "Project(Scan)"
    volatile = project(T, call("NOW", type=INT))
    assert shape(optimized(project(volatile, call("+", at(0), at(0), type=INT)))) == "Project(Project(Scan))"
    assert shape(optimized(project(volatile, call("+", at(0), lit(1), type=INT)))) == "Project(Scan)"


def test_nothing_carries_a_column_that_nobody_reads() -> None:
    node = optimized(project(aggregate(project(T, ref(T, 0), ref(T, 1), ref(T, 2)), (0,), total(1), total(2)), at(1)))
    assert isinstance(node, Project)
    assert isinstance(node.input, Aggregate)
    assert [each.arg_list for each in node.input.calls] == [(1,)]
    assert [each.name for each in node.input.input.type.fields] == ["k", "v"]


def test_a_table_is_read_once_with_the_columns_of_all_consumers() -> None:
    first, second = optimize([sink(project(T, ref(T, 0))), sink(project(scan(), ref(T, 2)), "s2")])
    scans = [each.input.input for each in (first, second) if isinstance(each.input, Project)]
    assert [[field.name for field in each.type.fields] for each in scans] == [["k", "w"], ["k", "w"]]


def test_streams_with_watermarks_are_shared_with_all_columns() -> None:
    first, second = optimize([sink(project(W, ref(W, 1))), sink(project(watermarked(), ref(W, 2)), "s2")])
    assert first.input != second.input
    assert first.input.inputs == second.input.inputs


def test_sinks_keep_their_columns_in_order() -> None:
    node = optimized(project(T, ref(T, 2), ref(T, 0)))
    assert node.type.fields == project(T, ref(T, 2), ref(T, 0)).type.fields


@pytest.mark.parametrize("bound", [("=", 1), ("<=", 1), ("<", 2)])
@pytest.mark.parametrize("ascending", [True, False])
@pytest.mark.parametrize("mirrored", [True, False])
def test_row_number_one_by_event_time_is_a_deduplication(
    bound: tuple[str, int], ascending: bool, mirrored: bool
) -> None:
    over = numbered(W, 3, ascending)
    operator, value = bound
    sides = (lit(value, BIGINT), ref(over, 4)) if mirrored else (ref(over, 4), lit(value, BIGINT))
    operator = {"=": "=", "<=": ">=", "<": ">"}[operator] if mirrored else operator
    node = optimized(project(where(over, call(operator, *sides)), ref(over, 0), ref(over, 3)))
    assert shape(node) == "Project(Deduplicate(WatermarkAssigner(Scan)))" or isinstance(node, Deduplicate)
    kept = node.input if isinstance(node, Project) else node
    assert isinstance(kept, Deduplicate)
    assert kept.keep_last is not ascending


@pytest.mark.parametrize(
    "node",
    [
        where(numbered(W, 3), call("=", at(4, BIGINT), lit(2, BIGINT))),
        where(numbered(W, 3), call("<=", at(4, BIGINT), lit(2, BIGINT))),
        where(numbered(W, 1), call("=", at(4, BIGINT), lit(1, BIGINT))),
        where(numbered(T, 3), call("=", at(4, BIGINT), lit(1, BIGINT))),
        where(numbered(windows(W), 6, partition=(0, 4, 5)), call("=", at(7, BIGINT), lit(1, BIGINT))),
    ],
)
def test_other_row_numbers_of_which_the_lowest_are_kept_are_ranks(node: Logical) -> None:
    found = optimized(node)
    assert isinstance(found.input if isinstance(found, Project) else found, Rank)


def test_a_row_number_of_which_all_are_kept_is_no_deduplication() -> None:
    assert isinstance(optimized(numbered(W, 3)), Over)


def test_the_row_number_is_one_and_other_conditions_stay() -> None:
    over = numbered(W, 3)
    node = optimized(where(over, call("AND", call("=", ref(over, 4), lit(1, BIGINT)), positive(over, 1))))
    assert shape(node) == "Project(Filter(Deduplicate(WatermarkAssigner(Scan))))"
    assert isinstance(node, Project)
    assert node.expressions[4] == lit(1, BIGINT)


def tumbled(*more: int) -> Aggregate:
    node = windows(W)
    return aggregate(node, (4, 5, *more), total(1))


@pytest.mark.parametrize(
    ("node", "expected", "attached"),
    [
        (tumbled(), "WindowAggregate(WatermarkAssigner(Scan))", False),
        (tumbled(0), "WindowAggregate(WatermarkAssigner(Scan))", False),
        (tumbled(0, 6), "WindowAggregate(WatermarkAssigner(Scan))", False),
        (
            aggregate(where(windows(W), positive(W, 1)), (4, 5), count()),
            "WindowAggregate(Project(Filter(WatermarkAssigner(Scan))))",
            False,
        ),
        (
            aggregate(where(windows(W), call("IS NOT NULL", at(4))), (4, 5), count()),
            "WindowAggregate(Project(Filter(WindowTableFunction(WatermarkAssigner(Scan)))))",
            True,
        ),
        (
            aggregate(tumbled(0), (0, 1), total(3)),
            "WindowAggregate(Project(WindowAggregate(WatermarkAssigner(Scan))))",
            True,
        ),
    ],
)
def test_grouping_by_both_ends_of_a_window_is_a_window_aggregate(node: Logical, expected: str, attached: bool) -> None:
    found = optimized(node)
    made = found.input if isinstance(found, Project) else found
    assert shape(made) == expected
    assert isinstance(made, WindowAggregate)
    assert (made.bounds is not None) is attached


@pytest.mark.parametrize("grouping", [(5,), (4,), (5, 0)])
def test_one_end_of_a_window_is_an_ordinary_key(grouping: tuple[int, ...]) -> None:
    found = optimized(aggregate(windows(W), grouping, count()))
    assert "Aggregate" in shape(found)
    assert "WindowAggregate" not in shape(found)
    assert "WindowTableFunction" in shape(found)


def test_grouping_sets_expand() -> None:
    grouped = aggregate(T, (0, 2), total(1), grouping_sets=((0, 2), (0,), ()))
    node = optimized(grouped)
    assert shape(node) == "Project(Aggregate(Expand(Scan)))"
    assert isinstance(node, Project)
    expand = node.input.input if isinstance(node.input, Aggregate) else None
    assert isinstance(expand, Expand)
    ids = [each[-1] for each in expand.projects]
    assert [getattr(each, "value", None) for each in ids] == [0, 1, 3]
    assert node.type == grouped.type


def test_grouping_sets_within_windows() -> None:
    grouped = aggregate(windows(W), (4, 5, 0), total(1), grouping_sets=((4, 5, 0), (4, 5)))
    node = optimized(grouped)
    assert shape(node) == "Project(WindowAggregate(Expand(WatermarkAssigner(Scan))))"


def test_equalities_of_expressions_become_keys() -> None:
    condition = call("=", call("+", at(1), lit(1), type=INT), at(5))
    node = optimized(join(T, U, JoinType.INNER, condition))
    assert isinstance(node, Project)
    assert isinstance(node.input, Join)
    equality = node.input.condition
    assert all(isinstance(each, InputRef) for each in getattr(equality, "operands", ()))
    assert node.type.fields == join(T, U, JoinType.INNER, condition).type.fields


UPPER = call("=", call("UPPER", at(0, STRING), type=STRING), call("LOWER", at(4, STRING), type=STRING))
CONCAT = call("LIKE", at(0, STRING), call("||", at(4, STRING), lit("%", STRING), type=STRING))
MIXED = call(">", call("CHAR_LENGTH", call("||", at(0, STRING), at(4, STRING), type=STRING), type=INT), lit(3))


@pytest.mark.parametrize(
    ("kind", "condition", "expected"),
    [
        (JoinType.INNER, call("AND", KEY, CONCAT), "Filter(Join(Scan, Scan))"),
        (JoinType.INNER, MIXED, "Filter(Join(Scan, Scan))"),
        (JoinType.LEFT, call("AND", KEY, BOTH), "Join(Scan, Scan)"),
        (JoinType.LEFT, UPPER, "Project(Join(Project(Scan), Project(Scan)))"),
        (JoinType.ANTI, UPPER, "Project(Join(Project(Scan), Project(Scan)))"),
    ],
)
def test_joins_keep_what_their_operator_can_evaluate(kind: JoinType, condition: Expression, expected: str) -> None:
    node = join(T, U, kind, condition)
    found = optimized(node)
    assert shape(found) == expected
    assert [each.type for each in found.type.fields] == [each.type for each in node.type.fields]


@pytest.mark.parametrize(
    ("kind", "all", "expected"),
    [
        (SetKind.UNION, True, "SetOperation(Scan, Scan)"),
        (SetKind.UNION, False, "Aggregate(SetOperation(Scan, Scan))"),
        (SetKind.INTERSECT, False, "Aggregate(Join(Scan, Scan))"),
        (SetKind.EXCEPT, False, "Aggregate(Join(Scan, Scan))"),
        (SetKind.INTERSECT, True, "Project(Join(Over(Project(Scan)), Over(Project(Scan))))"),
        (SetKind.EXCEPT, True, "Project(Join(Over(Project(Scan)), Over(Project(Scan))))"),
    ],
)
def test_set_operations(kind: SetKind, all: bool, expected: str) -> None:
    assert shape(optimized(SetOperation(kind, (T, U), all, T.type))) == expected


def test_nested_unions_are_flat() -> None:
    inner = SetOperation(SetKind.UNION, (T, U), True, T.type)
    outer = SetOperation(SetKind.UNION, (inner, scan("x")), False, T.type)
    assert shape(optimized(outer)) == "Aggregate(SetOperation(Scan, Scan, Scan))"


CDC = table(key=("v",), format="debezium-json", watermark="ts")


@pytest.mark.parametrize(
    ("resolved", "duplicates", "expected"),
    [
        (CDC, True, "Normalize(Scan)"),
        (CDC, False, "Scan"),
        (table(key=("v",)), True, "Scan"),
        (table(format="debezium-json"), False, "Scan"),
        (table(format="json"), True, "Scan"),
        (table(key=("v",), connector="upserts"), False, "Normalize(Scan)"),
    ],
)
def test_changelogs_are_normalized_where_they_need_it(resolved: object, duplicates: bool, expected: str) -> None:
    node = replace(T, table=resolved)  # type: ignore[arg-type]
    assert shape(normalize_changelog((sink(node),), duplicates)[0].input) == expected


@pytest.mark.parametrize(
    ("resolved", "duplicates", "message"),
    [
        (table(format="debezium-json"), True, "is a changelog source without PRIMARY KEY"),
        (table(connector="upserts"), False, "emits updates without the rows before them and has no PRIMARY KEY"),
    ],
)
def test_changelogs_without_a_key_cannot_be_normalized(resolved: object, duplicates: bool, message: str) -> None:
    node = replace(T, table=resolved)  # type: ignore[arg-type]
    with pytest.raises(SqlError, match=message):
        normalize_changelog((sink(node),), duplicates)


def test_watermarks_are_assigned_below_the_normalization() -> None:
    source = replace(W, input=replace(T, table=CDC))
    assert shape(normalize_changelog((sink(source),), True)[0].input) == "Normalize(WatermarkAssigner(Scan))"


def test_first_rows_of_mini_batches_are_given_at_once() -> None:
    first, last = (Deduplicate(W, (0,), 3, keep_last) for keep_last in (False, True))
    (at_once,) = replace_first_rows((sink(first),))
    assert at_once.input == replace(first, replaced=True)
    assert at_once.input.kinds.has_updates
    assert not first.kinds.has_updates
    assert replace_first_rows((sink(last),))[0].input == last
