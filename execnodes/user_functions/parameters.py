"""What a function of the user takes: its parameters, and operands converted to their types."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, get_args, get_origin

from execnodes.core.errors import FunctionError
from execnodes.core.expressions import Expression
from execnodes.core.types import INTEGERS, STRING, LogicalType, Root, decimal
from execnodes.core.words import counted
from execnodes.functions.conversion import convert
from execnodes.functions.type_rules import can_cast_implicitly
from execnodes.user_functions.hints import hints_of, is_nullable, sql_type, type_of_hint
from execnodes.user_functions.rows import Row

_WHOLE_DIGITS = 19
Types = Sequence[str | LogicalType] | str | LogicalType | None
"""As functions are given them: a type each, or that of the only one."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter."""

    name: str
    type: LogicalType | None
    """None: any type; operands stay as they are."""
    takes_null: bool = True
    """False: a row with a NULL here gives NULL, and the function is not called."""
    exact: bool = False
    """Takes any exact number; integers become DECIMAL."""
    hint: Any = Any
    """What Python calls it: rows come as the dataclass it names."""

    def fits(self, operand: LogicalType) -> LogicalType | None:
        """The type an operand is converted to; None if it does not fit."""
        if operand.root is Root.NULL:
            return self.type or STRING
        if self.exact:
            wanted = decimal(_WHOLE_DIGITS, 0) if operand.root in INTEGERS else operand
            return wanted if wanted.root is Root.DECIMAL else None
        if self.type is None:
            return operand.regular()
        if operand.root is self.type.root and self.type.root in (Root.TIMESTAMP, Root.TIME, Root.TIMESTAMP_LTZ):
            return operand.regular()
        return self.type if can_cast_implicitly(operand, self.type) else None

    def __str__(self) -> str:
        return f"{self.name} {'an exact number' if self.exact else self.type or 'of any type'}"


@dataclass(frozen=True, slots=True)
class Parameters:
    """All parameters of a function."""

    each: tuple[Parameter, ...]
    least: int
    """Operands that must be there."""
    repeated: bool = False
    """The last one may come any number of times, also never."""

    def types(self, operands: Sequence[LogicalType]) -> tuple[LogicalType, ...] | None:
        """Types the operands are converted to; None if their number or types do not fit."""
        if len(operands) < self.least or (len(operands) > len(self.each) and not self.repeated):
            return None
        found = [self.at(index).fits(operand) for index, operand in enumerate(operands)]
        fitting = tuple(each for each in found if each is not None)
        return fitting if len(fitting) == len(found) else None

    def convert(self, operands: Sequence[Expression]) -> tuple[Expression, ...] | None:
        """The operands as the function takes them; None if they do not fit."""
        types = self.types([each.type for each in operands])
        if types is None:
            return None
        return tuple(convert(each, wanted) for each, wanted in zip(operands, types, strict=True))

    def at(self, index: int) -> Parameter:
        """The parameter that an operand is for."""
        return self.each[min(index, len(self.each) - 1)]

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.each))}{'…' if self.repeated else ''})"


def parameters_of(
    function: Callable[..., Any],
    given: Types = None,
    *,
    skip: int = 0,
    hinted: bool = True,
    lenient: bool = False,
) -> Parameters:
    """Parameters by signature and, if `hinted`, by hints; the types `given` win; `skip` leading ones are not SQL's.

    If `lenient`, hints that tell no type of SQL are left out, as PyFlink reads none.
    """
    hints = _hints(function, lenient) if given is None and hinted else {}
    found: list[Parameter] = []
    least, repeated = 0, False
    for each in list(inspect.signature(function).parameters.values())[skip:]:
        if each.kind in (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD):
            if each.default is inspect.Parameter.empty and each.kind is inspect.Parameter.KEYWORD_ONLY:
                raise FunctionError(
                    f"parameter {each.name} can only be given by name", hint="SQL calls go by place: remove the *."
                )
            continue
        repeated = each.kind is inspect.Parameter.VAR_POSITIONAL
        least += each.default is inspect.Parameter.empty and not repeated
        found.append(_parameter(each.name, hints.get(each.name, Any), lenient))
    if given is None:
        return Parameters(tuple(found), least, repeated)
    if isinstance(given, str | LogicalType):
        given = [given]
    names = [each.name for each in found] + [f"arg{at}" for at in range(len(found), len(given))]
    typed = tuple(Parameter(name, sql_type(t)) for name, t in zip(names, given, strict=False))
    if not repeated and not least <= len(given) <= len(found):
        raise FunctionError(f"it has {counted(len(found), 'parameter')}, and input_types {counted(len(given), 'type')}")
    return Parameters(typed, len(given))


def _hints(function: Callable[..., Any], lenient: bool) -> dict[str, Any]:
    try:
        return hints_of(function)
    except FunctionError:
        if lenient:
            return {}
        raise


def _parameter(name: str, hint: Any, lenient: bool) -> Parameter:
    inner = next((each for each in get_args(hint) if each is not type(None)), hint)
    if get_origin(hint) is not Annotated and Decimal in (hint, inner):
        return Parameter(name, None, is_nullable(hint), exact=True, hint=hint)
    if Row in (hint, inner):
        return Parameter(name, None, is_nullable(hint), hint=Row)
    if hint is Any or inner is Any or isinstance(hint, str):
        return Parameter(name, None)
    try:
        return Parameter(name, type_of_hint(hint), is_nullable(hint), hint=hint)
    except FunctionError as error:
        if lenient:
            return Parameter(name, None)
        hint = "Leave the hint out, or give input_types=[…]."
        raise FunctionError(f"parameter {name}: {error.message}", hint=hint) from error
