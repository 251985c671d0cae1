"""Taking a savepoint of segments: of the newest entry of a job's log, without Spark and without the job's waiting."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from execnodes.core.errors import StateError
from execnodes.core.meaning import StateMeaning
from execnodes.core.types import LogicalType, Root
from execnodes.engine.slot_frames import to_slots
from execnodes.lowering.slots import SlotLayout, assign
from execnodes.state.operator import BUCKET, DRAINED, StateSpec
from execnodes.state.pages.page_format import WRITTEN
from plans.compatibility.plan_meanings import meanings
from rekindle.connectors.positions import saved_text
from rekindle.engine.log import Entry, newest_entry
from rekindle.engine.store.disk import Disk, LocalDisk
from rekindle.engine.store.snapshot import Snapshot
from rekindle.files.job_folder import JobFolder
from rekindle.pipeline.page_layouts import page_layouts, supply_layouts
from rekindle.pipeline.record import OperatorRecord, record
from rekindle.pipeline.state_layout import check_layout, layout_of
from rekindle.savepoints.file_columns import arrow_type
from rekindle.savepoints.folder import new_folder, refuse_existing, state_folder
from rekindle.savepoints.manifest import Manifest, SavedState, steps
from rekindle.savepoints.take import AS_THEMSELVES, conversions, finish, saved

if TYPE_CHECKING:
    import pyarrow as pa

    from execnodes.core.graph import ExecGraph

_UNITS = {Root.DATE: pl.Int32(), Root.FLOAT: pl.Float32(), Root.BOOLEAN: pl.Boolean()}


def take_of_entry(
    graph: ExecGraph, plan: str, job: JobFolder, entry: Entry, snapshot: Snapshot, target: Path
) -> Manifest:
    """Write the savepoint of an entry of a job's log. StateError if there is no micro-batch yet, or `target` exists."""
    if entry.micro_batch < 0:
        raise _nothing(job)
    meant = {(each.uid, each.name): each for each in meanings(graph)}
    pipeline, converted = record(graph), page_layouts(job, graph).conversions
    supply_layouts(pipeline.steps.values(), converted)
    with new_folder(target) as folder:
        states = tuple(
            _dump(snapshot, meant[step.operator.uid, spec.name], spec, graph.max_parallelism, folder)
            for step in pipeline.steps.values()
            if isinstance(step, OperatorRecord)
            for spec in step.operator.states
            if not spec.derived
        )
        positions = {uid: saved_text(each) for uid, each in entry.positions.items()}
        history = (*steps(job.restored().get("history", ())), *conversions(states, converted))
        return finish(folder, plan, _floor(entry), positions, meant, states, history)


def take_of_folder(graph: ExecGraph, plan: str, job: JobFolder, target: Path) -> Manifest:
    """The same of the newest entry in a job's folder; another process may go on with the job meanwhile.

    StateError, and JobError if another engine laid out the state.
    """
    refuse_existing(target)
    check_layout(job, layout_of(graph, record(graph).steps.values()), page_layouts(job, graph).changed)
    return take_of_entry(graph, plan, job, *_newest(LocalDisk(str(job.state)), job), target)


def _newest(disk: Disk, job: JobFolder) -> tuple[Entry, Snapshot]:
    """What there is; whoever runs the job may commit another entry meanwhile, and remove what that does not need."""
    entry = newest_entry(disk)
    if entry is None:
        raise _nothing(job)
    while True:
        try:
            return entry, Snapshot.of(disk, entry.newest())
        except StateError:
            before, entry = entry, newest_entry(disk)
            if entry is None or entry.sequence == before.sequence:
                raise


def _nothing(job: JobFolder) -> StateError:
    return StateError("no micro-batch has been committed yet", where=str(job.path), hint="Try again later.")


def _floor(entry: Entry) -> int:
    """The watermark before the end of the input; 0 if there was none."""
    if entry.watermark is None or entry.watermark < DRAINED:
        return entry.watermark or 0
    return min(entry.reached.values(), default=0)


def _dump(snapshot: Snapshot, meaning: StateMeaning, spec: StateSpec, max_parallelism: int, folder: Path) -> SavedState:
    import pyarrow.parquet as pq

    place = state_folder(folder, meaning.uid, spec.name)
    place.mkdir(parents=True)
    files, rows = [], 0
    for number, frame in enumerate(snapshot.frames(meaning.uid, spec)):
        files.append(place / f"part-{number:05}.parquet")
        rows += len(frame)
        pq.write_table(_table(spec, frame), files[-1], store_decimal_as_integer=True)
    return saved(meaning, spec, max_parallelism, folder, files, rows)


def _table(spec: StateSpec, rows: pl.DataFrame) -> pa.Table:
    """Rows as savepoints have them (see `take.readable`)."""
    import pyarrow as pa

    types = [column.type for column in spec.columns]
    slots = to_slots(rows, spec.columns, SlotLayout.of([types]), ())
    columns = {BUCKET: rows[BUCKET].to_arrow()} if spec.bucketed else {}
    for column, slot in zip(spec.columns, assign(types), strict=True):
        columns[column.name] = _array(column.type, slots[slot])
    if spec.ttl_ms:
        columns[WRITTEN] = rows[WRITTEN].to_arrow()
    return pa.table(columns)


def _array(t: LogicalType, slot: pl.Series) -> pa.Array:
    import pyarrow as pa

    if t.root not in AS_THEMSELVES:
        plain = {"l": pa.int64(), "d": pa.float64(), "s": pa.string(), "b": pa.binary()}
        return slot.to_arrow(compat_level=pl.CompatLevel.oldest()).cast(plain[slot.name[0]])
    if t.root is Root.DECIMAL:
        # The same 128 bits, another scale.
        unscaled = slot.cast(pl.Int128).cast(pl.Decimal(38, 0)).to_arrow()
        return pa.Array.from_buffers(
            arrow_type(t), len(unscaled), unscaled.buffers(), unscaled.null_count, unscaled.offset
        )
    narrow = slot.cast(_UNITS[t.root]) if t.root in _UNITS else slot
    return narrow.to_arrow().cast(arrow_type(t))
