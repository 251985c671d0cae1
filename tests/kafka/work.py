"""Records, a savepoint, more records, a restore: in a process of its own, since Spark takes jars when it starts."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from plans.format.codec import encode
from rekindle.api.table_environment import TableEnvironment
from rekindle.runtime.stream_job import StreamJob
from tests.runtime.written import written_rows

_KAFKA = "'connector' = 'spark', 'spark.format' = 'kafka', 'spark.options.kafka.bootstrap.servers' = '{broker}', {more}"
_TABLES = """
CREATE TABLE written (`key` STRING, `value` STRING) WITH ({sink});
CREATE TABLE clicks (`key` STRING, `value` STRING, `partition` INT, `offset` BIGINT) WITH ({source});
CREATE TABLE copies (k STRING, v STRING, p INT, o BIGINT)
  WITH ('connector' = 'filesystem', 'path' = '{folder}/copies', 'format' = 'json');
"""
_NUMBERS = "SELECT CAST(n AS STRING), CONCAT('v', CAST(n AS STRING)) FROM UNNEST(ARRAY[{}]) AS t (n)"


def main(broker: str, jars: str, folder: Path) -> None:
    """Write to `answer.json` in the folder what the copies hold after each run."""
    source = "'spark.options.subscribe' = 'clicks', 'spark.options.startingOffsets' = 'earliest', "
    source += "'spark.start-option' = 'startingOffsets'"
    sink = _KAFKA.format(broker=broker, more="'spark.options.topic' = 'clicks'")
    tables = _TABLES.format(sink=sink, source=_KAFKA.format(broker=broker, more=source), folder=folder)
    settings = {"spark.jars": jars, "spark.driver.memory": "1g", "parallelism.default": "2"}
    batch = TableEnvironment.create({**settings, "execution.runtime-mode": "batch"})
    stream = TableEnvironment.create(settings)
    for each in (batch, stream):
        each.execute_script(tables)
    plan = stream.compile_plan_sql("INSERT INTO copies SELECT `key`, `value`, `partition`, `offset` FROM clicks")
    answer = []
    for run, numbers in enumerate((range(500), range(500, 600))):
        batch.execute_sql(f"INSERT INTO written {_NUMBERS.format(', '.join(map(str, numbers)))}").await_()
        given = {**settings, "execution.job-dir": str(folder / f"job{run}")}
        if run:
            given["execution.state-recovery.path"] = str(folder / "saved0")
        job = StreamJob(plan.graph, encode(plan.graph), TableEnvironment.create(given).configuration).start()
        end = time.monotonic() + 120
        while len(written_rows(folder / "copies")) < numbers.stop and not job.wait(0.2) and time.monotonic() < end:
            pass
        job.stop(with_savepoint=folder / f"saved{run}")
        answer.append(sorted(int(row["k"]) for row in written_rows(folder / "copies")))
    (folder / "answer.json").write_text(json.dumps(answer))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
