"""Which operators share a call of Python, and which rows go from one to the next inside it. Pure data: no Spark.

A call costs more than what it does to few rows. So operators that stand beside each other share one; and where all rows
of a micro-batch are in one task, those that take another one's columns as they are run in its call, too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from execnodes.core.types import BINARIES, NESTED, TEXTS, LogicalType, Root
from execnodes.lowering.slots import assign, decode
from execnodes.lowering.stream import KIND
from rekindle.pipeline.record import LocalRecord, Record
from rekindle.pipeline.ways import Arm, Pipeline

_KINDS = f"{KIND} % 4"


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


@dataclass(frozen=True, slots=True)
class Hosts:
    """All of a pipeline, those first that others take rows of."""

    hosts: tuple[Host, ...]

    @property
    def handed(self) -> frozenset[tuple[int, int]]:
        """Origin and consumer of rows that stay in a call."""
        return frozenset((each.origin, each.consumer) for host in self.hosts for each in host.handed)


def hosts_of(pipeline: Pipeline, *, exchanged: bool) -> Hosts:
    """`exchanged`: rows go to the task of their key before each operator, so that none are handed over."""
    record = pipeline.record
    depths = dict.fromkeys(record.sources, 0)
    passing: dict[Arm, Handed | None] = {}
    into: dict[int, list[Arm]] = defaultdict(list)
    for arm in pipeline.arms:
        if arm.consumer in record.steps and arm.branch.origin != arm.consumer:
            passing[arm] = None if exchanged else _handed(record, arm)
            into[arm.consumer].append(arm)
    for number in record.steps:
        deep = (depths[arm.branch.origin] + (passing[arm] is None) for arm in into[number])
        depths[number] = max(1, *deep, 1)
    together: dict[tuple[int, bool], list[int]] = defaultdict(list)
    for number, step in record.steps.items():
        # Rows are folded in the tasks that have them, before they are exchanged.
        together[depths[number], exchanged and not isinstance(step, LocalRecord)].append(number)
    return Hosts(
        tuple(
            Host(tuple(members), tuple(_inside(members, (a for each in members for a in into[each]), passing)))
            for _, members in sorted(together.items())
        )
    )


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
