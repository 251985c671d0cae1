"""Joins of two inputs: inner, outer, semi and anti, whatever the condition."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

from execnodes.core.changelog import INSERT_ONLY, ChangelogMode
from execnodes.core.errors import Position
from execnodes.core.expressions import Call, Expression, InputRef, input_indexes, remap
from execnodes.core.places import Place
from execnodes.core.types import TEXTS, Field, LogicalType, Root, TimeKind, row
from planner.algebra.columns import pick
from planner.algebra.extent import parts_of
from planner.algebra.intervals import Interval, TimeBound, find_interval, find_time_bounds
from planner.algebra.keys import Key, shifted
from planner.algebra.predicates import conjuncts, function_name
from planner.algebra.relation import ALL_CHANGES, Logical, Places, Pruning, kinds_of
from planner.algebra.windows import END, START, WindowColumn


class JoinType(StrEnum):
    """Kinds of join; SEMI and ANTI come from EXISTS and IN."""

    INNER = "INNER"
    LEFT = "LEFT"
    RIGHT = "RIGHT"
    FULL = "FULL"
    SEMI = "SEMI"
    ANTI = "ANTI"


def joined_type(left: LogicalType, right: LogicalType, kind: JoinType) -> LogicalType:
    """The columns of both sides; those of a side that is padded where nothing matches may be NULL."""
    pads_left, pads_right = kind in (JoinType.RIGHT, JoinType.FULL), kind in (JoinType.LEFT, JoinType.FULL)
    fields = [_padded(field, pads_left) for field in left.fields] + [_padded(f, pads_right) for f in right.fields]
    return row(*fields).not_null()


def _padded(field: Field, pads: bool) -> Field:
    return Field(field.name, field.type.with_nullable(True)) if pads else field


@dataclass(frozen=True)
class JoinedWindows:
    """Columns with the start and the end of the windows of which a join compares rows, from 0 on each side."""

    left: tuple[int, int]
    right: tuple[int, int]
    by_event_time: bool
    strict: bool
    """Compared by ``=``, as somebody wrote it; INTERSECT and EXCEPT compare by IS NOT DISTINCT FROM."""


@dataclass(frozen=True)
class Join(Logical):
    """A join; the condition is over left and right columns.

    Where it compares the windows of two inputs that only add rows, it is a window join: of each window once it has
    ended. It then keeps event times and, but of a side that may be NULL, windows. Where it bounds the time between rows
    of such inputs, it is an interval join, which keeps event times. A temporal join, INNER or LEFT, keeps those of the
    left side.
    """

    left: Logical
    right: Logical
    kind: JoinType
    condition: Expression
    type: LogicalType
    ttl: tuple[str | None, str | None] = (None, None)
    """STATE_TTL hint, left and right."""
    position: Position | None = None
    looks_up: bool = False
    """FOR SYSTEM_TIME AS OF the processing time of left rows: `recognise_lookup_joins` makes a `LookupJoin` of it."""
    as_of: tuple[int, int] | None = None
    """FOR SYSTEM_TIME AS OF an event time: left column, and the right one (from 0) with the time of a version."""
    place: Place | None = None

    @property
    def inputs(self) -> tuple[Logical, ...]:
        """Left and right."""
        return (self.left, self.right)

    def over(self, inputs: Sequence[Logical]) -> Join:
        """The same join of others."""
        return replace(self, left=inputs[0], right=inputs[1])

    @property
    def gives_left_only(self) -> bool:
        """Whether the right side only decides which rows of the left side stay."""
        return self.kind in (JoinType.SEMI, JoinType.ANTI)

    @cached_property
    def joined_windows(self) -> JoinedWindows | None:
        """Of an equality of start and one of end (Flink: `WindowJoinUtil`, which compares nullability, too)."""
        bounds = list(self._equal_bounds())
        for start, starts, strict in bounds:
            for end, ends, also in bounds:
                if (start.property, end.property) == (START, END) and start.window == end.window:
                    by_event_time = start.time_type.kind is not TimeKind.PROCTIME
                    return JoinedWindows(
                        (starts[0], ends[0]), (starts[1], ends[1]), by_event_time, strict=strict and also
                    )
        return None

    def _equal_bounds(self) -> Iterator[tuple[WindowColumn, tuple[int, int], bool]]:
        """Columns of windows that must be equal: what the left one is, left and right column, whether by ``=``."""
        pairs, _ = join_keys(self)
        for left, right, strict in pairs:
            mine, its = self.left.window_columns.get(left), self.right.window_columns.get(right)
            nullable = self.left.type.fields[left].type.nullable or self.right.type.fields[right].type.nullable
            if mine is not None and its is not None and mine.is_of_same_window(its) and (strict or not nullable):
                yield mine, (left, right), strict

    @cached_property
    def is_window_join(self) -> bool:
        """Whether it waits for the ends of windows."""
        windows = None if self.as_of is not None else self.joined_windows
        return windows is not None and windows.by_event_time and all(each.kinds.insert_only for each in self.inputs)

    @cached_property
    def time_bounds(self) -> list[TimeBound]:
        """What makes it an interval join, be it one that can run or not; none if it is no such join."""
        if self.gives_left_only or self.looks_up or self.as_of is not None or self.is_window_join:
            return []
        return find_time_bounds(self.left, self.right, conjuncts(self.condition))

    @cached_property
    def interval(self) -> Interval | None:
        """How far apart the times of its rows may be, if it is an interval join."""
        interval = find_interval(self.time_bounds)
        if interval is None or not all(each.kinds.insert_only for each in self.inputs):
            return None
        left, right = self.left.type.fields[interval.left].type, self.right.type.fields[interval.right].type
        return interval if left.root is right.root else None

    @property
    def keeps_times(self) -> bool:
        """Whether its rows have the event times of its inputs."""
        return self.is_window_join or self.interval is not None

    @cached_property
    def event_times(self) -> frozenset[int]:
        """Those of both sides of a window join or an interval join, and of the left one of a temporal join."""
        if self.as_of is not None:
            return self.left.event_times
        if not self.keeps_times:
            return frozenset()
        width = len(self.left.type.fields)
        right = frozenset() if self.gives_left_only else self.right.event_times
        return self.left.event_times | {width + each for each in right}

    @cached_property
    def window_columns(self) -> dict[int, WindowColumn]:
        """Those of the sides of a window join that are never NULL."""
        if not self.is_window_join:
            return {}
        width = len(self.left.type.fields)
        left = {} if self.kind in (JoinType.RIGHT, JoinType.FULL) else self.left.window_columns
        right = self.right.window_columns if self.kind in (JoinType.INNER, JoinType.RIGHT) else {}
        return left | {width + at: each for at, each in right.items()}

    @cached_property
    def kinds(self) -> ChangelogMode:
        """Padding, and rows without a partner, come and go; joins in time give what stays."""
        if self.as_of is not None:
            return self.left.kinds
        if self.keeps_times:
            return INSERT_ONLY
        return kinds_of(self.inputs) if self.kind in (JoinType.INNER, JoinType.SEMI) else ALL_CHANGES

    def updates_without_before(self) -> bool:
        """Not over updates: it would not know which of its former results to take back."""
        return not any(each.kinds.has_updates for each in self.inputs)

    def keys_of_rows(self) -> Iterable[Key]:
        """Keys of a side live on where each of its rows meets at most one row; together they are always a key."""
        if self.as_of is not None:
            yield from self.left.upsert_keys
            return
        pairs, _ = join_keys(self)
        lefts, rights = {left for left, _, _ in pairs}, {right for _, right, _ in pairs}
        left = {key for key in self.left.upsert_keys if lefts <= key}
        if self.gives_left_only:
            yield from left
            return
        width = len(self.left.type.fields)
        right = {key for key in self.right.upsert_keys if rights <= key}
        if any(key <= rights for key in right) and self.kind in (JoinType.INNER, JoinType.LEFT):
            yield from left
        if any(key <= lefts for key in left) and self.kind in (JoinType.INNER, JoinType.RIGHT):
            yield from (shifted(key, width) for key in right)
        yield from (mine | shifted(its, width) for mine in left for its in right)

    def pruned(self, needed: frozenset[int], pruning: Pruning) -> tuple[Join, Places]:
        """What is needed and what the join reads; at least one column a side."""
        width = len(self.left.type.fields)
        times = frozenset() if self.as_of is None else {self.as_of[0], width + self.as_of[1]}
        read = needed | input_indexes(self.condition) | times
        left, lefts = pruning.exactly(self.left, sorted(each for each in read if each < width) or [0])
        right, rights = pruning.exactly(self.right, sorted(each - width for each in read if each >= width) or [0])
        moved = lefts | {width + old: len(lefts) + new for old, new in rights.items()}
        kept = sorted(lefts if self.gives_left_only else moved)
        condition = remap(self.condition, moved.__getitem__)
        as_of = None if self.as_of is None else (lefts[self.as_of[0]], rights[self.as_of[1]])
        type = pick(self.type, kept)
        joined = replace(self, left=left, right=right, condition=condition, type=type, as_of=as_of)
        return joined, {each: moved[each] for each in kept}

    @property
    def parts(self) -> int:
        """Those of the condition."""
        return parts_of((self.condition,))

    @property
    def keeps_state(self) -> bool:
        """Yes."""
        return True


def join_keys(node: Join) -> tuple[tuple[tuple[int, int, bool], ...], tuple[Expression, ...]]:
    """(left column, right column from 0, NULL never matches) of each equality, and the rest of the condition."""
    width = len(node.left.type.fields)
    keys: dict[tuple[int, int, bool], None] = {}
    rest = []
    for each in conjuncts(node.condition):
        pair = find_key_pair(each, width)
        if pair is None:
            rest.append(each)
        else:
            keys[pair] = None
    return tuple(keys), tuple(rest)


def find_key_pair(condition: Expression, width: int) -> tuple[int, int, bool] | None:
    """As in `join_keys`; None for a condition that is no equality of two columns by which rows can be found."""
    if not isinstance(condition, Call) or function_name(condition) not in ("=", "IS NOT DISTINCT FROM"):
        return None
    first, second = condition.operands
    if not isinstance(first, InputRef) or not isinstance(second, InputRef):
        return None
    if not _hash_alike(first.type, second.type):
        return None
    low, high = sorted((first.input_index, second.input_index))
    return (low, high - width, function_name(condition) == "=") if low < width <= high else None


def _hash_alike(left: LogicalType, right: LogicalType) -> bool:
    """Whether equal values of the two types can be found by one hash."""
    if left.root in TEXTS and right.root in TEXTS:
        return True
    if left.root is Root.DECIMAL and right.root is Root.DECIMAL:
        return left.with_nullable(True) == right.with_nullable(True)
    return left.root == right.root and left.children == right.children and left.fields == right.fields
