"""What all expressions of the Table API are: SQL text, with places that a window of the query fills."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from execnodes.core.errors import SqlError
from execnodes.user_functions.column_operand import ColumnOperand
from planner.catalog.catalogs import quoted
from rekindle.api.literals import function_sql, literal_sql


@dataclass(frozen=True)
class WindowBound:
    """A start, end or time of a window that `group_by` names."""

    window: str
    """SQL of its alias."""
    what: str
    """START, END, ROWTIME or PROCTIME."""


@dataclass(frozen=True)
class Aggregate:
    """The function that an expression calls, as long as nothing else is built on it."""

    function: str
    operands: tuple[object, ...]


class Operand(ColumnOperand):
    """Pieces of SQL text; methods of the classes on top build larger ones."""

    def __init__(
        self, *pieces: str | WindowBound, names: tuple[str, ...] = (), aggregate: Aggregate | None = None
    ) -> None:
        self._pieces = pieces
        self._aggregate = aggregate
        self.names = names
        """What `alias` has called it."""

    @property
    def sql(self) -> str:
        """The text, without its alias. SqlError where it asks for a window that is not at hand."""
        return self.render({})

    def render(self, windows: Mapping[str, Any]) -> str:
        """The text for a query with these group windows, by the SQL of their aliases."""
        return "".join(piece if isinstance(piece, str) else _bound(piece, windows) for piece in self._pieces)

    def column(self, windows: Mapping[str, Any] | None = None) -> str:
        """The text as a column of SELECT, with its alias."""
        text = self.render(windows or {})
        return f"{text} AS {quoted(self.names[:1])}" if self.names else text

    @classmethod
    def joined(cls, *parts: object, aggregate: Aggregate | None = None) -> Self:
        """An expression of SQL text (`str`) and operands."""
        pieces: list[str | WindowBound] = []
        for part in parts:
            if isinstance(part, Operand):
                pieces += part._pieces
            else:
                pieces.append(str(part))
        return cls(*pieces, aggregate=aggregate)

    def _binary(self, operator: str, other: object) -> Self:
        return self.joined("(", self, f" {operator} ", value(other), ")")

    def _call(self, function: str, *operands: object) -> Self:
        """A function whose first operand this is; those behind that are None are left out."""
        given = tuple(each for each in operands if each is not None)
        return self.joined(f"{function}(", *_listed((self, *given)), ")")

    def _fold(self, function: str, *operands: object) -> Self:
        """An aggregate function of this."""
        return self.joined(
            f"{function}(", *_listed((self, *operands)), ")", aggregate=Aggregate(function, (self, *operands))
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({''.join(str(each) for each in self._pieces)})"


def value(given: object) -> Operand:
    """An operand as it is, anything else as a constant."""
    return given if isinstance(given, Operand) else Operand(literal_sql(given))


def _listed(operands: tuple[object, ...]) -> list[object]:
    parts: list[object] = []
    for index, each in enumerate(operands):
        parts += [", ", value(each)] if index else [value(each)]
    return parts


def call_pieces(function: str, operands: tuple[object, ...]) -> list[object]:
    """The parts of a call by a name that the program gives."""
    return [f"{function_sql(function)}(", *_listed(operands), ")"]


def list_pieces(opening: str, operands: tuple[object, ...], closing: str) -> list[object]:
    """Operands between brackets."""
    return [opening, *_listed(operands), closing]


def _bound(bound: WindowBound, windows: Mapping[str, Any]) -> str:
    window = windows.get(bound.window)
    if window is None:
        raise SqlError(
            f"no window is called {bound.window}",
            hint="Write .window(Tumble.over(…).on(…).alias('w')).group_by(col('w'), …) before select.",
        )
    text: str = window.bound(bound.what)
    return text
