"""Everyday queries, run for the classes that Java loads for them: see `rekindle.doctor.make_class_archive`."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from rekindle.api.table_environment import TableEnvironment
from rekindle.spark.class_archive import making
from rekindle.spark.session import session

_PATIENCE = 120
"""Seconds that Java has to write its archive when it ends."""
_ROWS = "".join(f'{{"k": "{each}", "v": {each}, "at": "2024-01-01 00:0{each}:00"}}\n' for each in range(9))
_TABLE = """CREATE TABLE t (k STRING, v INT, at TIMESTAMP(3), WATERMARK FOR at AS at)
WITH ('connector' = 'filesystem', 'path' = '{folder}', 'format' = 'json')"""
_QUERIES = (
    "SELECT k, SUM(v), COUNT(*) FROM t GROUP BY k",
    "SELECT k, window_start, MAX(v) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(at), INTERVAL '1' MINUTE)) "
    "GROUP BY k, window_start, window_end",
    "SELECT a.k, b.v FROM t AS a JOIN t AS b ON a.k = b.k WHERE a.v > 1",
)


def main(archive: Path) -> None:
    """Run them in both modes; at the end there is the archive."""
    spark = session(2, {"spark.driver.extraJavaOptions": making(archive)})
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "rows.json").write_text(_ROWS)
        for mode in ("streaming", "batch"):
            environment = TableEnvironment.create({"execution.runtime-mode": mode}, spark=spark)
            environment.execute_sql(_TABLE.format(folder=folder))
            for query in _QUERIES:
                list(environment.execute_sql(query).collect())
    process = getattr(spark.sparkContext._gateway, "proc", None)
    spark.stop()
    if isinstance(process, subprocess.Popen) and process.stdin is not None:
        process.stdin.close()
        process.wait(_PATIENCE)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
