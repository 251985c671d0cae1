"""What all expressions of the Table API are: SQL text, with places that the query fills in which they stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

from execnodes.core.errors import SqlError
from execnodes.user_functions.column_operand import ColumnOperand
from execnodes.user_functions.scalar import name_of
from planner.catalog.catalogs import quoted
from rekindle.api.literals import function_sql, literal_sql


class FunctionNames(Protocol):
    """The session in which an expression is used."""

    def name_function(self, function: object) -> str:
        """SQL of the name of a function of the user that was called without one, which it is registered under."""
        ...


@dataclass(frozen=True)
class WindowBound:
    """A start, end or time of a window that `group_by` names."""

    window: str
    """SQL of its alias."""
    what: str
    """START, END, ROWTIME or PROCTIME."""


@dataclass(frozen=True, eq=False)
class InlineFunction:
    """The name of a function of the user that is called as an object of Python, not by a name."""

    function: object

    def render(self, names: FunctionNames | None) -> str:
        """Its name in the session. SqlError where there is none."""
        if names is None:
            raise SqlError(
                f"function {self} is called without a name where only a registered function can be called",
                hint="Register it with create_temporary_system_function('f', …), and write call('f', …).",
            )
        return names.name_function(self.function)

    def __str__(self) -> str:
        return function_name(self.function)


Piece = str | WindowBound | InlineFunction


@dataclass(frozen=True)
class Aggregate:
    """The function that an expression calls, as long as nothing else is built on it."""

    function: Piece
    operands: tuple[object, ...]


def function_name(function: object) -> str:
    """What a function of the user calls itself."""
    declared = getattr(function, "definition", None)
    return name_of(function) if declared is None else str(declared.name)


class Operand(ColumnOperand):
    """Pieces of SQL text; methods of the classes on top build larger ones."""

    def __init__(self, *pieces: Piece, names: tuple[str, ...] = (), aggregate: Aggregate | None = None) -> None:
        self.pieces = pieces
        self._aggregate = aggregate
        self.names = names
        """What `alias` has called it."""

    @property
    def sql(self) -> str:
        """The text, without its alias. SqlError where it asks for a window or a function that is not at hand."""
        return self.render({})

    def render(self, windows: Mapping[str, Any], names: FunctionNames | None = None) -> str:
        """The text for a query with these group windows, by the SQL of their aliases, in a session."""
        return "".join(_text(piece, windows, names) for piece in self.pieces)

    def column(self, windows: Mapping[str, Any] | None = None, names: FunctionNames | None = None) -> str:
        """The text as a column of SELECT, with its alias."""
        text = self.render(windows or {}, names)
        return f"{text} AS {quoted(self.names[:1])}" if self.names else text

    def call_function(self, function: object, operands: Sequence[object]) -> Self:
        """The call of a function of the user that may have no name yet."""
        name = InlineFunction(function)
        return self.joined(name, *list_pieces("(", tuple(operands), ")"), aggregate=Aggregate(name, tuple(operands)))

    @classmethod
    def joined(cls, *parts: object, aggregate: Aggregate | None = None) -> Self:
        """An expression of SQL text (`str`) and operands."""
        pieces: list[Piece] = []
        for part in parts:
            if isinstance(part, Operand):
                pieces += part.pieces
            else:
                pieces.append(part if isinstance(part, WindowBound | InlineFunction) else str(part))
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
        return f"{type(self).__name__}({''.join(str(each) for each in self.pieces)})"


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


def _text(piece: Piece, windows: Mapping[str, Any], names: FunctionNames | None) -> str:
    if isinstance(piece, str):
        return piece
    return piece.render(names) if isinstance(piece, InlineFunction) else _bound(piece, windows)


def _bound(bound: WindowBound, windows: Mapping[str, Any]) -> str:
    window = windows.get(bound.window)
    if window is None:
        raise SqlError(
            f"no window is called {bound.window}",
            hint="Write .window(Tumble.over(…).on(…).alias('w')).group_by(col('w'), …) before select.",
        )
    text: str = window.bound(bound.what)
    return text
