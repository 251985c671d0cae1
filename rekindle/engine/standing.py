"""Programs of small micro-batches that are built once: one task, whose rows come to the driver by one job of Spark.

Planning takes longer than running few rows. So a plan without exchanges is made once and run again and again; what its
tasks are to read and to know travels as properties of the job. A plan in which something is kept cannot stand (a later
run would see what an earlier one has kept), nor one with a value that Spark settles when it plans.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import polars as pl

from execnodes.engine.slot_frames import spark_column
from execnodes.lowering.spark_sql import spark_type
from execnodes.lowering.stream import Branch
from execnodes.lowering.words import calls_one_of
from rekindle.connectors.arrow import in_order, nullable
from rekindle.connectors.base import RowsWriter, SinkWriter
from rekindle.connectors.in_tasks import tell_tasks
from rekindle.engine.frames import AS_THEY_ARE, Frames, Ground, computes
from rekindle.engine.inputs import Inputs
from rekindle.engine.micro_batch import MicroBatch
from rekindle.engine.native_fold import KEPT, fold_natively, fold_texts
from rekindle.engine.observed import REACHED, ROWS, SOURCE, Seen, counted, latest
from rekindle.engine.store.state_list import StateId
from rekindle.pipeline.columns import projected, struct
from rekindle.pipeline.hosts import Host, Hosts, Size
from rekindle.pipeline.origins import all_texts, branch_texts
from rekindle.pipeline.record import OperatorRecord, SinkRecord, SourceRecord
from rekindle.pipeline.ways import Arm, Pipeline, typed_texts

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

_VOLATILE = ("rand", "randn", "uuid", r"current_\w+", "localtimestamp", "now", "unix_timestamp")
"""Functions of Spark whose values, or seeds, are settled when a plan is made."""
_NOT_COUNTED = {SOURCE: "CAST(NULL AS INT)", REACHED: "CAST(NULL AS BIGINT)", ROWS: "CAST(NULL AS BIGINT)"}
_ENDS = ("ends", False)
"""Takes what goes to sinks, all of them."""
_KEPT = 16
"""Programs, at most: one for each set of sources that have news, or of operators that are woken."""
_MOST_BYTES = 8 << 20
"""Of the rows of one run, up to which they go by way of the driver."""
_MOST_STATE = 100_000
"""Rows of state up to which operators are woken in one task: they may give them all."""


_Key = tuple[Size, frozenset[str], frozenset[str]]
"""Of a program: the size of its micro-batches, the sources that have news, the operators that are woken, by uid."""


class _CannotStandError(Exception):
    """A program has to be built for each micro-batch."""


class _StandingFrames(Frames):
    """Frames whose ends are one, and in which nothing is kept."""

    rows: DataFrame
    """A STRUCT for each sink (``s<node id>``) and, if rows are counted here, `SOURCE` and its like."""

    def __init__(self, *given: Any) -> None:
        """See Frames; of the positions only the sources are known."""
        self._counters: dict[int, tuple[object, bool]] = {}
        """What counts the rows of each source."""
        super().__init__(*given)

    def _scan(self, source: SourceRecord, *, located: bool) -> DataFrame:
        given = self._inputs.readers[source.uid].in_tasks(1, located=located)
        if given is None:
            raise _CannotStandError
        return given.frame

    def _counted(self, number: int, frame: DataFrame, event_times: Sequence[str], arms: tuple[Arm, ...]) -> None:
        self._counters[number] = self._taker(arms[0])
        counter = Arm(number, 0, Branch(number, (latest(event_times), "1L")), (), None)
        self._leaving(frame, (*arms, counter))

    def _native(self, host: Host) -> None:
        """Rows of a source are counted where they are folded."""
        given = [each for each in self._frames if any(self._taker(arm) == (host, True) for arm in each[1])]
        if not any(arm.consumer in self._record.sources for _, arms in given for arm in arms):
            super()._native(host)
            return
        (frame, arms), *others = given
        if others or len(arms) != 2 or arms[1].branch.condition is not None or computes(arms[:1]):
            raise _CannotStandError
        self._frames.remove(given[0])
        number, kernel = self._folding(host)
        arm, counter = arms
        texts, kept = fold_texts(arm, kernel), arm.branch.condition
        kept_column = {} if kept is None else {KEPT: f"coalesce({kept}, FALSE)"}
        rows = projected(frame, {**_only_if(kept, texts), **kept_column, REACHED: counter.branch.columns[0]}, None)
        leaving = [each if kept is None else _only_kept(each) for each in self._pipeline.leaving(number)]
        self._counters[counter.consumer] = self._taker(leaving[0])
        folded = replace(counter, branch=Branch(number, (REACHED, ROWS)))
        self._leaving(fold_natively(rows, kernel), (*leaving, folded))

    def _keep(self, frame: DataFrame, arms: tuple[Arm, ...]) -> None:
        """Few rows of a source may be read twice, as long as nothing is computed of them that may differ then."""
        from_source = all(arm.branch.origin in self._record.sources for arm in arms)
        if self.hosts.size is not Size.FEW or computes(arms) or not from_source:
            raise _CannotStandError

    def _taker(self, arm: Arm) -> tuple[object, bool]:
        if arm.consumer in self._record.sources:
            return self._counters[arm.consumer]
        return super()._taker(arm) if arm.consumer in self._record.steps else _ENDS

    def _into(
        self, taker: tuple[object, bool], texts: Callable[[Arm], dict[str, str]], names: Mapping[str, str] = AS_THEY_ARE
    ) -> DataFrame | None:
        if taker not in self._counters.values():
            return super()._into(taker, texts, names)
        return super()._into(taker, lambda arm: {**texts(arm), **_NOT_COUNTED}, names)

    def _on_their_ways(
        self, frame: DataFrame, arms: tuple[Arm, ...], texts: Callable[[Arm], dict[str, str]], names: Mapping[str, str]
    ) -> DataFrame:
        """A row is counted where it takes its only way, or else once more."""
        *ways, counter = arms
        if counter.consumer not in self._record.sources:
            return super()._on_their_ways(frame, arms, texts, names)
        reached, rows = counter.branch.columns
        counted = {SOURCE: str(counter.consumer), REACHED: reached, ROWS: rows}
        if len(ways) == 1 and counter.branch.condition is None:
            kept = ways[0].branch.condition
            return projected(frame, {**_only_if(kept, texts(ways[0])), **counted}, None)

        def all_texts(arm: Arm) -> dict[str, str]:
            return {**_only_if("FALSE", texts(ways[0])), **counted} if arm is counter else texts(arm)

        return super()._on_their_ways(frame, arms, all_texts, names)

    def _ends(self) -> None:
        sinks = {sink.node.id: sink for sink in self._record.sinks}
        empty = {f"s{number}": f"CAST(NULL AS {self._ddl(sink)})" for number, sink in sinks.items()}

        def texts(arm: Arm) -> dict[str, str]:
            hidden = self._hidden(arm)
            mine = {**typed_texts(arm), **{name: hidden[name] for name in self._pipeline.sink_hidden()}}
            return {**empty, f"s{arm.consumer}": struct(mine)}

        rows = self._into(_ENDS, texts)
        if rows is None:
            raise _CannotStandError
        self.rows = nullable(rows)

    def _ddl(self, sink: SinkRecord) -> str:
        types = [f"c{at}: {spark_type(column.data_type)}" for at, column in enumerate(sink.columns)]
        types += (f"{name}: {spark_column(name)}" for name in self._pipeline.sink_hidden())
        return f"STRUCT<{', '.join(types)}>"


def _only_if(condition: str | None, texts: Mapping[str, str]) -> dict[str, str]:
    """Columns that are NULL where a condition is not TRUE."""
    if condition is None:
        return dict(texts)
    return {name: f"CASE WHEN {condition} THEN {text} END" for name, text in texts.items()}


def _only_kept(arm: Arm) -> Arm:
    condition = arm.branch.condition
    both = KEPT if condition is None else f"{KEPT} AND ({condition})"
    return replace(arm, branch=replace(arm.branch, condition=both))


@dataclass(slots=True)
class Standing:
    """A program that stands."""

    frames: _StandingFrames
    pipeline: Pipeline
    falls: bool = False
    """It has given more than the driver should hold: what comes after it is built."""

    def run(self) -> tuple[Mapping[int, pa.Table], Mapping[int, Seen]]:
        """Rows of sinks that get some, and what sources have given that feed sinks alone; by node id."""
        table = self.frames.rows.toArrow()
        self.falls = table.nbytes > _MOST_BYTES
        seen: Mapping[int, Seen] = {}
        if SOURCE in table.column_names:
            seen = counted(pl.DataFrame(table.select([SOURCE, REACHED, ROWS])))
        given = {each.node.id: self._rows(table, each) for each in self.pipeline.record.sinks}
        return {number: in_order(rows) for number, rows in given.items() if rows.num_rows}, seen

    def _rows(self, table: pa.Table, sink: SinkRecord) -> pa.Table:
        import pyarrow as pa

        column = table.column(f"s{sink.node.id}").combine_chunks()
        rows = pa.Table.from_struct_array(column.filter(column.is_valid()))
        return rows.rename_columns([*(each.name for each in sink.columns), *self.pipeline.sink_hidden()])


class Standings:
    """Those of a job."""

    def __init__(
        self,
        ground: Ground,
        pipeline: Pipeline,
        inputs: Inputs,
        hosts: Mapping[Size, Hosts],
        writers: Sequence[SinkWriter],
    ) -> None:
        """`hosts` by the size of a micro-batch."""
        self._ground, self._pipeline, self._inputs, self._hosts = ground, pipeline, inputs, hosts
        self._possible = all(isinstance(each, RowsWriter) for each in writers) and not _is_volatile(pipeline)
        self._known: dict[_Key, Standing | None] = {}

    def expects(self, positions: Mapping[str, Any], size: Size) -> bool:
        """Whether rows of these sources can be expected to be run by a program that stands."""
        return self._standing((size, frozenset(positions), frozenset())) is not None

    def of(self, batch: MicroBatch, size: Size, state_rows: Mapping[StateId, int]) -> Standing | None:
        """What runs a step, whose tasks are told what to read; None if that has to be built.

        `state_rows`: as far as known.
        """
        if not self._possible or size is Size.LARGE:
            return None
        woken = frozenset(each for each in self._operators if batch.due(each))
        if not all(_is_small(uid, batch, state_rows) for uid in woken):
            return None
        key = size, frozenset(batch.positions), woken
        if key in self._known and self._standing(key) is None:
            # Before files are looked at.
            return None
        reads = self._inputs.told(self._inputs.readers, batch.positions)
        if reads is None:
            return None
        tell_tasks(self._ground.spark, reads)
        if key not in self._known:
            if len(self._known) == _KEPT:
                self._known.clear()
            self._known[key] = self._built(batch, self._hosts[size])
        return self._standing(key)

    def _standing(self, key: _Key) -> Standing | None:
        known = self._known.get(key)
        return None if known is None or known.falls else known

    @property
    def _operators(self) -> Iterator[str]:
        steps = self._pipeline.record.steps.values()
        return (step.operator.uid for step in steps if isinstance(step, OperatorRecord))

    def _built(self, batch: MicroBatch, hosts: Hosts) -> Standing | None:
        given = self._ground, self._pipeline, self._inputs, batch.positions, batch.due, hosts
        try:
            return Standing(_StandingFrames(*given), self._pipeline)
        except _CannotStandError:
            return None


def _is_small(uid: str, batch: MicroBatch, state_rows: Mapping[StateId, int]) -> bool:
    """Whether the state of an operator is known to be small."""
    states = [each for each in batch.newest if each.uid == uid]
    known = [state_rows[each] for each in states if each in state_rows]
    return len(known) == len(states) and sum(known) <= _MOST_STATE


def _is_volatile(pipeline: Pipeline) -> bool:
    sources = pipeline.record.sources.items()
    texts = (each for number, source in sources for each in all_texts(source, pipeline.leaving(number)))
    beyond = (arm for arm in pipeline.arms if arm.branch.origin in pipeline.record.steps)
    more = (text for arm in beyond for text in branch_texts(arm.branch))
    return any(calls_one_of(text, _VOLATILE) for text in chain(texts, more))
