"""Nothing carries a column that nobody reads. A table, and a stream with watermarks, is read once for all consumers:
it keeps the columns that any of them reads.
"""

from __future__ import annotations

from collections.abc import Iterable

from planner.algebra import Logical
from planner.algebra.relation import Places
from planner.algebra.single_evaluation import needs_single_evaluation
from planner.algebra.tree import Sinks, columns_of, with_input
from planner.lower.digest import Interner


def prune_columns(sinks: Sinks) -> Sinks:
    """Two walks: the first finds what shared streams must carry, the second cuts."""
    interner = Interner()
    wanted: dict[int, set[int]] = {}
    for _ in range(2):
        pruner = _Pruner(interner, wanted)
        pruned = tuple(
            with_input(sink, pruner.exactly(sink.input, range(len(sink.input.type.fields)))[0]) for sink in sinks
        )
    return pruned


class _Pruner:
    def __init__(self, interner: Interner, wanted: dict[int, set[int]]) -> None:
        self.interner = interner
        self.wanted = wanted
        """Columns of shared streams that some consumer reads; grows in the first walk."""
        self.done: dict[tuple[int, frozenset[int]], tuple[Logical, Places]] = {}

    def exactly(self, node: Logical, columns: Iterable[int]) -> tuple[Logical, Places]:
        """The node with these columns only, in this order."""
        kept = list(columns)
        pruned, mapping = self.visit(node, kept)
        return columns_of(pruned, [mapping[each] for each in kept]), {each: at for at, each in enumerate(kept)}

    def visit(self, node: Logical, columns: Iterable[int]) -> tuple[Logical, Places]:
        """The node with at least these columns, and where each is now."""
        needed = frozenset(columns)
        if needs_single_evaluation(node):
            needed = frozenset(self.shared(node, needed))
        key = (id(node), needed)
        if key not in self.done:
            self.done[key] = node.pruned(needed, self)
        return self.done[key]

    def shared(self, node: Logical, needed: frozenset[int]) -> list[int]:
        """The columns that any reader of an equal stream needs; complete in the second walk."""
        wanted = self.wanted.setdefault(self.interner.number(node), set())
        wanted |= needed
        return sorted(wanted)
