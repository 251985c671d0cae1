"""Whatever in a node refers to an event time fails for a row that has none, or says here what becomes of such a row."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from execnodes.core.graph import ExecGraph
from execnodes.core.types import TimeKind
from plans.format.load import load
from plans.format.references import Column, references
from plans.format.walk import pointer

GOLDENS = Path(__file__).parents[1] / "plans" / "goldens"
FIXTURES = Path(__file__).parents[1] / "restore" / "fixtures"
FIXED = (
    "global-window-aggregate",
    "group-window-aggregate",
    "match",
    "over-aggregate",
    "temporal-join",
    "temporal-sort",
)
"""Nodes of the fixtures whose plans have what the goldens lack; all of them take too long."""

ALLOWED = {
    "stream-exec-interval-join/intervalJoinSpec/windowBounds/leftTimeIndex": "meets no row (docs/jobs.md)",
    "stream-exec-interval-join/intervalJoinSpec/windowBounds/rightTimeIndex": "meets no row (docs/jobs.md)",
    "stream-exec-sort/orderBy/fields/index": "a value like any other: NULL has its place in the order",
    "stream-exec-sort-limit/orderBy/fields/index": "a value like any other: NULL has its place in the order",
    "stream-exec-rank/sortSpec/fields/index": "a value like any other: NULL has its place in the order",
    "stream-exec-window-rank/sortSpec/fields/index": "a value like any other: NULL has its place in the order",
}
"""Node, and property without numbers: what becomes of a row that has no time there. None is lost."""
VALUES = ("argList", "fields", "grouping", "uniqueKeys", "partition", "keys", "leftKeys", "rightKeys", "distinctKeys")
"""Last names of properties that read columns as values or keys, for which NULL is a value."""


def plans() -> Iterator[ExecGraph]:
    paths = [*GOLDENS.glob("*.json")]
    for name in FIXED:
        paths += FIXTURES.glob(f"stream-exec-{name}_*/*/plan.json")
    return (load(path.read_text(encoding="utf-8")) for path in sorted(paths))


@cache
def found() -> dict[str, set[bool]]:
    """Properties that refer to an event time, and whether their nodes require it."""
    result = defaultdict[str, set[bool]](set)
    for graph in plans():
        for node in graph.nodes:
            inputs = tuple(each.output_type for each in graph.inputs_of(node))
            required = {(side, at) for side, columns in enumerate(node.required_times()) for at in columns}
            for each in references(node, inputs):
                if isinstance(each, Column) and 0 <= each.index < len(each.scope.columns):
                    sides = [side for side, row in enumerate(inputs) if row.fields == each.scope.columns]
                    if each.scope.columns[each.index].type.kind is TimeKind.ROWTIME:
                        name = "/".join(part for part in pointer(each.path).split("/") if not part.isdigit())
                        result[f"{node.key.name}{name}"].add(any((side, each.index) in required for side in sides))
    return result


def test_no_operator_forgets_rows_without_an_event_time() -> None:
    forgotten = [
        name
        for name, required in found().items()
        if True not in required and name not in ALLOWED and name.rpartition("/")[2] not in VALUES
    ]
    assert forgotten == []


def test_what_is_allowed_is_not_required() -> None:
    assert [name for name in ALLOWED if True in found().get(name, ())] == []
    assert {"stream-exec-interval-join/intervalJoinSpec/windowBounds/leftTimeIndex"} <= found().keys()


@pytest.mark.parametrize(
    "name",
    [
        "deduplicate/timeAttributeIndex", "group-window-aggregate/windowing/timeAttributeIndex",
        "local-window-aggregate/windowing/timeAttributeIndex", "match/matchSpec/orderBy/fields/index",
        "over-aggregate/overSpec/groups/orderBy/fields/index", "temporal-join/leftTimeAttributeIndex",
        "temporal-join/rightTimeAttributeIndex", "temporal-sort/orderBy/fields/index",
        "window-aggregate/windowing/timeAttributeIndex", "window-deduplicate/orderKey",
        "window-table-function/windowing/timeAttributeIndex",
    ],
)  # fmt: skip
def test_the_walk_sees_the_times_of_all_operators(name: str) -> None:
    assert True in found()[f"stream-exec-{name}"]
