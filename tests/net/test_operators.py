"""Stateful operators give the changes and keep the state of the release that first had their node version."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
import pytest

from execnodes.core.registry import keys
from execnodes.kernels.aggregates.accumulator import ColumnOf
from execnodes.kernels.aggregates.sums import Sum
from execnodes.state.operator import Context
from execnodes.stream.deduplicate.v1_kernel import KeepLast
from releases import releases
from tests.net.compare_operators import problems
from tests.net.records import OPERATORS, Record, read

RECORDS = read(OPERATORS)
PROGRAMS = sorted({each["program"] for each in RECORDS})


def of(key: str) -> list[Record]:
    """Records of a node version that is still executed."""
    return [each for each in RECORDS if each["key"] == key and NODE_IS_THERE[key]]


NODE_IS_THERE = {each["key"]: each["key"] in set(map(str, keys())) for each in RECORDS}
"""Versions that have been dropped stay in the file: what leads on from them is held to it by restore programs."""


@pytest.mark.parametrize("program", PROGRAMS)
def test_operators_do_what_was_recorded(program: str) -> None:
    """Also those after it in the plan of a restore fixture: the program is the folder of the fixture."""
    here = [each for each in RECORDS if each["program"] == program and NODE_IS_THERE[each["key"]]]
    assert [problem for each in here for problem in problems(each)] == []


def test_a_node_version_is_recorded_by_the_release_that_first_had_it() -> None:
    first = {key: each.version for each in reversed(releases()) for key in each.nodes}
    recorded = {(each["key"], each["release"]) for each in RECORDS}
    assert sorted({key for key, _ in recorded} - {key for key, release in recorded if release == first[key]}) == []
    assert [each["program"] for each in RECORDS if each["release"] < first[each["key"]]] == []
    giving = {each["key"] for each in RECORDS for batch in each["batches"] if batch["out"]}
    assert giving >= {each["key"] for each in RECORDS if each["program"] != "stream-exec-changelog-normalize_2/filter"}


def test_a_changed_operator_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = KeepLast.process

    def without_the_first(operator: KeepLast, batches: Sequence[pl.DataFrame], context: Context) -> pl.DataFrame | None:
        return whole(operator, [each[1:] for each in batches], context)

    assert [problem for each in of("stream-exec-deduplicate_1") for problem in problems(each)] == []
    monkeypatch.setattr(KeepLast, "process", without_the_first)
    found = [problem for each in of("stream-exec-deduplicate_1") for problem in problems(each)]
    assert any(": gave" in each for each in found)
    assert any("State held" in each for each in found)


def test_a_change_of_an_aggregate_that_operators_share_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def only_the_new(accumulator: Sum, old: ColumnOf, delta: ColumnOf) -> dict[str, pl.Expr]:
        return {part: delta(part) for part in whole(accumulator, old, delta)}

    whole = Sum.merge
    monkeypatch.setattr(Sum, "merge", only_the_new)
    keys = ("stream-exec-group-aggregate_1", "stream-exec-global-group-aggregate_1", "stream-exec-over-aggregate_1")
    assert [key for key in keys if not any(problems(each) for each in of(key))] == []
