"""ExecGraphs of small plans: which nodes, with which fields, shared by whom; and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from execnodes.core.errors import Position, SqlError
from execnodes.core.expressions import Expression, InputRef
from execnodes.core.graph import ExecGraph
from execnodes.core.node import ExecNode
from execnodes.core.types import BIGINT, INT, STRING, Field, row, timestamp
from execnodes.stream.interval_join import IntervalJoin
from planner.algebra import (
    JoinType,
    Logical,
    Over,
    OverCall,
    Rank,
    Sink,
    Sort,
    SortKey,
    Values,
    WindowTableFunction,
)
from planner.algebra.rank import RankFunction
from tests.planner.hand_built import (
    aggregate,
    call,
    compiled,
    count,
    join,
    kinds,
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
CDC = scan("cdc", table(key=("k",), format="debezium-json"))
COUNTED = aggregate(T, (0,), count())
HERE = Position(3, 7)


def at(index: int, type: object = INT) -> InputRef:
    return InputRef.model_validate({"input_index": index, "type": type})


def only(graph: ExecGraph, kind: str) -> ExecNode:
    found = [node for node in graph.nodes if node.key.name == f"stream-exec-{kind}"]
    assert len(found) == 1, kinds(graph)
    return found[0]


def field(node: ExecNode, name: str) -> object:
    return getattr(node, name)


def positive(node: Logical, column: int) -> Expression:
    return call(">", ref(node, column), lit(0))


def last(node: Logical) -> Logical:
    over = numbered(node, 3, ascending=False)
    return where(over, call("=", ref(over, 4), lit(1, BIGINT)))


SCAN_JOIN = join(T, U, JoinType.INNER, call("=", at(0, STRING), at(4, STRING)))

TWO_PHASES = "table-source-scan local-group-aggregate exchange global-group-aggregate sink"
CASES: list[tuple[Sink, str]] = [
    (sink(T), "table-source-scan sink"),
    (sink(where(T, positive(T, 1))), "table-source-scan calc sink"),
    (sink(project(where(T, positive(T, 1)), ref(T, 0))), "table-source-scan calc sink"),
    (sink(COUNTED), TWO_PHASES),
    (
        sink(aggregate(T, (0,), total(1, function="LAST_VALUE"))),
        "table-source-scan exchange group-aggregate sink",
    ),
    (sink(aggregate(T, (0,), total(1, distinct=True))), "table-source-scan exchange group-aggregate sink"),
    (sink(aggregate(CDC, (0,), total(1, function="MAX"))), "table-source-scan exchange group-aggregate sink"),
    (sink(SCAN_JOIN), "table-source-scan exchange table-source-scan exchange join sink"),
    (sink(W), "table-source-scan watermark-assigner sink"),
    (sink(last(W)), "table-source-scan watermark-assigner exchange deduplicate calc sink"),
    (sink(windows(W)), "table-source-scan watermark-assigner window-table-function sink"),
    (
        sink(aggregate(windows(W), (4, 5, 0), count())),
        "table-source-scan watermark-assigner exchange window-aggregate calc sink",
    ),
    (sink(CDC, key=("c0",), connector="blackhole"), "table-source-scan drop-update-before sink"),
    (sink(CDC), "table-source-scan sink"),
    (sink(Values(((lit(1),), (lit(2),)), row(Field("a", INT)))), "values sink"),
    (sink(Values(((call("UUID", type=STRING),),), row(Field("a", STRING)))), "values calc sink"),
]


@pytest.mark.parametrize(("node", "expected"), CASES, ids=[expected for _, expected in CASES])
def test_nodes(node: Sink, expected: str) -> None:
    assert " ".join(kinds(compiled(node))) == expected


def test_ids_count_from_one_and_inputs_come_first() -> None:
    graph = compiled(sink(SCAN_JOIN))
    assert [node.id for node in graph.nodes] == list(range(1, len(graph.nodes) + 1))
    assert all(source < target for target, sources in graph.inputs.items() for source in sources)
    assert compiled(sink(SCAN_JOIN)) == graph


def test_one_phase_on_request() -> None:
    graph = compiled(sink(COUNTED), **{"table_optimizer_agg__phase__strategy": "ONE_PHASE"})
    assert " ".join(kinds(graph)) == "table-source-scan exchange group-aggregate sink"


def test_consumed_options_are_those_in_force() -> None:
    plain = only(compiled(sink(project(T, positive(T, 1)))), "calc")
    assert plain.configuration == {"table.local-time-zone": "UTC"}
    zoned = only(compiled(sink(project(T, positive(T, 1))), **{"table_local__time__zone": "Asia/Tokyo"}), "calc")
    assert zoned.configuration == {"table.local-time-zone": "Asia/Tokyo"}


def test_uid_format_is_written_only_where_it_was_set() -> None:
    key = "table.exec.uid.format"
    assert all(key not in node.configuration for node in compiled(sink(COUNTED)).nodes)
    graph = compiled(sink(COUNTED), **{"table_exec_uid_format": "<id>_<type>-<version>_<operator>"})
    assert only(graph, "global-group-aggregate").uids() == (
        "4_stream-exec-global-group-aggregate-1_global-group-aggregate",
    )


def test_state_keeps_for_as_long_as_hint_or_option_say() -> None:
    graph = compiled(sink(COUNTED), **{"table_exec_state_ttl": "4 d"})
    assert [(each.name, each.ttl) for each in only(graph, "global-group-aggregate").state] == [
        ("globalGroupAggregateState", "4 d")
    ]
    hinted = replace(SCAN_JOIN, ttl=("1 d", None))
    states = only(compiled(sink(hinted), **{"table_exec_state_ttl": "4 d"}), "join").state
    assert [(each.index, each.name, each.ttl) for each in states] == [(0, "leftState", "1 d"), (1, "rightState", "4 d")]


def test_row_watermarks_are_state() -> None:
    assert only(compiled(sink(W)), "watermark-assigner").state == ()
    graph = compiled(sink(W), **{"table_exec_watermark_granularity": "row"})
    assert only(graph, "watermark-assigner").uids() == ("2_watermark-assigner",)


def test_max_parallelism_comes_from_the_configuration() -> None:
    assert compiled(sink(T), **{"pipeline_max__parallelism": "7"}).max_parallelism == 7


def test_a_table_is_read_once_for_all_sinks() -> None:
    graph = compiled(sink(project(T, ref(T, 0))), sink(where(scan(), positive(T, 2)), "s2"))
    assert len(graph.consumers_of(only(graph, "table-source-scan"))) == 2


def test_equal_parts_run_once_only_for_equal_changes() -> None:
    totals = aggregate(COUNTED, (), total(1))
    same = compiled(sink(COUNTED), sink(totals, "s2"), **{"table_optimizer_agg__phase__strategy": "ONE_PHASE"})
    assert kinds(same).count("group-aggregate") == 2
    upsert = sink(COUNTED, key=("c0",), connector="blackhole")
    mixed = compiled(upsert, sink(totals, "s2"), **{"table_optimizer_agg__phase__strategy": "ONE_PHASE"})
    # The second sink sums the count alone and needs no key, yet it must see -U.
    assert kinds(mixed).count("group-aggregate") == 3
    assert kinds(mixed).count("exchange") == 2


def test_nothing_is_shared_when_reuse_is_off() -> None:
    graph = compiled(sink(T), sink(T, "s2"), **{"table_optimizer_reuse__sub__plan__enabled": "false"})
    assert kinds(graph) == ["table-source-scan", "sink"] * 2


def test_same_rows_into_one_sink_twice_are_written_twice() -> None:
    assert kinds(compiled(sink(T), sink(T))) == ["table-source-scan", "sink", "sink"]


def test_join_fields() -> None:
    condition = call("AND", call("IS NOT DISTINCT FROM", at(4, STRING), at(0, STRING)), call("<", at(1), at(5)))
    keyed = scan("kt", table(key=("k",)))
    node = only(compiled(sink(join(keyed, U, JoinType.LEFT, condition))), "join")
    spec = node.model_dump()["join_spec"]
    assert (spec["left_keys"], spec["right_keys"], spec["filter_nulls"]) == ((0,), (0,), (False,))
    assert spec["non_equi_condition"]["internal_name"] == "$<$1"
    assert (field(node, "left_upsert_keys"), field(node, "right_upsert_keys")) == (((0,),), ())
    assert [each.name for each in node.output_type.fields] == ["k", "v", "w", "ts", "k0", "v0", "w0", "ts0"]


def test_two_phase_fields() -> None:
    graph = compiled(sink(COUNTED))
    local, final = only(graph, "local-group-aggregate"), only(graph, "global-group-aggregate")
    assert [each.name for each in local.output_type.fields] == ["k", "n$count"]
    assert field(final, "grouping") == (0,)
    assert field(final, "local_agg_input_row_type") == graph.inputs_of(local)[0].output_type
    assert str(final.changelog_mode) == "I,UB,UA"


@pytest.mark.parametrize(
    ("node", "mode", "materialize"),
    [
        (sink(COUNTED), "I,UB,UA", False),
        (sink(COUNTED, key=("c0",), connector="blackhole"), "I,UA", False),
        (sink(COUNTED, key=("c0", "c1"), connector="blackhole"), "I,UA", False),
        (sink(COUNTED, key=("c1",), connector="blackhole", on_conflict="DEDUPLICATE"), "I,UB,UA", True),
        (sink(COUNTED, key=("c1",), connector="print"), "I,UB,UA", False),
        (sink(T, key=("c1",), connector="blackhole"), "I", False),
        (sink(aggregate(T, (), count()), key=("c0",), connector="blackhole"), "I,UA", False),
        (sink(where(COUNTED, positive(COUNTED, 1)), key=("c0",), connector="blackhole"), "I,UB,UA", False),
    ],
)
def test_sinks(node: Sink, mode: str, materialize: bool) -> None:
    made = only(compiled(node), "sink")
    assert str(made.changelog_mode) == mode
    assert field(made, "input_changelog_mode") == made.changelog_mode
    assert field(made, "require_upsert_materialize") is materialize
    assert [each.name for each in made.state] == (["sinkMaterializeState"] if materialize else [])


OTHER_KEY = sink(COUNTED, key=("c1",), connector="blackhole", position=HERE)


@pytest.mark.parametrize(
    ("options", "materialize"),
    [
        ({"table_exec_sink_require__on__conflict": "false"}, True),
        ({"table_exec_sink_upsert__materialize": "NONE"}, False),
    ],
)
def test_other_keys_by_option(options: dict[str, str], materialize: bool) -> None:
    made = only(compiled(OTHER_KEY, **options), "sink")
    assert field(made, "require_upsert_materialize") is materialize
    assert made.changelog_mode.retract


def test_first_of_a_key_needs_watermarks() -> None:
    plain = replace(OTHER_KEY, on_conflict="NOTHING")
    with pytest.raises(SqlError, match=r"needs watermarks on all sources, but there are none on c\.d\.t"):
        compiled(plain)
    timed = replace(plain, input=aggregate(W, (0,), count()))
    assert field(only(compiled(timed), "sink"), "conflict_strategy") == "NOTHING"


def over(name: str, *, node: Logical = W, partition: tuple[int, ...] = (0,)) -> Over:
    calls = (OverCall(name, f"${name}$1", (), BIGINT),)
    type = row(*node.type.fields, Field("o", BIGINT))
    return Over(node, partition, (SortKey(3),), calls, type, position=HERE)


def of_one_select(name: str, below: Over) -> Over:
    return replace(over(name, node=below), select=below.select)


def last_rows() -> Logical:
    number = replace(numbered(W, 3, ascending=False), position=HERE)
    return where(number, call("=", ref(number, 4), lit(1, BIGINT.not_null())))


def ranked(
    node: Logical,
    function: RankFunction = "ROW_NUMBER",
    partition: tuple[int, ...] = (0,),
    end_index: int | None = None,
) -> Rank:
    end = 2 if end_index is None else None
    return Rank(node, partition, (SortKey(1),), function, 1, end, node.type, HERE, end_index)


def timed_join(kind: JoinType, *operators: str) -> Logical:
    parts = [call(operator, ref(W, 3), at(7, W.type.fields[3].type)) for operator in operators]
    other = watermarked("u")
    return join(W, other, kind, call("AND", call("=", at(0, STRING), at(4, STRING)), *parts), position=HERE)


def windowed(name: str) -> WindowTableFunction:
    return replace(windows(watermarked(name)), position=HERE)


def in_windows(kind: str, size: int = 10_000, step: int = 0) -> Logical:
    return replace(windows(W, kind, size, step), position=HERE)


REFUSED: list[tuple[str, Callable[[], Sink]]] = [
    ("ordered in ASCENDING mode", lambda: sink(replace(numbered(T, 1, ascending=False), position=HERE))),
    ("ordered by a single column", lambda: sink(replace(over("SUM"), order=(SortKey(3), SortKey(1))))),
    ("computed on the same window", lambda: sink(of_one_select("SUM", replace(over("MIN"), select=HERE)))),
    ("CUME_DIST Function is not supported in stream mode", lambda: sink(over("CUME_DIST"))),
    ("Non-time attribute sort", lambda: sink(replace(over("SUM", node=T), order=(SortKey(1),), preceding=2))),
    ("needs rows that are only added", lambda: sink(replace(over("SUM", node=last_rows()), order=(SortKey(3),)))),
    ("a Top-N by RANK", lambda: sink(ranked(W, "RANK"))),
    ("rows that are updated", lambda: sink(ranked(replace(windows(last(W)), time_index=3), partition=(0, 5, 6)))),
    ("must be a constant", lambda: sink(ranked(windows(W), partition=(4, 5), end_index=1))),
    ("ORDER BY v without LIMIT", lambda: sink(Sort(W, (SortKey(1),), position=HERE))),
    ("ORDER BY ts DESC without LIMIT", lambda: sink(Sort(W, (SortKey(3, False),), position=HERE))),
    ("over rows that are updated", lambda: sink(Sort(last(W), (SortKey(3),), position=HERE))),
    ("OFFSET without LIMIT", lambda: sink(Sort(W, (SortKey(3),), offset=2, position=HERE))),
    ("must be a multiple", lambda: sink(in_windows("CUMULATE", 10_000, 4000))),
    ("must be a multiple", lambda: sink(in_windows("HOP", 10_000, 4000))),
    ("needs a time attribute", lambda: sink(replace(windows(T), position=HERE))),
    ("several of its rows may want one place", lambda: OTHER_KEY),
    (
        r"takes inserts only, but GlobalGroupAggregate\(groupBy=\[k\], select=\[k, COUNT\(\*\) AS n\]\) gives updates",
        lambda: sink(COUNTED, connector="filesystem", position=HERE),
    ),
    ("has no PRIMARY KEY", lambda: sink(T, on_conflict="NOTHING", position=HERE)),
    ("only accepts INSERT", lambda: sink(T, key=("c0",), on_conflict="NOTHING", position=HERE)),
]


@pytest.mark.parametrize(("message", "node"), REFUSED, ids=[message for message, _ in REFUSED])
def test_what_cannot_run_is_refused_with_its_place(message: str, node: Callable[[], Sink]) -> None:
    with pytest.raises(SqlError, match=message) as caught:
        compiled(node())
    assert caught.value.position == HERE or "updated" in message


@pytest.mark.parametrize(
    "node",
    [timed_join(JoinType.INNER, ">="), timed_join(JoinType.INNER, "=", ">="), timed_join(JoinType.SEMI, ">=", "<=")],
)
def test_other_conditions_on_times_are_regular_joins(node: Logical) -> None:
    joined = only(compiled(sink(node)), "join")
    assert not any(each.type.is_time_attribute for each in joined.output_type.fields)


@pytest.mark.parametrize(
    ("node", "lower"), [(timed_join(JoinType.INNER, ">=", "<="), 0), (timed_join(JoinType.LEFT, "<", ">"), 1)]
)
def test_interval_joins_keep_both_times(node: Logical, lower: int) -> None:
    joined = only(compiled(sink(node)), "interval-join")
    assert [each.name for each in joined.output_type.fields if each.type.is_time_attribute] == ["ts", "ts0"]
    assert isinstance(joined, IntervalJoin)
    assert joined.interval_join_spec.window_bounds.left_lower_bound == lower


def test_joins_of_different_windows_are_regular_joins() -> None:
    left, right = windowed("t"), replace(windows(watermarked("u"), "HOP", 10_000, 5000), position=HERE)
    time = timestamp(3).not_null()
    bounds = [call("=", at(index, time), at(index + 7, time)) for index in (4, 5)]
    joined = join(left, right, JoinType.INNER, call("AND", *bounds))
    assert "join" in kinds(compiled(sink(joined)))


def test_tables_are_stored_in_full_with_options_of_hints() -> None:
    def table_of(node: Logical) -> dict[str, dict[str, dict[str, object]]]:
        scans = only(compiled(sink(node)), "table-source-scan")
        found = scans.model_dump(exclude_none=True)["scan_table_source"]["table"]
        assert isinstance(found, dict)
        return found

    assert table_of(T)["resolved_table"]["options"] == {"connector": "filesystem", "format": "json"}
    assert table_of(replace(T, hints=(("path", "x"),)))["resolved_table"]["options"]["path"] == "x"
    assert "identifier" not in table_of(replace(T, identifier=None))
