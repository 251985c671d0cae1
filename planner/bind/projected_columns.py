"""The projection below an operator that reads columns: each expression once."""

from __future__ import annotations

from collections.abc import Sequence

from execnodes.core.expressions import Expression, InputRef
from execnodes.core.types import LogicalType
from planner.algebra import Logical
from planner.algebra.columns import unique_names
from planner.bind.source import Source, project


class ProjectedColumns:
    """Collects what an operator over a source reads."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._expressions: list[Expression] = []
        self._places: dict[Expression, int] = {}
        self.names: list[str] = []

    def index(self, expression: Expression, name: str = "") -> int:
        """The column of an expression, added if it is new."""
        if expression not in self._places:
            if not name and isinstance(expression, InputRef):
                name = self._source.logical.type.fields[expression.input_index].name
            self._places[expression] = len(self._expressions)
            self._expressions.append(expression)
            self.names.append(name or f"$f{len(self.names)}")
        return self._places[expression]

    def expression(self, index: int) -> Expression:
        """What a column is."""
        return self._expressions[index]

    def place(self, index: int) -> tuple[int, int]:
        """What columns are sorted by if those of the source come first, in its order."""
        found = self._expressions[index]
        return (0, found.input_index) if isinstance(found, InputRef) else (1, index)

    def type(self, index: int) -> LogicalType:
        """Type of a column."""
        return self._expressions[index].type

    def project(self, indexes: Sequence[int] | None = None) -> Logical:
        """The projection, or that of some of the columns."""
        kept = range(len(self.names)) if indexes is None else indexes
        names = unique_names([self.names[at] for at in kept])
        return project(self._source.logical, [self._expressions[at] for at in kept], names)
