"""Keeps rows away from functions of the user that are not theirs. Pure data: no Spark.

Spark computes a Python function for every row of a projection, also where the CASE around it, or the condition of
another way, says no. So each call is told for which rows it is meant (see `execnodes.lowering.user_calls`).
"""

from __future__ import annotations

from dataclasses import replace

from execnodes.lowering.stream import Branch, Made, OperatorInput, Rows
from execnodes.lowering.user_calls import activated
from rekindle.pipeline.record import LocalRecord, Record, Step


def guard(recorded: Record) -> Record:
    """The record with the condition of every call of a function of the user written out."""

    def rows(given: Rows) -> Rows:
        return Rows(given.type, tuple(map(_guarded, given.branches)))

    def step(given: Step) -> Step:
        if isinstance(given, LocalRecord):
            return replace(given, rows=rows(given.rows))
        return replace(given, inputs=tuple(OperatorInput(rows(each.rows), each.keys) for each in given.inputs))

    for source in recorded.sources.values():
        source.event_times[:] = [activated(text) for text in source.event_times]
        source.made[:] = [_activated(layer) for layer in source.made]
    recorded.steps = {node_id: step(each) for node_id, each in recorded.steps.items()}
    recorded.sinks = [replace(each, rows=rows(each.rows)) for each in recorded.sinks]
    return recorded


def _guarded(branch: Branch) -> Branch:
    condition = None if branch.condition is None else activated(branch.condition)
    passes = "TRUE" if condition is None else condition
    return replace(
        branch,
        condition=condition,
        columns=tuple(activated(text, passes) for text in branch.columns),
        made=tuple(_activated(layer) for layer in branch.made),
    )


def _activated(layer: tuple[Made, ...]) -> tuple[Made, ...]:
    return tuple(replace(each, text=activated(each.text)) for each in layer)
