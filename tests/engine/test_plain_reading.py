"""Plain JSON is read by Arrow, in calls or frames, by one task or several; what is not is read by all rules."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from execnodes.core.errors import ConnectorError, JobError
from rekindle.api.table_environment import TableEnvironment
from rekindle.connectors.collect import results
from rekindle.connectors.few_files import Lines
from rekindle.connectors.plain_json import PlainJson
from rekindle.engine import program
from rekindle.engine.inputs import FEW_BYTES
from rekindle.engine.intake import Intake
from rekindle.engine.micro_batch import MicroBatch
from rekindle.runtime.stream_job import StreamJob
from tests.engine.test_reading import Ways, left

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
LARGE = 1 << 26
WAYS = ((True, 0), (False, 0), (True, FEW_BYTES + 1), (True, LARGE), (False, LARGE))


@pytest.fixture
def ways(monkeypatch: pytest.MonkeyPatch) -> Ways:
    found = Ways(monkeypatch)
    found.ways = WAYS
    return found


def write(folder: Path, files: list[list[dict[str, Any] | str]]) -> None:
    """Files of lines; a text is a line as it is."""
    (folder / "in").mkdir()
    for number, lines in enumerate(files):
        texts = (each if isinstance(each, str) else json.dumps(each, ensure_ascii=number % 2 == 0) for each in lines)
        (folder / "in" / f"{number}.json").write_text("".join(f"{each}\n" for each in texts), encoding="utf-8")


def run(spark: SparkSession, folder: Path, script: str, sinks: list[str]) -> dict[str, list[Any]]:
    """What is left in each sink; `{in}` and `{collect}` are filled in. A file is a micro-batch."""
    settings = {"execution.job-dir": str(folder / "job"), "parallelism.default": "3"}
    settings |= {"execution.micro-batch.max-files": "1"}
    environment = TableEnvironment.create(settings, spark=spark)
    text = script.replace("{in}", f"'connector' = 'filesystem', 'format' = 'json', 'path' = '{folder}/in'")
    plan = environment.compile_script(text.replace("{collect}", f"'connector' = 'collect', 'name' = '{folder}/"))
    StreamJob(plan.graph, plan.as_json_string(), environment.configuration, spark=spark).start().wait()
    return {sink: left(results(f"{folder}/{sink}")) for sink in sinks}


ALL = """
    CREATE TABLE t (k STRING, n BIGINT, m DECIMAL(10, 2), d DOUBLE, ts TIMESTAMP(3), `file.name` STRING METADATA,
      WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) WITH ({in});
    CREATE TABLE folded (k STRING, n BIGINT, m DECIMAL(38, 2), c BIGINT) WITH ({collect}folded');
    CREATE TABLE windows (e TIMESTAMP(3), n BIGINT) WITH ({collect}windows');
    CREATE TABLE rows_ (k STRING, d DOUBLE, f STRING) WITH ({collect}rows_');
    CREATE TABLE top (k STRING, n BIGINT) WITH ({collect}top');
    EXECUTE STATEMENT SET BEGIN
      INSERT INTO folded SELECT k, SUM(n), SUM(m), COUNT(*) FROM t GROUP BY k;
      INSERT INTO windows SELECT window_end, SUM(n) FROM
        TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end;
      INSERT INTO rows_ SELECT UPPER(k), d * 2, `file.name` FROM t WHERE n > 2;
      INSERT INTO top SELECT k, n FROM
        (SELECT k, n, ROW_NUMBER() OVER (PARTITION BY k ORDER BY n DESC) AS place FROM t) WHERE place = 1;
    END;
"""
SINKS = ["folded", "windows", "rows_", "top"]


def rows_of(files: int, each: int) -> list[list[dict[str, Any] | str]]:
    """Whose times go forward."""
    random = Random(7)
    made = list[list[dict[str, Any] | str]]()
    for file in range(files):
        rows = list[dict[str, Any] | str]()
        for at in range(each):
            second = (file * each + at) % 60
            row = {"k": random.choice(("a", "é", "😀", None)), "n": random.randrange(9), "m": random.randrange(999) / 4}
            row |= {"d": random.random(), "ts": f"2024-02-29 00:{file:02d}:{second:02d}.5"}
            rows.append({name: value for name, value in row.items() if value is not None})
        made.append(rows)
    return made


def test_rows_are_the_same_however_they_are_read(spark: SparkSession, tmp_path: Path, ways: Ways) -> None:
    """All ways in turns, against all by Spark's reader; some sources are read in calls."""
    write(tmp_path, rows_of(10, 40))
    found = run(spark, tmp_path, ALL, SINKS)
    other = tmp_path / "other"
    other.mkdir()
    (other / "in").symlink_to(tmp_path / "in")
    ways.ways = ((False, 0),)
    assert run(spark, other, ALL, SINKS) == found
    assert len(found["rows_"]) > 100


FOLD = """
    CREATE TABLE t (k BIGINT, n BIGINT) WITH ({in});
    CREATE TABLE o (k BIGINT, n BIGINT, c BIGINT) WITH ({collect}o');
    INSERT INTO o SELECT k, SUM(n), COUNT(*) FROM t GROUP BY k;
"""


@pytest.mark.parametrize("size", [0, FEW_BYTES + 1, LARGE], ids=("few", "small", "large"))
def test_calls_read_what_is_folded(spark: SparkSession, tmp_path: Path, ways: Ways, size: int) -> None:
    ways.ways = ((True, size),)
    write(tmp_path, [[{"k": at % 3, "n": at} for at in range(50)]] * 3)
    assert run(spark, tmp_path, FOLD, ["o"])["o"] == ["(0, 1224, 51)", "(1, 1275, 51)", "(2, 1176, 48)"]
    assert ways.read
    assert all(ways.read)


@pytest.mark.parametrize("size", [0, FEW_BYTES + 1, LARGE], ids=("few", "small", "large"))
def test_what_is_not_plain_is_read_by_all_rules(
    spark: SparkSession, tmp_path: Path, ways: Ways, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No row is lost or doubled, and after some micro-batches it is tried again."""
    monkeypatch.setattr(program, "_WAIT", 2)
    tried = list[bool]()
    frames = Intake.frames

    def frames_of(intake: Intake, batch: MicroBatch, *given: Any) -> Any:
        tried.append(intake.reads_plainly(batch.positions))
        return frames(intake, batch, *given)

    monkeypatch.setattr(Intake, "frames", frames_of)
    ways.ways = ((True, size),)
    lines: list[list[dict[str, Any] | str]] = [[{"k": 1, "n": 1}, {"k": 2, "n": 2}] for _ in range(6)]
    lines[1][1] = '{"k": "2", "n": 2.0}'
    write(tmp_path, lines)
    files = f"CREATE TABLE f (k BIGINT, n BIGINT) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/out', "
    script = FOLD.replace("INSERT", f"{files} 'format' = 'json'); EXECUTE STATEMENT SET BEGIN INSERT")
    found = run(spark, tmp_path, f"{script} INSERT INTO f SELECT k, n + 1 FROM t WHERE n > 0; END;", ["o"])
    assert found["o"] == ["(1, 6, 6)", "(2, 12, 6)"]
    written = sorted(line for file in (tmp_path / "out").glob("part-*") for line in file.read_text().splitlines())
    assert written == ['{"k":1,"n":2}'] * 6 + ['{"k":2,"n":3}'] * 6
    # By turns: not plain, read again and waited for, tried anew.
    assert tried.index(False) > 0
    assert tried[-1]


def test_a_row_that_fails_is_named_by_its_line(spark: SparkSession, tmp_path: Path, ways: Ways) -> None:
    ways.ways = ((True, 0),)
    write(tmp_path, [[{"k": "1"}], [{"k": "2"}, {"k": "x"}]])
    script = "CREATE TABLE t (k STRING) WITH ({in}); CREATE TABLE o (k INT) WITH ({collect}o');"
    with pytest.raises(JobError) as caught:
        run(spark, tmp_path, f"{script} INSERT INTO o SELECT CAST(k AS INT) FROM t;", ["o"])
    assert "1.json, line 2" in str(caught.value)
    assert left(results(f"{tmp_path}/o")) == ["(1,)"]


def test_a_line_that_is_no_json_is_named(spark: SparkSession, tmp_path: Path, ways: Ways) -> None:
    ways.ways = ((True, LARGE),)
    write(tmp_path, [[{"k": 1, "n": 1}, '{"k": }']])
    with pytest.raises(ConnectorError, match=r"0\.json, line 2"):
        run(spark, tmp_path, FOLD, ["o"])


def test_large_micro_batches_without_plain_lines_are_read_by_spark(
    spark: SparkSession, tmp_path: Path, ways: Ways, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A FLOAT is not plain, so that nothing is tried."""

    def fails(*given: Any) -> Any:
        raise AssertionError(given)

    monkeypatch.setattr(PlainJson, "parse", fails)
    monkeypatch.setattr(Lines, "__call__", fails)
    ways.ways = ((True, LARGE),)
    write(tmp_path, [[{"k": 1, "n": 1}]])
    script = FOLD.replace("n BIGINT) WITH ({in}", "n BIGINT, f FLOAT) WITH ({in}").replace(
        "SUM(n)", "SUM(CAST(f AS INT))"
    )
    assert run(spark, tmp_path, script, ["o"])["o"] == ["(1, None, 1)"]


def test_what_is_not_plain_is_logged(
    spark: SparkSession, tmp_path: Path, ways: Ways, caplog: pytest.LogCaptureFixture
) -> None:
    ways.ways = ((True, 0),)
    write(tmp_path, [[{"k": 1, "n": 1}], [{"k": "2", "n": 1}]])
    with caplog.at_level("INFO", "rekindle.jobs"):
        run(spark, tmp_path, FOLD, ["o"])
    (said,) = (each.message for each in caplog.records if "by all rules" in each.message)
    assert said.startswith(f"micro-batch 1 is read again by all rules: {tmp_path}/in/1.json: ")
