"""Every version of a function gives what the release gave that first had it, over edge values."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from execnodes.core.version import version_tuple
from execnodes.functions import cast_numbers, registry
from execnodes.functions.function import template
from execnodes.functions.registry import functions
from execnodes.intended_changes import INTENDED_CHANGES
from releases import releases
from tests.net.calls import UNRECORDED
from tests.net.cells import FAILED
from tests.net.compare import differences
from tests.net.edge_values import ROWS
from tests.net.records import FUNCTIONS, Record, read
from tests.net.work import names

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RECORDS = read(FUNCTIONS)
PARTS = 8
RELEASED = [
    each for each in functions().values() if version_tuple(each.since) <= version_tuple(releases()[-1].engine_version)
]


def of(name: str) -> list[Record]:
    """Records of a function version."""
    return [each for each in RECORDS if name in names(each["expression"])]


def test_every_released_version_is_recorded_or_has_a_reason() -> None:
    recorded = {name for each in RECORDS for name in names(each["expression"])}
    assert sorted({each.internal_name for each in RELEASED} - recorded - set(UNRECORDED)) == []
    assert sorted(recorded & set(UNRECORDED)) == []


def test_a_version_is_recorded_by_the_release_that_first_had_it() -> None:
    since = {each.internal_name: f"{each.since}.0" for each in RELEASED}
    first = {name: each["release"] for each in reversed(RECORDS) for name in names(each["expression"])}
    assert {name: each for name, each in first.items() if since[name] != each} == {}
    assert all(len(each["values"]) == ROWS for each in RECORDS)


@pytest.mark.spark
@pytest.mark.parametrize("part", range(PARTS))
def test_functions_give_what_was_recorded(spark: SparkSession, part: int) -> None:
    assert [str(each) for each in differences(spark, RECORDS[part::PARTS]) if not each.intended] == []


@pytest.mark.spark
def test_every_intended_change_shows(spark: SparkSession) -> None:
    listed = {each.component for each in INTENDED_CHANGES if each.component in {f.internal_name for f in RELEASED}}
    records = [each for each in RECORDS if listed & set(names(each["expression"]))]
    shown = {name for each in differences(spark, records) for name in names(each.record["expression"])}
    assert listed <= shown, "an entry of the list shows nowhere: record an expression that does"


@pytest.mark.spark
@pytest.mark.parametrize(("name", "text"), [("UPPER", "lower({0})"), ("REPEAT", "raise_error('changed')")])
def test_a_changed_function_is_seen(spark: SparkSession, monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> None:
    changed = replace(functions()[name, 1], lower=template(text))
    monkeypatch.setitem(functions(), (name, 1), changed)
    registry.find.cache_clear()
    try:
        found = differences(spark, of(f"${name}$1"))
    finally:
        registry.find.cache_clear()
    assert found
    assert not any(each.intended for each in found)


@pytest.mark.spark
def test_a_change_of_a_module_that_functions_share_is_seen(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cast_numbers, "checked", lambda scope, text, converted, kind, target: converted)
    found = differences(spark, [each for each in of("$CAST$1") if each["sql"].startswith("CAST(u AS ")])
    assert {each.record["sql"] for each in found} >= {"CAST(u AS DOUBLE)", "CAST(u AS FLOAT)"}
    assert {each.record["values"][each.row] for each in found} == {FAILED}
