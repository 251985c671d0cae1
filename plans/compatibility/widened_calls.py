"""What becomes of results where operands are of wider types: function by function, and what cannot be told is not."""

from __future__ import annotations

from collections.abc import Iterator

from execnodes.core.types import NESTED, TEXTS, LogicalType, Root
from execnodes.core.widening import PARTS, WRITTEN_ALIKE, Widening, holds, widens
from execnodes.state.widened_texts import is_in_other_slots
from execnodes.terms.shown import shown
from execnodes.terms.term import Term
from plans.compatibility.term_types import CASTS, function_name, type_of

_COMPARING = frozenset({
    "=", "<>", "<", "<=", ">", ">=", "IN", "NOT IN", "BETWEEN", "NOT BETWEEN", "BETWEEN SYMMETRIC",
    "NOT BETWEEN SYMMETRIC", "IS DISTINCT FROM", "IS NOT DISTINCT FROM", "OVERLAPS",
})  # fmt: skip
_EQUATING = frozenset({"=", "<>", "IN", "NOT IN", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"})
"""What compares field with field, in whatever order they are."""
_ASKING = frozenset({"IS NULL", "IS NOT NULL", "CARDINALITY"})
"""What does not depend on what a value is."""
_PASSING = frozenset({
    "CASE", "IF", "COALESCE", "IFNULL", "NULLIF", "GREATEST", "LEAST", "ITEM", "ELEMENT", "ARRAY", "MAP", "ROW",
    "MAP_KEYS", "MAP_VALUES", "ARRAY_REVERSE", "ARRAY_SLICE", "ARRAY_CONCAT", "ARRAY_MAX", "ARRAY_MIN", "UNNEST_ROWS",
    "UNNEST_ROWS_WITH_ORDINALITY",
})  # fmt: skip
"""What gives some of its operands, or what is in them."""
_EXACT = frozenset({"%", "MOD", "SIGN", "FLOOR", "CEIL", "CEILING", "PLUS_PREFIX"})
"""Numbers that are never larger than an operand."""
_OF_THE_TYPE = frozenset({"TYPEOF", "REINTERPRET"})
"""What depends on the type itself."""
_HASHING = "HASH_BUCKET"
"""What depends on how a type holds its values."""
_PASSING_AGGREGATES = frozenset(
    {"MIN", "MAX", "FIRST_VALUE", "LAST_VALUE", "SINGLE_VALUE", "ARRAY_AGG", "COLLECT", "LAG", "LEAD"}
)
_SUMS = frozenset({"SUM", "$SUM0", "AVG", "VAR_POP", "VAR_SAMP", "STDDEV_POP", "STDDEV_SAMP"})
_PRINTING = frozenset({
    "JSON_OBJECTAGG_NULL_ON_NULL", "JSON_OBJECTAGG_ABSENT_ON_NULL", "JSON_ARRAYAGG_NULL_ON_NULL",
    "JSON_ARRAYAGG_ABSENT_ON_NULL",
})  # fmt: skip
_SAME_IN_PYTHON = WRITTEN_ALIKE | Widening.FRACTION | Widening.FLOAT
"""Values that functions of the user get as they got them, but for what FLOAT has rounded."""
_DIGITS = 38
"""Of a DECIMAL at most; what would need more is rounded."""

Found = tuple[Widening, frozenset[str]]
"""In what the result is of a wider type, and what was lost."""


def computed(old: Term, new: Term, operands: Widening) -> Found | None:
    """A call of one function in both plans, over operands that go on; None if results may be others."""
    name, before, after = function_name(old), type_of(old), type_of(new)
    if before is None or after is None:
        return None
    result = widens(before, after)
    if name in CASTS and result is not None:
        return _cast(old, before, result, operands)
    compared = operands
    if name in _EQUATING and not operands & Widening.ADDED and _is_of_one_type(old) and _is_of_one_type(new):
        compared &= ~Widening.FIELDS
    if result is None or not (_same_slots(old, new) if name == _HASHING else _same_results(name, before, compared)):
        return None
    # What is rounded, or was not there, has been seen by the function, whatever comes of it.
    dropped = operands & ~result & (Widening.FLOAT | Widening.ADDED) if name not in _ASKING else Widening.NONE
    return result, frozenset((*lost(dropped), *_outgrown(name, old, before, result)))


def _same_results(name: str, result: LogicalType, operands: Widening) -> bool:
    if name in _OF_THE_TYPE:
        return operands is Widening.NONE
    if name in _ASKING or name in _PASSING or name in ("AND", "OR", "NOT"):
        return True
    if name in _COMPARING:
        return not operands & (Widening.FIELDS | Widening.ADDED)
    if not operands & ~WRITTEN_ALIKE:
        return True
    if not name:
        return not operands & ~_SAME_IN_PYTHON and not (operands & Widening.FLOAT and result.root in TEXTS)
    if operands & PARTS:
        # It may depend on all there is.
        return False
    return result.root not in TEXTS or name == "DATE_FORMAT"


def _same_slots(old: Term, new: Term) -> bool:
    pairs = [(type_of(one), type_of(other)) for one, other in zip(old["operand"], new["operand"], strict=True)]
    return all(one is not None and other is not None and not is_in_other_slots(one, other) for one, other in pairs)


def _is_of_one_type(call: Term) -> bool:
    types = [type_of(operand) for operand in call["operand"]]
    return None not in types and len({each.regular().with_nullable(True) for each in types if each is not None}) == 1


def _outgrown(name: str, call: Term, before: LogicalType, result: Widening) -> Iterator[str]:
    """What may have been too large for the type that a call had."""
    if name in _PASSING or name in _EXACT or before.root in NESTED:
        return
    if result & Widening.INTEGER and not (name == "/" and _is_literal(call["operand"][-1])):
        yield f"{shown(call)} was {before} and may have wrapped"
    elif before.root is Root.DECIMAL and (name == "/" or before.precision == _DIGITS) and result:
        yield f"{shown(call)} was {before} and may have been rounded"


def _is_literal(term: Term) -> bool:
    """Whether it is a whole number above zero: what is divided by it does not grow."""
    return term.kind == "literal" and term["value"][0].says.isdigit()


def _cast(call: Term, before: LogicalType, result: Widening, operands: Widening) -> Found | None:
    if before.root in TEXTS and operands & ~WRITTEN_ALIKE:
        return None
    if operands & (Widening.FIELDS | Widening.ADDED) and result != operands:
        return None
    dropped = tuple(lost(operands & ~result & Widening.FLOAT))
    source = type_of(call["operand"][0])
    if not result or (source is not None and holds(source, before)):
        return result, frozenset(dropped)
    if before.root in (Root.CHAR, Root.BINARY):
        return None  # it was filled up
    return result, frozenset((*dropped, f"{shown(call)} was cut to {before}"))


def aggregated(old: Term, new: Term, argument: Widening, *, result: bool) -> Found | None:
    """A call of one aggregate function, or (without `result`) what it keeps."""
    name = function_name(old)
    if name == "COUNT":
        return (argument if old["distinct"] else Widening.NONE), frozenset()
    if name in _PASSING_AGGREGATES:
        return argument, frozenset()
    if name in _SUMS:
        return argument, frozenset(_wrapped(name, old, new, argument) if result else ())
    if not name:
        return _by_user(old, argument)
    return None if argument & ~WRITTEN_ALIKE and name in _PRINTING else (argument, frozenset())


def _by_user(call: Term, argument: Widening) -> Found | None:
    if argument & ~(_SAME_IN_PYTHON | Widening.SCALE):
        return None
    told = [f"{shown(call)} has seen values with fewer digits behind the point"] if argument & Widening.SCALE else []
    return argument & Widening.FLOAT, frozenset(told)


def _wrapped(name: str, old: Term, new: Term, argument: Widening) -> Iterator[str]:
    before, after = type_of(old), type_of(new)
    if argument & Widening.INTEGER and name != "AVG":
        yield f"{shown(old)} was {before or 'narrower'} and may have wrapped"
    elif argument & Widening.SCALE and not name.endswith(("SUM", "SUM0")) and before != after:
        yield f"{shown(old)} was {before or 'narrower'} and was rounded"


def lost(how: Widening) -> Iterator[str]:
    """What values of narrower types have lost for good."""
    if how & Widening.FLOAT:
        yield "values that FLOAT has rounded stay so"
    if how & Widening.ADDED:
        yield "fields that are new are NULL in rows that have been read"
