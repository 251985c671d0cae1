"""Starting from a savepoint: the check against the plan, and the rows of each operator's first state."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

from execnodes.core.errors import StateError
from execnodes.core.meaning import StateMeaning
from execnodes.core.types import NESTED, LogicalType
from execnodes.core.version import ENGINE_VERSION
from execnodes.engine.bodies import STATE
from execnodes.lowering.slots import SlotLayout, assign, encode, unused
from execnodes.lowering.stream import HASH, quote
from execnodes.state.operator import BUCKET, Operator, StateSpec
from execnodes.state.serializers.migrate import AccumulatorChange
from plans.compatibility.accumulators import evolve
from plans.compatibility.compare import Fate, Judgement, compare
from plans.compatibility.plan_meanings import POSITION, Meanings, meanings
from rekindle.files.paths import AS_WRITTEN, entered, for_spark
from rekindle.pipeline.record import OperatorRecord
from rekindle.savepoints.contents import check_rows, read
from rekindle.savepoints.convert import convert
from rekindle.savepoints.manifest import Manifest, SavedState, Step
from rekindle.savepoints.plan import saved_plan
from rekindle.savepoints.widen import WIDER, wider

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from execnodes.core.graph import ExecGraph

_log = logging.getLogger("rekindle.savepoints")


@dataclass(frozen=True)
class RestoredState:
    """What happened to one state."""

    uid: str
    name: str
    fate: str
    """restored, empty or dropped."""
    rows: int
    note: str = ""
    """What of a restored state is not as it was."""

    def __str__(self) -> str:
        """As the command line and the log show it."""
        note = f" ({self.note})" if self.note else ""
        what = {"restored": "restored", "empty": "starts empty", "dropped": "dropped"}[self.fate]
        return (
            f"{self.uid}:{self.name} {what}"
            + (f", {self.rows:,} rows" if self.rows or self.fate != "empty" else "")
            + note
        )


@dataclass(frozen=True)
class Kept:
    """A saved state that goes on."""

    state: SavedState
    columns: Mapping[str, str]
    """Its columns in the plan to those in the savepoint, or to those of `changes`."""
    changes: tuple[AccumulatorChange, ...] = ()
    """Accumulators that must be converted."""


@dataclass(frozen=True)
class StateFiles:
    """The rows of a state, as an operator is handed them."""

    number: int
    """Of the state: those of earlier layouts come last."""
    spec: StateSpec
    state: SavedState
    columns: Mapping[str, str]
    """Columns of `spec` to those in the files."""
    files: tuple[Path, ...]

    @property
    def ages(self) -> bool:
        """Whether rows say when they were written. A state that had no TTL begins to age when it is restored."""
        return bool(self.spec.ttl_ms and self.state.ttl_ms)


@dataclass(frozen=True)
class Restore:
    """A savepoint that fits a plan."""

    folder: Path
    manifest: Manifest
    fates: tuple[RestoredState, ...]
    kept: dict[tuple[str, str], Kept] = field(default_factory=dict)
    positions: dict[str, str] = field(default_factory=dict)
    """Source uid to where it goes on."""
    scratch: Path | None = None
    """Where states are put that had to be converted."""
    steps: tuple[Step, ...] = ()
    """What becomes of states that do not go on as they are."""

    @property
    def history(self) -> tuple[Step, ...]:
        """What has been done to the states since they were first written."""
        return (*self.manifest.history, *self.steps)

    def rows(self, spark: SparkSession, step: OperatorRecord) -> DataFrame | None:
        """Rows of an operator in slots, with `STATE`, `HASH`, `BUCKET` and when they were written; None without any."""
        found = self.of_operator(step.operator)
        layout = SlotLayout.of([column.type for column in each.spec.columns] for each in found)
        frames = [self._rows(spark, each, layout) for each in found]
        return reduce(lambda a, b: a.unionAll(b), frames) if frames else None

    def of_operator(self, operator: Operator) -> list[StateFiles]:
        """The saved rows of an operator's states, and of their earlier layouts, with the values of today's types.

        Values that are not saved as such are converted first. StateError if the files have not the rows they should.
        """
        return [
            self._files(number, spec, kept)
            for number, spec in enumerate((*operator.states, *operator.earlier))
            if (kept := self.kept.get((operator.uid, spec.name))) is not None and kept.state.rows
        ]

    def _files(self, number: int, spec: StateSpec, kept: Kept) -> StateFiles:
        saved = kept.state
        retyped = wider(saved, {column.name: column.type for column in spec.columns}, kept.columns)
        columns = {
            name: f"{WIDER}{name}" if f"{WIDER}{name}" in retyped else it_is for name, it_is in kept.columns.items()
        }
        files = [self.folder / name for name in saved.files]
        if kept.changes or retyped:
            assert self.scratch is not None
            files = convert(saved, files, kept.changes, self.scratch, retyped)
        else:
            check_rows(saved, files)
        return StateFiles(number, spec, saved, columns, tuple(files))

    def _rows(self, spark: SparkSession, given: StateFiles, layout: SlotLayout) -> DataFrame:
        saved, spec, columns = given.state, given.spec, given.columns
        types = {column.name: column.type for column in spec.columns}
        slots = zip(assign(types.values()), types.items(), strict=True)
        # Columns that the savepoint lacks start empty, which is NULL.
        texts = {slot: _encoded(t, columns[name]) for slot, (name, t) in slots if name in columns}
        # Of values as they are now: those of wider types may have other hashes.
        hashed = f"xxhash64({', '.join(_encoded(types[name], columns[name]) for name in spec.key)})"
        head = {
            STATE: str(given.number),
            HASH: hashed if spec.key else "CAST(0 AS BIGINT)",
            BUCKET: BUCKET if spec.bucketed else "CAST(NULL AS BIGINT)",
            "rk_written": "rk_written" if given.ages else "CAST(NULL AS BIGINT)",
        }
        slots_text = [f"{texts.get(n, unused(n))} AS {n}" for n in layout.names()]
        rows = spark.read.options(**AS_WRITTEN).parquet(*(for_spark(spark, each) for each in given.files))
        if (seen := len(rows.inputFiles())) != len(given.files):
            raise StateError(
                f"{saved.title}: Spark sees {seen:,} files, and there are {len(given.files):,}",
                where=str(self.folder),
                hint="Check that Spark and this process have the same disks.",
            )
        return rows.selectExpr(*(f"{text} AS {name}" for name, text in head.items()), *slots_text)


def _encoded(t: LogicalType, name: str) -> str:
    """A saved column's slot: nested values were saved as the texts they are in slots."""
    return quote(name) if t.root in NESTED else encode(t, quote(name))


def prepare(
    folder: Path, graph: ExecGraph, *, drop_unclaimed: bool, drop: frozenset[str], consent: str = "await_approval"
) -> Restore:
    """Check a savepoint against a pipeline, before anything runs; StateError names all that does not fit.

    `drop_unclaimed`: forget what no operator of the pipeline has; `drop`: titles (``uid:name``) to forget; `consent`:
    ``allow`` takes every loss, ``reject`` none, ``await_approval`` those that `drop` and `drop_unclaimed` name, and
    operators without a state in the savepoint.
    """
    entered(folder)
    folder = folder.absolute()
    manifest = read(folder)
    saved = {(each.uid, each.name): each for each in manifest.states}
    found = {(each.uid, each.name): each for each in manifest.meanings}
    plan = saved_plan(folder)
    given = Meanings.of((each for each in found.values() if each.title not in drop), plan)
    lacking = _lacking(manifest, plan)
    fates, kept, problems = [], {}, []
    steps: list[Step] = []
    wanted = meanings(graph)
    after = {(each.uid, each.name): each for each in wanted}
    for each in compare(given, wanted).judgements:
        address = (each.uid, each.was or each.state)
        rows = saved[address].rows if address in saved else 0
        if each.goes_on and address in saved:
            meaning = after[each.uid, each.state]
            # Operators are handed rows of an earlier layout under its name, once for all states they make of it.
            into = next(
                (at for at in meaning.earlier if each.taken_over and at.name == (each.was or each.state)), meaning
            )
            changes = evolve(found[address], into).changes
            kept[each.uid, into.name] = Kept(saved[address], each.columns, changes)
            steps += _steps(saved[address], each, meaning)
        allowed = consent == "allow" or (drop_unclaimed and each.fate is Fate.DROP)
        if each.fate is Fate.INCOMPATIBLE or (each.loss and not allowed and _must_ask(each, consent)):
            what = "source" if each.state == POSITION else "operator or state"
            reason = f"the plan has no such {what}" if each.fate is Fate.DROP else each.reason
            if each.title not in drop:
                problems.append(f"{each.title} ({rows} rows): {reason}")
        if each.title not in drop - lacking:
            note = each.reason if each.goes_on and (each.loss or each.taken_over) else ""
            fates.append(RestoredState(each.uid, each.state, _FATES[each.fate], rows, note))
    fates += [
        RestoredState(*at, "dropped", saved[at].rows if at in saved else 0) for at in found if found[at].title in drop
    ]
    absent = "the savepoint's own plan has this state, and the savepoint has not"
    problems += [f"{each}: {absent}" for each in sorted(lacking - drop) if consent != "allow"]
    unknown = sorted(drop - lacking - {each.title for each in found.values()})
    problems += [f"{each}: the savepoint has no such state to drop" for each in unknown]
    if problems:
        raise StateError(
            "the savepoint does not fit the plan:\n  " + "\n  ".join(problems),
            where=str(folder),
            hint="Drop a state with --allow-drop-state UID:NAME, or all without an operator with "
            "--allow-non-restored-state; consent to all that is only lost with "
            "-D table.plan.evolution.consent=allow; or run the plan the savepoint was taken from.",
        )
    for fate in fates:
        _log.info("%s", fate)
    going_on = {each.uid for each in fates if (each.name, each.fate) == (POSITION, "restored")}
    positions = {uid: text for uid, text in manifest.positions.items() if uid in going_on}
    steps += [Step("drop", each.uid, each.name, each.rows, 0) for each in fates if _is_state(each, "dropped")]
    return Restore(folder, manifest, tuple(fates), kept, positions, steps=tuple(steps))


def _lacking(manifest: Manifest, plan: ExecGraph | None) -> set[str]:
    """States of the plan that a savepoint was taken from and that it should have, but that are not in it."""
    # Migrations may leave states out.
    if plan is None or any(each.operation != "convert" for each in manifest.history):
        return set()
    wanted = [each for each in meanings(plan) if each.name != POSITION and not each.unknown]
    there = {each.title for each in manifest.states}
    operators = {each.uid for each in manifest.states}
    # Another engine may have laid out the same plan's states otherwise, but not left out all of an operator.
    same = manifest.engine == ENGINE_VERSION
    return {each.title for each in wanted if each.title not in there and (same or each.uid not in operators)}


def _is_state(fate: RestoredState, what: str) -> bool:
    return fate.fate == what and fate.name != POSITION


def _steps(saved: SavedState, judgement: Judgement, after: StateMeaning) -> Iterator[Step]:
    """What a restore does to a state that goes on: another name, other columns."""
    uid, name = judgement.uid, judgement.state
    if judgement.was:
        yield Step("rename", uid, name, saved.rows, saved.rows, f"from {saved.title}")
    schema = tuple((each.name, each.type) for each in after.columns)
    if judgement.fate is Fate.CONVERT and schema != saved.schema:
        yield Step("convert", uid, name, saved.rows, saved.rows, judgement.reason, saved.schema)


def _must_ask(judgement: Judgement, consent: str) -> bool:
    """Whether a loss is to be consented to; operators that are new start empty as they always do, and it is shown."""
    return consent == "reject" or judgement.fate is not Fate.EMPTY


_FATES = {
    Fate.KEEP: "restored",
    Fate.CONVERT: "restored",
    Fate.EMPTY: "empty",
    Fate.DROP: "dropped",
    Fate.INCOMPATIBLE: "refused",
}
