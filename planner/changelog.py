"""Which kinds of row each node emits: kinds of change go up from the sources, the wish for -U goes down from the sinks.

As Flink's ModifyKindSet and UpdateKind traits; see `can_omit_update_before` for where we ask for more than Flink.
"""

from __future__ import annotations

from functools import reduce

from execnodes.core.changelog import INSERT_ONLY, ChangelogMode, RowKind
from execnodes.core.connectors import source_changelog_mode
from execnodes.core.expressions import input_indexes
from planner.keys import upsert_keys
from planner.logical import Aggregate, Filter, Join, JoinType, Logical, Scan
from planner.physical import CompiledQuery, Deduplicate, Normalize, WindowAggregate
from planner.rules.normalize_changelog import scan_options
from planner.tree import inputs

UPDATING = ChangelogMode({RowKind.INSERT, RowKind.UPDATE_AFTER})
ALL_CHANGES = ChangelogMode({RowKind.INSERT, RowKind.UPDATE_AFTER, RowKind.DELETE})


class Changes:
    """Kinds of change of the nodes of one plan; -U aside, which depends on the consumer."""

    def __init__(self) -> None:
        self._modes: dict[int, tuple[Logical, ChangelogMode]] = {}
        self._omitting: dict[int, tuple[Logical, bool]] = {}

    def kinds(self, node: Logical) -> ChangelogMode:
        """INSERT, UPDATE_AFTER (for updates) and DELETE, as the node may emit them."""
        known = self._modes.get(id(node))
        if known is None:
            known = self._modes[id(node)] = (node, self._kinds(node))
        return known[1]

    def mode(self, node: Logical, update_before: bool) -> ChangelogMode:
        """What the node emits for a consumer that asks for -U or does without."""
        kinds = self.kinds(node)
        return kinds.with_kinds({RowKind.UPDATE_BEFORE}) if update_before and kinds.has_updates else kinds

    def source_mode(self, node: Scan) -> ChangelogMode:
        """What the connector of a scan gives."""
        return source_changelog_mode(scan_options(node))

    def _kinds(self, node: Logical) -> ChangelogMode:
        below = [self.kinds(each) for each in inputs(node)]
        match node:
            case Scan():
                return self.source_mode(node).without(RowKind.UPDATE_BEFORE)
            case CompiledQuery():
                return node.node.changelog_mode.without(RowKind.UPDATE_BEFORE)
            case Normalize():
                return ALL_CHANGES
            case Aggregate():
                return UPDATING if below[0].insert_only else ALL_CHANGES
            case WindowAggregate():
                return INSERT_ONLY
            case Deduplicate():
                return ALL_CHANGES if node.keep_last else INSERT_ONLY
            case Join() if node.kind not in (JoinType.INNER, JoinType.SEMI):
                return ALL_CHANGES
            case _:
                return reduce(lambda mine, other: mine.with_kinds(other), below, INSERT_ONLY)

    def can_omit_update_before(self, node: Logical) -> bool:
        """Whether the node can emit updates without -U, for a consumer that finds rows by key.

        A filter cannot: the row it kept may be updated to one it drops. A join over updates cannot either, since it
        would not know which of its former results to take back.
        """
        known = self._omitting.get(id(node))
        if known is None:
            known = self._omitting[id(node)] = (node, self._can_omit(node))
        return known[1]

    def _can_omit(self, node: Logical) -> bool:
        if not self.kinds(node).has_updates:
            return True
        match node:
            case Scan() | CompiledQuery() | Normalize() | Aggregate() | WindowAggregate() | Deduplicate():
                return True
            case Join():
                return not any(self.kinds(each).has_updates for each in inputs(node))
            case Filter():
                reads = input_indexes(node.condition)
                by_key = any(reads <= key for key in upsert_keys(node.input))
                return by_key and self.can_omit_update_before(node.input)
            case _:
                return all(self.can_omit_update_before(each) for each in inputs(node))
