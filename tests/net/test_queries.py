"""Plans that releases made of queries give the rows they gave; all released versions are recorded."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from execnodes.aggregates import BY_INTERNAL_NAME
from execnodes.batch.sort.v1 import BatchSort
from execnodes.common.batch import BatchLowering, BatchRows
from releases import releases
from releases.log import LOG, sections
from tests.net.compare_operators import executable, node
from tests.net.queries import environment, keys, queries, rows
from tests.net.records import OPERATORS, QUERIES, Record, read
from tests.net.work import names

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MODES = ("streaming", "batch")
RECORDS = read(QUERIES)
BY_OPERATORS = read(OPERATORS)
RELEASED = {key for each in releases() for key in each.nodes}


def given(record: Record) -> object:
    """What today's code makes of a record's plan."""
    return rows(environment(record["mode"]), executable(json.dumps(record["plan"])))


@pytest.mark.spark
@pytest.mark.parametrize("record", RECORDS, ids=lambda each: f"{each['release']} {each['query']}")
def test_plans_give_what_was_recorded(spark: SparkSession, record: Record) -> None:
    assert given(record) == record["rows"]


def test_every_released_node_version_is_recorded() -> None:
    recorded = {each["key"] for each in BY_OPERATORS} | {key for each in RECORDS for key in keys(each["plan"])}
    assert sorted(RELEASED - recorded) == []


def test_every_aggregate_is_recorded() -> None:
    """In streams by operators or queries, in batch mode by queries; $SUM0 is made for streams alone."""
    versions, log = {each.version for each in releases()}, sections(LOG.read_text(encoding="utf-8"))
    recorded = {mode: {key for each in RECORDS if each["mode"] == mode for key in keys(each["plan"])} for mode in MODES}
    operators = {name for each in BY_OPERATORS for name in names(node(each))}
    ahead = [line for release, lines in log.items() if release not in versions for line in lines]
    released = {name for name in BY_INTERNAL_NAME if not any(f"`{name}` new" in line for line in ahead)}
    assert sorted(released - recorded["batch"]) == ["$$SUM0$1"]
    assert sorted(released - recorded["streaming"] - operators) == []


def test_records_are_of_queries_and_of_their_releases() -> None:
    first = {key: each.version for each in reversed(releases()) for key in each.nodes}
    assert {each["query"] for each in RECORDS} <= set(queries())
    for each in RECORDS:
        assert all(first[key] <= each["release"] for key in keys(each["plan"]) if not key.startswith("$"))


@pytest.mark.spark
def test_a_changed_node_is_seen(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    def as_they_come(sort: BatchSort, batch: BatchLowering, inputs: tuple[BatchRows, ...]) -> BatchRows:
        return inputs[0]

    record = next(each for each in RECORDS if each["query"] == "batch sorted")
    monkeypatch.setattr(BatchSort, "lower_batch", as_they_come)
    assert given(record) != record["rows"]
