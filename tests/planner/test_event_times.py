"""Nodes say which of their columns are event time just as the operators do that they were made of."""

from __future__ import annotations

import pytest

from execnodes.core.errors import RekindleError
from execnodes.core.node import ExecNode
from planner.algebra import Logical
from planner.lower.context import Context
from tests.planner.test_lower_programs import PROGRAMS, compile_program


def test_nodes_and_operators_agree_on_event_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """For all programs: plans that are read like tables ask the nodes, SQL asks the operators."""
    made: list[tuple[Context, Logical, ExecNode]] = []
    lower = Context.lower

    def noted(context: Context, node: Logical, update_before: bool) -> ExecNode:
        found = lower(context, node, update_before)
        made.append((context, node, found))
        return found

    monkeypatch.setattr(Context, "lower", noted)
    kinds, different = set(), []
    for path in sorted(PROGRAMS.glob("*/*/program.sql")):
        made.clear()
        try:
            compile_program(path.parent)
        except RekindleError:
            continue
        times = {context: context.builder.graph(128).event_times() for context, _, _ in made}
        for context, node, found in made:
            if times[context][found.id] != node.event_times:
                different.append(f"{path.parent.name}: {node.event_times} of {found.description}")
            elif node.event_times:
                kinds.add(found.key.name)
    assert different == []
    assert len(kinds) > 5, kinds
