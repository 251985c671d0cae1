"""Evolution over all conformance programs: a plan made from itself, or from itself under other ids, goes on whole."""

from __future__ import annotations

from dataclasses import replace

import pytest

from plans.evolution.evolve import evolve
from plans.evolution.upgrade import upgrade
from plans.format.codec import encode
from tests.check.test_corpus import shifted
from tests.plans.corpus import graphs_of, shares

pytestmark = pytest.mark.xdist_group("corpus")


@pytest.mark.parametrize("share", shares())
def test_a_plan_made_from_itself_is_itself(share: int) -> None:
    for name, graph in graphs_of(share).items():
        found = evolve(graph, graph)
        assert (found.comparison.verdict, found.comparison.notes) == ("full", ()), name
        assert encode(found.graph) == encode(graph), name


@pytest.mark.parametrize("share", shares())
def test_ids_are_those_of_the_old_plan(share: int) -> None:
    for name, graph in graphs_of(share).items():
        old = shifted(graph)
        found = evolve(old, graph)
        assert found.comparison.verdict == "full", name
        assert encode(found.graph) == encode(old), name


@pytest.mark.parametrize("share", shares())
def test_plans_of_the_newest_versions_migrate_to_themselves(share: int) -> None:
    for name, graph in graphs_of(share).items():
        text = encode(replace(graph, last_node_id=1000))
        assert (upgrade(text).text, upgrade(text).nodes) == (text, ()), name
