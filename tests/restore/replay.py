"""Going on from a savepoint without Spark: its rows into segments, then the calls that were recorded of each operator.

Spark's part of it is to read Parquet, to compute slots and hashes of saved values (`saved_rows` does that here), and
whatever is between operators: expressions, sources and sinks. All else is what a job runs in its tasks.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import polars as pl

from execnodes.core.graph import ExecGraph
from execnodes.core.types import NESTED
from execnodes.engine.bodies import STATE, FrameShape
from execnodes.engine.hashes import hashes
from execnodes.engine.slot_frames import HIDDEN_DTYPES, SLOT_DTYPES, read_column
from execnodes.lowering.slots import SlotLayout, assign
from execnodes.lowering.stream import HASH
from execnodes.state.operator import BUCKET, Operator
from execnodes.state.pages.page_format import WRITTEN
from rekindle.api.table_environment import TableEnvironment
from rekindle.engine.host import FROM, HostTask, Member, Moment, RestoreTask, Told
from rekindle.engine.key_groups import KeyGroups
from rekindle.engine.store.call import StoreCall
from rekindle.engine.store.disk import LocalDisk
from rekindle.engine.store.inventory import Inventory
from rekindle.engine.store.segment_file import path_of
from rekindle.pipeline.functions import supply_functions
from rekindle.pipeline.record import OperatorRecord, Record, record
from rekindle.pipeline.ways import plan_ways
from rekindle.savepoints.reader import arrow_batches
from rekindle.savepoints.restore import Restore, StateFiles, prepare
from rekindle.testing.restore_fixtures import SAVEPOINT, stored
from tests.restore.calls import as_json, decoded, in_order, states
from tests.restore.modes import InMode

GROUPS = KeyGroups(2, 3)
"""Other ones than the savepoint was taken with."""
Call = Mapping[str, Any]


def saved_rows(restore: Restore, operator: Operator) -> pl.DataFrame | None:
    """`Restore.rows` without Spark; None without any."""
    found = restore.of_operator(operator)
    layout = SlotLayout.of([column.type for column in each.spec.columns] for each in found)
    frames = [_slots(each, layout, restore.folder) for each in found]
    return pl.concat(frames) if frames else None


def _slots(given: StateFiles, layout: SlotLayout, saved: Path) -> pl.DataFrame:
    spec, types = given.spec, {column.name: column.type for column in given.spec.columns}
    read = pl.concat([pl.DataFrame(batch) for batch in _batches(given, saved)])
    texts = {
        name: (pl.col(file) if types[name].root in NESTED else read_column(types[name], file))
        for name, file in given.columns.items()
        if name in types
    }
    slots = dict(zip(assign(types.values()), types, strict=True))
    keys = [read.select(texts[name]).to_series().to_arrow(compat_level=pl.CompatLevel.oldest()) for name in spec.key]
    return read.select(
        pl.lit(given.number, pl.Int32).alias(STATE),
        pl.Series(HASH, hashes(keys, len(read)), pl.Int64),
        (pl.col(BUCKET) if spec.bucketed else pl.lit(None, pl.Int64)).alias(BUCKET),
        (pl.col(WRITTEN) if given.ages else pl.lit(None, pl.Int64)).alias(WRITTEN),
        *(
            (texts[slots[name]] if slots.get(name) in texts else pl.lit(None, SLOT_DTYPES[name[0]])).alias(name)
            for name in layout.names()
        ),
    )


def _batches(given: StateFiles, saved: Path) -> Iterator[Any]:
    """Of files of a savepoint, or of those that its values were converted to."""
    import pyarrow.parquet as pq

    if saved in given.files[0].parents:
        yield from arrow_batches(given.state, given.files)
        return
    for file in given.files:
        yield from pq.ParquetFile(file).iter_batches()


@dataclass
class Driver:
    """What a job's driver keeps of the states of a graph: files and timers."""

    disk: LocalDisk
    timers: dict[tuple[str, int], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.inventory = Inventory(self.disk, {})

    def add(self, told: Mapping[Any, Told]) -> None:
        """A task tells what it has done."""
        for each in told.values():
            fresh = dict.fromkeys(each.written.states, each.written.file or "")
            for name in self.inventory.apply(fresh, each.written.emptied):
                self.disk.remove(path_of(name))
            for operator, due in each.timers.items():
                self.timers.pop(operator, None)
                if due is not None:
                    self.timers[operator] = due

    def moment(self, call: Call) -> Moment:
        """That of a recorded call, over the files that there are."""
        return Moment(
            (call["batch"], call["step"]),
            call["watermark"],
            call["now"],
            self.inventory.sparse(),
            dict(self.inventory.newest),
            dict(self.timers),
            call["chained"],
            frozenset(call["held"]),
        )


@dataclass(frozen=True)
class Restored:
    """A program whose operators have the states of its savepoint."""

    lowered: Record
    driver: Driver
    shape: FrameShape
    saved: Mapping[int, pl.DataFrame]
    """Rows of the savepoint by node."""

    def task(self, number: int) -> HostTask:
        """The call of one operator."""
        step = self.lowered.steps[number]
        assert isinstance(step, OperatorRecord)
        layout = SlotLayout.of([[column.type for column in step.operator.output]])
        shape = FrameShape(layout, self.shape.ordered, self.shape.row_watermarks, self.shape.every_change)
        member = Member(number, step.operator, None, leaves=True, behind=step.behind)
        return HostTask((member,), (), (), shape, GROUPS, self.driver.disk, False, 1, self.driver)

    def states(self, number: int, now: int) -> dict[str, list[list[Any]]]:
        """Of an operator."""
        task = self.task(number)
        (member,) = task.members
        assert isinstance(member.step, Operator)
        call = StoreCall(self.driver.disk, self.driver.inventory.newest, now)
        return states(task, member.step, call, now)


def restored(each: InMode, folder: Path, now: int) -> Restored:
    """Put the savepoint of a program into segments below an empty folder."""
    graph = stored(each.fixture)
    graph = ExecGraph.of(graph.nodes, graph.inputs, GROUPS.max_parallelism, graph.engine_version)
    lowered = record(graph)
    supply_functions(lowered.steps.values(), _functions(each).functions_of(graph))
    found = prepare(each.fixture / SAVEPOINT, graph, drop_unclaimed=False, drop=frozenset())
    restore = replace(found, scratch=folder / "converted")
    lost = [str(fate) for fate in restore.fates if fate.fate != "restored"]
    assert not lost, f"not all state goes on: {lost}"
    pipeline = plan_ways(lowered)
    driver, saved = Driver(LocalDisk(str(folder / "state"))), dict[int, pl.DataFrame]()
    moment = Moment((0, 0), restore.manifest.watermark or None, now, frozenset(), {}, {})
    for number, step in lowered.steps.items():
        if isinstance(step, OperatorRecord) and (rows := saved_rows(restore, step.operator)) is not None:
            RestoreTask(step.operator, GROUPS, driver.disk, driver, step.behind).run(rows, moment)
            saved[number] = rows
    shape = FrameShape(SlotLayout(), pipeline.ordered, lowered.row_watermarks, lowered.every_change)
    return Restored(lowered, driver, shape, saved)


def _functions(each: InMode) -> TableEnvironment:
    """A session that knows the functions of a program."""
    environment = TableEnvironment.create({})
    for statement in each.program.sql.split(";"):
        if "CREATE FUNCTION" in statement:
            environment.execute_sql(statement.strip())
    return environment


def problems(each: InMode, folder: Path) -> Iterator[str]:
    """Where operators that go on from the savepoint give or keep something else than was recorded."""
    calls = [json.loads(line) for line in each.calls.read_text(encoding="utf-8").splitlines()]
    found = restored(each, folder, calls[0]["now"] if calls else 0)
    for number, mine in groupby(sorted(calls, key=lambda call: call["node"]), key=lambda call: call["node"]):
        task = found.task(number)
        title = f"{each}, node {number}"
        for call in mine:
            out = _run(task, found.driver.moment(call), call["given"])
            wanted = in_order((call["out"] or {"rows": []})["rows"])
            if out != wanted:
                yield f"{title}, micro-batch {call['batch']}, step {call['step']}: {beside(wanted, out)}"
            if "states" in call:
                kept = found.states(number, call["now"])
                for name in sorted({*kept, *call["states"]}):
                    if kept.get(name) != call["states"].get(name):
                        yield f"{title}: {name} held {beside(call['states'].get(name) or [], kept.get(name) or [])}"


def _run(task: HostTask, moment: Moment, given: Call | None) -> list[list[Any]]:
    rows = None
    if given is not None:
        types = {name: HIDDEN_DTYPES.get(name) or SLOT_DTYPES[name[0]] for name in given["columns"]}
        values = [[decoded(value) for value in row] for row in given["rows"]]
        rows = pl.DataFrame(values, schema=types, orient="row")
    batches = list(task.run(rows, moment, 0, None))
    if not batches:
        return []
    (member,) = task.members
    assert isinstance(member.step, Operator)
    changes = pl.concat([pl.DataFrame(batch) for batch in batches]).drop(FROM)
    return in_order(as_json(changes))


def beside(old: Sequence[Any], new: Sequence[Any]) -> str:
    """Two lists of rows without what both have."""
    return f"{[each for each in old if each not in new]}, now {[each for each in new if each not in old]}"
