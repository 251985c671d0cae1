"""Second half: the ways that rows take from their origins to their consumers. Pure data: no Spark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from execnodes.core.types import LogicalType
from execnodes.lowering.slots import SlotLayout, assign, encode, encode_key, unused
from execnodes.lowering.spark_sql import spark_type
from execnodes.lowering.stream import FIRED, HASH, KIND, MAJOR, SEQUENCE, WATERMARK, Branch, Rows
from rekindle.connectors.registry import waits_for_time
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
    compared: tuple[int, ...] = ()
    """Columns that are keys inside the consumer; they come in the form in which equal values are one."""

    def slot(self, column: int) -> str:
        """Spark SQL text of a column's slot."""
        text, t = self.branch.columns[column], self.types[column]
        return encode_key(t, text) if column in self.compared else encode(t, text)


@dataclass(frozen=True)
class Pipeline:
    """A record with its ways."""

    record: Record
    arms: tuple[Arm, ...]
    ordered: bool
    uses_time: bool

    def leaving(self, origin: int) -> tuple[Arm, ...]:
        """Arms that start at an origin."""
        return tuple(arm for arm in self.arms if arm.branch.origin == origin)

    @cached_property
    def operators_above(self) -> Mapping[str, frozenset[str]]:
        """Operators that rows of an operator may come from, by uid."""
        found, above = dict[str, frozenset[str]](), dict[int, frozenset[str]]()
        for number, step in self.record.steps.items():
            origins = {branch.origin for given in step.inputs for branch in given.rows.branches}
            above[number] = frozenset[str]().union(*(above.get(each, frozenset()) for each in origins))
            if isinstance(step, OperatorRecord):
                found[step.operator.uid] = above[number]
                above[number] |= {step.operator.uid}
        return found

    def sink_hidden(self) -> tuple[str, ...]:
        """Hidden columns a sink is given."""
        return (KIND, MAJOR, SEQUENCE) if self.ordered else (KIND,)

    def hidden(self) -> tuple[str, ...]:
        """Hidden columns of every frame between stages, besides the hash."""
        order = (SEQUENCE, MAJOR) if self.ordered else ()
        return (KIND, *order, *((WATERMARK,) if self.record.row_watermarks else ()))


def plan_ways(record: Record) -> Pipeline:
    """Find the ways of a record."""
    operators = [step.operator for step in record.steps.values() if isinstance(step, OperatorRecord)]
    ordered = any(operator.ordered for operator in operators) or any(_needs_order(record, s) for s in record.sinks)
    return Pipeline(
        record,
        tuple(_arms(record)),
        ordered=ordered or record.row_watermarks or record.every_change,
        uses_time=any(operator.uses_time for operator in operators) or any(map(_waits_for_time, record.sinks)),
    )


def _arms(record: Record) -> Iterator[Arm]:
    for node_id, step in record.steps.items():
        for side, given in enumerate(step.inputs):
            keys = given.keys if isinstance(step, OperatorRecord) else None
            compared = step.kernel.keys if isinstance(step, LocalRecord) else given.keys
            types = _types(given.rows)
            for branch in given.rows.branches:
                fired = _timed(step) and _timed(record.steps.get(branch.origin))
                yield Arm(node_id, side, branch, types, keys, fired, compared)
    for sink in record.sinks:
        yield from (Arm(sink.node.id, 0, branch, _types(sink.rows), None) for branch in sink.rows.branches)


def _types(rows: Rows) -> tuple[LogicalType, ...]:
    return tuple(field.type for field in rows.type.fields)


def _timed(step: Step | None) -> bool:
    if isinstance(step, LocalRecord):
        return step.kernel.uses_time
    return isinstance(step, OperatorRecord) and step.operator.uses_time


def _waits_for_time(sink: SinkRecord) -> bool:
    table = sink.table.resolved_table
    return table is not None and waits_for_time(table.options or {})


def _needs_order(record: Record, sink: SinkRecord) -> bool:
    """A keyed sink must see rows that come straight from a source in their order: the last one of a key counts."""
    table = sink.table.resolved_table
    keyed = table is not None and table.table_schema.primary_key is not None
    return keyed and any(branch.origin in record.sources for branch in sink.rows.branches)


def slot_texts(arm: Arm, layout: SlotLayout) -> dict[str, str]:
    """Spark SQL text of every slot of a layout for the rows of an arm."""
    texts = {slot: arm.slot(column) for column, slot in enumerate(assign(arm.types))}
    return {name: texts.get(name, unused(name)) for name in layout.names()}


def hidden_texts(arm: Arm, hidden: tuple[str, ...], from_source: bool) -> dict[str, str]:
    """Spark SQL text of the hidden columns and the key's hash, if it has one, for the rows of an arm."""
    fired = f" + ({KIND} & {FIRED})" if arm.fired else ""
    kind = f"CAST({arm.branch.kind or '0'} + {4 * arm.side}{fired} AS TINYINT)"
    texts = {KIND: kind}
    for name in hidden:
        if name != KIND:
            texts[name] = "CAST(NULL AS BIGINT)" if from_source and name == WATERMARK else name
    if arm.keys:
        texts[HASH] = f"xxhash64({', '.join(map(arm.slot, arm.keys))})"
    elif arm.keys is not None:
        texts[HASH] = "CAST(0 AS BIGINT)"
    return texts


def typed_texts(arm: Arm) -> dict[str, str]:
    """Columns of a sink's own types."""
    return {
        f"c{i}": f"CAST({text} AS {spark_type(t)})"
        for i, (t, text) in enumerate(zip(arm.types, arm.branch.columns, strict=True))
    }
