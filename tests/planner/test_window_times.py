"""Windows over times of any precision; in batch over any timestamp, since no row is late there."""

from __future__ import annotations

import pytest

from execnodes.core.errors import SqlError
from rekindle.api.table_environment import TableEnvironment

MODES = ("streaming", "batch")
TUMBLE = "TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' SECOND))"
QUERIES = {
    "rows": f"SELECT window_time FROM {TUMBLE}",
    "groups": f"SELECT window_time FROM {TUMBLE} GROUP BY window_start, window_end, window_time",
    "windows of windows": f"""SELECT window_end FROM TABLE(TUMBLE(
        (SELECT window_time AS w FROM {TUMBLE} GROUP BY window_start, window_end, window_time),
        DESCRIPTOR(w), INTERVAL '2' SECOND)) GROUP BY window_start, window_end""",
    "GROUP BY": "SELECT TUMBLE_ROWTIME(ts, INTERVAL '1' SECOND) FROM t GROUP BY TUMBLE(ts, INTERVAL '1' SECOND)",
    "sessions": "SELECT SESSION_ROWTIME(ts, INTERVAL '1' SECOND) FROM t GROUP BY SESSION(ts, INTERVAL '1' SECOND)",
}


def type_of(mode: str, column: str, query: str) -> str:
    environment = TableEnvironment.create({"execution.runtime-mode": mode})
    environment.execute_script(f"CREATE TABLE t ({column}) WITH ('connector' = 'datagen', 'number-of-rows' = '3');")
    (root,) = environment.compile_plan_sql(query).graph.roots()
    return str(root.output_type.fields[0].type.regular())


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("precision", [0, 1, 3])
@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_times_of_windows_have_milliseconds(mode: str, precision: int, query: str) -> None:
    found = type_of(mode, f"ts TIMESTAMP({precision}), WATERMARK FOR ts AS ts", query)
    assert found.removesuffix(" NOT NULL") == "TIMESTAMP(3)"


@pytest.mark.parametrize("type", ["TIMESTAMP(0)", "TIMESTAMP(6)", "TIMESTAMP_LTZ(3)"])
@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_batch_takes_any_timestamp(type: str, query: str) -> None:
    assert type_of("batch", f"ts {type}", query).startswith("TIMESTAMP")
    with pytest.raises(SqlError, match="time attribute type, but is TIMESTAMP"):
        type_of("streaming", f"ts {type}", query)


@pytest.mark.parametrize("query", [QUERIES["rows"], QUERIES["GROUP BY"]])
def test_other_types_are_refused_in_batch(query: str) -> None:
    with pytest.raises(SqlError, match="time attribute type, but is DATE"):
        type_of("batch", "ts DATE", query)
