"""Conditions move towards the sources as far as they mean the same there; never below a watermark assigner, since a
row that is filtered away still moves the watermark.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

from execnodes.core.expressions import Call, Expression, InputRef, input_indexes, remap, substitute
from execnodes.functions import is_deterministic
from planner.algebra import Aggregate, Filter, Join, JoinType, Logical, Project, SetKind, SetOperation, Unnest
from planner.algebra.predicates import TRUE, conjunction, conjuncts, function_name
from planner.algebra.relation import over
from planner.algebra.tree import Sinks, with_input
from planner.lower.digest import find_shared
from planner.rules.merge_projects import merges_well

_STRICT = frozenset({"=", "<>", "<", "<=", ">", ">=", "IS NOT NULL", "LIKE"})
"""Predicates that are never TRUE for a NULL operand."""


_MOST_COPIES, _MOST_IN_ALL = 64, 500
"""Of what is shared, each and together; then its readers filter for themselves."""


def push_filters(sinks: Sinks) -> Sinks:
    """Push every condition; an outer join whose padded rows a condition refuses becomes a narrower join."""
    is_shared = find_shared(sinks)
    return tuple(with_input(sink, _Push(is_shared, {}, Counter()).into(sink.input, [])) for sink in sinks)


@dataclass
class _Push:
    is_shared: Callable[[Logical], bool]
    """Whether what stands below must be computed once for several readers, and so has no conditions of one of them."""
    done: dict[int, Logical]
    """Results without conditions, by node: what is shared stays shared."""
    copies: Counter[int]
    """Results with conditions, by node: each is a copy of what is below."""
    again: int = 0
    """Copies of what had one already."""

    def into(self, node: Logical, conditions: list[Expression]) -> Logical:
        """The node with the conditions (over its output) in force."""
        if conditions and self.is_shared(node):
            return _filter(self.into(node, []), conditions)
        if conditions:
            self.copies[id(node)] += 1
            self.again += self.copies[id(node)] > 1
            if self.copies[id(node)] > _MOST_COPIES or self.again > _MOST_IN_ALL:
                return _filter(self.into(node, []), conditions)
            return self._push(node, conditions)
        if id(node) not in self.done:
            self.done[id(node)] = self._push(node, [])
        return self.done[id(node)]

    def _push(self, node: Logical, conditions: list[Expression]) -> Logical:
        match node:
            case Filter():
                return self.into(node.input, conjuncts(node.condition) + conditions)
            case Project():
                return self._through_project(node, conditions)
            case Join():
                return self._through_join(node, conditions)
            case Unnest():
                return self._through_unnest(node, conditions)
            case Aggregate(grouping_sets=()) if node.grouping:
                return self._through_aggregate(node, conditions)
            case SetOperation(kind=SetKind.UNION, all=True):
                return over(node, [self.into(each, conditions) for each in node.inputs])
            case _:
                # Conditions above an operator are right for every operator; so below it others begin.
                return _filter(over(node, [self.into(each, []) for each in node.inputs]), conditions)

    def _through_project(self, node: Project, conditions: list[Expression]) -> Logical:
        below, above = [], []
        for each in conditions:
            reads = input_indexes(each)
            passes = is_deterministic(each) and all(is_deterministic(node.expressions[index]) for index in reads)
            if passes and merges_well((each,), node.expressions):
                below.append(substitute(each, node.expressions))
            else:
                above.append(each)
        return _filter(over(node, [self.into(node.input, below)]), above)

    def _through_unnest(self, node: Unnest, conditions: list[Expression]) -> Logical:
        own = set(range(len(node.input.type.fields)))
        below = [each for each in conditions if input_indexes(each) <= own and is_deterministic(each)]
        above = [each for each in conditions if each not in below]
        return _filter(over(node, [self.into(node.input, below)]), above)

    def _through_aggregate(self, node: Aggregate, conditions: list[Expression]) -> Logical:
        # A condition on the window stays above: below, it would part the aggregate from its table function.
        windows = node.input.window_columns
        keys = {at for at, each in enumerate(node.grouping) if each not in windows}
        below = [each for each in conditions if input_indexes(each) <= keys and is_deterministic(each)]
        above = [each for each in conditions if each not in below]
        moved = [remap(each, lambda index: node.grouping[index]) for each in below]
        return _filter(over(node, [self.into(node.input, moved)]), above)

    def _through_join(self, node: Join, conditions: list[Expression]) -> Logical:
        node = _narrow(node, conditions)
        width = len(node.left.type.fields)
        keeps_left = node.kind in (JoinType.INNER, JoinType.LEFT, JoinType.SEMI, JoinType.ANTI)
        # Of versions all count, also those that a condition would refuse.
        versions = node.as_of is not None
        keeps_right = node.kind in (JoinType.INNER, JoinType.RIGHT) and not versions
        left, right, above, on = [], [], [], []
        for each in conditions:
            reads = input_indexes(each)
            if not is_deterministic(each):
                above.append(each)
            elif keeps_left and all(index < width for index in reads):
                left.append(each)
            elif keeps_right and all(index >= width for index in reads):
                right.append(each)
            elif node.kind is JoinType.INNER:
                on.append(each)
            else:
                above.append(each)
        may_left = node.kind in (JoinType.INNER, JoinType.RIGHT, JoinType.SEMI)
        may_right = node.kind not in (JoinType.RIGHT, JoinType.FULL) and not versions
        for each in conjuncts(node.condition):
            reads = input_indexes(each)
            if may_left and reads and is_deterministic(each) and all(index < width for index in reads):
                left.append(each)
            elif may_right and reads and is_deterministic(each) and all(index >= width for index in reads):
                right.append(each)
            else:
                on.append(each)
        joined = replace(
            node,
            left=self.into(node.left, left),
            right=self.into(node.right, [remap(each, lambda index: index - width) for each in right]),
            condition=conjunction(on) or TRUE,
        )
        return _filter(joined, above)


def _filter(node: Logical, conditions: list[Expression]) -> Logical:
    condition = conjunction(conditions)
    return node if condition is None else Filter(node, condition)


def _narrow(node: Join, conditions: list[Expression]) -> Join:
    """An outer join without the padding that the conditions above would refuse anyway."""
    if node.kind not in (JoinType.LEFT, JoinType.RIGHT, JoinType.FULL):
        return node
    width = len(node.left.type.fields)
    needed = {index for each in conditions for index in _refuses_null(each)}
    pads_left = node.kind is not JoinType.LEFT and not any(index < width for index in needed)
    pads_right = node.kind is not JoinType.RIGHT and not any(index >= width for index in needed)
    kinds = {
        (True, True): JoinType.FULL,
        (True, False): JoinType.RIGHT,
        (False, True): JoinType.LEFT,
        (False, False): JoinType.INNER,
    }
    return replace(node, kind=kinds[pads_left, pads_right])


def _refuses_null(condition: Expression) -> set[int]:
    """Columns that must not be NULL for the condition to be TRUE."""
    if not isinstance(condition, Call) or function_name(condition) not in _STRICT:
        return set()
    return {each.input_index for each in condition.operands if isinstance(each, InputRef)}
