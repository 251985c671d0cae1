"""A pipeline's stages as one Spark DataFrame: sources, projections between stages, operators."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

from execnodes.core.options import Configuration
from execnodes.engine.host import Onward, StageHost, StageShape, fold_alone, fold_locally, state_name
from execnodes.engine.inlet import Inlet
from execnodes.engine.packing import PACKED_DDL, pack
from execnodes.engine.processor import StageProcessor
from execnodes.engine.slot_frames import SUBTASK, TAG
from execnodes.lowering.slots import assign, decode, unused
from execnodes.lowering.spark_sql import spark_type
from execnodes.lowering.stream import HASH
from execnodes.state.operator import DRAINED
from rekindle.connectors.line_text import origin
from rekindle.files.paths import for_spark_stream
from rekindle.pipeline.arms import apart
from rekindle.pipeline.connector_requests import Requests
from rekindle.pipeline.control_rows import EVENT_TIME, SOURCE, ControlRows
from rekindle.pipeline.idleness import observed, timeout
from rekindle.pipeline.origins import can_fail, from_origin
from rekindle.pipeline.record import OperatorRecord, SourceRecord
from rekindle.pipeline.stage_columns import Texts, inline_rows, projected, struct, structs, with_all_made, with_made
from rekindle.pipeline.stages import Arm, Pipeline, hidden_texts, slot_texts, typed_texts
from rekindle.pipeline.streams import control_stream, controlled, source_stream
from rekindle.pipeline.subtasks import Subtasks
from rekindle.spark.releases import named

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from rekindle.connectors.data_stream import DataStream
    from rekindle.savepoints.restore import Restore

_REAL = "rk_real"
"""False for the one row that a control source adds to end the stream."""


class Builder:
    """Builds the DataFrame of one pipeline for one start of a job."""

    def __init__(
        self,
        spark: SparkSession,
        pipeline: Pipeline,
        configuration: Configuration,
        job_dir: Path,
        subtasks: Subtasks,
        metrics: Any,
        data_streams: Mapping[str, DataStream],
        restore: Restore | None = None,
        restored: Mapping[str, Any] | None = None,
        hold: bool = False,
    ) -> None:
        """`metrics`: a Spark accumulator of dictionaries that operators report to; `data_streams`: by uid.

        `restore`: rows for a fresh checkpoint; `restored`: what the folder says of the savepoint the job began from;
        `hold`: sources take up no new input.
        """
        self._hold = hold
        self._restore = restore
        self._positions: Mapping[str, str] = (restored or {}).get("positions", {})
        self._floor: int | None = (restored or {}).get("watermark") or None
        self._spark = spark
        self._pipeline = pipeline
        self._configuration = configuration
        self._job_dir = job_dir
        self._subtasks = subtasks
        self._metrics = metrics
        uids = {uid for step in pipeline.record.steps.values() for uid in step.node.uids()}
        self.requests = Requests(spark, configuration, job_dir, data_streams, uids)
        """What its tables are read and written by."""
        self.bounded = True
        """Whether every source ends by itself; known after `build`."""
        self.controlled = {
            number: source for number, source in pipeline.record.sources.items() if controlled(pipeline, source)
        }
        """Sources whose rows move the watermark, by node id."""
        self.idles = any(map(timeout, self.controlled.values()))
        """Whether one of them can become idle."""
        self.timed = bool(self.controlled)
        self.clock = pipeline.record.clock
        """Of windows by processing time, if there are any."""

    @property
    def control_dir(self) -> Path:
        """Where a file with one row ends the stream."""
        return self._job_dir / "control"

    def build(self) -> DataFrame:
        """The frame that enters the sinks: see `sink_columns`."""
        texts = self._texts(0, from_source=True)
        ways = ((source, self._pipeline.leaving(origin)) for origin, source in self._pipeline.record.sources.items())
        inputs = [self._from(source, arms, texts) for source, arms in ways if arms]
        self._pipeline.record.require_end(bounded=self.bounded)
        frame = reduce(lambda left, right: left.unionAll(right), inputs)
        for index, stage in enumerate(self._pipeline.stages):
            if not stage.keyed:
                folded = self._local(frame, index)
                frame = folded if self._pipeline.onward(index) is not None else self._next(folded, index + 1)
                continue
            packed = index > 0 and self._pipeline.onward(index - 1) is not None
            frame = self._next(self._keyed(frame if packed else self._packed(frame, index), index), index + 1)
        return frame

    def _from(self, source: SourceRecord, arms: tuple[Arm, ...], texts: Texts) -> DataFrame:
        """Rows of a source on their ways; what may fail for a row is told which row it is, if the source knows."""
        fallible = can_fail(source, arms)
        frame = self._values(source) if source.table is None else self._scan(source, located=fallible)
        known = origin(frame.columns) if fallible else None
        if known is not None:
            source, arms = from_origin(known, source, arms)
        return self._routed(self._controlled(source, frame), arms, texts)

    def _controlled(self, source: SourceRecord, frame: DataFrame) -> DataFrame:
        """With the control stream of a source whose rows move the watermark."""
        from pyspark.sql.functions import expr

        if not controlled(self._pipeline, source):
            return frame
        frame = with_made(frame, source.made, guarded=False)
        texts = source.event_times
        time = texts[0] if len(set(texts)) == 1 else f"greatest({', '.join(texts)})"
        real = frame.selectExpr("*", f"{time} AS {EVENT_TIME}", f"true AS {_REAL}")
        self.control_dir.mkdir(parents=True, exist_ok=True)
        reader, place = named(self._spark.readStream, control_stream(source)), self.control_dir
        if self.idles or self.clock is not None:
            with_source = reader.schema(f"{EVENT_TIME} timestamp, {SOURCE} bigint")
            control = with_source.json(for_spark_stream(self._spark, place))
            control = control.where(f"coalesce({SOURCE}, {source.node.id}) = {source.node.id}")
        else:
            control = reader.schema(f"{EVENT_TIME} timestamp").json(for_spark_stream(self._spark, place))
        empty = [
            f"{EVENT_TIME}" if f.name == EVENT_TIME else f"false AS {_REAL}" if f.name == _REAL
            else f"CAST(NULL AS {f.dataType.simpleString()}) AS `{f.name}`"
            for f in real.schema
        ]  # fmt: skip
        timed = real.unionAll(control.selectExpr(*empty)).withWatermark(EVENT_TIME, "0 seconds")
        reached = f"unix_millis(max(CASE WHEN {_REAL} THEN {EVENT_TIME} END))"
        # Spark pushes conditions through a watermark, but nothing through what is observed: rows that a WHERE drops
        # move event time, too, and so does the row that ends the input.
        seen = timed.observe(observed(source), expr(f"count_if({_REAL}) AS rows"), expr(f"{reached} AS reached"))
        return seen.where(_REAL)

    def drain(self) -> None:
        """End the stream: the watermark moves past every window. A file of an earlier start may be read already."""
        ControlRows(self.control_dir).write({None: DRAINED})

    def _scan(self, source: SourceRecord, *, located: bool) -> DataFrame:
        table = source.table
        assert table is not None
        given = self.requests.read(
            source.node,
            table,
            source.produced,
            ordered=self._pipeline.ordered,
            start=self._positions.get(source.uid),
            hold=self._hold,
            condition=source.condition,
            located=located,
        )
        self.bounded = self.bounded and given.bounded
        return given.frame

    def _values(self, source: SourceRecord) -> DataFrame:
        """Inline rows as a stream that gives them once: one file with one row, and the rows as literals."""
        folder = self._job_dir / "values"
        folder.mkdir(parents=True, exist_ok=True)
        tick = folder / "once.txt"
        if not tick.exists():
            tick.write_text("\n", encoding="utf-8")
        done = source.node.uid("values") in self._positions
        reader = named(self._spark.readStream, source_stream(source))
        stream = reader.option("pathGlobFilter", "*.none" if done else "*").text(for_spark_stream(self._spark, folder))
        return inline_rows(stream, source)

    # -- between stages

    def _texts(self, boundary: int, *, from_source: bool) -> Texts:
        """Columns of the frame that enters a stage, for the rows of an arm."""
        hidden = self._pipeline.hidden()
        if boundary == len(self._pipeline.stages) and len(self._pipeline.record.sinks) == 1:
            return lambda arm: {**_without_hash(hidden_texts(arm, hidden, from_source)), **typed_texts(arm)}
        layout = self._pipeline.input_layout(boundary)
        keyed = any(arm.keys is not None for arm in self._pipeline.boundary(boundary))

        def texts(arm: Arm) -> dict[str, str]:
            found = {**hidden_texts(arm, hidden, from_source), **slot_texts(arm, layout)}
            return found if keyed else _without_hash(found)

        return texts

    def _routed(self, frame: DataFrame, arms: tuple[Arm, ...], texts: Texts) -> DataFrame:
        """Rows of a source on their ways; one way needs no array of structs."""
        frame = with_all_made(frame, arms, guarded=False)
        arms = apart(arms)
        if len(arms) == 1:
            return projected(frame, texts(arms[0]), arms[0].branch.condition)
        return frame.selectExpr(f"inline({structs(arms, texts)})")

    def _next(self, frame: DataFrame, boundary: int) -> DataFrame:
        """From a stage's output to the frame that enters the next one (or the sinks)."""
        members = self._pipeline.stages[boundary - 1].members
        texts = self._texts(boundary, from_source=False)
        ways = {member: self._pipeline.leaving(member) for member in members}
        passing = self._pipeline.passing(boundary - 1)
        leaving = tuple(arm for arms in ways.values() for arm in arms)
        frame = with_all_made(frame, leaving, guarded=len(members) > 1 or bool(passing))
        ways = {member: apart(arms) for member, arms in ways.items()}
        if len(members) == 1 and not passing and len(ways[members[0]]) == 1:
            arm = ways[members[0]][0]
            return projected(frame, texts(arm), arm.branch.condition)
        cases = [f"WHEN {-member} THEN {structs(arms, texts)}" for member, arms in ways.items() if arms]
        if passing:
            names = tuple(texts(passing[0]))
            cases.append(f"ELSE array({struct(self._passing(names, passing[0], boundary))})")
        return frame.selectExpr(f"inline(CASE {TAG} {' '.join(cases)} END)")

    def _passing(self, names: tuple[str, ...], arm: Arm, boundary: int) -> dict[str, str]:
        """Columns of rows that were for a later consumer all along."""
        before = self._pipeline.output_layout(boundary - 1).names()
        typed = boundary == len(self._pipeline.stages) and len(self._pipeline.record.sinks) == 1
        decoded = {}
        if typed:
            slots = assign(arm.types)
            decoded = {
                f"c{i}": f"CAST({decode(t, slot)} AS {spark_type(t)})"
                for i, (t, slot) in enumerate(zip(arm.types, slots, strict=True))
            }
        known = {*before, TAG, *self._pipeline.hidden()}
        if self._pipeline.keeps_hash(boundary - 1):
            known.add(HASH)
        texts = {}
        for name in names:
            if name in decoded:
                texts[name] = decoded[name]
            elif name in known:
                texts[name] = name
            else:
                texts[name] = "CAST(NULL AS BIGINT)" if name == HASH else unused(name)
        return texts

    # -- stages

    def _shape(self, index: int) -> StageShape:
        pipeline = self._pipeline
        record = pipeline.record
        return StageShape(
            pipeline.output_layout(index),
            pipeline.ordered,
            record.row_watermarks,
            pipeline.keeps_hash(index),
            record.every_change,
        )

    def _packed(self, frame: DataFrame, index: int) -> DataFrame:
        """Rows for a keyed stage, packed by operator and subtask."""
        # Rows that only pass through may have no key; they stay where they are.
        passing = {arm.consumer for arm in self._pipeline.passing(index)}
        spread = self._subtasks.spread({*self._pipeline.stages[index].members, *passing})
        inlet = self._pipeline.inlet(index)
        return _without(frame, inlet).mapInArrow(partial(pack, inlet, spread), PACKED_DDL)

    def _keyed(self, frame: DataFrame, index: int) -> DataFrame:
        shape = self._shape(index)
        members = [self._pipeline.record.steps[member] for member in self._pipeline.stages[index].members]
        steps = [step for step in members if isinstance(step, OperatorRecord)]
        places = {step.node.id: step.node.place for step in steps}
        host = StageHost({step.node.id: step.operator for step in steps}, shape, self._metrics, self._floor, places)
        states = [state_name(step.operator, spec.name) for step in steps for spec in step.operator.states]
        grouped = frame.groupBy(TAG, SUBTASK)
        mode = "EventTime" if self.timed else "None"
        initial = self._restore.initial(self._spark, steps, self._subtasks) if self._restore is not None else None
        return grouped.transformWithStateInPandas(StageProcessor(host, states), shape.ddl(), "Append", mode, initial)

    def _local(self, frame: DataFrame, index: int) -> DataFrame:
        shape = self._shape(index)
        kernels = {}
        for member in self._pipeline.stages[index].members:
            step = self._pipeline.record.steps[member]
            assert not isinstance(step, OperatorRecord)
            kernels[member] = step.kernel
        inlet = self._pipeline.inlet(index)
        if len(kernels) > 1 or self._pipeline.passing(index):
            return _without(frame, inlet).mapInArrow(partial(fold_locally, kernels, shape, inlet), shape.ddl())
        ((member, kernel),) = kernels.items()
        way = self._pipeline.onward(index)
        keys = None if way is None else way.key_slots()
        onward = None
        if way is not None and keys is not None:
            onward = Onward(way.consumer, keys, self._subtasks.spread([way.consumer]))
        schema = shape.ddl() if onward is None else PACKED_DDL
        return _without(frame, inlet).mapInArrow(partial(fold_alone, member, kernel, shape, inlet, onward), schema)


def sink_columns(pipeline: Pipeline, consumer: int) -> Mapping[str, str]:
    """Column names c0, c1, … of a sink's rows to their texts over the frame that `Builder.build` gives."""
    arm = next(arm for arm in pipeline.arms if arm.consumer == consumer)
    if len(pipeline.record.sinks) == 1:
        return {f"c{i}": f"c{i}" for i in range(len(arm.types))}
    slots = assign(arm.types)
    return {
        f"c{i}": f"CAST({decode(t, slot)} AS {spark_type(t)})"
        for i, (t, slot) in enumerate(zip(arm.types, slots, strict=True))
    }


def _without(frame: DataFrame, inlet: Inlet) -> DataFrame:
    """The frame without what its rows are spared; Spark does not even compute it."""
    return frame.drop(*inlet.constants, *(() if inlet.keys is None else (HASH,)))


def _without_hash(texts: dict[str, str]) -> dict[str, str]:
    return {name: text for name, text in texts.items() if name != HASH}
