"""First half of running a graph: every node says what it wants (`Lowering`), and it is written down as data."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import gcd

from execnodes.core.changelog import ChangelogMode
from execnodes.core.errors import PlanError
from execnodes.core.expressions import Expression, Literal, input_indexes
from execnodes.core.graph import ExecGraph
from execnodes.core.inner_names import inner_type, with_inner_names
from execnodes.core.node import ExecNode
from execnodes.core.options import parse_duration
from execnodes.core.places import Place, of_node, one_lowering
from execnodes.core.predicates import supported
from execnodes.core.sink_node import SinkNode
from execnodes.core.tables import Column as TableColumn
from execnodes.core.tables import TableReference
from execnodes.core.types import Field, LogicalType, TimeKind, row
from execnodes.lowering.event_times import MissingTime
from execnodes.lowering.slots import assign, decode
from execnodes.lowering.stream import KIND, WATERMARK, Branch, Condition, Made, OperatorInput, Rows, wrap
from execnodes.lowering.words import mentions
from execnodes.state.kernel_types import Column
from execnodes.state.operator import LocalKernel, Operator
from rekindle.pipeline.resolved import in_full

IDLE_TIMEOUT = "table.exec.source.idle-timeout"
_NEVER = "CAST(NULL AS TIMESTAMP)"
"""Text of the watermark that a row moves the stream to."""
_COLUMN = re.compile(r"c\d+")
"""Of a source."""


@dataclass(frozen=True, slots=True)
class Move:
    """The watermark that a row of a source moves the stream to, as kernels compute it."""

    value: Expression
    columns: tuple[str, ...]
    """The source's columns (``c0``) that it reads, by input index."""

    @classmethod
    def of(cls, value: Expression, branch: Branch) -> Move | None:
        """None if Spark has something to compute for it."""
        read = {branch.columns[at] for at in input_indexes(value)}
        plain = branch.condition is None and not branch.made and all(map(_COLUMN.fullmatch, read))
        return cls(value, branch.columns) if plain and supported(value) else None


@dataclass
class SourceRecord:
    """A scan or inline rows: an origin."""

    node: ExecNode
    produced: LogicalType
    table: TableReference | None
    tuples: tuple[tuple[Literal, ...], ...] = ()
    condition: Condition | None = None
    """Only rows for which it is TRUE are wanted."""
    event_times: list[str] = field(default_factory=list)
    """Texts of the watermark that a row moves the stream to (a Spark TIMESTAMP, null for rows that do not count)."""
    moves: list[Move | None] = field(default_factory=list)
    """The same without Spark, as far as that can be said."""
    assigners: list[ExecNode] = field(default_factory=list)
    """Nodes that say so."""
    made: list[tuple[Made, ...]] = field(default_factory=list)
    """Columns that these texts name."""

    @property
    def uid(self) -> str:
        """By which a savepoint knows its position."""
        return self.node.uid("values" if self.table is None else "source")

    @property
    def idle_after(self) -> int:
        """Milliseconds of silence after which it is idle; 0 if never: every assigner above it has a say."""
        return min((parse_duration(each.option(IDLE_TIMEOUT)) for each in self.assigners), default=0)

    @property
    def connector(self) -> str:
        """Identifier of the table's connector; empty for inline rows and tables without options."""
        resolved = self.table.resolved_table if self.table is not None else None
        return (resolved.options or {}).get("connector", "") if resolved is not None else ""


@dataclass(frozen=True)
class OperatorRecord:
    """A stateful operator and what feeds it."""

    node: ExecNode
    operator: Operator
    inputs: tuple[OperatorInput, ...]
    behind: int = 0
    """Milliseconds by which its watermark is less than the job's."""

    @property
    def output(self) -> tuple[Column, ...]:
        """Columns of its result."""
        return self.operator.output

    @property
    def gives_behind(self) -> int:
        """Milliseconds by which the watermark of its result is less than the job's."""
        return self.behind + (self.operator.delay or 0)


@dataclass(frozen=True)
class LocalRecord:
    """A pre-aggregation and what feeds it."""

    node: ExecNode
    kernel: LocalKernel
    rows: Rows
    result: Rows
    gives_behind: int = 0
    """As of an operator."""

    @property
    def leading(self) -> tuple[int, ...]:
        """The keys' columns in the result."""
        return tuple(range(len(self.kernel.keys)))

    @property
    def inputs(self) -> tuple[OperatorInput, ...]:
        """Its one input; rows stay in their task, so no columns choose a key group."""
        return (OperatorInput(self.rows, ()),)

    @property
    def output(self) -> tuple[Column, ...]:
        """Columns of its result."""
        return self.kernel.output


Step = OperatorRecord | LocalRecord


@dataclass(frozen=True)
class SinkRecord:
    """Rows that go into a table."""

    node: SinkNode
    table: TableReference
    rows: Rows

    @property
    def columns(self) -> tuple[TableColumn, ...]:
        """Those of the table that are written."""
        return in_full(self.node, self.table)[0].table_schema.writable

    @property
    def changelog(self) -> ChangelogMode:
        """Kinds of row that come."""
        return self.node.arriving


@dataclass
class Record:
    """All that a pipeline consists of; implements `Lowering`."""

    zone: str
    row_watermarks: bool
    """Rows carry the watermark before them (`table.exec.lateness.granularity` = row)."""
    every_change: bool = False
    """Operators take rows one by one (see `ExecNode.needs_every_change`)."""
    sources: dict[int, SourceRecord] = field(default_factory=dict)
    steps: dict[int, Step] = field(default_factory=dict)
    """Operators and pre-aggregations by node id, inputs first."""
    sinks: list[SinkRecord] = field(default_factory=list)
    checked: dict[str, tuple[str, MissingTime]] = field(default_factory=dict)
    """Texts of times that fail for a NULL: the text of the time itself, and what it fails with."""
    ticks: int | None = None
    """Of the clock, where windows wait for it, in milliseconds: they end at multiples of this."""

    @property
    def at_end(self) -> ExecNode | None:
        """A node that gives its rows only when the input has ended, if there is one."""
        steps = (step for step in self.steps.values() if isinstance(step, OperatorRecord))
        return next((step.node for step in steps if step.operator.waits_for_end), None)

    def require_end(self, *, bounded: bool) -> None:
        """PlanError if a node gives its rows at the end of the input, and the sources have none."""
        waiting = self.at_end
        if waiting is not None and not bounded:
            with of_node(waiting.place):
                raise waiting.fail(
                    "it gives its rows when the input has ended, but a source below has no end",
                    hint="Bound the source, or add LIMIT to ORDER BY, or order by the column of a WATERMARK.",
                )

    def scan(
        self, node: ExecNode, table: TableReference, produced: LogicalType, condition: Condition | None = None
    ) -> Rows:
        """See `Lowering`."""
        self.sources[node.id] = SourceRecord(node, produced, table, condition=condition)
        return self._from_source(node, produced)

    def values(self, node: ExecNode, tuples: tuple[tuple[Literal, ...], ...], produced: LogicalType) -> Rows:
        """See `Lowering`."""
        self.sources[node.id] = SourceRecord(node, produced, None, tuples)
        return self._from_source(node, produced)

    def _from_source(self, node: ExecNode, produced: LogicalType) -> Rows:
        kind = None if node.changelog_mode.insert_only else KIND
        return Rows(produced, (Branch(node.id, self._columns_of(produced), kind=kind),))

    @staticmethod
    def _columns_of(produced: LogicalType) -> tuple[str, ...]:
        return tuple(f"c{i}" for i in range(len(produced.fields)))

    def assign_watermark(
        self,
        node: ExecNode,
        rows: Rows,
        value: Expression,
        watermark: Callable[[Branch], str],
        by_row: Callable[[tuple[Column, ...]], Operator],
    ) -> Rows:
        """See `Lowering`."""
        texts = []
        for branch in rows.branches:
            if branch.origin not in self.sources:
                raise node.fail("a watermark can only be assigned to rows straight from a source")
            text = f"CAST({watermark(branch)} AS TIMESTAMP)"
            texts.append(text)
            counted = text if branch.condition is None else f"CASE WHEN {branch.condition} THEN {text} END"
            self.sources[branch.origin].event_times.append(counted)
            self.sources[branch.origin].moves.append(Move.of(value, branch))
            self.sources[branch.origin].assigners.append(node)
            self.sources[branch.origin].made.extend(branch.made)
        if not self.row_watermarks:
            return rows
        operator = by_row(columns_of(rows.type))
        added = operator.inputs[0][-1]
        extended = row(*rows.type.fields, Field(added.name, added.type))
        branches = tuple(
            replace(b, columns=(*b.columns, f"unix_millis({text})"))
            for b, text in zip(rows.branches, texts, strict=True)
        )
        result = self.operator(node, operator, (OperatorInput(Rows(extended, branches), ()),))
        # The operator counts columns; the nodes behind it name their state after the columns of the plan.
        return Rows(rows.type, result.branches)

    def operator(self, node: ExecNode, operator: Operator, inputs: tuple[OperatorInput, ...]) -> Rows:
        """See `Lowering`."""
        behind = max((self.behind(each.rows) for each in inputs), default=0)
        self.steps[node.id] = OperatorRecord(node, operator, inputs, behind)
        return self._from_slots(node, operator.output)

    def pre_aggregate(self, node: ExecNode, kernel: LocalKernel, rows: Rows) -> Rows:
        """See `Lowering`."""
        result = self._from_slots(node, kernel.output)
        self.steps[node.id] = LocalRecord(node, kernel, rows, result, self.behind(rows))
        return result

    def behind(self, rows: Rows) -> int:
        """Milliseconds by which the watermark of rows is less than the job's: as of those that it is least of."""
        origins = (self.steps.get(branch.origin) for branch in rows.branches)
        return max((step.gives_behind for step in origins if step is not None), default=0)

    def _from_slots(self, node: ExecNode, output: tuple[Column, ...]) -> Rows:
        kind = None if node.changelog_mode.insert_only else f"{KIND} % 4"
        produced = row(*(Field(column.name, column.type) for column in output))
        return Rows(produced, (Branch(node.id, self._slots_of(output), kind=kind),))

    @staticmethod
    def _slots_of(output: tuple[Column, ...]) -> tuple[str, ...]:
        types = [column.type for column in output]
        return tuple(decode(t, slot) for t, slot in zip(types, assign(types), strict=True))

    def sink(self, node: SinkNode, table: TableReference, rows: Rows) -> None:
        """See `Lowering`."""
        self.sinks.append(SinkRecord(node, table, rows))

    def require_times(self, node: ExecNode, given: Sequence[ExecNode], inputs: tuple[Rows, ...]) -> tuple[Rows, ...]:
        """The rows that nodes give to one, where those fail whose event time it goes by and that have none."""
        place = node.place or Place(f"node {node.id} ({node.key})", 0, 0)
        required = node.required_times() or ((),) * len(inputs)
        sides = zip(inputs, given, required, strict=True)
        return tuple(self._with_times(rows, each, columns, place) for rows, each, columns in sides)

    def _with_times(self, rows: Rows, given: ExecNode, columns: tuple[int, ...], place: Place) -> Rows:
        needed = [at for at in columns if rows.type.fields[at].type.kind is not TimeKind.PROCTIME]
        branches = list(rows.branches)
        for number, branch in enumerate(branches):
            texts = list(branch.columns)
            for at in needed:
                if texts[at] not in self.checked:
                    missing = MissingTime.of(*self._origin_of(branch, at, given), place)
                    text = missing.require(rows.type.fields[at].type, texts[at])
                    self.checked[text] = self.checked[wrap(text)] = (texts[at], missing)
                    texts[at] = text
            branches[number] = replace(branch, columns=tuple(texts))
        return replace(rows, branches=tuple(branches)) if needed else rows

    def _origin_of(self, branch: Branch, at: int, given: ExecNode) -> tuple[str, str | None]:
        """The name of a column of a node's rows, and of the table that they come straight from."""
        name, source = given.output_type.fields[at].name, self.sources.get(branch.origin)
        if source is None:
            node = self.steps[branch.origin].node
            texts, fields = self._slots_of(self.steps[branch.origin].output), node.output_type.fields
        else:
            texts, fields = self._columns_of(source.produced), source.produced.fields
        names = {text: each.name for text, each in zip(texts, fields, strict=True)}
        table = None if source is None or source.table is None else source.table.name
        return names.get(branch.columns[at], name), table


def _lowered(node: ExecNode, result: Record, inputs: tuple[Rows, ...]) -> Rows:
    if inputs:
        return with_inner_names(node).lower(result, inputs)
    rows = node.lower(result, inputs)
    return Rows(inner_type(rows.type), rows.branches)


def columns_of(t: LogicalType) -> tuple[Column, ...]:
    """Kernel columns of a ROW, by position (names may repeat in SQL)."""
    return tuple(Column(f"f{i}", each.type) for i, each in enumerate(t.fields))


def record(graph: ExecGraph) -> Record:
    """Let every node of a graph say how it runs, inputs first; PlanError names the node that cannot."""
    zones = {node.configuration.get("table.local-time-zone", "UTC") for node in graph.nodes}
    granularity = {node.option("table.exec.lateness.granularity") for node in graph.nodes}
    result = Record(zone=next(iter(sorted(zones - {"UTC"})), "UTC"), row_watermarks="row" in granularity)
    result.every_change = any(node.needs_every_change for node in graph.nodes)
    lowered: dict[int, Rows] = {}
    with one_lowering():
        for node in graph.nodes:
            inputs = tuple(lowered[each] for each in graph.inputs.get(node.id, ()))
            inputs = result.require_times(node, graph.inputs_of(node), inputs)
            with of_node(node.place):
                lowered[node.id] = _lowered(node, result, inputs)
    _check_hidden_columns(result)
    clocked = [node for node in graph.nodes if node.clocked is not None]
    if clocked:
        _go_by_clock(result, clocked)
    elif result.at_end is not None and not any(source.event_times for source in result.sources.values()):
        # The end is told by a watermark, and there is no other one.
        for source in result.sources.values():
            source.event_times[:], source.moves[:] = [_NEVER], []
    return result


def _go_by_clock(result: Record, clocked: list[ExecNode]) -> None:
    """The clock is the watermark, which no row moves; PlanError where the watermark of rows is waited for, too.

    A row's processing time is that of the micro-batch that it came in. So the operators are those of event time, and a
    job that goes on gives the windows that have ended meanwhile.
    """
    others = [step.node for step in result.steps.values() if _waits(step) and step.node.clocked is None]
    if others or result.row_watermarks:
        told = f"node {others[0].id} ({others[0].key})" if others else "table.exec.lateness.granularity = row"
        with of_node(clocked[0].place):
            raise clocked[0].fail(
                f"windows by processing time cannot run in one job with what goes by watermarks of rows: {told}",
                hint="Write to two sinks in two jobs, or put both into event time.",
            )
    result.ticks = gcd(*(each.clocked.between_ends for each in clocked if each.clocked is not None))
    for source in result.sources.values():
        source.event_times[:], source.moves[:] = [_NEVER], []
        source.assigners.clear()
        source.made.clear()


def _waits(step: Step) -> bool:
    return step.kernel.uses_time if isinstance(step, LocalRecord) else step.operator.uses_time


def _check_hidden_columns(result: Record) -> None:
    """CURRENT_WATERMARK reads a column that only exists behind a row-wise watermark assigner."""
    consumers: list[tuple[ExecNode, Rows]] = [(each.node, each.rows) for each in result.sinks]
    consumers += [(each.node, given.rows) for each in result.steps.values() for given in each.inputs]
    for node, rows in consumers:
        for branch in rows.branches:
            made = (each.text for layer in branch.made for each in layer)
            used = any(mentions(text, WATERMARK) for text in (*branch.columns, *made, branch.condition or ""))
            if used and (branch.origin in result.sources or not result.row_watermarks):
                raise PlanError(
                    "CURRENT_WATERMARK needs the watermark of each row",
                    where=f"node {node.id} ({node.key})",
                    hint="SET 'table.exec.lateness.granularity' = 'row' and give the table a WATERMARK.",
                )
