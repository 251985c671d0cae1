"""What there is to show of two plans: fates of states, and their sizes where a savepoint tells them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from execnodes.core.graph import ExecGraph
from plans.compatibility.compare import Comparison, Judgement, Verdict, compare
from plans.compatibility.find_intended_changes import find_intended_changes
from plans.compatibility.outputs import notes
from plans.compatibility.physical_tables import Moves, with_moved_names, with_places
from plans.compatibility.plan_meanings import Meanings, meanings
from plans.evolution.bootstrap import bootstrapped, unmakeable
from plans.evolution.evolve import evolve
from plans.format.find_lost_conditions import find_lost_conditions

if TYPE_CHECKING:
    from rekindle.savepoints.manifest import SavedState

SENTENCES = {
    Verdict.FULL: "Every state goes on, and the rows will be those of a fresh run.",
    Verdict.PARTIAL: "Something starts empty, is dropped or goes on with a loss, or rows are missing or counted twice.",
    Verdict.INCOMPATIBLE: "Some state means something else now; going on with it would give wrong rows.",
    Verdict.UNKNOWN: "It cannot be proven that the rows will be right.",
}
_WORST_FIRST = (Verdict.INCOMPATIBLE, Verdict.UNKNOWN, Verdict.PARTIAL, Verdict.FULL)


@dataclass(frozen=True)
class Checked:
    """Two plans that were compared."""

    old: str
    """As people name it."""
    new: str
    comparison: Comparison
    saved: Mapping[tuple[str, str], SavedState] = field(default_factory=dict)
    """States of a savepoint by uid and name; empty without one."""
    savepoint: str = ""
    before: frozenset[tuple[str, str]] = frozenset()
    """Uid and name of all states there are to go on with."""
    bootstrap: tuple[str, ...] = ()
    """Uids of operators whose state is to be made from the sources."""
    in_git: bool = False
    """The old plan is no file: `old` names it for ``git show``."""

    @property
    def verdict(self) -> Verdict:
        """Of the whole pipeline."""
        return self.comparison.verdict

    def size(self, judgement: Judgement) -> tuple[int, int] | None:
        """Rows and bytes of a state."""
        state = self.saved.get((judgement.uid, judgement.was or judgement.state))
        return None if state is None else (state.rows, state.bytes)


def checked(
    old: tuple[str, ExecGraph],
    new: tuple[str, ExecGraph],
    savepoint: Path | None = None,
    bootstrap: Sequence[str] = (),
    moves: Moves = MappingProxyType({}),
) -> Checked:
    """Compare plans given by name and nodes; a savepoint says what the state is, whatever the old plan says.

    `bootstrap`: uids of operators whose state is to be made from the sources; PlanError if they keep theirs.
    `moves`: names and places of tables to those of today.
    """
    changed = with_moved_names(old[1], new[1], moves)
    before, after = meanings(old[1]), meanings(changed)
    sinks = notes(before, after)
    ran, engine_version = old[1], old[1].engine_version
    saved: dict[tuple[str, str], SavedState] = {}
    if savepoint is not None:
        from rekindle.savepoints.contents import read
        from rekindle.savepoints.plan import saved_plan

        manifest = read(savepoint)
        before = Meanings.of(manifest.meanings, saved_plan(savepoint))
        ran, engine_version = before.graph or ran, manifest.engine
        saved = {(each.uid, each.name): each for each in manifest.states}
    addresses = frozenset((each.uid, each.name) for each in before)
    changes = find_intended_changes(ran, engine_version)
    found = with_places(compare(before, after, compiling=_is_evolved(ran, changed)), ran, changed, moves)
    found = replace(
        found,
        notes=(*found.notes, *sinks, *_lost_conditions(ran, new[1])),
        intended_changes=changes,
        unmakeable=unmakeable(changed, after),
    )
    if bootstrap:
        found = bootstrapped(found, bootstrap, before, after)
    return Checked(old[0], new[0], found, saved, str(savepoint or ""), addresses, tuple(bootstrap))


def _lost_conditions(old: ExecGraph, new: ExecGraph) -> Iterator[str]:
    for name, graph in (("old", old), ("new", new)):
        for each in find_lost_conditions(graph):
            yield f"{name} plan: {each}"


def _is_evolved(old: ExecGraph, new: ExecGraph) -> bool:
    """Whether to compile the new plan from the old one would give its operators no other uids."""
    return _uids(evolve(old, new).graph) == _uids(new)


def _uids(graph: ExecGraph) -> set[str]:
    return {uid for node in graph.nodes for uid in node.addresses()}


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The one that decides over several plans; full if there are none."""
    found = set(verdicts)
    return next((each for each in _WORST_FIRST if each in found), Verdict.FULL)
