"""Which GROUP BY is computed in parts, and under which options."""

from __future__ import annotations

from pathlib import Path

import pytest

from execnodes.core.errors import OptionError
from execnodes.core.graph import ExecGraph
from tests.planner.test_lower_programs import compile_program

TABLES = """
CREATE TABLE t (k STRING, v INT, w INT NOT NULL, b BOOLEAN NOT NULL) WITH ('connector' = 'datagen');
CREATE TABLE c (k STRING, v INT, w INT, PRIMARY KEY (k) NOT ENFORCED)
  WITH ('connector' = 'filesystem', 'path' = 'c', 'format' = 'debezium-json');
CREATE TABLE out (v STRING) WITH ('connector' = 'blackhole');
"""
AUTO = "SET 'table.optimizer.agg-phase-strategy' = 'AUTO';"
ON = "SET 'table.optimizer.distinct-agg.split.enabled' = 'true';"
MINI_BATCH = "SET 'table.exec.mini-batch.enabled' = 'true';"
LEVELS = f"{ON}SET 'table.optimizer.incremental-agg-enabled' = 'false';"
ONE = f"{ON}SET 'table.optimizer.agg-phase-strategy' = 'ONE_PHASE';"
BATCH = f"{ON}SET 'execution.runtime-mode' = 'batch';"
WHOLE = "group-aggregate"
PARTS = "incremental-group-aggregate global-group-aggregate"
MERGED = "local-group-aggregate global-group-aggregate"
IN_LEVELS = f"group-aggregate {MERGED}"


def graph(folder: Path, query: str, options: str) -> ExecGraph:
    text = f"{AUTO}{options}{TABLES}INSERT INTO out SELECT CAST(r AS STRING) FROM ({query}) AS q (r);"
    (folder / "program.sql").write_text(text, encoding="utf-8")
    return compile_program(folder)[-1]


def aggregates(made: ExecGraph) -> str:
    names = (node.key.name.removeprefix("stream-exec-") for node in made.nodes)
    return " ".join(name for name in names if "aggregate" in name)


@pytest.mark.parametrize(
    ("options", "query", "expected"),
    [
        ("", "SELECT COUNT(DISTINCT v) FROM t GROUP BY k", WHOLE),
        (MINI_BATCH, "SELECT COUNT(DISTINCT v) FROM t GROUP BY k", WHOLE),
        (MINI_BATCH + ON, "SELECT COUNT(DISTINCT v) FROM t GROUP BY k", PARTS),
        (ON, "SELECT COUNT(DISTINCT v) FROM t GROUP BY k", PARTS),
        (ON, "SELECT COUNT(DISTINCT v) FROM t", PARTS),
        (ON, "SELECT AVG(DISTINCT v) + MIN(w) FROM t GROUP BY k", PARTS),
        (ON, "SELECT COUNT(DISTINCT v) + SUM(DISTINCT w) FROM t GROUP BY k", PARTS),
        (ON, "SELECT COUNT(DISTINCT v) FILTER (WHERE b) + SUM(DISTINCT w) FILTER (WHERE b) FROM t GROUP BY k", PARTS),
        (ON, "SELECT COUNT(DISTINCT v) FROM c GROUP BY w", PARTS),
        (ON, "SELECT COUNT(DISTINCT v) + MIN(w) FROM c GROUP BY w", "group-aggregate group-aggregate"),
        (ON, "SELECT MIN(DISTINCT v) FROM t GROUP BY k", WHOLE),
        (ON, "SELECT COUNT(DISTINCT v) + FIRST_VALUE(w) FROM t GROUP BY k", WHOLE),
        (ON, "SELECT COUNT(DISTINCT v) + STDDEV_POP(w) FROM t GROUP BY k", WHOLE),
        (ON, "SELECT COUNT(DISTINCT (v, w)) FROM t GROUP BY k", PARTS),
        (ON, "SELECT COUNT(DISTINCT v) FROM t GROUP BY ROLLUP (k)", PARTS),
        (ON, "SELECT COUNT(*) FROM (SELECT DISTINCT k, v FROM t) GROUP BY k", f"{MERGED} {MERGED}"),
        (LEVELS, "SELECT COUNT(DISTINCT v) FROM t GROUP BY k", IN_LEVELS),
        (LEVELS, "SELECT COUNT(DISTINCT v) + SUM(DISTINCT w) FROM t GROUP BY k", WHOLE),
        (LEVELS, "SELECT AVG(DISTINCT v) FROM t GROUP BY k", WHOLE),
        (ONE, "SELECT COUNT(DISTINCT v) FROM t GROUP BY k", "group-aggregate group-aggregate"),
        (BATCH, "SELECT COUNT(DISTINCT v) FROM t GROUP BY k", "batch-exec-hash-aggregate"),
    ],
)  # fmt: skip
def test_what_is_split(options: str, query: str, expected: str, tmp_path: Path) -> None:
    assert aggregates(graph(tmp_path, query, options)) == expected


def test_calls_nobody_reads_are_not_split(tmp_path: Path) -> None:
    query = "SELECT c FROM (SELECT k, COUNT(DISTINCT v) AS d, COUNT(*) AS c FROM t GROUP BY k)"
    assert aggregates(graph(tmp_path, query, ON)) == MERGED


@pytest.mark.parametrize("number", ["0", "-3", "2147483648"])
def test_a_number_of_buckets_that_is_none(number: str, tmp_path: Path) -> None:
    options = f"{ON}SET 'table.optimizer.distinct-agg.split.bucket-num' = '{number}';"
    with pytest.raises(OptionError, match=rf"bucket-num: {number} is no number of buckets") as error:
        graph(tmp_path, "SELECT COUNT(DISTINCT v) FROM t GROUP BY k", options)
    assert "from 1 to 2147483647" in str(error.value.hint)
