"""Version 1 (1.0)."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from execnodes.core.meaning import RowsMeaning, times
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.node import ExecNode
from execnodes.core.types import LogicalType
from execnodes.lowering.stream import Lowering, Rows
from execnodes.terms.term import Bag, Term, leaf, said


@exec_node_metadata(
    name="stream-exec-union",
    version=1,
    produced_operators=["union"],
    min_plan_version="1.0",
    min_state_version="1.0",
)
class Union(ExecNode):
    """Puts the rows of its inputs together; keeps duplicates and row kinds."""

    INPUTS: ClassVar = range(1, sys.maxsize)

    def event_times(self, inputs: tuple[frozenset[int], ...]) -> frozenset[int]:
        """Columns that are event time in all inputs."""
        return frozenset.intersection(*inputs)

    def lower(self, lowering: Lowering, inputs: tuple[Rows, ...]) -> Rows:
        """All branches of all inputs."""
        return Rows(self.output_type, tuple(branch for rows in inputs for branch in rows.branches))

    def meaning(self, inputs: tuple[RowsMeaning, ...]) -> RowsMeaning:
        """All rows of its inputs, whose order does not matter."""
        ordered = sorted(inputs, key=_texts)
        branches = [_branch(rows, ordered[:at]) for at, rows in enumerate(ordered)]
        columns = (said("union column", "union[{of}]", of=Bag(terms)) for terms in zip(*branches, strict=True))
        origin = said("union", "union[{input}]", input=Bag(each.rows for each in ordered))
        made = ordered[0].made(self.output_type, columns, origin)
        sources = frozenset(uid for each in ordered for uid in each.sources)
        return replace(made, time=times(ordered), sources=sources)

    def meaning_of_rest(self, inputs: tuple[RowsMeaning, ...]) -> RowsMeaning | None:
        """The rows of those that are left; of one alone, its rows."""
        if len(inputs) > 1:
            return self.meaning(inputs)
        return inputs[0].passed(self.output_type) if inputs else None

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """All inputs have the columns of the output."""
        for number, each in enumerate(inputs):
            same = len(each.fields) == len(self.output_type.fields) and all(
                mine.type.same_values(its.type) for mine, its in zip(self.output_type.fields, each.fields, strict=True)
            )
            if not same:
                raise self.fail(f"its input {number} has the type {each}, not {self.output_type}")


def _texts(rows: RowsMeaning) -> tuple[str, list[str], str]:
    return rows.rows.text, [each.text for each in rows.columns], rows.time.text


def _branch(rows: RowsMeaning, before: Sequence[RowsMeaning]) -> list[Term]:
    """Columns that say which input they are of, and which one of several with the same rows."""
    twin = leaf("number", str(sum(each.rows == rows.rows for each in before)))
    return [said("branch", "{value}", value=each, input=rows.rows, twin=twin) for each in rows.columns]
