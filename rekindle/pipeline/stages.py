"""Second half: which operators run together. Pure data: no Spark.

Operators are spread over *stages* by depth. Keyed stages host stateful operators behind one shuffle, local stages fold
rows inside their task. Rows for a later stage pass through the stages between, so that no part of a plan runs twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from execnodes.core.types import LogicalType
from execnodes.engine.inlet import Inlet
from execnodes.engine.slot_frames import TAG
from execnodes.lowering.slots import SlotLayout, assign, encode, unused
from execnodes.lowering.spark_sql import spark_type
from execnodes.lowering.stream import FIRED, HASH, KIND, MAJOR, SEQUENCE, WATERMARK, Branch, Rows
from rekindle.pipeline.record import LocalRecord, OperatorRecord, Record, SinkRecord, Step


@dataclass(frozen=True)
class Arm:
    """Rows of one branch on their way to one consumer."""

    consumer: int
    """Node id of the operator, pre-aggregation or sink."""
    side: int
    """Which of its inputs."""
    branch: Branch
    types: tuple[LogicalType, ...]
    keys: tuple[int, ...] | None
    """Columns that choose the key group; None where the consumer has none."""
    fired: bool = False
    """Whether the consumer must know which rows the watermark gave (`FIRED`)."""
    straight: bool = False
    """Results of a pre-aggregation that has no other consumer, as they are, by the keys they were folded by."""

    def key_slots(self) -> tuple[str, ...] | None:
        """Slots of its key's columns; None where it has none."""
        slots = assign(self.types)
        return None if self.keys is None else tuple(slots[key] for key in self.keys)


@dataclass(frozen=True)
class Stage:
    """Operators that run at one depth."""

    keyed: bool
    members: tuple[int, ...]
    """Node ids."""


@dataclass(frozen=True)
class Pipeline:
    """A record with its stages."""

    record: Record
    stages: tuple[Stage, ...]
    level: dict[int, int]
    """Node id of an operator or pre-aggregation to its stage; sinks come after the last."""
    arms: tuple[Arm, ...]
    ordered: bool
    uses_time: bool

    def leaving(self, origin: int) -> tuple[Arm, ...]:
        """Arms that start at an origin."""
        return tuple(arm for arm in self.arms if arm.branch.origin == origin)

    def level_of(self, arm: Arm) -> int:
        """Stage of an arm's consumer. Sinks stand behind all stages, also those that have an operator before them."""
        behind = len(self.stages)
        return behind if arm.branch.origin == arm.consumer else self.level.get(arm.consumer, behind)

    def boundary(self, index: int) -> tuple[Arm, ...]:
        """Arms whose rows are in the input frame of stage `index` (or, behind the last, of the sinks)."""
        return tuple(arm for arm in self.arms if self.level.get(arm.branch.origin, -1) < index <= self.level_of(arm))

    def passing(self, index: int) -> tuple[Arm, ...]:
        """Arms whose rows go through a stage on their way to a later one."""
        return tuple(arm for arm in self.boundary(index) if self.level_of(arm) > index)

    def output_layout(self, index: int) -> SlotLayout:
        """Slots of the frame that leaves a stage: results of its members, and rows that pass through."""
        steps = (self.record.steps[member] for member in self.stages[index].members)
        produced = [[column.type for column in step.output] for step in steps]
        passing = [arm.types for arm in self.passing(index)]
        return SlotLayout.of([*produced, *passing])

    def input_layout(self, index: int) -> SlotLayout:
        """Slots of the frame that enters a stage or, behind the last, the sinks."""
        return SlotLayout.of(arm.types for arm in self.boundary(index))

    def keeps_hash(self, index: int) -> bool:
        """Whether rows that leave a stage are hashed already: they pass through, or go straight on."""
        return self.onward(index) is not None or any(arm.keys is not None for arm in self.passing(index))

    def onward(self, index: int) -> Arm | None:
        """The one way out of a local stage, if rows need nothing between it and the operator behind it."""
        ways = () if self.stages[index].keyed else self.boundary(index + 1)
        if len(ways) != 1 or len(self.stages[index].members) != 1 or self.level_of(ways[0]) != index + 1:
            return None
        return ways[0] if ways[0].straight else None

    def inlet(self, index: int) -> Inlet:
        """What the rows that enter a stage lack on their way into Python."""
        arms = self.boundary(index)
        constants = {}
        # Frames without a column would not know how many rows they have.
        if len({arm.consumer for arm in arms}) == 1 and self.input_layout(index).names():
            constants[TAG] = arms[0].consumer
        if len({arm.side for arm in arms}) == 1 and all(arm.branch.kind is None and not arm.fired for arm in arms):
            constants[KIND] = 4 * arms[0].side
        return Inlet(constants, _numeric_keys(arms) if self.stages[index].keyed else None)

    def sink_hidden(self) -> tuple[str, ...]:
        """Hidden columns a sink is given."""
        return (KIND, MAJOR, SEQUENCE) if self.ordered else (KIND,)

    def hidden(self) -> tuple[str, ...]:
        """Hidden columns of every frame between stages, besides the tag and the hash."""
        order = (SEQUENCE, MAJOR) if self.ordered else ()
        return (KIND, *order, *((WATERMARK,) if self.record.row_watermarks else ()))


def plan_stages(record: Record) -> Pipeline:
    """Spread the steps of a record over stages."""
    raw: dict[int, int] = {}
    for node_id, step in record.steps.items():
        # Stages alternate, even ones local and odd ones keyed; the empty ones are closed up below.
        below = max((raw[origin] for origin in _origins(step) if origin in raw), default=-1)
        parity = int(isinstance(step, OperatorRecord))
        raw[node_id] = next(each for each in (below + 1, below + 2) if each % 2 == parity)
    used = sorted(set(raw.values()))
    stages = tuple(
        Stage(bool(number % 2), tuple(sorted(node_id for node_id, each in raw.items() if each == number)))
        for number in used
    )
    operators = [step.operator for step in record.steps.values() if isinstance(step, OperatorRecord)]
    ordered = any(operator.ordered for operator in operators) or any(_needs_order(record, s) for s in record.sinks)
    return Pipeline(
        record,
        stages,
        {node_id: used.index(each) for node_id, each in raw.items()},
        tuple(_arms(record)),
        ordered=ordered or record.row_watermarks or record.every_change,
        uses_time=any(operator.uses_time for operator in operators),
    )


def _origins(step: Step) -> set[int]:
    return {branch.origin for given in step.inputs for branch in given.rows.branches}


def _lone(record: Record) -> set[int]:
    """Pre-aggregations whose rows go to one operator, as they are and by the keys they were folded by."""
    used = Counter(branch.origin for rows in _consumed(record) for branch in rows.branches)
    found = set()
    for step in record.steps.values():
        if isinstance(step, OperatorRecord) and len(step.inputs) == 1:
            (given,) = step.inputs
            origin = record.steps.get(given.rows.branches[0].origin)
            if isinstance(origin, LocalRecord) and given.rows == origin.result and given.keys == origin.leading:
                found.add(origin.node.id)
    return {node_id for node_id in found if used[node_id] == 1}


def _consumed(record: Record) -> Iterator[Rows]:
    yield from (given.rows for step in record.steps.values() for given in step.inputs)
    yield from (sink.rows for sink in record.sinks)


def _arms(record: Record) -> Iterator[Arm]:
    lone = _lone(record)
    for node_id, step in record.steps.items():
        for side, given in enumerate(step.inputs):
            keys = given.keys if isinstance(step, OperatorRecord) else None
            types = _types(given.rows)
            for branch in given.rows.branches:
                fired = _timed(step) and _timed(record.steps.get(branch.origin))
                yield Arm(node_id, side, branch, types, keys, fired, branch.origin in lone)
    for sink in record.sinks:
        yield from (Arm(sink.node.id, 0, branch, _types(sink.rows), None) for branch in sink.rows.branches)


def _types(rows: Rows) -> tuple[LogicalType, ...]:
    return tuple(field.type for field in rows.type.fields)


def _numeric_keys(arms: tuple[Arm, ...]) -> tuple[str, ...] | None:
    """Slots of the key of all arms, if they are numbers: texts are hashed faster by Spark."""
    keys = {arm.key_slots() for arm in arms}
    found = keys.pop()
    return None if keys or found is None or any(slot[0] in "sb" for slot in found) else found


def _timed(step: Step | None) -> bool:
    if isinstance(step, LocalRecord):
        return step.kernel.uses_time
    return isinstance(step, OperatorRecord) and step.operator.uses_time


def _needs_order(record: Record, sink: SinkRecord) -> bool:
    """A keyed sink must see rows that come straight from a source in their order: the last one of a key counts."""
    table = sink.table.resolved_table
    keyed = table is not None and table.table_schema.primary_key is not None
    return keyed and any(branch.origin in record.sources for branch in sink.rows.branches)


def slot_texts(arm: Arm, layout: SlotLayout) -> dict[str, str]:
    """Spark SQL text of every slot of a layout for the rows of an arm."""
    texts = {
        slot: encode(t, text) for t, slot, text in zip(arm.types, assign(arm.types), arm.branch.columns, strict=True)
    }
    return {name: texts.get(name, unused(name)) for name in layout.names()}


def hidden_texts(arm: Arm, hidden: tuple[str, ...], from_source: bool) -> dict[str, str]:
    """Spark SQL text of the tag, the hidden columns and the key's hash for the rows of an arm."""
    fired = f" + ({KIND} & {FIRED})" if arm.fired else ""
    kind = f"CAST({arm.branch.kind or '0'} + {4 * arm.side}{fired} AS TINYINT)"
    texts = {TAG: str(arm.consumer), KIND: kind}
    for name in hidden:
        if name != KIND:
            texts[name] = "CAST(NULL AS BIGINT)" if from_source and name == WATERMARK else name
    if arm.keys is None:
        texts[HASH] = "CAST(NULL AS BIGINT)"
    elif arm.keys:
        keys = (encode(arm.types[key], arm.branch.columns[key]) for key in arm.keys)
        texts[HASH] = f"xxhash64({', '.join(keys)})"
    else:
        texts[HASH] = "CAST(0 AS BIGINT)"
    return texts


def typed_texts(arm: Arm) -> dict[str, str]:
    """Columns of a sink's own types: for a pipeline with one sink there is nothing to share slots with."""
    return {
        f"c{i}": f"CAST({text} AS {spark_type(t)})"
        for i, (t, text) in enumerate(zip(arm.types, arm.branch.columns, strict=True))
    }
