"""Conditions that no row can meet, whatever it holds.

What is found is what Calcite's `RexSimplify` finds: constants, comparisons of a value with itself, and what the parts
of an AND ask of one value. Between two values there is always a third, of integers, too.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from execnodes.core.constants import constant
from execnodes.core.expressions import Call, Expression, Literal
from execnodes.core.types import BINARIES, INTEGERS, TEXTS, LogicalType, Root
from execnodes.functions import evaluate_constant, is_deterministic
from planner.algebra.predicates import MIRRORED, OPPOSITES, conjuncts, function_name, is_call

_OPPOSITES = {"IS NULL": "IS NOT NULL", "IS NOT NULL": "IS NULL", "IN": "NOT IN", "NOT IN": "IN", **OPPOSITES}
_MIRRORED = {"<>": "<>", **MIRRORED}
_KINDS = (TEXTS, BINARIES, (*INTEGERS, Root.DECIMAL, Root.DOUBLE, Root.FLOAT))
"""Types whose constants are compared with each other."""
_MOST_WAYS = 64
_SURROGATES = "\ud800"
"""Java orders texts by halves of pairs: those beyond come before it there."""


def never_true(condition: Expression) -> bool:
    """Whether the condition is FALSE or NULL for every row."""
    return _exclude_each_other([condition], _MOST_WAYS)


def _exclude_each_other(conditions: Iterable[Expression], most_ways: int) -> bool:
    """Whether no row meets all of them; of ORs, so many ways to meet them are tried."""
    parts = [part for each in conditions for part in _parts(each)]
    plain = [each for each in parts if not is_call(each, "OR")]
    if _ask_too_much(plain):
        return True
    choices = [_alternatives(each) for each in parts if is_call(each, "OR")]
    ways = math.prod(map(len, choices))
    if ways == 1 or ways > most_ways:
        return any(all(map(never_true, each)) for each in choices)
    return all(_exclude_each_other([*plain, *way], most_ways // ways) for way in itertools.product(*choices))


def _ask_too_much(parts: Iterable[Expression]) -> bool:
    asked: defaultdict[Expression, _Asked] = defaultdict(_Asked)
    for part in parts:
        known = evaluate_constant(part)
        if known is not None and known.value is not True:
            return True
        if isinstance(part, Call) and function_name(part) in _OPPOSITES:
            _ask(part, asked)
        elif isinstance(part, Call) and function_name(part) == "NOT":
            asked[part.operands[0]].others.add(True)
        else:
            asked[part].among.append({True})
    return any(each.impossible and is_deterministic(value) for value, each in asked.items())


def _alternatives(condition: Expression) -> list[Expression]:
    """The operands of ORs in each other."""
    if isinstance(condition, Call) and function_name(condition) == "OR":
        return [each for operand in condition.operands for each in _alternatives(operand)]
    return [condition]


def _parts(condition: Expression) -> Iterator[Expression]:
    """What must all be TRUE; NOT only where there is no other way to say it."""
    for each in conjuncts(condition):
        negated = each.operands[0] if isinstance(each, Call) and function_name(each) == "NOT" else None
        opposite = None if negated is None else _opposite(negated)
        if opposite is None:
            yield each
        else:
            yield from _parts(opposite)


def _opposite(condition: Expression) -> Expression | None:
    """What is TRUE where the condition is FALSE; None if that is only its NOT."""
    if isinstance(condition, Literal):
        return Literal(value=condition.value is False, type=condition.type)
    if not isinstance(condition, Call):
        return None
    name = function_name(condition)
    if name == "NOT":
        return condition.operands[0]
    if name in ("AND", "OR"):
        parts = tuple(Call(internal_name="$NOT$1", operands=(each,), type=each.type) for each in condition.operands)
        return Call(internal_name="$OR$1" if name == "AND" else "$AND$1", operands=parts, type=condition.type)
    if name in _OPPOSITES:
        return condition.model_copy(update={"internal_name": f"${_OPPOSITES[name]}$1"})
    return None


@dataclass
class _Asked:
    """What conditions ask of one value."""

    null: bool = False
    """To be NULL."""
    known: bool = False
    """Not to be NULL."""
    nothing: bool = False
    """What no value is."""
    among: list[set[Any]] = field(default_factory=list)
    """To be one of these, of each."""
    others: set[Any] = field(default_factory=set)
    """To be none of these."""
    lows: list[tuple[Any, bool]] = field(default_factory=list)
    """To be more than each, or, with True beside it, as much."""
    highs: list[tuple[Any, bool]] = field(default_factory=list)

    def is_constant(self, value: Literal | None) -> None:
        """Note what the value is, if that is known."""
        known = None if value is None else _comparable(value, value.type)
        self.null |= value is not None and value.value is None
        if known is not None:
            self.among.append({known})

    def compared(self, name: str, values: list[Any]) -> None:
        """Note a comparison with constants."""
        match name:
            case "=" | "IN":
                self.among.append(set(values))
            case "<>" | "NOT IN":
                self.others.update(values)
            case "<" | "<=":
                self.highs.append((values[0], name == "<="))
            case ">" | ">=":
                self.lows.append((values[0], name == ">="))
            case _:
                raise AssertionError(name)

    @property
    def impossible(self) -> bool:
        """Whether there is no such value."""
        if self.nothing or (self.null and (self.known or self.among or self.others or self.lows or self.highs)):
            return True
        if self.among:
            return not any(map(self._takes, set.intersection(*self.among)))
        return any(low > high or (low == high and not (a and b)) for low, a in self.lows for high, b in self.highs)

    def _takes(self, value: Any) -> bool:
        return (
            value not in self.others
            and all(value > low or (closed and value == low) for low, closed in self.lows)
            and all(value < high or (closed and value == high) for high, closed in self.highs)
        )


def _ask(condition: Call, asked: defaultdict[Expression, _Asked]) -> None:
    """Note what a comparison asks of a value."""
    name, (value, *others) = function_name(condition), condition.operands
    if not others:
        asked[value].null |= name == "IS NULL"
        asked[value].known |= name == "IS NOT NULL"
        return
    if name in _MIRRORED and evaluate_constant(value) is not None:
        name, value, others = _MIRRORED[name], others[0], [value]
    found = asked[value]
    found.known = True
    found.is_constant(evaluate_constant(value))
    constants = [each for each in map(evaluate_constant, others) if each is not None]
    nulls = sum(each.value is None for each in constants)
    if others == [value]:
        found.nothing |= name in ("<>", "<", ">")
    elif nulls and (name == "NOT IN" or nulls == len(others)):
        found.nothing = True
    elif len(constants) == len(others):
        known = [_comparable(each, value.type) for each in constants if each.value is not None]
        if None not in known:
            found.compared(name, known)


def _comparable(literal: Literal, type: LogicalType) -> Any:
    """The value of a constant, if Python orders such values of the type as SQL does; else None."""
    if literal.type.root is not type.root and not any({literal.type.root, type.root} <= set(kind) for kind in _KINDS):
        return None
    value = constant(literal.value, literal.type)
    if isinstance(value, str):
        return value if max(value, default="") < _SURROGATES else None
    # A float is infinite, or no number.
    return None if isinstance(value, float) else value
