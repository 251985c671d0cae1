"""A segment file: sections of any number of states, and the newest list of each state that a call has changed.

    magic | sections, each an Arrow IPC file at a multiple of 64 bytes | index, JSON | its length, its CRC-32, magic

Written by one call for one micro-batch, synced once, never changed. Its name is made by chance, so that what is open
under a name can never be stale.
"""

from __future__ import annotations

import secrets
import struct
import zlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Annotated

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from execnodes.core.errors import StateError
from rekindle.engine.store.disk import NOT_WHOLE, Disk, write_durably
from rekindle.engine.store.section import Section
from rekindle.engine.store.state_list import SectionPlace, StateId, StateList

FOLDER = "state"
SUFFIX = ".segments"
_MAGIC = b"rksegm01"
_FOOT = struct.Struct("<QI8s")
_ALIGNED = 64
_OPEN = 512
"""Files that a process keeps mapped."""
_SMALL = 1 << 20
"""Bytes of a section that is checked whenever it is loaded; larger ones where all of their rows are read."""

Count = Annotated[int, Field(ge=0)]


class _Place(BaseModel):
    """A section of a list; `file` 0 is the file itself, others count in the index's `files`."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    file: Count
    number: Count
    rows: Count
    last: int | None
    floor: int | None


class _List(BaseModel):
    """The newest list of one state."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    uid: str
    state: str
    subtask: Count
    sections: tuple[_Place, ...]
    buckets: tuple[int, ...]
    rows: tuple[Count, ...]


class _Index(BaseModel):
    """What is where; `sections` are (offset, length, CRC-32)."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    files: tuple[Annotated[str, Field(pattern=r"^[0-9a-f]{32}\.segments$")], ...]
    sections: tuple[tuple[Count, Count, Count], ...]
    lists: tuple[_List, ...]


def new_name() -> str:
    """A name that no other file has."""
    return f"{secrets.token_hex(16)}{SUFFIX}"


def path_of(name: str) -> str:
    """Where a file is, below the job's folder."""
    return f"{FOLDER}/{name}"


def all_files(disk: Disk) -> frozenset[str]:
    """Names of all files, those included that an interrupted attempt has left."""
    return frozenset(disk.names(FOLDER))


def write_file(disk: Disk, name: str, sections: Sequence[Section], lists: Mapping[StateId, StateList]) -> None:
    """Write a file durably; lists name its own sections by `name`."""
    parts: list[bytes | pa.Buffer] = [_MAGIC]
    places, at = [], len(_MAGIC)
    for section in sections:
        padding = -at % _ALIGNED
        content = _encoded(section)
        places.append((at + padding, content.size, zlib.crc32(content)))
        parts += [b"\0" * padding, content]
        at += padding + content.size
    index = _index(name, places, lists).model_dump_json().encode()
    parts += [index, _FOOT.pack(len(index), zlib.crc32(index), _MAGIC)]
    write_durably(disk, path_of(name), parts)


def _encoded(section: Section) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, section.table.schema) as writer:
        writer.write_table(section.table.slice(section.start))
    return sink.getvalue()


def _index(name: str, places: Sequence[tuple[int, int, int]], lists: Mapping[StateId, StateList]) -> _Index:
    files = sorted({each.file for of_state in lists.values() for each in of_state.sections} - {name})
    numbers = {name: 0, **{other: number for number, other in enumerate(files, 1)}}
    found = [
        _List(
            uid=state_id.uid,
            state=state_id.state,
            subtask=state_id.subtask,
            sections=tuple(
                _Place(file=numbers[each.file], number=each.number, rows=each.rows, last=each.last, floor=each.floor)
                for each in of_state.sections
            ),
            buckets=tuple(of_state.rows),
            rows=tuple(of_state.rows.values()),
        )
        for state_id, of_state in lists.items()
    ]
    return _Index(files=tuple(files), sections=tuple(places), lists=tuple(found))


class SegmentFile:
    """An open file; of its sections only what is touched is loaded."""

    def __init__(self, name: str, content: pa.Buffer, where: str) -> None:
        """StateError, which says `where`, if this is not what `write_file` has written."""
        self.name, self._where = name, where
        self._content = content
        self._index = self._read_index()
        self._sections: dict[int, Section] = {}
        self._checked: set[int] = set()
        self.size = content.size
        """Bytes."""
        self.lists = {StateId(each.uid, each.state, each.subtask): self._list(each) for each in self._index.lists}
        """The states whose newest list was here when it was written."""

    def _read_index(self) -> _Index:
        content = self._content
        if content.size >= len(_MAGIC) + _FOOT.size:
            length, checksum, magic = _FOOT.unpack(content[content.size - _FOOT.size :].to_pybytes())
            begin = content.size - _FOOT.size - length
            if magic == _MAGIC and begin >= len(_MAGIC):
                text = content[begin : begin + length].to_pybytes()
                if zlib.crc32(text) == checksum:
                    try:
                        return _Index.model_validate_json(text, strict=True)
                    except ValidationError as error:
                        raise self._broken() from error
        raise self._broken()

    def _broken(self) -> StateError:
        return StateError("this is no whole segment file", where=self._where, hint=NOT_WHOLE)

    def _list(self, found: _List) -> StateList:
        names = (self.name, *self._index.files)
        places = (
            SectionPlace(names[each.file], each.number, each.rows, each.last, each.floor) for each in found.sections
        )
        return StateList(tuple(places), dict(zip(found.buckets, found.rows, strict=True)))

    def length(self, number: int) -> int:
        """Bytes of a section."""
        return self._index.sections[number][1]

    def section(self, number: int, *, every_row: bool = False) -> Section:
        """One of its sections; `every_row`: all of it is read, and what is damaged must not be copied. StateError."""
        offset, length, checksum = self._index.sections[number]
        content = self._content.slice(offset, length)
        if number not in self._checked and (every_row or length <= _SMALL):
            if zlib.crc32(content) != checksum:
                raise StateError("a section of this file is damaged", where=self._where, hint=NOT_WHOLE)
            self._checked.add(number)
        if number not in self._sections:
            try:
                table = pa.ipc.open_file(content).read_all()
            except pa.ArrowInvalid as error:
                raise self._broken() from error
            self._sections[number] = Section(table)
        return self._sections[number]


@lru_cache(maxsize=_OPEN)
def opened(disk: Disk, name: str) -> SegmentFile:
    """A file by its name. StateError if it is not there, or is not whole."""
    where = disk.place(path_of(name))
    try:
        return SegmentFile(name, disk.read(path_of(name)), where)
    except FileNotFoundError:
        raise StateError("a segment file is missing", where=where, hint=NOT_WHOLE) from None
