"""Odd values of all types: every format makes of them what Flink 2.3 does (`answers/`), or fails where Flink fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from execnodes.core.types import Field, parse_type
from rekindle.connectors.plain_changes import PlainChanges
from rekindle.connectors.plain_json import NotPlainError, PlainJson
from tests.formats.compare import differences, numbers
from tests.formats.matrix import CSV_NESTINGS, NESTINGS
from tests.formats.reading import read_matrix
from tests.formats.record import cases

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SAMPLE = ("TINYINT", "BIGINT", "DOUBLE", "DECIMAL(5, 2)", "STRING", "BYTES", "TIME(3)", "MAP<STRING, STRING>")
_ALL = (
    *(("json", nesting) for nesting in ("", *NESTINGS)),
    *(("csv", nesting) for nesting in ("", *CSV_NESTINGS)),
    ("debezium-json", ""),
    ("canal-json", ""),
)


@pytest.mark.spark
@pytest.mark.parametrize("kind", ["json", "csv"])
def test_a_sample_of_odd_values(spark: SparkSession, kind: str) -> None:
    """Of eight types, each with every text."""
    some = [each for each in cases(kind) if not each.nesting and each.type in _SAMPLE]
    ours = read_matrix(spark, some, strict=False)
    assert list(differences(some, ours, strict=False)) == []


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize(("kind", "nesting"), _ALL)
def test_all_odd_values(spark: SparkSession, kind: str, nesting: str, strict: bool) -> None:
    some = [each for each in cases(kind) if each.nesting == nesting]
    ours = read_matrix(spark, some, strict=strict)
    assert list(differences(some, ours, strict=strict)) == []


def _plain(kind: str, nesting: str, every: int) -> None:
    """Read by Arrow, a line at a time: what is not plain is left to the other rules."""
    known = [each for each in cases(kind) if each.nesting == nesting and PlainJson.knows(parse_type(each.column))]
    ours = {}
    for each in known[::every]:
        fields = (Field("x", parse_type(each.column)),)
        records = PlainJson(fields, iso=False) if kind == "json" else PlainChanges(fields, iso=False, wrapped=False)
        try:
            columns, rows = records.parse(each.record().encode())
        except NotPlainError:
            continue
        assert rows == 1
        (ours[each],) = columns["x"].cast(numbers(columns["x"].type)).to_pylist()
    assert len(ours) > len(known) // every // 10
    assert list(differences(ours, ours, strict=True)) == []


PLAIN = (("json", ""), ("json", "row"), ("json", "array"), ("debezium-json", ""))


@pytest.mark.parametrize(("kind", "nesting"), PLAIN)
def test_what_is_plain_is_what_flink_has(kind: str, nesting: str) -> None:
    _plain(kind, nesting, every=23)


@pytest.mark.long
@pytest.mark.parametrize(("kind", "nesting"), PLAIN)
def test_all_that_is_plain_is_what_flink_has(kind: str, nesting: str) -> None:
    _plain(kind, nesting, every=1)
