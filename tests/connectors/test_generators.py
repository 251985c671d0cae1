"""Connectors nexmark and datagen: the same number gives the same row, from any position."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from execnodes.core.errors import ConnectorError, OptionError
from execnodes.core.options import Configuration
from rekindle.connectors.registry import find_source, validate
from tests.connectors.helpers import read, source_request, table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

EVENTS = {
    "kind": "INT",
    "person": "ROW<`id` BIGINT, `name` STRING, `email` STRING, `card` STRING, `city` STRING, `state` STRING, "
    "`ts` TIMESTAMP(3), `extra` STRING>",
    "auction": "ROW<`id` BIGINT, `item` STRING, `descr` STRING, `start_price` BIGINT, `reserve` BIGINT, "
    "`ts` TIMESTAMP(3), `expires` TIMESTAMP(3), `seller` BIGINT, `category` BIGINT, `extra` STRING>",
    "bid": "ROW<`auction` BIGINT, `bidder` BIGINT, `price` BIGINT, `channel` STRING, `url` STRING, `ts` TIMESTAMP(3), "
    "`extra` STRING>",
}


def _nexmark(columns: dict[str, str] = EVENTS, **options: str) -> Any:
    given = {"connector": "nexmark", **{key.replace("__", ".").replace("_", "-"): v for key, v in options.items()}}
    return table(columns, given)


def test_nexmark_proportions_and_references(spark: SparkSession, tmp_path: Path) -> None:
    rows = read(spark, _nexmark(events__num="5000"), tmp_path)
    assert [sum(row[0] == kind for row in rows) for kind in (0, 1, 2)] == [100, 300, 4600]
    people, auctions = set(), set()
    before = None
    for kind, person, auction, bid in rows:
        assert [each is not None for each in (person, auction, bid)] == [kind == 0, kind == 1, kind == 2]
        if kind == 0:
            people.add(person.id)
        if kind == 1:
            auctions.add(auction.id)
            assert auction.seller in people
            assert auction.reserve > auction.start_price
            assert auction.expires > auction.ts
        if kind == 2:
            assert bid.auction in auctions
            assert bid.bidder in people
            assert bid.price >= 100
        now = (person or auction or bid).ts
        assert before is None or now >= before
        before = now
    assert (len(people), len(auctions)) == (100, 300)


def test_nexmark_goes_on_from_a_position_and_does_not_depend_on_batches(spark: SparkSession, tmp_path: Path) -> None:
    given = _nexmark(events__num="1000", seed="7")
    whole = read(spark, given, tmp_path / "a")
    small = Configuration()
    small.put("execution.micro-batch.max-rows", "170")
    assert read(spark, given, tmp_path / "b", configuration=small) == whole
    assert read(spark, given, tmp_path / "c", start='{"n": 400}') == whole[400:]
    assert read(spark, given, tmp_path / "d", batch=True) == whole
    assert read(spark, _nexmark(events__num="1000", seed="8"), tmp_path / "e") != whole


def test_nexmark_times_can_be_out_of_order(spark: SparkSession, tmp_path: Path) -> None:
    columns = {"bid": "ROW<`date_time` TIMESTAMP_LTZ(3)>"}
    given = _nexmark(columns, events__num="500", first_event__rate="1000", out_of_orderness="50 ms")
    times = [row[0].date_time.timestamp() for row in read(spark, given, tmp_path) if row[0]]
    newest = times[0]
    behind = []
    for each in times:
        newest = max(newest, each)
        behind.append(newest - each)
    assert 0.02 < max(behind) <= 0.1


def test_nexmark_names_what_it_does_not_have(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(ConnectorError, match=r"column 'bid': unknown field 'prize'"):
        read(spark, _nexmark({"bid": "ROW<`prize` INT>"}), tmp_path)
    with pytest.raises(ConnectorError, match=r"table t: column offer INT is not one of this connector"):
        read(spark, _nexmark({"offer": "INT"}), tmp_path)


def test_a_pace_without_end_is_unbounded(spark: SparkSession, tmp_path: Path) -> None:
    given = _nexmark({"kind": "INT"}, rows_per_second="100")
    frame = find_source("nexmark").read(spark, source_request(given, tmp_path))
    assert not frame.bounded
    assert 100 <= len(read(spark, given, tmp_path)) <= 200


ALL_TYPES = {
    "a": "BOOLEAN", "b": "TINYINT", "c": "INT", "d": "BIGINT", "e": "DECIMAL(8, 2)", "f": "DOUBLE", "g": "VARCHAR(5)",
    "h": "BYTES", "i": "DATE", "j": "TIME(0)", "k": "TIMESTAMP(3)", "l": "TIMESTAMP_LTZ(3)", "m": "ARRAY<INT>",
    "n": "MAP<STRING, INT>", "o": "ROW<`x` INT, `y` STRING>",
}  # fmt: skip


def test_datagen_every_type(spark: SparkSession, tmp_path: Path) -> None:
    options = {
        "connector": "datagen", "number-of-rows": "300", "rows-per-second": "0", "fields.c.min": "-3",
        "fields.c.max": "3",
        "fields.o.x.min": "1", "fields.o.x.max": "1", "fields.m.length": "2", "fields.m.element.max": "0",
        "fields.k.max-past": "1 h", "fields.d.null-rate": "0.5", "fields.h.length": "4", "fields.h.var-len": "true",
    }  # fmt: skip
    given = table(ALL_TYPES, options)
    rows = read(spark, given, tmp_path / "a")
    assert len(rows) == 300
    assert {row[2] for row in rows} == set(range(-3, 4))
    assert {row[14].x for row in rows} == {1}
    assert all(len(row[6]) == 5 and len(row[12]) == 2 and max(row[12]) <= 0 for row in rows)
    assert 90 < sum(row[3] is None for row in rows) < 210
    assert {len(row[7]) for row in rows} == {1, 2, 3, 4}
    assert len({row[10] for row in rows}) > 250
    assert read(spark, given, tmp_path / "b", start='{"n": 200}') == rows[200:]
    other = table(ALL_TYPES, {**options, "fields.seed": "2"})
    assert read(spark, other, tmp_path / "c") != rows


def test_datagen_sequences_end_the_table(spark: SparkSession, tmp_path: Path) -> None:
    options = {"connector": "datagen", "fields.id.kind": "sequence", "fields.id.start": "5", "fields.id.end": "9"}
    rows = read(spark, table({"id": "BIGINT", "x": "DOUBLE"}, options), tmp_path)
    assert [row[0] for row in rows] == [5, 6, 7, 8, 9]
    assert all(0 <= row[1] < 1 for row in rows)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fields.id.kind": "sequence"}, "a sequence needs"),
        ({"fields.nope.min": "1"}, "for a column the table does not have"),
        ({"fields.id.min": "2", "fields.id.max": "1"}, "is greater than"),
    ],
)
def test_datagen_bad_options(spark: SparkSession, tmp_path: Path, options: dict[str, str], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        read(spark, table({"id": "BIGINT"}, {"connector": "datagen", **options}), tmp_path)


def test_validation_needs_no_spark() -> None:
    with pytest.raises(OptionError, match=r"table t: fields\.x\.kind: 'often' is not a value"):
        validate({"connector": "datagen", "fields.x.kind": "often"}, "source", "t")
