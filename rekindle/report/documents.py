"""Verdicts and differences as JSON values, for programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from plans.compatibility.compare import Comparison, Judgement
from plans.evolution.diff import Change, NodeDifference, PlanDifference
from rekindle.report.checked import Checked


def checked_document(found: Checked) -> dict[str, object]:
    """As `comparison_document`, with sizes of states, and the operators to be bootstrapped."""
    return comparison_document(found.comparison, found.size, found.bootstrap)


def comparison_document(
    found: Comparison,
    size: Callable[[Judgement], tuple[int, int] | None] = lambda judgement: None,
    bootstrap: Sequence[str] = (),
) -> dict[str, object]:
    """``verdict`` and ``operators``: uid, state, fate, reason, and what else is known; `size`: rows and bytes."""
    operators = []
    for each in found.judgements:
        operator: dict[str, object] = {
            "uid": each.uid, "state": each.state, "fate": str(each.fate), "reason": each.reason,
        }  # fmt: skip
        if (known := size(each)) is not None:
            operator |= {"rows": known[0], "bytes": known[1]}
        if each.columns:
            operator["columns"] = dict(each.columns)
        if each.empty:
            operator["empty"] = list(each.empty)
        if each.loss:
            operator["loss"] = True
        operators.append(operator)
    document: dict[str, object] = {"verdict": str(found.verdict), "operators": operators}
    if bootstrap:
        document["bootstrap"] = list(bootstrap)
    if found.notes:
        document["notes"] = list(found.notes)
    if found.intended_changes:
        document["intendedChanges"] = [each.document() for each in found.intended_changes]
    return document


def difference_document(found: PlanDifference) -> dict[str, object]:
    """``equal``, the plan's own ``changes``, ``nodes`` that differ, and ``edges``."""
    return {
        "equal": not found,
        "changes": _changes(found.header),
        "nodes": [_node(each) for each in found.changed],
        "edges": {
            "added": [list(each) for each in found.edges_added],
            "removed": [list(each) for each in found.edges_removed],
        },
    }


def _node(each: NodeDifference) -> dict[str, object]:
    document: dict[str, object] = {
        "id": each.id,
        "standing": str(each.standing),
        "old": None if each.old is None else str(each.old.key),
        "new": None if each.new is None else str(each.new.key),
        "uids": list(each.uids),
        "description": each.node.description,
        "changes": _changes(each.changes),
    }
    return document if each.twin is None else {**document, "equalToNode": each.twin}


def _changes(changes: Sequence[Change]) -> list[dict[str, str | None]]:
    return [{"path": each.path, "old": each.old, "new": each.new} for each in changes]
