"""The log of a job: entries that say what there is after a micro-batch. What the newest one does not name is not there.

An entry is put if absent under the next number, so that of two drivers one commits, and the other learns that it is
fenced off. A driver begins with an entry of its own, which changes nothing but the epoch: from then on no driver of
before can commit. A micro-batch is planned before it runs, put if absent as well: who comes after a crash runs the same
one again, and sinks know it by its number.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from execnodes.core.errors import JobError
from rekindle.engine.differences import all_differences, with_all
from rekindle.engine.store.disk import NOT_WHOLE, TEMPORARY, Disk, put_if_absent
from rekindle.engine.store.segment_file import all_files
from rekindle.engine.store.state_list import StateId
from rekindle.files.json_files import Id, parsed

FOLDER = "log"
COMMITTED, PLANNED = ".committed", ".planned"
KEPT = 100
"""Entries that are not removed, the newest ones."""
WHOLE = 50
"""After how many entries, fewer than are kept, one has positions as they are and not only what has changed."""

Count = Annotated[int, Field(ge=0)]


class Facts(BaseModel):
    """What a micro-batch leaves."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    watermark: int | None
    """Epoch ms; None before there is one."""
    reached: dict[str, int]
    """How far the rows of each source have moved it, by uid, epoch ms."""
    ended: tuple[str, ...]
    """Sources that give no more rows, by uid."""
    timers: dict[str, dict[str, int]]
    """When operators want to be woken next, by uid and subtask, epoch ms."""
    state: dict[str, dict[str, dict[str, tuple[Count, ...]]]]
    """File, uid, state: subtasks whose newest list is in that file."""
    counters: dict[str, Count]


class Entry(Facts):
    """What there is after a micro-batch."""

    sequence: Count
    """Of the entry, from 0; also drivers that begin have one."""
    epoch: Count
    """Of the driver: each has a higher one than those before."""
    driver: Id
    before: Id | None
    """The driver of the entry before; None of the first one."""
    micro_batch: Annotated[int, Field(ge=-1)]
    """The last one that is committed; -1 before the first."""
    positions: dict[str, Any]
    """How far each source has been read, by uid: JSON of its connector. On disk only what has changed, unless whole."""
    whole: bool
    """Whether `positions` on disk need no entry before this one (see `differences`)."""

    def due(self) -> dict[tuple[str, int], int]:
        """When operators (uid, subtask) want to be woken next."""
        return {(uid, int(subtask)): at for uid, timers in self.timers.items() for subtask, at in timers.items()}

    def newest(self) -> dict[StateId, str]:
        """The file that holds each state's newest list."""
        return {
            StateId(uid, state, subtask): file
            for file, uids in self.state.items()
            for uid, states in uids.items()
            for state, subtasks in states.items()
            for subtask in subtasks
        }


def by_file(newest: Mapping[StateId, str]) -> dict[str, dict[str, dict[str, tuple[int, ...]]]]:
    """States as an entry has them."""
    found: dict[str, dict[str, dict[str, tuple[int, ...]]]] = {}
    for state_id in sorted(newest):
        states = found.setdefault(newest[state_id], {}).setdefault(state_id.uid, {})
        states[state_id.state] = (*states.get(state_id.state, ()), state_id.subtask)
    return found


class Plan(BaseModel):
    """How far a micro-batch reads."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    micro_batch: Count
    positions: dict[str, Any]
    """To where, by the source's uid; a source without news is not there. On disk what has changed (`differences`)."""
    ended: tuple[str, ...]
    """Sources that have nothing behind these positions."""
    idle: tuple[str, ...]
    """Sources that do not hold time back: whoever runs it again must let the same time pass."""
    clock: int | None
    """The time of the clock, epoch ms, where that is the watermark."""
    chained: bool = False
    """Whether operators are woken behind those that give them rows (see `MicroBatch.chained`); not before 2.3."""


_ENTRY, _PLAN = TypeAdapter(Entry), TypeAdapter(Plan)
Model = TypeVar("Model", Entry, Plan)


class Log:
    """The log as one driver has it, which begins with an entry of its own."""

    def __init__(self, disk: Disk) -> None:
        """Take the job over: all drivers of before are fenced off. OSError, and JobError for a log that is broken."""
        self._disk = disk
        self._driver = secrets.token_hex(16)
        # Listed before the entry: whoever writes later may be a driver that comes after this one.
        self.found = all_files(disk)
        """Segment files that were there before; those that the entry does not name, nobody will."""
        left = [each for each in disk.names(FOLDER) if each.endswith(TEMPORARY)]
        # What is read below must still be there after a crash.
        disk.sync_folder(FOLDER)
        while True:
            last = newest_entry(disk)
            mine = _first(self._driver) if last is None else self._mine(last)
            if self._put(mine, {}):
                break
        self.last = mine
        """The newest entry."""
        for name in left:
            disk.remove(f"{FOLDER}/{name}")

    def _mine(self, last: Entry) -> Entry:
        return last.model_copy(
            update={
                "sequence": last.sequence + 1,
                "epoch": last.epoch + 1,
                "driver": self._driver,
                "before": last.driver,
                "whole": True,
            }
        )

    def plan(
        self,
        positions: Mapping[str, Any],
        ended: Sequence[str],
        idle: Sequence[str],
        clock: int | None,
        number: int | None = None,
    ) -> Plan:
        """The next micro-batch: as another driver has planned it, if one has, or up to these positions.

        `number`: its own, where sinks know those before it from elsewhere. JobError if another driver has taken the
        job over.
        """
        before = self.last.positions
        number = self.last.micro_batch + 1 if number is None else number
        path = _path(number, PLANNED)
        found = planned(self._disk, number, before)
        if found is None:
            made = Plan(
                micro_batch=number,
                positions=dict(positions),
                ended=tuple(ended),
                idle=tuple(idle),
                clock=clock,
                chained=True,
            )
            put_if_absent(self._disk, path, _text(made, before))
            found = planned(self._disk, number, before)
            if found is None:
                # Only who has committed this micro-batch removes its plan.
                raise _fenced(newest_entry(self._disk))
        return found

    def commit(self, plan: Plan, facts: Facts) -> None:
        """The micro-batch has run: from now on all this is so.

        JobError if another driver has taken the job over before; then nothing of it is so. After an OSError that is
        unknown: begin again with a log of one's own.
        """
        last = self.last
        entry = Entry(
            **facts.model_dump(),
            sequence=last.sequence + 1,
            epoch=last.epoch,
            driver=self._driver,
            before=last.driver,
            micro_batch=plan.micro_batch,
            positions={**last.positions, **plan.positions},
            whole=(last.sequence + 1) % WHOLE == 0,
        )
        if not self._put(entry, {} if entry.whole else last.positions):
            raise _fenced(self._read(entry.sequence))
        newer = max(_numbers(self._disk, COMMITTED))
        if newer > entry.sequence and not self._is_followed(entry):
            # It was asleep for so long that entries of its numbers are removed already: this one is no part of the log.
            self._disk.remove(_path(entry.sequence, COMMITTED))
            raise _fenced(self._read(newer))
        self.last = entry

    def tidy(self) -> None:
        """Remove old entries and plans."""
        for number in _numbers(self._disk, COMMITTED):
            if number <= self.last.sequence - KEPT:
                self._disk.remove(_path(number, COMMITTED))
        for number in _numbers(self._disk, PLANNED):
            # A driver that is fenced off must find the plan that was, and not make another one.
            if number <= self.last.micro_batch - KEPT:
                self._disk.remove(_path(number, PLANNED))

    def _put(self, entry: Entry, before: Mapping[str, Any]) -> bool:
        """Whether it is in the log; `before`: positions that it goes on from. JobError, OSError."""
        try:
            return put_if_absent(self._disk, _path(entry.sequence, COMMITTED), _text(entry, before))
        except OSError:
            # Storage may do what it says that it has not done.
            there = _read(self._disk, entry.sequence, COMMITTED, _ENTRY)
            if there is None or there.driver != self._driver:
                raise
            self._disk.sync_folder(FOLDER)
            return True

    def _is_followed(self, entry: Entry) -> bool:
        """Whether the next entry goes on from it."""
        following = self._read(entry.sequence + 1)
        return following is not None and following.before == entry.driver

    def _read(self, sequence: int) -> Entry | None:
        return _read(self._disk, sequence, COMMITTED, _ENTRY)


def newest_entry(disk: Disk) -> Entry | None:
    """What there is; None if no driver has begun. JobError if it cannot be read."""
    looked_at = -1
    while numbers := _numbers(disk, COMMITTED):
        newest = max(numbers)
        if newest == looked_at:
            raise JobError(
                "entries of the log before this one are missing", where=_place(disk, newest, COMMITTED), hint=NOT_WHOLE
            )
        looked_at = newest
        entry = _read(disk, newest, COMMITTED, _ENTRY)
        if entry is not None and (complete := _with_positions(disk, entry)) is not None:
            return complete
    return None


def _with_positions(disk: Disk, entry: Entry) -> Entry | None:
    """An entry with its positions as they are; None if those before it are gone, as there are newer ones."""
    chain = [entry]
    while not chain[-1].whole:
        before = _read(disk, chain[-1].sequence - 1, COMMITTED, _ENTRY)
        if before is None:
            return None
        chain.append(before)
    positions: dict[str, Any] = {}
    for each in reversed(chain):
        positions = _changed(positions, each.positions, _place(disk, each.sequence, COMMITTED))
    return entry.model_copy(update={"positions": positions})


def planned(disk: Disk, number: int, before: Mapping[str, Any]) -> Plan | None:
    """A micro-batch that was planned from the positions `before`; None if it was not. JobError if it cannot be read."""
    plan = _read(disk, number, PLANNED, _PLAN)
    if plan is None:
        return None
    positions = _changed(before, plan.positions, _place(disk, number, PLANNED))
    return plan.model_copy(update={"positions": {uid: positions[uid] for uid in plan.positions}})


def _changed(before: Mapping[str, Any], differences: Mapping[str, Any], where: str) -> dict[str, Any]:
    try:
        return with_all(before, differences)
    except ValueError as error:
        raise JobError("positions do not go on from those before", where=where, hint=NOT_WHOLE) from error


def _first(driver: str) -> Entry:
    nothing = Facts(watermark=None, reached={}, ended=(), timers={}, state={}, counters={}).model_dump()
    there: dict[str, Any] = {"driver": driver, "before": None, "micro_batch": -1, "positions": {}, "whole": True}
    return Entry.model_validate({**nothing, **there, "sequence": 0, "epoch": 0})


def _fenced(by: Entry | None) -> JobError:
    epoch = "" if by is None else f" (epoch {by.epoch})"
    return JobError(
        f"another driver{epoch} has taken the job over",
        hint="Let that one go on, or stop it and start the job again.",
    )


def _numbers(disk: Disk, kind: str) -> list[int]:
    names = (each.removesuffix(kind) for each in disk.names(FOLDER) if each.endswith(kind))
    return [int(each) for each in names if each.isdecimal()]


def _path(number: int, kind: str) -> str:
    return f"{FOLDER}/{number:012d}{kind}"


def _place(disk: Disk, number: int, kind: str) -> str:
    return disk.place(_path(number, kind))


def _text(model: Entry | Plan, before: Mapping[str, Any]) -> bytes:
    """What is on disk; `before`: positions that it goes on from."""
    stored = {**model.model_dump(mode="json"), "positions": all_differences(before, model.positions)}
    return json.dumps(stored, indent=1).encode()


def _read(disk: Disk, number: int, kind: str, adapter: TypeAdapter[Model]) -> Model | None:
    where = _place(disk, number, kind)
    try:
        content = disk.read(_path(number, kind)).to_pybytes()
    except FileNotFoundError:
        return None
    found = parsed(content, adapter, where, hint=NOT_WHOLE)
    if number != (said := found.sequence if isinstance(found, Entry) else found.micro_batch):
        raise JobError(f"the file is of number {said}, not {number}", where=where, hint=NOT_WHOLE)
    return found
