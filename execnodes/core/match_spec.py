"""What MATCH_RECOGNIZE looks for: a pattern, what a row must be to become one of a variable, and what a match gives."""

from __future__ import annotations

from typing import Literal as Tag

from pydantic import Field as Property

from execnodes.core.expressions import AggregateCall, Expression, Value
from execnodes.core.indexes import ColumnIndex, Number, Scope
from execnodes.core.node import PlanModel
from execnodes.core.sort_spec import SortSpec
from execnodes.core.types import Field, LogicalType
from execnodes.core.windowing import Duration

ALL_ROWS = "*"
"""The variable of references to rows of any variable, as in Flink's plans."""
NAVIGATION = ("FIRST", "LAST")
CONDITION_AGGREGATES = ("$COUNT$1", "$SUM$1", "$AVG$1", "$MIN$1", "$MAX$1")
"""Those that definitions may have."""


class PatternVariable(PlanModel):
    """A variable of a pattern with its quantifier: so many rows, one right behind the other."""

    name: str
    min_rows: Number = 1
    max_rows: Number = 1
    """-1 for any number."""
    reluctant: bool = False

    @property
    def greedy(self) -> bool:
        """Whether a row that could be its own is never one of the next variable."""
        varies = self.min_rows != self.max_rows and (self.min_rows, self.max_rows) != (0, 1)
        return varies and not self.reluctant

    def __str__(self) -> str:
        quantifier = {(1, 1): "", (0, 1): "?", (0, -1): "*", (1, -1): "+"}.get((self.min_rows, self.max_rows))
        if quantifier is None:
            most = "" if self.max_rows == -1 else self.max_rows
            quantifier = f"{{{self.min_rows}}}" if self.min_rows == most else f"{{{self.min_rows},{most}}}"
        return self.name + quantifier + ("?" if self.reluctant else "")


class RowReference(PlanModel):
    """A value of the rows that a match has so far: of the first or last of a variable, or an aggregate over them."""

    variable: str
    """Of the pattern, or ``*`` for all rows."""
    function: str = "LAST"
    """``FIRST``, ``LAST`` or an aggregate function, e.g. ``$SUM$1``."""
    offset: Number = 0
    """So many rows behind the first, or before the last; NULL where there is none."""
    arg_list: tuple[ColumnIndex, ...]
    """Input columns; empty for COUNT(*)."""
    options: dict[str, Value] = Property(default_factory=dict)
    """Constants of the aggregate, as in `AggregateCall`."""
    type: LogicalType

    @property
    def is_aggregate(self) -> bool:
        """Whether it is over all rows of its variable."""
        return self.function not in NAVIGATION

    def call(self, name: str = "") -> AggregateCall:
        """An aggregate as one over all rows there are."""
        return AggregateCall(
            name=name, internal_name=self.function, arg_list=self.arg_list, type=self.type, options=self.options
        )

    @property
    def title(self) -> str:
        """The function as people know it, e.g. ``SUM``."""
        return self.function.strip("$").rsplit("$", 1)[0]


class Definition(PlanModel):
    """What a row must be to become one of a variable."""

    variable: str
    condition: Expression
    """BOOLEAN, over the references of the match."""


class AfterMatch(PlanModel):
    """Where the next match may begin."""

    skip: Tag["PAST LAST ROW", "TO NEXT ROW", "TO FIRST", "TO LAST"]
    variable: str = ""
    """Of TO FIRST and TO LAST."""

    def __str__(self) -> str:
        return f"SKIP {self.skip}{f' {self.variable}' if self.variable else ''}"


class MatchSpec(PlanModel):
    """MATCH_RECOGNIZE over the columns of an input."""

    partition: tuple[ColumnIndex, ...] = ()
    order_by: SortSpec
    """The first field is the event time, ascending."""
    pattern: tuple[PatternVariable, ...]
    references: tuple[RowReference, ...] = ()
    """What the definitions read."""
    definitions: tuple[Definition, ...] = ()
    """A variable without one takes any row."""
    measures: tuple[RowReference, ...]
    """The output's columns behind those of `partition`."""
    after: AfterMatch
    within: Duration | None = None
    """A match's rows are less than this apart."""

    def scope(self, name: str, around: Scope) -> Scope:
        """Definitions are over the references."""
        if name != "definitions":
            return around
        fields = tuple(Field(f"r{at}", each.type) for at, each in enumerate(self.references))
        return around.over(fields, "the references of the match")
