"""Savepoints of a job whose disk is full, or who is asked for several at once: whole, or not there."""

from __future__ import annotations

import errno
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from execnodes.core.errors import StateError
from plans.format.codec import encode
from rekindle.api.table_environment import TableEnvironment
from rekindle.runtime.stream_job import StreamJob
from rekindle.savepoints import folder, take
from rekindle.savepoints.contents import read

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCRIPT = """
CREATE TABLE t (k INT) WITH ('connector' = 'datagen', 'number-of-rows' = '100', 'rows-per-second' = '0',
  'fields.k.kind' = 'sequence', 'fields.k.start' = '1', 'fields.k.end' = '100');
CREATE TABLE a (k INT, c BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'blackhole');
INSERT INTO a SELECT k, COUNT(*) FROM t GROUP BY k;
"""


def test_of_two_that_end_at_once_the_later_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    look = folder.refuse_existing
    calls: list[Path] = []

    def late(target: Path) -> None:
        calls.append(target)
        # The other one comes between the second look and the renaming.
        if len(calls) != 2:
            look(target)

    monkeypatch.setattr(folder, "refuse_existing", late)
    target = tmp_path / "one"

    def written() -> None:
        with folder.new_folder(target) as hidden:
            (hidden / "file").write_text("second")
            target.mkdir()
            (target / "file").write_text("first")

    with pytest.raises(StateError, match="the folder exists already"):
        written()
    assert (target / "file").read_text() == "first"
    assert [each.name for each in tmp_path.iterdir()] == ["one"]


@pytest.mark.spark
def test_whole_or_not_there(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = {"execution.job-dir": str(tmp_path / "job"), "parallelism.default": "1"}
    environment = TableEnvironment.create(options, spark=spark)
    graph = environment.compile_script(SCRIPT).graph
    job = StreamJob(graph, encode(graph), environment.configuration, spark=spark).start()
    job.wait()
    place = tmp_path / "savepoints"

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(place))

    for step in "new_file", "seal":
        with monkeypatch.context() as patched:
            patched.setattr(take, step, full)
            with pytest.raises(StateError, match="cannot be written: No space left on device"):
                job.savepoint(place / "full")
        assert list(place.iterdir()) == []

    def try_to_save(target: Path) -> str:
        try:
            return str(job.savepoint(target).states[0].rows)
        except StateError as error:
            return error.message

    with ThreadPoolExecutor(3) as pool:
        targets = [place / "one", place / "one", place / "two"]
        assert sorted(pool.map(try_to_save, targets)) == ["100", "100", "the folder exists already"]
    for target in set(targets):
        assert [state.rows for state in read(target).states] == [100]
        assert target.stat().st_mode & 0o777 == 0o700
    assert len(list(place.iterdir())) == 2
