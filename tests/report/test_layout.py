"""Places of boxes: nothing overlaps, edges run from box to box, inputs come before what reads them."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plans.evolution.merge import merge
from plans.format.load import load
from rekindle.report.graph_layout import BOX_HEIGHT, BOX_WIDTH, Drawing, Edge, layout
from tests.report.pages import large


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[str], list[Edge]]:
    count = draw(st.integers(1, 14))
    pairs = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1))
    edges = draw(st.lists(pairs, max_size=24, unique=True))
    return [str(at) for at in range(count)], [(str(one), str(other)) for one, other in edges if one < other]


def check(keys: list[str], edges: list[Edge], found: Drawing) -> None:
    assert set(found.corners) == set(keys)
    for one, other in combinations(found.corners.values(), 2):
        apart = abs(one[0] - other[0]) >= BOX_WIDTH or abs(one[1] - other[1]) >= BOX_HEIGHT
        assert apart, (one, other)
    for x, y in found.corners.values():
        assert 0 <= x <= found.width - BOX_WIDTH
        assert 0 <= y <= found.height - BOX_HEIGHT
    for source, target in edges:
        route, start, end = found.routes[source, target], found.corners[source], found.corners[target]
        (x, y), (to_x, to_y) = route[0], route[-1]
        if found.sideways:
            assert (x, to_x) == (start[0] + BOX_WIDTH, end[0])
            assert start[1] < y < start[1] + BOX_HEIGHT
            assert end[1] < to_y < end[1] + BOX_HEIGHT
        else:
            assert (y, to_y) == (start[1] + BOX_HEIGHT, end[1])
            assert start[0] < x < start[0] + BOX_WIDTH
            assert end[0] < to_x < end[0] + BOX_WIDTH


@settings(max_examples=150, deadline=None)
@given(graphs())
def test_boxes_and_edges(graph: tuple[list[str], list[Edge]]) -> None:
    keys, edges = graph
    found = layout(keys, edges)
    check(keys, edges, found)
    along = 0 if found.sideways else 1
    assert all(found.corners[source][along] < found.corners[target][along] for source, target in edges)


@pytest.mark.parametrize("count", [1, 3, 40])
def test_a_chain_is_straight(count: int) -> None:
    keys = [str(at) for at in range(count)]
    found = layout(keys, list(pairwise(keys)))
    assert len({x for x, _ in found.corners.values()}) == 1


def test_a_cycle_ends() -> None:
    keys, edges = ["a", "b", "c"], [("a", "b"), ("b", "c"), ("c", "a")]
    assert set(layout(keys, edges).corners) == set(keys)


def test_a_wide_graph_is_turned() -> None:
    graph = load(large("SUM"))
    merged = merge(graph, graph)
    keys, edges = [each.key for each in merged.boxes], [(each.source, each.target) for each in merged.edges]
    found = layout(keys, edges)
    assert found.sideways
    check(keys, edges, found)
