"""Which sections a state of a subtask has, as files name them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple


class StateId(NamedTuple):
    """One state of one subtask of an operator."""

    uid: str
    state: str
    subtask: int


@dataclass(frozen=True, slots=True)
class SectionPlace:
    """Where a section is."""

    file: str
    number: int
    """In its file."""
    rows: int
    """All of it, also what has expired."""
    last: int | None
    """Its highest bucket; None where the state has none."""
    floor: int | None = None
    """Its rows of buckets up to this have expired."""


@dataclass(frozen=True, slots=True)
class StateList:
    """A state's sections, the oldest first."""

    sections: tuple[SectionPlace, ...]
    rows: Mapping[int, int]
    """How many visible rows each bucket has, with those whose time to live is over; 0 where there are no buckets."""
