"""Several sinks in one micro-batch: what they share runs once, and time moves by all that sources have given."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rekindle.api.table_environment import TableEnvironment
from tests.runtime.written import written_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SINKS = 6
ROWS = [{"k": number % 4, "ts": f"2024-01-01 00:{number:02}:30"} for number in range(12)]


@pytest.mark.spark
@pytest.mark.parametrize("kinds", ["filesystem", "blackhole", "mixed"])
def test_each_sink_has_its_rows(spark: SparkSession, tmp_path: Path, kinds: str) -> None:
    (tmp_path / "t").mkdir()
    for number in range(3):
        text = "".join(json.dumps(row) + "\n" for row in ROWS[4 * number : 4 * number + 4])
        (tmp_path / "t" / f"{number}.json").write_text(text)
    made = TableEnvironment.create({"execution.micro-batch.max-files": "1"}, spark=spark)
    made.execute_script(
        f"CREATE TABLE t (k INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) "
        f"WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/t', 'format' = 'json')"
    )
    inserts, files = [], []
    for number in range(SINKS):
        nothing = kinds == "blackhole" or (kinds == "mixed" and number % 2)
        path = "" if nothing else f", 'path' = '{tmp_path}/o{number}', 'format' = 'json'"
        connector = "blackhole" if nothing else "filesystem"
        made.execute_sql(f"CREATE TABLE o{number} (n BIGINT) WITH ('connector' = '{connector}'{path})")
        inserts.append(
            f"INSERT INTO o{number} SELECT COUNT(*) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' HOUR)) "
            f"WHERE k <> {number} GROUP BY window_start, window_end;"
        )
        files += [] if nothing else [number]
    job = made.execute_script(f"EXECUTE STATEMENT SET BEGIN {' '.join(inserts)} END;")[-1].job
    assert job is not None
    assert job.wait(60)
    assert [rows for rows, _ in job.batches()] == [4, 4, 4]
    progress = job.progress()
    assert progress is not None
    assert progress.rows == len(ROWS)
    for number in files:
        assert written_rows(tmp_path / f"o{number}") == [{"n": sum(row["k"] != number for row in ROWS)}]
