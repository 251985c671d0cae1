"""The plan that a savepoint was taken from, and what it says of the savepoint's states."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from execnodes.core.errors import PlanError, RekindleError
from execnodes.core.graph import ExecGraph
from execnodes.core.meaning import StateMeaning
from execnodes.terms.shown import TEXT
from execnodes.terms.term import Term
from plans.compatibility.plan_meanings import meanings
from plans.evolution.upgrade import upgrade
from plans.format.load import load
from rekindle.savepoints.manifest import PLAN, Manifest

_log = logging.getLogger("rekindle.savepoints")


def saved_plan(folder: Path) -> ExecGraph | None:
    """The plan the savepoint was taken from; None if this engine no longer reads it, as its states are described."""
    try:
        return load((folder / PLAN).read_text(encoding="utf-8"))
    except PlanError as error:
        _log.warning("%s: its plan is not read, so its states are what they are said to be: %s", folder, error)
        return None


def explained(manifest: Manifest, folder: Path) -> Manifest:
    """With trees in place of texts, as far as the savepoint's plan means something that has the same text.

    Savepoints of format 1 have texts alone, and migrations may have made them mean what their plan does not. What the
    plan does not tell, or what this engine cannot ask it, stays a text.
    """
    try:
        states_of_plan = meanings(_readable_plan((folder / PLAN).read_text(encoding="utf-8")))
    except RekindleError as error:
        _log.info("%s: what its states mean stays texts, as its plan does not say it: %s", folder, error)
        return manifest
    known = {
        (label, term.text): term
        for state in states_of_plan
        for each in (state, *state.earlier)
        for (label, _), term in _terms(each).items()
    }

    def found(label: str, term: Term) -> Term:
        return known.get((label, term.text), term) if term.kind == TEXT else term

    def of(parts: Mapping[str, Term]) -> dict[str, Term]:
        return {label: found(label, term) for label, term in parts.items()}

    states = tuple(
        replace(each, parts=of(each.parts), meanings=tuple(found(_COLUMN, term) for term in each.meanings))
        for each in manifest.states
    )
    return replace(manifest, sources={uid: of(parts) for uid, parts in manifest.sources.items()}, states=states)


def _readable_plan(text: str) -> ExecGraph:
    """A plan, or what it is upgraded to: node versions that are gone have successors whose state means the same."""
    try:
        return load(text)
    except PlanError:
        return load(upgrade(text).text)


_COLUMN = "column of a state"


def _terms(state: StateMeaning) -> dict[tuple[str, int], Term]:
    columns = {(_COLUMN, at): each.meaning for at, each in enumerate(state.columns)}
    return {**{(label, 0): term for label, term in state.parts.items()}, **columns}
