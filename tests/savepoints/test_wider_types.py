"""Values of a savepoint as those of wider types, in files and in another plan, without Spark."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from execnodes.core.errors import StateError
from execnodes.core.types import parse_type
from execnodes.state.widened_texts import text_widener
from rekindle.api.table_environment import TableEnvironment
from rekindle.results.compiled_plan import CompiledPlan
from rekindle.savepoints.contents import read
from rekindle.savepoints.planned import planned_states
from rekindle.savepoints.restore import prepare
from rekindle.savepoints.writer import SavepointWriter
from tests.savepoints.saved import column

TABLE = "CREATE TABLE t (k {type}, v {type}) WITH ('connector' = 'filesystem', 'path' = '/nowhere', 'format' = 'json');"


@pytest.mark.parametrize(
    ("old", "new", "text", "wanted"),
    [
        ("ROW<a INT, b STRING>", "ROW<b STRING, a BIGINT>", '{"0":1,"1":"x"}', '{"0":"x","1":1}'),
        ("ROW<a INT>", "ROW<b INT, a INT, c STRING>", '{"0":1}', '{"0":null,"1":1,"2":null}'),
        ("ROW<a STRING, b INT>", "ROW<b INT, a STRING>",
         '{"0":"\\u001F{\\"é,:]","1":null}', '{"0":null,"1":"\\u001F{\\"é,:]"}'),
        ("ROW<a DOUBLE, b INT>", "ROW<b INT, a DOUBLE>", '{"0":1.0E10,"1":2}', '{"0":2,"1":1.0E10}'),
        ("ARRAY<DECIMAL(4, 2)>", "ARRAY<DECIMAL(6, 3)>", "[150,null,-5]", "[1500,null,-50]"),
        ("ARRAY<DECIMAL(4, 2)>", "ARRAY<DECIMAL(20, 2)>", "[150,null,-5,0]", '["150",null,"-005","000"]'),
        ("ARRAY<DECIMAL(20, 2)>", "ARRAY<DECIMAL(24, 4)>", '["150","-005"]', '["15000","-00500"]'),
        ("ARRAY<DECIMAL(4, 0)>", "ARRAY<DECIMAL(20, 0)>", "[0,-7]", '["0","-7"]'),
        ("ARRAY<ROW<a INT>>", "ARRAY<ROW<a INT, b INT>>", '[{"0":1},null]', '[{"0":1,"1":null},null]'),
        ("MAP<STRING, DECIMAL(4, 1)>", "MAP<STRING, DECIMAL(6, 2)>", '[{"k":"a","v":15},{"k":"b","v":null}]',
         '[{"k":"a","v":150},{"k":"b","v":null}]'),
        ("MULTISET<ROW<a INT>>", "MULTISET<ROW<a INT, b INT>>",
         '[{"k":{"0":1},"v":2}]', '[{"k":{"0":1,"1":null},"v":2}]'),
        # Keys that are written otherwise are in another order.
        ("MULTISET<DECIMAL(4, 1)>", "MULTISET<DECIMAL(20, 1)>", '[{"k":-5,"v":1},{"k":20,"v":1},{"k":100,"v":2}]',
         '[{"k":"-05","v":1},{"k":"100","v":2},{"k":"20","v":1}]'),
        ("MULTISET<ROW<a INT, b STRING>>", "MULTISET<ROW<b STRING, a INT>>",
         '[{"k":{"0":null,"1":"b"},"v":1},{"k":{"0":1,"1":"a"},"v":1}]',
         '[{"k":{"0":"a","1":1},"v":1},{"k":{"0":"b","1":null},"v":1}]'),
    ],
)  # fmt: skip
def test_texts_of_nested_values(old: str, new: str, text: str, wanted: str) -> None:
    change = text_widener(parse_type(old), parse_type(new))
    assert change is not None
    assert change(text) == wanted


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("ARRAY<INT>", "ARRAY<BIGINT>"), ("ROW<a VARCHAR(3)>", "ROW<a STRING>"), ("ARRAY<FLOAT>", "ARRAY<DOUBLE>"),
        ("MAP<CHAR(2), DECIMAL(4, 2)>", "MAP<STRING, DECIMAL(18, 2)>"), ("ROW<a INT NOT NULL>", "ROW<a INT>"),
        ("ARRAY<TIMESTAMP(0)>", "ARRAY<TIMESTAMP(6)>"),
    ],
)  # fmt: skip
def test_texts_that_stay(old: str, new: str) -> None:
    assert text_widener(parse_type(old), parse_type(new)) is None


def plan(type: str) -> CompiledPlan:
    options = {"table.optimizer.agg-phase-strategy": "ONE_PHASE"}
    query = "SELECT k, FIRST_VALUE(v) AS f, COUNT(*) AS c FROM t GROUP BY k;"
    return TableEnvironment.create(options).compile_script(TABLE.format(type=type) + query)


WIDER: list[tuple[str, str, list[Any], list[Any]]] = [
    ("INT", "BIGINT", [1, None], [1, None]),
    ("VARCHAR(3)", "STRING", ["a", None], ["a", None]),
    ("DECIMAL(4, 2)", "DECIMAL(8, 3)", [Decimal("1.25"), None], [Decimal("1.250"), None]),
    ("DECIMAL(18, 2)", "DECIMAL(38, 10)", [Decimal("-0.05"), None], [Decimal("-0.0500000000"), None]),
    ("FLOAT", "DOUBLE", [0.5, None], [0.5, None]),
    ("TIMESTAMP(0)", "TIMESTAMP(3)", [datetime.datetime(2024, 1, 1), None], [datetime.datetime(2024, 1, 1), None]),
    ("ROW<a INT>", "ROW<b INT, a BIGINT>", ['{"0":1}', None], ['{"0":null,"1":1}', None]),
]


@pytest.mark.parametrize(("old", "new", "values", "wanted"), WIDER, ids=[f"{old} -> {new}" for old, new, *_ in WIDER])
def test_a_savepoint_takes_a_plan_of_wider_types(
    tmp_path: Path, old: str, new: str, values: list[Any], wanted: list[Any]
) -> None:
    before, after = plan(old), plan(new)
    ((uid, name),) = planned_states(before.graph)
    schema = dict(planned_states(before.graph)[uid, name].schema)
    rows = pa.table({"k0": values, "f$first": values, "c$count": [1, 1]})
    SavepointWriter.new_savepoint(before).with_state(f"{uid}:{name}", rows).write(tmp_path / "old")
    lossy = old == "FLOAT" or "b INT" in new
    writer = SavepointWriter.from_existing_savepoint(tmp_path / "old")
    writer.with_plan(after, allow_non_restored_state=lossy).write(tmp_path / "new")
    (state,) = read(tmp_path / "new").states
    assert dict(state.schema) != schema
    assert sorted(column(tmp_path / "new", uid, "k0"), key=str) == sorted(wanted, key=str)
    assert sorted(column(tmp_path / "new", uid, "f$first"), key=str) == sorted(wanted, key=str)
    restore = prepare(tmp_path / "new", after.graph, drop_unclaimed=False, drop=frozenset())
    assert {each.fate for each in restore.fates} == {"restored"}


def test_a_plan_of_narrower_types_is_refused(tmp_path: Path) -> None:
    before = plan("BIGINT")
    ((uid, name),) = planned_states(before.graph)
    rows = pa.table({"k0": [1], "f$first": [1], "c$count": [1]})
    SavepointWriter.new_savepoint(before).with_state(f"{uid}:{name}", rows).write(tmp_path / "old")
    with pytest.raises(StateError, match=r"t\.k BIGINT -> t\.k INT"):
        prepare(tmp_path / "old", plan("INT").graph, drop_unclaimed=False, drop=frozenset())


@pytest.mark.parametrize("type", ["DOUBLE", "ROW<a INT, b INT>"])
def test_what_narrow_types_have_lost_is_to_be_consented_to(tmp_path: Path, type: str) -> None:
    before = plan("FLOAT" if type == "DOUBLE" else "ROW<a INT>")
    ((uid, name),) = planned_states(before.graph)
    SavepointWriter.new_savepoint(before).with_state(
        f"{uid}:{name}",
        pa.table(
            {
                "k0": pa.array([None], pa.float32() if type == "DOUBLE" else pa.string()),
                "f$first": pa.array([None], pa.float32() if type == "DOUBLE" else pa.string()),
                "c$count": [1],
            }
        ),
    ).write(tmp_path / "old")
    after = plan(type).graph
    with pytest.raises(StateError, match=r"FLOAT has rounded|fields that are new"):
        prepare(tmp_path / "old", after, drop_unclaimed=False, drop=frozenset())
    allowed = prepare(tmp_path / "old", after, drop_unclaimed=False, drop=frozenset(), consent="allow")
    assert "is widened" in next(each.note for each in allowed.fates if each.name == name)
