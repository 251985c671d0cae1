"""When partitions of the file sink are committed: by their time, after a delay, at the end."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from execnodes.core.errors import ConnectorError
from rekindle.api.table_environment import TableEnvironment
from rekindle.connectors.options import TableOptions, check_options
from rekindle.connectors.partition_commit import COMMIT_OPTIONS, check_commit
from rekindle.connectors.partition_times import Commits, PartitionTimes

COMMIT = "sink.partition-commit."
EXTRACTOR = "partition.time-extractor."
HOUR = 3_600_000
DAY = 1_704_067_200_000
"""2024-01-01, ms since 1970."""


def checked(**given: str) -> TableOptions:
    """Options by short names: `trigger`, `delay`, `zone`, `pattern`, `formatter`, `kind`."""
    names = {
        "trigger": f"{COMMIT}trigger",
        "delay": f"{COMMIT}delay",
        "zone": f"{COMMIT}watermark-time-zone",
        "pattern": f"{EXTRACTOR}timestamp-pattern",
        "formatter": f"{EXTRACTOR}timestamp-formatter",
        "kind": f"{EXTRACTOR}kind",
    }
    options = {f"{COMMIT}policy.kind": "success-file", **{names[each]: text for each, text in given.items()}}
    found = check_options(options, COMMIT_OPTIONS, "sink", "t")
    check_commit(found, "t")
    return found


def committed(target: Path) -> list[str]:
    """Partitions that are. What a job writes is hidden, and may go while folders are looked through."""
    walked = os.walk(target)
    return sorted(str(Path(each).relative_to(target)) for each, _, names in walked if "_SUCCESS" in names)


def folders(target: Path, names: Sequence[str]) -> list[Path]:
    made = [target / each for each in names]
    for each in made:
        each.mkdir(parents=True, exist_ok=True)
        (each / "part-job-1-0").touch()
    return made


@pytest.mark.parametrize(
    ("options", "values", "millis"),
    [
        ({}, {"d": "2024-01-01", "h": "x"}, DAY),
        ({}, {"d": "2024-1-1 5:00:00", "h": "x"}, DAY + 5 * HOUR),
        ({}, {"d": "2024-01-01 05:00:00.123", "h": "x"}, DAY + 5 * HOUR),
        ({"pattern": "$d $h:00:00"}, {"d": "2024-01-01", "h": "07"}, DAY + 7 * HOUR),
        ({"pattern": "$d $h:00:00", "zone": "Europe/Berlin"}, {"d": "2024-01-01", "h": "07"}, DAY + 6 * HOUR),
        ({"pattern": "$d$h", "formatter": "yyyyMMddHH"}, {"d": "20240101", "h": "03"}, DAY + 3 * HOUR),
        ({"pattern": "$d", "formatter": "dd.MM.yyyy 'o''clock'"}, {"d": "01.01.2024 o'clock", "h": ""}, DAY),
    ],
)
def test_columns_make_the_time_of_a_partition(options: dict[str, str], values: dict[str, str], millis: int) -> None:
    assert PartitionTimes(checked(trigger="partition-time", **options), ["d", "h"], "t").millis(values) == millis


@pytest.mark.parametrize("text", ["", "2024-13-01", "2024-02-30", "20240101", "2024-01-01T00:00:00", "x"])
def test_columns_that_make_no_time_are_told(text: str) -> None:
    times = PartitionTimes(checked(trigger="partition-time"), ["d"], "t")
    with pytest.raises(ConnectorError, match="a partition's columns make no time"):
        times.millis({"d": text})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"formatter": "yyyy-MM-dd EEE"}, "is not supported"),
        ({"formatter": "HH:mm"}, "is not supported"),
        ({"formatter": "yyyy-MM-dd yyyy"}, "is not supported"),
        ({"kind": "custom"}, "classes of Java are not called"),
    ],
)
def test_what_cannot_be_done_is_refused(options: dict[str, str], message: str) -> None:
    with pytest.raises(ConnectorError, match=message):
        checked(**options)


def test_the_watermark_commits_a_partition_once_it_has_passed_its_time_and_the_delay(tmp_path: Path) -> None:
    options = checked(trigger="partition-time", delay="1 h", pattern="$d $h:00:00")
    commits = Commits(tmp_path, ["d", "h"], options, "t")
    made = folders(tmp_path, ["d=2024-01-01/h=00", "d=2024-01-01/h=01"])
    commits.written(made, 0)
    for watermark in (None, DAY, DAY + HOUR):
        commits.time_passes(watermark, DAY * 2)
    assert committed(tmp_path) == []
    commits.time_passes(DAY + HOUR + 1, 0)
    assert committed(tmp_path) == ["d=2024-01-01/h=00"]
    commits.time_passes(DAY + 2 * HOUR + 1, 0)
    assert committed(tmp_path) == ["d=2024-01-01/h=00", "d=2024-01-01/h=01"]


def test_late_rows_commit_their_partition_again(tmp_path: Path) -> None:
    commits = Commits(tmp_path, ["d"], checked(trigger="partition-time"), "t")
    (folder,) = folders(tmp_path, ["d=2024-01-01"])
    for _ in range(2):
        commits.written([folder], 0)
        commits.time_passes(DAY + 1, 0)
        assert committed(tmp_path) == ["d=2024-01-01"]
        (folder / "_SUCCESS").unlink()


def test_the_clock_commits_after_a_delay_from_the_first_rows(tmp_path: Path) -> None:
    commits = Commits(tmp_path, ["d"], checked(delay="10 s"), "t")
    made = folders(tmp_path, ["d=a"])
    commits.written(made, 1000)
    commits.written(made, 9000)
    commits.time_passes(DAY, 11_000)
    assert committed(tmp_path) == []
    commits.time_passes(None, 11_001)
    assert committed(tmp_path) == ["d=a"]


def test_a_partition_that_was_removed_needs_no_commit(tmp_path: Path) -> None:
    commits = Commits(tmp_path, ["d"], checked(trigger="partition-time"), "t")
    made = folders(tmp_path, ["d=2024-01-01", "d=2024-01-02"])
    commits.written(made, 0)
    shutil.rmtree(made[0])
    commits.time_passes(None, 0, ended=True)
    assert committed(tmp_path) == ["d=2024-01-02"]


@pytest.mark.parametrize("options", [{"trigger": "partition-time"}, {"delay": "1 h"}])
def test_at_the_end_all_are_committed_also_those_of_a_run_before(options: dict[str, str], tmp_path: Path) -> None:
    folders(tmp_path, ["d=2024-01-01", "d=2024-01-02"])
    (tmp_path / "d=2024-01-02" / "_SUCCESS").touch()
    (tmp_path / "d=2023-01-01").mkdir()
    (tmp_path / "d=2023-01-01" / "part-other-1-0").touch()
    commits = Commits(tmp_path, ["d"], checked(**options), "t")
    commits.find("part-job-")
    assert committed(tmp_path) == ["d=2024-01-02"]
    commits.time_passes(None, 0, ended=True)
    assert committed(tmp_path) == ["d=2024-01-01", "d=2024-01-02"]


def test_what_is_being_written_is_no_partition(tmp_path: Path) -> None:
    """Hidden folders are the writers'; a column's name may begin as theirs do."""
    for each in ("_rekindle/1.tmp/_d=2024-01-01", "_d=2024-01-02"):
        (tmp_path / each).mkdir(parents=True)
        (tmp_path / each / "part-job-1-0").touch()
    commits = Commits(tmp_path, ["_d"], checked(delay="1 h"), "t")
    commits.find("part-job-")
    commits.time_passes(None, 0, ended=True)
    assert committed(tmp_path) == ["_d=2024-01-02"]


TABLES = (
    "CREATE TABLE bids (price INT, at TIMESTAMP(3), WATERMARK FOR at AS at - INTERVAL '1' MINUTE) WITH ("
    "'connector' = 'filesystem', 'path' = '{folder}/in', 'format' = 'json', 'source.monitor-interval' = '50 ms')",
    "CREATE TABLE files (price INT, dt STRING, hm STRING) PARTITIONED BY (dt, hm) WITH ("
    f"'connector' = 'filesystem', 'path' = '{{folder}}/out', 'format' = 'csv', '{COMMIT}trigger' = 'partition-time', "
    f"'{COMMIT}delay' = '1 min', '{COMMIT}policy.kind' = 'success-file', "
    f"'{EXTRACTOR}timestamp-pattern' = '$dt $hm:00')",
)
INSERT = "INSERT INTO files SELECT price, DATE_FORMAT(at, 'yyyy-MM-dd'), DATE_FORMAT(at, 'HH:mm') FROM bids"


@pytest.mark.spark
def test_a_job_commits_partitions_as_its_watermark_goes_on(spark: SparkSession, tmp_path: Path) -> None:
    environment = TableEnvironment.create({"execution.job-dir": str(tmp_path / "job")}, spark=spark)
    for each in TABLES:
        environment.execute_sql(each.format(folder=tmp_path))

    def give(name: str, minutes: Sequence[int]) -> None:
        lines = (f'{{"price": 1, "at": "2024-01-01 10:{each:02}:30"}}\n' for each in minutes)
        (tmp_path / "in").mkdir(exist_ok=True)
        (tmp_path / name).write_text("".join(lines))
        (tmp_path / name).rename(tmp_path / "in" / name)

    def wait_for(expected: Sequence[str]) -> None:
        for _ in range(600):
            if committed(tmp_path / "out") == [f"dt=2024-01-01/hm=10%3A{each}" for each in expected]:
                return
            result.await_(0.1)
        raise AssertionError(committed(tmp_path / "out"))

    give("1.json", [0, 1])
    result = environment.execute_sql(INSERT)
    give("2.json", [2])
    wait_for(["00"])
    give("3.json", [3])
    wait_for(["00", "01"])
    assert result.job is not None
    result.job.stop()
    assert committed(tmp_path / "out") == ["dt=2024-01-01/hm=10%3A00", "dt=2024-01-01/hm=10%3A01"]
    again = environment.execute_sql(INSERT)
    assert again.job is not None
    again.job.stop(drain=True)
    assert len(committed(tmp_path / "out")) == 4


@pytest.mark.spark
@pytest.mark.parametrize("mode", ["streaming", "batch"])
def test_bounded_input_commits_all(spark: SparkSession, tmp_path: Path, mode: str) -> None:
    environment = TableEnvironment.create({"execution.runtime-mode": mode}, spark=spark)
    bounded = TABLES[0].replace(", 'source.monitor-interval' = '50 ms'", "")
    for each in (bounded, TABLES[1]):
        environment.execute_sql(each.format(folder=tmp_path))
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a").write_text('{"price": 1, "at": "2024-01-01 10:00:30"}')
    environment.execute_sql(INSERT).wait()
    assert committed(tmp_path / "out") == ["dt=2024-01-01/hm=10%3A00"]
