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

_log = logging.getLogger("rekindle.savepoints")


@dataclass(frozen=True)
class Fate:
    """What happened to one state."""

    uid: str
    name: str
    fate: str
    """restored, empty or dropped."""
    rows: int


@dataclass(frozen=True)
class Restore:
    """A savepoint that fits a plan."""

    folder: Path
    manifest: Manifest
    fates: tuple[Fate, ...]
    kept: dict[tuple[str, str], SavedState] = field(default_factory=dict)

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
    """Check a savepoint against a pipeline, before anything runs; StateError names all that does not fit."""
    folder = folder.absolute()
    manifest = read(folder)
    saved = {(each.uid, each.name): each for each in manifest.states}
    fates, kept, problems = [], {}, []
    for step in pipeline.steps.values():
        if not isinstance(step, OperatorRecord):
            continue
        for spec in step.operator.states:
            if spec.derived:
                continue
            address = step.operator.uid, spec.name
            found = saved.pop(address, None)
            if found is None:
                fates.append(Fate(*address, "empty", 0))
            elif found.title in drop:
                fates.append(Fate(*address, "dropped", found.rows))
            else:
                problems += _differences(found, spec, step.node.description)
                kept[address] = found
                fates.append(Fate(*address, "restored", found.rows))
    for address, found in saved.items():
        if not drop_unclaimed and found.title not in drop:
            problems.append(f"{found.title} ({found.rows} rows): the plan has no such operator or state")
        fates.append(Fate(*address, "dropped", found.rows))
    unknown = sorted(drop - {each.title for each in manifest.states})
    problems += [f"{each}: the savepoint has no such state to drop" for each in unknown]
    if problems:
        raise StateError(
            "the savepoint does not fit the plan:\n  " + "\n  ".join(problems),
            where=str(folder),
            hint="Drop a state with --allow-drop-state UID:NAME, or all without an operator with "
            "--allow-non-restored-state; or run the plan the savepoint was taken from.",
        )
    for each in fates:
        _log.warning("%s:%s %s, %d rows", each.uid, each.name, each.fate, each.rows)
    return Restore(folder, manifest, tuple(fates), kept)


def _differences(saved: SavedState, spec: StateSpec, meaning: str) -> list[str]:
    found = []
    if saved.schema != columns_of(spec):
        found.append(f"{saved.title}: its columns were {_text(saved.schema)}, now they are {_text(columns_of(spec))}")
    if (saved.key, saved.bucketed) != (spec.key, spec.bucketed):
        found.append(f"{saved.title}: its key was {', '.join(saved.key)}, now it is {', '.join(spec.key)}")
    if not found and saved.meaning != meaning:
        found.append(f"{saved.title}: it meant {saved.meaning!r}, now it means {meaning!r}")
    return found


def _text(schema: tuple[tuple[str, str], ...]) -> str:
    return "(" + ", ".join(f"{name} {t}" for name, t in schema) + ")"
