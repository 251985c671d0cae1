"""Meanings over all conformance programs: a plan means what it means, whatever its nodes are numbered."""

from __future__ import annotations

import pytest

from execnodes.core.graph import ExecGraph
from plans.compatibility.compare import compare
from plans.compatibility.plan_meanings import meanings
from tests.plans.corpus import graphs_of, shares

pytestmark = pytest.mark.xdist_group("corpus")


@pytest.mark.parametrize("share", shares())
def test_every_plan_goes_on_as_itself(share: int) -> None:
    for name, graph in graphs_of(share).items():
        assert compare(meanings(graph), meanings(graph)).verdict == "full", name


@pytest.mark.parametrize("share", shares())
def test_numbers_of_nodes_mean_nothing(share: int) -> None:
    for name, graph in graphs_of(share).items():
        here, there = (
            {(each.name, *each.parts.items(), *each.columns) for each in meanings(g)} for g in (graph, shifted(graph))
        )
        assert here == there, name


@pytest.mark.parametrize("share", shares())
def test_states_are_those_that_operators_declare(share: int) -> None:
    """Names, columns, buckets and TTLs, in the same order."""
    from rekindle.pipeline.record import OperatorRecord, record

    for name, graph in graphs_of(share).items():
        if graph.batch:
            # Batch plans have no operators with state.
            continue
        steps = [step.operator for step in record(graph).steps.values() if isinstance(step, OperatorRecord)]
        declared = {
            (each.uid, spec.name): ([column.name for column in spec.columns], spec.bucketed, spec.ttl_ms)
            for each in steps
            for spec in each.states
            if not spec.derived
        }
        meant = {
            (each.uid, each.name): ([column.name for column in each.columns], each.bucketed, each.ttl_ms)
            for each in meanings(graph)
            if each.columns
        }
        assert meant == declared, name


def shifted(graph: ExecGraph) -> ExecGraph:
    """The same plan with other node ids."""
    nodes = tuple(node.replaced(id=node.id + 100) for node in graph.nodes)
    inputs = {target + 100: tuple(each + 100 for each in sources) for target, sources in graph.inputs.items()}
    return ExecGraph.of(nodes, inputs, graph.max_parallelism, graph.engine_version)
