"""Making a savepoint from another one, or from nothing: states renamed, dropped, transformed, split, merged, imported.

The counterpart of Flink's State Processor API; `rekindle.savepoints.reader` is the other half. Needs no Spark.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

from execnodes.core.errors import StateError
from plans.compatibility.plan_meanings import POSITION, meanings
from rekindle.files.paths import entered, local_path
from rekindle.savepoints.database import connected
from rekindle.savepoints.folder import new_folder, refuse_existing, writing
from rekindle.savepoints.manifest import PLAN, Manifest, Step
from rekindle.savepoints.migrations.adopt import adopt
from rekindle.savepoints.migrations.drop import drop
from rekindle.savepoints.migrations.edit import edit
from rekindle.savepoints.migrations.export import export
from rekindle.savepoints.migrations.load import load
from rekindle.savepoints.migrations.merge import merge
from rekindle.savepoints.migrations.move import move
from rekindle.savepoints.migrations.rename import rename
from rekindle.savepoints.migrations.resize import resize
from rekindle.savepoints.migrations.split import split_columns, split_rows
from rekindle.savepoints.migrations.transform import transform
from rekindle.savepoints.reader import SavepointReader
from rekindle.savepoints.user_frames import Function
from rekindle.savepoints.workspace import Workspace

if TYPE_CHECKING:
    import pyarrow as pa

    from rekindle.results.compiled_plan import CompiledPlan


@dataclass(frozen=True)
class Migrated:
    """What has become of a savepoint."""

    manifest: Manifest
    steps: tuple[tuple[Step, float], ...]
    """What was done to each state, and how many seconds it took."""


@dataclass
class SavepointWriter:
    """Collects migrations; `write` carries them out in the order of the calls. Addresses are ``UID:NAME``."""

    source: SavepointReader | None = None
    plan: CompiledPlan | None = None
    """Plan the savepoint is meant for, if not the one it has."""
    accept: frozenset[str] = frozenset()
    allow_duplicate_keys: bool = False
    _migrations: list[Callable[[Workspace], None]] = field(default_factory=list)

    @classmethod
    def from_existing_savepoint(cls, path: str | Path) -> Self:
        """Begin with all that a savepoint has; StateError if it is not whole."""
        return cls(SavepointReader.read(path))

    @classmethod
    def new_savepoint(cls, plan: CompiledPlan) -> Self:
        """Begin without state; sources begin at their beginning."""
        return cls(None, plan)

    def remove_operator(self, address: str) -> Self:
        """Leave out an operator's states, one state, or a source's position (``UID:position``)."""
        return self._then(partial(drop, address=address))

    def change_operator_identifier(self, uids: Mapping[str, str]) -> Self:
        """Give operators and sources other uids, or states (``UID:NAME``) other addresses, all at once."""
        return self._then(partial(rename, uids=uids))

    def move_source_files(self, old: str, new: str) -> Self:
        """Files that `filesystem` sources have read below a folder are below another one now."""
        return self._then(partial(move, old=old, new=new))

    def split_operator(self, uid: str, first: str, second: str, where: str) -> Self:
        """Rows with the SQL condition go to `first`, all others to `second`."""
        return self._then(partial(split_rows, uid=uid, first=first, second=second, where=where))

    def split_operator_columns(self, uid: str, targets: Mapping[str, Sequence[str]]) -> Self:
        """Operators share the key; each gets the columns, or the states, that are named."""
        return self._then(partial(split_columns, uid=uid, targets=targets))

    def merge_operators(self, uids: Sequence[str], target: str) -> Self:
        """Put rows of operators together; schemas must be equal and keys disjoint."""
        return self._then(partial(merge, uids=uids, target=target))

    def transform_state(self, address: str, function: Function) -> Self:
        """Replace rows by what a function makes of each batch (pyarrow, polars or pandas, by its annotation)."""
        return self._then(partial(transform, address=address, function=function))

    def with_state(self, address: str, rows: str | Path | pa.Table) -> Self:
        """Replace rows by those of a file or table; the state may be one that only the plan has."""
        source = local_path(rows) if isinstance(rows, str | Path) else rows
        return self._then(partial(load, address=address, source=source))

    def edit(self, sql: str) -> Self:
        """Run UPDATE, DELETE, INSERT and MERGE over the states as tables ``"UID"."NAME"``."""
        return self._then(partial(edit, sql=sql))

    def export_state(self, address: str, target: str | Path) -> Self:
        """Write the rows as they are then into a new .parquet, .csv or .json file."""
        return self._then(partial(export, address=address, target=local_path(target)))

    def with_max_parallelism(self, groups: int) -> Self:
        """Set the maximum parallelism of the savepoint's plan and states."""
        return self._then(partial(resize, groups=groups))

    def with_plan(
        self, plan: CompiledPlan, *, accept: Collection[str] = (), allow_non_restored_state: bool = False
    ) -> Self:
        """Put another plan into the savepoint, if the states go on in it; see `adopt`.

        `accept`: titles of states whose rows have been made to be what the plan says.
        """
        self.plan, self.accept = plan, frozenset(accept)
        text = plan.as_json_string()
        return self._then(partial(adopt, plan=text, allow_non_restored_state=allow_non_restored_state))

    def write(self, path: str | Path) -> Migrated:
        """Write the savepoint into a new folder, whole or not at all; the old one is only read."""
        target = entered(path)
        refuse_existing(target)
        if self.source is not None and target.is_relative_to(self.source.folder):
            raise StateError("this is inside the old savepoint", where=str(target), hint="Give another folder.")
        with new_folder(target) as hidden:
            return self._run(hidden)

    def rehearse(self) -> Migrated:
        """Do all that `write` does, with all its checks, and throw the result away."""
        place = Path(tempfile.mkdtemp(prefix="rekindle-migrate-"))
        try:
            with writing(place):
                return self._run(place, rehearsal=True)
        finally:
            shutil.rmtree(place, ignore_errors=True)

    def _run(self, folder: Path, *, rehearsal: bool = False) -> Migrated:
        with connected(None if self.source is None else self.source.folder) as connection:
            work = Workspace(folder, connection, self._plan_text())
            work.target = None if self.plan is None else self.plan.graph
            work.rehearsal = rehearsal
            work.accept, work.allow_duplicate_keys = self.accept, self.allow_duplicate_keys
            if self.source is not None:
                work.fill(self.source.folder, self.source.manifest)
            else:
                work.sources = {each.uid: dict(each.parts) for each in meanings(work.graph) if each.name == POSITION}
            for migration in self._migrations:
                migration(work)
            return Migrated(work.finish(), tuple(zip(work.steps, work.seconds, strict=True)))

    def _plan_text(self) -> str:
        if self.source is not None:
            return (self.source.folder / PLAN).read_text(encoding="utf-8")
        assert self.plan is not None
        return self.plan.as_json_string()

    def _then(self, migration: Callable[[Workspace], None]) -> Self:
        self._migrations.append(migration)
        return self
