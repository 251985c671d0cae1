"""States of the subtasks that one task works on in a micro-batch; what they have changed is one file at its end."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from execnodes.state.operator import StateSpec
from rekindle.engine.store.disk import Disk
from rekindle.engine.store.section import Section
from rekindle.engine.store.segment_file import new_name, opened, write_file
from rekindle.engine.store.segment_state import EMPTY, Changed, SegmentState
from rekindle.engine.store.state_list import SectionPlace, StateId, StateList


@dataclass(frozen=True, slots=True)
class Written:
    """What a call tells the driver, which names it in the entry that it commits, or forgets it."""

    file: str | None
    """None if it has written nothing."""
    states: tuple[StateId, ...]
    """Whose newest list is in the file."""
    emptied: tuple[StateId, ...]
    """Which have no rows any more."""


class StoreCall:
    """One attempt of one task; another attempt writes another file."""

    def __init__(self, disk: Disk, newest: Mapping[StateId, str], now: int, rewrite: Collection[str] = ()) -> None:
        """`newest`: the file of each state's newest list; `now`: epoch ms; `rewrite`: files with little alive."""
        self._disk, self._newest, self._now, self._rewrite = disk, newest, now, rewrite
        self._open: dict[StateId, SegmentState] = {}

    def state(self, state_id: StateId, spec: StateSpec) -> SegmentState:
        """A state, opened once."""
        if state_id not in self._open:
            file = self._newest.get(state_id)
            known = EMPTY if file is None else opened(self._disk, file).lists[state_id]
            self._open[state_id] = SegmentState(spec, self._disk, known, self._now)
        return self._open[state_id]

    def rows(self) -> dict[StateId, int]:
        """Rows of the states that were opened."""
        return {state_id: state.total_rows for state_id, state in self._open.items()}

    def finish(self) -> Written:
        """Write what has changed, durably."""
        name, sections = new_name(), list[Section]()
        lists, emptied = dict[StateId, StateList](), list[StateId]()
        for state_id, state in self._open.items():
            changed = state.changed(self._rewrite)
            if changed is not None and changed.kept:
                lists[state_id] = _placed(changed, name, sections)
            elif changed is not None and state_id in self._newest:
                emptied.append(state_id)
        if lists:
            write_file(self._disk, name, sections, lists)
        return Written(name if lists else None, tuple(lists), tuple(emptied))


def _placed(changed: Changed, name: str, sections: list[Section]) -> StateList:
    """Its sections with places, those that have none in the file of this name, which `sections` collects."""
    places = []
    for each in changed.kept:
        if isinstance(each, Section):
            places.append(SectionPlace(name, len(sections), len(each), each.last))
            sections.append(each)
        else:
            places.append(each)
    return StateList(tuple(places), changed.rows)
