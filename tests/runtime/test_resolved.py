"""What a job's folder says of its plan is enough to read the job's state, and tells no secrets."""

from __future__ import annotations

from plans.format.load import load
from rekindle.api.table_environment import TableEnvironment
from rekindle.pipeline.record import OperatorRecord, record
from rekindle.pipeline.resolved import resolved_text

SCRIPT = """
CREATE TABLE t (k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '/secret/place', 'format' = 'json');
CREATE TABLE u (k STRING, v INT, PRIMARY KEY (k) NOT ENFORCED)
  WITH ('connector' = 'duckdb', 'path' = '/secret/file', 'table' = 'u');
INSERT INTO u SELECT k, SUM(v) FROM t GROUP BY k;
"""


def test_states_and_connectors_are_known_without_a_catalog() -> None:
    graph = TableEnvironment.create().compile_script(SCRIPT).graph
    text = resolved_text(graph)
    assert "/secret" not in text
    found, expected = record(load(text)), record(graph)
    assert [source.connector for source in found.sources.values()] == ["filesystem"]
    states = [
        [(step.operator.uid, step.operator.states) for step in each.steps.values() if isinstance(step, OperatorRecord)]
        for each in (found, expected)
    ]
    assert states[0] == states[1]
    assert states[0]
