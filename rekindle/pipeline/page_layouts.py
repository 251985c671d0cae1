"""Layouts that a job's state has had: serializers of accumulators change from start to start, pages when touched."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from pydantic import TypeAdapter

from execnodes.core.errors import StateError
from execnodes.core.meaning import StateColumn, StateMeaning
from execnodes.core.types import parse_type
from execnodes.state.kernel_types import Column
from execnodes.state.operator import Former
from execnodes.state.serializers.row_conversion import NextLayout
from plans.compatibility.accumulators import evolve
from plans.compatibility.canonical import column_term
from plans.compatibility.judge import judge
from plans.compatibility.plan_meanings import meanings
from plans.format.load import load
from rekindle.files.atomic_file import write_atomically
from rekindle.files.json_files import read_json, read_text
from rekindle.pipeline.record import OperatorRecord, Step

if TYPE_CHECKING:
    from execnodes.core.graph import ExecGraph
    from rekindle.files.job_folder import JobFolder

_log = logging.getLogger("rekindle.savepoints")


@dataclass(frozen=True)
class StoredLayout:
    """Columns of a state, as the job's folder keeps them."""

    columns: tuple[tuple[str, str, str], ...]
    """Name, type and meaning, as text."""
    serializers: Mapping[str, str]
    """See `StateMeaning`."""

    @classmethod
    def of(cls, state: StateMeaning) -> StoredLayout:
        """The layout that a plan has now."""
        return cls(tuple((each.name, each.type, each.meaning.text) for each in state.columns), dict(state.serializers))

    def meaning(self, now: StateMeaning) -> StateMeaning:
        """The state as it was; all but its accumulators is as it is now."""
        known = {each.meaning.text: each.meaning for each in now.columns}
        columns = tuple(
            StateColumn(name, t, known.get(text) or column_term(text, self.serializers))
            for name, t, text in self.columns
        )
        return replace(now, columns=columns, serializers=self.serializers)

    @property
    def schema(self) -> tuple[tuple[str, str], ...]:
        """Names and types of the columns."""
        return tuple((name, t) for name, t, _ in self.columns)


_STORED = TypeAdapter(dict[str, tuple[StoredLayout, ...]])
_HINT = "Start from a savepoint in a new --job-dir."


@dataclass(frozen=True)
class Conversion:
    """From one layout of a state to the next."""

    title: str
    """Of the state."""
    schema: tuple[tuple[str, str], ...]
    """Columns before, and their types."""
    reason: str
    former: Former


@dataclass(frozen=True)
class PageLayouts:
    """What pages of a job's state may be, by titles of states."""

    stored: Mapping[str, tuple[StoredLayout, ...]]
    """All layouts, the last one that of today."""
    conversions: Mapping[str, tuple[Conversion, ...]]
    """Steps from each layout to the next."""
    changed: frozenset[str]
    """States that have had other layouts, of which those steps lead to today's."""

    def keep(self, folder: JobFolder) -> None:
        """Write them down."""
        if self.stored:
            content = {title: [asdict(each) for each in layouts] for title, layouts in self.stored.items()}
            text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
            write_atomically(folder.page_layouts_file, text, replace=True, private=True)


def page_layouts(folder: JobFolder, graph: ExecGraph) -> PageLayouts:
    """Those of a job that goes on, or begins; StateError if today's serializers cannot read what has been written."""
    states = _serialized(graph)
    known = _known(folder, states)
    stored, found, ended = {}, {}, set()
    for title, state in states.items():
        now, before = StoredLayout.of(state), known.get(title, ())
        # What an engine lays out otherwise is not for accumulators to mend.
        changed = not before or before[-1].serializers != now.serializers
        stored[title] = (*before, now) if changed else before
        pairs = pairwise(stored[title])
        found[title] = tuple(_conversion(state, one, other, str(folder.path)) for one, other in pairs)
        if found[title] and stored[title][-1] == now:
            ended.add(title)
        if before and changed:
            _log.info("%s: %s; pages are converted when they are touched", title, found[title][-1].reason)
    return PageLayouts(stored, found, frozenset(ended))


def supply_layouts(steps: Iterable[Step], found: Mapping[str, Sequence[Conversion]]) -> None:
    """Tell operators which layouts pages of their state may have."""
    for step in steps:
        if isinstance(step, OperatorRecord):
            operator = step.operator
            operator.states = tuple(
                replace(each, former=tuple(one.former for one in found.get(f"{operator.uid}:{each.name}", ())))
                for each in operator.states
            )


def _serialized(graph: ExecGraph) -> dict[str, StateMeaning]:
    return {each.title: each for each in meanings(graph) if each.serializers}


def read_stored(folder: JobFolder) -> dict[str, tuple[StoredLayout, ...]] | None:
    """What the folder says; None for one that says nothing."""
    return read_json(folder.page_layouts_file, _STORED, hint=_HINT)


def _known(folder: JobFolder, states: Mapping[str, StateMeaning]) -> dict[str, tuple[StoredLayout, ...]]:
    if not states or folder.committed_batch() is None:
        return {}
    found = read_stored(folder)
    if found is not None:
        return found
    before = load(read_text(folder.resolved_file, hint=_HINT), source=str(folder.resolved_file))
    return {title: (StoredLayout.of(each),) for title, each in _serialized(before).items()}


def _conversion(state: StateMeaning, before: StoredLayout, after: StoredLayout, where: str) -> Conversion:
    old, new = before.meaning(state), after.meaning(state)
    judgement = judge(old, new)
    if not judgement.goes_on or judgement.empty:
        raise StateError(
            f"{state.title} cannot go on: {judgement.reason}",
            where=where,
            hint="Go on with the function as it was when the job last ran.",
        )
    columns = tuple(Column(name, parse_type(t)) for name, t in before.schema)
    step = NextLayout(evolve(old, new).changes, judgement.columns)
    return Conversion(state.title, before.schema, judgement.reason, Former(columns, step))
