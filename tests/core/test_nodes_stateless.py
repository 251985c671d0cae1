"""Stateless nodes: what text they give, which plans they refuse, how they look in JSON."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execnodes.core.errors import PlanError
from execnodes.core.expressions import Call, Expression, InputRef, Literal
from execnodes.core.node import Distribution, ExecNode, InputProperty
from execnodes.core.tables import TableReference
from execnodes.core.types import (
    BOOLEAN,
    INT,
    STRING,
    Field,
    LogicalType,
    TimeKind,
    row,
    timestamp,
    timestamp_ltz,
)
from execnodes.core.windowing import (
    Windowing,
    WindowSpec,
    iso_duration,
    length_text,
    parse_iso_duration,
)
from execnodes.lowering.stream import Branch, Condition, OperatorInput, Rows
from execnodes.state.kernel_types import Column
from execnodes.state.operator import LocalKernel, Operator
from execnodes.stream.calc import Calc
from execnodes.stream.drop_update_before import DropUpdateBefore
from execnodes.stream.exchange import Exchange
from execnodes.stream.expand import Expand
from execnodes.stream.table_source_scan import FilterPushDown, ScanTableSource, TableSourceScan
from execnodes.stream.union import Union
from execnodes.stream.values import Values
from execnodes.stream.watermark_assigner import WatermarkAssigner
from execnodes.stream.window_table_function import WindowTableFunction

TYPE = row(Field("k", STRING), Field("v", INT))
PLAIN = Rows(TYPE, (Branch(1, ("k", "v")),))
CHANGES = Rows(TYPE, (Branch(1, ("k", "v"), "v > 0", "rk_kind"), Branch(2, ("a", "b"))))


class Recorder:
    """A runtime that notes what it is asked for."""

    zone = "UTC"

    def __init__(self) -> None:
        self.asked: list[object] = []

    def scan(
        self, node: ExecNode, table: TableReference, produced: LogicalType, condition: Condition | None = None
    ) -> Rows:
        asked = condition and (condition.reads, condition.text(("k", "a", "b")))
        self.asked.append((table.identifier, produced, *([asked] if asked else [])))
        return PLAIN

    def values(self, node: ExecNode, tuples: tuple[tuple[Literal, ...], ...], produced: LogicalType) -> Rows:
        self.asked.append(tuples)
        return PLAIN

    def assign_watermark(
        self,
        node: ExecNode,
        rows: Rows,
        value: Expression,
        watermark: Callable[[Branch], str],
        by_row: Callable[[tuple[Column, ...]], Operator],
    ) -> Rows:
        self.asked.append([watermark(each) for each in rows.branches])
        return rows

    def operator(self, node: ExecNode, operator: Operator, inputs: tuple[OperatorInput, ...]) -> Rows:
        raise AssertionError("a stateless node asked for an operator")

    def pre_aggregate(self, node: ExecNode, kernel: LocalKernel, rows: Rows) -> Rows:
        raise AssertionError("a stateless node asked for a local aggregate")

    def sink(self, node: ExecNode, table: TableReference, rows: Rows) -> None:
        raise AssertionError("a stateless node asked for a sink")


def at(index: int, type: LogicalType = INT) -> InputRef:
    return InputRef(input_index=index, type=type)


def call(name: str, *operands: Expression, type: LogicalType = BOOLEAN) -> Call:
    return Call(internal_name=f"${name}$1", operands=operands, type=type)


ONE = Literal(value=1, type=INT.not_null())


def calc(*projection: Expression, condition: Expression | None = None, output: LogicalType = TYPE) -> Calc:
    return Calc(id=2, output_type=output, description="Calc", projection=projection, condition=condition)


def test_calc_filters_before_it_projects() -> None:
    node = calc(at(0, STRING), call("+", at(1), ONE, type=INT), condition=call(">", at(1), ONE))
    rows = node.lower(Recorder(), (CHANGES,))
    assert [each.columns[0] for each in rows.branches] == ["k", "a"]
    assert "v" in rows.branches[0].columns[1]
    assert "v > 0" in (rows.branches[0].condition or "")
    assert "b" in (rows.branches[1].condition or "")
    assert [each.kind for each in rows.branches] == ["rk_kind", None]


@pytest.mark.parametrize(
    "node",
    [
        calc(at(0, STRING), at(2)),
        calc(at(0, STRING), at(1), condition=call(">", at(5), ONE)),
        calc(at(0, STRING)),
        Union(id=2, output_type=row(Field("k", INT), Field("v", INT)), description=""),
        Union(id=2, output_type=row(Field("k", STRING)), description=""),
        Exchange(id=2, output_type=TYPE, description=""),
        Exchange(
            id=2,
            output_type=TYPE,
            description="",
            input_properties=(InputProperty(required_distribution=Distribution(type="HASH", keys=(2,))),),
        ),
        Expand(id=2, output_type=TYPE, description="", projects=((at(0, STRING),),)),
        Values(id=2, output_type=TYPE, description="", tuples=((ONE,),)),
        WatermarkAssigner(id=2, output_type=TYPE, description="", watermark_expr=at(1), rowtime_field_index=2),
    ],
)
def test_nodes_that_do_not_fit_their_input_are_refused(node: ExecNode) -> None:
    with pytest.raises(PlanError, match="node 2"):
        node.check((TYPE,))


def test_union_keeps_all_branches_and_exchange_changes_nothing() -> None:
    union = Union(id=3, output_type=TYPE, description="").lower(Recorder(), (PLAIN, CHANGES))
    assert union.branches == (*PLAIN.branches, *CHANGES.branches)
    assert Exchange(id=3, output_type=TYPE, description="").lower(Recorder(), (CHANGES,)) == CHANGES


def test_expand_makes_a_branch_for_each_list() -> None:
    null = Literal(value=None, type=STRING)
    node = Expand(id=2, output_type=TYPE, description="", projects=((at(0, STRING), ONE), (null, ONE)))
    rows = node.lower(Recorder(), (CHANGES,))
    assert len(rows.branches) == 4
    assert [each.kind for each in rows.branches] == ["rk_kind", "rk_kind", None, None]
    assert rows.branches[0].columns[0] == "k"
    assert "NULL" in rows.branches[1].columns[0].upper()


def test_drop_update_before_filters_by_kind_where_there_is_one() -> None:
    node = DropUpdateBefore(id=2, output_type=TYPE, description="")
    assert node.lower(Recorder(), (PLAIN,)) == PLAIN
    dropped = node.lower(Recorder(), (CHANGES,))
    assert dropped.branches[0].condition == "(v > 0) AND (rk_kind <> 1)"
    assert dropped.branches[1].columns == ("a", "b")


def test_sources_ask_the_runtime() -> None:
    recorder = Recorder()
    table = TableReference(identifier=("c", "d", "t"))
    TableSourceScan(id=1, output_type=TYPE, description="", scan_table_source=ScanTableSource(table=table)).lower(
        recorder, ()
    )
    positive = Call(internal_name="$>$1", operands=(at(1), ONE), type=BOOLEAN)
    ability = FilterPushDown(predicates=(positive,))
    source = ScanTableSource(table=table, abilities=(ability,))
    TableSourceScan(id=1, output_type=TYPE, description="", scan_table_source=source).lower(recorder, ())
    Values(id=1, output_type=TYPE, description="", tuples=((ONE, ONE),)).lower(recorder, ())
    assigner = WatermarkAssigner(id=2, output_type=TYPE, description="", watermark_expr=at(1), rowtime_field_index=1)
    assigner.lower(recorder, (CHANGES,))
    wanted = (frozenset({1}), "((a > 1))")
    assert recorder.asked == [(("c", "d", "t"), TYPE), (("c", "d", "t"), TYPE, wanted), ((ONE, ONE),), ["v", "b"]]
    assert assigner.uids() == ()


def window_function(size: int, slide: int | None, time: LogicalType, offset: int | None = None) -> WindowTableFunction:
    kind = "TumblingWindow" if slide is None else "HoppingWindow"
    window = WindowSpec.model_validate({"type": kind, "size": size, "slide": slide, "offset": offset})
    windowing = Windowing(strategy="TimeAttribute", window=window, time_attribute_type=time, time_attribute_index=0)
    bounds = (Field("window_start", timestamp(3)), Field("window_end", timestamp(3)), Field("window_time", time))
    return WindowTableFunction(id=3, output_type=row(Field("ts", time), *bounds), description="", windowing=windowing)


TIME = timestamp(3, TimeKind.ROWTIME)
INSTANT = timestamp_ltz(3, TimeKind.ROWTIME)


@pytest.mark.parametrize(("size", "slide", "branches"), [(5000, None, 1), (10_000, 2000, 5), (2000, 2000, 1)])
def test_a_row_is_in_as_many_windows_as_overlap(size: int, slide: int | None, branches: int) -> None:
    node = window_function(size, slide, TIME)
    node.check((row(Field("ts", TIME)),))
    rows = node.lower(Recorder(), (Rows(row(Field("ts", TIME)), (Branch(1, ("ts",)),)),))
    assert len(rows.branches) == branches
    assert len({each.columns for each in rows.branches}) == branches
    for each in rows.branches:
        assert each.columns[0] == "ts"
        assert len(each.columns) == 4


def test_cumulating_windows_keep_rows_from_where_they_end_behind_them() -> None:
    node = window_function(5000, None, TIME)
    window = WindowSpec(type="CumulativeWindow", max_size=6000, step=2000)
    node = node.replaced(windowing=node.windowing.model_copy(update={"window": window}))
    node.check((row(Field("ts", TIME)),))
    rows = node.lower(Recorder(), (Rows(row(Field("ts", TIME)), (Branch(1, ("ts",), "ts > x"),)),))
    assert len(rows.branches) == 3
    assert len({each.columns[1] for each in rows.branches}) == 1
    assert len({each.columns[2] for each in rows.branches}) == 3
    assert all((each.condition or "").startswith("(ts > x) AND (") for each in rows.branches)


def test_instants_are_windowed_in_local_time() -> None:
    node = window_function(5000, None, INSTANT, -1000).replaced(configuration={"table.local-time-zone": "Asia/Tokyo"})
    rows = node.lower(Recorder(), (Rows(row(Field("ts", INSTANT)), (Branch(1, ("ts",)),)),))
    start, _, time = rows.branches[0].columns[1:]
    assert "from_utc_timestamp(ts, 'Asia/Tokyo')" in start
    assert "- (-1000000)" in start
    assert time.startswith("to_utc_timestamp(")


@pytest.mark.parametrize(
    "window",
    [
        WindowSpec(type="SessionWindow", gap=0),
        WindowSpec(type="HoppingWindow", size=5000, slide=2000),
        WindowSpec(type="HoppingWindow", size=5000),
        WindowSpec(type="CumulativeWindow", max_size=5000, step=2000),
    ],
)
def test_windows_that_the_function_cannot_compute_are_refused(window: WindowSpec) -> None:
    node = window_function(5000, None, TIME)
    other = node.replaced(windowing=node.windowing.model_copy(update={"window": window}))
    with pytest.raises(PlanError, match="node 3"):
        other.check((row(Field("ts", TIME)),))


@given(st.integers(-(10**12), 10**12))
def test_durations_survive_iso_text(millis: int) -> None:
    assert parse_iso_duration(iso_duration(millis)) == millis


@pytest.mark.parametrize(
    ("millis", "iso", "shown"),
    [
        (0, "PT0S", "0 ms"),
        (5000, "PT5S", "5 s"),
        (1500, "PT1.5S", "1500 ms"),
        (90_000, "PT1M30S", "90 s"),
        (3_600_000, "PT1H", "1 h"),
        (7 * 86_400_000, "PT168H", "7 d"),
        (-57_600_000, "PT-16H", "-16 h"),
        (-500, "PT-0.5S", "-500 ms"),
    ],
)
def test_durations_read_like_javas(millis: int, iso: str, shown: str) -> None:
    assert iso_duration(millis) == iso
    assert parse_iso_duration(iso) == millis
    assert length_text(millis) == shown


@pytest.mark.parametrize("text", ["", "PT", "5 s", "P1D", "PTxS", None, True])
def test_other_texts_are_no_durations(text: object) -> None:
    with pytest.raises(ValueError, match="is not a duration"):
        parse_iso_duration(text)


def test_window_json_holds_iso_texts() -> None:
    node = window_function(10_000, 2000, TIME, -1000)
    dumped = node.model_dump(mode="json", by_alias=True)["windowing"]
    assert dumped["window"]["size"] == "PT10S"
    assert dumped["window"]["slide"] == "PT2S"
    assert dumped["window"]["offset"] == "PT-1S"
    again = WindowTableFunction.model_validate_json(node.model_dump_json(by_alias=True))
    assert again == node
