"""What no job can run is refused when it is compiled, with its place; released plans are refused when a job starts."""

from __future__ import annotations

import pytest

from execnodes.core.errors import PlanError, SqlError
from execnodes.core.graph import ExecGraph
from rekindle.api.table_environment import TableEnvironment
from rekindle.pipeline.record import record
from rekindle.statements import compile as compiling

TABLE = """CREATE TABLE t (k STRING, ts TIMESTAMP(3), x INT, pt AS PROCTIME(), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '/nowhere', 'format' = 'json');
"""
COUNTS = """SELECT k, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR({}), INTERVAL '1' MINUTE)) GROUP BY k, window_start, window_end"""
NUMBERED = "(SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS r FROM t)"
FIRST = f"SELECT k, CAST(x AS BIGINT) FROM {NUMBERED} WHERE r = 1"
EACH_ROW = "CURRENT_WATERMARK requires the watermark of each row"
ONE_JOB = "cannot run in one job with what goes by watermarks of rows"
STREAM = {
    "projection": ("SELECT k, CURRENT_WATERMARK(ts) AS w FROM t", "batch", (3, 11), EACH_ROW),
    "condition": ("SELECT k FROM t\nWHERE ts > CURRENT_WATERMARK(ts)", "batch", (4, 12), EACH_ROW),
    "above windows": (
        "SELECT k, CURRENT_WATERMARK(window_time) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' SECOND))",
        "batch", (3, 11), EACH_ROW,
    ),
    "clock and rows": (f"{COUNTS.format('pt')} UNION ALL {COUNTS.format('ts')}", "batch", (4, 12), ONE_JOB),
    "clock and first rows": (f"{COUNTS.format('pt')} UNION ALL {FIRST}", "batch", (4, 12), ONE_JOB),
    "clock and watermarks of rows": (COUNTS.format("pt"), "row", (4, 12), ONE_JOB),
    "legacy clock": ("SELECT COUNT(*) FROM t GROUP BY k, TUMBLE(pt, INTERVAL '1' MINUTE)", "row", (3, 36), ONE_JOB),
}  # fmt: skip
RUNS = {
    "each row": ("SELECT k, CURRENT_WATERMARK(ts) AS w FROM t", "row"),
    "clock": (COUNTS.format("pt"), "batch"),
    "time": (COUNTS.format("ts"), "row"),
}


def compiled(query: str, granularity: str, mode: str = "streaming") -> ExecGraph:
    environment = TableEnvironment.create(
        {"table.exec.lateness.granularity": granularity, "execution.runtime-mode": mode}
    )
    return environment.compile_script(TABLE + query).graph


@pytest.mark.parametrize("case", STREAM)
def test_streams_are_refused_when_compiled(case: str) -> None:
    query, granularity, (line, column), message = STREAM[case]
    with pytest.raises(SqlError, match=message) as raised:
        compiled(query, granularity)
    assert raised.value.position is not None
    assert (raised.value.position.line, raised.value.position.column) == (line, column)
    assert raised.value.hint


@pytest.mark.parametrize("case", STREAM)
def test_released_plans_are_refused_when_a_job_starts(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    query, granularity, _, message = STREAM[case]
    monkeypatch.setattr(compiling, "check_runnable", lambda graph: None)
    graph = compiled(query, granularity)
    with pytest.raises(PlanError, match=message.replace("requires", "needs")):
        record(graph)


@pytest.mark.parametrize("case", RUNS)
def test_what_runs_is_compiled(case: str) -> None:
    record(compiled(*RUNS[case]))


def test_a_view_names_itself() -> None:
    """The position is that in the text of the view."""
    with pytest.raises(SqlError, match=EACH_ROW) as raised:
        compiled("CREATE VIEW v AS SELECT k, CURRENT_WATERMARK(ts) AS w FROM t;\nSELECT * FROM v", "batch")
    assert raised.value.where is not None
    assert "v" in raised.value.where


@pytest.mark.parametrize("query", [STREAM["projection"][0], STREAM["condition"][0]])
def test_batch_has_no_watermark(query: str) -> None:
    """In Flink the argument is no time attribute in batch mode."""
    with pytest.raises(SqlError, match="CURRENT_WATERMARK requires a watermark") as raised:
        compiled(query, "batch", "batch")
    assert raised.value.position is not None
