"""Plain Spark refuses changed queries on an old checkpoint that go on here, whole or but for what is new.

Each query runs over a file into a checkpoint; the changed one is started from a copy of it. The rows after the upgrade
are compared in tests/evolution: `FULL` and random changes.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.check.test_spark_answers import SCHEMAS, Query, put, totals
from tests.evolution.compiling import compiled
from tests.evolution.test_upgrades import FULL

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

VALUE, KEY = "STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE", "STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE"
OPERATORS = "STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA"
NAMING = "STREAMING_QUERY_EVOLUTION_ERROR.CANNOT_ENABLE_ON_EXISTING_CHECKPOINT"


@dataclass(frozen=True)
class Refused:
    """A change of a query."""

    name: str
    spark: tuple[str, str]
    """Names of `QUERIES`."""
    error: str
    """Condition of the error that Spark gives, or part of its message where it has none."""
    ours: tuple[str, str]
    """The same change in our SQL."""
    verdict: str
    kept: tuple[str, ...] = ()
    """States that go on though the verdict is partial, by what follows the number in their uid."""


def joined(*columns: str) -> Query:
    return lambda t, r: t.select("k", "v").alias("t").join(r.select("k", *columns).alias("r"), "k")


def united(t: DataFrame, r: DataFrame) -> DataFrame:
    return totals(["sum(v) AS s"], "k")(t.select("k", "v").unionAll(r.select("k", "v")), r)


QUERIES: Mapping[str, Query] = {
    "sum": totals(["sum(v) AS s"], "k"),
    "sum and max": totals(["sum(v) AS s", "max(v) AS m"], "k"),
    "sum of doubles": totals(["sum(CAST(v AS DOUBLE)) AS s"], "k"),
    "sum by two": totals(["sum(v) AS s"], "k", "k2"),
    "sum of first rows": lambda t, r: totals(["sum(v) AS s"], "k")(t.dropDuplicates(["k", "v"]), r),
    "sum of a union": united,
    "a column joined": joined("v"),
    "two columns joined": joined("v", "w"),
    "first rows": lambda t, r: t.dropDuplicates(["k"]).select("k"),
    "first rows by two": lambda t, r: t.dropDuplicates(["k", "k2"]).select("k"),
}
SUM = "SELECT k, SUM(v) AS s FROM t GROUP BY k"
MORE = "SELECT k, SUM(v) AS s, MAX(v) AS m FROM t GROUP BY k"
JOIN = "SELECT t.k, t.v, r.v AS rv{} FROM t JOIN r ON t.k = r.k"
FIRST = "SELECT k FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY {} ORDER BY ts) AS n FROM t) WHERE n = 1"
CHANGES = (
    Refused("an aggregate removed", ("sum and max", "sum"), VALUE, (MORE, SUM), "full"),
    Refused("a column of a join removed", ("two columns joined", "a column joined"), VALUE, FULL["joined"], "full"),
    Refused("an input of a union added", ("sum", "sum of a union"), "checkpoint offsets", FULL["united"], "full"),
    Refused("an aggregate added", ("sum", "sum and max"), VALUE, (SUM, MORE), "partial", ("global-group-aggregate",)),
    Refused(
        "a column of a join added", ("a column joined", "two columns joined"), VALUE,
        (JOIN.format(""), JOIN.format(", r.w")), "partial",
    ),
    Refused(
        "another type", ("sum", "sum of doubles"), VALUE,
        (SUM, SUM.replace("SUM(v)", "SUM(CAST(v AS DOUBLE))")), "partial",
    ),
    Refused("a key added", ("sum", "sum by two"), KEY, (SUM, SUM.replace("BY k", "BY k, k2")), "partial"),
    Refused(
        "a key of first rows added", ("first rows", "first rows by two"), KEY,
        (FIRST.format("k"), FIRST.format("k, k2")), "partial",
    ),
    Refused(
        "first rows below", ("sum", "sum of first rows"), OPERATORS,
        (SUM, SUM.replace("FROM t", f"FROM ({FIRST.format('k, v').replace('SELECT k ', 'SELECT k, v ')})")), "partial",
    ),
)  # fmt: skip


@pytest.mark.parametrize("change", CHANGES, ids=lambda each: each.name)
def test_our_verdict(change: Refused) -> None:
    old, new = change.ours
    found = compiled(new, compiled(old)).comparison
    assert found is not None
    assert found.verdict == change.verdict, found.judgements
    states = [each for each in found.judgements if each.state != "position"]
    if change.verdict == "full":
        assert all(each.goes_on for each in states)
        return
    assert all(each.reason for each in found.losses)
    kept = {each.uid.partition("_")[2] for each in states if each.goes_on}
    assert kept == set(change.kept)


@pytest.mark.spark
@pytest.mark.long
def test_spark_refuses(spark: SparkSession, tmp_path: Path) -> None:
    """All of them, and to begin naming sources, which Rekindle does from the first run."""
    plain = spark.newSession()
    plain.conf.set("spark.sql.streaming.queryEvolution.enableSourceEvolution", "false")
    plain.conf.set("spark.sql.streaming.offsetLog.formatVersion", "1")
    plain.conf.set("spark.sql.shuffle.partitions", "1")
    plain.conf.set("spark.sql.streaming.noDataMicroBatches.enabled", "false")
    put(tmp_path, 0)
    for name in sorted({change.spark[0] for change in CHANGES}):
        assert refusal(plain, tmp_path, name, tmp_path / name) == ""
    put(tmp_path, 1)
    wrong = []
    for at, change in enumerate(CHANGES):
        checkpoint = shutil.copytree(tmp_path / change.spark[0], tmp_path / f"checkpoint-{at}")
        said = refusal(plain, tmp_path, change.spark[1], checkpoint)
        wrong += [] if change.error in said else [f"{change.name}: {said or 'accepted'}"]
    assert not wrong, "\n".join(wrong)
    assert refusal(plain, tmp_path, "sum", tmp_path / "sum") == ""
    plain.conf.set("spark.sql.streaming.queryEvolution.enableSourceEvolution", "true")
    assert NAMING in refusal(plain, tmp_path, "sum", tmp_path / "sum", named=True)


def refusal(spark: SparkSession, folder: Path, query: str, checkpoint: Path, *, named: bool = False) -> str:
    """What Spark says when a query goes on from a checkpoint; nothing, if it does."""
    from pyspark.errors import StreamingQueryException

    readers = {name: spark.readStream.name(name) if named else spark.readStream for name in SCHEMAS}
    t, r = (readers[name].schema(schema).json(str(folder / name)) for name, schema in SCHEMAS.items())
    mode = "append" if "joined" in query else "update"
    writer = QUERIES[query](t, r).writeStream.format("noop").outputMode(mode).trigger(availableNow=True)
    running = writer.option("checkpointLocation", str(checkpoint)).start()
    try:
        if not running.awaitTermination(120):
            return "it does not end"
    except StreamingQueryException as error:
        return str(error)
    finally:
        running.stop()
    return ""
