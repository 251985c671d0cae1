"""All rows of a committed entry, as long as they are asked for: files stay open here when the job has removed them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import polars as pl

from execnodes.state.operator import StateSpec
from rekindle.engine.store.disk import Disk
from rekindle.engine.store.merging import resolve
from rekindle.engine.store.segment_file import SegmentFile, opened
from rekindle.engine.store.state_list import StateId, StateList


@dataclass(frozen=True)
class Snapshot:
    """States as an entry has them."""

    lists: Mapping[StateId, StateList]
    files: Mapping[str, SegmentFile]

    @classmethod
    def of(cls, disk: Disk, newest: Mapping[StateId, str]) -> Snapshot:
        """Open all files of these lists (see `Entry.newest`); StateError if one is missing or not whole."""
        lists = {state: opened(disk, name).lists[state] for state, name in newest.items()}
        names = {each.file for found in lists.values() for each in found.sections}
        return cls(lists, {name: opened(disk, name) for name in names})

    def frames(self, uid: str, spec: StateSpec) -> Iterator[pl.DataFrame]:
        """Rows of a state by subtask, in today's layout, with `WRITTEN` where there is a TTL."""
        for state, found in sorted(self.lists.items()):
            if (state.uid, state.state) == (uid, spec.name):
                sections = [
                    section if each.floor is None else section.expired(each.floor)
                    for each in found.sections
                    for section in [self.files[each.file].section(each.number, every_row=True)]
                ]
                rows = resolve(spec, [each for each in sections if len(each)], None, bottom=True).rows
                if len(rows):
                    yield rows
