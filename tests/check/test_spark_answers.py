"""Plain Spark goes on with eight changed queries on an old checkpoint and answers wrongly; our check does not let them.

Each query runs over one file, then changed and from the same checkpoint over another one. Right is what the changed
query gives over both files less what it gives over the first.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.check.plans import ACCEPTED, Change, compared

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

Query = Callable[["DataFrame", "DataFrame"], "DataFrame"]
SCHEMAS = {"t": "k STRING, k2 STRING, v BIGINT, w BIGINT, ts TIMESTAMP", "r": "k STRING, v BIGINT, w BIGINT"}
T: tuple[list[dict[str, object]], ...] = (
    [
        {"k": "a", "k2": "b", "v": 10, "w": 2, "ts": "2024-01-01T00:01:00"},
        {"k": "b", "k2": "c", "v": 20, "w": 3, "ts": "2024-01-01T00:06:00"},
        {"k": "c", "k2": "x", "v": 40, "w": 4, "ts": "2024-01-01T00:03:00"},
    ],
    [
        {"k": "a", "k2": "b", "v": 5, "w": 7, "ts": "2024-01-01T00:02:00"},
        {"k": "d", "k2": "x", "v": 6, "w": 8, "ts": "2024-01-01T00:07:00"},
    ],
)
R: tuple[list[dict[str, object]], ...] = ([{"k": "a", "v": 100, "w": 200}], [{"k": "z", "v": 1, "w": 1}])


def totals(aggregates: Sequence[str], *keys: str) -> Query:
    def query(t: DataFrame, r: DataFrame) -> DataFrame:
        from pyspark.sql import functions as f

        return t.groupBy(*keys).agg(*(f.expr(each) for each in aggregates))

    return query


def windows(minutes: int) -> Query:
    def query(t: DataFrame, r: DataFrame) -> DataFrame:
        from pyspark.sql import functions as f

        window = f.window("ts", f"{minutes} minutes")
        return t.groupBy(window, "k").agg(f.expr("sum(v) AS s")).selectExpr("window.start", "k", "s")

    return query


def first_rows(key: str) -> Query:
    return lambda t, r: t.dropDuplicates([key]).select(key)


def joined(column: str) -> Query:
    return lambda t, r: t.select("k", "v").alias("t").join(r.select("k", column).alias("r"), "k")


SPARK: dict[str, tuple[Query, Query]] = {
    "sum to max": (totals(["sum(v) AS s"], "k"), totals(["max(v) AS s"], "k")),
    "another argument": (totals(["sum(v) AS s"], "k"), totals(["sum(w) AS s"], "k")),
    "swapped aggregates": (
        totals(["sum(v) AS a", "sum(w) AS b"], "k"), totals(["sum(w) AS a", "sum(v) AS b"], "k"),
    ),
    "another key": (totals(["sum(v) AS s"], "k"), totals(["sum(v) AS s"], "k2")),
    "keys in another order": (totals(["sum(v) AS s"], "k", "k2"), totals(["sum(v) AS s"], "k2", "k")),
    "another window": (windows(10), windows(5)),
    "another key of a deduplication": (first_rows("k"), first_rows("k2")),
    "another output of a join": (joined("v"), joined("w")),
}  # fmt: skip


@pytest.fixture
def plain(spark: SparkSession) -> SparkSession:
    """Spark as it comes."""
    session = spark.newSession()
    session.conf.set("spark.sql.streaming.queryEvolution.enableSourceEvolution", "false")
    session.conf.set("spark.sql.shuffle.partitions", "2")
    session.conf.set("spark.sql.streaming.noDataMicroBatches.enabled", "false")
    return session


@pytest.mark.parametrize("change", ACCEPTED, ids=lambda each: each.name)
def test_spark_accepts_it_and_is_wrong(plain: SparkSession, tmp_path: Path, change: Change) -> None:
    old, new = SPARK[change.name]
    put(tmp_path, 0)
    stream(plain, tmp_path, old)
    before = batch(plain, tmp_path, new)
    put(tmp_path, 1)
    answered = stream(plain, tmp_path, new)
    right = batch(plain, tmp_path, new) - before
    assert answered != right
    # What it would take to be right: the state is refused, or every column of it found by its meaning.
    found = compared(change.old, change.new)
    assert found.verdict == "incompatible" or any(each.columns for each in found.judgements)


def put(folder: Path, number: int) -> None:
    """Add a file to both tables."""
    for name, files in (("t", T), ("r", R)):
        (folder / name).mkdir(exist_ok=True)
        lines = "".join(json.dumps(row) + "\n" for row in files[number])
        (folder / name / f"{number}.json").write_text(lines)


def stream(spark: SparkSession, folder: Path, query: Query) -> Counter[Any]:
    """Rows that a streaming run gives for what is new."""
    t, r = (spark.readStream.schema(schema).json(str(folder / name)) for name, schema in SCHEMAS.items())
    result, found = query(t, r), Counter[Any]()
    mode = "append" if query in SPARK["another output of a join"] else "update"

    def collect(rows: DataFrame, number: int) -> None:
        found.update(tuple(row) for row in rows.collect())

    writer = result.writeStream.outputMode(mode).foreachBatch(collect).trigger(availableNow=True)
    running = writer.option("checkpointLocation", str(folder / "checkpoint")).start()
    try:
        running.awaitTermination(60)
    finally:
        running.stop()
    return found


def batch(spark: SparkSession, folder: Path, query: Query) -> Counter[Any]:
    """Rows over all files."""
    t, r = (spark.read.schema(schema).json(str(folder / name)) for name, schema in SCHEMAS.items())
    return Counter(tuple(row) for row in query(t, r).collect())
