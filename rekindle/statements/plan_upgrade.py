"""A plan as one of the newest node versions: `COMPILE PLAN 'new' FROM 'old'` and `rekindle upgrade`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from execnodes.core.version import ENGINE_VERSION
from plans.compatibility.find_intended_changes import RelevantChange, find_intended_changes
from plans.evolution.upgrade import NodeChange, upgrade
from plans.format.find_lost_conditions import LostCondition, find_lost_conditions
from plans.format.load import load
from rekindle.results.compiled_plan import CompiledPlan, PlanExecutor
from rekindle.results.plan_reference import PlanReference


@dataclass(frozen=True, slots=True)
class PlanUpgrade:
    """The new plan, and what is new about it."""

    plan: CompiledPlan
    engine_version: str
    """Release that had compiled the old one."""
    nodes: tuple[NodeChange, ...]
    """Those that have another version now."""
    changed: bool
    """Whether the new plan is another text."""
    intended_changes: tuple[RelevantChange, ...] = ()
    """What this engine gives otherwise than the one that compiled the old plan."""
    lost_conditions: tuple[LostCondition, ...] = ()
    """What the old plan may lack; the new one lacks it as well."""

    def lines(self) -> Iterator[str]:
        """For people."""
        if self.engine_version != ENGINE_VERSION:
            yield f"engine version {self.engine_version} -> {ENGINE_VERSION}"
        yield from map(str, self.nodes)
        if not self.nodes:
            yield "All nodes are of their newest versions already."
        yield from map(str, self.intended_changes)
        yield from map(str, self.lost_conditions)


def upgrade_plan(reference: PlanReference, executor: PlanExecutor | None = None) -> PlanUpgrade:
    """Read a plan of any release and give every node its newest version; ids, uids and rows stay the same.

    PlanError for a node that no version of this engine leads on from.
    """
    text = reference.read()
    found = upgrade(text, source=reference.source)
    plan = CompiledPlan.from_json_string(found.text, executor=executor)
    graph = load(upgrade(text, newest=False).text)
    changes = find_intended_changes(graph, found.engine_version)
    lost = find_lost_conditions(graph, found.engine_version)
    return PlanUpgrade(plan, found.engine_version, found.nodes, found.text != text, changes, lost)
