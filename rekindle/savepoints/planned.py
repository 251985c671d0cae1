"""The states a plan has, described as a savepoint describes them."""

from __future__ import annotations

from collections.abc import Mapping

from execnodes.core.graph import ExecGraph
from plans.compatibility.plan_meanings import meanings
from rekindle.pipeline.record import OperatorRecord, record
from rekindle.savepoints.manifest import SavedState


def planned_states(graph: ExecGraph) -> Mapping[tuple[str, str], SavedState]:
    """By uid and name, without rows; only states whose meaning can be told."""
    known = {(each.uid, each.name): each for each in meanings(graph) if not each.unknown}
    operators = [step.operator for step in record(graph).steps.values() if isinstance(step, OperatorRecord)]
    found = {}
    for operator in operators:
        for spec in operator.states:
            meaning = known.get((operator.uid, spec.name))
            if meaning is None or spec.derived:
                continue
            found[operator.uid, spec.name] = SavedState(
                operator.uid,
                spec.name,
                tuple((column.name, column.type) for column in meaning.columns),
                spec.key,
                spec.bucketed,
                spec.ttl_ms,
                dict(meaning.parts),
                tuple(column.meaning for column in meaning.columns),
                tuple(sorted(meaning.sources)),
                graph.max_parallelism,
                0,
                0,
                {},
                meaning.serializers,
            )
    return found
