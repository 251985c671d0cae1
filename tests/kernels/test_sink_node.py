"""The sink node: texts of its constraints, what it hands to the runtime, and what it refuses."""

from __future__ import annotations

import pytest

from execnodes.core.changelog import RETRACT
from execnodes.core.errors import PlanError
from execnodes.core.tables import Column, PrimaryKey, ResolvedTable, Schema, TableReference
from execnodes.core.types import BIGINT, BYTES, INT, STRING, Field, LogicalType, Root, char, row, varchar
from execnodes.lowering.constraints import enforced
from execnodes.lowering.stream import Branch, Rows
from execnodes.stream.sink import DynamicTableSink, Sink
from execnodes.stream.sink.v1_conflicts import ConflictResolver
from execnodes.stream.sink.v1_kernel import UpsertMaterializer

TABLE = TableReference(
    identifier=("c", "d", "t"),
    resolved_table=ResolvedTable(
        table_schema=Schema(
            columns=(Column(name="k", data_type=INT.not_null()), Column(name="s", data_type=varchar(3))),
            primary_key=PrimaryKey(name="PK_k", columns=("k",)),
        )
    ),
)
TYPE = row(Field("k", INT), Field("s", varchar(3)))
ROWS = Rows(TYPE, (Branch(1, ("a", "b + c"), condition="a > 0"), Branch(2, ("x", "y"))))


class Recorder:
    """Stands in for the runtime."""

    zone = "UTC"

    def __init__(self) -> None:
        self.operators: list[object] = []
        self.keys: list[tuple[int, ...]] = []
        self.sunk: list[Rows] = []

    def operator(self, node: object, operator: object, inputs: tuple[object, ...]) -> Rows:
        self.operators.append(operator)
        self.keys.append(inputs[0].keys)  # type: ignore[attr-defined]
        return Rows(TYPE, (Branch(9, ("k", "s"), kind="rk_kind"),))

    def sink(self, node: object, table: TableReference, rows: Rows) -> None:
        self.sunk.append(rows)


def sink(**fields: object) -> Sink:
    base: dict[str, object] = {
        "id": 9,
        "output_type": TYPE,
        "description": "Sink(table=[c.d.t], fields=[k, s])",
        "dynamic_table_sink": DynamicTableSink(table=TABLE),
        "input_changelog_mode": RETRACT,
    }
    return Sink.model_validate({**base, **fields})


def lowered(node: Sink) -> Recorder:
    recorder = Recorder()
    node.lower(recorder, (ROWS,))  # type: ignore[arg-type]
    return recorder


VARBINARY = LogicalType(Root.VARBINARY, length=2)
BINARY = LogicalType(Root.BINARY, length=2)


@pytest.mark.parametrize(
    ("t", "length", "expected"),
    [
        (varchar(3), "IGNORE", "v"),
        (varchar(3), "TRIM_PAD", "substring(v, 1, 3)"),
        (char(3), "TRIM_PAD", "rpad(v, 3, ' ')"),
        (BINARY, "TRIM_PAD", "rpad(v, 2, X'00')"),
        (VARBINARY, "TRIM_PAD", "substring(v, 1, 2)"),
        (STRING, "ERROR", "v"),
        (BYTES, "TRIM_PAD", "v"),
        (BIGINT, "ERROR", "v"),
    ],
)
def test_lengths(t: LogicalType, length: str, expected: str) -> None:
    assert enforced("c", t, "v", length, fail_on_null=True) == expected


@pytest.mark.parametrize(
    ("t", "test"),
    [(varchar(3), "char_length(v) > 3"), (char(3), "char_length(v) <> 3"), (BINARY, "octet_length(v) <> 2")],
)
def test_a_wrong_length_raises(t: LogicalType, test: str) -> None:
    text = enforced("c's", t, "v", "ERROR", fail_on_null=True)
    assert text.startswith(f"CASE WHEN {test} THEN raise_error(concat('Column \\'c\\'s\\' is")
    assert text.endswith("ELSE v END")
    assert "table.exec.sink.type-length-enforcer" in text


def test_a_null_raises_and_names_the_option() -> None:
    text = lowered(sink()).sunk[0].branches[0].columns[0]
    assert text.startswith("coalesce(a, raise_error('Column \\'k\\' is NOT NULL")
    assert "table.exec.sink.not-null-enforcer" in text


def test_rows_with_a_null_can_be_dropped() -> None:
    node = sink(configuration={"table.exec.sink.not-null-enforcer": "DROP"})
    first, second = lowered(node).sunk[0].branches
    assert first.condition == "(a > 0) AND (a IS NOT NULL)"
    assert second.condition == "x IS NOT NULL"
    assert first.columns == ("a", "b + c")


def test_materializer_is_keyed_by_the_primary_key() -> None:
    node = sink(require_upsert_materialize=True, input_upsert_key=(1,), conflict_strategy="DEDUPLICATE")
    recorder = lowered(node)
    assert isinstance(recorder.operators[0], UpsertMaterializer)
    assert recorder.keys == [(0,)]
    assert node.uids() == ("9_upsert-materializer",)
    assert sink().uids() == ()


@pytest.mark.parametrize(("strategy", "fails"), [("NOTHING", False), ("ERROR", True)])
def test_conflict_strategies(strategy: str, fails: bool) -> None:
    operator = lowered(sink(require_upsert_materialize=True, conflict_strategy=strategy)).operators[0]
    assert isinstance(operator, ConflictResolver)
    assert operator.fails == fails


def test_json_round_trip() -> None:
    node = sink(require_upsert_materialize=True, input_upsert_key=(1,), conflict_strategy="NOTHING")
    assert Sink.model_validate_json(node.model_dump_json(by_alias=True)) == node


def test_refusals() -> None:
    with pytest.raises(PlanError, match=r"node 9 .*1 columns, but c\.d\.t takes 2"):
        sink().check((row(Field("k", INT)),))
    with pytest.raises(PlanError, match="upsert key"):
        sink(input_upsert_key=(5,)).check((TYPE,))
    unknown = sink(dynamic_table_sink=DynamicTableSink(table=TableReference(identifier=("c", "d", "t"))))
    with pytest.raises(PlanError, match=r"c\.d\.t is not known"):
        lowered(unknown)
