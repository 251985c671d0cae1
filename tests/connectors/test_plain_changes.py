"""Plain change records of Debezium: the rows that Flink's rules make of them, in their order."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from execnodes.core.tables import Column
from execnodes.core.types import Field, parse_type
from execnodes.lowering.stream import KIND, SEQUENCE
from rekindle.connectors.format import Wanted
from rekindle.connectors.formats.debezium_json import DebeziumJson
from rekindle.connectors.options import check_options
from rekindle.connectors.plain_changes import PlainChanges
from rekindle.connectors.plain_json import NotPlainError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TYPES = {"a": "INT", "b": "STRING", "c": "ROW<d DECIMAL(5, 2)>"}
FIELDS = tuple(Field(name, parse_type(kind)) for name, kind in TYPES.items())
A, B = ({"a": 1, "b": "x", "c": {"d": "1.50"}}, {"a": 2, "b": None, "c": None})


def parsed(*records: Any, wrapped: bool = False) -> list[tuple[Any, ...]] | None:
    """Kinds and values of records; None where they are not plain."""
    lines = "\n".join(each if isinstance(each, str) else json.dumps(each) for each in records)
    try:
        columns, rows = PlainChanges(FIELDS, iso=False, wrapped=wrapped).parse(lines.encode())
    except NotPlainError:
        return None
    found = list(zip(columns[KIND].to_pylist(), *(columns[name].to_pylist() for name in TYPES), strict=True))
    assert len(found) == rows
    return found


def record(op: Any, before: Any = None, after: Any = None, **others: Any) -> dict[str, Any]:
    return {"before": before, "after": after, "op": op, **others}


def test_an_update_is_two_rows() -> None:
    found = parsed(record("c", after=A), record("u", A, B), record("d", B), record("r", None, A))
    assert found is not None
    assert [each[:2] for each in found] == [(0, 1), (1, 1), (2, 2), (3, 2), (0, 1)]
    assert found[2][2:] == (None, None)


def test_no_lines_are_no_rows() -> None:
    assert parsed() == []


@pytest.mark.parametrize(
    "bad",
    [
        record("u", None, A),
        record("u", A, None),
        record("d", None, A),
        record("c", A, None),
        record("x", A, A),
        record(None, A, A),
        record("c", after={"a": "1"}),
        {"payload": record("c", after=A)},
        {},
        "null",
        "5",
    ],
    ids=str,
)
def test_what_is_left_to_the_rules(bad: Any) -> None:
    assert parsed(record("c", after=A), bad) is None


def test_records_below_payload() -> None:
    wrapped = {"schema": {"type": "struct"}, "payload": record("u", A, B, source={"db": "x"})}
    assert parsed(wrapped, wrapped=True) == parsed(record("u", A, B))
    assert parsed(wrapped, {"payload": None}, wrapped=True) is None
    assert parsed(wrapped, record("c", after=A), wrapped=True) is None


@pytest.mark.spark
@pytest.mark.parametrize("wrapped", [False, True], ids=("bare", "wrapped"))
def test_rows_are_those_of_the_rules(spark: SparkSession, wrapped: bool) -> None:
    random = Random(f"changes {wrapped}")

    def image() -> Any:
        return {
            "a": random.randrange(9),
            "b": random.choice(("x", "é", None)),
            "c": random.choice((None, {}, {"d": random.choice(("1.5", "-2", None))})),
        }

    lines = []
    for number in range(300):
        op = random.choice("crud")
        before, after = image() if op in "ud" else None, image() if op != "d" else random.choice((None, image()))
        made = record(op, before, after, ts_ms=number)
        lines.append(json.dumps({"payload": made} if wrapped else made))
    columns = tuple(Column(name=each.name, data_type=each.type) for each in FIELDS)
    options = check_options({"debezium-json.schema-include": str(wrapped)}, DebeziumJson.options, "source", "t")
    given = spark.createDataFrame(
        [(n, line, "p") for n, line in enumerate(lines)], "rk_seq LONG, value STRING, rk_path STRING"
    )
    decoded = DebeziumJson().decode(given, options, Wanted(columns, columns, (SEQUENCE,))).orderBy(SEQUENCE).toArrow()
    wanted = [decoded.column(KIND), *(decoded.column(f"c{at}") for at in range(len(columns)))]
    assert parsed(*lines, wrapped=wrapped) == list(zip(*(each.to_pylist() for each in wanted), strict=True))
