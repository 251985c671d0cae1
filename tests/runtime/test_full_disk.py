"""A disk that is really full: the job fails with words, nothing counts that is half-written, and it goes on later."""

from __future__ import annotations

import json
import os
import random
import subprocess
from base64 import b85encode
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from execnodes.core.errors import JobError, RekindleError
from plans.format.codec import encode
from rekindle.api.table_environment import TableEnvironment
from rekindle.runtime.stream_job import StreamJob

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILES, ROWS = 6, 200
SQL = """
CREATE TABLE pieces (k INT, v STRING) WITH ('connector' = 'filesystem', 'path' = '{dir}/in', 'format' = 'json');
CREATE TABLE plain (k INT, v STRING) WITH ('connector' = 'filesystem', 'path' = '{out}', 'format' = 'json');
CREATE TABLE last (k INT, v STRING) WITH ('connector' = 'filesystem', 'path' = '{changes}', 'format' = 'debezium-json');
EXECUTE STATEMENT SET BEGIN
INSERT INTO plain SELECT k, v FROM pieces;
INSERT INTO last SELECT k, MAX(v) FROM pieces GROUP BY k;
END;
"""


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with room for 1 MB."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", place], capture_output=True, check=False)
    if mounted.returncode != 0:
        pytest.skip("only root can mount a small disk")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def enlarge(disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,size=200m", disk], check=True)


def values(number: int) -> list[str]:
    """A micro-batch of 400 kB that cannot be packed."""
    chance = random.Random(number)
    return [f"{number:02d}-{place:04d}-{b85encode(chance.randbytes(1600)).decode()}" for place in range(ROWS)]


def job(spark: SparkSession, folder: Path, job_dir: Path, out: Path) -> StreamJob:
    (folder / "in").mkdir(exist_ok=True)
    for number in range(FILES):
        path = folder / "in" / f"{number}.json"
        path.write_text("".join(json.dumps({"k": k, "v": v}) + "\n" for k, v in enumerate(values(number))))
        os.utime(path, (1e9 + number, 1e9 + number))
    settings = {
        "execution.job-dir": str(job_dir), "execution.micro-batch.max-files": "1", "parallelism.default": "1",
    }  # fmt: skip
    environment = TableEnvironment.create(settings, spark=spark)
    sql = SQL.replace("{dir}", str(folder)).replace("{out}", str(out)).replace("{changes}", str(folder / "changes"))
    graph = environment.compile_script(sql).graph
    return StreamJob(graph, encode(graph), environment.configuration, spark=spark)


def lines(folder: Path) -> list[dict[str, object]]:
    files = sorted(each for each in folder.glob("[!._]*") if each.is_file())
    return [json.loads(line) for each in files for line in each.read_text().splitlines()]


def written_once(folder: Path, out: Path) -> None:
    assert sorted(str(row["v"]) for row in lines(out)) == [v for number in range(FILES) for v in values(number)]
    changes = lines(folder / "changes")
    assert len([change for change in changes if change["after"]]) == FILES * ROWS


@pytest.mark.spark
@pytest.mark.parametrize("full", ["sink", "job folder"])
def test_a_job_whose_disk_is_full(spark: SparkSession, tmp_path: Path, disk: Path, full: str) -> None:
    places = (tmp_path / "job", disk / "out") if full == "sink" else (disk / "job", tmp_path / "out")
    with pytest.raises(JobError, match=r"(?i)no space (is )?left on|stopped to take state") as caught:
        job(spark, tmp_path, *places).start().wait()
    assert "Free some space" in (caught.value.hint or "")
    shown = [str(row["v"]) for row in lines(places[1])]
    assert len(shown) % ROWS == 0
    enlarge(disk)
    job(spark, tmp_path, *places).start().wait()
    written_once(tmp_path, places[1])


@pytest.mark.spark
def test_a_savepoint_for_which_there_is_no_room(spark: SparkSession, tmp_path: Path, disk: Path) -> None:
    run = job(spark, tmp_path, tmp_path / "job", tmp_path / "out").start()
    run.wait()
    (disk / "filler").write_bytes(b"x" * 1_040_000)
    with pytest.raises(RekindleError, match=r"(?i)no space (is )?left on"):
        run.savepoint(disk / "savepoint")
    assert [each.name for each in disk.iterdir()] == ["filler"]
    (disk / "filler").unlink()
    assert [state.rows for state in run.savepoint(disk / "savepoint").states] == [ROWS]
