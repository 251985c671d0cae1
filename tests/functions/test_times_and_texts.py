"""Dates, times and timestamps compared with texts: Flink 2.3's values and refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from execnodes.core.errors import RekindleError, SqlError
from rekindle import TableEnvironment

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TIMES = {"d": "2020-01-01", "tm": "10:00:00", "ts": "2020-01-01 00:00:00", "l": "2020-01-01 00:00:00Z"}
DDL = """
CREATE TABLE t (s STRING, d DATE, tm TIME, ts TIMESTAMP(3), l TIMESTAMP_LTZ(3))
  WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'json')
"""
COLUMNS = (
    "s, {c} = s AND s = {c}, {c} <> s OR s <> {c}, "
    "CASE {c} WHEN s THEN 1 ELSE 0 END, {c} IS DISTINCT FROM s, s IN ({c})"
)
FLINK = """
d|2020-01-01|true|false|1|false|true
d|2020-1-1|true|false|1|false|false
d|2020|true|false|1|false|false
d|2020-01-01x|null|null|0|true|false
d|invalid|null|null|0|true|false
d|2020-01-01 00:00:00|true|false|1|false|false
d|2020-01-01 10:00:00.5|true|false|1|false|false
d|10:00:00|null|null|0|true|false
d|10:00|null|null|0|true|false
d|2020-13-01|null|null|0|true|false
d|2020-01-02|false|true|0|true|false
d|2020-01-01T00:00:00|null|null|0|true|false
d|2019-12-31 23:59|false|true|0|true|false
d|null|null|null|0|true|null
tm|2020-01-01|null|null|0|true|false
tm|2020-1-1|null|null|0|true|false
tm|2020-01-01x|null|null|0|true|false
tm|invalid|null|null|0|true|false
tm|2020-01-01 00:00:00|null|null|0|true|false
tm|2020-01-01 10:00:00.5|null|null|0|true|false
tm|10:00:00|true|false|1|false|true
tm|10:00|true|false|1|false|false
tm|2020-13-01|null|null|0|true|false
tm| 2020-01-01 |null|null|0|true|false
tm|2020-01-02|null|null|0|true|false
tm|2020-01-01T00:00:00|null|null|0|true|false
tm|2019-12-31 23:59|null|null|0|true|false
tm|null|null|null|0|true|null
ts|2020-01-01|true|false|1|false|false
ts|2020-1-1|true|false|1|false|false
ts|2020|null|null|0|true|false
ts|2020-01-01x|null|null|0|true|false
ts|invalid|null|null|0|true|false
ts|2020-01-01 00:00:00|true|false|1|false|false
ts|2020-01-01 10:00:00.5|false|true|0|true|false
ts|10:00:00|null|null|0|true|false
ts|10:00|null|null|0|true|false
ts|2020-13-01|null|null|0|true|false
ts| 2020-01-01 |null|null|0|true|false
ts|2020-01-02|false|true|0|true|false
ts|2020-01-01T00:00:00|null|null|0|true|false
ts|2019-12-31 23:59|null|null|0|true|false
ts|null|null|null|0|true|null
l|2020-01-01|true|false|1|false|false
l|2020-1-1|true|false|1|false|false
l|2020|null|null|0|true|false
l|2020-01-01x|null|null|0|true|false
l|invalid|null|null|0|true|false
l|2020-01-01 00:00:00|true|false|1|false|false
l|2020-01-01 10:00:00.5|false|true|0|true|false
l|10:00:00|null|null|0|true|false
l|10:00|null|null|0|true|false
l|2020-13-01|null|null|0|true|false
l| 2020-01-01 |null|null|0|true|false
l|2020-01-02|false|true|0|true|false
l|2020-01-01T00:00:00|null|null|0|true|false
l|2019-12-31 23:59|null|null|0|true|false
l|null|null|null|0|true|null
"""
"""Column, text, and what `COLUMNS` are of the text and `TIMES`, as Flink answered for columns of texts."""
BAD = {
    "d": ("invalid", "2020-13-01", "2020-02-30", "10:00:00", "2020-01-01x", "2020-01-01T00:00:00", ""),
    "tm": ("invalid", "24:00:00", "10:60", "2020-01-01", "10:00:00x", ""),
    "ts": ("invalid", "2020", "2020-13-01", "10:00:00", "2020-01-01 10:00", "2020-01-01T00:00:00", " 2020-01-01 "),
    "l": ("invalid", "2020", "2020-01-32", "10:00:00", "2020-01-01 25:00:00"),
}
GOOD = {
    "d": ("2020-01-01", "2020-1-1", "2020", "2020-01-01 10:00:00.5"),
    "tm": ("10:00:00", "10:00", "9:00", "10:00:00.5", "11"),
    "ts": ("2020-01-01", "2020-1-1", "2020-01-01 00:00:00", "2020-01-01 10:00:00.5"),
    "l": ("2020-01-01", "2020-01-01 10:00:00.5"),
}
CONDITIONS = (
    "{c} = '{s}'",
    "'{s}' = {c}",
    "{c} <> '{s}'",
    "{c} < '{s}'",
    "'{s}' >= {c}",
    "{c} BETWEEN '{s}' AND '{s}'",
    "{c} NOT BETWEEN '{s}' AND '{s}'",
    "{c} IN ('{s}')",
    "{c} NOT IN ('{s}')",
    "{c} IS DISTINCT FROM '{s}'",
    "{c} IS NOT DISTINCT FROM '{s}'",
    "CASE {c} WHEN '{s}' THEN TRUE END",
    "NULLIF({c}, '{s}') IS NULL",
    "CASE WHEN s = 'q' THEN {c} = '{s}' END",
)
FAILING = ("{c} < s", "s >= {c}", "{c} BETWEEN s AND s", "{c} IN (s)", "{c} NOT IN (s)")


def create_environment(
    folder: Path, texts: list[str | None], spark: SparkSession | None, mode: str
) -> TableEnvironment:
    rows = (json.dumps({"s": text, **TIMES}) for text in texts)
    (folder / "t.json").write_text("".join(f"{row}\n" for row in rows))
    made = TableEnvironment.create({"execution.runtime-mode": mode}, spark=spark)
    made.execute_sql(DDL.replace("{path}", str(folder / "t.json")))
    return made


@pytest.mark.spark
@pytest.mark.parametrize("mode", ["batch", "streaming"])
def test_texts_in_columns(mode: str, tmp_path: Path, spark: SparkSession) -> None:
    lines = [line.split("|") for line in FLINK.strip("\n").split("\n")]
    texts = list(dict.fromkeys(None if line[1] == "null" else line[1] for line in lines))
    made = create_environment(tmp_path, texts, spark, mode)
    query = " UNION ALL ".join(f"SELECT '{c}', {COLUMNS.format(c=c)} FROM t" for c in TIMES)
    found = {
        "|".join(json.dumps(cell).strip('"') for cell in row) for _, row in made.execute_sql(query).collect_changes()
    }
    assert {"|".join(line) for line in lines} - found == set()


@pytest.mark.parametrize("column", TIMES)
@pytest.mark.parametrize("condition", CONDITIONS)
def test_constants_are_checked(condition: str, column: str, tmp_path: Path) -> None:
    made = create_environment(tmp_path, [], None, "streaming")
    for text in BAD[column]:
        with pytest.raises(SqlError, match="which is not one") as caught:
            made.compile_plan_sql(f"SELECT 1 FROM t WHERE {condition.format(c=column, s=text)}")
        assert caught.value.position is not None
    for text in GOOD[column]:
        made.compile_plan_sql(f"SELECT 1 FROM t WHERE {condition.format(c=column, s=text)}")


@pytest.mark.spark
@pytest.mark.parametrize("condition", FAILING)
def test_an_order_of_what_is_no_time_fails(condition: str, tmp_path: Path, spark: SparkSession) -> None:
    made = create_environment(tmp_path, ["invalid"], spark, "batch")
    for column in TIMES:
        with pytest.raises(RekindleError):
            list(made.execute_sql(f"SELECT {condition.format(c=column)} FROM t").collect_changes())


def test_what_is_looked_for_decides_how_members_are_compared(tmp_path: Path) -> None:
    made = create_environment(tmp_path, [], None, "streaming")
    made.compile_plan_sql("SELECT s IN ('anything', d, ts) FROM t")
