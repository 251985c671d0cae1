"""A savepoint that is killed with -9 while it is written is none, or whole; never half of one."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rekindle.savepoints.contents import read

KILLS = int(os.environ.get("REKINDLE_KILLS", "5"))
ROWS = 1000
SCRIPT = """
CREATE TABLE t (k INT, v BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = '{rows}', 'rows-per-second' = '0',
  'fields.k.kind' = 'sequence', 'fields.k.start' = '1', 'fields.k.end' = '{rows}');
CREATE TABLE a (k INT, v BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'blackhole');
CREATE TABLE b (c BIGINT, PRIMARY KEY (c) NOT ENFORCED) WITH ('connector' = 'blackhole');
EXECUTE STATEMENT SET BEGIN
INSERT INTO a SELECT k, SUM(v) FROM t GROUP BY k;
INSERT INTO b SELECT COUNT(DISTINCT v) FROM t;
END;
"""


def rekindle(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "rekindle", *map(str, arguments)]


@pytest.mark.spark
@pytest.mark.long
def test_killed_while_it_is_written(tmp_path: Path) -> None:
    (tmp_path / "job.sql").write_text(SCRIPT.format(rows=ROWS), encoding="utf-8")
    subprocess.run(rekindle("compile", "-f", tmp_path / "job.sql", "-o", tmp_path / "plan.json"), check=True)
    subprocess.run(rekindle("run", tmp_path / "plan.json", "--job-dir", tmp_path / "job"), check=True)
    chance, whole, half = random.Random(7), 0, 0
    for number in range(KILLS):
        target = tmp_path / "savepoints" / str(number)
        process = subprocess.Popen(rekindle("savepoint", tmp_path / "job", "--to", target), start_new_session=True)
        while process.poll() is None and not target.parent.exists():
            time.sleep(0.01)
        time.sleep(chance.uniform(0, 6))
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        half += not target.exists()
        if target.exists():
            assert {state.rows for state in read(target).states} >= {ROWS}
            whole += 1
    assert whole + half == KILLS
    final = tmp_path / "final"
    subprocess.run(rekindle("savepoint", tmp_path / "job", "--to", final), check=True)
    assert len(read(final).states) == len({state.title for state in read(final).states}) > 1
