"""What would have Spark compare maps is refused when it is compiled, at its place; streams compare what they can."""

from __future__ import annotations

import pytest

from execnodes.core.errors import SqlError
from rekindle.api.table_environment import TableEnvironment

TABLE = "CREATE TABLE t (k INT, m MAP<STRING, INT>) WITH ('connector' = 'datagen', 'number-of-rows' = '1')"
BATCH_ONLY = [
    "SELECT a.k FROM t a JOIN t b ON a.m = b.m",
    "SELECT m FROM t UNION SELECT m FROM t",
    "SELECT m FROM t INTERSECT SELECT m FROM t",
    "SELECT m FROM t EXCEPT SELECT m FROM t",
    "SELECT k FROM t WHERE m IN (SELECT m FROM t)",
    "SELECT r, COUNT(*) FROM (SELECT ROW(m, k) AS r FROM t) GROUP BY r",
    "SELECT ARRAY_AGG(DISTINCT m) FROM t",
]
NOWHERE = ["SELECT COLLECT(m) FROM t", "SELECT COLLECT(ARRAY[m]) FROM t", "SELECT k FROM t ORDER BY m"]


def compiled(query: str, mode: str) -> str:
    environment = TableEnvironment.create({"execution.runtime-mode": mode})
    environment.execute_sql(TABLE)
    return environment.explain_sql(query)


@pytest.mark.parametrize("query", [*BATCH_ONLY, *NOWHERE, "SELECT COUNT(*) OVER (PARTITION BY m) FROM t"])
def test_batch_refuses_to_bring_rows_together_by_maps(query: str) -> None:
    with pytest.raises(SqlError, match="MAP<STRING, INT>") as refused:
        compiled(query, "batch")
    assert refused.value.position is not None
    assert refused.value.hint


@pytest.mark.parametrize("query", BATCH_ONLY)
def test_streams_compare_them(query: str) -> None:
    assert compiled(query, "streaming")


@pytest.mark.parametrize("query", NOWHERE)
def test_what_no_mode_has(query: str) -> None:
    with pytest.raises(SqlError, match="MAP<STRING, INT>"):
        compiled(query, "streaming")


def test_equality_of_maps_is_a_condition_in_both() -> None:
    assert all(compiled("SELECT k FROM t WHERE m = MAP['a', 1]", mode) for mode in ("batch", "streaming"))
