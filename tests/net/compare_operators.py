"""What today's operators make of recorded changelogs, and where that is not what was recorded."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import polars as pl

from execnodes.core.registry import UnknownNodeError
from execnodes.intended_changes import INTENDED_CHANGES
from execnodes.state.operator import Operator
from plans.evolution.upgrade import upgrade
from plans.format.load import load
from rekindle.pipeline.record import OperatorRecord
from tests.net.operators import FIXTURES, MemoryContext, decoded, held, layout, run, steps
from tests.net.records import Record


@cache
def plan(program: str) -> str:
    """The plan of a restore fixture, as `executable`."""
    return executable((FIXTURES / program / "plan.json").read_text(encoding="utf-8"))


def executable(text: str) -> str:
    """A plan with nodes of versions that are no longer executed as those that lead on from them."""
    try:
        load(text)
    except UnknownNodeError:
        return upgrade(text, newest=False).text
    return text


@cache
def _lowered(program: str) -> Any:
    return steps(plan(program), program)


def node(record: Record) -> Record:
    """The node of a record, as its plan has it."""
    found: Record = next(each for each in json.loads(plan(record["program"]))["nodes"] if each["id"] == record["node"])
    return found


def problems(record: Record) -> list[str]:
    """Where today's code makes something else of a record's inputs, but for what the list of intended changes has."""
    graph, lowered = _lowered(record["program"])
    named = graph.by_id[record["node"]]
    if any(
        each.component == record["key"] and (each.concerns is None or each.concerns(graph, named))
        for each in INTENDED_CHANGES
    ):
        return []
    step = lowered.steps[record["node"]]
    return [f"{record['program']}, node {record['node']} ({record['key']}): {each}" for each in _found(step, record)]


def _found(step: Any, record: Record) -> Iterator[str]:
    then, now = record["layout"], layout(step)
    for part in ("inputs", "output"):
        if then[part] != now[part]:
            yield f"{part} was {then[part]}, is {now[part]}"
    for at, (old, new) in enumerate(zip(record["batches"], run(step, record["keys"], record["batches"]), strict=True)):
        if old["out"] != new["out"]:
            yield f"batch {at}: gave {_beside(old['out'], new['out'])}"
        kept = old["states"] if then["states"] == now["states"] else _restored(step, old["states"])
        for name in sorted({*kept, *new["states"]}):
            if kept.get(name) != new["states"].get(name):
                yield f"batch {at}: {name} held {_beside(kept.get(name) or [], new['states'].get(name) or [])}"


def _beside(old: list[Any], new: list[Any]) -> str:
    return f"{[each for each in old if each not in new]}, now {[each for each in new if each not in old]}"


def _restored(step: Any, states: dict[str, list[list[Any]]]) -> dict[str, list[list[Any]]]:
    """State of another layout as an operator takes it over."""
    assert isinstance(step, OperatorRecord)
    operator: Operator = step.operator
    specs = {each.name: each for each in (*operator.states, *operator.earlier)}
    context = MemoryContext(operator)
    for name, rows in states.items():
        values = [[decoded(each) for each in row] for row in rows]
        schema: Any = specs[name].schema
        operator.restore(name, pl.DataFrame(values, schema=schema, orient="row"), context)
    return held(context)
