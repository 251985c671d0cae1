"""Sources that calls read: rows, keys, order and time are those that Spark gives of them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from execnodes.core.errors import ConnectorError
from rekindle.api.table_environment import TableEnvironment
from rekindle.connectors import file_positions
from rekindle.connectors.collect import results
from rekindle.connectors.file_positions import FilePositions
from rekindle.engine.frames import Frames
from rekindle.engine.inputs import FEW_BYTES
from rekindle.runtime.stream_job import StreamJob

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
WAYS = ((True, 0), (False, FEW_BYTES + 1), (True, FEW_BYTES + 1), (False, 0), (True, 2**26))
"""Whether tasks may read, and the size that a micro-batch says it has."""
TYPES: dict[str, tuple[str, pa.Array]] = {
    "t": ("TINYINT", pa.array([-1, 7, None], pa.int8())),
    "h": ("SMALLINT", pa.array([-1, 7, None], pa.int16())),
    "i": ("INT", pa.array([-1, 7, None], pa.int32())),
    "l": ("BIGINT", pa.array([-(2**63), 7, None], pa.int64())),
    "b": ("BOOLEAN", pa.array([True, False, None])),
    "f": ("FLOAT", pa.array([1.5, float("nan"), None], pa.float32())),
    "d": ("DOUBLE", pa.array([1e300, float("nan"), None])),
    "m": ("DECIMAL(10, 2)", pa.array([Decimal("0.05"), Decimal("-7.10"), None], pa.decimal128(10, 2))),
    "w": ("DECIMAL(38, 2)", pa.array([Decimal("0.05"), Decimal("-0.10"), None], pa.decimal128(38, 2))),
    "day": ("DATE", pa.array([dt.date(1066, 10, 14), dt.date(2024, 2, 29), None])),
    "clock": ("TIME(3)", pa.array([1, 86_399_999, None], pa.int32())),
    "ts": ("TIMESTAMP(6)", pa.array([-1, 1_700_000_000_000_001, None], pa.timestamp("us"))),
    "ms": ("TIMESTAMP(3)", pa.array([-1, 1_700_000_000_001, None], pa.timestamp("ms"))),
    "z": ("TIMESTAMP_LTZ(6)", pa.array([-1, 1_700_000_000_000_001, None], pa.timestamp("us", "UTC"))),
    "s": ("STRING", pa.array(["", "ä" * 40, None])),
    "c": ("CHAR(3)", pa.array(["a", "a  ", None])),
    "y": ("VARBINARY(9)", pa.array([b"", b"\xff\x00", None])),
}
"""Keys of each type, and what they stand as in files."""


class Ways:
    """Runs each micro-batch in another way."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.ways: Sequence[tuple[bool, int]] = WAYS
        self.read = list[frozenset[int]]()
        """Sources that calls read, of each program that was built for rows."""
        tell, build = FilePositions.told, Frames.__init__

        def told(positions: FilePositions, start: Any, end: Any) -> Any:
            return tell(positions, start, end) if self._way(end)[0] else None

        def size(positions: FilePositions, start: Any, end: Any) -> int:
            return self._way(end)[1]

        def init(frames: Frames, *given: Any) -> None:
            build(frames, *given)
            if frames.positions:
                self.read.append(frames.hosts.reading)

        monkeypatch.setattr(FilePositions, "told", told)
        monkeypatch.setattr(FilePositions, "size", size)
        monkeypatch.setattr(Frames, "__init__", init)

    def _way(self, end: Any) -> tuple[bool, int]:
        return self.ways[(len(end["read"]) - 1) % len(self.ways)]


@pytest.fixture
def ways(monkeypatch: pytest.MonkeyPatch) -> Ways:
    return Ways(monkeypatch)


def run(spark: SparkSession, folder: Path, script: str, sinks: Sequence[str]) -> dict[str, list[Any]]:
    """What is left in each sink; `{in}` and `{collect}` are filled in. A file is a micro-batch."""
    settings = {"execution.job-dir": str(folder / "job"), "parallelism.default": "2"}
    settings |= {"execution.micro-batch.max-files": "1"}
    environment = TableEnvironment.create(settings, spark=spark)
    name = f"{folder}/"
    text = script.replace("{in}", f"'connector' = 'filesystem', 'format' = 'parquet', 'path' = '{folder}/in")
    plan = environment.compile_script(text.replace("{collect}", f"'connector' = 'collect', 'name' = '{name}"))
    StreamJob(plan.graph, plan.as_json_string(), environment.configuration, spark=spark).start().wait()
    return {sink: left(results(f"{name}{sink}")) for sink in sinks}


def left(changes: list[tuple[int, tuple[Any, ...]]]) -> list[Any]:
    """Rows that are not taken back, as texts."""
    rows = list[Any]()
    for kind, row in changes:
        if kind in (0, 2):
            rows.append(repr(row))
        else:
            rows.remove(repr(row))
    return sorted(rows)


def write(folder: Path, tables: Sequence[pa.Table]) -> None:
    (folder / "in").mkdir()
    for number, table in enumerate(tables):
        pq.write_table(table, folder / "in" / f"{number}.parquet")


def test_keys_of_each_type_are_the_same_however_they_are_read(spark: SparkSession, tmp_path: Path, ways: Ways) -> None:
    write(tmp_path, [pa.table({name: values for name, (_, values) in TYPES.items()})] * len(WAYS))
    columns = ", ".join(f"{name} {told}" for name, (told, _) in TYPES.items())
    tables = "".join(
        f"CREATE TABLE o_{name} ({name} {told}, n BIGINT) WITH ({{collect}}o_{name}');"
        for name, (told, _) in TYPES.items()
    )
    queries = "".join(f"INSERT INTO o_{name} SELECT {name}, COUNT(*) FROM t GROUP BY {name};" for name in TYPES)
    script = f"CREATE TABLE t ({columns}) WITH ({{in}}'); {tables} EXECUTE STATEMENT SET BEGIN {queries} END;"
    found = run(spark, tmp_path, script, [f"o_{name}" for name in TYPES])
    for name in TYPES:
        assert len(found[f"o_{name}"]) == 3, name
        assert all(each.endswith(f", {len(WAYS)})") for each in found[f"o_{name}"]), (name, found[f"o_{name}"])
    assert frozenset() in ways.read
    assert any(ways.read)


def test_wide_keys_of_operators_are_the_same_however_they_are_read(
    spark: SparkSession, tmp_path: Path, ways: Ways
) -> None:
    """Rows of one operator go to the next one in its call, or by an exchange of Spark's."""
    keys = pa.array([Decimal("0.05"), Decimal("-0.10")], pa.decimal128(38, 2))
    write(tmp_path, [pa.table({"w": keys, "n": [number] * 2}) for number in range(len(WAYS))])
    script = """
    SET 'table.optimizer.agg-phase-strategy' = 'ONE_PHASE';
    CREATE TABLE t (w DECIMAL(38, 2), n BIGINT) WITH ({in}');
    CREATE TABLE o (w DECIMAL(38, 2), c BIGINT) WITH ({collect}o');
    INSERT INTO o SELECT w, COUNT(*) FROM (SELECT w, n FROM t GROUP BY w, n) GROUP BY w;
    """
    assert run(spark, tmp_path, script, ["o"])["o"] == ["(Decimal('-0.10'), 5)", "(Decimal('0.05'), 5)"]


TOP = """
    CREATE TABLE t (k INT, n INT) WITH ({in}');
    CREATE TABLE o (k INT, n INT, place BIGINT) WITH ({collect}o');
    INSERT INTO o SELECT k, n, place FROM
      (SELECT k, n, ROW_NUMBER() OVER (PARTITION BY k ORDER BY n) AS place FROM t) WHERE place <= 2;
"""


def test_rows_keep_their_order(spark: SparkSession, tmp_path: Path, ways: Ways) -> None:
    """Of rows that are alike, the first ones stay."""
    write(
        tmp_path,
        [pa.table({"k": pa.array([1, 1, 2], pa.int32()), "n": pa.array([5, 5, n], pa.int32())}) for n in (3, 2, 1, 0)],
    )
    assert run(spark, tmp_path, TOP, ["o"])["o"] == ["(1, 5, 1)", "(1, 5, 2)", "(2, 0, 1)", "(2, 1, 2)"]
    assert any(ways.read)


WINDOWS = """
    CREATE TABLE t (ts TIMESTAMP(3), n BIGINT, WATERMARK FOR ts AS ts - INTERVAL '2' SECOND) WITH ({in}');
    CREATE TABLE o (started TIMESTAMP(3), s BIGINT) WITH ({collect}o');
    INSERT INTO o SELECT window_start, SUM(n) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND))
      GROUP BY window_start, window_end;
"""


@pytest.mark.parametrize("way", [(True, 0), (True, FEW_BYTES + 1), (False, 0)], ids=("few", "small", "by Spark"))
def test_rows_move_time(spark: SparkSession, tmp_path: Path, ways: Ways, way: tuple[bool, int]) -> None:
    """A row is late by what the files before it have moved the watermark to: 11.999 s are just enough."""
    ways.ways = (way,)
    times = ((1_000, 9_000), (11_998,), (9_500,), (11_999,), (9_500, 20_000))
    write(tmp_path, [pa.table({"ts": pa.array(each, pa.timestamp("ms")), "n": [1] * len(each)}) for each in times])
    found = run(spark, tmp_path, WINDOWS, ["o"])["o"]
    assert [each[-3:] for each in found] == [" 3)", " 2)", " 1)"]


def test_rows_of_no_columns_are_counted(spark: SparkSession, tmp_path: Path, ways: Ways) -> None:
    write(tmp_path, [pa.table({"n": [1, 2, 3]})] * 3)
    script = "CREATE TABLE t (n BIGINT) WITH ({in}'); CREATE TABLE o (c BIGINT) WITH ({collect}o');"
    assert run(spark, tmp_path, f"{script} INSERT INTO o SELECT COUNT(*) FROM t;", ["o"])["o"] == ["(9,)"]
    assert ways.read[0]


def test_a_file_that_cannot_be_read_is_named(
    spark: SparkSession, tmp_path: Path, ways: Ways, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its footer is whole, its pages are not."""
    ways.ways = ((True, 0),)
    (tmp_path / "in").mkdir()
    file = tmp_path / "in" / "broken.parquet"
    pq.write_table(pa.table({"n": list(range(10_000))}), file, compression="none", use_dictionary=False)
    content = bytearray(file.read_bytes())
    content[4:200] = b"\xff" * 196
    file.write_bytes(content)
    script = "CREATE TABLE t (n BIGINT) WITH ({in}'); CREATE TABLE o (n BIGINT, c BIGINT) WITH ({collect}o');"
    with pytest.raises(ConnectorError, match=r"broken\.parquet"):
        run(spark, tmp_path, f"{script} INSERT INTO o SELECT n, COUNT(*) FROM t GROUP BY n;", ["o"])


def test_files_of_many_rows_are_read_by_spark(
    spark: SparkSession, tmp_path: Path, ways: Ways, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A few bytes may be many rows; so they are counted, of all files of a micro-batch together."""
    monkeypatch.setattr(file_positions, "_MOST_ROWS", 3)
    ways.ways = ((True, 0),)
    write(tmp_path, [pa.table({"n": [7] * rows}) for rows in (3, 4)])
    script = "CREATE TABLE t (n BIGINT) WITH ({in}'); CREATE TABLE o (n BIGINT, c BIGINT) WITH ({collect}o');"
    assert run(spark, tmp_path, f"{script} INSERT INTO o SELECT n, COUNT(*) FROM t GROUP BY n;", ["o"])["o"] == [
        "(7, 7)"
    ]
    assert [bool(each) for each in ways.read] == [True, False]
