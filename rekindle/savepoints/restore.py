"""Starting from a savepoint: the check against the plan, and the rows of each stage's initial state."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

from execnodes.core.errors import StateError
from execnodes.core.lowering import HASH, quote
from execnodes.core.slots import Layout, assign, encode
from execnodes.core.types import NESTED, LogicalType
from execnodes.state.frames import KEY_GROUP, TAG
from execnodes.state.host import STATE
from execnodes.state.operator import BUCKET, StateSpec
from rekindle.runtime.record import OperatorRecord, Record
from rekindle.savepoints.manifest import Manifest, SavedState, columns_of, read

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, GroupedData, SparkSession

POSITION = "position"
"""Name by which a source's position is dropped."""
_log = logging.getLogger("rekindle.savepoints")


@dataclass(frozen=True)
class Fate:
    """What happened to one state."""

    uid: str
    name: str
    fate: str
    """restored, empty or dropped."""
    rows: int

    def __str__(self) -> str:
        """As the command line and the log show it."""
        what = {"restored": "restored", "empty": "starts empty", "dropped": "dropped"}[self.fate]
        return f"{self.uid}:{self.name} {what}" + (f", {self.rows:,} rows" if self.rows or self.fate != "empty" else "")


@dataclass(frozen=True)
class Restore:
    """A savepoint that fits a plan."""

    folder: Path
    manifest: Manifest
    fates: tuple[Fate, ...]
    kept: dict[tuple[str, str], SavedState] = field(default_factory=dict)
    positions: dict[str, str] = field(default_factory=dict)
    """Source uid to where it goes on."""

    def initial(self, spark: SparkSession, steps: Iterable[OperatorRecord], groups: int) -> GroupedData | None:
        """Rows of a stage's operators by operator and key group; None if there are none."""
        chosen = [
            (step, number, spec, saved)
            for step in steps
            for number, spec in enumerate(step.operator.states)
            if (saved := self.kept.get((step.operator.uid, spec.name))) is not None and saved.rows
        ]
        if not chosen:
            return None
        layout = Layout.of([column.type for column in spec.columns] for _, _, spec, _ in chosen)
        frames = [self._rows(spark, *each, layout, groups) for each in chosen]
        return reduce(lambda a, b: a.unionAll(b), frames).groupBy(TAG, KEY_GROUP)

    def _rows(
        self,
        spark: SparkSession,
        step: OperatorRecord,
        number: int,
        spec: StateSpec,
        saved: SavedState,
        layout: Layout,
        groups: int,
    ) -> DataFrame:
        types = {column.name: column.type for column in spec.columns}
        slots = zip(assign(types.values()), types.items(), strict=True)
        texts = {slot: _encoded(t, name) for slot, (name, t) in slots}
        hashed = f"xxhash64({', '.join(_encoded(types[name], name) for name in spec.key)})"
        null = {"l": "BIGINT", "d": "DOUBLE", "s": "STRING", "b": "BINARY"}
        head = {
            TAG: str(step.node.id),
            STATE: str(number),
            HASH: hashed if spec.key else "CAST(0 AS BIGINT)",
            BUCKET: BUCKET if spec.bucketed else "CAST(NULL AS BIGINT)",
            # A state that had no TTL and has one now begins to age when it is restored.
            "rk_written": "rk_written" if spec.ttl_ms and saved.ttl_ms else "CAST(NULL AS BIGINT)",
        }
        slots_text = [f"{texts.get(n, f'CAST(NULL AS {null[n[0]]})')} AS {n}" for n in layout.names()]
        rows = spark.read.parquet(*((self.folder / name).as_uri() for name in saved.files))
        flat = rows.selectExpr(*(f"{text} AS {name}" for name, text in head.items()), *slots_text)
        return flat.selectExpr("*", f"CAST(pmod({HASH}, {groups}) AS INT) AS {KEY_GROUP}")


def _encoded(t: LogicalType, name: str) -> str:
    """A saved column's slot: nested values were saved as the texts they are in slots."""
    return quote(name) if t.root in NESTED else encode(t, quote(name))


def prepare(folder: Path, pipeline: Record, *, drop_unclaimed: bool, drop: frozenset[str]) -> Restore:
    """Check a savepoint against a pipeline, before anything runs; StateError names all that does not fit.

    `drop_unclaimed`: forget what no operator of the pipeline has; `drop`: titles (``uid:name``) to forget.
    """
    folder = folder.absolute()
    manifest = read(folder)
    matching = _Matching(drop_unclaimed, drop)
    saved = {(each.uid, each.name): each for each in manifest.states}
    kept = {}
    operators = [step.operator for step in pipeline.steps.values() if isinstance(step, OperatorRecord)]
    for uid, spec in ((operator.uid, spec) for operator in operators for spec in operator.states if not spec.derived):
        if matching.claims(uid, spec.name, saved.get((uid, spec.name))):
            kept[uid, spec.name] = saved[uid, spec.name]
            matching.problems += _differences(saved[uid, spec.name], spec)
    uids = {source.uid for source in pipeline.sources.values()}
    positions = {uid: text for uid, text in manifest.positions.items() if uid in uids}
    positions = {uid: text for uid, text in positions.items() if matching.claims(uid, POSITION, 0)}
    for address, found in saved.items():
        matching.leftover(*address, found.rows)
    for uid in manifest.positions:
        matching.leftover(uid, POSITION, 0)
    matching.finish(folder)
    return Restore(folder, manifest, tuple(matching.fates), kept, positions)


@dataclass
class _Matching:
    """Fates and problems, gathered."""

    drop_unclaimed: bool
    drop: frozenset[str]
    fates: list[Fate] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def claims(self, uid: str, name: str, found: SavedState | int | None) -> bool:
        """The plan has this: whether it gets what the savepoint has (a state, or a position's 0 rows)."""
        rows = found.rows if isinstance(found, SavedState) else found
        dropped = f"{uid}:{name}" in self.drop
        fate = "empty" if rows is None else "dropped" if dropped else "restored"
        self.fates.append(Fate(uid, name, fate, rows or 0))
        return fate == "restored"

    def leftover(self, uid: str, name: str, rows: int) -> None:
        """The savepoint has this; it must have been claimed, or be dropped."""
        if any((each.uid, each.name) == (uid, name) for each in self.fates):
            return
        self.fates.append(Fate(uid, name, "dropped", rows))
        if not self.drop_unclaimed and f"{uid}:{name}" not in self.drop:
            what = "source" if name == POSITION else "operator or state"
            self.problems.append(f"{uid}:{name} ({rows} rows): the plan has no such {what}")

    def finish(self, folder: Path) -> None:
        """Raise the problems, or log the fates."""
        known = {f"{each.uid}:{each.name}" for each in self.fates if each.fate != "empty"}
        unknown = sorted(self.drop - known)
        self.problems += [f"{each}: the savepoint has no such state to drop" for each in unknown]
        if self.problems:
            raise StateError(
                "the savepoint does not fit the plan:\n  " + "\n  ".join(self.problems),
                where=str(folder),
                hint="Drop a state with --allow-drop-state UID:NAME, or all without an operator with "
                "--allow-non-restored-state; or run the plan the savepoint was taken from.",
            )
        for each in self.fates:
            _log.info("%s", each)


def _differences(saved: SavedState, spec: StateSpec) -> list[str]:
    found = []
    if saved.schema != columns_of(spec):
        found.append(f"{saved.title}: its columns were {_text(saved.schema)}, now they are {_text(columns_of(spec))}")
    if (saved.key, saved.bucketed) != (spec.key, spec.bucketed):
        found.append(f"{saved.title}: its key was {_key(saved.key)}, now it is {_key(spec.key)}")
    return found


def _key(names: tuple[str, ...]) -> str:
    return f"({', '.join(names)})"


def _text(schema: tuple[tuple[str, str], ...]) -> str:
    return "(" + ", ".join(f"{name} {t}" for name, t in schema) + ")"
