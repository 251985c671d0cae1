"""Computing columns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from execnodes.core.expressions import Call, Expression, InputRef, input_indexes, remap
from execnodes.core.types import INTEGERS, LogicalType
from planner.algebra.columns import pick
from planner.algebra.extent import parts_of
from planner.algebra.keys import Key
from planner.algebra.predicates import function_name
from planner.algebra.relation import PassesChanges, Places, Pruning, Trend, places
from planner.algebra.windows import WindowColumn


@dataclass(frozen=True)
class Project(PassesChanges):
    """SELECT expressions."""

    expressions: tuple[Expression, ...]
    type: LogicalType

    def keys_of_rows(self) -> Iterable[Key]:
        """Keys whose columns are passed on, so that different values stay different."""
        found: dict[int, list[int]] = {}
        for at, each in enumerate(self.expressions):
            source = injective_source(each)
            if source is not None:
                found.setdefault(source, []).append(at)
        for key in self.input.upsert_keys:
            if all(each in found for each in key):
                yield frozenset(found[each][0] for each in key)
                yield frozenset(found[each][-1] for each in key)

    @cached_property
    def event_times(self) -> frozenset[int]:
        """Columns that are passed on."""
        return frozenset(at for at, source in self._passed() if source in self.input.event_times)

    @cached_property
    def window_columns(self) -> dict[int, WindowColumn]:
        """Columns that are passed on."""
        below = self.input.window_columns
        return {at: below[source] for at, source in self._passed() if source in below}

    @property
    def trends(self) -> dict[int, Trend]:
        """Columns that are passed on."""
        below = self.input.trends
        return {at: below[source] for at, source in self._passed() if source in below}

    def _passed(self) -> Iterable[tuple[int, int]]:
        """Columns of the input that stay as they are: place here, place there."""
        return ((at, each.input_index) for at, each in enumerate(self.expressions) if isinstance(each, InputRef))

    def pruned(self, needed: frozenset[int], pruning: Pruning) -> tuple[Project, Places]:
        """Only these columns, at least one."""
        kept = sorted(needed) or [_cheapest(self.expressions)]
        read: set[int] = set().union(*(input_indexes(self.expressions[each]) for each in kept))
        below, moved = pruning.visit(self.input, read)
        expressions = tuple(remap(self.expressions[each], moved.__getitem__) for each in kept)
        return Project(below, expressions, pick(self.type, kept)), places(kept)

    @property
    def parts(self) -> int:
        """Those of the expressions."""
        return parts_of(self.expressions)

    @property
    def keeps_state(self) -> bool:
        """No."""
        return False


def injective_source(expression: Expression) -> int | None:
    """The input column that the expression passes on so that different values stay different; None if it does not."""
    if isinstance(expression, InputRef):
        return expression.input_index
    if isinstance(expression, Call) and function_name(expression) == "CAST":
        inner, to = expression.operands[0].type, expression.type
        wider = inner.root in INTEGERS and to.root in INTEGERS and INTEGERS.index(inner.root) <= INTEGERS.index(to.root)
        return injective_source(expression.operands[0]) if wider or inner.same_values(to) else None
    return None


def _cheapest(expressions: tuple[Expression, ...]) -> int:
    """Some column has to stay so that rows can be counted: one that need not be computed."""
    return next((at for at, each in enumerate(expressions) if isinstance(each, InputRef)), 0)
