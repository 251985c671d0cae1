"""ON CONFLICT of a query that only inserts: where it is taken, asked for and refused, as Flink 2.3 has it."""

from __future__ import annotations

import json

import pytest

from execnodes.core.errors import SqlError
from rekindle import TableEnvironment

DDL = """
CREATE TABLE q (a INT, b STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = 'json');
CREATE TABLE bare (a INT, b STRING) WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = 'json');
CREATE TABLE k (a INT, b STRING, PRIMARY KEY (a) NOT ENFORCED)
  WITH ('connector' = 'duckdb', 'path' = 'k.duckdb', 'table' = 'k');
CREATE TABLE free (a INT, b STRING) WITH ('connector' = 'duckdb', 'path' = 'k.duckdb', 'table' = 'free');
CREATE TABLE printed (a INT, b STRING, PRIMARY KEY (a) NOT ENFORCED) WITH ('connector' = 'print');
CREATE TABLE hole (a INT, b STRING, PRIMARY KEY (a) NOT ENFORCED) WITH ('connector' = 'blackhole');
"""
NO_KEY = "the query has no key"
NOT_UPSERT = "ON CONFLICT clause is only allowed for upsert sinks"
WATERMARKS = "needs watermarks on all sources"
WINDOW = "TABLE(TUMBLE(TABLE q, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY a, window_start, window_end"


@pytest.mark.parametrize(
    ("statement", "options", "materializes", "refused"),
    [
        ("INTO k SELECT a, b FROM q", {}, False, NO_KEY),
        ("INTO k SELECT a, b FROM q ON CONFLICT DO DEDUPLICATE", {}, False, ""),
        ("INTO k SELECT a, b FROM q ON CONFLICT DO NOTHING", {}, True, ""),
        ("INTO k SELECT a, b FROM q ON CONFLICT DO ERROR", {}, True, ""),
        ("INTO k SELECT a, b FROM bare ON CONFLICT DO DEDUPLICATE", {}, False, ""),
        ("INTO k SELECT a, b FROM bare ON CONFLICT DO NOTHING", {}, False, WATERMARKS),
        ("INTO k SELECT a, b FROM bare ON CONFLICT DO ERROR", {}, False, WATERMARKS),
        ("INTO k SELECT a, b FROM q", {"table.exec.sink.require-on-conflict": "false"}, True, ""),
        ("INTO k SELECT a, b FROM q", {"table.exec.sink.upsert-materialize": "NONE"}, False, ""),
        ("INTO k SELECT a, b FROM q", {"table.exec.sink.upsert-materialize": "FORCE"}, True, ""),
        (
            "INTO k SELECT a, b FROM bare ON CONFLICT DO NOTHING",
            {"table.exec.sink.upsert-materialize": "NONE"},
            False,
            WATERMARKS,
        ),
        ("INTO k SELECT a, MAX(b) FROM q GROUP BY a", {}, False, ""),
        ("INTO k SELECT a, MAX(b) FROM q GROUP BY a ON CONFLICT DO DEDUPLICATE", {}, False, ""),
        (f"INTO k SELECT a, MAX(b) FROM {WINDOW}", {}, False, NO_KEY),
        (f"INTO k SELECT a, MAX(b) FROM {WINDOW} ON CONFLICT DO DEDUPLICATE", {}, False, ""),
        ("INTO free SELECT a, b FROM q", {}, False, ""),
        ("INTO free SELECT a, b FROM q ON CONFLICT DO DEDUPLICATE", {}, False, NOT_UPSERT),
        ("INTO printed SELECT a, b FROM q", {}, False, ""),
        ("INTO printed SELECT a, b FROM q ON CONFLICT DO DEDUPLICATE", {}, False, NOT_UPSERT),
        ("INTO printed SELECT a, MAX(b) FROM q GROUP BY a ON CONFLICT DO NOTHING", {}, False, NOT_UPSERT),
        ("INTO hole SELECT a, b FROM q", {}, False, ""),
        ("INTO hole SELECT a, b FROM q ON CONFLICT DO NOTHING", {}, False, NOT_UPSERT),
    ],
)
def test_on_conflict_of_inserts(statement: str, options: dict[str, str], materializes: bool, refused: str) -> None:
    made = TableEnvironment.create(options)
    made.execute_script(DDL)
    if refused:
        with pytest.raises(SqlError) as caught:
            made.compile_plan_sql(f"INSERT {statement}")
        assert refused in str(caught.value)
        assert caught.value.position is not None
        return
    (sink,) = (
        node
        for node in json.loads(made.compile_plan_sql(f"INSERT {statement}").as_json_string())["nodes"]
        if node["type"].startswith("stream-exec-sink")
    )
    assert sink.get("requireUpsertMaterialize", False) is materializes
