"""The time zone a plan was compiled with stands in each node that needs it: nothing else decides what runs."""

from __future__ import annotations

import pickle

import pytest

from execnodes.core.graph import ExecGraph
from execnodes.lowering.stream import Rows
from rekindle.api.table_environment import TableEnvironment
from rekindle.pipeline.record import OperatorRecord, Record
from tests.check.plans import TABLES

ZONED = """
CREATE TABLE z (k STRING, l TIMESTAMP_LTZ(3), d DATE, ts AS CAST(l AS TIMESTAMP(3)), WATERMARK FOR ts AS
  ts - INTERVAL '1' SECOND) WITH ('connector' = 'filesystem', 'path' = '/nowhere/z', 'format' = 'parquet');
CREATE TABLE y (k STRING, l TIMESTAMP_LTZ(3), ts TIMESTAMP(3),
  WATERMARK FOR ts AS CAST(CAST(l AS TIMESTAMP(3)) - INTERVAL '1' SECOND AS TIMESTAMP(3)))
  WITH ('connector' = 'filesystem', 'path' = '/nowhere/y', 'format' = 'json');
CREATE TABLE x (k STRING, v BIGINT, l TIMESTAMP_LTZ(3), WATERMARK FOR l AS l)
  WITH ('connector' = 'filesystem', 'path' = '/nowhere/x', 'format' = 'json');
CREATE VIEW days AS SELECT * FROM TABLE(TUMBLE(TABLE x, DESCRIPTOR(l), INTERVAL '1' DAY));
"""
WINDOW = (
    "SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE {}, DESCRIPTOR(ts), INTERVAL '1' HOUR)) "
    "GROUP BY window_start, window_end"
)
_BY_DAY = "OVER (PARTITION BY window_start, window_end ORDER BY {}) AS n FROM days) WHERE n = 1"
QUERIES = (
    "SELECT CAST(l AS STRING) FROM z",
    "SELECT k FROM z WHERE CAST(l AS DATE) = d",
    "SELECT k FROM z WHERE l > TO_TIMESTAMP_LTZ(1000, 3) AND d >= DATE '2024-01-01' AND k <> 'x'",
    "SELECT a.k FROM z AS a JOIN z AS b ON a.k = b.k AND CAST(a.l AS DATE) < b.d",
    "SELECT CAST(l AS DATE), COUNT(*) FILTER (WHERE CAST(l AS TIME) > TIME '12:00:00') FROM z GROUP BY CAST(l AS DATE)",
    "SELECT DATE_FORMAT(l, 'HH'), k FROM z GROUP BY CUBE (DATE_FORMAT(l, 'HH'), k)",
    WINDOW.format("z"),
    WINDOW.format("y"),
    "SELECT k, COUNT(*) FROM days GROUP BY k, window_start, window_end",
    "SELECT k, LISTAGG(k) FROM TABLE(SESSION(TABLE x PARTITION BY k, DESCRIPTOR(l), INTERVAL '1' HOUR)) "
    "GROUP BY k, window_start, window_end",
    "SELECT window_start, v FROM TABLE(SESSION(TABLE x PARTITION BY k, DESCRIPTOR(l), INTERVAL '1' HOUR))",
    "SELECT k, COUNT(*) FROM x GROUP BY k, HOP(l, INTERVAL '12' HOUR, INTERVAL '1' DAY)",
    "SELECT a.k FROM days AS a JOIN days AS b ON a.k = b.k AND a.window_start = b.window_start "
    "AND a.window_end = b.window_end",
    f"SELECT k FROM (SELECT k, ROW_NUMBER() {_BY_DAY.format('v')}",
    f"SELECT k FROM (SELECT k, ROW_NUMBER() {_BY_DAY.format('l')}",
)


def texts(graph: ExecGraph, guess: str) -> object:
    """All that runs, where nodes that do not say their zone are taken to have this one."""
    made = Record(zone=guess, row_watermarks=False)
    rows: dict[int, Rows] = {}
    for node in graph.nodes:
        rows[node.id] = node.lower(made, tuple(rows[each] for each in graph.inputs[node.id]))
    conditions = [
        each.condition.text(tuple(f"c{at}" for at in range(9)))
        for each in made.sources.values()
        if each.condition is not None
    ]
    # As it goes to the workers.
    kernels = [step.operator if isinstance(step, OperatorRecord) else step.kernel for step in made.steps.values()]
    return rows, [each.event_times for each in made.sources.values()], conditions, pickle.dumps(kernels)


@pytest.mark.parametrize("query", QUERIES)
def test_each_node_has_the_zone_it_needs(query: str) -> None:
    """So two plans of two zones can be one."""
    there, elsewhere = (
        TableEnvironment.create({"table.local-time-zone": zone}).compile_script(TABLES + ZONED + query).graph
        for zone in ("Asia/Tokyo", "America/New_York")
    )
    assert texts(there, "Europe/Berlin") == texts(there, "Asia/Kolkata")
    zoned = "Asia/Tokyo" in str(texts(there, "Europe/Berlin"))
    assert zoned == (texts(there, "UTC") != texts(elsewhere, "UTC"))
