"""Which segment files are needed, and how much of each; what is not needed is removed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from rekindle.engine.store.disk import Disk
from rekindle.engine.store.segment_file import opened, path_of
from rekindle.engine.store.state_list import SectionPlace, StateId, StateList

_SPARSE = 2
"""Less than one part in so many of a file's bytes is alive: what is left of it is written anew."""


class Inventory:
    """What the newest entry needs. It is the driver's: a micro-batch at a time."""

    def __init__(self, disk: Disk, newest: Mapping[StateId, str]) -> None:
        """`newest`: the file that holds each state's newest list."""
        self._disk = disk
        self._newest: dict[StateId, str] = {}
        self._uses: Counter[str] = Counter()
        """How many lists and sections that count are in a file."""
        self._alive: Counter[str] = Counter()
        """Bytes of the sections that count."""
        self.apply(newest, ())

    @property
    def newest(self) -> Mapping[StateId, str]:
        """The file that holds each state's newest list."""
        return self._newest

    def needed(self) -> frozenset[str]:
        """All files of lists and sections that count."""
        return frozenset(self._uses)

    def sparse(self) -> frozenset[str]:
        """Files of which little is alive."""
        return frozenset(name for name in self._uses if self._alive[name] * _SPARSE < opened(self._disk, name).size)

    def apply(self, newest: Mapping[StateId, str], emptied: Iterable[StateId]) -> frozenset[str]:
        """What a committed micro-batch has changed; files that are not needed any more."""
        before = self.needed()
        for state_id in (*newest, *emptied):
            if state_id in self._newest:
                file = self._newest.pop(state_id)
                self._count(file, self._list(state_id, file), -1)
        for state_id, file in newest.items():
            self._newest[state_id] = file
            self._count(file, self._list(state_id, file), 1)
        self._uses, self._alive = +self._uses, +self._alive
        return before - self.needed()

    def sweep(self, found: Iterable[str]) -> None:
        """Remove all of these files (`Log.found`) that are not needed."""
        for name in found:
            if name not in self._uses:
                self._disk.remove(path_of(name))

    def _list(self, state_id: StateId, file: str) -> StateList:
        return opened(self._disk, file).lists[state_id]

    def _count(self, file: str, of_state: StateList, sign: int) -> None:
        self._uses[file] += sign
        for each in of_state.sections:
            self._uses[each.file] += sign
            self._alive[each.file] += sign * self._bytes(each)

    def _bytes(self, place: SectionPlace) -> int:
        return opened(self._disk, place.file).length(place.number)
