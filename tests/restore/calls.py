"""What operators are given and give, as JSON: written by tasks of Spark (see `recording`), and by calls without it."""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from execnodes.lowering.slots import SlotLayout
from execnodes.lowering.stream import HASH, KIND, MAJOR, SEQUENCE, WATERMARK
from execnodes.state.operator import Operator
from rekindle.engine.host import HostTask, Member, SegmentContext
from rekindle.engine.store.call import StoreCall

FOLDER = "REKINDLE_RESTORE_CALLS"
"""Environment variable: where tasks put what they see."""
HIDDEN = (KIND, HASH, SEQUENCE, MAJOR, WATERMARK)
Record = dict[str, Any]


class RecordingTask(HostTask):
    """Writes a file a call of an operator; all of it has one subtask."""

    def _changes(
        self, member: Member, rows: pl.DataFrame | None, due: frozenset[int], work: Any
    ) -> Iterator[pl.DataFrame]:
        given = list(super()._changes(member, rows, due, work))
        if isinstance(member.step, Operator):
            moment, (batch, step) = work.moment, work.moment.number
            slots = member.slots()
            call = {
                "batch": batch,
                "step": step,
                "node": member.number,
                "watermark": moment.watermark,
                "now": moment.now,
                "chained": moment.chained,
                "held": sorted(moment.held),
                **table("given", rows, slots),
                **table("out", pl.concat(given) if given else None, output_slots(member.step)),
                "states": states(self, member.step, work.call, moment.now),
            }
            name = f"{batch:05}-{step:03}-{member.number:05}.json"
            Path(os.environ[FOLDER], name).write_text(json.dumps(call), encoding="utf-8")
        return iter(given)


def output_slots(operator: Operator) -> tuple[str, ...]:
    """Slots of the rows that an operator gives."""
    return SlotLayout.of([[column.type for column in operator.output]]).names()


def table(name: str, rows: pl.DataFrame | None, slots: Sequence[str]) -> Record:
    if rows is None:
        return {name: None}
    columns = [each for each in (*HIDDEN, *slots) if each in rows.columns]
    return {name: {"columns": columns, "rows": as_json(rows.select(columns))}}


def states(task: HostTask, operator: Operator, call: StoreCall, now: int) -> dict[str, list[list[Any]]]:
    """Rows of each state that a savepoint has, as they are in the segments of a call."""
    context = SegmentContext(call, operator, task.groups, frozenset(range(task.groups.subtasks)), None, now)
    kept = [each for each in operator.states if not each.derived]
    return {each.name: in_order(as_json(context.state(each.name).scan())) for each in kept}


def as_json(rows: pl.DataFrame) -> list[list[Any]]:
    """Rows as JSON values."""
    return [[_encoded(value) for value in row] for row in rows.rows()]


def in_order(rows: list[list[Any]]) -> list[list[Any]]:
    """Rows whose order says nothing."""
    return sorted(rows, key=lambda row: json.dumps(row, ensure_ascii=False))


def _encoded(value: Any) -> Any:
    if isinstance(value, bytes):
        # A set that is pickled has another order in each process.
        held = pickle.loads(value) if value.startswith(b"\x80\x05") else None
        return {"set": sorted(held)} if isinstance(held, set) else {"hex": value.hex()}
    return str(value) if isinstance(value, float) and not abs(value) < float("inf") else value


def decoded(value: Any) -> Any:
    """A value of a row that `as_json` has written."""
    if isinstance(value, dict):
        return bytes.fromhex(value["hex"]) if "hex" in value else pickle.dumps(set(value["set"]))
    return value
