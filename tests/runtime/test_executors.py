"""Jobs on a cluster whose executors are killed: every row is written once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rekindle.api.table_environment import TableEnvironment
from rekindle.files.job_folder import JobFolder
from rekindle.jobs.status import State, read_status
from tests.runtime.cluster import cluster, until

FILES, ROWS, KEYS = 12, 50, 7
SQL = """
CREATE TABLE pieces (k INT, v INT) WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'json');
CREATE TABLE plain (k INT, v INT) WITH ('connector' = 'filesystem', 'path' = 'plain', 'format' = 'json');
CREATE TABLE sums (k INT, c BIGINT, s BIGINT)
  WITH ('connector' = 'filesystem', 'path' = 'sums', 'format' = 'debezium-json');
EXECUTE STATEMENT SET BEGIN
INSERT INTO plain SELECT k, v + 1 FROM pieces WHERE k >= 0;
INSERT INTO sums SELECT k, COUNT(*), SUM(v) FROM pieces GROUP BY k;
END;
"""


def changes(folder: Path) -> Iterator[dict[str, Any]]:
    """In the order in which they were written: files are called ``part-<job>-<batch>-<n>.json``."""
    files = [each for each in folder.iterdir() if each.name.startswith("part-")]
    for file in sorted(files, key=lambda each: [int(text) for text in each.stem.split("-")[2:]]):
        yield from map(json.loads, file.read_text().splitlines())


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.xdist_group("commands")
def test_killed_executors_cost_no_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    given = [(number, place % KEYS, number * ROWS + place) for number in range(FILES) for place in range(ROWS)]
    for number in range(FILES):
        path = tmp_path / "in" / f"{number}.json"
        path.write_text("".join(json.dumps({"k": k, "v": v}) + "\n" for n, k, v in given if n == number))
        os.utime(path, (1e9 + number, 1e9 + number))
    TableEnvironment.create().compile_script(SQL).write_to_file(tmp_path / "plan.json")

    def committed() -> int:
        return JobFolder(tmp_path / "job").committed_batch() or 0

    with cluster(tmp_path / "cluster") as spark:
        # The folder of the job is relative, and executors have another working directory.
        options = {"spark.master": spark.url, "spark.executor.memory": "512m", "execution.micro-batch.max-files": "1"}
        arguments = [text for key, value in options.items() for text in ("-D", f"{key}={value}")]
        process = subprocess.Popen(
            [sys.executable, "-m", "rekindle", "run", "plan.json", "--job-dir", "job", *arguments],
            text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        try:
            killed = 0
            for batch in (1, 4, 7):
                until(lambda: process.poll() is not None or (committed() >= batch and spark.executors()))  # noqa: B023
                for each in spark.executors()[:1]:
                    os.kill(each, signal.SIGKILL)
                    killed += 1
            _, said = process.communicate(timeout=300)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 0, said
    assert killed == 3
    status = read_status(tmp_path / "job")
    assert status is not None
    assert status.state is State.FINISHED
    rows = Counter((each["k"], each["v"]) for each in changes(tmp_path / "plain"))
    assert rows == Counter((k, v + 1) for _, k, v in given)
    # Each change is made of the row that the one before has left.
    found: dict[int, dict[str, int]] = {}
    for change in changes(tmp_path / "sums"):
        before, after = change["before"], change["after"]
        if before is not None:
            assert found.pop(before["k"]) == before
        if after is not None:
            assert after["k"] not in found
            found[after["k"]] = after
    wanted = {k: [v for _, key, v in given if key == k] for k in range(KEYS)}
    assert found == {k: {"k": k, "c": len(values), "s": sum(values)} for k, values in wanted.items()}
