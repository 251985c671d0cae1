"""Which operators share a call of Python, and which rows go from one to the next inside it. Pure data: no Spark.

A call costs more than what it does to few rows. So operators that stand beside each other share one; and where all rows
of a micro-batch are in one task, those that take another one's columns as they are run in its call, too. Where rows are
more than a few, it is Spark that folds them, as far as it can: fewer come to Python.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from execnodes.core.types import BINARIES, NESTED, TEXTS, LogicalType, Root
from execnodes.lowering.slots import assign, decode
from execnodes.lowering.stream import KIND
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
    """Rows of an operator, or a pre-aggregation, that another one in the same call takes as they are."""

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

    @property
    def handed(self) -> frozenset[tuple[int, int]]:
        """Origin and consumer of rows that stay in a call."""
        return frozenset((each.origin, each.consumer) for host in self.hosts for each in host.handed)


def hosts_of(pipeline: Pipeline, size: Size) -> Hosts:
    """Those of a micro-batch. Where rows go to the task of their key before each operator, none are handed over."""
    record = pipeline.record
    native = {number for number, step in record.steps.items() if size is Size.SMALL and _native(step, pipeline)}
    passing: dict[Arm, Handed | None] = {}
    into: dict[int, list[Arm]] = defaultdict(list)
    for arm in pipeline.arms:
        if arm.consumer in record.steps and arm.branch.origin != arm.consumer:
            apart = size is Size.LARGE or native & {arm.consumer, arm.branch.origin}
            passing[arm] = None if apart else _handed(record, arm)
            into[arm.consumer].append(arm)
    depths = dict.fromkeys(record.sources, 0)
    together: dict[tuple[int, bool, int], list[int]] = defaultdict(list)
    for number, step in record.steps.items():
        calls = number not in native
        deep = (depths[arm.branch.origin] + (calls and passing[arm] is None) for arm in into[number])
        depths[number] = max(calls, *deep, calls)
        # Rows are folded in the tasks that have them, before they are exchanged.
        exchanged = size is Size.LARGE and not isinstance(step, LocalRecord)
        together[depths[number], not calls, exchanged if calls else number].append(number)
    return Hosts(
        size,
        tuple(
            Host(
                tuple(members),
                tuple(_inside(members, (arm for each in members for arm in into[each]), passing)),
                native=native_,
            )
            for (_, native_, _), members in sorted(together.items())
        ),
    )


def _native(step: Step, pipeline: Pipeline) -> bool:
    """Whether Spark may fold what comes to it: it keeps no order of rows."""
    return isinstance(step, LocalRecord) and step.kernel.native is not None and not pipeline.ordered


def _inside(members: list[int], arms: Iterable[Arm], passing: dict[Arm, Handed | None]) -> Iterable[Handed]:
    for arm in arms:
        handed = passing[arm]
        if handed is not None and handed.origin in members:
            yield handed


def _handed(record: Record, arm: Arm) -> Handed | None:
    """How rows are handed over; None if Spark has something to compute."""
    branch, origin = arm.branch, record.steps.get(arm.branch.origin)
    if origin is None or branch.condition is not None or branch.made or branch.kind not in (None, _KINDS):
        return None
    types = [column.type for column in origin.output]
    known = {
        decode(t, slot): (t, slot) for t, slot in zip(types, assign(types), strict=True) if t.root not in _RENDERED
    }
    slots = []
    for wanted, slot, text in zip(arm.types, assign(arm.types), branch.columns, strict=True):
        found = known.get(text)
        if found is None or not _same_slot(wanted, found[0]):
            return None
        slots.append((slot, found[1]))
    names = assign(arm.types)
    keys = None if arm.keys is None else tuple(names[key] for key in arm.keys)
    return Handed(branch.origin, arm.consumer, arm.side, tuple(slots), keys, branch.kind is not None, arm.fired)


_RENDERED = frozenset((*NESTED, Root.NULL))
"""Their slots hold texts that Spark writes in its own way, and these are hashed."""


def _same_slot(one: LogicalType, other: LogicalType) -> bool:
    lengths = any(one.root in family and other.root in family for family in (TEXTS, BINARIES))
    return lengths or one.same_values(other)
