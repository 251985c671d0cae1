"""Which operators share a call of Python, and which rows go from one to the next inside it. Pure data: no Spark.

A call costs more than what it does to few rows. So operators that stand beside each other share one; and where all rows
of a micro-batch are in one task, those that take another one's columns as they are run in its call, too. It reads what
they take of sources, where that is all that is taken of them. Where Spark reads, and rows are more than a few, it is
Spark that folds them, as far as it can: fewer come to Python.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import partial

from execnodes.core.types import BINARIES, LONG_DIGITS, NESTED, TEXTS, LogicalType, Root
from execnodes.lowering.event_times import MissingTime
from execnodes.lowering.slots import assign, decode
from execnodes.lowering.stream import KIND, wrap
from rekindle.pipeline.record import LocalRecord, Record, Step
from rekindle.pipeline.ways import Arm, Pipeline

_KINDS = f"{KIND} % 4"


class Size(Enum):
    """Of a micro-batch."""

    FEW = "one task, all in calls of Python"
    SMALL = "one task, in which Spark folds rows"
    LARGE = "a task for each subtask, and rows are exchanged"


@dataclass(frozen=True, slots=True)
class Handed:
    """Rows of an operator, a pre-aggregation or a source that an operator in the same call takes as they are."""

    origin: int
    consumer: int
    side: int
    """Which of its inputs."""
    slots: tuple[tuple[str, str], ...]
    """Of the consumer, and where the origin has them."""
    keys: tuple[str, ...] | None
    """Slots of the consumer that are hashed; None for one without key groups."""
    kinds: bool
    """Whether row kinds stay; else all rows are INSERTs."""
    fired: bool
    """Whether the consumer must know which rows the watermark gave (`FIRED`)."""
    times: tuple[tuple[str, MissingTime], ...] = ()
    """Slots of the consumer that must hold a time."""


@dataclass(frozen=True, slots=True)
class Host:
    """Operators and pre-aggregations of one call, by node id, inputs first."""

    members: tuple[int, ...]
    handed: tuple[Handed, ...] = ()
    native: bool = False
    """It is a pre-aggregation that Spark makes, and no call."""


@dataclass(frozen=True, slots=True)
class Hosts:
    """All of a pipeline, those first that others take rows of."""

    size: Size
    hosts: tuple[Host, ...]
    reading: frozenset[int] = frozenset()
    """Sources that calls read."""

    @property
    def handed(self) -> frozenset[tuple[int, int]]:
        """Origin and consumer of rows that stay in a call."""
        return frozenset((each.origin, each.consumer) for host in self.hosts for each in host.handed)


def hosts_of(pipeline: Pipeline, size: Size, readable: Collection[int] = ()) -> Hosts:
    """Those of a micro-batch. Where rows go to the task of their key before each operator, none are handed over.

    `readable`: sources whose columns calls can read.
    """
    reading = frozenset(number for number in readable if _all_handed(pipeline, number))
    while True:
        if size is Size.LARGE:
            reading = _folded(pipeline, reading)
        found = _hosts_of(pipeline, size, reading)
        # A source that operators of several calls read would be read in each.
        once = frozenset(number for number in reading if sum(map(partial(_reads, number), found.hosts)) == 1)
        if once == reading:
            return found
        reading = once


def _all_handed(pipeline: Pipeline, source: int) -> bool:
    arms = pipeline.leaving(source)
    steps = pipeline.record.steps
    return all(arm.consumer in steps and _handed(pipeline.record, arm) is not None for arm in arms)


def _folded(pipeline: Pipeline, reading: frozenset[int]) -> frozenset[int]:
    """Those of which only pre-aggregations take rows, which take none of others."""
    while True:
        found = frozenset(
            number
            for number in reading
            if all(
                isinstance(step := pipeline.record.steps[arm.consumer], LocalRecord)
                and all(branch.origin in reading for branch in step.rows.branches)
                for arm in pipeline.leaving(number)
            )
        )
        if found == reading:
            return found
        reading = found


def _reads(source: int, host: Host) -> bool:
    return any(each.origin == source for each in host.handed)


def _hosts_of(pipeline: Pipeline, size: Size, reading: frozenset[int]) -> Hosts:
    record = pipeline.record
    native = {
        number for number, step in record.steps.items() if size is not Size.FEW and _native(step, pipeline, reading)
    }
    passing: dict[Arm, Handed | None] = {}
    into: dict[int, list[Arm]] = defaultdict(list)
    for arm in pipeline.arms:
        origin, consumer = arm.branch.origin, arm.consumer
        if consumer in record.steps and origin != consumer:
            far = size is Size.LARGE and origin not in reading
            apart = far or native & {consumer, origin} or origin in record.sources.keys() - reading
            passing[arm] = None if apart else _handed(record, arm)
            into[consumer].append(arm)
    depths = dict.fromkeys(record.sources, 0)
    together: dict[tuple[int, bool, int], list[int]] = defaultdict(list)
    for number, step in record.steps.items():
        calls = number not in native
        deep = (depths[arm.branch.origin] + (calls and passing[arm] is None) for arm in into[number])
        depths[number] = max(calls, *deep, calls)
        # Rows are folded in the tasks that have them, before they are exchanged.
        exchanged = size is Size.LARGE and not isinstance(step, LocalRecord)
        reads = size is Size.LARGE and any(arm.branch.origin in reading for arm in into[number])
        together[depths[number], not calls, 2 * reads + exchanged if calls else number].append(number)
    return Hosts(
        size,
        tuple(
            Host(
                tuple(members),
                tuple(_inside({*members, *reading}, (arm for each in members for arm in into[each]), passing)),
                native=native_,
            )
            for (_, native_, _), members in sorted(together.items())
        ),
        reading,
    )


def _native(step: Step, pipeline: Pipeline, reading: Collection[int]) -> bool:
    """Whether Spark is to fold what comes to it, and may: it keeps no order of rows."""
    if not isinstance(step, LocalRecord) or step.kernel.native is None or pipeline.ordered:
        return False
    return not all(branch.origin in reading for branch in step.rows.branches)


def _inside(members: Collection[int], arms: Iterable[Arm], passing: dict[Arm, Handed | None]) -> Iterable[Handed]:
    for arm in arms:
        handed = passing[arm]
        if handed is not None and handed.origin in members:
            yield handed


def _handed(record: Record, arm: Arm) -> Handed | None:
    """How rows are handed over; None if Spark has something to compute."""
    branch = arm.branch
    if branch.condition is not None or branch.made or branch.kind not in (None, _KINDS):
        return None
    known, slots = _columns(record, branch.origin), list[tuple[str, str]]()
    times = list[tuple[str, MissingTime]]()
    for wanted, slot, text in zip(arm.types, assign(arm.types), branch.columns, strict=True):
        plain = text
        if text in record.checked:
            plain, missing = record.checked[text]
            times.append((slot, missing))
        found = known.get(plain)
        if found is None or not _same_slot(wanted, found[0]):
            return None
        slots.append((slot, found[1]))
    names = assign(arm.types)
    if any(_is_rewritten(arm.types[key]) for key in arm.keys or ()):
        return None
    keys = None if arm.keys is None else tuple(names[key] for key in arm.keys)
    kinds = branch.kind is not None
    return Handed(branch.origin, arm.consumer, arm.side, tuple(slots), keys, kinds, arm.fired, tuple(times))


def _columns(record: Record, origin: int) -> Mapping[str, tuple[LogicalType, str]]:
    """Types and slots of the columns of an origin that are the same in Spark and in a call, by their texts."""
    if origin in record.sources:
        types = [field.type for field in record.sources[origin].produced.fields]
        texts = [f"c{at}" for at in range(len(types))]
    else:
        types = [column.type for column in record.steps[origin].output]
        texts = [decode(t, slot) for t, slot in zip(types, assign(types), strict=True)]
    columns = [each for each in zip(texts, types, assign(types), strict=True) if each[1].root not in _RENDERED]
    # A projection has put parentheses around them.
    return {known: (t, slot) for text, t, slot in columns for known in (text, wrap(text))}


def _is_rewritten(t: LogicalType) -> bool:
    """Whether Spark writes a slot's text in another way than calls do, so that its hash would be another one."""
    return t.root is Root.DECIMAL and t.precision > LONG_DIGITS


_RENDERED = frozenset((*NESTED, Root.NULL))
"""Their slots hold texts that Spark writes in its own way, and these are hashed."""


def _same_slot(one: LogicalType, other: LogicalType) -> bool:
    lengths = any(one.root in family and other.root in family for family in (TEXTS, BINARIES))
    return lengths or one.same_values(other)
