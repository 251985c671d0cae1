"""Windows of many kinds give the same rows in a stream, where no row is late, and in batch."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rekindle.api.table_environment import TableEnvironment
from rekindle.results.json_values import row_to_json
from rekindle.testing import RestoreProgram
from rekindle.testing.restore_run import compiled, put, rows, run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLES = """
CREATE TABLE t (k STRING, g STRING, v INT, xs ARRAY<INT>, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
  WITH ('connector' = 'filesystem', 'path' = '${dir}/t', 'format' = 'json');
CREATE TABLE l (k STRING, h BIGINT, ts AS TO_TIMESTAMP_LTZ(h * 3600000, 3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'filesystem', 'path' = '${dir}/l', 'format' = 'json');
"""
BOUNDS = "window_start, window_end"
TUMBLE = "TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '7' SECOND, INTERVAL '3' SECOND))"
HOP = "TABLE(HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '4' SECOND, INTERVAL '12' SECOND))"
CUMULATE = "TABLE(CUMULATE(TABLE t, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '20' SECOND))"
SESSION = "TABLE(SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '3' SECOND))"
COUNTED = f"(SELECT k, window_time AS wt, COUNT(*) AS c FROM {TUMBLE} GROUP BY k, {BOUNDS}, window_time)"
UNNESTED = "(SELECT k, ts, x FROM t CROSS JOIN UNNEST(xs) AS u (x))"
QUERIES = {
    "rolled_up": f"SELECT {BOUNDS}, k, g, COUNT(*) AS c, GROUPING(k) AS gk FROM {CUMULATE} "
    f"GROUP BY {BOUNDS}, ROLLUP(k, g)",
    "some_sets": f"SELECT window_start, k, MAX(v) AS m FROM {HOP} "
    f"GROUP BY GROUPING SETS (({BOUNDS}, k), ({BOUNDS})) HAVING COUNT(*) > 1",
    "session_sets": f"SELECT {BOUNDS}, k, g, COUNT(*) AS c FROM {SESSION} "
    f"GROUP BY {BOUNDS}, GROUPING SETS ((k), (g), ())",
    "filtered": f"SELECT {BOUNDS}, COUNT(DISTINCT k) AS dk, SUM(DISTINCT v) FILTER (WHERE v > 2) AS s FROM {HOP} "
    f"GROUP BY {BOUNDS}",
    "cascaded": f"SELECT k, {BOUNDS}, SUM(c) AS c FROM TABLE(SESSION({COUNTED} PARTITION BY k, DESCRIPTOR(wt), "
    f"INTERVAL '10' SECOND)) GROUP BY k, {BOUNDS}",
    "again": f"SELECT {BOUNDS}, AVG(s) AS a, COUNT(*) AS n FROM (SELECT {BOUNDS}, k, SUM(v) AS s FROM {CUMULATE} "
    f"GROUP BY k, {BOUNDS}) GROUP BY {BOUNDS}",
    "unnested": f"SELECT {BOUNDS}, x, COUNT(*) AS c FROM "
    f"TABLE(TUMBLE({UNNESTED}, DESCRIPTOR(ts), INTERVAL '9' SECOND)) GROUP BY x, {BOUNDS}",
    "zoned": f"SELECT k, {BOUNDS}, COUNT(*) AS c FROM TABLE(HOP(TABLE l, DESCRIPTOR(ts), INTERVAL '6' HOUR, "
    f"INTERVAL '12' HOUR, INTERVAL '-1' HOUR)) GROUP BY k, {BOUNDS}",
    "in_expressions": f"SELECT k, {BOUNDS}, MAX(TIMESTAMPDIFF(SECOND, window_start, ts)) AS m FROM {HOP} "
    f"WHERE EXTRACT(SECOND FROM window_start) < 40 GROUP BY k, {BOUNDS}",
    "uneven": "SELECT k, HOP_START(ts, INTERVAL '4' SECOND, INTERVAL '10' SECOND) AS s, SUM(v) AS sv FROM t "
    "GROUP BY k, HOP(ts, INTERVAL '4' SECOND, INTERVAL '10' SECOND)",
    "holes": "SELECT HOP_END(ts, INTERVAL '10' SECOND, INTERVAL '4' SECOND) AS e, COUNT(*) AS c FROM t "
    "GROUP BY HOP(ts, INTERVAL '10' SECOND, INTERVAL '4' SECOND)",
    "different": f"SELECT DISTINCT {BOUNDS}, g FROM {HOP}",
    "nobody": f"SELECT {BOUNDS}, COUNT(*) AS c FROM {TUMBLE} WHERE k = 'nobody' GROUP BY {BOUNDS}",
}


def events() -> str:
    """Forty rows within a minute and a half, up to two seconds out of order."""
    lines = []
    for at in range(40):
        ms = at * 2300 - (at * 7 % 3) * 900 + 5000
        row = {"k": "abc"[at % 3] if at % 7 else None, "g": ["x", "yy", None][at % 5 % 3], "v": at * 5 % 9 or None}
        time = f"2024-06-01 10:{ms // 60_000:02}:{ms % 60_000 / 1000:06.3f}"
        lines.append(json.dumps({**row, "xs": [[1, 2], [], None, [3, None]][at % 4], "ts": time}))
    return "\n".join(lines) + "\n"


@pytest.mark.spark
@pytest.mark.long
def test_stream_and_batch(spark: SparkSession, tmp_path: Path) -> None:
    hours = "".join(json.dumps({"k": "ab"[at % 2], "h": 475_509 + at * 5}) + "\n" for at in range(12))
    zone = {"table.local-time-zone": "Europe/Berlin"}
    program = RestoreProgram("windows", TABLES, QUERIES, {"t/0.json": events(), "l/0.json": hours}, {}, zone)
    put(program.before, tmp_path, 0)
    made = compiled(program, tmp_path)
    stream = rows(made, run(spark, program, made, made.plan.graph, folder=tmp_path))
    environment = TableEnvironment.create({**zone, "execution.runtime-mode": "batch"}, spark=spark)
    environment.execute_script(TABLES.replace("${dir}", str(tmp_path)))
    for name, query in QUERIES.items():
        (root,) = environment.compile_plan_sql(query).graph.roots()
        types = [each.type for each in root.output_type.fields]
        found = [row_to_json(row, types) for _, row in environment.execute_sql(query).collect_changes()]
        assert multiset(found) == multiset(stream[name]), name
        assert bool(found) == (name != "nobody"), name


@pytest.mark.spark
def test_slides_that_do_not_fill_a_window(spark: SparkSession) -> None:
    """As Flink answers in batch mode; streams refuse them where they are aggregated."""
    environment = TableEnvironment.create({"execution.runtime-mode": "batch"}, spark=spark)
    data = "(SELECT TIMESTAMP '2020-01-01 00:00:03' AS ts UNION ALL SELECT TIMESTAMP '2020-01-01 00:00:08')"
    hop = f"TABLE(HOP({data}, DESCRIPTOR(ts), INTERVAL '3' SECOND, INTERVAL '10' SECOND))"
    query = f"SELECT CAST(window_start AS STRING), COUNT(*) FROM {hop} GROUP BY {BOUNDS}"
    found = {row[0][:19]: row[1] for _, row in environment.execute_sql(query).collect_changes()}
    assert found == {
        "2019-12-31 23:59:54": 1,
        "2019-12-31 23:59:57": 1,
        "2020-01-01 00:00:00": 2,
        "2020-01-01 00:00:03": 2,
        "2020-01-01 00:00:06": 1,
    }


def multiset(found: Iterable[object]) -> Counter[str]:
    return Counter(json.dumps(each, sort_keys=True) for each in found)
