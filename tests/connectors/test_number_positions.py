"""Positions of row numbers: pace, bounds, and rows that are the same however they are read."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import pytest

from execnodes.core.errors import JobError
from rekindle.connectors import collect
from rekindle.connectors.generated import NumberPositions
from rekindle.connectors.positions import News

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCRIPT = """
CREATE TABLE made (k INT, s STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen',
  'number-of-rows' = '3000', 'rows-per-second' = '0', 'fields.k.min' = '0', 'fields.k.max' = '4',
  'fields.s.length' = '2');
CREATE TABLE bids (kind INT, bid ROW<auction BIGINT, price BIGINT>)
  WITH ('connector' = 'nexmark', 'events.num' = '2000', 'rows-per-second' = '0');
CREATE TABLE one (k INT, n BIGINT, s STRING, PRIMARY KEY (k) NOT ENFORCED)
  WITH ('connector' = 'collect', 'name' = '{name}-one');
CREATE TABLE two (auction BIGINT, price BIGINT) WITH ('connector' = 'collect', 'name' = '{name}-two');
EXECUTE STATEMENT SET BEGIN
INSERT INTO one SELECT k, COUNT(*), MAX(s) FROM made GROUP BY k;
INSERT INTO two SELECT bid.auction, bid.price FROM bids WHERE kind = 2;
END;
"""
FOUND = [1840, "afe4c4563dd7"]
"""Rows of `two`, and a digest of both; those of the releases up to 1.5."""


def test_as_far_as_pace_and_bounds_allow() -> None:
    now = 100.0
    numbers = NumberPositions("t", 25, 10, 0, clock=lambda: now)
    assert numbers.plan(None) == News({"n": 10})
    assert numbers.plan({"n": 10}) is None
    now += 0.5
    assert numbers.plan({"n": 10}) == News({"n": 15})
    now += 60
    assert numbers.plan({"n": 15}) == News({"n": 25}, ended=True)
    assert numbers.plan({"n": 25}) == News({"n": 25}, ended=True)
    # A job that goes on keeps the pace, and does not catch up.
    later = NumberPositions("t", -1, 10, 4, clock=lambda: now)
    assert later.plan({"n": 1000}) == News({"n": 1004})
    assert not later.bounded


@pytest.mark.parametrize(("rows", "first"), [(0, 0), (7, 7), (-1, 500_000)])
def test_without_pace(rows: int, first: int) -> None:
    numbers = NumberPositions("t", rows, 0, 0)
    assert numbers.plan(None) == News({"n": first}, ended=rows >= 0)
    assert numbers.size(None, {"n": first}) == 100 * first


@pytest.mark.parametrize(("rows", "pace", "known"), [(25, 0, [20, 25]), (-1, 0, [20, 30]), (25, 10, []), (-1, 10, [])])
def test_what_comes_next_is_known_without_a_pace(rows: int, pace: int, known: list[int]) -> None:
    numbers = NumberPositions("t", rows, pace, 10)
    position: Any = None
    for each in known:
        news = numbers.plan(position)
        assert news is not None
        assert news.then is not None
        position = news.position
        assert news.then() == {"n": each}
        following = numbers.plan(position)
        assert following is not None
        assert following.position == {"n": each}
    last = numbers.plan({"n": known[-1]} if known else None)
    assert last is not None
    assert (last.then is None) == (bool(pace) or last.ended)


@pytest.mark.parametrize("position", [{"n": -1}, {"n": "1"}, {"m": 1}, [], "done"])
def test_what_is_no_position_is_refused(position: Any) -> None:
    with pytest.raises(JobError, match="the position is none of row numbers"):
        NumberPositions("t", 1, 0, 0).plan(position)


@pytest.mark.spark
@pytest.mark.parametrize("max_rows", ["0", "1500"])
def test_rows_do_not_depend_on_micro_batches(spark: SparkSession, max_rows: str) -> None:
    """The default, and more than one: the figures are those of both."""
    from rekindle.api.table_environment import TableEnvironment

    name = f"numbers-{max_rows}"
    options = {"parallelism.default": "2", "execution.micro-batch.max-rows": max_rows}
    environment = TableEnvironment.create(options, spark=spark)
    environment.execute_script(SCRIPT.format(name=name))
    one, two = (collect.results(f"{name}-{sink}") for sink in ("one", "two"))
    found = sorted({row[0]: row for _, row in one}.values()), sorted(row for _, row in two)
    assert len(found[0]) == 5
    assert [len(found[1]), hashlib.sha256(repr(found).encode()).hexdigest()[:12]] == FOUND


def test_what_a_savepoint_had_read_is_read_again_without_pace() -> None:
    again = NumberPositions("t", -1, 5, 0).until('{"n": 70}')
    assert again.bounded
    assert again.plan(None) == News({"n": 70}, ended=True)
