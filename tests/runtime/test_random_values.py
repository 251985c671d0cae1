"""What gives another value each time (RAND, UUID, Python functions that say so) is made once where it is written."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from execnodes.core.changelog import RowKind
from rekindle import TableEnvironment
from rekindle.udf import udf

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = [
    {"a": at, "b": at % 3, "xs": [at, at + 1], "ts": f"2024-01-01 00:00:{at:02}"}
    for at in range(40)
]  # fmt: skip
DDL = """
CREATE TABLE q (a INT, b INT, xs ARRAY<INT>, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'json');
CREATE VIEW random_rows AS
  SELECT a, b, xs, ts, RAND_INTEGER(1000000000) AS r, UUID() AS u, any_number(a) AS p, RAND_INTEGER(3) AS k FROM q;
CREATE VIEW some_rows AS SELECT a, b + 1 AS b, a + b AS c FROM q WHERE RAND() < 0.5;
"""
TRUE_FOR_ALL_ROWS = {
    "project over project": "SELECT u = v FROM (SELECT u, u AS v FROM (SELECT UUID() AS u FROM q))",
    "Python over project": "SELECT p = v FROM (SELECT p, p AS v FROM random_rows)",
    "filter": "SELECT r < 300000000 FROM (SELECT RAND_INTEGER(1000000000) AS r FROM q) WHERE r < 300000000",
    "filter by a Python function": "SELECT p < 500000 FROM random_rows WHERE p < 500000",
    "filter over filter": "SELECT r BETWEEN 3 AND 6 FROM "
    "(SELECT k + RAND_INTEGER(9) AS r FROM random_rows WHERE b > 0) WHERE r BETWEEN 3 AND 6",
    "group key": "SELECT k = m FROM (SELECT k, MIN(s) AS m FROM (SELECT k, k AS s FROM random_rows) GROUP BY k)",
    "group expression": "SELECT m >= 0 AND n > 0 FROM (SELECT RAND_INTEGER(3) AS m, COUNT(*) AS n FROM q "
    "GROUP BY RAND_INTEGER(3))",
    "distinct": "SELECT r = s FROM (SELECT DISTINCT r, s FROM (SELECT r, r AS s FROM random_rows))",
    "join key": "SELECT k = n FROM random_rows JOIN (VALUES (0), (1), (2)) AS t (n) ON k = n",
    "join condition": "SELECT k >= n FROM random_rows "
    "JOIN (VALUES (0, 1), (1, 1), (2, 2)) AS t (n, m) ON b = m AND k >= n",
    "key of a join that is computed": "SELECT k + 1 = n FROM random_rows "
    "JOIN (VALUES (1), (2), (3)) AS t (n) ON k + 1 = n",
    "self join": "SELECT x.r = y.r FROM random_rows AS x JOIN random_rows AS y ON x.a = y.a",
    "two readers of a view": "SELECT x.r = y.s FROM (SELECT a, r FROM random_rows) AS x "
    "JOIN (SELECT a, b, r AS s FROM random_rows WHERE b > 0) AS y ON x.a = y.a",
    "two readers of a sample": "SELECT (x.a = y.a) IS TRUE FROM (SELECT a FROM some_rows WHERE b > 1) AS x "
    "FULL JOIN (SELECT a, b, c FROM some_rows WHERE b > 1) AS y ON x.a = y.a",
    "UNION of one view": "SELECT r = s FROM (SELECT r, r AS s FROM random_rows UNION ALL SELECT r, r FROM random_rows)",
    "above a UNION": "SELECT n = 80 FROM (SELECT COUNT(DISTINCT u) AS n FROM "
    "(SELECT UUID() AS u FROM (SELECT a FROM q UNION ALL SELECT b FROM q)) HAVING COUNT(*) = 80)",
    "OVER": "SELECT r <= m FROM (SELECT r, MAX(r) OVER (PARTITION BY b ORDER BY ts) AS m FROM random_rows)",
    "OVER a key": "SELECT k = m FROM (SELECT k, MAX(k) OVER (PARTITION BY k ORDER BY ts) AS m FROM random_rows)",
    "Top-N": "SELECT r = s FROM (SELECT r, s, ROW_NUMBER() OVER (PARTITION BY b ORDER BY r) AS n "
    "FROM (SELECT b, r, r AS s FROM random_rows)) WHERE n <= 2",
    "Top-N of a key": "SELECT k = s FROM (SELECT k, s, ROW_NUMBER() OVER (PARTITION BY k ORDER BY a) AS n "
    "FROM (SELECT a, k, k AS s FROM random_rows)) WHERE n <= 2",
    "window": "SELECT s = t FROM (SELECT window_start, SUM(r) AS s, SUM(v) AS t FROM TABLE(TUMBLE("
    "(SELECT ts, r, r AS v FROM random_rows), DESCRIPTOR(ts), INTERVAL '10' SECOND)) "
    "GROUP BY window_start, window_end)",
    "UNNEST beside": "SELECT r = s FROM (SELECT r, r AS s, x FROM random_rows, UNNEST(xs) AS t (x))",
    "UNNEST of": "SELECT x = y FROM (SELECT x, x AS y FROM q, UNNEST(ARRAY[UUID(), UUID()]) AS t (x))",
    "UNNEST of a column": "SELECT x = l[1] FROM (SELECT ARRAY[UUID()] AS l FROM q) AS t, UNNEST(l) AS v (x)",
    "UNNEST of two": "SELECT x <> y FROM q, UNNEST(ARRAY[UUID()]) AS t (x), UNNEST(ARRAY[UUID()]) AS v (y)",
    "LATERAL": "SELECT r + 1 = s FROM random_rows, LATERAL (SELECT r + x - x + 1 AS s FROM UNNEST(xs) AS t (x)) AS v",
    "subquery of a row": "SELECT (SELECT MAX(n) FROM (VALUES (0), (1), (2)) AS t (n) WHERE n = k) = k FROM random_rows",
    "IN": "SELECT k > 0 FROM random_rows WHERE k IN (SELECT n FROM (VALUES (1), (2)) AS t (n))",
    "NOT IN": "SELECT k = 0 FROM random_rows WHERE k NOT IN (SELECT n FROM (VALUES (1), (2)) AS t (n))",
    "EXISTS": "SELECT k > 0 FROM random_rows WHERE EXISTS (SELECT 1 FROM (VALUES (1), (2)) AS t (n) WHERE n = k)",
    "BETWEEN": "SELECT (r BETWEEN 0 AND 0 OR r BETWEEN 1 AND 1 OR r BETWEEN 2 AND 2) AND r NOT BETWEEN 3 AND 0 "
    "FROM (SELECT RAND_INTEGER(3) AS r FROM q)",
    "CASE": "SELECT CASE k WHEN 0 THEN k = 0 WHEN 1 THEN k = 1 WHEN 2 THEN k = 2 ELSE FALSE END FROM random_rows",
    "two calls": "SELECT u <> v AND r <> s AND p <> o FROM "
    "(SELECT u, r, p, UUID() AS v, RAND_INTEGER(1000000000) AS s, any_number(a) AS o FROM random_rows)",
    "the time": "SELECT x = y FROM (SELECT x, x AS y FROM (SELECT CURRENT_ROW_TIMESTAMP() AS x FROM q))",
    "long texts": "SELECT s = t FROM (SELECT s, s AS t FROM (SELECT "
    + "REPEAT(UPPER(CONCAT(" * 25 + "u" + ", 'x')), 1)" * 25 + " AS s FROM random_rows))",
}  # fmt: skip
"""Queries of one BOOLEAN."""


def create_environment(spark: SparkSession, folder: Path, mode: str) -> TableEnvironment:
    (folder / "q.json").write_text("".join(json.dumps(each) + "\n" for each in ROWS))
    made = TableEnvironment.create({"execution.runtime-mode": mode}, spark=spark)
    made.create_temporary_function("any_number", any_number)
    made.execute_script(DDL.replace("{path}", str(folder / "q.json")))
    return made


@udf(result_type="BIGINT", deterministic=False)
def any_number(of: int) -> int:
    import random

    return random.randrange(1_000_000)


@pytest.mark.spark
@pytest.mark.parametrize("mode", ["batch", "streaming"])
def test_a_random_value_is_made_once(mode: str, tmp_path: Path, spark: SparkSession) -> None:
    made = create_environment(spark, tmp_path, mode)
    names = list(TRUE_FOR_ALL_ROWS)
    whole = " UNION ALL ".join(
        f"SELECT {at} AS q, ok FROM ({TRUE_FOR_ALL_ROWS[name]}) AS t{at} (ok)" for at, name in enumerate(names)
    )
    rows = Counter[tuple[object, ...]]()
    for kind, values in made.execute_sql(whole).collect_changes():
        rows[tuple(values)] += -1 if kind in (RowKind.UPDATE_BEFORE, RowKind.DELETE) else 1
    found = [{ok for (query, ok), count in rows.items() if query == at and count} for at in range(len(names))]
    assert {name: values for name, values in zip(names, found, strict=True) if values != {True}} == {}


@pytest.mark.spark
def test_sinks_of_one_view_get_equal_random_values(tmp_path: Path, spark: SparkSession) -> None:
    made = create_environment(spark, tmp_path, "streaming")
    options = "WITH ('connector' = 'filesystem', 'path' = '{}', 'format' = 'json')"
    for name in ("one", "two", "three"):
        columns = "a INT" if name == "three" else "a INT, r BIGINT, p BIGINT"
        made.execute_sql(f"CREATE TABLE {name} ({columns}) {options.format(tmp_path / name)}")
    made.execute_script("""
        EXECUTE STATEMENT SET BEGIN
        INSERT INTO one SELECT a, r, p FROM random_rows;
        INSERT INTO two SELECT a, r + 1, p FROM random_rows WHERE r >= 500000000;
        INSERT INTO three SELECT a FROM random_rows WHERE r < 500000000;
        END;
    """)
    one, two, three = ({row["a"]: row for row in read(tmp_path / name)} for name in ("one", "two", "three"))
    assert len(one) == len(ROWS)
    assert two == {a: {**row, "r": row["r"] + 1} for a, row in one.items() if row["r"] >= 500_000_000}
    assert set(three) == set(one) - set(two)


def read(folder: Path) -> list[dict[str, int]]:
    files = (each for each in folder.iterdir() if each.suffix == ".json")
    return [json.loads(line) for each in files for line in each.read_text().splitlines()]
