"""First rows by event time in mini-batches: a plan goes on as it was, new ones give them at once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from execnodes.stream.deduplicate.v2 import Deduplicate
from plans.compatibility.compare import Verdict
from rekindle.api.table_environment import TableEnvironment
from rekindle.results.compiled_plan import CompiledPlan

MINI_BATCH = {
    "table.exec.mini-batch.enabled": "true",
    "table.exec.mini-batch.size": "10",
    "table.exec.mini-batch.allow-latency": "1 s",
}
TABLES = """
CREATE TABLE t (k STRING, v INT, s STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'filesystem', 'path' = 't', 'format' = 'json');
CREATE TABLE o (k STRING, v BIGINT) WITH ('connector' = 'blackhole');
CREATE TABLE p (k STRING, v BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'blackhole');
"""
FIRST = "(SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS n FROM t) WHERE n = 1)"
ABOVE = [
    f"o SELECT k, v FROM {FIRST}",
    f"p SELECT k, v FROM {FIRST}",
    f"o SELECT s, SUM(v) FROM {FIRST} GROUP BY s",
    f"o SELECT s, MAX(v) FROM {FIRST} GROUP BY s",
    f"o SELECT a.k, b.v FROM {FIRST} AS a JOIN t AS b ON a.k = b.k",
    f"o SELECT k, SUM(v) FROM TABLE(TUMBLE({FIRST}, DESCRIPTOR(ts), INTERVAL '1' SECOND)) "
    "GROUP BY k, window_start, window_end",
    f"o SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY s ORDER BY v) AS m FROM {FIRST}) WHERE m <= 2",
]


def compiled(insert: str, old: CompiledPlan | None = None, options: Mapping[str, str] | None = None) -> CompiledPlan:
    return TableEnvironment.create(options).compile_script(f"{TABLES}INSERT INTO {insert}", from_plan=old)


def waits(plan: CompiledPlan) -> bool:
    (found,) = (each for each in plan.graph.nodes if isinstance(each, Deduplicate))
    return found.changelog_mode.insert_only


def of_release(plan: CompiledPlan, version: int, path: Path) -> CompiledPlan:
    """The plan as releases wrote it that knew no mini-batches in this."""
    document = json.loads(plan.as_json_string())
    for node in document["nodes"]:
        if node["type"] == "stream-exec-deduplicate_3":
            node["type"] = f"stream-exec-deduplicate_{version}"
            del node["outputInsertOnly"]
        if "table.exec.mini-batch.enabled" in node.get("configuration", {}):
            node["configuration"]["table.exec.mini-batch.enabled"] = "true"
    path.write_text(json.dumps(document), encoding="utf-8")
    return TableEnvironment.create().load_plan(path)


@pytest.mark.parametrize("insert", ABOVE)
@pytest.mark.parametrize("version", [1, 2])
def test_plans_of_releases_keep_all_state(insert: str, version: int, tmp_path: Path) -> None:
    old = of_release(compiled(insert), version, tmp_path / "old.json")
    new = compiled(insert, old, options=MINI_BATCH)
    assert new.comparison is not None
    assert new.comparison.verdict is Verdict.FULL
    assert waits(new)
    again = compiled(insert, new, options=MINI_BATCH)
    assert waits(again)


def test_a_new_plan_gives_them_at_once_and_goes_on_doing_so() -> None:
    new = compiled(ABOVE[2], options=MINI_BATCH)
    assert not waits(new)
    again = compiled(ABOVE[2], new, options=MINI_BATCH)
    assert again.comparison is not None
    assert again.comparison.verdict is Verdict.FULL
    assert not waits(again)


def test_without_mini_batches_they_wait() -> None:
    assert waits(compiled(ABOVE[0]))
