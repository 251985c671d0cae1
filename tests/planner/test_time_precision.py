"""Timestamps of nanoseconds: declared, not read; read, and cut to microseconds by an option."""

from __future__ import annotations

import pytest

from execnodes.core.errors import SqlError
from execnodes.core.time_precision import narrow_to_microseconds
from execnodes.core.types import parse_type
from rekindle import TableEnvironment

TABLE = """
CREATE TABLE t (a INT, ts TIMESTAMP(9), r ROW<x ARRAY<TIMESTAMP_LTZ(9)>>, c AS ts, s TIME(9))
  WITH ('connector' = 'datagen');
"""
TRIM = "SET 'table.exec.source.time-precision-enforcer' = 'TRIM';"


def _outputs(query: str) -> list[str]:
    return [str(each.output_type) for each in TableEnvironment.create().compile_script(query).graph.nodes]


def test_a_column_that_is_not_read_is_not_refused() -> None:
    assert _outputs(f"{TABLE} SELECT a, s FROM t")[0] == "ROW<`a` INT, `s` TIME(3)>"


@pytest.mark.parametrize(
    ("query", "column", "declared"),
    [
        ("SELECT ts FROM t", "ts", "TIMESTAMP(9)"),
        ("SELECT a FROM t WHERE c IS NULL", "ts", "TIMESTAMP(9)"),
        ("SELECT CARDINALITY(r.x) FROM t", "r", "ROW<`x` ARRAY<TIMESTAMP_LTZ(9)>>"),
    ],
)
@pytest.mark.parametrize("mode", ["streaming", "batch"])
def test_a_column_that_is_read_is_refused_by_its_name(query: str, column: str, declared: str, mode: str) -> None:
    with pytest.raises(SqlError) as error:
        _outputs(f"SET 'execution.runtime-mode' = '{mode}'; {TABLE} {query}")
    assert f"column '{column}' of default_catalog.default_database.t is read as {declared}" in str(error.value)
    assert "'table.exec.source.time-precision-enforcer' to 'TRIM'" in str(error.value)


def test_a_column_that_is_read_is_one_of_microseconds_where_it_is_cut() -> None:
    outputs = _outputs(f"{TRIM} {TABLE} SELECT c, r FROM t")
    assert outputs[0] == "ROW<`ts` TIMESTAMP(6), `r` ROW<`x` ARRAY<TIMESTAMP_LTZ(6)>>>"
    assert outputs[-1] == "ROW<`c` TIMESTAMP(6), `r` ROW<`x` ARRAY<TIMESTAMP_LTZ(6)>>>"


def test_types_without_nanoseconds_are_kept() -> None:
    type_ = parse_type("ROW<`a` MAP<TIMESTAMP(6) NOT NULL, TIME(3)>>")
    assert narrow_to_microseconds(type_) is type_
