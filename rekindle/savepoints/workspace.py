"""A savepoint in the making: what migrations change, and how it becomes a savepoint of its own."""

from __future__ import annotations

import hashlib
import logging
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from execnodes.core.errors import StateError
from execnodes.core.meaning import StateMeaning
from execnodes.core.version import ENGINE_VERSION
from execnodes.core.words import counted
from execnodes.terms.term import Term
from rekindle.files.paths import for_duckdb_to_write
from rekindle.savepoints.contents import seal
from rekindle.savepoints.database import paths, select
from rekindle.savepoints.file_columns import distinct_names, file_columns, literal
from rekindle.savepoints.folder import new_file, state_folder
from rekindle.savepoints.manifest import PLAN, Manifest, SavedState, Step, checksum
from rekindle.savepoints.reader import chosen
from rekindle.savepoints.verify import refuse_new_duplicates

if TYPE_CHECKING:
    import duckdb

    from execnodes.core.graph import ExecGraph

_log = logging.getLogger("rekindle.savepoints")
_STAGED = ".rows"
Address = tuple[str, str]
"""Uid and name of a state."""


@dataclass(frozen=True)
class Draft:
    """A state on its way into a new savepoint; `state` says nothing about files yet."""

    state: SavedState
    files: tuple[Path, ...]

    @property
    def rows(self) -> str:
        """A query of its rows."""
        return select(self.state, self.files)


@dataclass
class Workspace:
    """What a savepoint will be; migrations change it, in order. Files of the old savepoint are only read."""

    folder: Path
    """Where the new savepoint is made; nobody knows it yet."""
    connection: duckdb.DuckDBPyConnection
    plan: str
    target: ExecGraph | None = None
    """The plan the savepoint is meant for; that of the savepoint, if no other one was given."""
    accept: frozenset[str] = frozenset()
    """Titles of states whose rows are what `target` says, whatever they meant before."""
    allow_duplicate_keys: bool = False
    rehearsal: bool = False
    """Whether all this is thrown away in the end."""
    watermark: int = 0
    positions: dict[str, str] = field(default_factory=dict)
    sources: dict[str, Mapping[str, Term]] = field(default_factory=dict)
    drafts: dict[Address, Draft] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    """How long each of the steps took."""
    before: tuple[Step, ...] = ()
    """History of the old savepoint."""
    _staged: int = 0

    def fill(self, folder: Path, manifest: Manifest) -> None:
        """Begin with all that a savepoint has."""
        self.watermark = manifest.watermark
        self.positions = dict(manifest.positions)
        self.sources = dict(manifest.sources)
        self.drafts = {(each.uid, each.name): Draft(each, tuple(paths(folder, each))) for each in manifest.states}
        self.before = manifest.history

    @cached_property
    def planned(self) -> Mapping[Address, SavedState]:
        """The states of the plan the savepoint is meant for."""
        # Operators are loaded for it, and polars with them.
        from rekindle.savepoints.planned import planned_states

        return planned_states(self.graph)

    @property
    def graph(self) -> ExecGraph:
        """The plan the savepoint is meant for; PlanError if it cannot be read."""
        from plans.format.load import load

        if self.target is None:
            self.target = load(self.plan, source=PLAN)
        return self.target

    @property
    def manifest(self) -> Manifest:
        """What the savepoint would be now, without files."""
        states = tuple(each.state for each in self.drafts.values())
        digest = hashlib.sha256(self.plan.encode()).hexdigest()
        history = (*self.before, *self.steps)
        return Manifest(ENGINE_VERSION, digest, self.watermark, self.positions, self.sources, states, history)

    @property
    def meanings(self) -> tuple[StateMeaning, ...]:
        """What the states mean now."""
        return self.manifest.meanings

    def draft(self, address: str) -> Draft:
        """The state ``UID:NAME``, or the only one of ``UID``; StateError otherwise."""
        found = chosen(self.manifest, address)
        if len(found) > 1:
            raise StateError(
                f"{address} has {counted(len(found), 'state')}",
                hint="Say which:\n" + "\n".join(each.title for each in found),
            )
        return self.drafts[found[0].uid, found[0].name]

    def of(self, uid: str) -> list[Draft]:
        """All states of an operator; StateError if there is none."""
        found = [each for (other, _), each in self.drafts.items() if other == uid]
        if not found:
            known = "\n".join(dict.fromkeys(uid for uid, _ in self.drafts)) or "There is none."
            raise StateError(f"there is no state of an operator {uid}", hint=f"Operators:\n{known}")
        return found

    def described(self, state: SavedState) -> SavedState:
        """The state as it is, or as the plan has it, if its new meaning is accepted; StateError if it has not."""
        if state.title not in self.accept:
            return state
        planned = self.planned.get((state.uid, state.name))
        if planned is None:
            raise StateError("the plan has no such state, so it cannot tell its meaning", where=state.title)
        return planned

    def check_keys(self, before: Draft, after: Draft) -> None:
        """StateError if keys had one row each, and some have more now (see `refuse_new_duplicates`)."""
        same = (before.state.key, before.state.bucketed) == (after.state.key, after.state.bucketed)
        if same and not self.allow_duplicate_keys:
            refuse_new_duplicates(self.connection, after.state, before.rows, after.rows)

    def put(self, draft: Draft) -> None:
        """Have this state, in place of one of the same uid and name."""
        self.drafts[draft.state.uid, draft.state.name] = draft

    def stage(self) -> Path:
        """The path of a new file for rows."""
        place = self.folder / _STAGED
        place.mkdir(exist_ok=True)
        self._staged += 1
        return place / f"{self._staged}.parquet"

    def write(self, state: SavedState, query: str) -> Draft:
        """The rows of a query as those of a state; it has the state's columns in their order."""
        file = self.stage()
        self.connection.execute(f"COPY ({query}) TO {literal(for_duckdb_to_write(file))} (FORMAT parquet)")
        names = list(file_columns(state))
        if distinct_names(names) != tuple(names):
            _rename_columns(file, names)
        return with_rows(state, file)

    @contextmanager
    def step(self, operation: str, draft: Draft, detail: str = "") -> Iterator[list[Draft]]:
        """Log what is done to a state; the block hands over what becomes of it, or nothing if it goes."""
        begun = time.monotonic()
        after: list[Draft] = []
        yield after
        state = after[0].state if after else draft.state
        self.note(
            Step(
                operation,
                state.uid,
                state.name,
                draft.state.rows,
                sum(each.state.rows for each in after),
                detail,
                draft.state.schema if after and state.schema != draft.state.schema else (),
            ),
            time.monotonic() - begun,
        )

    def note(self, step: Step, seconds: float = 0.0) -> None:
        """Log a step."""
        _log.info("%s, %.1f s", step, seconds)
        self.steps.append(step)
        self.seconds.append(seconds)

    def finish(self) -> Manifest:
        """Write plan, files and manifest."""
        self.drafts = {address: self._placed(each) for address, each in self.drafts.items()}
        shutil.rmtree(self.folder / _STAGED, ignore_errors=True)
        new_file(self.folder / PLAN, self.plan)
        return seal(self.folder, self.manifest)

    def _placed(self, draft: Draft) -> Draft:
        place = state_folder(self.folder, draft.state.uid, draft.state.name)
        place.mkdir(parents=True)
        files = []
        for number, source in enumerate(draft.files):
            file = place / f"part-{number:05}.parquet"
            if source.is_relative_to(self.folder):
                source.rename(file)
            else:
                shutil.copyfile(source, file)
            files.append(file)
        sums = {str(each.relative_to(self.folder)): checksum(each) for each in files}
        return Draft(replace(draft.state, bytes=sum(each.stat().st_size for each in files), files=sums), tuple(files))


def with_rows(state: SavedState, file: Path) -> Draft:
    """A state whose rows are in a file."""
    import pyarrow.parquet as pq

    return Draft(replace(state, rows=pq.read_metadata(file).num_rows), (file,))


def _rename_columns(file: Path, names: list[str]) -> None:
    """DuckDB takes names for equal that differ in case, and wrote other ones."""
    import pyarrow.parquet as pq

    pq.write_table(pq.read_table(file).rename_columns(names), file)
