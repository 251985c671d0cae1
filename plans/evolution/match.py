"""Which nodes of two plans mean the same: sources by what they read, operators by what their states mean.

The order of preference: the same state, one whose columns are found by their meaning, one of which columns start
empty, one that has seen rows of other inputs of a UNION ALL. Nodes are only paired if all that is below them is. Of
several that mean the same, the one with the same TTL is taken, else the one with the lowest id.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from execnodes.core.graph import ExecGraph
from execnodes.core.meaning import RowsMeaning, StateMeaning
from execnodes.core.node import ExecNode
from execnodes.terms.forms import form, same
from plans.compatibility.fates import Fate
from plans.compatibility.judge import by_time, judge
from plans.compatibility.plan_meanings import POSITION, Meant, known_name, meant
from plans.format.node_tables import tables_of

_BEST, _LOSSY, _WORST = 1, 2, 4
"""Grades: 0 the same, 1 found by meaning, 2 with loss; 2 more where inputs of a union have come or gone."""
Grade = tuple[int, int, int]
"""How well two nodes fit, less is better: grade, differences that do no harm, old id."""


class Matching:
    """Finds the pairs of two plans."""

    def __init__(self, old: ExecGraph, new: ExecGraph) -> None:
        self._old, self._new = old, new
        self._before, self._after = meant(old), meant(new)
        self._pairs: dict[int, int] = {}
        """New node id to old one."""
        self._taken: set[int] = set()
        self._uids: dict[str, str] = {}
        """New uid to old one, of sources and of operators with state."""
        self._by_name: dict[str, list[ExecNode]] = {}
        for node in old.nodes:
            self._by_name.setdefault(node.key.name, []).append(node)
        self._read = {each for inputs in new.inputs.values() for each in inputs}
        """New nodes that others read."""
        self._written, self._written_before = _sinks(new), _sinks(old)

    def pairs(self) -> Mapping[int, int]:
        """New node id to old node id."""
        for node in self._new.nodes:
            if not self._new.inputs[node.id]:
                self._pair(node, _BEST)
        worst = 0
        while worst <= _WORST:
            tried = (self._pair(node, worst) for node in self._new.nodes if node.id not in self._pairs)
            # What is the same comes first: with loss one is paired, then what that makes the same is looked for.
            found = any(tried) if worst > _BEST else any(list(tried))
            worst = 0 if found else worst + 1
        return self._pairs

    def _pair(self, node: ExecNode, worst: int) -> bool:
        grades = (self._grade(node, each) for each in self._by_name.get(node.key.name, ()))
        best = min((each for each in grades if each is not None and each[0] <= worst), default=None)
        if best is None:
            return False
        self._pairs[node.id] = best[2]
        self._taken.add(best[2])
        mine, theirs = _uids(self._after[node.id]), _uids(self._before[best[2]])
        self._uids |= dict(zip(mine, theirs, strict=True))
        return True

    def _grade(self, node: ExecNode, old: ExecNode) -> Grade | None:
        if old.id in self._taken:
            return None
        if self._after[node.id].states or self._before[old.id].states:
            return self._grade_of_states(node, old)
        if node.id not in self._read:
            return self._grade_of_sinks(node, old)
        one, other = self._before[old.id].rows, self._after[node.id].rows
        equal = same(one.rows, other.rows) and same(one.time, other.time) and _columns(one) == _columns(other)
        return (0, self._differences(node, old), old.id) if equal and self._below(other.sources, one.sources) else None

    def _grade_of_sinks(self, node: ExecNode, old: ExecNode) -> Grade | None:
        """A sink is its table; which rows it gets is another question."""
        if self._written[node.id] != self._written_before.get(old.id):
            return None
        return (0, int(not same(self._before[old.id].rows.rows, self._after[node.id].rows.rows)), old.id)

    def _grade_of_states(self, node: ExecNode, old: ExecNode) -> Grade | None:
        if bool(node.uids()) != bool(old.uids()):
            return None
        for extra, before, after in self._variants(node, old):
            if before is None or after is None or _timed(self._after[node.id], after):
                continue
            if self._same_below(before, after):
                grade = _fits(before.states, after.states)
                if grade is not None:
                    return (grade + extra, self._differences(node, old), old.id)
        return None

    def _variants(self, node: ExecNode, old: ExecNode) -> Iterator[tuple[int, Meant | None, Meant | None]]:
        before, after = self._before[old.id], self._after[node.id]
        yield 0, before, after
        if not self._new.inputs[node.id]:
            return
        if self._added:
            yield 2, before, self._after_less.get(node.id)
        if self._removed:
            yield 2, self._before_less.get(old.id), after
        if self._added and self._removed:
            yield 2, self._before_less.get(old.id), self._after_less.get(node.id)

    def _same_below(self, before: Meant, after: Meant) -> bool:
        """The operators and sources below are those that have been paired."""
        one = {uid for each in before.states for uid in each.sources | each.operators}
        other = {uid for each in after.states for uid in each.sources | each.operators}
        positions = {each.uid for each in after.states if each.name == POSITION}
        return bool(positions) or self._below(other, one)

    def _below(self, new: Iterable[str], old: Iterable[str]) -> bool:
        return {self._uids.get(each, "") for each in new} == set(old)

    def _differences(self, node: ExecNode, old: ExecNode) -> int:
        """Differences that do no harm, to choose among nodes that mean the same."""
        ours, theirs = [each.ttl for each in node.state], [each.ttl for each in old.state]
        inputs = [self._pairs.get(each) for each in self._new.inputs[node.id]] != list(self._old.inputs[old.id])
        return 2 * (ours != theirs) + inputs

    @cached_property
    def _added(self) -> frozenset[str]:
        """Sources that the old plan does not have; asked for once sources are paired."""
        return frozenset(uid for uid in _positions(self._after) if uid not in self._uids)

    @cached_property
    def _removed(self) -> frozenset[str]:
        return frozenset(_positions(self._before)) - set(self._uids.values())

    @cached_property
    def _before_less(self) -> Mapping[int, Meant]:
        return meant(self._old, self._removed)

    @cached_property
    def _after_less(self) -> Mapping[int, Meant]:
        return meant(self._new, self._added)


def _uids(meant: Meant) -> list[str]:
    """Uids of a source or of the operators of a node, in order."""
    return list(dict.fromkeys(each.uid for each in meant.states))


def _timed(whole: Meant, less: Meant) -> bool:
    """A state goes by a watermark that is another one without some of the sources."""
    pairs = zip(whole.states, less.states, strict=True)
    return any(one.times != other.times and by_time(other) for one, other in pairs)


def _positions(of: Mapping[int, Meant]) -> Iterator[str]:
    return (state.uid for each in of.values() for state in each.states if state.name == POSITION)


def _fits(before: Iterable[StateMeaning], after: Iterable[StateMeaning]) -> int | None:
    """0 if every state is the same, 1 if it is found by meaning, 2 if something is lost; None if it cannot go on."""
    old, worst, kept = {each.name: each for each in before}, 0, False
    for new in after:
        candidates = [old[new.name]] if new.name in old else list(old.values())
        found = [judge(each, new) for each in candidates]
        goes_on = next((each for each in found if each.goes_on), None)
        if goes_on is None and (new.name in old or new.addable is None):
            return None
        kept = kept or goes_on is not None
        lossy = goes_on is None or goes_on.loss
        worst = max(worst, _LOSSY if lossy else int(goes_on is not None and goes_on.fate is Fate.CONVERT))
    return worst if kept else None


def _columns(rows: RowsMeaning) -> list[str]:
    return sorted(form(each).digest for each in rows.columns)


def _sinks(graph: ExecGraph) -> Mapping[int, list[str]]:
    """Tables that nodes at the end write."""
    return {node.id: [known_name(graph, each.name) for each in tables_of(node)] for node in graph.roots()}
